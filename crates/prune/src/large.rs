//! Large texts: which lines stay, decided in two passes with bounded memory.
//!
//! The first pass ([`LargeSurvey`]) counts templates, numbers and words of the goal. The second ([`LargeSelector`]) picks the
//! lines that could stay, with their neighbours, and lets the engine score those of each segment as one text; everything else is
//! cut. Lines that must stay are those of logs of any size: errors with their context, directives, and the key lines of
//! [`crate::scorer`].
//!
//! Both passes take the text in pieces of any size, and the result does not depend on the pieces.

mod extremes;
mod feed;
mod scan;
mod templates;
mod wanted;

use std::borrow::Cow;

use tamis_text::{StepOutcome, Timestamp, is_separator_line, step_outcome, strip_ansi_escapes, timestamp};

use crate::comparison::Comparison;
use crate::error_reports::reports_error;
use crate::goal::{GOAL_BYTES, Goal, clip};
use crate::mentions::Vocabulary;
use crate::outliers::has_failed_http_status;
use crate::patterns::Patterns;
use crate::period::{LogPeriod, PeriodSurvey};
use crate::protect::{ERROR_CONTEXT, TRACE_LINES, has_marker, is_trace, protection_begins, protection_ends};
use crate::reason::MOST_UNLIKE;
use crate::select::most_cut;
use crate::want::Want;
use crate::{
    Cut, CutCause, CutPlace, CutReason, DEFAULT_THRESHOLD, EngineError, PlainText, PruneLimits, TextAnalysis,
};
use extremes::Extremes;
use feed::{LineFeeder, PART_BYTES};
use scan::{DIRECTIVE, ERROR_WORD, Found, MOST_TERMS, SEVERE, STATUS, Template, patterns, template};
use templates::{COUNTERS, RARE, REPEATED, Sums, TemplateCounts};
use wanted::{ONE_SELECTED_IN, wanted_combinations};

/// A template with this many lines gets an example: its first line.
const MANY: u32 = 4;
/// Outliers and failures without the contract's words that stay, for each template.
const MOST_KEY_LINES: u16 = 200;
/// Lines of a time that stay beside those that have an address, a request or the like that the goal names.
const MOST_OF_A_PERIOD: u64 = 2_000;
/// Lines that the engine sees on each side of a line that could stay.
const NEIGHBOURS: usize = 3;
/// Lines of a segment. The engine scores those that are picked from one segment together.
const SEGMENT_LINES: usize = 1 << 17;
/// If more lines or bytes of a segment are picked, they stay without being scored, without their neighbours.
const MOST_PICKED_LINES: usize = 1 << 14;
const MOST_PICKED_BYTES: usize = 8 << 20;
/// The engine sees this much of a line.
const PICKED_LINE_BYTES: usize = 4 << 10;
/// With more cuts than this, the rest of the text stays whole, so that the list of cuts cannot exhaust memory.
const MOST_CUTS: usize = 4_000_000;
/// The scores of lines that are not picked, whose template repeats or not.
const REPEATED_SCORE: f32 = 0.1;
const SINGLE_SCORE: f32 = 0.3;

/// The first pass over a large text.
pub struct LargeSurvey {
    patterns: Patterns,
    vocabulary: Vocabulary,
    /// The times of the log, if the goal names a time.
    period: Option<PeriodSurvey>,
    want: Want,
    goal: String,
    counts: TemplateCounts,
    sums: Sums,
    /// Extreme numbers, if the goal compares.
    extremes: Option<Extremes>,
    /// How many lines have each combination of the goal's terms.
    combinations: Vec<u64>,
    written: u64,
    feeder: LineFeeder,
    line: LineReading,
}

impl LargeSurvey {
    pub fn new(goal: &str) -> LargeSurvey {
        let want = Want::read(goal);
        let vocabulary = Vocabulary::of(&Goal::read(goal), &want, MOST_TERMS as u32);
        LargeSurvey {
            period: want.period.clone().map(PeriodSurvey::new),
            patterns: patterns(&vocabulary),
            vocabulary,
            goal: clip(goal, GOAL_BYTES).to_owned(),
            counts: TemplateCounts::new(),
            sums: Sums::new(),
            extremes: (want.comparison == Some(Comparison::Numbers)).then(Extremes::default),
            want,
            combinations: vec![0; 1 << MOST_TERMS],
            written: 0,
            feeder: LineFeeder::default(),
            line: LineReading::default(),
        }
    }

