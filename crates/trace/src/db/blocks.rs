//! The blocks of the logs and their Bloom filters, one by one or gathered into bit-sliced segments.

use std::collections::HashMap;

use tamis_store::rusqlite::{Connection, OptionalExtension, Row, params};

use super::{Sql, count, number};
use crate::bloom::RequiredNgrams;
use crate::segment::{self, Columns};

/// A part of a log.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct BlockRow {
    pub(crate) number: u64,
    pub(crate) start: u64,
    pub(crate) stop: u64,
    pub(crate) first_event: u64,
    pub(crate) events: u64,
    pub(crate) kinds: u16,
    pub(crate) reader: String,
    pub(crate) filter: Vec<u8>,
}

/// Removes a log's turns and blocks from these on: what follows was read again, or never finished.
pub(crate) fn remove_blocks(connection: &Connection, log: i64, from: u64) -> Sql<()> {
    let mut statement = connection.prepare_cached("DELETE FROM blocks WHERE log = ?1 AND number >= ?2")?;
    statement.execute(params![log, number(from)])?;
    Ok(())
}

/// Writes blocks of these logs: as many as a segment has go into one at once, fewer keep their filters.
pub(crate) fn put_blocks(connection: &Connection, blocks: &[(i64, BlockRow)]) -> Sql<()> {
    let mut segment = None;
    if blocks.len() == segment::COLUMNS {
        let filters: Vec<&[u8]> = blocks.iter().map(|(_, block)| block.filter.as_slice()).collect();
        segment = Some(put_segment(connection, &filters)?);
    }
    for (column, (log, block)) in blocks.iter().enumerate() {
        put_block(connection, *log, block, segment.map(|segment| (segment, column as i64)))?;
    }
    Ok(())
}

fn put_segment(connection: &Connection, filters: &[&[u8]]) -> Sql<i64> {
    connection.prepare_cached("INSERT INTO segments DEFAULT VALUES")?.execute([])?;
    let segment = connection.last_insert_rowid();
    let mut statement = connection.prepare_cached("INSERT INTO parts (id, bits) VALUES (?1, ?2)")?;
    for (number, bits) in segment::sliced(filters).iter().enumerate() {
        statement.execute(params![part_id(segment, number), bits])?;
    }
    Ok(segment)
}

fn put_block(connection: &Connection, log: i64, block: &BlockRow, place: Option<(i64, i64)>) -> Sql<()> {
    let mut statement = connection.prepare_cached(
        "INSERT OR REPLACE INTO blocks (log, number, start, stop, first_event, events, kinds, reader, filter, segment,
             place)
         VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)",
    )?;
    statement.execute(params![
        log,
        number(block.number),
        number(block.start),
        number(block.stop),
        number(block.first_event),
        number(block.events),
        block.kinds,
        block.reader,
        if place.is_some() { &[][..] } else { &block.filter },
        place.map(|(segment, _)| segment),
        place.map(|(_, column)| column),
    ])?;
    Ok(())
}

/// Where a block's Bloom filter is stored.
#[derive(Clone, Debug)]
pub(crate) enum FilterLocation {
    Own(Vec<u8>),
    Segment { id: i64, column: usize },
}

/// The blocks of every log, in order, with their filters.
pub(crate) type Blocks = HashMap<i64, Vec<(BlockRow, FilterLocation)>>;

/// The blocks of one log, or of all.
pub(crate) fn blocks_with_filters(connection: &Connection, log: Option<i64>) -> Sql<Blocks> {
    let mut statement = connection.prepare_cached(
        "SELECT number, start, stop, first_event, events, kinds, reader, segment, place, filter, log FROM blocks
         WHERE ?1 IS NULL OR log = ?1 ORDER BY log, number",
    )?;
    let mut rows = statement.query([log])?;
    let mut blocks = Blocks::new();
    while let Some(row) = rows.next()? {
        let filter_location = match row.get(7)? {
            Some(id) => FilterLocation::Segment { id, column: count(row, 8)? as usize },
            None => FilterLocation::Own(row.get(9)?),
        };
        blocks.entry(row.get(10)?).or_default().push((block(row)?, filter_location));
    }
    Ok(blocks)
}

