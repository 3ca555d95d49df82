//! The wire format of protocol buffers, as far as ONNX needs it: a message is a sequence of fields,
//! each with a number and a wire type.
//!
//! A field begins with a varint `number << 3 | wire type`; type 0 is a varint (7 bits per byte,
//! lowest first, the top bit marks that more follow, at most 10 bytes), type 1 is 8 bytes, type 2 a
//! length and that many bytes (text, bytes, a message, or packed numbers), type 5 is 4 bytes.
//! Groups (3 and 4) are obsolete and rejected. Repeated numbers may be one to a field or packed,
//! and both forms may be mixed. Nothing is copied: fields point into the file, and lengths are
//! compared with the remaining bytes.

use super::{NAME, ProtobufProblem};
use crate::error::ModelError;
use crate::interchange::FileProblem;

/// The content of a field, by its wire type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum WireField<'a> {
    Varint(u64),
    Fixed64([u8; 8]),
    Bytes(&'a [u8]),
    Fixed32([u8; 4]),
}

/// A message, as an iterator over its fields with their numbers, which ends at the first error.
#[derive(Debug, Clone, Copy)]
pub(super) struct Message<'a> {
    /// The bytes that are not yet read.
    remaining: &'a [u8],
}

pub(super) fn invalid(problem: ProtobufProblem) -> ModelError {
    ModelError::invalid_file(NAME, FileProblem::Protobuf(problem))
}

fn wrong_field(expected: &'static str) -> ModelError {
    invalid(ProtobufProblem::WrongField { expected })
}

impl<'a> Message<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Message<'a> {
        Message { remaining: bytes }
    }

    /// Reads the next field and its number.
    fn field(&mut self) -> Result<(u64, WireField<'a>), ModelError> {
        let tag = varint(&mut self.remaining)?;
        let field = match tag & 7 {
            0 => WireField::Varint(varint(&mut self.remaining)?),
            1 => WireField::Fixed64(*chunk(&mut self.remaining)?),
            2 => {
                let length = varint(&mut self.remaining)?;
                let split =
                    usize::try_from(length).ok().and_then(|n| self.remaining.split_at_checked(n));
                let (bytes, rest) = split.ok_or_else(|| invalid(ProtobufProblem::FieldTooLong))?;
                self.remaining = rest;
                WireField::Bytes(bytes)
            }
            5 => WireField::Fixed32(*chunk(&mut self.remaining)?),
            wire_type => return Err(invalid(ProtobufProblem::WireType { wire_type })),
        };
        match tag >> 3 {
            0 => Err(invalid(ProtobufProblem::FieldNumber)),
            number => Ok((number, field)),
        }
    }
}

impl<'a> Iterator for Message<'a> {
    type Item = Result<(u64, WireField<'a>), ModelError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.remaining.is_empty() {
            return None;
        }
        let field = self.field();
        if field.is_err() {
            self.remaining = &[];
        }
        Some(field)
    }
}

impl<'a> WireField<'a> {
    pub(super) fn bytes(self) -> Result<&'a [u8], ModelError> {
        match self {
            WireField::Bytes(bytes) => Ok(bytes),
            _ => Err(wrong_field("a text or a message")),
        }
    }

    pub(super) fn text(self) -> Result<&'a str, ModelError> {
        std::str::from_utf8(self.bytes()?).map_err(|_| invalid(ProtobufProblem::NotUtf8))
    }

    pub(super) fn message(self) -> Result<Message<'a>, ModelError> {
        self.bytes().map(Message::new)
    }

    /// A whole number; negative ones are written as the same 64 bits without a sign.
    pub(super) fn int(self) -> Result<i64, ModelError> {
        match self {
            WireField::Varint(value) => Ok(value as i64),
            _ => Err(wrong_field("a whole number")),
        }
    }
}

/// Calls `visit` with every whole number of a field, packed or alone.
pub(super) fn ints(
    field: WireField<'_>,
    mut visit: impl FnMut(i64) -> Result<(), ModelError>,
) -> Result<(), ModelError> {
    match field {
        WireField::Bytes(mut packed) => {
            while !packed.is_empty() {
                visit(varint(&mut packed)? as i64)?;
            }
            Ok(())
        }
        alone => visit(alone.int()?),
    }
}

/// Calls `visit` with every f32 of a field, packed or alone.
pub(super) fn floats(field: WireField<'_>, mut visit: impl FnMut(f32)) -> Result<(), ModelError> {
    match field {
        WireField::Fixed32(bytes) => visit(f32::from_le_bytes(bytes)),
        WireField::Bytes(packed) => {
            let (numbers, rest) = packed.as_chunks::<4>();
            numbers.iter().for_each(|bytes| visit(f32::from_le_bytes(*bytes)));
            if !rest.is_empty() {
                return Err(invalid(ProtobufProblem::PackedLength));
            }
        }
        _ => return Err(wrong_field("a 32-bit number")),
    }
    Ok(())
}

/// Calls `visit` with every f64 of a field, packed or alone.
pub(super) fn doubles(field: WireField<'_>, mut visit: impl FnMut(f64)) -> Result<(), ModelError> {
    match field {
        WireField::Fixed64(bytes) => visit(f64::from_le_bytes(bytes)),
        WireField::Bytes(packed) => {
            let (numbers, rest) = packed.as_chunks::<8>();
            numbers.iter().for_each(|bytes| visit(f64::from_le_bytes(*bytes)));
            if !rest.is_empty() {
                return Err(invalid(ProtobufProblem::PackedLength));
            }
        }
        _ => return Err(wrong_field("a 64-bit number")),
    }
    Ok(())
}

