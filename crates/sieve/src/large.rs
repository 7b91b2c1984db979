//! Pruning and recovering texts of any size with bounded memory.
//!
//! The text is read once, and compressed into the recovery folder as it comes. That file becomes the original, and the later
//! passes read it again: the first pass counts, the second decides what is cut, the third writes what stays. Until the third
//! begins, any problem leads to the whole text.

use std::io::{self, BufWriter, Read, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread;
use std::time::{Instant, SystemTime};

use tamis_prune::{Cut, EngineError, LargeSelector, LargeSurvey, LargeVerdict};
use tamis_text::TextKind;

use crate::Sieve;
use crate::cut_list::{LedgerCut, write_cuts};
use crate::ids::{PruneId, TextId};
use crate::ledger::{PruneRow, milliseconds};
use crate::marker::{MarkerForm, MarkerWriter, has_short_marker, least_short_block};
use crate::originals::OriginalError;
use crate::originals::spool::Spool;
use crate::prune::ratio;
use crate::render::{check, number_line};
use crate::request::{Caller, PruneOptions, PruneStats, PruneWarning};

/// The text is read and passed on in pieces of this size.
const PIECE_BYTES: usize = 1 << 20;
/// Pieces that wait for another thread.
const WAITING_PIECES: usize = 4;

/// How a large text is pruned. Its markers are short, and it counts as a log.
#[derive(Clone, Copy, Debug)]
pub struct LargePruneRequest<'a> {
    pub goal: &'a str,
    pub options: PruneOptions,
    /// A larger text stays whole, and is passed on as it comes.
    pub max_bytes: u64,
}

/// What became of a large text.
#[derive(Clone, Debug, PartialEq)]
pub struct LargePruned {
    /// None if the text stayed whole, because of one of the warnings or because it is not UTF-8.
    pub prune_id: Option<String>,
    pub stats: PruneStats,
    /// The first and last line of the first cut.
    pub first_cut: Option<(usize, usize)>,
    pub ends_in_newline: bool,
    pub warnings: Vec<PruneWarning>,
}

/// Why a large text stays whole.
enum Whole {
    Because(PruneWarning),
    NotUtf8,
}

impl Sieve {
    /// Prunes a text of any size and writes it to `output`. Fails only if the text cannot be read or written.
    pub fn prune_large(
        &self,
        text: &mut dyn Read,
        request: &LargePruneRequest<'_>,
        output: &mut dyn Write,
        caller: &Caller,
        cancelled: &dyn Fn() -> bool,
    ) -> io::Result<LargePruned> {
        let started = Instant::now();
        let deadline = started.checked_add(request.options.timeout);
        let interrupted = || cancelled() || deadline.is_some_and(|deadline| Instant::now() >= deadline);
        let spool = self.store.as_ref().map(|store| store.recovery.spool());
        let mut spool = match spool {
            Some(Ok(spool)) => spool,
            failed => {
                if let Some(Err(error)) = failed {
                    tracing::warn!(%error, "cannot store the original, so nothing is cut");
                }
                io::copy(text, output)?;
                return Ok(stays_whole(started, Whole::Because(PruneWarning::RecoveryUnavailable)));
            }
        };
        let mut survey = LargeSurvey::new(request.goal);
        let read = read_once(text, &mut spool, &mut survey, request.max_bytes, &interrupted)?;
        let decided = read.and_then(|text| self.decide(text, &mut spool, survey, request, &interrupted));
        match decided {
            Ok(decided) => {
                let pruned = write_pruned(&spool, &decided, request, output, started)?;
                self.record(&pruned, &decided.verdict.cuts, caller, started);
                Ok(pruned)
            }
            Err(why) => {
                io::copy(&mut spool.text()?, output)?;
                io::copy(text, output)?;
                Ok(stays_whole(started, why))
            }
        }
    }

