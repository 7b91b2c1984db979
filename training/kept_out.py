"""Repositories that must give nothing to training, neither commits nor functions, logs, listings or transcripts.

A list has one repository per line: the first 16 hexadecimal digits of the SHA-256 of its lower-case `owner/name`, or the
name itself. Lines that begin with `#` are comments. The miners skip these repositories and count them.
"""
import hashlib


class KeptOut:
    """The repositories of the given lists."""

    def __init__(self, files=()):
        self.marks, self.skipped = set(), []
        for file in files:
            with open(file, encoding='utf-8') as lines:
                marks = [line.strip().lower() for line in lines]
            self.marks.update(mark for mark in marks if mark and not mark.startswith('#'))

    def __contains__(self, repo):
        name = repo.lower()
        return name in self.marks or hashlib.sha256(name.encode()).hexdigest()[:16] in self.marks

    def allowed(self, sources, name_of):
        """The sources whose repository is not on a list; the others are counted."""
        kept = []
        for source in sources:
            if name_of(source) in self:
                self.skipped.append(name_of(source))
            else:
                kept.append(source)
        return kept

    def report(self):
        return f'{len(self.skipped)} repositories skipped as kept out' + (f': {", ".join(self.skipped)}' if self.skipped else '')
