//! Help texts of flags that are parameters of the library, from their declarations.

use rankwright::spec::ParamGroup;

/// The help of a parameter, as the command writes help: without a full stop at the end.
pub(crate) fn help<G: ParamGroup + Default>(name: &str) -> String {
    let defs = G::default().defs();
    let def = defs.iter().find(|def| def.name == name);
    let help = def.map(|def| def.help.trim_end_matches('.').to_owned());
    help.expect("a flag has the name of a declared parameter")
}

#[cfg(test)]
mod tests {
    use clap::{Command, CommandFactory};
    use rankwright::data::generate::{LetorOptions, StoreOptions};
    use rankwright::data::split::SplitOptions;
    use rankwright::eval::compare::CompareOptions;

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
            let (found, default) = flag(path, name);
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
    }
}
