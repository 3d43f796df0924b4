//! Messages of mac80211_hwsim's generic netlink family (Linux drivers/net/wireless/virtual/mac80211_hwsim.h), and as much
//! of generic netlink as they need. Host byte order, little endian here.

/// Bytes of a netlink and a generic netlink header.
const HEADER: usize = 16 + 4;
/// nlctrl: resolves family names.
const GENL_ID_CTRL: u16 = 16;
const CTRL_CMD_GETFAMILY: u8 = 3;
const CTRL_ATTR_FAMILY_ID: u16 = 1;
const CTRL_ATTR_FAMILY_NAME: u16 = 2;
const NLM_F_REQUEST: u16 = 1;
const NLM_F_ACK: u16 = 4;
const NLMSG_ERROR: u16 = 2;

/// Commands (HWSIM_CMD_*).
pub(super) const REGISTER: u8 = 1;
pub(super) const FRAME: u8 = 2;
pub(super) const TX_INFO_FRAME: u8 = 3;

/// Attributes (HWSIM_ATTR_*).
pub(super) mod attribute {
    pub(in super::super) const ADDR_RECEIVER: u16 = 1;
    pub(in super::super) const ADDR_TRANSMITTER: u16 = 2;
    pub(in super::super) const FRAME: u16 = 3;
    pub(in super::super) const FLAGS: u16 = 4;
    pub(in super::super) const RX_RATE: u16 = 5;
    pub(in super::super) const SIGNAL: u16 = 6;
    pub(in super::super) const TX_INFO: u16 = 7;
    pub(in super::super) const COOKIE: u16 = 8;
    pub(in super::super) const FREQ: u16 = 19;
    pub(in super::super) const TX_INFO_FLAGS: u16 = 21;
}

/// Flags of a frame (enum hwsim_tx_control_flags).
pub(super) const TX_CTL_NO_ACK: u32 = 1 << 1;
pub(super) const TX_STAT_ACK: u32 = 1 << 2;

/// Flags of a rate (enum hwsim_tx_rate_flags).
pub(super) mod rate_flag {
    pub(in super::super) const USE_RTS_CTS: u16 = 1 << 0;
    pub(in super::super) const USE_CTS_PROTECT: u16 = 1 << 1;
    pub(in super::super) const SHORT_PREAMBLE: u16 = 1 << 2;
    pub(in super::super) const MCS: u16 = 1 << 3;
    pub(in super::super) const GREEN_FIELD: u16 = 1 << 4;
    pub(in super::super) const WIDE: u16 = 1 << 5;
    pub(in super::super) const SHORT_GI: u16 = 1 << 7;
    pub(in super::super) const VHT_MCS: u16 = 1 << 8;
    pub(in super::super) const WIDE_80: u16 = 1 << 9;
}

/// A message that is being made.
#[derive(Debug)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    pub(crate) fn new(family: u16, command: u8, acknowledge: bool) -> Self {
        let flags = NLM_F_REQUEST | if acknowledge { NLM_F_ACK } else { 0 };
        let mut bytes = vec![0; 4];
        bytes.extend(family.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        bytes.extend([0; 8]);
        bytes.extend([command, 1, 0, 0]);
        Self(bytes)
    }

    /// Asks nlctrl for the number of a family.
    pub(crate) fn family(name: &str) -> Self {
        let mut value = name.as_bytes().to_vec();
        value.push(0);
        Self::new(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, false).with(CTRL_ATTR_FAMILY_NAME, &value)
    }

    pub(crate) fn with(mut self, attribute: u16, value: &[u8]) -> Self {
        let len = (4 + value.len()) as u16;
        self.0.extend(len.to_le_bytes());
        self.0.extend(attribute.to_le_bytes());
        self.0.extend_from_slice(value);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    pub(crate) fn finish(mut self) -> Vec<u8> {
        let len = self.0.len() as u32;
        if let Some(slot) = self.0.first_chunk_mut() {
            *slot = len.to_le_bytes();
        }
        self.0
    }
}

/// A message that came.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Incoming<'a> {
    pub(super) family: u16,
    pub(super) command: u8,
    body: &'a [u8],
}

/// The messages in a datagram.
pub(crate) struct Incomings<'a>(pub(crate) &'a [u8]);

impl<'a> Iterator for Incomings<'a> {
    type Item = Incoming<'a>;

    fn next(&mut self) -> Option<Incoming<'a>> {
        let len = u32::from_le_bytes(*self.0.first_chunk()?) as usize;
        let whole = self.0.get(..len)?;
        let header = whole.first_chunk::<HEADER>()?;
        self.0 = self.0.get(len.next_multiple_of(4)..).unwrap_or_default();
        let family = u16::from_le_bytes([header[4], header[5]]);
        let start = if family == NLMSG_ERROR { 16 } else { HEADER };
        Some(Incoming { family, command: header[16], body: whole.get(start..)? })
    }
}

impl<'a> Incoming<'a> {
    /// An acknowledgement (0) or an error (a negative error number).
    pub(crate) fn error(&self) -> Option<i32> {
        (self.family == NLMSG_ERROR).then(|| self.body.first_chunk().map_or(-22, |b| i32::from_le_bytes(*b)))
    }

    /// The number of the family that was asked for.
    pub(crate) fn family_id(&self) -> Option<u16> {
        let value = self.get(CTRL_ATTR_FAMILY_ID).filter(|_| self.family == GENL_ID_CTRL)?;
        value.first_chunk().map(|b| u16::from_le_bytes(*b))
    }

    pub(super) fn get(&self, wanted: u16) -> Option<&'a [u8]> {
        let mut rest = self.body;
        loop {
            let [l0, l1, k0, k1] = *rest.first_chunk::<4>()?;
            let (len, kind) = (usize::from(u16::from_le_bytes([l0, l1])), u16::from_le_bytes([k0, k1]) & 0x3fff);
            let value = rest.get(4..len)?;
            if kind == wanted {
                return Some(value);
            }
            rest = rest.get(len.next_multiple_of(4)..)?;
        }
    }

    pub(super) fn u32(&self, wanted: u16) -> Option<u32> {
        self.get(wanted)?.first_chunk().map(|b| u32::from_le_bytes(*b))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_are_read_back() {
        let bytes = Message::new(30, FRAME, false)
            .with(attribute::FRAME, &[1, 2, 3])
            .with(attribute::FREQ, &2437u32.to_le_bytes())
            .finish();
        let twice = [bytes.clone(), bytes].concat();
        let all: Vec<_> = Incomings(&twice).collect();
        assert_eq!(all.len(), 2);
        assert_eq!((all[1].family, all[1].command), (30, FRAME));
        assert_eq!(all[1].get(attribute::FRAME), Some(&[1u8, 2, 3][..]));
        assert_eq!((all[1].u32(attribute::FREQ), all[1].get(attribute::COOKIE)), (Some(2437), None));
    }

    proptest::proptest! {
        #[test]
        fn any_datagram_is_read_without_a_panic(bytes: Vec<u8>) {
            for message in Incomings(&bytes) {
                let _ = (message.error(), message.family_id(), message.u32(attribute::FREQ));
            }
        }
    }
}
