//! The body of a net: numbers, little-endian, in the layout that the documentation of the module
//! `codec` gives.

use super::Damage;
use super::body::{ByteReader, put};
use crate::error::{ModelError, ModelPart};
use crate::net::{Activation, Layer, LayerNorm, Net};
use crate::transform::{TransformStep, Transforms};

/// Bytes of the smallest layer: the numbers of inputs and outputs, the activation, whether it is
/// normalised, one bias.
const MIN_LAYER_BYTES: usize = 4 + 4 + 1 + 1 + 4;
/// Bytes of a feature without steps: the replacement of missing values, the number of steps.
const MIN_FEATURE_BYTES: usize = 4 + 1;

/// Appends the body of a net.
pub(super) fn write(net: &Net, out: &mut Vec<u8>) {
    write_transforms(net.transforms(), out);
    put(out, [(net.layers().len() as u32).to_le_bytes()]);
    for layer in net.layers() {
        put(out, [layer.inputs(), layer.outputs()].map(|size| (size as u32).to_le_bytes()));
        put(out, [[activation_byte(layer.activation())], [u8::from(layer.norm().is_some())]]);
        put_floats(out, layer.weights());
        put_floats(out, layer.biases());
        if let Some(norm) = layer.norm() {
            put_floats(out, &norm.scale);
            put_floats(out, &norm.shift);
        }
    }
}

fn write_transforms(transforms: &Transforms, out: &mut Vec<u8>) {
    put(out, [(transforms.columns() as u32).to_le_bytes()]);
    put(out, [[u8::from(transforms.min_max_in_query())]]);
    put_floats(out, transforms.missing());
    for steps in transforms.steps() {
        put(out, [[steps.len() as u8]]);
        for step in steps {
            // A byte for the kind of step, then its numbers; `read_step` reads them.
            match step {
                TransformStep::Clip { low, high } => {
                    put(out, [[0]]);
                    put_floats(out, &[*low, *high]);
                }
                TransformStep::SignedLog => put(out, [[1]]),
                TransformStep::Affine { shift, scale } => {
                    put(out, [[2]]);
                    put_floats(out, &[*shift, *scale]);
                }
                TransformStep::Table { from, to } => {
                    put(out, [[3]]);
                    put(out, [(from.len() as u32).to_le_bytes()]);
                    put_floats(out, from);
                    put_floats(out, to);
                }
            }
        }
    }
}

fn put_floats(out: &mut Vec<u8>, numbers: &[f32]) {
    put(out, numbers.iter().map(|number| number.to_le_bytes()));
}

fn activation_byte(activation: Activation) -> u8 {
    match activation {
        Activation::None => 0,
        Activation::Relu => 1,
        Activation::Gelu => 2,
        Activation::Tanh => 3,
    }
}

/// Reads the body of a net.
pub(super) fn read(reader: &mut ByteReader<'_>) -> Result<Net, ModelError> {
    let transforms = read_transforms(reader)?;
    let count = reader.count()?;
    if count > reader.remaining() / MIN_LAYER_BYTES {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "layer", count }));
    }
    let mut layers = Vec::with_capacity(count);
    for number in 0..count {
        layers.push(read_layer(reader).map_err(|error| error.within(ModelPart::Layer(number)))?);
    }
    Net::new(transforms, layers)
}

fn read_transforms(reader: &mut ByteReader<'_>) -> Result<Transforms, ModelError> {
    let columns = reader.count()?;
    let min_max_in_query = read_flag(reader)?;
    if columns > reader.remaining() / MIN_FEATURE_BYTES {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "feature", count: columns }));
    }
    let missing = reader.numbers(columns, f32::from_le_bytes)?;
    let mut steps = Vec::with_capacity(columns);
    for _ in 0..columns {
        // The count is a byte, so little memory is allocated before the steps are read.
        let [count] = reader.number()?;
        let mut feature_steps = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            feature_steps.push(read_step(reader)?);
        }
        steps.push(feature_steps);
    }
    Transforms::new(steps, missing, min_max_in_query)
}

fn read_step(reader: &mut ByteReader<'_>) -> Result<TransformStep, ModelError> {
    let float = |reader: &mut ByteReader<'_>| reader.number().map(f32::from_le_bytes);
    let [kind] = reader.number()?;
    match kind {
        0 => Ok(TransformStep::Clip { low: float(reader)?, high: float(reader)? }),
        1 => Ok(TransformStep::SignedLog),
        2 => Ok(TransformStep::Affine { shift: float(reader)?, scale: float(reader)? }),
        3 => {
            let count = reader.count()?;
            let points = reader.numbers(count, f32::from_le_bytes)?;
            let values = reader.numbers(count, f32::from_le_bytes)?;
            Ok(TransformStep::Table { from: points, to: values })
        }
        value => Err(ModelError::damaged(Damage::UnknownCode { code: "transform step", value })),
    }
}

fn read_layer(reader: &mut ByteReader<'_>) -> Result<Layer, ModelError> {
    let (inputs, outputs) = (reader.count()?, reader.count()?);
    let [value] = reader.number()?;
    let activation = Activation::ALL.into_iter().find(|known| activation_byte(*known) == value);
    let activation = activation
        .ok_or_else(|| ModelError::damaged(Damage::UnknownCode { code: "activation", value }))?;
    let normalised = read_flag(reader)?;
    let weight_count =
        inputs.checked_mul(outputs).ok_or_else(|| ModelError::damaged(Damage::SizeOverflow))?;
    let weights = reader.numbers(weight_count, f32::from_le_bytes)?;
    let biases = reader.numbers(outputs, f32::from_le_bytes)?;
    let norm = match normalised {
        true => Some(LayerNorm {
            scale: reader.numbers(outputs, f32::from_le_bytes)?,
            shift: reader.numbers(outputs, f32::from_le_bytes)?,
        }),
        false => None,
    };
    Layer::new(inputs, weights, biases, norm, activation)
}

/// Reads a byte that must be 0 or 1, so that a model has only one form as bytes.
fn read_flag(reader: &mut ByteReader<'_>) -> Result<bool, ModelError> {
    match reader.number()? {
        [0] => Ok(false),
        [1] => Ok(true),
        [value] => Err(ModelError::damaged(Damage::UnknownCode { code: "flag", value })),
    }
}
