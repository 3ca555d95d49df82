//! Arrow IPC from untrusted bytes: files by their footer, streams message by message.
//!
//! The sizes that a message claims are compared with the available bytes before the arrow crate
//! sees it, because that crate allocates memory for any claim. Buffers are slices of the input, not
//! copies.

use std::fmt::Display;
use std::sync::Arc;

use arrow_buffer::Buffer;
use arrow_ipc::reader::{FileDecoder, StreamDecoder, read_footer_length};
use arrow_ipc::{Block, CompressionType};
use arrow_schema::Schema;

use super::metadata::Metadata;
use super::{Collector, damaged};
use crate::error::{DataError, FileDamage};

/// Largest ratios of compression: zstd compresses at most 128 KiB into 4 bytes, LZ4 255 bytes into
/// one. A buffer that claims more is damaged.
const MAX_ZSTD_RATIO: u64 = 1 << 15;
const MAX_LZ4_RATIO: u64 = 255;

/// Reads a file by its footer. The arrow crate's own reader would allocate the memory that a block
/// claims to need; slices of the available bytes cannot.
pub(super) fn read_file(
    name: &str,
    buffer: Buffer,
    collector: &mut Collector<'_>,
) -> Result<(), DataError> {
    let fail = |error: &dyn Display| damaged(name, FileDamage::reader(error));
    let cut = || damaged(name, FileDamage::NoFooter);
    let trailer = buffer.len().checked_sub(10).ok_or_else(cut)?;
    let tail: [u8; 10] = buffer.get(trailer..).and_then(|t| t.try_into().ok()).ok_or_else(cut)?;
    let length = read_footer_length(tail).map_err(|_| cut())?;
    let start = trailer.checked_sub(length).ok_or_else(cut)?;
    let footer = arrow_ipc::root_as_footer(buffer.get(start..trailer).unwrap_or(&[]));
    let footer = footer.map_err(|_| damaged(name, FileDamage::Footer))?;
    let schema = footer.schema().ok_or_else(|| damaged(name, FileDamage::NoSchema))?;
    if !schema.endianness().equals_to_target_endianness() {
        return Err(damaged(name, FileDamage::ByteOrder));
    }
    let schema = Arc::new(arrow_ipc::convert::fb_to_schema(schema));
    collector.open(name, &schema, metadata_of(name, &schema)?)?;
    let mut decoder = FileDecoder::new(schema, footer.version());
    for block in footer.dictionaries().iter().flatten() {
        let data = block_bytes(name, &buffer, block)?;
        decoder.read_dictionary(block, &data).map_err(|e| fail(&e))?;
    }
    for block in footer.recordBatches().iter().flatten() {
        let data = block_bytes(name, &buffer, block)?;
        if let Some(batch) = decoder.read_record_batch(block, &data).map_err(|e| fail(&e))? {
            collector.batch(name, &batch)?;
        }
    }
    Ok(())
}

fn metadata_of(name: &str, schema: &Schema) -> Result<Metadata, DataError> {
    Metadata::read(name, schema.metadata().iter().map(|(key, value)| (&**key, &**value)))
}

/// The bytes of a block, if it lies inside the file.
fn block_bytes(name: &str, buffer: &Buffer, block: &Block) -> Result<Buffer, DataError> {
    let size = |value: i64| usize::try_from(value).ok();
    let extent = || {
        let start = size(block.offset())?;
        let meta = size(block.metaDataLength().into())?;
        let length = meta.checked_add(size(block.bodyLength())?)?;
        (start.checked_add(length)? <= buffer.len() && meta >= 8).then_some((start, meta, length))
    };
    let (start, meta, length) = extent().ok_or_else(|| damaged(name, FileDamage::Block))?;
    let data = buffer.slice_with_length(start, length);
    let skip = if data.starts_with(&[0xff; 4]) { 8 } else { 4 };
    // Like this check, the decoder ends a message by its own length, not by the block's.
    check_uncompressed_sizes(
        name,
        data.get(skip..).unwrap_or(&[]),
        data.get(meta..).unwrap_or(&[]),
    )?;
    Ok(data)
}

