//! Arrow IPC from untrusted bytes: files by their footer, streams message by message.
//!
//! A compressed buffer states its uncompressed size, and the arrow crate allocates that much
//! memory, whatever the size. So the stated sizes are checked before the arrow crate sees a
//! message: each against the largest possible ratio of compression, and the sum of all of them, as
//! all batches are in memory together, against the memory that an input may take. Buffers that are
//! not compressed are slices of the input, not copies.

use std::fmt::Display;
use std::sync::Arc;

use arrow_array::RecordBatch;
use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow_ipc::{Block, CompressionType};
use arrow_schema::SchemaRef;

use super::damaged;
use crate::bytes::ContentLimits;
use crate::error::{DataError, FileDamage};

/// The largest ratios of compression: zstd compresses at most 128 KiB into 4 bytes, LZ4 255 bytes
/// into one. A buffer that claims a larger ratio is damaged.
const MAX_ZSTD_RATIO: u64 = 1 << 15;
const MAX_LZ4_RATIO: u64 = 255;

/// Reads a file by its footer. The arrow crate's own file reader would allocate the memory that a
/// block claims to need; here a block is a slice of the available bytes.
pub(super) fn read_file(
    name: &str,
    buffer: Buffer,
) -> Result<(SchemaRef, Vec<RecordBatch>), DataError> {
    let fail = |error: &dyn Display| damaged(name, FileDamage::reader(error));
    let no_footer = || damaged(name, FileDamage::NoFooter);
    // A file ends with the footer, its length (4 bytes) and the magic bytes `ARROW1`.
    let footer_end = buffer.len().checked_sub(10).ok_or_else(no_footer)?;
    let tail: Option<[u8; 10]> = buffer.get(footer_end..).and_then(|tail| tail.try_into().ok());
    let length = read_footer_length(tail.ok_or_else(no_footer)?).map_err(|_| no_footer())?;
    let start = footer_end.checked_sub(length).ok_or_else(no_footer)?;
    let footer = arrow_ipc::root_as_footer(buffer.get(start..footer_end).unwrap_or(&[]));
    let footer = footer.map_err(|_| damaged(name, FileDamage::Footer))?;
    let schema = footer.schema().ok_or_else(|| damaged(name, FileDamage::NoSchema))?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err(damaged(name, FileDamage::ByteOrder));
    }
    let schema = Arc::new(arrow_ipc::convert::fb_to_schema(schema));
    let mut decoder = FileDecoder::new(schema.clone(), footer.version());
    let mut claims = ClaimedSizes::new(&buffer);
    for block in footer.dictionaries().iter().flatten() {
        let data = block_bytes(name, &buffer, block, &mut claims)?;
        decoder.read_dictionary(block, &data).map_err(|e| fail(&e))?;
    }
    let mut batches = Vec::new();
    for block in footer.recordBatches().iter().flatten() {
        let data = block_bytes(name, &buffer, block, &mut claims)?;
        batches.extend(decoder.read_record_batch(block, &data).map_err(|e| fail(&e))?);
    }
    Ok((schema, batches))
}

/// The bytes of a block: a message and its body. An error if the block does not lie inside the
/// file, or if its buffers claim too large sizes.
fn block_bytes(
    name: &str,
    buffer: &Buffer,
    block: &Block,
    claims: &mut ClaimedSizes,
) -> Result<Buffer, DataError> {
    let size = |value: i64| usize::try_from(value).ok();
    let extent = || {
        let start = size(block.offset())?;
        let message_length = size(block.metaDataLength().into())?;
        let length = message_length.checked_add(size(block.bodyLength())?)?;
        let is_inside = start.checked_add(length)? <= buffer.len() && message_length >= 8;
        is_inside.then_some((start, message_length, length))
    };
    let (start, message_length, length) =
        extent().ok_or_else(|| damaged(name, FileDamage::Block))?;
    let data = buffer.slice_with_length(start, length);
    // The marker 0xffffffff (missing in old files) and the length come before the message.
    let prefix = if data.starts_with(&[0xff; 4]) { 8 } else { 4 };
    let message = data.get(prefix..).unwrap_or(&[]);
    // The slice runs on into the body: a message is read from its start, here and in the decoder.
    claims.add(name, message, data.get(message_length..).unwrap_or(&[]))?;
    Ok(data)
}

/// Reads a stream, message by message.
pub(super) fn read_stream(
    name: &str,
    mut buffer: Buffer,
) -> Result<(SchemaRef, Vec<RecordBatch>), DataError> {
    let fail = |error: &dyn Display| damaged(name, FileDamage::reader(error));
    check_stream(name, &buffer, ClaimedSizes::new(&buffer))?;
    let mut decoder = StreamDecoder::new();
    let mut batches = Vec::new();
    while !buffer.is_empty() {
        batches.extend(decoder.decode(&mut buffer).map_err(|e| fail(&e))?);
    }
    let schema = decoder.schema();
    decoder.finish().map_err(|_| damaged(name, FileDamage::ShortMessage))?;
    match schema {
        Some(schema) => Ok((schema, batches)),
        None => Err(damaged(name, FileDamage::NoSchema)),
    }
}

