//! The options of parameters, made from the table of parameters, for the commands that take values of several.

use clap::error::ErrorKind;
use clap::{Arg, ArgAction, ArgGroup, ArgMatches, Args, Command, Error, FromArgMatches, Id};
use sparsescope_core::experiment::ParameterLists;
use sparsescope_core::kernel::parameters::SCALE;
use sparsescope_core::kernel::{About, Group, Parameter};

use super::help::{FORMATS, KERNELS, RANKS, SOLVER};
use super::values::value_of;

/// Id of the group of these options.
pub(super) const PARAMETERS: &str = "parameters";

/// The command that runs each kernel with every value; the others take one value per parameter.
const OF_LISTS: &str = "bench";

/// The values of each parameter.
#[derive(Clone, Debug, Default)]
pub(super) struct ParameterArgs(ParameterLists);

/// A value that its parameter accepts. A type of its own, because a command may have another option of the same
/// name: `--b` of `solve` takes a file, too.
#[derive(Clone)]
struct Accepted(String);

impl ParameterArgs {
    /// The values of each parameter.
    pub(super) fn lists(&self) -> &ParameterLists {
        &self.0
    }
}

impl Args for ParameterArgs {
    fn group_id() -> Option<Id> {
        Some(Id::from(PARAMETERS))
    }