    /// Reads the next bytes of the text.
    pub fn read(&mut self, bytes: &[u8]) {
        let LargeSurvey {
            patterns, period, extremes, counts, sums, combinations, written, feeder, line, ..
        } = self;
        feeder.feed(bytes, |part, is_end| {
            if let (true, Some(period)) = (line.is_new(), period.as_mut()) {
                period.add(timestamp(part));
            }
            line.add(part, patterns);
            if is_end {
                let LineReading { template, found, .. } = std::mem::take(line);
                combinations[usize::from(found.terms)] += 1;
                if let Some(template) = template.filter(|template| !template.is_blank) {
                    *written += 1;
                    let count = counts.add(template.hash);
                    sums.add(&template, count);
                    if let Some(extremes) = extremes {
                        extremes.add(&template);
                    }
                }
            }
        });
    }

    /// The second pass, for the same text. `marker_bytes` is what a block must exceed to be cut.
    pub fn finish(mut self, mut limits: PruneLimits, marker_bytes: fn(&Cut) -> usize) -> LargeSelector {
        self.end();
        let (once, unrepeated) = self.counts.lines_of_rare_templates();
        let is_repetitive =
            self.written.saturating_sub(unrepeated) * 2 >= self.written && once * 5 <= self.written;
        let period = self.period.take().and_then(PeriodSurvey::finish);
        let wanted = wanted_combinations(&self.vocabulary, &self.combinations);
        let is_of_unknown_time =
            self.want.period.is_some() && (period.is_none() || !self.want.has_certain_period());
        let is_open = is_of_unknown_time || wanted.has_id && self.want.is_about_others();
        if is_open && !self.vocabulary.is_about_failures() {
            limits.threshold = 0.0;
        }
        let period = period.filter(|period| {
            // Of many lines of a time, those that have the names are meant.
            let most = if wanted.is_decisive { MOST_OF_A_PERIOD } else { self.written / ONE_SELECTED_IN };
            let is_short = period.lines <= most;
            period.is_of_ends() && !period.is_most_of_the_log() || !period.is_of_ends() && is_short
        });
        let has_goal = period.is_some() || wanted.has.contains(&true);
        LargeSelector {
            survey: Survey {
                patterns: self.patterns,
                goal: self.goal,
                counts: self.counts,
                sums: self.sums,
                extremes: self.extremes,
                wanted: wanted.has,
                period,
                is_repetitive,
                may_cut_single: is_repetitive || has_goal,
            },
            limits,
            marker_bytes,
            seen: vec![0; COUNTERS / 64],
            key_lines: vec![0; COUNTERS],
            feeder: LineFeeder::default(),
            line: LineReading::default(),
            lines: 0,
            segment: Segment::default(),
            is_in_period: false,
            context: Context::default(),
            run: Run::default(),
            cuts: Vec::new(),
        }
    }

    fn end(&mut self) {
        let last = std::mem::take(&mut self.feeder).finish();
        self.read(&last);
        self.read(b"\n");
    }
}

/// What the first pass found.
struct Survey {
    patterns: Patterns,
    goal: String,
    counts: TemplateCounts,
    sums: Sums,
    extremes: Option<Extremes>,
    wanted: Vec<bool>,
    /// The time that the goal names, if few lines are of it.
    period: Option<LogPeriod>,
    /// Most lines are repetitions, so a rare template stands out.
    is_repetitive: bool,
    /// Whether lines of rare templates may be cut: not on a guess.
    may_cut_single: bool,
}

/// The second pass over a large text.
pub struct LargeSelector {
    survey: Survey,
    limits: PruneLimits,
    marker_bytes: fn(&Cut) -> usize,
    /// Which templates have had their first line, and how many key lines each has had.
    seen: Vec<u64>,
    key_lines: Vec<u16>,
    feeder: LineFeeder,
    line: LineReading,
    lines: usize,
    segment: Segment,
    /// Whether the last line with a time is of the time that the goal names.
    is_in_period: bool,
    context: Context,
    run: Run,
    cuts: Vec<Cut>,
}

