//! Writes models that are not trees alone as a graph of standard operators: linear models, nets, and
//! sums of several models, such as a linear model and the trees that a training added to it.
//!
//! | part | operators |
//! |---|---|
//! | features of a member | `Gather`, and `Where` for features that the whole model does not have |
//! | linear model | missing values to 0, then `MatMul` and `Add` |
//! | transforms of a net | `Max`, `Min`, `Sub`, `Mul`, `Log`; a table is a sum of clipped differences |
//! | layer of a net | `MatMul`, `Add`, its normalisation and activation |
//! | trees | `TreeEnsembleRegressor` |
//! | sum | `Mul` by the weight of the member, `Add` |
//!
//! Linear models and nets are computed in doubles, trees as `write` describes, and the sum is rounded
//! to f32: scores agree to about 1e-6 of their size. An infinite value counts as the largest f32. A
//! model whose scores depend on the other documents of a query is refused: a row of the graph is one
//! document.

use super::fields::data_type;
use super::operators::{OperatorAttribute, OperatorGraph, TensorName};
use super::write::{ensemble_node, unsupported};
use crate::ensemble::Ensemble;
use crate::error::ModelError;
use crate::interchange::UnsupportedPart;
use crate::linear::Linear;
use crate::matching::Matching;
use crate::model::{Model, ModelBody};
use crate::net::{Activation, Layer, LayerNorm, Net};
use crate::transform::{TransformStep, Transforms};

/// The graph of a model, from the tensor `input` to the tensor `score`.
pub(super) fn graph(model: &Model, input: &str, score: &str) -> Result<OperatorGraph, ModelError> {
    if model.is_listwise() {
        let kind = model.body().kind();
        return Err(unsupported(UnsupportedPart::Listwise { kind }));
    }
    let mut graph = OperatorGraph::default();
    let input = TensorName::new(input);
    let sum = match model.body() {
        ModelBody::Blend(blend) => {
            let mut sum = None;
            for ((weight, member), matching) in blend.members().iter().zip(model.member_matchings())
            {
                let mut term = member_score(&mut graph, member, matching, &input)?;
                if *weight != 1.0 {
                    let weight = graph.doubles(&[], &[*weight]);
                    term = graph.apply("Mul", &[&term, &weight]);
                }
                sum = Some(match sum {
                    Some(sum) => graph.apply("Add", &[&sum, &term]),
                    None => term,
                });
            }
            let invariant = "a blend has at least one member";
            sum.ok_or(ModelError::Internal { invariant })?
        }
        _ => member_score(&mut graph, model, &Matching::identity(model.header()), &input)?,
    };
    let to_float = [OperatorAttribute::Int("to", data_type::FLOAT)];
    graph.apply_to("Cast", &[&sum], &TensorName::new(score), &to_float);
    Ok(graph)
}

/// The scores of one member as doubles, rows by 1.
fn member_score(
    graph: &mut OperatorGraph,
    member: &Model,
    matching: &Matching,
    input: &TensorName,
) -> Result<TensorName, ModelError> {
    let features = member.header().features.len();
    match member.body() {
        ModelBody::Trees(ensemble) => trees_score(graph, ensemble, matching, input),
        ModelBody::Linear(linear) => Ok(linear_score(graph, linear, matching, input)),
        ModelBody::Net(net) => {
            let features: Vec<usize> = (0..features).collect();
            let raw = selected(graph, matching, &features, input);
            let inputs = transformed(graph, net.transforms(), &raw);
            Ok(layers_score(graph, net, inputs))
        }
        ModelBody::Blend(_) => Err(unsupported(UnsupportedPart::of_model(member))),
    }
}

/// The columns of some features of a member, as f32. Runtimes reject tensors without columns, so a
/// member without features gets the first column of the input.
fn selected(
    graph: &mut OperatorGraph,
    matching: &Matching,
    features: &[usize],
    input: &TensorName,
) -> TensorName {
    let columns: Vec<Option<usize>> =
        features.iter().map(|feature| matching.column(*feature)).collect();
    let or_first = |columns: Vec<i64>| if columns.is_empty() { vec![0] } else { columns };
    let positions = columns.iter().map(|column| column.unwrap_or(0) as i64).collect();
    let positions = graph.ints(&or_first(positions));
    let gathered =
        graph.apply_with("Gather", &[input, &positions], &[OperatorAttribute::Int("axis", 1)]);
    if columns.iter().all(Option::is_some) {
        return gathered;
    }
    // All values of these features are absent.
    let is_absent: Vec<bool> = columns.iter().map(Option::is_none).collect();
    let is_absent = graph.flags(&is_absent);
    let absent = graph.floats(&[], &[matching.absent()]);
    graph.apply("Where", &[&is_absent, &absent, &gathered])
}

