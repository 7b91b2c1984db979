//! Cut lines, watched for whether the agent needed them after all.

use std::collections::{HashMap, HashSet, VecDeque};

use tamis_logs::tool_kinds::may_be_one_file;

use super::lines::{DISTINCTIVE, bare_line, hash_of, is_distinctive, says_anything};
use super::reads::{FileEdits, ReadTarget};
use super::replay::Pending;

/// Bytes of cut lines that are watched at once; the oldest results are settled beyond this.
const MOST_BYTES: usize = 16 << 20;
/// Cut lines with the same beginning that are compared.
const MOST_ALIKE: usize = 64;

/// How a cut line turned out to be needed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Need {
    Edited,
    Quoted,
    ReadAgain,
}

/// A result with what was cut of it.
pub(super) struct Cutout {
    pub(super) of: Pending,
    /// The event of the result.
    pub(super) event: u64,
    pub(super) target: ReadTarget,
    pub(super) lines: Vec<CutLine>,
}

pub(super) struct CutLine {
    /// 1-based, in the result.
    pub(super) number: usize,
    /// As it is compared.
    pub(super) text: String,
    /// Cut because it was already shown, so the agent can edit and quote it all the same.
    pub(super) is_shown: bool,
    /// Seen again elsewhere, so a later need for it is not a cost of this cut.
    given: bool,
    /// And in which event.
    pub(super) need: Option<(Need, u64)>,
}

impl CutLine {
    pub(super) fn new(number: usize, text: &str, is_shown: bool) -> CutLine {
        CutLine { number, text: text.to_owned(), is_shown, given: false, need: None }
    }
}

type LinePosition = (u64, usize);

#[derive(Default)]
pub(super) struct Watched {
    cutouts: VecDeque<Cutout>,
    /// The number of the first cutout that is still watched.
    first: u64,
    bytes: usize,
    by_line: HashMap<u64, Vec<LinePosition>>,
    by_start: HashMap<[u8; DISTINCTIVE], Vec<LinePosition>>,
}

impl Watched {
    /// Watches a result's cut lines. Gives those that are settled for it.
    pub(super) fn add(&mut self, cutout: Cutout) -> Vec<Cutout> {
        let number = self.first + self.cutouts.len() as u64;
        for (index, line) in cutout.lines.iter().enumerate() {
            self.bytes += line.text.len() + 64;
            self.by_line.entry(hash_of(line.text.as_str())).or_default().push((number, index));
            if is_distinctive(&line.text)
                && let Some(start) = line.text.as_bytes().first_chunk()
            {
                self.by_start.entry(*start).or_default().push((number, index));
            }
        }
        self.cutouts.push_back(cutout);
        let mut settled = Vec::new();
        while self.bytes > MOST_BYTES
            && let Some(oldest) = self.cutouts.pop_front()
        {
            self.bytes -= oldest.lines.iter().map(|line| line.text.len() + 64).sum::<usize>();
            self.first += 1;
            settled.push(oldest);
        }
        if !settled.is_empty() {
            let first = self.first;
            let still = |locations: &mut Vec<LinePosition>| {
                locations.retain(|(number, _)| *number >= first);
                !locations.is_empty()
            };
            self.by_line.retain(|_, locations| still(locations));
            self.by_start.retain(|_, locations| still(locations));
        }
        settled
    }

    /// Ends the watch.
    pub(super) fn settle(&mut self) -> VecDeque<Cutout> {
        std::mem::take(self).cutouts
    }

    /// The agent has this line, whatever was cut.
    pub(super) fn given(&mut self, line: u64) {
        for (number, index) in self.by_line.get(&line).into_iter().flatten() {
            if let Some(line) = line_at(&mut self.cutouts, self.first, (*number, *index))
                && !line.is_shown
            {
                line.given = true;
            }
        }
    }

    /// The agent edited what stands in `text`, of these files where they are known.
    pub(super) fn edited(&mut self, paths: &[String], text: &str, event: u64) {
        let last = text.split('\n').count() - 1;
        for (index, line) in text.split('\n').enumerate() {
            let line = line.trim();
            if !says_anything(line) {
                continue;
            }
            let whole = self.by_line.get(&hash_of(line)).cloned().unwrap_or_default();
            // Of several results with this line, the latest would have had to be recovered, and only it.
            let charged = whole.iter().rev().find(|place| match self.is_of(place.0, paths) {
                Some(one_file) => one_file,
                None => is_distinctive(line),
            });
            if let Some(place) = charged {
                self.need(*place, Need::Edited, event);
            }
            // An edit may begin and end in the middle of a line.
            if whole.is_empty() && (index == 0 || index == last) && is_distinctive(line) {
                self.edited_in_part(paths, line, event);
            }
        }
    }