    /// Stores the original, and decides what is cut.
    fn decide(
        &self,
        text: ReadText,
        spool: &mut Spool,
        survey: LargeSurvey,
        request: &LargePruneRequest<'_>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Decided, Whole> {
        let Some(store) = &self.store else { return Err(Whole::Because(PruneWarning::RecoveryUnavailable)) };
        let options = PruneOptions { markers: MarkerForm::Short, ..request.options };
        let id = PruneId::of_call(text.id.clone(), request.goal, TextKind::Logs, &options, &[]);
        let stored = match store.recovery.store_spool(&id, spool, request.goal) {
            Err(OriginalError::Full) if self.make_room() => {
                store.recovery.store_spool(&id, spool, request.goal)
            }
            stored => stored,
        };
        stored.map_err(|error| {
            tracing::warn!(prune_id = %id, %error, "cannot store the original, so nothing is cut");
            Whole::Because(PruneWarning::RecoveryUnavailable)
        })?;
        let limits = options.limits();
        let mut selector = survey.finish(limits, least_short_block);
        read_again(spool, &mut selector, interrupted)?;
        let verdict = selector.finish(interrupted).map_err(engine_error)?;
        check(&verdict.cuts, verdict.lines, &limits).map_err(|error| {
            tracing::error!(prune_id = %id, %error, "the engine's cuts were refused");
            Whole::Because(PruneWarning::InternalError)
        })?;
        Ok(Decided { id, text, verdict })
    }

    fn record(&self, pruned: &LargePruned, cuts: &[Cut], caller: &Caller, started: Instant) {
        let (Some(store), Some(prune_id)) = (&self.store, &pruned.prune_id) else { return };
        store.ledger.record_prune(PruneRow {
            prune_id: prune_id.clone(),
            at_ms: milliseconds(SystemTime::now()),
            caller: caller.clone(),
            kind: TextKind::Logs,
            lines_before: pruned.stats.original_lines,
            lines_after: pruned.stats.kept_lines,
            tokens_before: pruned.stats.tokens_est_before,
            tokens_after: pruned.stats.tokens_est_after,
            marker_tokens: None,
            elapsed: started.elapsed(),
            fallback: None,
            cuts: write_cuts(cuts.iter().map(LedgerCut::of_cut)),
        });
    }
}

/// A text that was read to its end.
struct ReadText {
    id: TextId,
    bytes: u64,
    ends_in_newline: bool,
    has_earlier_markers: bool,
}

struct Decided {
    id: PruneId,
    text: ReadText,
    verdict: LargeVerdict,
}

/// The first pass: reads the text once, into the spool and the survey. Fails if the text cannot be read.
fn read_once(
    text: &mut dyn Read,
    spool: &mut Spool,
    survey: &mut LargeSurvey,
    max_bytes: u64,
    interrupted: &dyn Fn() -> bool,
) -> io::Result<Result<ReadText, Whole>> {
    let (sender, receiver) = sync_channel::<Arc<Vec<u8>>>(WAITING_PIECES);
    let packer = &mut *spool;
    let has_failed = AtomicBool::new(false);
    let has_failed = &has_failed;
    thread::scope(|scope| {
        let packing = scope.spawn(move || packer.pack(receiver, has_failed));
        let mut utf8 = Utf8Check::default();
        let (mut bytes, mut last, mut has_earlier_markers) = (0, None, false);
        let mut stopped = None;
        while stopped.is_none() {
            let mut piece = Vec::with_capacity(PIECE_BYTES);
            (&mut *text).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
            let Some(&end) = piece.last() else { break };
            (last, bytes) = (Some(end), bytes + piece.len() as u64);
            let piece = Arc::new(piece);
            // Whatever was read must reach the spool, since the text may be a pipe.
            if sender.send(Arc::clone(&piece)).is_err() || has_failed.load(Ordering::Relaxed) {
                stopped = Some(Whole::Because(PruneWarning::RecoveryUnavailable));
            } else if !utf8.is_valid(&piece) {
                stopped = Some(Whole::NotUtf8);
            } else if bytes > max_bytes {
                stopped = Some(Whole::Because(PruneWarning::InputTooLarge));
            } else if interrupted() {
                stopped = Some(Whole::Because(PruneWarning::Timeout));
            }
            has_earlier_markers = has_earlier_markers || has_short_marker(&String::from_utf8_lossy(&piece));
            survey.read(&piece);
        }
        drop(sender);
        let packed = packing.join().unwrap_or_else(|_| Err(io::Error::other("the thread panicked")));
        Ok(match (stopped, packed) {
            (Some(why), _) => Err(why),
            (None, Err(error)) => {
                tracing::warn!(%error, "cannot store the original, so nothing is cut");
                Err(Whole::Because(PruneWarning::RecoveryUnavailable))
            }
            (None, Ok(_)) if !utf8.is_complete() => Err(Whole::NotUtf8),
            (None, Ok(hash)) => Ok(ReadText {
                id: TextId::of_hash(&hash),
                bytes,
                ends_in_newline: last.is_none_or(|last| last == b'\n'),
                has_earlier_markers,
            }),
        })
    })
}

