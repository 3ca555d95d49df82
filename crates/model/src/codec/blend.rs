//! The body of a blend: weights, and members as whole model files with their lengths before them.
//!
//! Each member has its own checksum and is validated like any model. None may be a blend: its
//! header shows the kind before its body is read, so that no bytes can make the reader recurse.

use super::Damage;
use super::body::{ByteReader, put};
use crate::blend::{Blend, Normalise};
use crate::error::{ModelError, ModelPart};

/// Bytes before the file of each member: its weight and its length.
const MEMBER_PREFIX_BYTES: usize = 8 + 8;

fn normalise_byte(normalise: Normalise) -> u8 {
    match normalise {
        Normalise::None => 0,
        Normalise::MinMax => 1,
        Normalise::Standard => 2,
        Normalise::Rank => 3,
    }
}

pub(super) fn write(blend: &Blend, out: &mut Vec<u8>) {
    put(out, [[normalise_byte(blend.normalise())]]);
    put(out, [(blend.members().len() as u32).to_le_bytes()]);
    for (weight, member) in blend.members() {
        let bytes = member.to_bytes();
        put(out, [weight.to_le_bytes()]);
        put(out, [(bytes.len() as u64).to_le_bytes()]);
        out.extend_from_slice(&bytes);
    }
}

pub(super) fn read(reader: &mut ByteReader<'_>) -> Result<Blend, ModelError> {
    let [value] = reader.number()?;
    let normalise = Normalise::ALL.into_iter().find(|known| normalise_byte(*known) == value);
    let normalise = normalise
        .ok_or_else(|| ModelError::damaged(Damage::UnknownCode { code: "normalisation", value }))?;
    let count = reader.count()?;
    if count > reader.remaining() / MEMBER_PREFIX_BYTES {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "member", count }));
    }
    let mut members = Vec::new();
    for number in 0..count {
        let weight = f64::from_le_bytes(reader.number()?);
        let length = u64::from_le_bytes(reader.number()?);
        let bytes = reader.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let member = super::read_member(bytes);
        members.push((weight, member.map_err(|error| error.within(ModelPart::Member(number)))?));
    }
    Blend::new(normalise, members)
}
