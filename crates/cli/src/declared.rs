//! Help texts, defaults and names of flags that are parameters of the library, from their
//! declarations.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rankwright::spec::{NamedChoice, ParamGroup, ParamValue, RangeDef, ValueError};

/// The help of a parameter, as the command writes help: without a full stop at the end.
pub(crate) fn help<G: ParamGroup + Default>(name: &str) -> String {
    let defs = G::default().defs();
    let def = defs.iter().find(|def| def.name == name);
    let help = def.map(|def| def.help.trim_end_matches('.').to_owned());
    help.expect("a flag has the name of a declared parameter")
}

/// The choice of this name.
pub(crate) fn choice<T: ParamValue>(name: &str) -> Result<T, String> {
    T::read(name, &RangeDef::default()).map_err(|error| match error {
        ValueError::Expected(expected) => format!("expected {expected}"),
        ValueError::Spec(error) => error.to_string(),
    })
}

/// A parser of the names of a declared choice, which the help lists with their meanings.
pub(crate) fn choices<T: NamedChoice>() -> impl TypedValueParser<Value = T> {
    let values = T::choices()
        .into_iter()
        .map(|choice| PossibleValue::new(choice.name).help(choice.help.trim_end_matches('.')));
    PossibleValuesParser::new(values).try_map(|name| choice::<T>(&name))
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use rankwright::clicks::PreferenceRule;
    use rankwright::clicks::bias::BiasOptions;
    use rankwright::data::generate::{LetorOptions, StoreOptions};
    use rankwright::data::split::SplitOptions;
    use rankwright::eval::compare::CompareOptions;
    use rankwright::learn::FoldParams;
    use rankwright::learn::tune::{TuneMethod, TuneParams};
    use rankwright::search::Analysis;
    use rankwright::search::classify::Classifier;

    use super::*;

    /// The help and the default of a flag of a command.
    fn flag(path: &[&str], name: &str) -> (String, String) {
        let root = crate::Cli::command();
        let find = |command: &Command, name: &&str| command.find_subcommand(name).unwrap().clone();
        let command = path.iter().fold(root, |command, name| find(&command, name));
        let arg = command.get_arguments().find(|arg| arg.get_long() == Some(name)).unwrap();
        let defaults = arg.get_default_values();
        let default = defaults.first().map(|text| text.to_string_lossy().into_owned());
        (arg.get_help().unwrap().to_string(), default.unwrap_or_default())
    }

    fn check<G: ParamGroup + Default>(path: &[&str], names: &[&str]) {
        for name in names {
            let (found, default) = flag(path, &name.replace('_', "-"));
            assert_eq!(found, help::<G>(name), "{path:?} --{name}");
            let declared = G::default().text(name).unwrap();
            let is_default = default == declared || default.replace(',', "/") == declared;
            assert!(is_default || declared == "none", "{path:?} --{name}: {default} {declared}");
        }
    }

    #[test]
    fn flags_have_the_help_and_the_defaults_of_the_declarations() {
        check::<LetorOptions>(&["data", "generate", "letor"], &["queries", "documents", "seed"]);
        check::<StoreOptions>(&["data", "generate", "store"], &["records", "queries", "seed"]);
        check::<SplitOptions>(&["data", "split"], &["parts", "folds", "seed"]);
        let names = ["baseline", "test", "correction", "alpha", "samples", "seed"];
        check::<CompareOptions>(&["compare"], &names);
        check::<FoldParams>(&["cv"], &["folds", "seed", "valid_part"]);
        check::<TuneParams>(&["tune"], &["trials", "method", "seed"]);
        check::<BiasOptions>(&["clicks", "bias"], &["min_shown", "samples", "seed"]);
    }

    #[test]
    fn defaults_that_are_typed_are_those_of_the_library() {
        for (path, name, expected) in [
            (&["classify"][..], "classifier", Classifier::default().to_string()),
            (&["classify"], "analysis", Analysis::default().to_string()),
            (&["clicks", "pairs"], "rule", PreferenceRule::default().name().to_owned()),
        ] {
            assert_eq!(flag(path, name).1, expected, "{path:?} --{name}");
        }
    }

    #[test]
    fn the_names_of_a_choice_are_listed_with_their_meanings() {
        let names: Vec<_> = choices::<TuneMethod>().possible_values().unwrap().collect();
        assert_eq!(names.len(), 2);
        assert!(names.iter().all(|name| name.get_help().is_some()), "{names:?}");
    }
}