/// The second pass, over what was spooled.
fn read_again(
    spool: &Spool,
    selector: &mut LargeSelector,
    interrupted: &dyn Fn() -> bool,
) -> Result<(), Whole> {
    let (sender, receiver) = sync_channel::<io::Result<Vec<u8>>>(WAITING_PIECES);
    thread::scope(|scope| {
        scope.spawn(move || {
            let unpack = || {
                let mut text = spool.text()?;
                loop {
                    let mut piece = Vec::with_capacity(PIECE_BYTES);
                    (&mut text).take(PIECE_BYTES as u64).read_to_end(&mut piece)?;
                    if piece.is_empty() || sender.send(Ok(piece)).is_err() {
                        return Ok(());
                    }
                }
            };
            if let Err(error) = unpack() {
                let _ = sender.send(Err(error));
            }
        });
        for piece in receiver {
            let piece = piece.map_err(|error| {
                tracing::error!(%error, "cannot read the original again");
                Whole::Because(PruneWarning::InternalError)
            })?;
            if interrupted() {
                return Err(Whole::Because(PruneWarning::Timeout));
            }
            selector.read(&piece, interrupted).map_err(engine_error)?;
        }
        Ok(())
    })
}

fn engine_error(error: EngineError) -> Whole {
    Whole::Because(match error {
        EngineError::Interrupted => PruneWarning::Timeout,
        EngineError::ConstraintsUnmet => PruneWarning::ConstraintsUnmet,
        EngineError::TooManyLines => PruneWarning::InputTooLarge,
    })
}

/// The third pass: writes the text without its cuts.
fn write_pruned(
    spool: &Spool,
    decided: &Decided,
    request: &LargePruneRequest<'_>,
    output: &mut dyn Write,
    started: Instant,
) -> io::Result<LargePruned> {
    let Decided { id, text, verdict } = decided;
    let mut writer = PrunedWriter {
        output: BufWriter::with_capacity(PIECE_BYTES, output),
        options: request.options,
        markers: MarkerWriter::new(id, MarkerForm::Short, text.has_earlier_markers),
        cuts: &verdict.cuts,
        line: 1,
        is_in_line: false,
        is_empty: true,
        bytes: 0,
    };
    let mut spooled = spool.text()?;
    let mut piece = vec![0; PIECE_BYTES];
    loop {
        match spooled.read(&mut piece)? {
            0 => break,
            count => writer.write(&piece[..count])?,
        }
    }
    writer.end_text()?;
    writer.output.flush()?;
    let pruned_lines = verdict.cuts.iter().map(|cut| cut.last_line - cut.first_line + 1).sum();
    Ok(LargePruned {
        prune_id: Some(id.to_string()),
        stats: PruneStats {
            original_lines: verdict.lines,
            kept_lines: verdict.lines - pruned_lines,
            pruned_lines,
            pruned_ratio: ratio(pruned_lines, verdict.lines),
            tokens_est_before: usize::try_from(text.bytes.div_ceil(4)).unwrap_or(usize::MAX),
            tokens_est_after: writer.bytes.div_ceil(4),
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            used_fallback: false,
        },
        first_cut: verdict.cuts.first().map(|cut| (cut.first_line, cut.last_line)),
        ends_in_newline: text.ends_in_newline,
        warnings: Vec::new(),
    })
}

