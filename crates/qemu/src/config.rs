//! What the host allows the guest's options to name.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Deserialize;

/// Bytes of a file's name.
const NAME_MAX: usize = 128;

/// Where a file that the guest names is on this machine.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// The folder on this machine that stands for [`Self::guest_folder`]: files are written only here.
    pub folder: PathBuf,
    /// The folder of results in the guest, as in `/txop/out`.
    pub guest_folder: PathBuf,
    /// Files that may be read: name in the guest, file on this machine.
    #[serde(default)]
    pub files: BTreeMap<PathBuf, PathBuf>,
    /// Whether the guest's time goes with its instructions.
    pub exact: bool,
    /// The largest capture, bytes; an option may only say less.
    pub capture_limit: u64,
    /// Whether the guest may ask for a checkpoint: a process waits for that, and continues the guest.
    #[serde(default)]
    pub checkpoints: bool,
    /// What a guest that is restored does then.
    #[serde(default)]
    pub run: Option<Run>,
}

/// A run that begins where a guest is restored.
#[derive(Clone, Debug, Deserialize, PartialEq)]
#[serde(deny_unknown_fields)]
pub struct Run {
    /// Seeds what the device draws from then on.
    pub seed: u64,
    /// The probability with which frames get lost on top of the noise; `None`: as before.
    #[serde(default)]
    pub loss: Option<f64>,
    /// A fault script, which begins with the run; `None`: nothing goes wrong that did not before.
    #[serde(default)]
    pub faults: Option<String>,
    /// What the guest runs, in its shell.
    pub script: String,
}

/// A file that options may not name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PathError {
    /// A file to write elsewhere than in the folder of results.
    #[error("{0}: files are written to {1} only")]
    Outside(PathBuf, PathBuf),
    /// A file to read that the host did not give.
    #[error("{0}: the host gave no such file (txop guest run --file gives one)")]
    NotGiven(PathBuf),
}

/// Why there is no configuration.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// The file.
    #[error("{path}: {source}")]
    File {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// What is in it.
    #[error("{path}: {source}")]
    Content {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        source: serde_json::Error,
    },
}

impl Config {
    /// Reads a file.
    ///
    /// # Errors
    /// See [`ConfigError`].
    pub fn open(path: &Path) -> Result<Self, ConfigError> {
        let text = std::fs::read(path).map_err(|source| ConfigError::File { path: path.into(), source })?;
        serde_json::from_slice(&text).map_err(|source| ConfigError::Content { path: path.into(), source })
    }

    /// The place of a file that is written: directly in the folder of results.
    ///
    /// # Errors
    /// It is elsewhere.
    pub fn written(&self, name: &Path) -> Result<PathBuf, PathError> {
        let inside = name.strip_prefix(&self.guest_folder).unwrap_or(name);
        let mut parts = inside.components();
        match (parts.next(), parts.next()) {
            (Some(Component::Normal(file)), None) if is_printable(file) => Ok(self.folder.join(file)),
            _ => Err(PathError::Outside(name.into(), self.guest_folder.clone())),
        }
    }

    /// The place of a file that is read.
    ///
    /// # Errors
    /// The host did not give it.
    pub fn read(&self, name: &Path) -> Result<PathBuf, PathError> {
        self.files.get(name).cloned().ok_or_else(|| PathError::NotGiven(name.into()))
    }
}

/// Names are shown to people.
fn is_printable(name: &std::ffi::OsStr) -> bool {
    name.to_str().is_some_and(|name| name.len() <= NAME_MAX && name.chars().all(|each| each.is_ascii_graphic()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_guest_names_only_what_it_was_given() {
        let config = Config {
            folder: "/here".into(),
            guest_folder: "/txop/out".into(),
            files: [("/txop/faults.toml".into(), "/plans/noise.toml".into())].into(),
            exact: true,
            capture_limit: 1 << 20,
            checkpoints: false,
            run: None,
        };
        assert_eq!(config.written(Path::new("/txop/out/air.pcapng")), Ok("/here/air.pcapng".into()));
        assert_eq!(config.written(Path::new("chip.json")), Ok("/here/chip.json".into()));
        for outside in ["/etc/passwd", "/txop/out/../x", "../x", "/txop/out", "/txop/out/a/b", "", "/", "a\x1bb", "a b"]
        {
            assert!(config.written(Path::new(outside)).is_err(), "{outside}");
        }
        assert_eq!(config.read(Path::new("/txop/faults.toml")), Ok("/plans/noise.toml".into()));
        assert!(config.read(Path::new("/etc/shadow")).is_err());
    }
}
