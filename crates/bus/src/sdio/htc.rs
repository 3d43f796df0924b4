//! Packets in the mailbox of an Atheros chip: messages of HTC on the endpoints of data (Linux
//! drivers/net/wireless/ath/ath6kl/htc_mbox.c, hif.h).

use wire::sdio::htc::{Header, ToHost, CONTROL, HEADER, SEND_BUNDLE, TRAILER};

/// The mailbox, and the one for longer transfers.
const MAILBOXES: [std::ops::Range<u32>; 2] = [0x800..0x1000, 0x4000..0x7000];
/// Messages fill whole blocks (HIF_MBOX_BLOCK_SIZE).
const BLOCK: usize = 128;
/// Bytes that are kept of what was not whole yet: twice the longer mailbox.
const KEPT_MAX: usize = 0x6000;
/// Services of data, best effort to voice (htc.h).
const DATA_SERVICES: std::ops::RangeInclusive<u16> = 0x101..=0x104;
/// BMI's last command: the firmware starts, and messages follow.
const BMI_DONE: [u8; 4] = [1, 0, 0, 0];

/// What one transfer of the mailbox has completed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Moved {
    /// Messages, those of data among them.
    pub messages: u64,
    /// Packets.
    pub packets: u64,
}

/// See the module.
#[derive(Clone, Debug, Default)]
pub(super) struct Mailbox {
    firmware_runs: bool,
    /// It has, at some time of the log.
    has_run: bool,
    /// Endpoints of data, a bit each.
    data: u16,
    outgoing: Vec<u8>,
    incoming: Vec<u8>,
}

/// Where a mailbox begins, if the address is in one.
pub(super) fn mailbox_of(address: u32) -> Option<u32> {
    MAILBOXES.iter().find(|mailbox| mailbox.contains(&address)).map(|mailbox| mailbox.start)
}

impl Mailbox {
    /// The card starts over.
    pub(super) fn start_over(&mut self) {
        *self = Self { has_run: self.has_run, ..Self::default() };
    }

    /// Whether the log has the start of the firmware, from which on messages are known.
    pub(super) fn is_followed(&self) -> bool {
        self.has_run
    }

    /// The host has written there. `None`: no transfer has ended, or the firmware does not run yet.
    pub(super) fn written(&mut self, address: u32, data: &[u8]) -> Option<Moved> {
        mailbox_of(address)?;
        if self.outgoing.len() + data.len() > KEPT_MAX {
            self.outgoing.clear();
        }
        self.outgoing.extend_from_slice(data.get(..KEPT_MAX).unwrap_or(data));
        let end = address.saturating_add(u32::try_from(data.len()).unwrap_or(u32::MAX));
        if !MAILBOXES.iter().any(|mailbox| mailbox.end == end) {
            return None;
        }
        let transfer = std::mem::take(&mut self.outgoing);
        if !self.firmware_runs {
            self.firmware_runs = transfer == BMI_DONE;
            self.has_run |= self.firmware_runs;
            return None;
        }
        let mut moved = Moved::default();
        let mut rest = &transfer[..];
        while let Some(header) = Header::parse(rest) {
            let end = HEADER + usize::from(header.payload_len);
            if end > rest.len() {
                break;
            }
            moved.messages += u64::from(header.payload_len > 0);
            moved.packets += u64::from(self.is_data(header.endpoint) && header.payload_len > 0);
            let padding = if header.flags & SEND_BUNDLE != 0 { usize::from(header.control[0]) } else { 0 };
            rest = rest.get(end.next_multiple_of(BLOCK) + padding..).unwrap_or_default();
        }
        Some(moved)
    }

    /// The host has read from there.
    pub(super) fn read(&mut self, address: u32, data: &[u8]) -> Option<Moved> {
        mailbox_of(address)?;
        if !self.firmware_runs {
            return None;
        }
        if self.incoming.len() + data.len() > KEPT_MAX {
            self.incoming.clear();
        }
        self.incoming.extend_from_slice(data.get(..KEPT_MAX).unwrap_or(data));
        let mut moved = Moved::default();
        let transfer = std::mem::take(&mut self.incoming);
        let mut rest = &transfer[..];
        while let Some(header) = Header::parse(rest) {
            let end = HEADER + usize::from(header.payload_len);
            let Some(payload) = rest.get(HEADER..end) else { break };
            let trailer = if header.flags & TRAILER != 0 { usize::from(header.control[0]) } else { 0 };
            if header.endpoint == CONTROL {
                self.control(payload);
            }
            moved.messages += u64::from(!payload.is_empty());
            moved.packets += u64::from(self.is_data(header.endpoint) && payload.len() > trailer);
            rest = rest.get(end.next_multiple_of(BLOCK)..).unwrap_or_default();
        }
        self.incoming = rest.to_vec();
        Some(moved)
    }

