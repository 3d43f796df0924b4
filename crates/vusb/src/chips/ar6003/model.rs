//! Which chip of the family it is: what it says to BMI, and where its memory has what the host reads there.

use serde::{Serialize, Serializer};

/// AR6003 or AR6004. Both have the same mailboxes, messages and commands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Model {
    /// AR6003.
    #[default]
    Ar6003,
    /// AR6004.
    Ar6004,
}

/// A revision of the hardware, as the driver names it (Linux ath6kl/init.c, hw_list).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Revision {
    /// AR6003 2.0.
    Ar6003V20,
    /// AR6003 2.1.1.
    Ar6003V211,
    /// AR6004 1.0.
    Ar6004V10,
    /// AR6004 1.1.
    Ar6004V11,
    /// AR6004 1.2.
    Ar6004V12,
    /// AR6004 1.3.
    Ar6004V13,
    /// AR6004 3.0.
    Ar6004V30,
}

/// What the driver knows of a revision.
struct RevisionRow {
    revision: Revision,
    name: &'static str,
    model: Model,
    /// What BMI says of it (core.h, AR600x_HW_x_VERSION).
    version: u32,
}

const fn row(revision: Revision, name: &'static str, model: Model, version: u32) -> RevisionRow {
    RevisionRow { revision, name, model, version }
}

const REVISIONS: [RevisionRow; 7] = [
    row(Revision::Ar6003V20, "2.0", Model::Ar6003, 0x3000_0384),
    row(Revision::Ar6003V211, "2.1.1", Model::Ar6003, 0x3000_0582),
    row(Revision::Ar6004V10, "1.0", Model::Ar6004, 0x3000_0623),
    row(Revision::Ar6004V11, "1.1", Model::Ar6004, 0x3000_0001),
    row(Revision::Ar6004V12, "1.2", Model::Ar6004, 0x3000_07e8),
    row(Revision::Ar6004V13, "1.3", Model::Ar6004, 0x31c8_088a),
    row(Revision::Ar6004V30, "3.0", Model::Ar6004, 0x31c8_09f8),
];

impl Revision {
    fn row(self) -> Option<&'static RevisionRow> {
        REVISIONS.iter().find(|row| row.revision == self)
    }

    /// By its name.
    pub(super) fn named(name: &str) -> Option<Self> {
        REVISIONS.iter().find(|row| row.name == name).map(|row| row.revision)
    }

    /// Its name.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |row| row.name)
    }

    /// Which chip has it.
    pub(super) fn model(self) -> Model {
        self.row().map_or_else(Model::default, |row| row.model)
    }

    /// What BMI says of it.
    pub(super) fn version(self) -> u32 {
        self.row().map_or(0, |row| row.version)
    }
}

impl Serialize for Revision {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.name())
    }
}

impl Model {
    /// What it is called.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Ar6003 => "AR6003",
            Self::Ar6004 => "AR6004",
        }
    }

    /// SDIO device IDs of its cards; the vendor's is 0x0271 (sdio.c, ath6kl_sdio_devices;
    /// include/linux/mmc/sdio_ids.h).
    pub(super) const fn device_ids(self) -> &'static [u16] {
        match self {
            Self::Ar6003 => &[0x0300, 0x0301],
            Self::Ar6004 => &[0x0400, 0x0401, 0x0402, 0x0418, 0x0419],
        }
    }

    /// What BMI says of its kind (bmi.h, TARGET_TYPE_AR600x).
    pub(super) const fn target_type(self) -> u32 {
        match self {
            Self::Ar6003 => 3,
            Self::Ar6004 => 5,
        }
    }

    /// Where its memory has what is meant for the host.
    pub(super) const fn addresses(self) -> Addresses {
        match self {
            Self::Ar6003 => Addresses {
                host_interest: 0x0054_0600,
                board_data: Some(0x0054_3000),
                app_start: Some(0x0094_4c00),
                app_area: 0x0054_1000,
                dump: 0x0055_0000,
            },
            Self::Ar6004 => Addresses {
                host_interest: 0x0040_0800,
                board_data: None,
                app_start: None,
                app_area: 0x0040_1000,
                dump: 0x0045_0000,
            },
        }
    }
}

/// Addresses in the memory of a chip.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Addresses {
    /// The host interest area (target.h, ATH6KL_AR600x_HI_START_ADDR).
    pub(super) host_interest: u32,
    /// Where the driver puts its board data, when the chip says it: else the driver says it (init.c,
    /// ath6kl_upload_board_file and board_addr of hw_list). The value is free.
    pub(super) board_data: Option<u32>,
    /// Where the firmware begins, which the driver reads when there is one to set (init.c, ath6kl_upload_otp and
    /// ath6kl_upload_firmware; the value is app_start_override_addr of the AR6003 2.0).
    pub(super) app_start: Option<u32>,
    /// Application area, which the firmware has when it runs. The value is free.
    pub(super) app_area: u32,
    /// The register dump of a firmware that has died. The value is free.
    pub(super) dump: u32,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_revision_has_a_name_and_a_version_of_its_own() {
        for known in &REVISIONS {
            assert_eq!(Revision::named(known.name), Some(known.revision));
            let same = REVISIONS.iter().filter(|other| other.version == known.version || other.name == known.name);
            assert_eq!(same.count(), 1, "{}", known.name);
            assert_eq!(serde_json::to_value(known.revision).unwrap(), known.name);
        }
    }
}
