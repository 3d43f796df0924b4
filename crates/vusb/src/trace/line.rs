//! What a line of a trace says.

use serde::Serialize;
use wire::ieee80211::{FrameControl, MacAddr};

use crate::state::{Reader, StateError, Writer};
use wire::usb::setup::Setup;

/// Bytes of a transfer that are shown where nothing knows what they mean.
const SHOWN: usize = 32;

/// What the contents of a transfer mean.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Detail {
    /// Address of a register, or the setup packet's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub register: Option<String>,
    /// Its name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// The function on PCI, where it is not the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub function: Option<usize>,
    /// What was written or read, as a number, or the first bytes as they come.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub means: Option<String>,
    /// Frames in it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub frames: Vec<FrameDetail>,
}

/// A frame between driver and device, and what its descriptor says.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FrameDetail {
    /// Its kind.
    pub frame: String,
    /// Bytes of it.
    pub bytes: usize,
    /// Address 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<String>,
    /// Sequence number.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sequence: Option<u16>,
    /// How it was, or is to be, modulated.
    pub rate: String,
    /// What is set in the descriptor.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub flags: Vec<String>,
}

impl FrameDetail {
    /// Describes a frame.
    pub fn of(frame: &[u8], rate: String, flags: Vec<String>) -> Self {
        let kind = frame.first_chunk().map(|bytes| FrameControl(u16::from_le_bytes(*bytes)).kind());
        let is_control = frame.first().is_some_and(|first| first & 0x0c == 0x04);
        let sequence =
            frame.get(22..).filter(|_| !is_control).and_then(<[u8]>::first_chunk).map(|b| u16::from_le_bytes(*b) >> 4);
        Self {
            frame: kind.map_or_else(|| "no frame".to_owned(), |kind| kind.name().to_owned()),
            bytes: frame.len(),
            to: MacAddr::read(frame, 4).map(|address| address.to_string()),
            sequence,
            rate,
            flags,
        }
    }
}

/// Knows what transfers of a device mean.
pub trait Vocabulary {
    /// A control transfer that was answered; `data` is its data stage. `refused`: with a STALL.
    fn control(&mut self, setup: Setup, data: &[u8], refused: bool) -> Detail;

    /// An OUT transfer.
    fn transfer_out(&mut self, endpoint: u8, data: &[u8]) -> Detail;

    /// An IN transfer.
    fn transfer_in(&mut self, endpoint: u8, data: &[u8]) -> Detail;

    /// What a register of a function on PCI is called.
    fn register(&self, _offset: u32) -> Option<String> {
        None
    }

    /// The device was plugged in.
    fn reset(&mut self) {}

    /// Saves what it remembers ([`crate::state::State::save`]); by default nothing.
    ///
    /// # Errors
    /// It cannot.
    fn save_state(&self, _to: &mut Writer) -> Result<(), StateError> {
        Ok(())
    }

    /// As [`crate::state::State::restore`].
    ///
    /// # Errors
    /// It is not its state.
    fn restore_state(&mut self, _from: &mut Reader<'_>) -> Result<(), StateError> {
        Ok(())
    }
}

/// Knows nothing: bytes.
#[derive(Clone, Copy, Debug, Default)]
pub struct Plain;

/// The first bytes.
pub fn hex(bytes: &[u8]) -> String {
    let mut text: String = bytes.iter().take(SHOWN).map(|byte| format!("{byte:02x}")).collect();
    if bytes.len() > SHOWN {
        text.push_str("...");
    }
    text
}

impl Vocabulary for Plain {
    fn control(&mut self, setup: Setup, data: &[u8], _refused: bool) -> Detail {
        let register = format!("{:#06x}", setup.value);
        let name = format!("{} request {:#04x}, index {:#06x}", setup.kind(), setup.request, setup.index);
        Detail { register: Some(register), name: Some(name), value: Some(hex(data)), ..Detail::default() }
    }

    fn transfer_out(&mut self, _endpoint: u8, data: &[u8]) -> Detail {
        Detail { value: Some(hex(data)), ..Detail::default() }
    }

    fn transfer_in(&mut self, _endpoint: u8, data: &[u8]) -> Detail {
        Detail { value: Some(hex(data)), ..Detail::default() }
    }
}