fn stays_whole(started: Instant, why: Whole) -> LargePruned {
    LargePruned {
        prune_id: None,
        stats: PruneStats {
            original_lines: 0,
            kept_lines: 0,
            pruned_lines: 0,
            pruned_ratio: 0.0,
            tokens_est_before: 0,
            tokens_est_after: 0,
            elapsed_ms: u64::try_from(started.elapsed().as_millis()).unwrap_or(u64::MAX),
            used_fallback: true,
        },
        first_cut: None,
        ends_in_newline: true,
        warnings: match why {
            Whole::Because(warning) => vec![warning],
            Whole::NotUtf8 => Vec::new(),
        },
    }
}

/// Writes the lines that stay and the markers, joined by newlines as the lines of the text are.
struct PrunedWriter<'a> {
    output: BufWriter<&'a mut dyn Write>,
    options: PruneOptions,
    markers: MarkerWriter<'a>,
    /// The cuts that have not ended.
    cuts: &'a [Cut],
    line: usize,
    /// A part of the current line was written or left out.
    is_in_line: bool,
    is_empty: bool,
    bytes: usize,
}

impl PrunedWriter<'_> {
    fn write(&mut self, mut text: &[u8]) -> io::Result<()> {
        while !text.is_empty() {
            let end = memchr::memchr(b'\n', text);
            self.write_part(&text[..end.unwrap_or(text.len())])?;
            match end {
                Some(end) => {
                    self.end_line();
                    text = &text[end + 1..];
                }
                None => return Ok(()),
            }
        }
        Ok(())
    }

    fn write_part(&mut self, part: &[u8]) -> io::Result<()> {
        let is_start = !std::mem::replace(&mut self.is_in_line, true);
        if let Some(cut) = self.cuts.first().filter(|cut| cut.first_line <= self.line) {
            if is_start && cut.first_line == self.line && self.options.include_markers {
                let marker = self.markers.marker(cut);
                self.start_line()?;
                self.push(marker.as_bytes())?;
            }
            return Ok(());
        }
        if is_start {
            self.start_line()?;
            if self.options.annotate_lines {
                let mut number = String::new();
                number_line(&mut number, self.line);
                self.push(number.as_bytes())?;
            }
        }
        self.push(part)
    }

    fn end_line(&mut self) {
        if self.cuts.first().is_some_and(|cut| cut.last_line == self.line) {
            self.cuts = &self.cuts[1..];
        }
        self.line += 1;
        self.is_in_line = false;
    }

    /// The last line may be empty.
    fn end_text(&mut self) -> io::Result<()> {
        if self.is_in_line { Ok(()) } else { self.write_part(b"") }
    }

    fn start_line(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.is_empty) { Ok(()) } else { self.push(b"\n") }
    }

    fn push(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.bytes += bytes.len();
        self.output.write_all(bytes)
    }
}

/// Checks UTF-8 that comes in pieces.
#[derive(Default)]
struct Utf8Check {
    /// The beginning of a character whose end has not come.
    rest: Vec<u8>,
}

impl Utf8Check {
    fn is_valid(&mut self, mut piece: &[u8]) -> bool {
        while !self.rest.is_empty() {
            let Some((next, others)) = piece.split_first() else { return true };
            self.rest.push(*next);
            piece = others;
            match std::str::from_utf8(&self.rest) {
                Ok(_) => self.rest.clear(),
                Err(error) if error.error_len().is_some() => return false,
                Err(_) => {}
            }
        }
        match std::str::from_utf8(piece) {
            Ok(_) => true,
            Err(error) => {
                self.rest = piece[error.valid_up_to()..].to_vec();
                error.error_len().is_none()
            }
        }
    }

    fn is_complete(&self) -> bool {
        self.rest.is_empty()
    }
}
