//! Who the card is: what the host has read of its information structure.

use std::collections::BTreeMap;

use wire::sdio::registers::CIS_POINTER;
use wire::sdio::tuple::{Tuples, MANFID};

/// Bytes of the information structure that are looked at.
const CIS_MAX: u32 = 1_024;
/// Register addresses have 17 bits.
const ADDRESSES: u32 = 0x2_0000;

/// What the messages of a card's function are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Protocol {
    /// Atheros' mailboxes and HTC.
    Htc,
    /// Marvell's port: one packet in each transfer.
    Port,
}

impl Protocol {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Htc => "htc",
            Self::Port => "marvell-port",
        }
    }
}

/// Manufacturer and card (CISTPL_MANFID).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Identity {
    vendor: u16,
    device: u16,
}

impl Identity {
    pub(super) fn ids(self) -> String {
        format!("{:04x}:{:04x}", self.vendor, self.device)
    }

    /// As Linux names them (drivers/net/wireless/ath/ath6kl/sdio.c, marvell/libertas/if_sdio.c,
    /// realtek/rtw88/rtw8822bs.c).
    pub(super) const fn name(self) -> Option<&'static str> {
        match (self.vendor, self.device) {
            (0x0271, 0x0300 | 0x0301) => Some("Atheros AR6003"),
            (0x0271, 0x0400 | 0x0401 | 0x0402 | 0x0418 | 0x0419) => Some("Atheros AR6004"),
            (0x02df, 0x9103) => Some("Marvell SD8686"),
            (0x024c, 0xb822) => Some("Realtek RTL8822BS"),
            _ => None,
        }
    }

    pub(super) const fn protocol(self) -> Option<Protocol> {
        match (self.vendor, self.device) {
            (0x0271, 0x0300 | 0x0301 | 0x0400 | 0x0401 | 0x0402 | 0x0418 | 0x0419) => Some(Protocol::Htc),
            (0x02df, 0x9103) => Some(Protocol::Port),
            _ => None,
        }
    }
}

/// Registers of function 0, as they were seen.
#[derive(Clone, Debug, Default)]
pub(super) struct Registers(BTreeMap<u32, u8>);

impl Registers {
    pub(super) fn read(&mut self, address: u32, value: u8) {
        if address < ADDRESSES {
            self.0.insert(address, value);
        }
    }

    /// `None`: the host has not read it.
    pub(super) fn identity(&self) -> Option<Identity> {
        let byte = |address: u32| self.0.get(&address).copied();
        let low = [byte(CIS_POINTER)?, byte(CIS_POINTER + 1)?, byte(CIS_POINTER + 2).unwrap_or(0), 0];
        let start = u32::from_le_bytes(low);
        let chain: Vec<u8> = (0..CIS_MAX).map_while(|at| byte(start + at)).collect();
        let manufacturer = Tuples::new(&chain).find(|tuple| tuple.code == MANFID)?;
        let &[v0, v1, d0, d1] = manufacturer.body.first_chunk()?;
        Some(Identity { vendor: u16::from_le_bytes([v0, v1]), device: u16::from_le_bytes([d0, d1]) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_card_is_known_by_its_manufacturer_tuple_only() {
        let mut registers = Registers::default();
        for (at, value) in [(9, 0x00), (10, 0x10), (11, 0)] {
            registers.read(at, value);
        }
        assert_eq!(registers.identity(), None);
        for (at, value) in (0x1000..).zip([0x22, 2, 9, 9, MANFID, 4, 0x71, 0x02, 0x01]) {
            registers.read(at, value);
        }
        assert_eq!(registers.identity(), None, "its last byte was not read");
        registers.read(0x1009, 0x03);
        let identity = registers.identity().unwrap();
        assert_eq!((identity.ids().as_str(), identity.name()), ("0271:0301", Some("Atheros AR6003")));
        assert_eq!(identity.protocol(), Some(Protocol::Htc));
    }
}
