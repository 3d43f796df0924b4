//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use crate::chips::assume;
use crate::chips::station_keys::EapolRule;

/// What is assumed of an SD8686 and its firmware: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Sd8686Assumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// Frames of the host that the chip takes before it has sent some; the next one it says to have taken when there is room.
    pub tx_frames: u16,
    /// Received frames that wait to be fetched; what comes while they do is not acknowledged.
    pub rx_frames: u16,
    /// Bytes of firmware that it asks for at once.
    pub download_bytes: u16,
    /// Frames of EAPOL are encrypted when there is a key, like all others; else when the last one of the access point was.
    #[serde(default)] // older documents lack it
    pub eapol_by_key: Option<bool>,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self { tx_frames: 8, rx_frames: 64, download_bytes: 512, eapol_by_key: Some(false) }
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str = "tx-frames=1..1024, rx-frames=1..4096, download-bytes=16..2048, eapol-by-key=0|1";

impl Assumptions {
    /// When frames of EAPOL are encrypted.
    pub(super) const fn eapol(self) -> EapolRule {
        match self.eapol_by_key {
            Some(true) => EapolRule::ByKey,
            Some(false) | None => EapolRule::AsReceived,
        }
    }

    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| {
            let within = |least: u16, most: u16| value.parse().ok().filter(|number| (least..=most).contains(number));
            match name {
                "tx-frames" => within(1, 1_024).map(|number| self.tx_frames = number),
                "rx-frames" => within(1, 4_096).map(|number| self.rx_frames = number),
                // The driver takes an odd number for an error (if_sdio.c, if_sdio_prog_real).
                "download-bytes" => {
                    within(16, 2_048).filter(|number| number % 2 == 0).map(|number| self.download_bytes = number)
                }
                "eapol-by-key" => {
                    let by_key = ["0", "1"].iter().position(|known| *known == value).map(|at| at == 1);
                    by_key.map(|by_key| self.eapol_by_key = Some(by_key))
                }
                _ => None,
            }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_set_by_name() {
        let mut assumed = Assumptions::default();
        for assignment in ["tx-frames=1", "rx-frames=16", "download-bytes=64", "eapol-by-key=1"] {
            assumed.set(assignment).unwrap();
        }
        assert_eq!(assumed, Assumptions { tx_frames: 1, rx_frames: 16, download_bytes: 64, eapol_by_key: Some(true) });
        for wrong in ["", "tx-frames", "tx-frames=0", "download-bytes=65", "eapol-by-key=2", "credits=8"] {
            assert!(assumed.set(wrong).unwrap_err().contains("rx-frames=1..4096"), "{wrong}");
        }
        let fields = serde_json::to_value(assumed).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
    }
}