/// The lines since the last segment ended.
#[derive(Default)]
struct Segment {
    lines: Vec<SegmentLine>,
    /// The beginnings of all lines that may be picked, one after another, each with its end.
    text: String,
    /// For each picked line its number in the segment.
    picked: Vec<u32>,
    /// The beginnings of the last lines that were not picked.
    before: Vec<(u32, String)>,
    /// How many more lines are picked as neighbours.
    after: usize,
    is_overfull: bool,
}

#[derive(Clone, Copy)]
struct SegmentLine {
    bytes: u32,
    repeats: bool,
    stays: bool,
    is_key: bool,
    /// Scored by the engine or by its template.
    score: f32,
}

/// What the lines above say about the next ones.
#[derive(Default)]
struct Context {
    is_inside_directives: bool,
    /// How many more lines a stack trace may have, and stay after an error.
    trace_left: usize,
    stay_left: usize,
    /// The last line reports an error.
    is_report: bool,
}

/// Neighbouring lines that are cut together, as far as they are known.
#[derive(Default)]
struct Run {
    first: usize,
    lines: usize,
    bytes: usize,
    repeats: usize,
}

impl LargeSelector {
    /// Reads the next bytes of the text.
    pub fn read(&mut self, bytes: &[u8], interrupted: &dyn Fn() -> bool) -> Result<(), EngineError> {
        let mut feeder = std::mem::take(&mut self.feeder);
        let mut outcome = Ok(());
        feeder.feed(bytes, |part, is_end| {
            if outcome.is_ok() {
                self.line.add(part, &self.survey.patterns);
                if is_end {
                    outcome = self.end_line(part, interrupted);
                }
            }
        });
        self.feeder = feeder;
        outcome
    }

    /// The cuts of the text, within the limits.
    pub fn finish(mut self, interrupted: &dyn Fn() -> bool) -> Result<LargeVerdict, EngineError> {
        let last = std::mem::take(&mut self.feeder).finish();
        let is_empty = last.is_empty() && self.line.bytes == 0;
        self.line.add(&last, &self.survey.patterns);
        self.end_line(&last, interrupted)?;
        if is_empty && let Some(line) = self.segment.lines.last_mut() {
            // The empty line after the last newline stays, as in every text.
            line.stays = true;
        }
        self.end_segment(interrupted)?;
        self.end_run();
        if self.limits.min_keep_lines > self.lines {
            return Err(EngineError::ConstraintsUnmet);
        }
        let cuts = within_limits(self.cuts, most_cut(self.lines, &self.limits));
        Ok(LargeVerdict { lines: self.lines, cuts })
    }

    fn end_line(&mut self, part: &[u8], interrupted: &dyn Fn() -> bool) -> Result<(), EngineError> {
        let LineReading { template, found, bytes, head } = std::mem::take(&mut self.line);
        let Some(template) = template else { return Ok(()) };
        // A line of one part was not copied.
        let text: &[u8] = if head.is_empty() { part } else { &head };
        let text = &text[..text.len().min(PICKED_LINE_BYTES)];
        self.lines += 1;
        let line = self.judge(text, &template, found);
        let line = SegmentLine { bytes: u32::try_from(bytes + 1).unwrap_or(u32::MAX), ..line };
        self.pick(line, text);
        if self.segment.lines.len() == SEGMENT_LINES {
            self.end_segment(interrupted)?;
        }
        Ok(())
    }

