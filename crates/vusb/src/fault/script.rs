//! Fault scripts: TOML.

use std::path::{Path, PathBuf};

use serde::Deserialize;
use wire::sdio::{number, Direct};

use crate::device::{CommandFault, Effect};
use crate::pci::{Register, REGISTERS_LEN};
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
    /// The endpoint does not answer, for `for_ms`, or forever.
    Nak,
    /// Only the first `length` bytes get through.
    Short,
    /// Data are changed: `and` and `or` on the first four bytes (little endian), `xor` on every byte.
    Corrupt,
    /// The device is unplugged, for `for_ms` (1000 by default).
    Disconnect,
    /// The firmware, or the MAC of a chip without one, stops and does not start again until the device was unplugged.
    FirmwareHang,
    /// What the firmware reports to the host gets lost, for `for_ms`, or forever: messages, and that it has read a mailbox.
    LostC2h,
    /// Frames get lost on the air with `probability`, for `for_ms`, or forever.
    Loss,
    /// The noise at both receivers is `noise_dbm`, for `for_ms`, or forever.
    Noise,
    /// A station of an access point, or one of several access points, moves: `signal_dbm` on the link to `station`, both ways.
    Signal,
    /// The device's Block Ack is sent before it has an MPDU that did arrive, with `probability` for each MPDU of an A-MPDU,
    /// for `for_ms`, or forever: the sender repeats it.
    LateBlockAck,
    /// SDIO: the card does not get the command, and does not answer.
    NoAnswer,
    /// SDIO: the data have a wrong CRC.
    Crc,
    /// SDIO: the card answers with an error, and does nothing.
    Refuse,
    /// PCI: nobody answers the access: a read gives ones, a write does nothing.
    Drop,
    /// PCI: the chip neither reads nor writes memory, for `for_ms`, or forever.
    StuckDma,
    /// PCI: the interrupt line stays as if nothing happened, for `for_ms`, or forever.
    LostInterrupts,
}

/// Accesses to registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Access {
    /// Those that read.
    Read,
    /// Those that write.
    Write,
    /// All.
    Any,
}

impl Action {
    /// It happens to a command of an SDIO card only.
    const fn is_of_commands(self) -> bool {
        matches!(self, Self::NoAnswer | Self::Crc | Self::Refuse)
    }

    /// It happens inside the device, not to a transfer.
    const fn is_inside(self) -> bool {
        matches!(
            self,
            Self::FirmwareHang
                | Self::LostC2h
                | Self::Loss
                | Self::Noise
                | Self::Signal
                | Self::LateBlockAck
                | Self::StuckDma
                | Self::LostInterrupts
        )
    }
}

