//! SETUP packets (USB 2.0, 9.3) and the names of the requests that matter here.

/// `bmRequestType` for GET_DESCRIPTOR of a device.
pub const STANDARD_IN: u8 = 0x80;

/// The eight bytes that begin a control transfer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
pub struct Setup {
    /// Direction (bit 7), type (bits 6:5: standard, class, vendor) and recipient.
    pub request_type: u8,
    /// Which request.
    pub request: u8,
    /// Its value.
    pub value: u16,
    /// Its index: mostly an interface or endpoint.
    pub index: u16,
    /// Bytes of the data stage asked for.
    pub length: u16,
}

impl Setup {
    /// From the bytes on the wire.
    pub const fn from_bytes(bytes: [u8; 8]) -> Self {
        Self {
            request_type: bytes[0],
            request: bytes[1],
            value: u16::from_le_bytes([bytes[2], bytes[3]]),
            index: u16::from_le_bytes([bytes[4], bytes[5]]),
            length: u16::from_le_bytes([bytes[6], bytes[7]]),
        }
    }

    /// The bytes on the wire.
    pub const fn to_bytes(self) -> [u8; 8] {
        let (value, index, length) = (self.value.to_le_bytes(), self.index.to_le_bytes(), self.length.to_le_bytes());
        [self.request_type, self.request, value[0], value[1], index[0], index[1], length[0], length[1]]
    }

    /// The data stage goes to the host.
    pub const fn is_in(self) -> bool {
        self.request_type & 0x80 != 0
    }

    /// `standard`, `class`, `vendor` or `reserved`.
    pub const fn kind(self) -> &'static str {
        match self.request_type >> 5 & 3 {
            0 => "standard",
            1 => "class",
            2 => "vendor",
            _ => "reserved",
        }
    }

    /// GET_DESCRIPTOR of this descriptor type (high byte of the value), with its index.
    pub const fn descriptor(self) -> Option<(u8, u8)> {
        match (self.request_type, self.request) {
            (STANDARD_IN, 6) => Some(((self.value >> 8) as u8, (self.value & 0xff) as u8)),
            _ => None,
        }
    }

    /// SET_ADDRESS, with the new address.
    pub const fn new_address(self) -> Option<u16> {
        match (self.request_type, self.request) {
            (0, 5) => Some(self.value),
            _ => None,
        }
    }

    /// The request by name, where the request type alone fixes its meaning. Class requests of communication devices
    /// (CDC 1.2, table 19; NCM 1.0, table 6-2) share numbers with those of other classes to interfaces.
    pub const fn name(self) -> Option<&'static str> {
        Some(match (self.request_type & 0x7f, self.request) {
            (0x00..=0x02, 0) => "GET_STATUS",
            (0x00..=0x02, 1) => "CLEAR_FEATURE",
            (0x00..=0x02, 3) => "SET_FEATURE",
            (0x00, 5) => "SET_ADDRESS",
            (0x00..=0x01, 6) => "GET_DESCRIPTOR",
            (0x00, 7) => "SET_DESCRIPTOR",
            (0x00, 8) => "GET_CONFIGURATION",
            (0x00, 9) => "SET_CONFIGURATION",
            (0x01, 10) => "GET_INTERFACE",
            (0x01, 11) => "SET_INTERFACE",
            (0x00, 0x30) => "SET_SEL",
            (0x00, 0x31) => "SET_ISOCH_DELAY",
            (0x20, 0 | 6) | (0x23, 0) => "hub request",
            (0x23, 1) => "CLEAR_PORT_FEATURE",
            (0x23, 3) => "SET_PORT_FEATURE",
            (0x21, 0) if !self.is_in() => "SEND_ENCAPSULATED_COMMAND",
            (0x21, 1) if self.is_in() && self.value == 0 => "GET_ENCAPSULATED_RESPONSE",
            (0x21, 1) if self.is_in() => "HID GET_REPORT",
            (0x21, 9) if !self.is_in() => "HID SET_REPORT",
            (0x21, 10) if !self.is_in() => "HID SET_IDLE",
            (0x21, 0x22) => "SET_CONTROL_LINE_STATE",
            (0x21, 0x43) => "SET_ETHERNET_PACKET_FILTER",
            (0x21, 0x80) => "GET_NTB_PARAMETERS",
            (0x21, 0x83) => "GET_NTB_FORMAT",
            (0x21, 0x84) => "SET_NTB_FORMAT",
            (0x21, 0x85) => "GET_NTB_INPUT_SIZE",
            (0x21, 0x86) => "SET_NTB_INPUT_SIZE",
            (0x21, 0x87) => "GET_MAX_DATAGRAM_SIZE",
            (0x21, 0x88) => "SET_MAX_DATAGRAM_SIZE",
            (0x21, 0xfe) => "GET_MAX_LUN",
            _ => return None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reads_and_writes_a_get_descriptor() {
        let bytes = [0x80, 6, 0, 1, 0, 0, 18, 0];
        let setup = Setup::from_bytes(bytes);
        assert_eq!((setup.descriptor(), setup.name(), setup.length), (Some((1, 0)), Some("GET_DESCRIPTOR"), 18));
        assert_eq!(setup.to_bytes(), bytes);
    }
}
