//! The device's endpoints as the host has configured them.

use wire::usb::descriptors::{configuration, Part};
use wire::usb::TransferType;

use crate::device::Identity;

/// An endpoint of the active configuration.
#[derive(Clone, Copy, Debug, serde::Serialize, serde::Deserialize)]
pub struct Endpoint {
    /// What it transfers.
    pub transfer: TransferType,
    /// Bytes of its largest packet.
    pub max_packet: u16,
    pub(super) halted: bool,
}

/// All endpoints, and the state of the standard requests.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Endpoints {
    /// By number; OUT, then IN.
    table: [[Option<Endpoint>; 2]; 16],
    pub(super) configured: u8,
    /// Alternate settings of interfaces.
    pub(super) alternates: [u8; 32],
    /// IN endpoints with a data in flight that are void.
    cleared: Vec<u8>,
}

impl Endpoints {
    /// Every endpoint of every alternate setting can be used: what the host has not selected it does not use.
    pub(super) fn new(identity: &Identity) -> Self {
        let control = Some(Endpoint {
            transfer: TransferType::Control,
            max_packet: u16::from(identity.device[7]),
            halted: false,
        });
        let mut table = [[None; 2]; 16];
        table[0] = [control; 2];
        for part in configuration(&identity.configuration).into_iter().flatten() {
            if let Part::Endpoint { address, transfer, max_packet, .. } = part {
                let endpoint = Endpoint { transfer, max_packet: max_packet & 0x07ff, halted: false };
                let both = table.get_mut(usize::from(address.number()));
                if let Some(slot) = both.and_then(|both| both.get_mut(usize::from(address.is_in()))) {
                    *slot = Some(endpoint);
                }
            }
        }
        Self { table, configured: 0, alternates: [0; 32], cleared: Vec::new() }
    }

    fn slot(&mut self, number: u8, is_in: bool) -> Option<&mut Endpoint> {
        self.table.get_mut(usize::from(number))?.get_mut(usize::from(is_in))?.as_mut()
    }

    pub(super) fn find(&self, number: u8, is_in: bool) -> Option<Endpoint> {
        *self.table.get(usize::from(number))?.get(usize::from(is_in))?
    }

    pub(super) fn is_halted(&self, number: u8, is_in: bool) -> bool {
        self.find(number, is_in).is_some_and(|endpoint| endpoint.halted)
    }

    pub(super) fn halt(&mut self, number: u8, is_in: bool) {
        if let Some(endpoint) = self.slot(number, is_in) {
            endpoint.halted = true;
        }
    }

    /// CLEAR_FEATURE(ENDPOINT_HALT); `false`: no such endpoint.
    pub(super) fn clear_halt(&mut self, number: u8, is_in: bool) -> bool {
        let Some(endpoint) = self.slot(number, is_in) else { return false };
        endpoint.halted = false;
        if is_in {
            self.cleared.push(number);
        }
        true
    }

    /// SET_CONFIGURATION and SET_INTERFACE clear the halt of every endpoint (USB 2.0, 9.1.1.5).
    pub(super) fn clear_all(&mut self) {
        for number in 1..16 {
            self.clear_halt(number, false);
            self.clear_halt(number, true);
        }
    }

    pub(super) fn take_cleared(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.cleared)
    }
}
