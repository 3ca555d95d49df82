//! The field numbers in the protocol buffers (messages) of ONNX, as its own definition
//! (`onnx.proto3`) gives them, as far as they are read or written here.

/// `ModelProto`: the whole file.
pub(super) mod model {
    pub(crate) const IR_VERSION: u64 = 1;
    pub(crate) const PRODUCER_NAME: u64 = 2;
    pub(crate) const PRODUCER_VERSION: u64 = 3;
    pub(crate) const GRAPH: u64 = 7;
    pub(crate) const OPSET_IMPORT: u64 = 8;
    pub(crate) const METADATA_PROPS: u64 = 14;
    pub(crate) const FUNCTIONS: u64 = 25;
}

/// `OperatorSetIdProto`: a set of operators and its version.
pub(super) mod operator_set {
    pub(crate) const DOMAIN: u64 = 1;
    pub(crate) const VERSION: u64 = 2;
}

/// `StringStringEntryProto`: an entry of the metadata.
pub(super) mod entry {
    pub(crate) const KEY: u64 = 1;
    pub(crate) const VALUE: u64 = 2;
}

/// `GraphProto`: the nodes, and the tensors that go in and come out.
pub(super) mod graph {
    pub(crate) const NODE: u64 = 1;
    pub(crate) const NAME: u64 = 2;
    pub(crate) const INITIALIZER: u64 = 5;
    pub(crate) const INPUT: u64 = 11;
    pub(crate) const OUTPUT: u64 = 12;
}

/// `NodeProto`: one operator of a graph.
pub(super) mod node {
    pub(crate) const INPUT: u64 = 1;
    pub(crate) const OUTPUT: u64 = 2;
    pub(crate) const NAME: u64 = 3;
    pub(crate) const OP_TYPE: u64 = 4;
    pub(crate) const ATTRIBUTE: u64 = 5;
    pub(crate) const DOMAIN: u64 = 7;
}

/// `AttributeProto`: a named value of a node; `TYPE` says which of the other fields holds it.
pub(super) mod attribute {
    pub(crate) const NAME: u64 = 1;
    pub(crate) const INT: u64 = 3;
    pub(crate) const STRING: u64 = 4;
    pub(crate) const TENSOR: u64 = 5;
    pub(crate) const FLOATS: u64 = 7;
    pub(crate) const INTS: u64 = 8;
    pub(crate) const STRINGS: u64 = 9;
    pub(crate) const TYPE: u64 = 20;
}

/// `AttributeProto.AttributeType`: the values of [`attribute::TYPE`].
pub(super) mod attribute_type {
    pub(crate) const INT: i64 = 2;
    pub(crate) const STRING: i64 = 3;
    pub(crate) const FLOATS: i64 = 6;
    pub(crate) const INTS: i64 = 7;
    pub(crate) const STRINGS: i64 = 8;
}

/// `ValueInfoProto`: name and type of an input or output.
pub(super) mod value_info {
    pub(crate) const NAME: u64 = 1;
    pub(crate) const TYPE: u64 = 2;
}

/// `TypeProto`: the type of a value.
pub(super) mod type_proto {
    pub(crate) const TENSOR_TYPE: u64 = 1;
}

/// `TypeProto.Tensor`: the element type and the shape of a tensor.
pub(super) mod tensor_type {
    pub(crate) const ELEM_TYPE: u64 = 1;
    pub(crate) const SHAPE: u64 = 2;
}

/// `TensorShapeProto`: the dimensions of a tensor.
pub(super) mod shape {
    pub(crate) const DIM: u64 = 1;
}

/// `TensorShapeProto.Dimension`: a dimension of known size (a value) or of any size (a name).
pub(super) mod dimension {
    pub(crate) const VALUE: u64 = 1;
    pub(crate) const NAME: u64 = 2;
}

/// `TensorProto`: the values of a tensor.
pub(super) mod tensor {
    pub(crate) const DIMS: u64 = 1;
    pub(crate) const DATA_TYPE: u64 = 2;
    pub(crate) const FLOAT_DATA: u64 = 4;
    pub(crate) const NAME: u64 = 8;
    pub(crate) const RAW_DATA: u64 = 9;
    pub(crate) const DOUBLE_DATA: u64 = 10;
    pub(crate) const EXTERNAL_DATA: u64 = 13;
    pub(crate) const DATA_LOCATION: u64 = 14;
}

/// `TensorProto.DataType`: the type of the elements of a tensor.
pub(super) mod data_type {
    pub(crate) const FLOAT: i64 = 1;
    pub(crate) const INT64: i64 = 7;
    pub(crate) const BOOL: i64 = 9;
    pub(crate) const DOUBLE: i64 = 11;
}
