//! One log in the making: its text so far, its clock, the files that its agent reads and edits, the needles still to plant.

use super::author::Author;
use super::dialects::{Dialect, SOURCES};
use super::needles::{Needle, Planted};
use super::plan::{LogPlan, Project};
use super::random::Random;

pub(crate) struct Log<'v> {
    pub(crate) out: String,
    pub(crate) author: Author<'v>,
    pub(crate) project: &'v Project,
    pub(crate) session: String,
    /// A subagent's own id.
    pub(crate) agent: Option<String>,
    /// Milliseconds since 1970.
    pub(crate) clock: i64,
    pub(crate) bytes: usize,
    pub(crate) planted: Vec<Planted>,
    needles: &'v [Needle],
    due: Vec<(u64, usize)>,
    lines: usize,
    image_bytes: usize,
    files: Vec<SourceFile>,
    /// Where turns ended, from which a fork may begin.
    pub(crate) turns: Vec<TurnEnd>,
}

/// The end of a turn.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TurnEnd {
    pub(crate) bytes: usize,
    pub(crate) lines: usize,
    pub(crate) clock: i64,
    /// What was used so far, in the client's own way of counting.
    pub(crate) tokens: [u64; 4],
}

/// A file of the project, which stays the same from one reading to the next unless it is edited.
pub(crate) struct SourceFile {
    pub(crate) path: String,
    pub(crate) text: String,
}

impl<'v> Log<'v> {
    pub(crate) fn new(
        author: Author<'v>,
        project: &'v Project,
        plan: &LogPlan,
        needles: &'v [Needle],
        clock: i64,
        session: String,
    ) -> Log<'v> {
        Log {
            out: String::with_capacity(plan.bytes as usize + (1 << 18)),
            author,
            project,
            session,
            agent: None,
            clock,
            bytes: plan.bytes as usize,
            planted: Vec::new(),
            needles,
            due: plan.due.clone(),
            lines: 0,
            image_bytes: 0,
            files: Vec::new(),
            turns: Vec::new(),
        }
    }

    pub(crate) fn random(&mut self) -> &mut Random {
        &mut self.author.random
    }

    pub(crate) fn is_long_enough(&self) -> bool {
        self.out.len() >= self.bytes
    }

    /// Time passes; gives the time.
    pub(crate) fn tick(&mut self, median_millis: f64) -> String {
        self.clock += self.random().log_normal(median_millis, 0.8) as i64 + 1;
        timestamp(self.clock)
    }

    /// Ends a record of a log of lines.
    pub(crate) fn end_line(&mut self) {
        self.out.push('\n');
        self.lines += 1;
    }

    pub(crate) fn end_turn(&mut self, tokens: [u64; 4]) {
        self.turns.push(TurnEnd { bytes: self.out.len(), lines: self.lines, clock: self.clock, tokens });
    }

    pub(crate) fn has_needles_left(&self) -> bool {
        !self.due.is_empty()
    }

    /// Plants a needle in the text of the record that is written next, if one is due.
    pub(crate) fn plant(&mut self, event: &'static str, mut text: String) -> String {
        let ready = self.is_long_enough();
        if let Some((_, needle)) = self.due.pop_if(|(at, _)| ready || *at <= self.out.len() as u64) {
            self.needles[needle].plant(&mut self.author.random, &mut text);
            self.planted.push(Planted { needle, line: Some(self.lines + 1), event });
        }
        text
    }

    pub(crate) fn prose(&mut self, event: &'static str, median: usize) -> String {
        let bytes = self.random().size(median, 1.0, 12_000);
        let text = self.author.prose(bytes);
        self.plant(event, text)
    }

    /// What a tool printed.
    pub(crate) fn printed(&mut self, dialect: &Dialect, median: usize) -> String {
        let bytes = self.random().size(median, 1.5, 60_000);
        let text = self.author.lines(dialect, bytes);
        self.plant("tool_result", text)
    }

    /// The letters of a picture, if the log has fewer of them than logs have.
    pub(crate) fn image(&mut self) -> Option<String> {
        let letters = self.random().size(30_000, 0.8, 400_000);
        if self.out.len() / 60 < self.image_bytes + letters {
            return None;
        }
        self.image_bytes += letters;
        let mut image = String::from("iVBORw0KGgoAAAANSUhEUgAA");
        self.random().base64(&mut image, letters);
        Some(image)
    }

    /// A file to work on: mostly one that was worked on before.
    pub(crate) fn file(&mut self) -> usize {
        let known = self.files.len();
        if known > 0 && !self.random().percent(25) {
            return known - self.random().rank(5).min(known);
        }
        let (extension, dialect) = self.random().pick(SOURCES);
        let mut path = format!("{}/", self.project.root);
        self.author.path(&mut path);
        let stem = path.rfind('.').filter(|dot| !path[*dot..].contains('/')).unwrap_or(path.len());
        path.truncate(stem);
        path.push('.');
        path.push_str(extension);
        let bytes = self.random().size(5_000, 0.9, 40_000);
        let text = self.author.lines(dialect, bytes);
        self.files.push(SourceFile { path, text });
        known
    }

    pub(crate) fn path_of(&self, file: usize) -> String {
        self.files[file].path.clone()
    }

    pub(crate) fn text_of(&self, file: usize) -> &str {
        &self.files[file].text
    }

    /// Some neighbouring lines of a file: the first of them from 0, and the lines.
    pub(crate) fn some_lines(&mut self, file: usize, most: usize) -> (usize, String) {
        let count = self.files[file].text.lines().count();
        let wanted = self.random().between(1, most).min(count);
        let first = self.random().below(count - wanted + 1);
        let lines: Vec<&str> = self.files[file].text.lines().skip(first).take(wanted).collect();
        (first, lines.join("\n"))
    }

    /// Changes a few lines of a file: the first of them, what they were and what they are.
    pub(crate) fn edit(&mut self, file: usize) -> (usize, String, String) {
        let (first, old) = self.some_lines(file, 12);
        let mut new = old.clone();
        let line = self.author.filled("    %n.%n(%n); // %s\n");
        let at = new.find('\n').map_or(new.len(), |end| end + 1);
        new.insert_str(at, &line);
        let name = self.author.name();
        new = new.replacen("self", name, 1);
        self.files[file].text = self.files[file].text.replacen(&old, &new, 1);
        (first, old, new)
    }

    /// Takes over the first turns of another log. Gives the tokens used in them, or nothing if it had no turn to its end.
    pub(crate) fn inherit(
        &mut self,
        parent: &Log<'v>,
        mut line: impl FnMut(&str, &mut String),
    ) -> Option<[u64; 4]> {
        let within = parent.turns.iter().filter(|turn| turn.bytes < self.bytes * 3 / 4).count();
        let turn = *parent.turns.get(within.saturating_sub(1))?;
        for inherited in parent.out[..turn.bytes].lines() {
            line(inherited, &mut self.out);
            self.end_line();
        }
        let offset = self.lines - turn.lines;
        let copies = parent.planted.iter().filter_map(|planted| {
            let line = planted.line.filter(|line| *line <= turn.lines)?;
            Some(Planted { line: Some(line + offset), ..planted.clone() })
        });
        self.planted.extend(copies);
        self.clock = turn.clock + 3_600_000;
        Some(turn.tokens)
    }
}

/// As the clients write it, to the millisecond.
pub(crate) fn timestamp(millis: i64) -> String {
    jiff::Timestamp::from_millisecond(millis).map(|time| format!("{time:.3}")).unwrap_or_default()
}
