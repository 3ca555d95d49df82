//! Help texts, defaults, ranges and names of flags that are parameters of the library, from their
//! declarations.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rankwright::spec::{NamedChoice, ParamDef, ParamGroup, ParamValue, RangeDef, ValueError};

/// The declaration of a parameter.
fn declaration<G: ParamGroup + Default>(name: &str) -> ParamDef {
    let def = G::default().defs().into_iter().find(|def| def.name == name);
    def.expect("a flag has the name of a declared parameter")
}

/// The help of a parameter, as the command writes help: without a full stop at the end.
pub(crate) fn help<G: ParamGroup + Default>(name: &str) -> String {
    declaration::<G>(name).help.trim_end_matches('.').to_owned()
}

/// A parser of the values of a parameter, within the range of its declaration. A parameter that may
/// be `none` is a flag that may be left out, so its type here is that of its other values.
pub(crate) fn value<G, T>(name: &str) -> impl Fn(&str) -> Result<T, String> + Clone + use<G, T>
where
    G: ParamGroup + Default,
    T: ParamValue,
{
    let range = declaration::<G>(name).range;
    move |text| {
        let value = T::read(text, &range).map_err(message)?;
        match value.in_range(&range) {
            true => value.check().map(|()| value).map_err(message),
            false => Err(message(ValueError::Expected(T::kind().expected(&range)))),
        }
    }
}

/// The choice of this name.
pub(crate) fn choice<T: ParamValue>(name: &str) -> Result<T, String> {
    T::read(name, &RangeDef::default()).map_err(message)
}

fn message(error: ValueError) -> String {
    match error {
        ValueError::Expected(expected) => format!("expected {expected}"),
        ValueError::Spec(error) => error.to_string(),
    }
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
    use rankwright::clicks::interleave::InterleavingOptions;
    use rankwright::clicks::judge::BradleyTerryOptions;
    use rankwright::clicks::labels::ClickLabelOptions;
    use rankwright::clicks::log::BotLimits;
    use rankwright::clicks::off_policy::OffPolicyOptions;
    use rankwright::data::generate::{LetorOptions, StoreOptions};
    use rankwright::data::split::SplitOptions;
    use rankwright::eval::compare::CompareOptions;
    use rankwright::learn::FoldParams;
    use rankwright::learn::permutation::PermutationParams;
    use rankwright::learn::tune::{TuneMethod, TuneParams};
    use rankwright::model::{DependenceOptions, ExplainParams};
    use rankwright::search::Analysis;
    use rankwright::search::classify::Classifier;
    use rankwright::tasks::{SimulateOptions, SimulateRunOptions};

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
        check::<OffPolicyOptions>(&["clicks", "evaluate"], &["clip", "min_overlap", "samples"]);
        check::<ClickLabelOptions>(&["clicks", "labels"], &["clip", "grades"]);
        check::<SimulateOptions>(&["clicks", "simulate"], &["sessions", "top", "seed"]);
        check::<SimulateRunOptions>(&["interleave", "simulate"], &["sessions", "users", "seed"]);
        check::<InterleavingOptions>(&["interleave", "score"], &["samples", "seed"]);
        check::<BradleyTerryOptions>(&["judge", "aggregate"], &["prior", "grades"]);
        check::<ExplainParams>(&["explain"], &["permutations", "seed"]);
        check::<DependenceOptions>(&["explain"], &["curves"]);
        check::<PermutationParams>(&["model", "inspect"], &["repeats", "seed"]);
    }

    #[test]
    fn values_of_flags_have_the_ranges_of_the_declarations() {
        let samples = value::<InterleavingOptions, usize>("samples");
        assert_eq!(samples("0"), Ok(0));
        assert_eq!(samples("-1").unwrap_err(), samples("100001").unwrap_err());
        assert_eq!(samples("x").unwrap_err(), "expected a whole number from 0 to 100000");
        let clip = value::<OffPolicyOptions, f64>("clip");
        assert_eq!(clip("1.5"), Ok(1.5));
        for text in ["0.5", "nan", "inf", "none"] {
            assert!(clip(text).is_err(), "{text}");
        }
        let seconds = value::<BotLimits, f64>("seconds");
        assert!(seconds("0").is_ok() && seconds("-1").is_err());
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