/// Values as doubles; an infinite one becomes the nearest f32.
fn bounded(graph: &mut OperatorGraph, raw: &TensorName) -> TensorName {
    let wide = graph.cast_to_doubles(raw);
    let low = graph.doubles(&[], &[f64::from(f32::MIN)]);
    let high = graph.doubles(&[], &[f64::from(f32::MAX)]);
    let above = graph.apply("Max", &[&wide, &low]);
    graph.apply("Min", &[&above, &high])
}

/// The scores of trees; splits test the columns that their features have in `input`.
fn trees_score(
    graph: &mut OperatorGraph,
    ensemble: &Ensemble,
    matching: &Matching,
    input: &TensorName,
) -> Result<TensorName, ModelError> {
    let splits = ensemble.trees().iter().flat_map(|tree| tree.splits());
    let mut tested: Vec<usize> = splits.map(|split| split.feature as usize).collect();
    tested.sort_unstable();
    tested.dedup();
    let has_columns = tested.iter().all(|feature| matching.column(*feature).is_some());
    let score = graph.new_tensor();
    // A sum can have several members of trees, and the names of nodes must differ.
    let name = format!("trees_{}", score.as_str());
    let node = if has_columns {
        let column = |feature: u32| matching.column(feature as usize).unwrap_or(0) as u32;
        ensemble_node(ensemble, &name, [input.as_str(), score.as_str()], column)?
    } else {
        let values = selected(graph, matching, &tested, input);
        let position =
            |feature: u32| tested.partition_point(|other| *other < feature as usize) as u32;
        ensemble_node(ensemble, &name, [values.as_str(), score.as_str()], position)?
    };
    graph.add_node(&node);
    Ok(graph.cast_to_doubles(&score))
}

/// The scores of a linear model, in which a missing value counts as 0. Features of weight 0 are left
/// out.
fn linear_score(
    graph: &mut OperatorGraph,
    linear: &Linear,
    matching: &Matching,
    input: &TensorName,
) -> TensorName {
    let weights = linear.weights();
    let used = |feature: &usize| weights.get(*feature).is_some_and(|weight| *weight != 0.0);
    // A feature without a column is 0 or missing in all rows, which adds nothing either way.
    let used = |feature: &usize| used(feature) && matching.column(*feature).is_some();
    let features: Vec<usize> = (0..weights.len()).filter(used).collect();
    let mut weights: Vec<f64> =
        features.iter().filter_map(|feature| weights.get(*feature)).copied().collect();
    let raw = selected(graph, matching, &features, input);
    if weights.is_empty() {
        weights.push(0.0);
    }
    let is_missing = graph.apply("IsNaN", &[&raw]);
    let zero = graph.floats(&[], &[0.0]);
    let present = graph.apply("Where", &[&is_missing, &zero, &raw]);
    let values = bounded(graph, &present);
    let bias = graph.doubles(&[], &[linear.bias()]);
    let weights = graph.doubles(&[weights.len(), 1], &weights);
    let products = graph.apply("MatMul", &[&values, &weights]);
    graph.apply("Add", &[&products, &bias])
}

/// The inputs of a net.
fn transformed(graph: &mut OperatorGraph, transforms: &Transforms, raw: &TensorName) -> TensorName {
    let is_missing = graph.apply("IsNaN", &[raw]);
    let zero = graph.floats(&[], &[0.0]);
    let present = graph.apply("Where", &[&is_missing, &zero, raw]);
    let mut values = bounded(graph, &present);
    let most_steps = transforms.steps().iter().map(Vec::len).max().unwrap_or(0);
    for number in 0..most_steps {
        let steps: Vec<Option<&TransformStep>> =
            transforms.steps().iter().map(|steps| steps.get(number)).collect();
        values = step(graph, &steps, values);
    }
    let missing: Vec<f64> = transforms.missing().iter().copied().map(f64::from).collect();
    // Without features there is one column, whose weights are 0.
    let missing = if missing.is_empty() { vec![0.0] } else { missing };
    let missing = graph.doubles(&[1, missing.len()], &missing);
    graph.apply("Where", &[&is_missing, &missing, &values])
}