    fn augment_args(command: Command) -> Command {
        let name = command.get_name().to_owned();
        let mut options: Vec<Arg> = Vec::new();
        for parameter in Parameter::ALL {
            let about = parameter.about();
            if !about.commands.contains(&name.as_str()) {
                continue;
            }
            let usual = parameter.default().unwrap_or_default();
            for alias in about.aliases.iter().filter(|alias| alias.value.is_none()) {
                // Several parameters may have it.
                if options.iter().all(|option| option.get_id() != alias.flag) {
                    let help = format!("{} [default: {usual}]", alias.help);
                    options.push(option(&name, parameter, alias.flag, alias.flag).help(help));
                }
            }
            let otherwise =
                if about.otherwise.is_empty() { usual.as_str() } else { about.otherwise };
            let help = format!("{} [default: {otherwise}]", about.help);
            let own = option(&name, parameter, about.name, about.flag).help(&help);
            options.push(match about.more {
                "" => own,
                more => own.long_help(format!("{help}\n\n{more}")),
            });
            for alias in about.aliases.iter().filter(|alias| alias.value.is_some()) {
                let switch = Arg::new(alias.flag).long(alias.flag).action(ArgAction::SetTrue);
                let switch = switch.conflicts_with(about.name).help(alias.help);
                options.push(switch.help_heading(heading(about.group)).hide_short_help(true));
            }
        }
        let ids: Vec<Id> = options.iter().map(|option| option.get_id().clone()).collect();
        command.group(ArgGroup::new(PARAMETERS).multiple(true).args(ids)).args(options)
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

impl FromArgMatches for ParameterArgs {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, Error> {
        let mut lists = ParameterLists::default();
        for parameter in Parameter::ALL {
            let set = lists.set(parameter, &given(matches, parameter.about()));
            set.map_err(|error| Error::raw(ErrorKind::ValueValidation, error))?;
        }
        Ok(Self(lists))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), Error> {
        *self = Self::from_arg_matches(matches)?;
        Ok(())
    }
}

/// An option of a command that takes values of a parameter.
fn option(command: &str, parameter: Parameter, id: &'static str, flag: &'static str) -> Arg {
    let (about, accept) = (parameter.about(), value_of(parameter));
    let takes_lists = command == OF_LISTS;
    let one = about.placeholder.trim_end_matches(",...");
    Arg::new(id)
        .long(flag)
        .action(ArgAction::Append)
        .value_name(if takes_lists { about.placeholder } else { one })
        .value_delimiter(',')
        .value_parser(move |text: &str| accept(text).map(Accepted))
        .allow_negative_numbers(true)
        // `-1:0.5` is not a number.
        .allow_hyphen_values(parameter == SCALE.id())
        .help_heading(heading(about.group))
        .hide_short_help(takes_lists || !about.is_main)
}

fn heading(group: Group) -> &'static str {
    match group {
        Group::Kernels => KERNELS,
        Group::Formats => FORMATS,
        Group::Solver => SOLVER,
        Group::Ranks => RANKS,
    }
}

/// The values given for a parameter: by its own option, or else by its aliases.
fn given(matches: &ArgMatches, about: &About) -> Vec<String> {
    let of = |id: &str| -> Vec<String> {
        let found = matches.try_get_many::<Accepted>(id).ok().flatten();
        found.into_iter().flatten().map(|Accepted(value)| value.clone()).collect()
    };
    let is_set = |id: &str| matches.try_get_one::<bool>(id).ok().flatten() == Some(&true);
    let own = of(about.name);
    if !own.is_empty() {
        return own;
    }
    let aliases = about.aliases.iter().flat_map(|alias| match alias.value {
        None => of(alias.flag),
        Some(value) if is_set(alias.flag) => vec![value.to_owned()],
        Some(_) => Vec::new(),
    });
    aliases.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn command(name: &'static str) -> Command {
        ParameterArgs::augment_args(Command::new(name))
    }

    /// The values that a command gets, as in files.
    fn values(name: &'static str, words: &[&str]) -> Result<String, String> {
        let words = std::iter::once(name).chain(words.iter().copied());
        let matches = command(name).try_get_matches_from(words).map_err(|e| e.to_string())?;
        let args = ParameterArgs::from_arg_matches(&matches).map_err(|e| e.to_string())?;
        Ok(serde_json::to_string(args.lists()).unwrap())
    }

    #[test]
    fn every_parameter_has_an_option_in_the_commands_that_take_it() {
        for name in ["bench", "spmv", "spmm", "solve"] {
            let command = command(name);
            for parameter in Parameter::ALL {
                let about = parameter.about();
                let mut options = command.get_arguments();
                let found = options.any(|option| option.get_long() == Some(about.flag));
                assert_eq!(found, about.commands.contains(&name), "{name} --{}", about.flag);
            }
        }
        for parameter in Parameter::ALL {
            assert!(parameter.about().commands.contains(&OF_LISTS), "{}", parameter.name());
        }
    }

    #[test]
    fn help_names_the_default_and_only_the_command_for_lists_shows_a_list() {
        let help = |name| command(name).term_width(200).render_long_help().to_string();
        let (bench, solve) = (help("bench"), help("solve"));
        assert!(bench.contains("--power <K,...>") && solve.contains("--power <K>"), "{solve}");
        for line in [
            "Rows per window in which HLL sorts rows by length [default: 1, not sorted]",
            "Solver: format of A and G: csr, hyb or hll [default: csr]",
            "Solver: format of A [default: --format]",
            "Preconditioner: none, jacobi, symgs or fsai [default: fsai]",
            "FSAI, adaptive pattern: nonzeros added to a row per round [default: 3]",
            "The same as --compact off",
        ] {
            assert!(bench.lines().any(|found| found.trim() == line), "{line}\n{bench}");
        }
    }

    #[test]
    fn values_are_read_as_in_files() {
        let read = |words: &[&str]| values("bench", words).unwrap();
        assert_eq!(read(&["--tol", "1E-6,0.1", "--tol", "1e-6"]), r#"{"tol":["1e-6","0.1"]}"#);
        assert_eq!(read(&["--no-compact"]), r#"{"compact":["off"]}"#);
        assert_eq!(read(&["--gpus", "1,2"]), r#"{"ranks":["1","2"]}"#);
        assert_eq!(read(&["--scale", "-1:0.50,2"]), r#"{"scale":["-1:0.5","2"]}"#);
        assert_eq!(
            read(&["--format-g", "hll", "--format", "hyb"]),
            r#"{"format_a":["hyb"],"format_g":["hll"]}"#
        );
        assert!(values("bench", &["--no-compact", "--compact", "on"]).is_err());
        let error = values("bench", &["--steps", "-1"]).unwrap_err();
        assert!(error.contains("steps is `-1`: expected a whole number from 1 to 1000"), "{error}");
    }

    #[test]
    fn another_option_of_the_same_name_is_not_a_parameter() {
        let own = Arg::new("b").long("b");
        let matches = command("solve").arg(own).try_get_matches_from(["solve", "--b", "b.mtx"]);
        let args = ParameterArgs::from_arg_matches(&matches.unwrap()).unwrap();
        assert_eq!(args.lists(), &ParameterLists::default());
    }
}
