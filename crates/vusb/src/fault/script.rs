//! Fault scripts: TOML.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::device::Effect;
use crate::peers::builtin::script::Event;
use crate::peers::builtin::Network;
use crate::small_file;

/// Why a script cannot be carried out.
#[derive(Debug, thiserror::Error)]
pub enum ScriptError {
    /// The file cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It is not a script.
    #[error("{path}: {what}")]
    Contents {
        /// The file.
        path: PathBuf,
        /// Where and what.
        what: String,
    },
}

/// Which way data go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Direction {
    /// Towards the host.
    In,
    /// Towards the device.
    Out,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// The transfer ends with a STALL. An endpoint other than 0 stays halted until the host clears it.
    Stall,
    /// The endpoint does not answer, for `for_ms`, or for ever.
    Nak,
    /// Only the first `length` bytes get through.
    Short,
    /// Data are changed: `and` and `or` on the first four bytes (little endian), `xor` on every byte.
    Corrupt,
    /// The device is unplugged, for `for_ms` (1000 by default).
    Disconnect,
    /// The firmware stops and does not start again until the device was unplugged.
    FirmwareHang,
    /// What the firmware tells the host gets lost, for `for_ms`, or for ever: messages, and that it has read a mailbox.
    LostC2h,
    /// Frames get lost on the air with `probability`, for `for_ms`, or for ever.
    Loss,
    /// The noise at both receivers is `noise_dbm`, for `for_ms`, or for ever.
    Noise,
    /// The device's Block Ack is sent before it has an MPDU that did arrive, with `probability` for each MPDU of an A-MPDU,
    /// for `for_ms`, or for ever: the sender repeats it.
    LateBlockAck,
}

impl Action {
    /// It happens inside the device, not to a transfer.
    const fn is_inside(self) -> bool {
        matches!(self, Self::FirmwareHang | Self::LostC2h | Self::Loss | Self::Noise | Self::LateBlockAck)
    }
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// For messages and counters.
    #[serde(default)]
    pub name: String,
    /// Endpoint number. Without it the fault is of the whole device, and `from_ms` says when.
    pub endpoint: Option<u8>,
    /// Which way the data go; both by default.
    pub direction: Option<Direction>,
    /// Endpoint 0: value of a vendor request, which is the register in many chips.
    pub register: Option<u16>,
    /// The first such transfer that it happens to, from 1.
    #[serde(default = "one")]
    pub nth: u64,
    /// How many it happens to; all by default.
    pub times: Option<u64>,
    /// Not before this time after plugging in first.
    #[serde(default)]
    pub from_ms: u64,
    /// Not after this time.
    pub until_ms: Option<u64>,
    /// What happens.
    pub action: Action,
    /// See [`Action`].
    pub for_ms: Option<u64>,
    /// See [`Action::Short`].
    pub length: Option<usize>,
    /// See [`Action::Corrupt`].
    pub and: Option<u32>,
    /// See [`Action::Corrupt`].
    pub or: Option<u32>,
    /// See [`Action::Corrupt`].
    pub xor: Option<u8>,
    /// See [`Action::Loss`] and [`Action::LateBlockAck`].
    pub probability: Option<f64>,
    /// See [`Action::Noise`].
    pub noise_dbm: Option<i8>,
}

const fn one() -> u64 {
    1
}

/// All that goes wrong in a run.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Script {
    /// In any order; the first that matches a transfer counts.
    #[serde(default)]
    pub fault: Vec<Fault>,
    /// How the built-in access point's network is.
    pub network: Option<Network>,
    /// What the built-in access point does on purpose.
    #[serde(default)]
    pub ap: Vec<Event>,
}

impl Fault {
    /// What happens inside the device, and what undoes it, where something does; `None`: it happens to a transfer.
    pub(super) fn effects(&self) -> Option<(Effect, Option<Effect>)> {
        let probability = self.probability.unwrap_or(0.0);
        Some(match self.action {
            Action::FirmwareHang => (Effect::FirmwareHang, None),
            Action::LostC2h => (Effect::LostC2h(true), Some(Effect::LostC2h(false))),
            Action::Loss => (Effect::Loss(probability), Some(Effect::Loss(0.0))),
            Action::Noise => (Effect::Noise(self.noise_dbm), Some(Effect::Noise(None))),
            Action::LateBlockAck => (Effect::LateBlockAck(probability), Some(Effect::LateBlockAck(0.0))),
            Action::Stall | Action::Nak | Action::Short | Action::Corrupt | Action::Disconnect => return None,
        })
    }