/// One thing that goes wrong.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// For messages and counters.
    #[serde(default)]
    pub name: String,
    /// Endpoint number. Without it, and without `command`, the fault is of the whole device, and `from_ms` says when.
    pub endpoint: Option<u8>,
    /// SDIO: number of the command that it happens to.
    pub command: Option<u8>,
    /// SDIO: function that CMD52 or CMD53 is for. PCI: function with the register; default: 0, the chip under test.
    pub function: Option<u8>,
    /// SDIO: first register that CMD52 or CMD53 is for.
    pub address: Option<u32>,
    /// PCI: accesses to registers that it happens to.
    pub access: Option<Access>,
    /// PCI: the word with the register; all by default.
    pub offset: Option<u32>,
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
    /// See [`Action::Signal`]: the number of the station, from 1.
    pub station: Option<u8>,
    /// See [`Action::Signal`].
    pub signal_dbm: Option<i8>,
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
            Action::Signal => {
                let station = self.station.unwrap_or(1).saturating_sub(1);
                (Effect::Signal(station, self.signal_dbm.unwrap_or(0)), None)
            }
            Action::LateBlockAck => (Effect::LateBlockAck(probability), Some(Effect::LateBlockAck(0.0))),
            Action::StuckDma => (Effect::StuckDma(true), Some(Effect::StuckDma(false))),
            Action::LostInterrupts => (Effect::LostInterrupts(true), Some(Effect::LostInterrupts(false))),
            Action::Corrupt if self.command.is_some() => (Effect::Command(self.corruption()), None),
            Action::NoAnswer => (Effect::Command(CommandFault::NoAnswer), None),
            Action::Crc => (Effect::Command(CommandFault::Crc), None),
            Action::Refuse => (Effect::Command(CommandFault::Refused), None),
            Action::Stall | Action::Nak | Action::Short | Action::Corrupt | Action::Drop | Action::Disconnect => {
                return None
            }
        })
    }

    /// How data of a transfer or a command are changed.
    pub(super) fn corruption(&self) -> CommandFault {
        CommandFault::Corrupt {
            and: self.and.unwrap_or(u32::MAX),
            or: self.or.unwrap_or(0),
            xor: self.xor.unwrap_or(0),
        }
    }

    /// It happens by itself, when its time has come.
    pub(super) const fn is_of_device(&self) -> bool {
        self.endpoint.is_none() && self.command.is_none() && self.access.is_none()
    }

    /// Whether it happens to such an access to a register.
    pub(super) fn is_about_access(&self, direction: Direction, register: Register) -> bool {
        let matches = match self.access {
            Some(Access::Any) => true,
            Some(Access::Read) => direction == Direction::In,
            Some(Access::Write) => direction == Direction::Out,
            None => false,
        };
        matches
            && usize::from(self.function.unwrap_or(0)) == register.function
            && self.offset.is_none_or(|wanted| wanted == register.whole())
    }

    fn check_access(&self) -> Result<(), &'static str> {
        match (self.access, self.action) {
            (None, Action::Drop) => Err("access is missing: read, write or any"),
            (None, _) if self.offset.is_some() => Err("offset is of an access to a register: give access, too"),
            (None, _) => Ok(()),
            _ if self.endpoint.is_some() || self.command.is_some() => {
                Err("access does not go with endpoint or command: it is of registers on PCI")
            }
            _ if self.offset.is_some_and(|offset| offset % 4 != 0 || offset >= REGISTERS_LEN) => {
                Err("offset is not a multiple of 4 below 0x10000")
            }
            (_, Action::Corrupt | Action::Drop | Action::Disconnect) => Ok(()),
            (_, action) if action.is_inside() => Ok(()),
            _ => Err("to an access happens corrupt, drop, disconnect, or what is inside the device"),
        }
    }

    /// Whether it happens to such a command.
    pub(super) fn is_about(&self, command: sdio::Command) -> bool {
        let is_io = matches!(command.number, number::IO_RW_DIRECT | number::IO_RW_EXTENDED);
        // Both have these in the same bits.
        let Direct { write, function, address, .. } = Direct::parse(command.argument);
        let direction = if write { Direction::Out } else { Direction::In };
        self.command == Some(command.number)
            && (self.function.is_none() || is_io && self.function == Some(function))
            && (self.address.is_none() || is_io && self.address == Some(address))
            && (self.direction.is_none() || is_io && self.direction == Some(direction))
    }

    fn check_command(&self) -> Result<(), &'static str> {
        let Some(command) = self.command else {
            let has_function = self.function.is_some() && self.access.is_none();
            return if has_function || self.address.is_some() {
                Err("function and address are of a command: give its number, 52 or 53")
            } else if self.action.is_of_commands() {
                Err("command is missing: give the number of the command, 0 to 63")
            } else {
                Ok(())
            };
        };
        if self.endpoint.is_some() {
            return Err("endpoint and command do not go together: a fault is of a transfer or of a command");
        }
        if command > 63 {
            return Err("command is not 0 to 63");
        }
        if self.function.is_some_and(|function| function > 7) || self.address.is_some_and(|address| address > 0x1_ffff)
        {
            return Err("function is not 0 to 7, or address has more than 17 bits");
        }
        let keyed = self.function.is_some() || self.address.is_some() || self.direction.is_some();
        if keyed && !matches!(command, number::IO_RW_DIRECT | number::IO_RW_EXTENDED) {
            return Err("only 52 and 53 have a function, an address and a direction");
        }
        match self.action {
            Action::Stall | Action::Nak | Action::Short => Err("stall, nak and short are of endpoints"),
            _ => Ok(()),
        }
    }

    fn check(&self) -> Result<(), &'static str> {
        let of_device = self.action == Action::Disconnect || self.action.is_inside();
        self.check_command()?;
        self.check_access()?;
        if self.is_of_device() && !of_device {
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
            Action::Signal if self.station.is_none_or(|number| number == 0) => {
                Err("station is missing, or 0: they are numbered from 1")
            }
            Action::Signal if self.signal_dbm.is_none_or(|dbm| dbm > 0) => {
                Err("signal_dbm is missing, or above 0: the signal in dBm, as in -60")
            }
            Action::Signal if self.for_ms.is_some() => {
                Err("for_ms: a station stays where it went; give the way back a row of its own")
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
    fn a_fault_of_commands_is_about_those_with_its_keys() {
        let text = "[[fault]]\naction = \"crc\"\ncommand = 53\nfunction = 1\naddress = 0x800\ndirection = \"in\"\n";
        let fault = Script::parse(text).unwrap().fault.remove(0);
        let read = wire::sdio::Extended { function: 1, address: 0x800, count: 4, ..Default::default() };
        let about = |number, argument: wire::sdio::Extended| {
            fault.is_about(sdio::Command { number, argument: argument.emit() })
        };
        assert!(about(53, read) && !about(52, read));
        assert!(!about(53, wire::sdio::Extended { write: true, ..read }));
        assert!(!about(53, wire::sdio::Extended { function: 0, ..read }));
        assert!(!about(53, wire::sdio::Extended { address: 0x801, ..read }));
        assert_eq!(fault.effects(), Some((Effect::Command(CommandFault::Crc), None)));
        assert!(!fault.is_of_device());
    }

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
            ("[[fault]]\naction = \"signal\"\nsignal_dbm = -60\n", "station is missing"),
            ("[[fault]]\naction = \"signal\"\nstation = 1\n", "signal_dbm is missing"),
            ("[[fault]]\naction = \"signal\"\nstation = 1\nsignal_dbm = -60\nfor_ms = 5\n", "stays where it went"),
            ("[[fault]]\naction = \"explode\"\n", "unknown variant"),
            ("[[fault]]\naction = \"disconnect\"\nfrom_ms = 1000\nuntil_ms = 500\n", "until_ms is before from_ms"),
            ("[[ap]]\nname = \"x\"\naction = \"forget\"\n", "ap 1 (\"x\"): when?"),
            ("[network]\nchannel = 14\n", "network: channel"),
            ("[[fault]]\naction = \"stall\"\nendpoint = 1\nregister = 1\n", "endpoint = 0 only"),
            ("[[fault]]\naction = \"stall\"\nendpoint = 1\nwhen = 1\n", "unknown field"),
            ("[[fault]]\naction = \"crc\"\n", "command is missing"),
            ("[[fault]]\naction = \"crc\"\ncommand = 53\nendpoint = 2\n", "do not go together"),
            ("[[fault]]\naction = \"crc\"\ncommand = 64\n", "not 0 to 63"),
            ("[[fault]]\naction = \"refuse\"\ncommand = 5\nfunction = 0\n", "only 52 and 53"),
            ("[[fault]]\naction = \"refuse\"\ncommand = 52\naddress = 0x20000\n", "17 bits"),
            ("[[fault]]\naction = \"nak\"\ncommand = 52\n", "are of endpoints"),
            ("[[fault]]\naction = \"disconnect\"\nfunction = 1\n", "are of a command"),
            ("[[fault]]\naction = \"corrupt\"\ncommand = 53\n", "one of and, or, xor"),
        ] {
            let error = Script::parse(text).unwrap_err();
            assert!(error.contains(message), "{error}");
        }
    }
}
