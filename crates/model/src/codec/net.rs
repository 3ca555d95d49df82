//! The body of a net: numbers, little-endian, in the layout of the codec's table.

use super::Damage;
use super::body::{ByteReader, put};
use crate::error::{ModelError, ModelPart};
use crate::net::{Activation, Layer, LayerNorm, Net};
use crate::transform::{TransformStep, Transforms};

/// The smallest layer: two sizes, two bytes, one bias.
const SMALLEST_LAYER: usize = 4 + 4 + 1 + 1 + 4;
/// The smallest feature: the replacement of missing values, no steps.
const SMALLEST_FEATURE: usize = 4 + 1;

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

pub(super) fn read(from: &mut ByteReader<'_>) -> Result<Net, ModelError> {
    let transforms = read_transforms(from)?;
    let count = from.count()?;
    if count > from.left() / SMALLEST_LAYER {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "layer", count }));
    }
    let mut layers = Vec::with_capacity(count);
    for number in 0..count {
        layers.push(read_layer(from).map_err(|error| error.within(ModelPart::Layer(number)))?);
    }
    Net::new(transforms, layers)
}

fn read_transforms(from: &mut ByteReader<'_>) -> Result<Transforms, ModelError> {
    let columns = from.count()?;
    let min_max_in_query = flag(from)?;
    if columns > from.left() / SMALLEST_FEATURE {
        return Err(ModelError::damaged(Damage::TooManyItems { item: "feature", count: columns }));
    }
    let missing = from.numbers(columns, f32::from_le_bytes)?;
    let mut steps = Vec::with_capacity(columns);
    for _ in 0..columns {
        // The count is a byte, so little memory is allocated before the steps are read.
        let [count] = from.number()?;
        let mut own = Vec::with_capacity(usize::from(count));
        for _ in 0..count {
            own.push(read_step(from)?);
        }
        steps.push(own);
    }
    Transforms::new(steps, missing, min_max_in_query)
}

fn read_step(from: &mut ByteReader<'_>) -> Result<TransformStep, ModelError> {
    let float = |from: &mut ByteReader<'_>| from.number().map(f32::from_le_bytes);
    let [kind] = from.number()?;
    match kind {
        0 => Ok(TransformStep::Clip { low: float(from)?, high: float(from)? }),
        1 => Ok(TransformStep::SignedLog),
        2 => Ok(TransformStep::Affine { shift: float(from)?, scale: float(from)? }),
        3 => {
            let count = from.count()?;
            let points = from.numbers(count, f32::from_le_bytes)?;
            Ok(TransformStep::Table { from: points, to: from.numbers(count, f32::from_le_bytes)? })
        }
        value => Err(ModelError::damaged(Damage::UnknownCode { code: "transform step", value })),
    }
}

fn read_layer(from: &mut ByteReader<'_>) -> Result<Layer, ModelError> {
    let (inputs, outputs) = (from.count()?, from.count()?);
    let [value] = from.number()?;
    let activation = Activation::ALL.into_iter().find(|known| activation_byte(*known) == value);
    let activation = activation
        .ok_or_else(|| ModelError::damaged(Damage::UnknownCode { code: "activation", value }))?;
    let normalised = flag(from)?;
    let size =
        inputs.checked_mul(outputs).ok_or_else(|| ModelError::damaged(Damage::SizeOverflow))?;
    let weights = from.numbers(size, f32::from_le_bytes)?;
    let biases = from.numbers(outputs, f32::from_le_bytes)?;
    let norm = match normalised {
        true => Some(LayerNorm {
            scale: from.numbers(outputs, f32::from_le_bytes)?,
            shift: from.numbers(outputs, f32::from_le_bytes)?,
        }),
        false => None,
    };
    Layer::new(inputs, weights, biases, norm, activation)
}

/// A byte that is 0 or 1, so that a model has one form only.
fn flag(from: &mut ByteReader<'_>) -> Result<bool, ModelError> {
    match from.number()? {
        [0] => Ok(false),
        [1] => Ok(true),
        [value] => Err(ModelError::damaged(Damage::UnknownCode { code: "flag", value })),
    }
}
