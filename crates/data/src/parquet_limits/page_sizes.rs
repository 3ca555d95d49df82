//! The sizes that the pages of a Parquet file claim to have without their compression, from the
//! headers of the pages, before anything is decompressed.
//!
//! A page header is a struct of Thrift's compact protocol: fields of a number and a type, whole
//! numbers as zigzag varints. Fields 2 and 3 are the sizes of the page without and with compression;
//! the content of all others is skipped. A header that cannot be read gives `None`: the reader
//! reports it. Cost: the number of pages.

use parquet::file::metadata::ColumnChunkMetaData;

/// Field numbers of a page header.
const PAGE_TYPE: i64 = 1;
const UNCOMPRESSED_SIZE: i64 = 2;
const COMPRESSED_SIZE: i64 = 3;
/// The type of a page that holds a dictionary.
const DICTIONARY: i64 = 2;
/// Maximum number of structs inside each other; the headers of pages have three.
const MAX_DEPTH: usize = 16;

/// The bytes that the largest page of a column and its dictionary take together; `None` if a header
/// cannot be read.
pub(super) fn largest_page(bytes: &[u8], column: &ColumnChunkMetaData) -> Option<u64> {
    let start = column.dictionary_page_offset().unwrap_or(column.data_page_offset());
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(column.compressed_size()).ok()?)?;
    let mut rest = bytes.get(start..end.min(bytes.len()))?;
    let (mut dictionary, mut largest) = (0_u64, 0_u64);
    while !rest.is_empty() {
        let page = PageHeader::read(&mut rest)?;
        match page.is_dictionary {
            true => dictionary = dictionary.max(page.uncompressed),
            false => largest = largest.max(page.uncompressed),
        }
        rest = rest.get(page.compressed..)?;
    }
    Some(largest.saturating_add(dictionary))
}

/// The parts of a page header that are needed.
#[derive(Debug, Default, PartialEq)]
struct PageHeader {
    is_dictionary: bool,
    /// Bytes of the page without compression.
    uncompressed: u64,
    /// Bytes of the page in the file.
    compressed: usize,
}

impl PageHeader {
    /// Reads a header from the beginning of the bytes.
    fn read(bytes: &mut &[u8]) -> Option<PageHeader> {
        let mut header = PageHeader::default();
        let mut number = 0;
        while let Some(kind) = field(bytes, &mut number)? {
            match (number, kind) {
                (PAGE_TYPE, FieldKind::Int) => header.is_dictionary = int(bytes)? == DICTIONARY,
                (UNCOMPRESSED_SIZE, FieldKind::Int) => {
                    header.uncompressed = u64::try_from(int(bytes)?).ok()?;
                }
                (COMPRESSED_SIZE, FieldKind::Int) => {
                    header.compressed = usize::try_from(int(bytes)?).ok()?;
                }
                (_, kind) => skip(bytes, kind, 0)?,
            }
        }
        Some(header)
    }
}

/// The kind of the content of a field.
#[derive(Debug, Clone, Copy)]
enum FieldKind {
    /// A truth value, which is in the type itself.
    Flag,
    /// One byte.
    Byte,
    /// A zigzag varint.
    Int,
    /// Eight bytes.
    Double,
    /// A length and as many bytes.
    Binary,
    /// A list or set.
    List,
    /// Keys and values.
    Map,
    /// Fields up to a stop.
    Struct,
}

impl FieldKind {
    /// The kind with this number; `None` if there is none.
    fn new(number: u8) -> Option<FieldKind> {
        Some(match number {
            1 | 2 => FieldKind::Flag,
            3 => FieldKind::Byte,
            4..=6 => FieldKind::Int,
            7 => FieldKind::Double,
            8 => FieldKind::Binary,
            9 | 10 => FieldKind::List,
            11 => FieldKind::Map,
            12 => FieldKind::Struct,
            _ => return None,
        })
    }
}

fn byte(bytes: &mut &[u8]) -> Option<u8> {
    let (first, rest) = bytes.split_first()?;
    *bytes = rest;
    Some(*first)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let next = byte(bytes)?;
        value |= u64::from(next & 0x7f) << shift;
        if next < 0x80 {
            return Some(value);
        }
    }
    None
}

