//! TDLS frames: action frames that two stations of an access point send each other as data (IEEE Std 802.11-2020, 9.6.12, 11.20).

use super::elements::u16_at;
use super::{ReasonCode, StatusCode};

/// A TDLS frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Tdls {
    /// 0: a direct link is asked for.
    SetupRequest,
    /// 1: the answer.
    SetupResponse(StatusCode),
    /// 2: the link is set up, or not.
    SetupConfirm(StatusCode),
    /// 3: it ends.
    Teardown(ReasonCode),
    /// Anything else: power save, channel switch, discovery; and the above where they are cut.
    Other(Option<u8>),
}

impl Tdls {
    /// EtherType of the encapsulation (annex H of the standard).
    pub const ETHERTYPE: u16 = 0x890d;
    /// Payload type behind the EtherType, and the category of the frame.
    const PREFIX: [u8; 2] = [2, 12];

    /// Reads what stands behind the EtherType; `None` for another use of it.
    pub fn read(payload: &[u8]) -> Option<Self> {
        let action = payload.strip_prefix(&Self::PREFIX)?;
        let code = u16_at(action, 1);
        Some(match (action.first().copied(), code) {
            (Some(0), _) => Self::SetupRequest,
            (Some(1), Some(status)) => Self::SetupResponse(StatusCode::from(status)),
            (Some(2), Some(status)) => Self::SetupConfirm(StatusCode::from(status)),
            (Some(3), Some(reason)) => Self::Teardown(ReasonCode::from(reason)),
            (other, _) => Self::Other(other),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_two_stations_agree_on() {
        assert_eq!(Tdls::read(&[2, 12, 0, 1, 0, 0]), Some(Tdls::SetupRequest));
        assert_eq!(Tdls::read(&[2, 12, 1, 37, 0, 1]), Some(Tdls::SetupResponse(StatusCode::from(37))));
        assert_eq!(Tdls::read(&[2, 12, 2, 0, 0, 1]), Some(Tdls::SetupConfirm(StatusCode::from(0))));
        assert_eq!(Tdls::read(&[2, 12, 3, 26, 0]), Some(Tdls::Teardown(ReasonCode::from(26))));
        assert_eq!(Tdls::read(&[2, 12, 1, 37]), Some(Tdls::Other(Some(1))), "cut");
        assert_eq!((Tdls::read(&[1, 12, 0]), Tdls::read(&[2])), (None, None), "a remote frame of another kind");
    }
}
