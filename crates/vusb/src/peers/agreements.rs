//! Block Ack agreements, as far as the frames that make them can be read. Named as an access point sees them; for a station's
//! radio "down" is what goes to the chip as well.

use wire::ieee80211::{Action, AddbaResponse, Delba, FrameKind, Mpdu, StatusCode};

/// TIDs for which one side has agreed to receive A-MPDUs, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Agreements {
    /// Towards the station.
    pub(crate) down: u16,
    /// Towards the access point.
    pub(crate) up: u16,
    /// The station takes A-MSDUs in these A-MPDUs.
    pub(crate) down_amsdu: bool,
    /// The smallest window that the station has agreed to.
    pub(crate) down_window: u16,
    /// Who has sent an encrypted request that is not answered yet; `true`: the station.
    asked_secretly: Option<bool>,
}

/// The largest window of HT (9.4.1.13).
const WINDOW_MAX: u16 = 64;

impl Default for Agreements {
    fn default() -> Self {
        Self { down: 0, up: 0, down_amsdu: false, down_window: WINDOW_MAX, asked_secretly: None }
    }
}

/// Every user priority.
const ALL: u16 = 0x00ff;
/// Bytes of the header and of CCMP's header and integrity code around an encrypted action frame.
const SECRET: usize = 24 + 16;
/// Bytes of a request or an answer about an agreement (9.6.4), with and without the ADDBA Extension element. No other action
/// frame of an HT station has that length.
const ASKING: std::ops::RangeInclusive<usize> = 9..=12;

impl Agreements {
    /// Looks at a frame that passed; `up`: the station sent it.
    pub(crate) fn watch(&mut self, frame: &[u8], up: bool) {
        let mpdu = Mpdu::new(frame);
        match mpdu.kind() {
            // Nothing is agreed any more.
            Some(
                FrameKind::Authentication
                | FrameKind::Deauthentication
                | FrameKind::Disassociation
                | FrameKind::AssociationRequest
                | FrameKind::ReassociationRequest,
            ) => *self = Self::default(),
            Some(FrameKind::Action) if mpdu.protected() => self.secret(frame.len(), up),
            Some(FrameKind::Action) => self.action(mpdu.management_body(), up),
            _ => {}
        }
    }

    /// Whether the access point has agreed to receive A-MPDUs with frames of the TID of `mpdu`.
    pub(crate) fn covers(&self, mpdu: &[u8]) -> bool {
        self.up >> Mpdu::new(mpdu).tid().unwrap_or(0) & 1 == 1
    }

    /// An encrypted action frame. What has the length of a request is one, and what has it after a request of the other
    /// side is the answer; it is taken for a yes, for all TIDs.
    fn secret(&mut self, len: usize, up: bool) {
        if !len.checked_sub(SECRET).is_some_and(|body| ASKING.contains(&body)) {
            return;
        }
        if self.asked_secretly == Some(!up) {
            self.asked_secretly = None;
            *self.receives(up) = ALL;
        } else {
            self.asked_secretly = Some(up);
        }
    }

    /// What the sender of a frame has agreed to receive.
    fn receives(&mut self, up: bool) -> &mut u16 {
        if up {
            &mut self.down
        } else {
            &mut self.up
        }
    }

    fn action(&mut self, body: &[u8], up: bool) {
        match Action::read(body) {
            // Who answers receives.
            Some(Action::AddbaResponse(AddbaResponse { status: StatusCode::Success, parameters, .. })) => {
                *self.receives(up) |= 1 << parameters.tid;
                if up {
                    self.down_amsdu = parameters.amsdu_supported;
                    let window = parameters.buffer_size;
                    self.down_window = self.down_window.min(if window == 0 { WINDOW_MAX } else { window });
                }
            }
            // The initiator is who sends data.
            Some(Action::Delba(Delba { initiator, tid, .. })) => {
                *self.receives(up != initiator) &= !(1 << tid);
                if self.down == 0 {
                    self.down_window = WINDOW_MAX;
                }
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn action(flags: u8, body: &[u8]) -> Vec<u8> {
        let mut frame = vec![0xd0, flags];
        frame.resize(24, 0);
        frame.extend(body);
        frame
    }

    #[test]
    fn agreements_are_made_and_ended() {
        let mut agreements = Agreements::default();
        // The access point agrees to receive TID 5: token 1, success, immediate.
        agreements.watch(&action(0, &[3, 1, 1, 0, 0, 5 << 2 | 2, 0, 0, 0]), false);
        assert_eq!((agreements.down, agreements.up), (0, 1 << 5));
        // The station agrees to TID 0 with a window of 16 and A-MSDUs, and declines TID 1.
        agreements.watch(&action(0, &[3, 1, 1, 0, 0, 3, 4, 0, 0]), true);
        agreements.watch(&action(0, &[3, 1, 1, 37, 0, 1 << 2, 0, 0, 0]), true);
        assert_eq!((agreements.down, agreements.up), (1, 1 << 5));
        assert_eq!((agreements.down_amsdu, agreements.down_window), (true, 16));
        // The station, which initiated TID 5, ends it; then the recipient of TID 0 does.
        agreements.watch(&action(0, &[3, 2, 0, 0x58, 1, 0]), true);
        assert_eq!((agreements.down, agreements.up), (1, 0));
        agreements.watch(&action(0, &[3, 2, 0, 0x00, 1, 0]), true);
        assert_eq!((agreements.down, agreements.up), (0, 0));
        // With the last agreement its window is forgotten: the next may be larger.
        assert_eq!(agreements.down_window, WINDOW_MAX);
    }

    #[test]
    fn answers_that_are_cut_agree_to_nothing() {
        let mut agreements = Agreements::default();
        for length in 0..5 {
            agreements.watch(&action(0, &[3, 1, 1, 0, 0, 2, 0][..length]), false);
        }
        assert_eq!(agreements, Agreements::default());
    }

    #[test]
    fn encrypted_ones_are_told_by_their_length() {
        let mut agreements = Agreements::default();
        let (asking, other) = (action(0x40, &[0; 25]), action(0x40, &[0; 20]));
        agreements.watch(&asking, true);
        agreements.watch(&other, false);
        assert_eq!((agreements.down, agreements.up), (0, 0), "SA Query is not an answer");
        agreements.watch(&asking, false);
        assert_eq!((agreements.down, agreements.up), (0, ALL));
        agreements.watch(&asking, false);
        agreements.watch(&asking, true);
        assert_eq!((agreements.down, agreements.up), (ALL, ALL));
        agreements.watch(&[0xc0, 0], true);
        assert_eq!(agreements, Agreements::default());
    }
}