/// Reads a varint from the beginning of the bytes.
fn varint(bytes: &mut &[u8]) -> Result<u64, ModelError> {
    let mut value = 0_u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first().ok_or_else(|| invalid(ProtobufProblem::CutOff))?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Ok(value);
        }
    }
    Err(invalid(ProtobufProblem::LongNumber))
}

/// Reads `N` bytes from the beginning of the bytes.
fn chunk<'a, const N: usize>(bytes: &mut &'a [u8]) -> Result<&'a [u8; N], ModelError> {
    let split = bytes.split_first_chunk();
    let (chunk, rest) = split.ok_or_else(|| invalid(ProtobufProblem::CutOff))?;
    *bytes = rest;
    Ok(chunk)
}

/// A message to be written. Every method but `done` adds a field with the given field number; of a
/// list, each value is a field of its own.
#[derive(Debug, Default)]
pub(super) struct WireWriter {
    bytes: Vec<u8>,
}

impl WireWriter {
    /// Adds the bytes of a varint.
    fn varint(&mut self, mut value: u64) {
        while value >= 0x80 {
            self.bytes.push(value as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    pub(super) fn int(&mut self, number: u64, value: i64) -> &mut WireWriter {
        self.varint(number << 3);
        self.varint(value as u64);
        self
    }

    pub(super) fn float(&mut self, number: u64, value: f32) -> &mut WireWriter {
        self.varint(number << 3 | 5);
        self.bytes.extend_from_slice(&value.to_le_bytes());
        self
    }

    pub(super) fn bytes(&mut self, number: u64, bytes: &[u8]) -> &mut WireWriter {
        self.varint(number << 3 | 2);
        self.varint(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
        self
    }

    pub(super) fn text(&mut self, number: u64, text: &str) -> &mut WireWriter {
        self.bytes(number, text.as_bytes())
    }

    pub(super) fn message(&mut self, number: u64, message: &WireWriter) -> &mut WireWriter {
        self.bytes(number, &message.bytes)
    }

    /// The bytes of the message.
    pub(super) fn done(self) -> Vec<u8> {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all_fields(bytes: &[u8]) -> Result<Vec<(u64, WireField<'_>)>, ModelError> {
        Message::new(bytes).collect()
    }

    #[test]
    fn fields_are_read_as_they_are_written() {
        let mut inner = WireWriter::default();
        inner.float(7, -0.5);
        let mut message = WireWriter::default();
        message.int(1, 300).int(2, -1).text(3, "é").message(4, &inner).bytes(1000, &[]);
        let bytes = message.done();
        // An example in the description of protocol buffers.
        assert_eq!(bytes[..3], [0x08, 0xac, 0x02]);
        let fields = all_fields(&bytes).unwrap();
        assert_eq!(fields[0], (1, WireField::Varint(300)));
        assert_eq!(fields[1].1.int().unwrap(), -1);
        assert_eq!(fields[2].1.text().unwrap(), "é");
        let inner: Vec<_> = fields[3].1.message().unwrap().map(Result::unwrap).collect();
        assert_eq!(inner, [(7, WireField::Fixed32((-0.5_f32).to_le_bytes()))]);
        assert_eq!(fields[4], (1000, WireField::Bytes(&[])));
    }

    #[test]
    fn numbers_are_the_same_packed_and_alone() {
        let mut found = Vec::new();
        for field in [WireField::Varint(7), WireField::Bytes(&[7, 0xac, 0x02])] {
            ints(field, |value| {
                found.push(value);
                Ok(())
            })
            .unwrap();
        }
        assert_eq!(found, [7, 7, 300]);
        let mut found = Vec::new();
        let two = [1.5_f32.to_le_bytes(), 2.5_f32.to_le_bytes()].concat();
        floats(WireField::Bytes(&two), |value| found.push(value)).unwrap();
        floats(WireField::Fixed32(two[..4].try_into().unwrap()), |value| found.push(value))
            .unwrap();
        assert_eq!(found, [1.5, 2.5, 1.5]);
        let mut found = Vec::new();
        doubles(WireField::Bytes(&2.5_f64.to_le_bytes()), |value| found.push(value)).unwrap();
        assert_eq!(found, [2.5]);
        assert!(floats(WireField::Bytes(&[0; 5]), |_| ()).is_err());
        assert!(doubles(WireField::Bytes(&[0; 12]), |_| ()).is_err());
    }

    #[test]
    fn every_kind_of_damage_has_its_own_error() {
        for (bytes, reason) in [
            (&[0x08][..], "cut off"),
            (&[0x80], "cut off"),
            (&[0x12, 5, 1], "longer than the rest"),
            (&[0x12, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1], "longer than"),
            (&[0x0d, 1, 2, 3], "cut off"),
            (&[0x09, 1, 2, 3], "cut off"),
            (&[0x0b], "wire type 3"),
            (&[0x00, 0], "number 0"),
            (&[0xff; 12], "more than 10 bytes"),
        ] {
            let error = all_fields(bytes).unwrap_err().to_string();
            assert!(error.contains(reason), "{bytes:?}: {error}");
        }
        assert!(WireField::Varint(1).text().is_err() && WireField::Bytes(&[0xff]).text().is_err());
        assert!(
            WireField::Bytes(&[]).int().is_err()
                && ints(WireField::Fixed32([0; 4]), |_| Ok(())).is_err()
        );
        assert!(floats(WireField::Varint(0), |_| ()).is_err());
        assert!(doubles(WireField::Varint(0), |_| ()).is_err());
    }
}