    fn edited_in_part(&mut self, paths: &[String], part: &str, event: u64) {
        for number in (self.first..self.first + self.cutouts.len() as u64).rev() {
            if self.is_of(number, paths) != Some(true) {
                continue;
            }
            let Some(cutout) = self.cutouts.get((number - self.first) as usize) else { continue };
            let holding: Vec<usize> = cutout
                .lines
                .iter()
                .enumerate()
                .filter_map(|(index, line)| line.text.contains(part).then_some(index))
                .collect();
            for index in &holding {
                self.need((number, *index), Need::Edited, event);
            }
            if !holding.is_empty() {
                break;
            }
        }
    }

    /// Whether a result is of one of these files; `None` when one of the two sides names none.
    fn is_of(&self, number: u64, paths: &[String]) -> Option<bool> {
        let cutout = self.cutouts.get(usize::try_from(number.checked_sub(self.first)?).ok()?)?;
        let files = &cutout.target.files;
        if files.is_empty() || paths.is_empty() {
            return None;
        }
        Some(files.iter().any(|one| paths.iter().any(|other| may_be_one_file(one, other))))
    }

    /// The agent wrote `text`: whichever whole cut lines stand in it, it quotes.
    pub(super) fn quoted(&mut self, text: &str, event: u64) {
        if self.by_start.is_empty() {
            return;
        }
        let bytes = text.as_bytes();
        for at in 0..bytes.len() {
            let Some(start) = bytes[at..].first_chunk::<DISTINCTIVE>() else { break };
            let Some(locations) = self.by_start.get(start) else { continue };
            let locations: Vec<LinePosition> = locations.iter().rev().take(MOST_ALIKE).copied().collect();
            // The latest first, and each line that begins here only there.
            let mut lengths = Vec::new();
            for place in locations {
                let Some(line) = line_at(&mut self.cutouts, self.first, place) else { continue };
                let length = line.text.len();
                if bytes[at..].starts_with(line.text.as_bytes())
                    && stands_alone(bytes, at, at + length)
                    && !lengths.contains(&length)
                {
                    lengths.push(length);
                    self.need(place, Need::Quoted, event);
                }
            }
        }
    }

    /// A later call returned `text`: cut lines that are in it again were needed, if the call reads the same and nothing was
    /// edited in between.
    pub(super) fn read_again(&mut self, target: &ReadTarget, text: &str, event: u64, edits: &FileEdits) {
        let is_same = |cutout: &Cutout| {
            cutout.target.shares_file(target) && !edits.changed(&target.files, cutout.event)
                || cutout.target.is_repeated_by(target) && !edits.changed_any(cutout.event)
        };
        let same: HashSet<u64> = (self.first..)
            .zip(&self.cutouts)
            .filter(|(_, cutout)| is_same(cutout))
            .map(|(number, _)| number)
            .collect();
        if same.is_empty() {
            return;
        }
        for line in text.split('\n').map(bare_line).filter(|line| is_distinctive(line)) {
            let places = self.by_line.get(&hash_of(line)).map_or(&[][..], Vec::as_slice);
            if let Some(place) = places.iter().rev().find(|(number, _)| same.contains(number)).copied() {
                self.need(place, Need::ReadAgain, event);
                if let Some(line) = line_at(&mut self.cutouts, self.first, place) {
                    line.given = true;
                }
            }
        }
    }

    fn need(&mut self, place: LinePosition, need: Need, event: u64) {
        if let Some(line) = line_at(&mut self.cutouts, self.first, place)
            && !line.given
            && (need == Need::ReadAgain || !line.is_shown)
            && line.need.is_none_or(|(known, _)| need < known)
        {
            line.need = Some((need, event));
        }
    }
}

fn line_at(cutouts: &mut VecDeque<Cutout>, first: u64, place: LinePosition) -> Option<&mut CutLine> {
    let index = usize::try_from(place.0.checked_sub(first)?).ok()?;
    cutouts.get_mut(index)?.lines.get_mut(place.1)
}

/// Whether no word goes on over the ends of this range.
fn stands_alone(bytes: &[u8], start: usize, end: usize) -> bool {
    let word = |byte: Option<&u8>| byte.is_some_and(|byte| byte.is_ascii_alphanumeric() || *byte == b'_');
    let before = |index: usize| index.checked_sub(1).and_then(|index| bytes.get(index));
    let goes_on_over = |index: usize| word(before(index)) && word(bytes.get(index));
    !goes_on_over(start) && !goes_on_over(end)
}

/// Hashes of the lines of a text, as they are compared.
pub(super) fn line_hashes(text: &str) -> impl Iterator<Item = u64> {
    text.split('\n').map(bare_line).filter(|line| says_anything(line)).map(hash_of)
}