    fn is_data(&self, endpoint: u8) -> bool {
        1u16.checked_shl(u32::from(endpoint)).is_some_and(|bit| self.data & bit != 0)
    }

    fn control(&mut self, payload: &[u8]) {
        if let Some(ToHost::Connected { service, endpoint, .. }) = ToHost::parse(payload) {
            if DATA_SERVICES.contains(&service) {
                self.data |= 1u16.checked_shl(u32::from(endpoint)).unwrap_or(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(endpoint: u8, payload: &[u8]) -> Vec<u8> {
        let header = Header { endpoint, flags: 0, payload_len: payload.len() as u16, control: [0; 2] };
        let mut bytes = [&header.emit()[..], payload].concat();
        bytes.resize(bytes.len().next_multiple_of(BLOCK), 0);
        bytes
    }

    fn write(mailbox: &mut Mailbox, bytes: &[u8]) -> Option<Moved> {
        mailbox.written(0x1000 - bytes.len() as u32, bytes)
    }

    fn running() -> Mailbox {
        let mut mailbox = Mailbox::default();
        assert_eq!(write(&mut mailbox, &[14, 0, 0, 0, 1, 0, 0, 0, 9]), None, "BMI");
        assert_eq!(write(&mut mailbox, &BMI_DONE), None);
        let connected = ToHost::Connected { service: 0x101, endpoint: 2, message_max: 2048 }.emit();
        let control = mailbox.read(0x800, &message(CONTROL, &connected));
        assert_eq!(control, Some(Moved { messages: 1, packets: 0 }));
        mailbox
    }

    #[test]
    fn packets_are_messages_of_the_endpoints_of_data() {
        let mut mailbox = running();
        let three = [message(2, &[7; 300]), message(1, &[8; 10]), message(2, &[9; 4])].concat();
        assert_eq!(write(&mut mailbox, &three), Some(Moved { messages: 3, packets: 2 }));
        // A message in two commands: blocks, then the rest. It ends with the last byte of the mailbox.
        let whole = message(2, &[7; 500]);
        assert_eq!(mailbox.written(0x1000 - whole.len() as u32, &whole[..256]), None);
        assert_eq!(write(&mut mailbox, &whole[256..]), Some(Moved { messages: 1, packets: 1 }));
        // A read of two messages, and one in two reads.
        let two = [message(2, &[7; 60]), message(2, &[7; 60])].concat();
        assert_eq!(mailbox.read(0x800, &two), Some(Moved { messages: 2, packets: 2 }));
        assert_eq!(mailbox.read(0x800, &whole[..256]), Some(Moved::default()));
        assert_eq!(mailbox.read(0x800, &whole[256..]), Some(Moved { messages: 1, packets: 1 }));
        assert_eq!(mailbox.read(0x400, &two), None, "a register");
    }

    #[test]
    fn a_report_of_credits_is_no_packet() {
        let mut mailbox = running();
        let header = Header { endpoint: 2, flags: TRAILER, payload_len: 4, control: [4, 0] };
        assert_eq!(
            mailbox.read(0x800, &[&header.emit()[..], &[1, 2, 2, 3]].concat()),
            Some(Moved { messages: 1, packets: 0 })
        );
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_survived(transfers: Vec<(bool, u32, Vec<u8>)>) {
            let mut mailbox = running();
            for (is_write, address, data) in transfers {
                let address = address % 0x8000;
                let _ = if is_write { mailbox.written(address, &data) } else { mailbox.read(address, &data) };
                assert!(mailbox.outgoing.len() <= KEPT_MAX && mailbox.incoming.len() <= KEPT_MAX);
            }
        }
    }
}
