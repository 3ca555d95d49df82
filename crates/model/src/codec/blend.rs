//! The body of a blend: weights, and members as whole model files with their lengths before them.
//!
//! Each member has its own checksum and is validated like any model. A member must not be a blend:
//! its header shows the kind before its body is read, so that no bytes can make the reader recurse.
//! The first byte is the normalisation of all members, or [`EACH_ITS_OWN`]: then a byte before each
//! member's weight is the normalisation of that member.

use super::Damage;
use super::body::{ByteReader, put};
use crate::blend::{Blend, Normalise};
use crate::error::{ModelError, ModelPart};

/// The first byte if members have different normalisations (version 4 of the format).
const EACH_ITS_OWN: u8 = 255;

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

/// Appends the body of a blend.
pub(super) fn write(blend: &Blend, out: &mut Vec<u8>) {
    let common = blend.common_normalisation();
    put(out, [[common.map_or(EACH_ITS_OWN, normalise_byte)]]);
    put(out, [(blend.members().len() as u32).to_le_bytes()]);
    for ((weight, member), normalise) in blend.members().iter().zip(blend.normalisations()) {
        let bytes = member.to_bytes();
        if common.is_none() {
            put(out, [[normalise_byte(*normalise)]]);
        }
        put(out, [weight.to_le_bytes()]);
        put(out, [(bytes.len() as u64).to_le_bytes()]);
        out.extend_from_slice(&bytes);
    }
}

/// Reads the body of a blend.
pub(super) fn read(reader: &mut ByteReader<'_>) -> Result<Blend, ModelError> {
    let common = match reader.number()? {
        [EACH_ITS_OWN] => None,
        [value] => Some(normalisation(value)?),
    };
    let count = reader.count()?;
    if count > reader.remaining() / MEMBER_PREFIX_BYTES {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "member", count }));
    }
    let (mut normalisations, mut members) = (Vec::new(), Vec::new());
    for number in 0..count {
        normalisations.push(match common {
            Some(normalise) => normalise,
            None => normalisation(u8::from_le_bytes(reader.number()?))?,
        });
        let weight = f64::from_le_bytes(reader.number()?);
        let length = u64::from_le_bytes(reader.number()?);
        let bytes = reader.take(usize::try_from(length).unwrap_or(usize::MAX))?;
        let member = super::read_member(bytes);
        members.push((weight, member.map_err(|error| error.within(ModelPart::Member(number)))?));
    }
    Blend::checked(normalisations, members)
}

/// The normalisation that a byte stands for.
fn normalisation(value: u8) -> Result<Normalise, ModelError> {
    let known = Normalise::ALL.into_iter().find(|known| normalise_byte(*known) == value);
    known.ok_or_else(|| ModelError::damaged(Damage::UnknownCode { code: "normalisation", value }))
}