    /// Whether a line stays, or could, whatever its neighbours are.
    fn judge(&mut self, text: &[u8], template: &Template, found: Found) -> SegmentLine {
        let survey = &self.survey;
        let slot = TemplateCounts::slots(template.hash)[0];
        let count = if template.is_blank { REPEATED } else { survey.counts.count(template.hash) };
        let is_first = !template.is_blank && self.seen[slot / 64] >> (slot % 64) & 1 == 0;
        self.seen[slot / 64] |= 1 << (slot % 64);
        let mut line = SegmentLine {
            bytes: 0,
            repeats: count > 1 && !is_first,
            stays: self.lines <= self.limits.keep_first_lines,
            is_key: false,
            score: if count >= REPEATED { REPEATED_SCORE } else { SINGLE_SCORE },
        };
        if !survey.may_cut_single && count < REPEATED {
            line.score = 1.0;
        }
        let is_rare = survey.is_repetitive && count <= RARE;
        if let Some(period) = &survey.period {
            let stamp = timestamp(text);
            if stamp != Timestamp::default() {
                self.is_in_period = period.has(stamp);
            }
        }
        let is_wanted = survey.wanted[usize::from(found.terms)] || self.is_in_period;
        let is_outlier = survey.sums.is_outlier(template)
            || survey.extremes.as_ref().is_some_and(|extremes| extremes.has(template));
        let is_example = is_first && count >= MANY;
        let has_failed = found.signs & STATUS != 0 && has_failed_http_status(&String::from_utf8_lossy(text));
        line.stays |= self.context.next_line();
        let needs_text = found.signs & !STATUS != 0 || is_rare || is_example || self.context.is_open();
        if needs_text || has_failed || is_wanted || is_outlier {
            let is_clipped = text.len() == PICKED_LINE_BYTES;
            let text = String::from_utf8_lossy(text);
            let plain = strip_ansi_escapes(&text);
            let has_passed = step_outcome(&plain) == Some(StepOutcome::Passed);
            let is_plain = !has_passed && !is_separator_line(&plain);
            line.is_key = is_wanted || (is_plain && (is_rare || is_example));
            let is_limited = (found.signs & SEVERE != 0 && !has_passed) || is_outlier || has_failed;
            if is_limited && self.key_lines[slot] < MOST_KEY_LINES {
                self.key_lines[slot] += 1;
                line.is_key = true;
            }
            line.stays |= self.context.protects(&plain, found, has_passed)
                || (is_clipped && found.signs & DIRECTIVE != 0);
        }
        line
    }

    /// Adds a line to the segment, and its text if the engine is to see it.
    fn pick(&mut self, line: SegmentLine, text: &[u8]) {
        let segment = &mut self.segment;
        let number = segment.lines.len() as u32;
        segment.lines.push(line);
        if self.context.is_report {
            let from = segment.lines.len().saturating_sub(ERROR_CONTEXT + 1);
            segment.lines[from..].iter_mut().for_each(|line| line.stays = true);
        }
        if segment.is_overfull {
            return;
        }
        let is_picked = line.is_key || line.stays;
        if is_picked {
            segment.after = NEIGHBOURS;
            for (number, text) in std::mem::take(&mut segment.before) {
                segment.picked.push(number);
                segment.push_text(text.as_bytes());
            }
        }
        if is_picked || segment.after > 0 {
            segment.after -= usize::from(!is_picked);
            segment.picked.push(number);
            segment.push_text(text);
            segment.is_overfull =
                segment.picked.len() > MOST_PICKED_LINES || segment.text.len() > MOST_PICKED_BYTES;
        } else {
            let mut oldest = match segment.before.len() == NEIGHBOURS {
                true => segment.before.remove(0).1,
                false => String::new(),
            };
            oldest.clear();
            oldest.push_str(&String::from_utf8_lossy(text));
            segment.before.push((number, oldest));
        }
    }

    /// Scores the picked lines of the segment, and turns all its lines into cuts.
    fn end_segment(&mut self, interrupted: &dyn Fn() -> bool) -> Result<(), EngineError> {
        if interrupted() {
            return Err(EngineError::Interrupted);
        }
        let mut segment = std::mem::take(&mut self.segment);
        if !segment.is_overfull && !segment.picked.is_empty() {
            let text = segment.text.strip_suffix('\n').unwrap_or(&segment.text);
            let view = PlainText::of(text);
            let analysis = TextAnalysis::read_picked(&view, &self.survey.goal, interrupted)?;
            let protected = analysis.protected(0);
            for (at, &number) in segment.picked.iter().enumerate() {
                let line = &mut segment.lines[number as usize];
                line.score = analysis.scores()[at];
                // The last line of this text is not that of the whole text.
                line.stays |= protected[at] && at + 1 < segment.picked.len();
            }
        }
        let first = self.lines - segment.lines.len();
        for (index, line) in segment.lines.iter().enumerate() {
            let score = if line.is_key { line.score.max(DEFAULT_THRESHOLD) } else { line.score };
            if !line.stays && score < self.limits.threshold && self.cuts.len() < MOST_CUTS {
                if self.run.lines == 0 {
                    self.run.first = first + index + 1;
                }
                self.run.lines += 1;
                self.run.bytes += line.bytes as usize;
                self.run.repeats += usize::from(line.repeats);
            } else {
                self.end_run();
            }
        }
        segment.lines.clear();
        self.segment.lines = segment.lines;
        Ok(())
    }

