//! What no driver and no public document says about this chip: each assumption has a name and a value, and can be set.

use serde::Serialize;

use super::model::{Model, Revision};
use crate::chips::assume;

/// What is assumed of an AR6003 or AR6004 and its firmware: `--assume`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema), schemars(rename = "Ar6003Assumptions"))]
#[serde(rename_all = "kebab-case")]
pub struct Assumptions {
    /// Credits that the firmware gives the host: messages of up to `credit-bytes` that it takes before it has sent some.
    pub credits: u16,
    /// Bytes of a message that a credit stands for.
    pub credit_bytes: u16,
    /// Messages to the host that may be fetched at once, at most.
    pub bundle: u16,
    /// Received frames that wait to be fetched; what comes while they do is not acknowledged.
    pub rx_frames: u16,
    /// Time on each channel of a scan, ms: more than the usual 102.4 ms between beacons.
    pub scan_dwell_ms: u16,
    /// Time without data before the station sleeps, ms, where the driver has chosen to save power.
    pub idle_ms: u16,
    /// PS-Polls between two beacons at most: for more frames it wakes up.
    pub ps_polls: u16,
    /// Revision of the hardware, as the driver names it. Which card has which is not known.
    #[cfg_attr(feature = "schema", schemars(with = "String"))]
    pub revision: Revision,
    /// SDIO device ID of the card.
    pub device_id: u16,
}

impl Default for Assumptions {
    fn default() -> Self {
        Self::of(Model::default())
    }
}

/// What they are called, and what they can be.
pub const NAMES: &str =
    "credits=4..1024, credit-bytes=256..4096, bundle=1..8, rx-frames=1..4096, scan-dwell-ms=1..1000, idle-ms=1..10000, \
     ps-polls=0..255, revision=2.0|2.1.1 (AR6003) or 1.0|1.1|1.2|1.3|3.0 (AR6004), \
     device-id=0300|0301 (AR6003) or 0400|0401|0402|0418|0419 (AR6004)";

impl Assumptions {
    /// Those of one of the chips.
    pub const fn of(model: Model) -> Self {
        let (revision, device_id) = match model {
            Model::Ar6003 => (Revision::Ar6003V211, 0x0301),
            Model::Ar6004 => (Revision::Ar6004V13, 0x0401),
        };
        Self {
            credits: 20,
            credit_bytes: 1_664,
            bundle: 8,
            rx_frames: 64,
            scan_dwell_ms: 110,
            idle_ms: 100,
            ps_polls: 1,
            revision,
            device_id,
        }
    }

    /// Which chip it is.
    pub fn model(&self) -> Model {
        self.revision.model()
    }

    /// Sets one by `NAME=VALUE`, if this chip can be so.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are, or one of another chip.
    pub fn set_fitting(&mut self, assignment: &str) -> Result<(), String> {
        let mut changed = *self;
        changed.set(assignment)?;
        let model = self.model();
        if changed.model() != model || !model.device_ids().contains(&changed.device_id) {
            return Err(format!("an {} has no {assignment}; there are {NAMES}", model.name()));
        }
        *self = changed;
        Ok(())
    }

    /// Sets one by `NAME=VALUE`.
    ///
    /// # Errors
    /// An unknown name or value, with those that there are.
    pub fn set(&mut self, assignment: &str) -> Result<(), String> {
        assume(assignment, NAMES, |name, value| {
            let within = |least: u16, most: u16| value.parse().ok().filter(|number| (least..=most).contains(number));
            match name {
                "credits" => within(4, 1_024).map(|number| self.credits = number),
                "credit-bytes" => within(256, 4_096).map(|number| self.credit_bytes = number),
                "bundle" => within(1, 8).map(|number| self.bundle = number),
                "rx-frames" => within(1, 4_096).map(|number| self.rx_frames = number),
                "scan-dwell-ms" => within(1, 1_000).map(|number| self.scan_dwell_ms = number),
                "idle-ms" => within(1, 10_000).map(|number| self.idle_ms = number),
                "ps-polls" => within(0, 255).map(|number| self.ps_polls = number),
                "revision" => Revision::named(value).map(|revision| self.revision = revision),
                "device-id" => device_id(value).map(|id| self.device_id = id),
                _ => None,
            }
        })
    }
}

/// An SDIO device ID of any of the chips, in hexadecimal.
fn device_id(text: &str) -> Option<u16> {
    let id = u16::from_str_radix(text, 16).ok().filter(|_| text.len() == 4)?;
    [Model::Ar6003, Model::Ar6004].iter().any(|model| model.device_ids().contains(&id)).then_some(id)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn are_set_by_name() {
        let mut assumed = Assumptions::default();
        for assignment in [
            "credits=8",
            "credit-bytes=512",
            "bundle=1",
            "rx-frames=16",
            "scan-dwell-ms=30",
            "idle-ms=20",
            "ps-polls=0",
        ] {
            assumed.set(assignment).unwrap();
        }
        let expected = Assumptions {
            credits: 8,
            credit_bytes: 512,
            bundle: 1,
            rx_frames: 16,
            scan_dwell_ms: 30,
            idle_ms: 20,
            ps_polls: 0,
            ..Assumptions::default()
        };
        assert_eq!(assumed, expected);
        for wrong in ["", "credits", "credits=3", "bundle=9", "rts-table=all"] {
            assert!(assumed.set(wrong).unwrap_err().contains("bundle=1..8"), "{wrong}");
        }
        let fields = serde_json::to_value(expected).unwrap();
        for name in fields.as_object().unwrap().keys() {
            assert!(NAMES.contains(&format!("{name}=")), "{name}");
        }
    }

    #[test]
    fn identities_are_those_of_the_chip() {
        let mut assumed = Assumptions::of(Model::Ar6004);
        for assignment in ["revision=1.0", "device-id=0419", "bundle=2"] {
            assumed.set_fitting(assignment).unwrap();
        }
        assert_eq!((assumed.revision, assumed.device_id, assumed.bundle), (Revision::Ar6004V10, 0x0419, 2));
        let before = assumed;
        for other in ["revision=2.1.1", "device-id=0301"] {
            let expected = format!("an AR6004 has no {other}; there are ");
            assert!(assumed.set_fitting(other).unwrap_err().starts_with(&expected), "{other}");
            assert_eq!(assumed, before);
        }
        for wrong in ["device-id=0403", "device-id=400", "revision=1.4"] {
            let error = assumed.set_fitting(wrong).unwrap_err();
            assert!(error.contains(wrong) && !error.contains("has no"), "{error}");
            assert_eq!(assumed, before);
        }
    }
}
