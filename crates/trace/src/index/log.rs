//! Reading one log for the index, from its beginning or on from where it was read to, into blocks, turns and a summary.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use sha2::{Digest, Sha256};
use tamis_clients::Client;
use tamis_logs::discovery::{LogFormat, LogSource};
use tamis_logs::event::EventKind;
use tamis_logs::lines::{CHUNK, Chunk, LogLines, open_regular};
use tamis_logs::readers::ParsedLog;
use tamis_logs::reading::{
    LogItem, each_event, format_of, is_compressed, no_reader, reader_of, too_long, with_transcript,
};

use super::{Message, Sink};
use crate::bloom::BloomFilter;
use crate::db::BlockRow;
use crate::indexed_log::IndexedLog;
use crate::search_text::{COMPOSED, is_composed, words_before, words_of_event};
use crate::summary::SessionSummary;

/// A block of this size is not added to, so that most blocks are one chunk.
const FULL: u64 = CHUNK as u64 / 4 * 3;
/// How much of a log's two ends is compared to know whether it only grew.
const COMPARED: u64 = 4096;

/// What was known of a log when its reading began.
pub(crate) struct Known {
    pub(crate) log: IndexedLog,
    pub(crate) summary: SessionSummary,
    pub(crate) last_block: Option<BlockRow>,
}

/// A log that was read.
pub(crate) struct Outcome {
    pub(crate) log: IndexedLog,
    pub(crate) summary: SessionSummary,
}

/// Reads a log, or what is new of it. `None` when the sink broke it off.
pub(crate) fn read(source: &LogSource, known: Option<Known>, sink: &Sink<'_>) -> Option<Outcome> {
    let mut log = IndexedLog::new(source.clone());
    let outcome = match known {
        Some(known) if has_only_grown(source, &known.log) => {
            log.format = known.log.format;
            log.read_to = known.log.read_to;
            log.reader = known.log.reader.clone();
            read_log(&mut log, known.summary, known.last_block, sink)
        }
        _ => {
            sink.send(Message::Anew);
            format_of(source).and_then(|format| {
                log.format = format;
                read_log(&mut log, SessionSummary::default(), None, sink)
            })
        }
    };
    let summary = match outcome {
        Ok(ControlFlow::Continue(summary)) => summary,
        Ok(ControlFlow::Break(())) => return None,
        Err(error) => {
            log.problem = Some(error.to_string());
            SessionSummary::default()
        }
    };
    Some(Outcome { log, summary })
}

/// Whether what was read of a log still stands there, with or without more after it.
fn has_only_grown(source: &LogSource, known: &IndexedLog) -> bool {
    known.problem.is_none()
        && matches!(known.format, LogFormat::Lines(_))
        && !is_compressed(&source.path)
        && known.source.stamp.file == source.stamp.file
        // One that has changed and not grown was written to somewhere else than at its end.
        && source.stamp.size > known.source.stamp.size
        && source.stamp.size >= known.read_to
        && fingerprint(&source.path, known.read_to).is_ok_and(|found| found == known.fingerprint)
}

/// A hash of both ends of what is indexed of a log.
fn fingerprint(path: &str, read_to: u64) -> io::Result<Vec<u8>> {
    let mut file = open_regular(Path::new(path))?;
    let mut hash = Sha256::new();
    for start in [0, read_to.saturating_sub(COMPARED)] {
        let mut bytes = Vec::new();
        file.seek(SeekFrom::Start(start))?;
        Read::by_ref(&mut file).take(COMPARED.min(read_to)).read_to_end(&mut bytes)?;
        hash.update(&bytes);
    }
    Ok(hash.finalize()[..16].to_vec())
}

/// Broken off, or through.
type Through<T> = io::Result<ControlFlow<(), T>>;

fn read_log(
    log: &mut IndexedLog,
    summary: SessionSummary,
    last: Option<BlockRow>,
    sink: &Sink<'_>,
) -> Through<SessionSummary> {
    match log.format {
        LogFormat::Lines(provider) => read_lines(log, provider, summary, last, sink),
        LogFormat::Document(_) | LogFormat::Collection(_) => {
            let summary =
                with_transcript(&log.source, log.format, |transcript| index_transcript(transcript, sink))?;
            log.read_to = log.source.stamp.size;
            Ok(sink.progress(log.read_to).map_continue(|()| summary))
        }
        LogFormat::Unknown => {
            log.read_to = log.source.stamp.size;
            Ok(sink.progress(log.read_to).map_continue(|()| SessionSummary::default()))
        }
    }
}

/// A block that is being put together, with the filter of its text so far.
#[derive(Default)]
struct Draft {
    block: BlockRow,
    filter: BloomFilter,
}

