//! HTC, the messages between a host and an Atheros chip's endpoints (Linux drivers/net/wireless/ath/ath6kl/htc.h). Little
//! endian.

use super::{u16_at, u32_at};

/// Bytes of a message's header.
pub const HEADER: usize = 6;
/// Endpoints, 0 to 8.
pub const ENDPOINTS: u8 = 9;
/// The endpoint of HTC's own messages.
pub const CONTROL: u8 = 0;

/// `flags` towards the chip: it is to report credits (HTC_FLAGS_NEED_CREDIT_UPDATE).
pub const NEED_CREDIT_UPDATE: u8 = 0x01;
/// `flags` towards the chip: the message is padded as `control[0]` says, for the next of its bundle (HTC_FLAGS_SEND_BUNDLE).
pub const SEND_BUNDLE: u8 = 0x02;
/// `flags` towards the host: `control[0]` bytes of the payload are a trailer (HTC_FLG_RX_TRAILER).
pub const TRAILER: u8 = 0x02;
/// Where `flags` towards the host count the messages of the same length that follow (HTC_FLG_RX_BNDL_CNT).
pub const BUNDLE_SHIFT: u8 = 4;

/// A record of a trailer: credits (HTC_RECORD_CREDITS).
pub const RECORD_CREDITS: u8 = 1;

/// The header of a message (`struct htc_frame_hdr`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Header {
    /// Endpoint.
    pub endpoint: u8,
    /// See the constants.
    pub flags: u8,
    /// Bytes behind the header, a trailer included.
    pub payload_len: u16,
    /// By flags.
    pub control: [u8; 2],
}

impl Header {
    /// From the start of a message; `None`: it is too short.
    pub fn parse(message: &[u8]) -> Option<Self> {
        let &[endpoint, flags, low, high, first, second] = message.first_chunk::<HEADER>()?;
        Some(Self { endpoint, flags, payload_len: u16::from_le_bytes([low, high]), control: [first, second] })
    }

    /// The bytes.
    pub const fn emit(&self) -> [u8; HEADER] {
        let [low, high] = self.payload_len.to_le_bytes();
        [self.endpoint, self.flags, low, high, self.control[0], self.control[1]]
    }
}

/// A message of endpoint 0 from the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FromHost {
    /// HTC_MSG_CONN_SVC_ID: it wants an endpoint for this service.
    Connect {
        /// WMI control is 0x100, its data 0x101 (best effort) to 0x104 (voice).
        service: u16,
    },
    /// HTC_MSG_SETUP_COMPLETE_ID and HTC_MSG_SETUP_COMPLETE_EX_ID.
    SetUp {
        /// Messages that the host takes at once; 1: bundles are off.
        bundle: u8,
    },
    /// Another one.
    Unknown(u16),
}

impl FromHost {
    /// From a payload; `None`: it is too short.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        Some(match u16_at(payload, 0)? {
            2 => Self::Connect { service: u16_at(payload, 2)? },
            4 => Self::SetUp { bundle: 1 },
            5 => {
                let bundles = u32_at(payload, 2)? & 1 == 1;
                Self::SetUp { bundle: if bundles { payload.get(6).copied()?.max(1) } else { 1 } }
            }
            other => Self::Unknown(other),
        })
    }

    /// The payload.
    pub fn emit(&self) -> Vec<u8> {
        match *self {
            Self::Connect { service } => [2u16, service, 0, 0].iter().flat_map(|half| half.to_le_bytes()).collect(),
            Self::SetUp { bundle } => {
                let flags = u8::from(bundle > 1);
                vec![5, 0, flags, 0, 0, 0, bundle, 0, 0, 0]
            }
            Self::Unknown(id) => id.to_le_bytes().to_vec(),
        }
    }
}

