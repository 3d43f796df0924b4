//! Management frames: who may join, and what was agreed.

use medium::{Reorder, WINDOW};
use wire::ieee80211::{
    Action, AddbaRequest, AddbaResponse, BlockAckParameters, FixedFields, FrameKind, Header, MacAddr, ManagementBody,
    ManagementElements, Mpdu, ReasonCode, Seq, StatusCode,
};

use super::director::Verdict;
use super::elements::{association, beacon};
use super::script;
use super::{Builtin, Client, ADDRESS, ONE_MBIT_S, SEQUENCES};
use crate::air::Protection;
use crate::peers::queue::Queued;

/// How the body of an ADDBA request begins: category Block Ack, and the action.
const ADDBA_REQUEST: [u8; 2] = [3, 0];
/// Answers that wait at most.
const LATER_MAX: usize = 64;
/// Strangers are notified once in this time.
const STRANGER_NS: u64 = 100_000_000;

impl Builtin {
    fn management_frame(&mut self, now_ns: u64, kind: FrameKind, to: MacAddr, body: &[u8]) -> Queued {
        let sequence = Seq::new(self.next_sequence());
        let mut mpdu = Vec::with_capacity(64 + body.len());
        Header::management(kind, to, ADDRESS, ADDRESS, sequence).emit(&mut mpdu);
        mpdu.extend_from_slice(body);
        let modes = vec![(ONE_MBIT_S, 7)];
        Queued { mpdu, modes, protection: Protection::None, cookie: 0, since_ns: now_ns, attempts: 0 }
    }

    /// Sends a management frame.
    pub(super) fn manage(&mut self, now_ns: u64, kind: FrameKind, to: MacAddr, body: &[u8]) {
        let frame = self.management_frame(now_ns, kind, to, body);
        self.agreements.watch(&frame.mpdu, false);
        self.push(frame);
    }

    /// Sends an action frame.
    pub(super) fn act(&mut self, now_ns: u64, to: MacAddr, action: Action) {
        self.manage(now_ns, FrameKind::Action, to, &emitted(FixedFields::Action(action)));
    }

    /// Sends an answer, as far and as soon as the script lets it.
    fn answer(&mut self, now_ns: u64, verdict: Verdict, (kind, to): (FrameKind, MacAddr), body: &[u8]) {
        let body = match verdict {
            Verdict::Cut(length) => body.get(..length).unwrap_or(body),
            _ => body,
        };
        match verdict {
            Verdict::Delay(by_ns) if self.later.len() < LATER_MAX => {
                let at_ns = now_ns.saturating_add(by_ns);
                let frame = self.management_frame(at_ns, kind, to, body);
                self.agreements.watch(&frame.mpdu, false);
                self.later.push((at_ns, frame));
            }
            _ => self.manage(now_ns, kind, to, body),
        }
    }

    /// A management frame arrived. Gives whether it is acknowledged, if it is for this station.
    pub(super) fn manage_received(&mut self, now_ns: u64, mpdu: &[u8], to_us: bool) -> bool {
        let frame = Mpdu::new(mpdu);
        let (Some(from), Some(fc)) = (frame.transmitter(), frame.frame_control()) else { return false };
        let (first, body) = (fc.kind(), frame.management_body());
        let request = ManagementBody::parse(fc, body);
        let kind = match first {
            FrameKind::ProbeRequest => Some(script::FrameKind::ProbeRequest),
            FrameKind::Authentication => Some(script::FrameKind::Authentication),
            FrameKind::AssociationRequest | FrameKind::ReassociationRequest => Some(script::FrameKind::Association),
            FrameKind::Action if body.starts_with(&ADDBA_REQUEST) => Some(script::FrameKind::AddBlockAck),
            _ => None,
        };
        let mut moments = Vec::new();
        let verdict = match kind.filter(|kind| to_us || *kind == script::FrameKind::ProbeRequest) {
            Some(kind) => self.director.met(now_ns, kind, &mut moments),
            None => Verdict::Usual,
        };
        let taken = !matches!(verdict, Verdict::NoAck | Verdict::Ignore);
        if taken && to_us && self.is_client(from) {
            self.power_management(&frame);
        }
        // A group address has no retries.
        if taken && !(to_us && self.is_duplicate(mpdu, SEQUENCES - 1)) {
            match (first, request) {
                (FrameKind::ProbeRequest, Some(request)) => self.probed(now_ns, verdict, from, &request.elements),
                _ if !to_us => {}
                (FrameKind::Authentication, Some(request)) => self.authenticate(now_ns, verdict, from, request.fixed),
                (FrameKind::AssociationRequest, Some(request)) => {
                    self.associate(now_ns, verdict, (FrameKind::AssociationResponse, from), &request.elements);
                }
                (FrameKind::ReassociationRequest, Some(request)) => {
                    self.associate(now_ns, verdict, (FrameKind::ReassociationResponse, from), &request.elements);
                }
                (FrameKind::Disassociation | FrameKind::Deauthentication, _) if self.is_client(from) => {
                    self.forget_client();
                }
                (FrameKind::Action, Some(request)) if self.is_client(from) => {
                    self.agreements.watch(mpdu, true);
                    if let FixedFields::Action(Action::AddbaRequest(request)) = request.fixed {
                        self.agree(now_ns, verdict, from, &request);
                    }
                }
                _ => {}
            }
        }
        for moment in &moments {
            self.carry_out(now_ns, moment);
        }
        verdict != Verdict::NoAck
    }