impl Draft {
    /// Ends the block here, and begins the next with this state of the reader.
    fn end(&mut self, stop: u64, next_event: u64, reader: String) -> BlockRow {
        let number = self.block.number + 1;
        let next = BlockRow { number, start: stop, first_event: next_event, reader, ..BlockRow::default() };
        let block = std::mem::replace(&mut self.block, next);
        let filter = self.filter.folded((stop - block.start) as usize);
        self.filter.clear();
        self.filter.add(words_before(&self.block.reader));
        BlockRow { stop, events: next_event - block.first_event, filter, ..block }
    }
}

fn read_lines(
    log: &mut IndexedLog,
    provider: Client,
    mut summary: SessionSummary,
    last: Option<BlockRow>,
    sink: &Sink<'_>,
) -> Through<SessionSummary> {
    let path = Path::new(&log.source.path);
    let mut reader = reader_of(provider, &log.source.path, &log.reader).ok_or_else(no_reader)?;
    let mut draft = Draft::default();
    match last {
        // A last block that is not full goes on; what it has is read again for its letters alone.
        Some(last) if last.stop == log.read_to && last.stop - last.start < FULL => {
            let mut lines = LogLines::open(path, is_compressed(&log.source.path), last.start)?;
            while let Some(chunk) = lines.next(last.stop)? {
                if let Chunk::Lines { bytes, .. } = chunk {
                    draft.filter.add(bytes);
                }
            }
            draft.block = last;
        }
        last => {
            draft.block.number = last.map_or(0, |last| last.number + 1);
            draft.block.start = log.read_to;
            draft.block.first_event = summary.events;
            draft.block.reader.clone_from(&log.reader);
        }
    }
    draft.filter.add(words_before(&draft.block.reader));
    let mut words = Vec::new();
    sink.send(Message::Begin { first_block: draft.block.number });
    let mut lines = LogLines::open(path, is_compressed(&log.source.path), log.read_to)?;
    let end = if is_compressed(&log.source.path) { u64::MAX } else { log.source.stamp.size };
    loop {
        let chunk = match lines.next(end) {
            Ok(Some(chunk)) => chunk,
            Ok(None) => break,
            // What could be read stays.
            Err(error) => {
                log.problem = Some(error.to_string());
                break;
            }
        };
        let stop = match &chunk {
            Chunk::Lines { at, bytes } => {
                draft.filter.add(bytes);
                at + bytes.len() as u64
            }
            Chunk::TooLong { at, length } => {
                draft.filter.add(too_long(*length).as_bytes());
                at + length
            }
        };
        each_event(&chunk, reader.as_mut(), &mut |given| match given {
            LogItem::Event(event, line) => {
                draft.block.kinds |= event.kind().bit();
                if is_composed(event, line) {
                    draft.block.kinds |= COMPOSED;
                    words.clear();
                    words_of_event(event, &mut words);
                    words.iter().for_each(|text| draft.filter.add(text.as_bytes()));
                }
                summary.event(event);
            }
            LogItem::Record(record) => summary.record(record),
        });
        let read = stop - log.read_to;
        log.read_to = stop;
        if stop - draft.block.start >= FULL {
            sink.send(Message::Block(draft.end(stop, summary.events, reader.state())));
            sink.send(Message::Turns(summary.take_turns()));
        }
        if sink.progress(read).is_break() {
            return Ok(ControlFlow::Break(()));
        }
    }
    log.pending = if log.problem.is_none() { lines.pending() } else { 0 };
    log.reader = reader.state();
    if log.read_to > draft.block.start {
        sink.send(Message::Block(draft.end(log.read_to, summary.events, String::new())));
    }
    sink.send(Message::Turns(summary.take_turns()));
    if !is_compressed(&log.source.path) {
        log.fingerprint = fingerprint(&log.source.path, log.read_to)?;
    }
    Ok(ControlFlow::Continue(summary))
}

fn index_transcript(transcript: &ParsedLog<'_>, sink: &Sink<'_>) -> SessionSummary {
    let mut summary = SessionSummary::default();
    summary.record(transcript);
    let mut words = Vec::new();
    let mut size = 0;
    let mut draft = Draft::default();
    for event in &transcript.events {
        words.clear();
        words_of_event(event, &mut words);
        for text in &words {
            draft.filter.add(text.as_bytes());
            size += text.len() as u64;
        }
        draft.block.kinds |= event.kind().bit();
        // Readers compose the texts of these events; those of the others are in the document.
        if matches!(event.kind(), EventKind::Notification | EventKind::Summary | EventKind::SlashCommand) {
            draft.block.kinds |= COMPOSED;
        }
        summary.event(event);
        if size - draft.block.start >= FULL {
            sink.send(Message::Block(draft.end(size, summary.events, String::new())));
        }
    }
    if summary.events > draft.block.first_event {
        sink.send(Message::Block(draft.end(size, summary.events, String::new())));
    }
    sink.send(Message::Turns(summary.take_turns()));
    summary
}
