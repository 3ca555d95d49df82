//! Inputs divided by content into models and data.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use rankwright_data::bytes::Input;
use rankwright_data::{Absent, FeatureNames, is_score_table};
use rankwright_model::{Model, ModelFormat};

use super::{ReadRules, TaskError};

/// Reads a model of any known format (Rankwright, LightGBM, XGBoost, ...) from a file, or from
/// standard input for `-`.
pub fn load_model(path: &Path) -> Result<Model, TaskError> {
    let input = Input::open(path)?;
    Ok(Model::from_bytes(&input.bytes).map_err(|error| error.in_file(input.name))?)
}

/// A model with the name of its file, or its name in memory.
pub(super) type NamedModel = (String, Arc<Model>);

/// Divides inputs by content into models, with the names of their files, and all others.
pub(super) fn divide(inputs: Vec<Input>) -> Result<(Vec<NamedModel>, Vec<Input>), TaskError> {
    let (mut models, mut data) = (Vec::new(), Vec::new());
    for input in inputs {
        match ModelFormat::detect(&input.bytes) {
            Some(format) => {
                let read = Model::from_bytes_as(&input.bytes, format);
                let model = read.map_err(|error| error.in_file(&input.name))?;
                models.push((input.name, Arc::new(model)));
            }
            None if is_score_table(&input.bytes) => {
                return Err(TaskError::ScoresAmongData { file: input.name });
            }
            None => data.push(input),
        }
    }
    Ok((models, data))
}

/// The common meaning of absent features for all models; none if there are no models.
fn absent_rule(models: &[NamedModel]) -> Result<Option<Absent>, TaskError> {
    // For a linear model zero and missing are the same, so other models decide.
    let decisive = models.iter().filter(|(_, model)| model.distinguishes_missing());
    let mut rules = decisive.map(|(name, model)| (name, model.header().absent));
    let Some((first, rule)) = rules.next() else {
        return Ok(models.first().map(|(_, model)| model.header().absent));
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

/// The common rules of reading data for all models; the columns of tables are those of the first
/// model that has any, with the categories of all models. None if there are no models.
pub(super) fn common_rules(models: &[NamedModel]) -> Result<Option<ReadRules>, TaskError> {
    let all = models.iter().filter_map(|(_, m)| m.header().table_columns.clone());
    let columns = all.reduce(|columns, other| match columns == other {
        true => columns,
        false => Arc::new(columns.joined_categories(&other)),
    });
    let mut known = HashSet::new();
    let features = models.iter().map(|(_, model)| &model.header().features);
    let named = features.filter(|features| matches!(features, FeatureNames::Named(_)));
    let names = named.flat_map(|features| features.iter().map(|name| name.into_owned()));
    let names: Vec<String> = names.filter(|name| known.insert(name.clone())).collect();
    let features = (!names.is_empty()).then_some(FeatureNames::Named(names));
    let rules = |absent| ReadRules { columns, features, ..ReadRules::from(absent) };
    Ok(absent_rule(models)?.map(rules))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tasks::context::RunningTask;
    use crate::tasks::{Context, DataFiles, DataSource};
    use rankwright_model::{Header, Linear, ModelBody};

    fn model() -> Model {
        let header = Header::new(FeatureNames::Ids { first: 1, count: 1 }, Absent::Zero);
        let linear = Linear::new(0.0, vec![1.0]).unwrap();
        Model::new(header, ModelBody::Linear(linear)).unwrap()
    }

    /// The error of finding one model among these files, if there is one.
    fn divided(names: &[&str], given: Option<Model>) -> Result<(), TaskError> {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("m.model"), model().to_bytes()).unwrap();
        std::fs::write(folder.path().join("n.model"), model().to_bytes()).unwrap();
        std::fs::write(folder.path().join("a.txt"), "1 qid:1 1:2\n").unwrap();
        let files = names.iter().map(|name| folder.path().join(name));
        let source = DataSource::from(DataFiles::new(files));
        let context = Context::default();
        let mut task = RunningTask::new(&context);
        let divided = source.divided(&task)?.with_one_model(given.map(Arc::new));
        let loaded = divided?.1.load(None, &mut task)?;
        assert_eq!(loaded.data.rows(), 1);
        Ok(())
    }

    #[test]
    fn the_model_is_found_by_content_wherever_it_stands() {
        divided(&["m.model", "a.txt"], None).unwrap();
        divided(&["a.txt", "m.model"], None).unwrap();
        divided(&["a.txt"], Some(model())).unwrap();
    }

    #[test]
    fn one_model_and_some_data_are_expected() {
        let error = divided(&["a.txt"], None).unwrap_err();
        assert!(matches!(error, TaskError::NoModel { file } if file.ends_with("a.txt")));
        assert!(matches!(divided(&["m.model"], None), Err(TaskError::NoData)));
        let several = divided(&["m.model", "a.txt", "n.model"], None);
        assert!(matches!(several, Err(TaskError::SeveralModels { count: 2 })));
        let several = divided(&["m.model", "a.txt"], Some(model()));
        assert!(matches!(several, Err(TaskError::SeveralModels { count: 2 })));
    }
}
