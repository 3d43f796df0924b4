//! What a script lets happen at a moment.

use wire::ieee80211::{self, Delba, FixedFields, FrameKind, ReasonCode};

use super::management::emitted;
use super::script::{Action, Event};
use super::Builtin;
use crate::peers::agreements::Agreements;

/// Reason codes (table 9-49): the sender is leaving, the station leaves; the agreement is not wanted any more.
const LEAVING: u16 = 3;
const DISASSOCIATED: u16 = 8;
const END_OF_AGREEMENT: ReasonCode = ReasonCode::EndTsBaDls;
/// Beacons that announce a channel switch.
const ANNOUNCEMENTS: u8 = 5;

impl Builtin {
    /// Does what an event says.
    pub(super) fn carry_out(&mut self, now_ns: u64, event: &Event) {
        match event.action {
            Action::Deauthenticate => self.part(now_ns, FrameKind::Deauthentication, event.reason.unwrap_or(LEAVING)),
            Action::Disassociate => self.part(now_ns, FrameKind::Disassociation, event.reason.unwrap_or(DISASSOCIATED)),
            Action::Forget => self.forget_client(),
            Action::ChannelSwitch => {
                let Some(channel) = event.channel else { return };
                if event.announced == Some(false) {
                    (self.settings.channel, self.switch) = (channel, None);
                } else {
                    self.switch = Some((channel, event.count.unwrap_or(ANNOUNCEMENTS)));
                }
            }
            Action::DeleteBlockAck => self.end_agreements(now_ns),
            _ => {}
        }
    }

    fn part(&mut self, now_ns: u64, kind: FrameKind, reason: u16) {
        let Some(client) = &self.client else { return };
        let (to, authenticated) = (client.address, self.authenticated);
        self.forget_client();
        // After a disassociation it is still authenticated (11.3.3).
        if kind == FrameKind::Disassociation {
            self.authenticated = authenticated;
        }
        self.manage(now_ns, kind, to, &emitted(FixedFields::Disassociation(reason.into())));
    }

    fn end_agreements(&mut self, now_ns: u64) {
        let Some(to) = self.client.as_mut().map(|client| {
            client.asked = false;
            client.address
        }) else {
            return;
        };
        let Agreements { down, up, .. } = self.agreements;
        for tid in 0..16u8 {
            // It sends what goes down (initiator), and receives what goes up.
            for (agreed, initiator) in [(down, true), (up, false)] {
                if agreed >> tid & 1 == 1 {
                    let end = Delba { initiator, tid, reason: END_OF_AGREEMENT };
                    self.act(now_ns, to, ieee80211::Action::Delba(end));
                }
            }
            let mut out = Vec::new();
            if let Some(mut reorder) = self.reorders.get_mut(usize::from(tid)).and_then(Option::take) {
                reorder.flush(now_ns, &mut out);
            }
            self.hand_on(out);
        }
    }
}
