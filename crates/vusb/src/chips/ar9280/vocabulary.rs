//! What registers are called, for traces.

use wire::usb::setup::Setup;

use crate::trace::{Detail, Names, Plain, Vocabulary};

const NAMES: &str = include_str!("register_names.txt");

/// Names of registers.
pub struct RegisterNames(Names);

impl Default for RegisterNames {
    fn default() -> Self {
        Self(Names::parse(NAMES))
    }
}

impl Vocabulary for RegisterNames {
    fn control(&mut self, setup: Setup, data: &[u8], refused: bool) -> Detail {
        Plain.control(setup, data, refused)
    }

    fn transfer_out(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        Plain.transfer_out(endpoint, data)
    }

    fn transfer_in(&mut self, endpoint: u8, data: &[u8]) -> Detail {
        Plain.transfer_in(endpoint, data)
    }

    /// `ISR`, or `Q_TXDP+0x4` for what is inside of a table.
    fn register(&self, offset: u32) -> Option<String> {
        self.0.with_offset(offset)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_have_names() {
        let names = RegisterNames::default();
        let name = |offset| names.register(offset);
        assert_eq!(name(0x80).as_deref(), Some("ISR"));
        assert_eq!(name(0x804).as_deref(), Some("Q_TXDP+0x4"));
        assert_eq!(name(0x8820).as_deref(), Some("KEYTABLE+0x20"));
        assert_eq!((name(0x4), name(0xfffc)), (None, None));
        Names::check(NAMES);
    }
}