/// A message of endpoint 0 to the host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ToHost {
    /// `struct htc_ready_ext_msg`: the firmware is up.
    Ready {
        /// Credits that the host may use at once.
        credits: u16,
        /// Bytes that a credit stands for.
        credit_bytes: u16,
        /// Messages of a bundle at most.
        bundle: u8,
    },
    /// `struct htc_conn_service_resp`, granted.
    Connected {
        /// The service.
        service: u16,
        /// Its endpoint.
        endpoint: u8,
        /// Its longest message.
        message_max: u16,
    },
    /// The same, refused: HTC_SERVICE_NOT_FOUND.
    NotFound {
        /// The service.
        service: u16,
    },
}

impl ToHost {
    /// From a payload; `None`: not one of these.
    pub fn parse(payload: &[u8]) -> Option<Self> {
        let byte = |at: usize| payload.get(at).copied();
        Some(match (u16_at(payload, 0)?, u16_at(payload, 2)?) {
            (1, credits) => Self::Ready { credits, credit_bytes: u16_at(payload, 4)?, bundle: byte(9).unwrap_or(0) },
            (3, service) => match byte(4)? {
                0 => Self::Connected { service, endpoint: byte(5)?, message_max: u16_at(payload, 6)? },
                1 => Self::NotFound { service },
                _ => return None,
            },
            _ => return None,
        })
    }

    /// The payload.
    pub fn emit(&self) -> Vec<u8> {
        match *self {
            Self::Ready { credits, credit_bytes, bundle } => {
                let ([c0, c1], [b0, b1]) = (credits.to_le_bytes(), credit_bytes.to_le_bytes());
                // HTC 2.1, which has bundles.
                vec![1, 0, c0, c1, b0, b1, ENDPOINTS, 0, 1, bundle]
            }
            Self::Connected { service, endpoint, message_max } => {
                let ([s0, s1], [m0, m1]) = (service.to_le_bytes(), message_max.to_le_bytes());
                vec![3, 0, s0, s1, 0, endpoint, m0, m1, 0, 0]
            }
            Self::NotFound { service } => {
                let [s0, s1] = service.to_le_bytes();
                vec![3, 0, s0, s1, 1, 0, 0, 0, 0, 0]
            }
        }
    }
}

/// A trailer with one record: for each endpoint the credits that it gives back.
pub fn credits(report: &[(u8, u8)]) -> Vec<u8> {
    let mut trailer = vec![RECORD_CREDITS, 2 * report.len() as u8];
    trailer.extend(report.iter().flat_map(|&(endpoint, credits)| [endpoint, credits]));
    trailer
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn messages_as_the_driver_has_them() {
        assert_eq!(FromHost::Connect { service: 0x100 }.emit(), [2, 0, 0, 1, 0, 0, 0, 0]);
        assert_eq!(FromHost::parse(&[4, 0]), Some(FromHost::SetUp { bundle: 1 }));
        let ready = ToHost::Ready { credits: 20, credit_bytes: 1664, bundle: 8 };
        assert_eq!(ready.emit(), [1, 0, 20, 0, 0x80, 6, 9, 0, 1, 8]);
        let connected = ToHost::Connected { service: 0x101, endpoint: 2, message_max: 2048 };
        for message in [ready, connected, ToHost::NotFound { service: 0x105 }] {
            assert_eq!(ToHost::parse(&message.emit()), Some(message));
        }
        assert_eq!(credits(&[(1, 2), (2, 7)]), [1, 4, 1, 2, 2, 7]);
    }

    proptest! {
        #[test]
        fn headers_come_back(bytes: [u8; HEADER]) {
            prop_assert_eq!(Header::parse(&bytes).map(|header| header.emit()), Some(bytes));
        }

        #[test]
        fn any_payload_is_read(payload: Vec<u8>) {
            let _ = ToHost::parse(&payload);
            if let Some(message) = FromHost::parse(&payload) {
                prop_assert_eq!(FromHost::parse(&message.emit()), Some(message));
            }
        }
    }
}
