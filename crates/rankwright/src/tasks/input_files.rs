//! Inputs divided by content into models and data.

use std::path::Path;
use std::sync::Arc;

use rankwright_data::bytes::Input;
use rankwright_data::{Absent, is_score_table};
use rankwright_model::{Model, ModelFormat};

use super::{ReadRules, TaskError};

/// Reads a model of any known format (Rankwright, LightGBM, XGBoost, ...) from a file, or from
/// standard input for `-`.
pub fn load_model(path: &Path) -> Result<Model, TaskError> {
    let input = Input::open(path)?;
    Ok(Model::from_bytes(&input.bytes).map_err(|error| error.in_file(input.name))?)
}

/// Inputs divided into models and data.
#[derive(Debug)]
pub struct InputFiles {
    /// Models with the names of their files.
    pub models: Vec<(String, Model)>,
    /// All other inputs.
    pub data: Vec<Input>,
}

impl InputFiles {
    /// Reads the models among the inputs.
    pub fn new(inputs: Vec<Input>) -> Result<InputFiles, TaskError> {
        let (mut models, mut data) = (Vec::new(), Vec::new());
        for input in inputs {
            match ModelFormat::detect(&input.bytes) {
                Some(format) => {
                    let read = Model::from_bytes_as(&input.bytes, format);
                    let model = read.map_err(|error| error.in_file(&input.name))?;
                    models.push((input.name, model));
                }
                None if is_score_table(&input.bytes) => {
                    return Err(TaskError::ScoresAmongData { file: input.name });
                }
                None => data.push(input),
            }
        }
        Ok(InputFiles { models, data })
    }

    /// The common meaning of absent features for all models; none if there are no models.
    pub fn absent_rule(&self) -> Result<Option<Absent>, TaskError> {
        // For a linear model zero and missing are the same, so other models decide.
        let decisive = self.models.iter().filter(|(_, model)| model.distinguishes_missing());
        let mut rules = decisive.map(|(name, model)| (name, model.header().absent));
        let Some((first, rule)) = rules.next() else {
            return Ok(self.models.first().map(|(_, model)| model.header().absent));
        };
        match rules.find(|(_, other)| *other != rule) {
            None => Ok(Some(rule)),
            Some((second, other)) => Err(TaskError::AbsentRulesDiffer {
                first: first.clone(),
                first_rule: rule,
                second: second.clone(),
                second_rule: other,
            }),
        }
    }

    /// The common rules of reading data for all models; the columns of tables are those of the
    /// first model that has any, with the categories of all models. None if there are no models.
    pub fn rules(&self) -> Result<Option<ReadRules>, TaskError> {
        let all = self.models.iter().filter_map(|(_, m)| m.header().table_columns.clone());
        let columns = all.reduce(|columns, other| match columns == other {
            true => columns,
            false => Arc::new(columns.joined_categories(&other)),
        });
        let rules = |absent| ReadRules { columns, ..ReadRules::from(absent) };
        Ok(self.absent_rule()?.map(rules))
    }

    /// The only model, and the data that it will score.
    pub fn into_model_and_data(mut self) -> Result<(Model, Vec<Input>), TaskError> {
        match (self.models.pop(), self.models.len()) {
            (None, _) => Err(TaskError::NoModel {
                file: self.data.first().map_or("the input".to_owned(), |input| input.name.clone()),
            }),
            (Some(_), more @ 1..) => Err(TaskError::SeveralModels { count: more + 1 }),
            (Some(_), 0) if self.data.is_empty() => Err(TaskError::NoData),
            (Some((_, model)), 0) => Ok((model, self.data)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rankwright_data::FeatureNames;
    use rankwright_model::{Header, Linear, ModelBody};

    fn model() -> Input {
        let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
        let linear = Linear::new(0.0, vec![1.0]).unwrap();
        let model = Model::new(header, ModelBody::Linear(linear)).unwrap();
        Input::from_bytes("m.model", model.to_bytes()).unwrap()
    }

    fn data() -> Input {
        Input::from_bytes("a.txt", b"1 qid:1 1:2\n".to_vec()).unwrap()
    }

    fn divided(inputs: Vec<Input>) -> Result<(Model, Vec<Input>), TaskError> {
        InputFiles::new(inputs)?.into_model_and_data()
    }

    #[test]
    fn the_model_is_found_by_content_wherever_it_stands() {
        for inputs in [vec![model(), data()], vec![data(), model()]] {
            assert_eq!(divided(inputs).unwrap().1.len(), 1);
        }
    }

    #[test]
    fn one_model_and_some_data_are_expected() {
        assert!(
            matches!(divided(vec![data()]), Err(TaskError::NoModel { file }) if file == "a.txt")
        );
        assert!(matches!(divided(vec![model()]), Err(TaskError::NoData)));
        let several = divided(vec![model(), data(), model()]);
        assert!(matches!(several, Err(TaskError::SeveralModels { count: 2 })));
    }
}
