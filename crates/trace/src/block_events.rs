//! The events of some blocks, read from their log again.

use std::io::{self, Read, Seek, SeekFrom};
use std::ops::ControlFlow;
use std::path::Path;

use tamis_logs::discovery::LogFormat;
use tamis_logs::event::LogEvent;
use tamis_logs::lines::{Chunk, LONGEST_LINE, LogLines, open_regular};
use tamis_logs::readers::ParsedLog;
use tamis_logs::reading::{
    LARGEST_DOCUMENT, LogItem, each_event, is_compressed, no_reader, reader_of, with_transcript,
};

use crate::db::BlockRow;
use crate::indexed_log::IndexedLog;
use crate::search_text::{COMPOSED, words_before};

/// Called with an event's number, the event, and its line if the log has lines.
pub(crate) type Visit<'v> = dyn FnMut(u64, &LogEvent<'_>, Option<&str>) -> ControlFlow<()> + 'v;

/// Reads the events of some blocks again, with their numbers.
pub(crate) fn read_blocks(
    log: &IndexedLog,
    blocks: &[BlockRow],
    visit: &mut Visit<'_>,
) -> io::Result<ControlFlow<()>> {
    let LogFormat::Lines(provider) = log.format else {
        return with_transcript(&log.source, log.format, |transcript| events_of(transcript, blocks, visit));
    };
    let mut flow = ControlFlow::Continue(());
    for block in blocks {
        let mut reader = reader_of(provider, &log.source.path, &block.reader).ok_or_else(no_reader)?;
        let mut lines =
            LogLines::open(Path::new(&log.source.path), is_compressed(&log.source.path), block.start)?;
        let mut number = block.first_event;
        while let Some(chunk) = lines.next(block.stop)? {
            each_event(&chunk, reader.as_mut(), &mut |given| {
                if let (LogItem::Event(event, line), true) = (given, flow.is_continue()) {
                    flow = visit(number, event, line);
                    number += 1;
                }
            });
            if flow.is_break() {
                return Ok(flow);
            }
        }
    }
    Ok(flow)
}

/// Reads the events of some blocks again, each block only when its lines are worth it: where lines have been put together
/// into other words, they are.
pub(crate) fn read_blocks_worth(
    log: &IndexedLog,
    blocks: &[BlockRow],
    worth: &dyn Fn(&[u8]) -> bool,
    buffer: &mut Vec<u8>,
    visit: &mut Visit<'_>,
) -> io::Result<ControlFlow<()>> {
    let provider = match log.format {
        LogFormat::Lines(provider) if !is_compressed(&log.source.path) => provider,
        LogFormat::Document(_) if blocks.iter().all(|block| block.kinds & COMPOSED == 0) => {
            buffer.clear();
            open_regular(Path::new(&log.source.path))?.take(LARGEST_DOCUMENT).read_to_end(buffer)?;
            return if worth(buffer) {
                read_blocks(log, blocks, visit)
            } else {
                Ok(ControlFlow::Continue(()))
            };
        }
        _ => return read_blocks(log, blocks, visit),
    };
    let mut file = open_regular(Path::new(&log.source.path))?;
    for block in blocks {
        let length = block.stop - block.start;
        if length > LONGEST_LINE as u64 {
            if read_blocks(log, std::slice::from_ref(block), visit)?.is_break() {
                return Ok(ControlFlow::Break(()));
            }
            continue;
        }
        let length = length as usize;
        if buffer.len() < length {
            buffer.resize(length, 0);
        }
        let bytes = &mut buffer[..length];
        file.seek(SeekFrom::Start(block.start))?;
        file.read_exact(bytes)?;
        if block.kinds & COMPOSED == 0 && !worth(bytes) && !worth(words_before(&block.reader)) {
            continue;
        }
        let mut reader = reader_of(provider, &log.source.path, &block.reader).ok_or_else(no_reader)?;
        let mut number = block.first_event;
        let mut flow = ControlFlow::Continue(());
        each_event(&Chunk::Lines { at: block.start, bytes }, reader.as_mut(), &mut |given| {
            if let (LogItem::Event(event, line), true) = (given, flow.is_continue()) {
                flow = visit(number, event, line);
                number += 1;
            }
        });
        if flow.is_break() {
            return Ok(flow);
        }
    }
    Ok(ControlFlow::Continue(()))
}

fn events_of(transcript: &ParsedLog<'_>, blocks: &[BlockRow], visit: &mut Visit<'_>) -> ControlFlow<()> {
    for block in blocks {
        for number in block.first_event..block.first_event + block.events {
            let event = usize::try_from(number).ok().and_then(|number| transcript.events.get(number));
            if let Some(event) = event {
                visit(number, event, None)?;
            }
        }
    }
    ControlFlow::Continue(())
}
