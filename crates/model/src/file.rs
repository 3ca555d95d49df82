//! Reads models from files and writes them.

use std::path::Path;

use rankwright_data::bytes::Input;
use rankwright_data::store::write_atomic;

use crate::error::ModelError;
use crate::interchange::ModelFormat;
use crate::model::Model;

impl Model {
    /// Reads a model of any known format from a file, compressed or not (gzip, zstd). The path `-`
    /// is a file of that name, even in a program where it means standard input for data.
    pub fn load(path: impl AsRef<Path>) -> Result<Model, ModelError> {
        let path = path.as_ref();
        let path = if path == Path::new("-") { Path::new("./-") } else { path };
        let input = Input::open(path)?;
        Model::from_bytes(&input.bytes).map_err(|error| error.in_file(input.name))
    }

    /// Writes the model to a file in our own format, atomically.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), ModelError> {
        save(path.as_ref(), &self.to_bytes())
    }

    /// Writes the model to a file in another format; fails if the format cannot express the model.
    pub fn save_as(&self, path: impl AsRef<Path>, format: &ModelFormat) -> Result<(), ModelError> {
        save(path.as_ref(), &self.to_bytes_as(format)?)
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), ModelError> {
    Ok(write_atomic(path, |out| out.write_all(bytes))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_called_dash_is_a_file_even_where_a_dash_is_standard_input() {
        rankwright_data::allow_standard_streams();
        let error = Model::load("-").unwrap_err().to_string();
        assert!(error.starts_with("cannot read ./-: "), "{error}");
    }
}
