"""Stock, reservations and papers of a small warehouse."""

import csv
import datetime
import logging
from dataclasses import dataclass, field

log = logging.getLogger(__name__)


class OutOfStock(Exception):
    """Raised when an order asks for more than the shelf holds."""


@dataclass
class Shelf:
    sku: str
    quantity: int = 0
    reserved: int = 0
    history: list = field(default_factory=list)

    def free(self):
        """What may still be promised to a customer."""
        return self.quantity - self.reserved


def read_supplier_file(path):
    """Reads a supplier's delivery note, one row per pallet."""
    pallets = []
    with open(path, newline="", encoding="utf-8") as file:
        for row in csv.DictReader(file, delimiter=";"):
            if not row["sku"].strip():
                log.warning("pallet without a number in %s", path)
                continue
            pallets.append((row["sku"].strip(), int(row["count"])))
    return pallets


def format_label(sku, printed_on=None):
    """Makes the text of a pallet label for the label printer."""
    printed_on = printed_on or datetime.date.today()
    rows = [
        "+----------------------+",
        f"| {sku:<20} |",
        f"| {printed_on:%d.%m.%Y}           |",
        "+----------------------+",
    ]
    return "\n".join(rows)


def monthly_report(shelves, month):
    """Makes the table that goes to the bookkeepers at the end of a month."""
    header = f"Stock at the end of {month:%B %Y}"
    rows = [header, "=" * len(header)]
    total = 0
    for shelf in sorted(shelves, key=lambda shelf: shelf.sku):
        rows.append(f"{shelf.sku:<12} {shelf.quantity:>8}")
        total += shelf.quantity
    rows.append("-" * 21)
    rows.append(f"{'total':<12} {total:>8}")
    return "\n".join(rows)


class Warehouse:
    def __init__(self):
        self.shelves = {}
        self.printer_queue = []

    def shelf(self, sku):
        if sku not in self.shelves:
            self.shelves[sku] = Shelf(sku)
        return self.shelves[sku]

    def receive(self, path):
        """Books a delivery and prints a label for every pallet."""
        for sku, count in read_supplier_file(path):
            self.shelf(sku).quantity += count
            self.printer_queue.append(format_label(sku))

    def reserve(self, sku, count):
        """Promises goods to a customer, or raises OutOfStock."""
        shelf = self.shelf(sku)
        if shelf.free() < count:
            raise OutOfStock(f"{sku}: {count} wanted, {shelf.free()} free")
        shelf.reserved += count
        shelf.history.append(("reserve", count))

    def release(self, sku, count):
        """Gives a reservation back when an order is cancelled."""
        shelf = self.shelf(sku)
        shelf.history.append(("release", count))

    def ship(self, sku, count):
        """Takes reserved goods off the shelf."""
        shelf = self.shelf(sku)
        shelf.quantity -= count
        shelf.reserved -= count
        shelf.history.append(("ship", count))

    def print_labels(self, printer):
        """Sends all waiting labels to the printer and empties the queue."""
        sent = 0
        while self.printer_queue:
            printer.write(self.printer_queue.pop(0))
            printer.write("\f")
            sent += 1
        log.info("%d labels printed", sent)
        return sent

    def export(self, path):
        """Writes the stock as a table for the web shop."""
        with open(path, "w", newline="", encoding="utf-8") as file:
            writer = csv.writer(file, delimiter=";")
            writer.writerow(["sku", "free"])
            for shelf in self.shelves.values():
                writer.writerow([shelf.sku, shelf.free()])