    fn end_run(&mut self) {
        let Run { first, lines, bytes, repeats } = std::mem::take(&mut self.run);
        if lines == 0 {
            return;
        }
        let is_repetition = (lines - repeats) * MOST_UNLIKE <= lines;
        let cause = if is_repetition { CutCause::Repetitions } else { CutCause::Unrelated };
        let reason = CutReason { cause, place: CutPlace::Lines(lines) };
        let cut = Cut { first_line: first, last_line: first + lines - 1, reason };
        if (self.marker_bytes)(&cut) < bytes {
            self.cuts.push(cut);
        }
    }
}

/// What is cut from a large text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LargeVerdict {
    /// How many lines the text has.
    pub lines: usize,
    /// In order, with at least one kept line between two cuts.
    pub cuts: Vec<Cut>,
}

/// Leaves out the smallest cuts until no more than `most` lines are cut.
fn within_limits(mut cuts: Vec<Cut>, most: usize) -> Vec<Cut> {
    let size = |cut: &Cut| cut.last_line - cut.first_line + 1;
    let mut total: usize = cuts.iter().map(size).sum();
    if total <= most {
        return cuts;
    }
    let mut order: Vec<usize> = (0..cuts.len()).collect();
    order.sort_by_key(|&index| (size(&cuts[index]), index));
    let mut goes = vec![true; cuts.len()];
    for index in order {
        if total <= most {
            break;
        }
        total -= size(&cuts[index]);
        goes[index] = false;
    }
    let mut goes = goes.into_iter();
    cuts.retain(|_| goes.next().unwrap_or(false));
    cuts
}

impl Segment {
    fn push_text(&mut self, line: &[u8]) {
        self.text.push_str(&String::from_utf8_lossy(line));
        self.text.push('\n');
    }
}

impl Context {
    /// Whether the next line stays because an error is just above it.
    fn next_line(&mut self) -> bool {
        self.is_report = false;
        let stays = self.stay_left > 0;
        self.stay_left = self.stay_left.saturating_sub(1);
        stays
    }

    /// Whether a line may stay because of lines further above.
    fn is_open(&self) -> bool {
        self.is_inside_directives || self.trace_left > 0
    }

    /// Whether the contract's rules keep this line, given those above.
    fn protects(&mut self, line: &str, found: Found, has_passed: bool) -> bool {
        let is_error = found.signs & ERROR_WORD != 0;
        let mut stays = is_error || self.is_inside_directives;
        if found.signs & DIRECTIVE != 0 {
            self.is_inside_directives |= protection_begins(line);
            stays |= self.is_inside_directives || protection_ends(line) || has_marker(line);
            self.is_inside_directives &= !protection_ends(line);
        }
        if is_error && !has_passed && reports_error(line) {
            self.is_report = true;
            self.trace_left = TRACE_LINES;
            self.stay_left = ERROR_CONTEXT;
        } else if self.trace_left > 0 && !line.trim().is_empty() {
            self.trace_left -= 1;
            match is_trace(line) {
                true => stays = true,
                false => self.trace_left = 0,
            }
        }
        stays
    }
}

/// A line, as far as it was read.
#[derive(Default)]
struct LineReading {
    template: Option<Template>,
    found: Found,
    bytes: usize,
    /// The beginning of a line that has several parts.
    head: Vec<u8>,
}

impl LineReading {
    /// Whether no part of the line was read.
    fn is_new(&self) -> bool {
        self.template.is_none()
    }

    fn add(&mut self, part: &[u8], patterns: &Patterns) {
        let plain: Cow<'_, [u8]> = match memchr::memchr(0x1b, part) {
            Some(_) => {
                Cow::Owned(strip_ansi_escapes(&String::from_utf8_lossy(part)).into_owned().into_bytes())
            }
            None => Cow::Borrowed(part),
        };
        let found = Found::of(patterns.find(&plain));
        self.found.terms |= found.terms;
        self.found.signs |= found.signs;
        if self.template.is_none() {
            self.template = Some(template(&plain));
            if part.len() == PART_BYTES {
                self.head = part[..PICKED_LINE_BYTES].to_vec();
            }
        }
        self.bytes += part.len();
    }
}