    fn is_client(&self, address: MacAddr) -> bool {
        self.client.as_ref().is_some_and(|client| client.address == address)
    }

    fn probed(&mut self, now_ns: u64, verdict: Verdict, from: MacAddr, elements: &ManagementElements<'_>) {
        let name = elements.ssid.unwrap_or_default();
        let asked = name == self.settings.ssid.as_bytes() || name.is_empty() && !self.settings.more.hidden;
        if asked && self.director.beacons(now_ns) {
            let response = beacon(&self.settings, now_ns, None);
            self.answer(now_ns, verdict, (FrameKind::ProbeResponse, from), &response);
        }
    }

    /// Authentication: open system, of two steps (9.3.3.11).
    fn authenticate(&mut self, now_ns: u64, verdict: Verdict, from: MacAddr, fixed: FixedFields) {
        let FixedFields::Authentication { algorithm, transaction: 1, .. } = fixed else { return };
        let status = match verdict {
            Verdict::Refuse(status) => status.map_or(StatusCode::Refused, StatusCode::from),
            _ if algorithm != 0 => StatusCode::UnsupportedAuthAlgorithm,
            _ => StatusCode::Success,
        };
        if status == StatusCode::Success {
            if self.is_client(from) {
                self.forget_client();
            }
            self.authenticated = Some(from);
        }
        let response = emitted(FixedFields::Authentication { algorithm, transaction: 2, status });
        self.answer(now_ns, verdict, (FrameKind::Authentication, from), &response);
    }

    fn associate(
        &mut self,
        now_ns: u64,
        verdict: Verdict,
        answer: (FrameKind, MacAddr),
        elements: &ManagementElements<'_>,
    ) {
        let (_, from) = answer;
        if self.authenticated != Some(from) {
            let fixed = FixedFields::Deauthentication(ReasonCode::NotAuthenticated);
            return self.manage(now_ns, FrameKind::Deauthentication, from, &emitted(fixed));
        }
        let status = match verdict {
            Verdict::Refuse(status) => status.map_or(StatusCode::Refused, StatusCode::from),
            _ if elements.ssid != Some(self.settings.ssid.as_bytes()) => StatusCode::Refused,
            _ => StatusCode::Success,
        };
        if status == StatusCode::Success {
            self.forget_client();
            self.authenticated = Some(from);
            let ht = elements.ht.filter(|_| self.settings.more.ht);
            self.client = Some(Client { address: from, ht, asked: false });
            self.counters.associations += 1;
            self.director.associated(now_ns);
        }
        let response = association(&self.settings, status);
        self.answer(now_ns, verdict, answer, &response);
    }

    /// A stranger sends data. One that has authenticated is notified that it is not associated, which keeps no association from being
    /// made that is under way: frames from before may still wait in a chip (11.3.3).
    pub(super) fn turn_away(&mut self, now_ns: u64, stranger: MacAddr) {
        if self.stranger_ns.is_none_or(|at_ns| now_ns >= at_ns + STRANGER_NS) {
            self.stranger_ns = Some(now_ns);
            let authenticated = self.authenticated == Some(stranger);
            let kind = if authenticated { FrameKind::Disassociation } else { FrameKind::Deauthentication };
            let fixed = FixedFields::Deauthentication(ReasonCode::InvalidClass3Frame);
            self.manage(now_ns, kind, stranger, &emitted(fixed));
        }
    }

    /// The station asks for an agreement about what it sends.
    fn agree(&mut self, now_ns: u64, verdict: Verdict, from: MacAddr, request: &AddbaRequest) {
        let status = match verdict {
            Verdict::Refuse(status) => status.map_or(StatusCode::RequestDeclined, StatusCode::from),
            _ if !self.settings.more.ht => StatusCode::RequestDeclined,
            _ => StatusCode::Success,
        };
        let tid = request.parameters.tid;
        if status == StatusCode::Success {
            self.agreements.up |= 1 << tid;
            if let Some(reorder) = self.reorders.get_mut(usize::from(tid)) {
                *reorder = Some(Reorder::new(request.start));
            }
        }
        let window = match request.parameters.buffer_size {
            0 => WINDOW,
            size => size.min(WINDOW),
        };
        let parameters = BlockAckParameters::immediate(tid, window, true);
        let dialog_token = request.dialog_token;
        let response = Action::AddbaResponse(AddbaResponse { dialog_token, status, parameters, timeout_tu: 0 });
        self.answer(now_ns, verdict, (FrameKind::Action, from), &emitted(FixedFields::Action(response)));
    }

    /// Asks the station for an agreement about what it receives, once.
    pub(super) fn ask_block_ack(&mut self, now_ns: u64) {
        let Some(client) = self.client.as_mut().filter(|client| !client.asked) else { return };
        if !self.settings.more.ampdu {
            return;
        }
        client.asked = true;
        let to = client.address;
        // The next data frame is the first under it.
        let start = Seq::new(self.data_sequence).add(1);
        let parameters = BlockAckParameters::immediate(0, WINDOW, true);
        self.act(now_ns, to, Action::AddbaRequest(AddbaRequest { dialog_token: 1, parameters, timeout_tu: 0, start }));
    }
}

/// The body of a frame without elements.
pub(super) fn emitted(fixed: FixedFields) -> Vec<u8> {
    let mut body = Vec::new();
    fixed.emit(&mut body);
    body
}