/// A zigzag varint: 0, -1, 1, -2 and so on are written as 0, 1, 2, 3.
fn int(bytes: &mut &[u8]) -> Option<i64> {
    let value = varint(bytes)?;
    Some((value >> 1) as i64 ^ -((value & 1) as i64))
}

/// Reads the beginning of a field; `number` is that of the field before and becomes that of this
/// one. The inner `None` is the end of the struct.
fn field(bytes: &mut &[u8], number: &mut i64) -> Option<Option<FieldKind>> {
    let first = byte(bytes)?;
    if first == 0 {
        return Some(None);
    }
    // The difference to the number before, or 0 if the number follows.
    *number = match first >> 4 {
        0 => int(bytes)?,
        difference => number.checked_add(i64::from(difference))?,
    };
    FieldKind::new(first & 0x0f).map(Some)
}

/// Skips the content of a field.
fn skip(bytes: &mut &[u8], kind: FieldKind, depth: usize) -> Option<()> {
    if depth > MAX_DEPTH {
        return None;
    }
    match kind {
        FieldKind::Flag => {}
        FieldKind::Byte => drop(byte(bytes)?),
        FieldKind::Int => drop(varint(bytes)?),
        FieldKind::Double => *bytes = bytes.get(8..)?,
        FieldKind::Binary => {
            let length = usize::try_from(varint(bytes)?).ok()?;
            *bytes = bytes.get(length..)?;
        }
        FieldKind::List => {
            let first = byte(bytes)?;
            let count = match first >> 4 {
                15 => varint(bytes)?,
                count => u64::from(count),
            };
            for _ in 0..count {
                skip_item(bytes, first & 0x0f, depth)?;
            }
        }
        FieldKind::Map => {
            let count = varint(bytes)?;
            let kinds = if count == 0 { 0 } else { byte(bytes)? };
            for _ in 0..count {
                skip_item(bytes, kinds >> 4, depth)?;
                skip_item(bytes, kinds & 0x0f, depth)?;
            }
        }
        FieldKind::Struct => {
            let mut number = 0;
            while let Some(kind) = field(bytes, &mut number)? {
                skip(bytes, kind, depth + 1)?;
            }
        }
    }
    Some(())
}

/// Skips an item of a list or map, in which a truth value is a byte.
fn skip_item(bytes: &mut &[u8], kind: u8, depth: usize) -> Option<()> {
    match FieldKind::new(kind)? {
        FieldKind::Flag => byte(bytes).map(drop),
        kind => skip(bytes, kind, depth + 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_is_read_and_the_rest_of_it_skipped() {
        // Type 0, 1,000 bytes, 20 bytes with compression, and a struct with a number and a text.
        let mut header = vec![0x15, 0x00, 0x15, 0xd0, 0x0f, 0x15, 0x28, 0x2c];
        header.extend([0x15, 0x0a, 0x18, 0x02, b'a', b'b', 0x00]);
        // A map of one number to a truth value, and a list of two numbers.
        header.extend([0x1b, 0x01, 0x51, 0x04, 0x01, 0x19, 0x25, 0x02, 0x04]);
        header.extend([0x00, 7, 7]);
        let mut rest = header.as_slice();
        let found = PageHeader::read(&mut rest).unwrap();
        let expected = PageHeader { is_dictionary: false, uncompressed: 1000, compressed: 20 };
        assert_eq!((found, rest), (expected, [7, 7].as_slice()));
        for end in 0..header.len() - 2 {
            assert_eq!(PageHeader::read(&mut &header[..end]), None, "cut at {end}");
        }
        // A struct in a struct without an end.
        assert_eq!(PageHeader::read(&mut [0x1c_u8; 4096].as_slice()), None);
        // A list that claims more items than there are bytes.
        assert_eq!(PageHeader::read(&mut [0x19, 0xf8, 0xff, 0xff, 0x7f].as_slice()), None);
    }
}
