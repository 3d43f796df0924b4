//! The devices on the command line.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{ArgMatches, Args, Command, FromArgMatches};

use super::DEVICES;
use crate::entry::{Entry, Options};

/// Reads the name of a device; help lists all.
pub fn named() -> impl TypedValueParser<Value = &'static Entry> {
    let values = DEVICES.iter().map(|entry| PossibleValue::new(entry.name).help(entry.about));
    let by_name = |name: String| DEVICES.iter().copied().find(|entry| entry.name == name);
    PossibleValuesParser::new(values).try_map(move |name| by_name(name).ok_or("there is no such device"))
}

/// The device where none is named.
pub fn default_device() -> &'static str {
    DEVICES.first().map_or("", |first| first.name)
}

/// The options that devices have beside those of their surroundings. Each device reads its own.
#[derive(Clone, Debug)]
pub struct OwnOptions(pub ArgMatches);

impl FromArgMatches for OwnOptions {
    fn from_arg_matches(matches: &ArgMatches) -> Result<Self, clap::Error> {
        Ok(Self(matches.clone()))
    }

    fn update_from_arg_matches(&mut self, matches: &ArgMatches) -> Result<(), clap::Error> {
        self.0 = matches.clone();
        Ok(())
    }
}

impl Args for OwnOptions {
    fn augment_args(command: Command) -> Command {
        groups().into_iter().fold(command, |command, group| (group.add)(command))
    }

    fn augment_args_for_update(command: Command) -> Command {
        Self::augment_args(command)
    }
}

/// The groups of options of all devices, each once.
fn groups() -> Vec<Options> {
    let mut groups: Vec<Options> = Vec::new();
    for group in DEVICES.iter().flat_map(|entry| entry.options) {
        if !groups.iter().any(|known| known.name == group.name) {
            groups.push(*group);
        }
    }
    groups
}