/// Reads a stream, message by message.
pub(super) fn read_stream(
    name: &str,
    mut buffer: Buffer,
    collector: &mut Collector<'_>,
) -> Result<(), DataError> {
    let fail = |error: &dyn Display| damaged(name, FileDamage::reader(error));
    check_stream(name, &buffer)?;
    let mut decoder = StreamDecoder::new();
    let mut opened = false;
    while !buffer.is_empty() {
        let batch = decoder.decode(&mut buffer).map_err(|e| fail(&e))?;
        if let Some(schema) = decoder.schema().filter(|_| !opened) {
            collector.open(name, &schema, metadata_of(name, &schema)?)?;
            opened = true;
        }
        if let Some(batch) = batch {
            collector.batch(name, &batch)?;
        }
    }
    decoder.finish().map_err(|_| damaged(name, FileDamage::ShortMessage))?;
    match opened {
        true => Ok(()),
        false => Err(damaged(name, FileDamage::NoSchema)),
    }
}

/// Walks over the messages of a stream and checks the sizes that each claims.
fn check_stream(name: &str, mut rest: &[u8]) -> Result<(), DataError> {
    while let Some((marker, after)) = rest.split_first_chunk::<4>() {
        let (length, after) = match marker {
            [0xff, 0xff, 0xff, 0xff] => match after.split_first_chunk::<4>() {
                Some((length, after)) => (*length, after),
                None => break,
            },
            length => (*length, after),
        };
        let length = u32::from_le_bytes(length) as usize;
        let Some((meta, after)) = after.split_at_checked(length).filter(|_| length > 0) else {
            break;
        };
        let body = arrow_ipc::root_as_message(meta).map(|message| message.bodyLength());
        let body = body.ok().and_then(|length| usize::try_from(length).ok());
        let Some((body, after)) = body.and_then(|length| after.split_at_checked(length)) else {
            break;
        };
        check_uncompressed_sizes(name, meta, body)?;
        rest = after;
    }
    Ok(())
}

/// Rejects compressed buffers that claim to hold more than compression allows: the arrow crate
/// would allocate that memory at once. Messages that do not parse are left for the decoder to
/// reject.
fn check_uncompressed_sizes(name: &str, meta: &[u8], body: &[u8]) -> Result<(), DataError> {
    let Ok(message) = arrow_ipc::root_as_message(meta) else { return Ok(()) };
    let batch = message
        .header_as_record_batch()
        .or_else(|| message.header_as_dictionary_batch().and_then(|batch| batch.data()));
    let Some((batch, packing)) = batch.and_then(|b| Some((b, b.compression()?))) else {
        return Ok(());
    };
    let most =
        if packing.codec() == CompressionType::ZSTD { MAX_ZSTD_RATIO } else { MAX_LZ4_RATIO };
    for buffer in batch.buffers().iter().flatten() {
        let range =
            usize::try_from(buffer.offset()).ok().zip(usize::try_from(buffer.length()).ok());
        let bytes = range.and_then(|(start, length)| {
            let rest = body.get(start..)?;
            rest.get(..length.min(rest.len()))
        });
        // A buffer of less than 8 bytes has no length in front.
        let Some((claimed, packed)) = bytes.and_then(|bytes| bytes.split_first_chunk::<8>()) else {
            continue;
        };
        let claimed = i64::from_le_bytes(*claimed);
        if claimed > 0 && claimed as u64 > (packed.len() as u64).saturating_mul(most) {
            let (bytes, claimed) = (packed.len() as u64, claimed as u64);
            return Err(damaged(name, FileDamage::CompressedSize { bytes, claimed }));
        }
    }
    Ok(())
}