/// Checks the sizes that the messages of a stream claim. At the first message that is cut off or
/// does not parse, the check ends, and the decoder reports the damage.
fn check_stream(name: &str, mut rest: &[u8], mut claims: ClaimedSizes) -> Result<(), DataError> {
    while let Some((marker, after)) = rest.split_first_chunk::<4>() {
        let (length, after) = match marker {
            [0xff, 0xff, 0xff, 0xff] => match after.split_first_chunk::<4>() {
                Some((length, after)) => (*length, after),
                None => break,
            },
            length => (*length, after),
        };
        let length = u32::from_le_bytes(length) as usize;
        let Some((message, after)) = after.split_at_checked(length).filter(|_| length > 0) else {
            break;
        };
        let body = arrow_ipc::root_as_message(message).map(|message| message.bodyLength());
        let body = body.ok().and_then(|length| usize::try_from(length).ok());
        let Some((body, after)) = body.and_then(|length| after.split_at_checked(length)) else {
            break;
        };
        claims.add(name, message, body)?;
        rest = after;
    }
    Ok(())
}

/// The sizes that compressed buffers claim to have uncompressed. Dictionaries and record batches
/// stay in memory until all are read, so their sizes are added up.
struct ClaimedSizes {
    limits: ContentLimits,
    /// The size of the whole input in bytes.
    input_bytes: u64,
    /// The sum of the sizes that all buffers so far claim.
    claimed_bytes: u64,
}

impl ClaimedSizes {
    fn new(input: &[u8]) -> ClaimedSizes {
        let limits = ContentLimits::current();
        ClaimedSizes { limits, input_bytes: input.len() as u64, claimed_bytes: 0 }
    }

    /// Rejects a message whose buffers claim to hold more than compression allows, or more than may
    /// be in memory. A message that does not parse is left for the decoder to reject.
    fn add(&mut self, name: &str, message: &[u8], body: &[u8]) -> Result<(), DataError> {
        let Ok(message) = arrow_ipc::root_as_message(message) else { return Ok(()) };
        let dictionary = message.header_as_dictionary_batch().and_then(|batch| batch.data());
        let Some(batch) = message.header_as_record_batch().or(dictionary) else { return Ok(()) };
        let claimed = claimed_bytes(name, &batch, body)?;
        self.claimed_bytes = self.claimed_bytes.saturating_add(claimed);
        self.limits.check(name, self.input_bytes, self.claimed_bytes)
    }
}

/// The sum of the sizes that the compressed buffers of a batch claim; an error if a buffer claims
/// more than compression allows.
fn claimed_bytes(
    name: &str,
    batch: &arrow_ipc::RecordBatch<'_>,
    body: &[u8],
) -> Result<u64, DataError> {
    let Some(compression) = batch.compression() else { return Ok(0) };
    let is_zstd = compression.codec() == CompressionType::ZSTD;
    let max_ratio = if is_zstd { MAX_ZSTD_RATIO } else { MAX_LZ4_RATIO };
    let mut sum = 0_u64;
    for buffer in batch.buffers().iter().flatten() {
        let range =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range.and_then(|(start, length)| {
            let rest = body.get(start..)?;
            rest.get(..length.min(rest.len()))
        });
        // The uncompressed length comes first, in 8 bytes; an empty buffer has none.
        let Some((claimed, content)) = bytes.and_then(|bytes| bytes.split_first_chunk::<8>())
        else {
            continue;
        };
        // The length -1 marks a buffer that is not compressed.
        let claimed = u64::try_from(i64::from_le_bytes(*claimed)).unwrap_or(0);
        let bytes = content.len() as u64;
        if claimed > bytes.saturating_mul(max_ratio) {
            return Err(damaged(name, FileDamage::CompressedSize { bytes, claimed }));
        }
        sum = sum.saturating_add(claimed);
    }
    Ok(sum)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use arrow_array::{ArrayRef, Int64Array, RecordBatch};
    use arrow_ipc::writer::{IpcWriteOptions, StreamWriter};

    use super::*;

    /// A compressed stream of three equal batches, each with two columns of 100,000 equal numbers:
    /// 1.6 MB per batch that compress well.
    fn compressed_stream() -> Vec<u8> {
        let column: ArrayRef = Arc::new(Int64Array::from(vec![7; 100_000]));
        let batch = RecordBatch::try_from_iter([("a", column.clone()), ("b", column)]).unwrap();
        let options = IpcWriteOptions::default();
        let options = options.try_with_compression(Some(CompressionType::ZSTD)).unwrap();
        let mut writer =
            StreamWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
        (0..3).for_each(|_| writer.write(&batch).unwrap());
        writer.into_inner().unwrap()
    }

    #[test]
    fn the_claims_of_all_batches_are_added_up() {
        let bytes = compressed_stream();
        assert!(bytes.len() < 10_000, "{}", bytes.len());
        let check = |limit| {
            let limits = ContentLimits { max_bytes: limit, any_ratio: true };
            check_stream("t", &bytes, ClaimedSizes { limits, ..ClaimedSizes::new(&bytes) })
        };
        check(4_900_000).unwrap();
        // Each batch alone, 1.6 MB, would fit.
        let error = check(4_000_000).unwrap_err();
        assert!(matches!(error, DataError::ContentTooLarge { limit: 4_000_000, .. }), "{error}");
    }
}
