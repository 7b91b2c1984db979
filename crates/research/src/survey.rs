//! The first look: of every file, how often it has what a question looks for.

use tamis_codebase::{Halt, Halted, Place, Roots, scan};

use crate::class::Class;
use crate::tally::{Counter, defines_at};

/// Every text file of the roots, in no order: whoever chooses among them goes by their places.
pub(crate) struct Survey {
    pub(crate) files: Vec<Surveyed>,
}

/// What the first look tells of a file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Surveyed {
    pub(crate) place: Place,
    pub(crate) class: Class,
    pub(crate) bytes: u64,
    /// By column of the [`Counter`]; none when it has nothing.
    pub(crate) counts: Option<Box<[u16]>>,
    /// A bit for each name that it defines, by the name's number.
    pub(crate) defines: u32,
}

impl Surveyed {
    pub(crate) fn count(&self, column: usize) -> u16 {
        self.counts.as_ref().map_or(0, |counts| counts[column])
    }
}

impl Survey {
    /// Reads everything.
    pub(crate) fn by_reading(roots: &Roots, counter: &Counter, halt: &Halt) -> Result<Survey, Halted> {
        let lists = scan(roots, halt, Vec::new, |files: &mut Vec<Surveyed>, place, bytes| {
            files.push(Surveyed::by_reading(place, bytes, counter));
        })?;
        Ok(Survey { files: lists.into_iter().flatten().collect() })
    }
}

impl Surveyed {
    pub(crate) fn by_reading(place: Place, bytes: &[u8], counter: &Counter) -> Surveyed {
        let first_name = counter.name_column(0);
        let mut counts: Option<Box<[u16]>> = None;
        let mut defines = 0;
        counter.each_hit(bytes, |hit| {
            let counts = counts.get_or_insert_with(|| vec![0; counter.columns()].into_boxed_slice());
            counts[hit.column] = counts[hit.column].saturating_add(1);
            if let Some(number) = hit.column.checked_sub(first_name)
                && defines & (1 << number) == 0
                && defines_at(bytes, hit.at)
            {
                defines |= 1 << number;
            }
        });
        let class = Class::of(&place.path);
        Surveyed { place, class, bytes: bytes.len() as u64, counts, defines }
    }
}
