//! Packets through the port of Marvell's SD8686: frames among commands, answers and events (Linux
//! drivers/net/wireless/marvell/libertas/if_sdio.c).

use wire::sdio::libertas::{kind, register, Packet, PACKET, RX_DESCRIPTOR, TX_DESCRIPTOR};

use super::htc::Moved;

/// Bytes of a packet that is not whole yet, at most: its length has 16 bits, and what follows it fills a block.
const KEPT_MAX: usize = 0x1_0000 + 0x200;

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Port {
    /// The bytes of its address, as the host has read them.
    address: [Option<u8>; 3],
    /// The first half of the scratch register, as the host has read it.
    scratch: Option<u8>,
    firmware_runs: bool,
    /// It has, at some time of the log.
    has_run: bool,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

impl Port {
    /// The card starts over.
    pub(super) fn start_over(&mut self) {
        *self = Self { has_run: self.has_run, ..Self::default() };
    }

    /// Whether the log has the start of the firmware, from which on packets are known.
    pub(super) const fn is_followed(&self) -> bool {
        self.has_run
    }

    /// The host has read a register of function 1. From the scratch register it learns that the firmware runs (if_sdio.c,
    /// if_sdio_prog_firmware: bit 15 alone says nothing); later it has the length of the next packet there.
    pub(super) fn register(&mut self, address: u32, value: u8) {
        match address {
            register::PORT..=register::PORT_END => {
                if let Some(byte) = self.address.get_mut((address - register::PORT) as usize) {
                    *byte = Some(value);
                }
            }
            register::SCRATCH => self.scratch = Some(value),
            register::SCRATCH_HIGH => {
                let low = self.scratch.take();
                self.firmware_runs |= low.is_some_and(|low| u16::from_le_bytes([low, value]) & 0x7fff != 0);
                self.has_run |= self.firmware_runs;
            }
            _ => {}
        }
    }

    /// A transfer has failed: the driver does not continue its packet.
    pub(super) fn failed(&mut self) {
        self.outgoing.clear();
        self.incoming.clear();
    }

    fn is_at(&self, address: u32) -> bool {
        let [Some(low), Some(middle), Some(high)] = self.address else { return false };
        address == u32::from_le_bytes([low, middle, high, 0])
    }

    /// The host has written there. `None`: no packet has ended, or the firmware does not run yet.
    pub(super) fn written(&mut self, address: u32, data: &[u8]) -> Option<Moved> {
        (self.firmware_runs && self.is_at(address)).then(|| moved(&mut self.outgoing, data, TX_DESCRIPTOR))?
    }

    /// The host has read from there.
    pub(super) fn read(&mut self, address: u32, data: &[u8]) -> Option<Moved> {
        (self.firmware_runs && self.is_at(address)).then(|| moved(&mut self.incoming, data, RX_DESCRIPTOR))?
    }
}

/// Takes the next bytes of a way, on which a packet begins with a command and may go on in the next one.
fn moved(kept: &mut Vec<u8>, data: &[u8], descriptor: usize) -> Option<Moved> {
    kept.extend_from_slice(data.get(..KEPT_MAX).unwrap_or(data));
    let len = usize::from(u16::from_le_bytes(*kept.first_chunk()?));
    if len > kept.len() {
        return None;
    }
    let transfer = std::mem::take(kept);
    let packet = Packet::parse(&transfer).filter(|_| len >= PACKET)?;
    let is_frame = packet.kind == kind::DATA && packet.body.len() > descriptor;
    Some(Moved { messages: 1, packets: u64::from(is_frame) })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn running() -> Port {
        let mut port = Port::default();
        for (address, value) in [(0, 0x00), (1, 0x00), (2, 0x01), (0x34, 0), (0x35, 0x80)] {
            port.register(address, value);
        }
        assert_eq!(port.written(0x1_0000, &[8, 0, 0, 0, 1, 2, 3, 4]), None, "a block of the helper");
        assert!(!port.is_followed());
        for (address, value) in [(0x34, 0xdc), (0x35, 0xfe)] {
            port.register(address, value);
        }
        port
    }

    fn packet(kind: u16, body: usize) -> Vec<u8> {
        let mut bytes = Packet { kind, body: &vec![7; body] }.emit();
        bytes.resize(bytes.len().next_multiple_of(256), 0);
        bytes
    }

    #[test]
    fn packets_are_frames_and_nothing_else() {
        let mut port = running();
        assert!(port.is_followed());
        let frame = Some(Moved { messages: 1, packets: 1 });
        let other = Some(Moved { messages: 1, packets: 0 });
        assert_eq!(port.written(0x1_0000, &packet(kind::DATA, TX_DESCRIPTOR + 60)), frame);
        assert_eq!(port.written(0x1_0000, &packet(kind::COMMAND, 60)), other);
        assert_eq!(port.written(0x1_0000, &packet(kind::DATA, TX_DESCRIPTOR)), other, "a descriptor alone");
        assert_eq!(port.read(0x1_0000, &packet(kind::DATA, RX_DESCRIPTOR + 60)), frame);
        assert_eq!(port.read(0x1_0000, &packet(kind::EVENT, 4)), other);
        assert_eq!(port.read(0x1_0001, &packet(kind::DATA, 60)), None, "not the port");
        // In two commands, blocks and the rest.
        let whole = packet(kind::DATA, 1_400);
        assert_eq!(port.read(0x1_0000, &whole[..1_024]), None);
        assert_eq!(port.read(0x1_0000, &whole[1_024..]), frame);
        assert_eq!(port.read(0x1_0000, &whole[..1_024]), None);
        port.failed();
        assert_eq!(port.read(0x1_0000, &whole), frame);
        port.start_over();
        assert_eq!(port.read(0x1_0000, &whole), None);
        assert!(port.is_followed());
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(transfers: Vec<(u8, u8, Vec<u8>)>) {
            let mut port = running();
            for (what, value, data) in transfers {
                let _ = match what % 4 {
                    0 => port.written(0x1_0000, &data),
                    1 => port.read(0x1_0000, &data),
                    2 => { port.register(u32::from(what / 4), value); None }
                    _ => port.read(u32::from(value) << 9, &data),
                };
                assert!(port.outgoing.len() <= 2 * KEPT_MAX && port.incoming.len() <= 2 * KEPT_MAX);
            }
        }
    }
}