/// The values after one step of each feature; `None` for features that have no such step.
fn step(
    graph: &mut OperatorGraph,
    steps: &[Option<&TransformStep>],
    mut values: TensorName,
) -> TensorName {
    let row = [1, steps.len()];
    let any = |test: fn(&TransformStep) -> bool| steps.iter().flatten().any(|step| test(step));
    if any(|step| matches!(step, TransformStep::Clip { .. })) {
        let bound = |step: &Option<&TransformStep>| match step {
            Some(TransformStep::Clip { low, high }) => (f64::from(*low), f64::from(*high)),
            _ => (f64::MIN, f64::MAX),
        };
        let (low, high): (Vec<f64>, Vec<f64>) = steps.iter().map(bound).unzip();
        let (low, high) = (graph.doubles(&row, &low), graph.doubles(&row, &high));
        values = graph.apply("Max", &[&values, &low]);
        values = graph.apply("Min", &[&values, &high]);
    }
    if any(|step| matches!(step, TransformStep::Affine { .. })) {
        let parameters = |step: &Option<&TransformStep>| match step {
            Some(TransformStep::Affine { shift, scale }) => (f64::from(*shift), f64::from(*scale)),
            _ => (0.0, 1.0),
        };
        let (shift, scale): (Vec<f64>, Vec<f64>) = steps.iter().map(parameters).unzip();
        let (shift, scale) = (graph.doubles(&row, &shift), graph.doubles(&row, &scale));
        values = graph.apply("Sub", &[&values, &shift]);
        values = graph.apply("Mul", &[&values, &scale]);
    }
    if any(|step| matches!(step, TransformStep::SignedLog)) {
        let (one, size) = (graph.doubles(&[], &[1.0]), graph.apply("Abs", &[&values]));
        let one_plus_size = graph.apply("Add", &[&size, &one]);
        let (log, sign) = (graph.apply("Log", &[&one_plus_size]), graph.apply("Sign", &[&values]));
        let signed = graph.apply("Mul", &[&log, &sign]);
        values = where_step_is(graph, steps, signed, &values, |step| {
            matches!(step, TransformStep::SignedLog)
        });
    }
    if any(|step| matches!(step, TransformStep::Table { .. })) {
        let found = table(graph, steps, &values);
        values = where_step_is(graph, steps, found, &values, |step| {
            matches!(step, TransformStep::Table { .. })
        });
    }
    values
}

/// `changed` for the features whose step is of a kind, `values` for all others.
fn where_step_is(
    graph: &mut OperatorGraph,
    steps: &[Option<&TransformStep>],
    changed: TensorName,
    values: &TensorName,
    is_kind: fn(&TransformStep) -> bool,
) -> TensorName {
    let chosen: Vec<bool> = steps.iter().map(|step| step.is_some_and(is_kind)).collect();
    if chosen.iter().all(|chosen| *chosen) {
        return changed;
    }
    let chosen = graph.flags(&chosen);
    graph.apply("Where", &[&chosen, &changed, values])
}

/// The values of the tables of all features that have one. With points (f_i, t_i) the value at x is
/// t_0 + sum over i of min(max(x - f_i, 0), f_(i+1) - f_i) (t_(i+1) - t_i) / (f_(i+1) - f_i).
fn table(
    graph: &mut OperatorGraph,
    steps: &[Option<&TransformStep>],
    values: &TensorName,
) -> TensorName {
    let points = |step: &Option<&TransformStep>| match step {
        Some(TransformStep::Table { from, .. }) => from.len(),
        _ => 0,
    };
    let intervals = steps.iter().map(points).max().unwrap_or(0).saturating_sub(1);
    let mut first = Vec::with_capacity(steps.len());
    let (mut starts, mut widths, mut slopes) = (Vec::new(), Vec::new(), Vec::new());
    for step in steps {
        let (from, to): (&[f32], &[f32]) = match step {
            Some(TransformStep::Table { from, to }) => (from, to),
            _ => (&[], &[]),
        };
        first.push(to.first().map_or(0.0, |value| f64::from(*value)));
        let mut added = 0;
        for (from, to) in from.windows(2).zip(to.windows(2)) {
            let ([start, end], [low, high]) = (from, to) else { continue };
            let width = f64::from(*end) - f64::from(*start);
            starts.push(f64::from(*start));
            widths.push(width);
            slopes.push((f64::from(*high) - f64::from(*low)) / width);
            added += 1;
        }
        // Tables of fewer points end with intervals of slope 0.
        for list in [&mut starts, &mut widths, &mut slopes] {
            list.resize(list.len() + intervals - added, 0.0);
        }
    }
    let first = graph.doubles(&[1, steps.len()], &first);
    if intervals == 0 {
        // A table of one point is flat; the product gives the tensor its rows.
        let zero = graph.doubles(&[], &[0.0]);
        let flat = graph.apply("Mul", &[values, &zero]);
        return graph.apply("Add", &[&flat, &first]);
    }
    let shape = [1, steps.len(), intervals];
    let starts = graph.doubles(&shape, &starts);
    let (widths, slopes) = (graph.doubles(&shape, &widths), graph.doubles(&shape, &slopes));
    let (last_axis, zero) = (graph.ints(&[2]), graph.doubles(&[], &[0.0]));
    let values = graph.apply("Unsqueeze", &[values, &last_axis]);
    let beyond = graph.apply("Sub", &[&values, &starts]);
    let beyond = graph.apply("Max", &[&beyond, &zero]);
    let within = graph.apply("Min", &[&beyond, &widths]);
    let rises = graph.apply("Mul", &[&within, &slopes]);
    let without_axis = [OperatorAttribute::Int("keepdims", 0)];
    let rise = graph.apply_with("ReduceSum", &[&rises, &last_axis], &without_axis);
    graph.apply("Add", &[&rise, &first])
}