    fn check(&self) -> Result<(), &'static str> {
        let of_device = self.action == Action::Disconnect || self.action.is_inside();
        if self.endpoint.is_none() && !of_device {
            return Err("endpoint is missing: give the number of the endpoint, 0 to 15");
        }
        if self.endpoint.is_some_and(|endpoint| endpoint > 15) {
            return Err("endpoint is not 0 to 15");
        }
        if self.register.is_some() && self.endpoint != Some(0) {
            return Err("register is for endpoint = 0 only");
        }
        if self.nth == 0 {
            return Err("nth counts from 1");
        }
        if self.until_ms.is_some_and(|until_ms| until_ms < self.from_ms) {
            return Err("until_ms is before from_ms: it would never happen");
        }
        match self.action {
            Action::Short if self.length.is_none() => Err("length is missing: how many bytes get through"),
            Action::Corrupt if self.and.is_none() && self.or.is_none() && self.xor.is_none() => {
                Err("one of and, or, xor is missing: how data are changed")
            }
            Action::Loss | Action::LateBlockAck if !self.probability.is_some_and(|p| (0.0..=1.0).contains(&p)) => {
                Err("probability is missing, or not from 0 to 1")
            }
            Action::Noise if self.noise_dbm.is_none_or(|dbm| dbm > 0) => {
                Err("noise_dbm is missing, or above 0: the noise in dBm, as in -60")
            }
            _ => Ok(()),
        }
    }
}

impl Script {
    /// Reads a script.
    ///
    /// # Errors
    /// Unknown keys, keys that do not go together: with line or number of the fault.
    pub fn parse(text: &str) -> Result<Self, String> {
        let script: Self = toml::from_str(text).map_err(|error| error.to_string())?;
        for (at, fault) in script.fault.iter().enumerate() {
            fault.check().map_err(|what| format!("fault {} (\"{}\"): {what}", at + 1, fault.name))?;
        }
        for (at, event) in script.ap.iter().enumerate() {
            event.check().map_err(|what| format!("ap {} (\"{}\"): {what}", at + 1, event.name))?;
        }
        if let Some(network) = &script.network {
            network.check().map_err(|what| format!("network: {what}"))?;
        }
        Ok(script)
    }

    /// Whether it needs the built-in access point.
    pub fn is_about_ap(&self) -> bool {
        self.network.is_some() || !self.ap.is_empty()
    }

    /// Reads a file.
    ///
    /// # Errors
    /// See [`ScriptError`].
    pub fn open(path: &Path) -> Result<Self, ScriptError> {
        let bytes = small_file::read(path).map_err(|source| ScriptError::Read { path: path.into(), source })?;
        let text = String::from_utf8(bytes).map_err(|error| error.to_string());
        text.and_then(|text| Self::parse(&text)).map_err(|what| ScriptError::Contents { path: path.into(), what })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_are_read_and_checked() {
        let text = "[[fault]]\nendpoint = 0\ndirection = \"out\"\nregister = 0x1c00\naction = \"stall\"\n";
        let script = Script::parse(text).unwrap();
        assert_eq!((script.fault[0].register, script.fault[0].nth), (Some(0x1c00), 1));
        for (text, message) in [
            ("[[fault]]\naction = \"stall\"\n", "endpoint is missing"),
            ("[[fault]]\naction = \"short\"\nendpoint = 1\n", "length is missing"),
            ("[[fault]]\naction = \"loss\"\nprobability = 1.5\n", "not from 0 to 1"),
            ("[[fault]]\naction = \"late_block_ack\"\n", "not from 0 to 1"),
            ("[[fault]]\naction = \"noise\"\n", "noise_dbm is missing"),
            ("[[fault]]\naction = \"explode\"\n", "unknown variant"),
            ("[[fault]]\naction = \"disconnect\"\nfrom_ms = 1000\nuntil_ms = 500\n", "until_ms is before from_ms"),
            ("[[ap]]\nname = \"x\"\naction = \"forget\"\n", "ap 1 (\"x\"): when?"),
            ("[network]\nchannel = 14\n", "network: channel"),
            ("[[fault]]\naction = \"stall\"\nendpoint = 1\nregister = 1\n", "endpoint = 0 only"),
            ("[[fault]]\naction = \"stall\"\nendpoint = 1\nwhen = 1\n", "unknown field"),
        ] {
            let error = Script::parse(text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