/// A log's blocks from the one with this event on, in order.
pub(crate) fn blocks(connection: &Connection, log: i64, from_event: u64) -> Sql<Vec<BlockRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT number, start, stop, first_event, events, kinds, reader FROM blocks
         WHERE log = ?1 AND first_event + events > ?2 ORDER BY number",
    )?;
    statement.query_map(params![log, number(from_event)], block)?.collect()
}

fn block(row: &Row<'_>) -> Sql<BlockRow> {
    Ok(BlockRow {
        number: count(row, 0)?,
        start: count(row, 1)?,
        stop: count(row, 2)?,
        first_event: count(row, 3)?,
        events: count(row, 4)?,
        kinds: row.get(5)?,
        reader: row.get(6)?,
        ..BlockRow::default()
    })
}

/// A cache of segments for callers that go through all blocks.
pub(crate) type Segments = HashMap<i64, Vec<Vec<u8>>>;
const MOST_SEGMENTS: usize = 16;

/// A log's blocks with their filters, unfolded.
pub(crate) fn blocks_whole(connection: &Connection, log: i64, segments: &mut Segments) -> Sql<Vec<BlockRow>> {
    let (mut blocks, mut gathered) = (Vec::new(), Vec::new());
    for (mut block, filter_location) in
        blocks_with_filters(connection, Some(log))?.remove(&log).unwrap_or_default()
    {
        match filter_location {
            FilterLocation::Own(filter) => block.filter = segment::unfolded(&filter),
            FilterLocation::Segment { id, column } => gathered.push((blocks.len(), id, column)),
        }
        blocks.push(block);
    }
    let mut statement = connection.prepare_cached("SELECT bits FROM parts WHERE id = ?1")?;
    for (index, id, column) in gathered {
        if !segments.contains_key(&id) {
            if segments.len() == MOST_SEGMENTS {
                segments.clear();
            }
            let part = |part| statement.query_row([part_id(id, part)], |row| row.get(0));
            segments.insert(id, (0..segment::PARTS).map(part).collect::<Sql<_>>()?);
        }
        blocks[index].filter = segment::filter_of(&segments[&id], column);
    }
    Ok(blocks)
}

/// Gathers blocks that are in no segment into segments, as long as one can be filled.
pub(crate) fn gather(connection: &Connection) -> Sql<()> {
    loop {
        let mut statement = connection
            .prepare_cached("SELECT id, filter FROM blocks WHERE segment IS NULL ORDER BY id LIMIT ?1")?;
        let rows = statement.query_map([segment::COLUMNS as i64], |row| Ok((row.get(0)?, row.get(1)?)))?;
        let blocks: Vec<(i64, Vec<u8>)> = rows.collect::<Sql<_>>()?;
        if blocks.len() < segment::COLUMNS {
            return Ok(());
        }
        let filters: Vec<&[u8]> = blocks.iter().map(|(_, filter)| filter.as_slice()).collect();
        let segment = put_segment(connection, &filters)?;
        for (column, (id, _)) in blocks.iter().enumerate() {
            connection
                .prepare_cached("UPDATE blocks SET segment = ?2, place = ?3, filter = x'' WHERE id = ?1")?
                .execute(params![id, segment, column as i64])?;
        }
    }
}

fn part_id(segment: i64, part: usize) -> i64 {
    segment * segment::PARTS as i64 + part as i64
}

/// Of every segment, the columns that may contain these pieces.
pub(crate) fn columns(connection: &Connection, pieces: &RequiredNgrams) -> Sql<HashMap<i64, Columns>> {
    let mut statement = connection.prepare_cached("SELECT id FROM segments")?;
    let segments: Vec<i64> = statement.query_map([], |row| row.get(0))?.collect::<Sql<_>>()?;
    let mut statement = connection.prepare_cached("SELECT bits FROM parts WHERE id = ?1")?;
    let mut columns = HashMap::new();
    for segment in segments {
        let part = |part| statement.query_row([part_id(segment, part)], |row| row.get(0));
        columns.insert(segment, segment::may_have(pieces, part)?);
    }
    Ok(columns)
}

/// The last block of a log.
pub(crate) fn last_block(connection: &Connection, log: i64) -> Sql<Option<BlockRow>> {
    let mut statement = connection.prepare_cached(
        "SELECT number, start, stop, first_event, events, kinds, reader FROM blocks
         WHERE log = ?1 ORDER BY number DESC LIMIT 1",
    )?;
    statement.query_row([log], block).optional()
}