/// The output of the last layer of a net.
fn layers_score(graph: &mut OperatorGraph, net: &Net, mut values: TensorName) -> TensorName {
    for layer in net.layers() {
        values = layer_outputs(graph, layer, &values);
    }
    values
}

/// The outputs of one layer.
fn layer_outputs(graph: &mut OperatorGraph, layer: &Layer, inputs: &TensorName) -> TensorName {
    let outputs = layer.outputs();
    let row = [1, outputs];
    // Our weights are one output after another; a matrix product needs one input after another.
    let of_input = |input: usize| layer.weights().iter().skip(input).step_by(layer.inputs().max(1));
    let mut weights: Vec<f64> =
        (0..layer.inputs()).flat_map(of_input).copied().map(f64::from).collect();
    if weights.is_empty() {
        weights.resize(outputs, 0.0);
    }
    let weights = graph.doubles(&[layer.inputs().max(1), outputs], &weights);
    let biases: Vec<f64> = layer.biases().iter().copied().map(f64::from).collect();
    let biases = graph.doubles(&row, &biases);
    let products = graph.apply("MatMul", &[inputs, &weights]);
    let mut values = graph.apply("Add", &[&products, &biases]);
    if let Some(norm) = layer.norm() {
        values = normalised(graph, norm, &values);
    }
    activated(graph, layer.activation(), values)
}

/// Outputs after layer normalisation.
fn normalised(graph: &mut OperatorGraph, norm: &LayerNorm, outputs: &TensorName) -> TensorName {
    let row = [1, norm.scale.len()];
    let wide = |values: &[f32]| -> Vec<f64> { values.iter().copied().map(f64::from).collect() };
    let (scale, shift) = (wide(&norm.scale), wide(&norm.shift));
    let (scale, shift) = (graph.doubles(&row, &scale), graph.doubles(&row, &shift));
    let columns = [OperatorAttribute::Ints("axes", 1)];
    let mean = graph.apply_with("ReduceMean", &[outputs], &columns);
    let centred = graph.apply("Sub", &[outputs, &mean]);
    let squares = graph.apply("Mul", &[&centred, &centred]);
    let variance = graph.apply_with("ReduceMean", &[&squares], &columns);
    let epsilon = graph.doubles(&[], &[LayerNorm::EPSILON]);
    let variance = graph.apply("Add", &[&variance, &epsilon]);
    let deviation = graph.apply("Sqrt", &[&variance]);
    let standard = graph.apply("Div", &[&centred, &deviation]);
    let scaled = graph.apply("Mul", &[&standard, &scale]);
    graph.apply("Add", &[&scaled, &shift])
}

/// Values after the activation of a layer.
fn activated(graph: &mut OperatorGraph, activation: Activation, values: TensorName) -> TensorName {
    match activation {
        Activation::None => values,
        Activation::Relu => {
            let zero = graph.doubles(&[], &[0.0]);
            graph.apply("Max", &[&values, &zero])
        }
        Activation::Tanh => graph.apply("Tanh", &[&values]),
        Activation::Gelu => {
            // z/2 (1 + tanh(sqrt(2/pi) (z + 0.044715 z^3))).
            let root = graph.doubles(&[], &[(2.0 / std::f64::consts::PI).sqrt()]);
            let coefficient = graph.doubles(&[], &[0.044715]);
            let (one, half) = (graph.doubles(&[], &[1.0]), graph.doubles(&[], &[0.5]));
            let square = graph.apply("Mul", &[&values, &values]);
            let cube = graph.apply("Mul", &[&square, &values]);
            let cube = graph.apply("Mul", &[&cube, &coefficient]);
            let inner = graph.apply("Add", &[&values, &cube]);
            let inner = graph.apply("Mul", &[&inner, &root]);
            let tanh = graph.apply("Tanh", &[&inner]);
            let factor = graph.apply("Add", &[&tanh, &one]);
            let halved = graph.apply("Mul", &[&values, &half]);
            graph.apply("Mul", &[&halved, &factor])
        }
    }
}
