//! The first look: of every file, how often it has what a question looks for.

use tamis_workspace::{Halt, Halted, Place, Roots, scan};

use crate::class::Class;
use crate::tally::Counter;

/// Every text file of the roots, in order.
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
        let first_name = counter.name_column(0);
        let lists = scan(
            roots,
            halt,
            || (Vec::new(), vec![0u16; counter.columns()]),
            |(files, counts): &mut (Vec<Surveyed>, Vec<u16>), place, bytes| {
                let (mut defines, mut any) = (0, false);
                counter.each_hit(bytes, |hit| {
                    counts[hit.column] = counts[hit.column].saturating_add(1);
                    any = true;
                    if let Some(number) = hit.column.checked_sub(first_name)
                        && defines & (1 << number) == 0
                        && counter.defines(bytes, hit)
                    {
                        defines |= 1 << number;
                    }
                });
                let class = Class::of(&place.path);
                let counted = any.then(|| counts.clone().into_boxed_slice());
                if any {
                    counts.fill(0);
                }
                files.push(Surveyed { place, class, bytes: bytes.len() as u64, counts: counted, defines });
            },
        )?;
        let mut files: Vec<Surveyed> = lists.into_iter().flat_map(|(files, _)| files).collect();
        files.sort_unstable_by(|a, b| a.place.cmp(&b.place));
        Ok(Survey { files })
    }
}
