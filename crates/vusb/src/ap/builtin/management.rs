//! Management frames: who may join, and what was agreed.

use wire::ieee80211::{Action, AddbaRequest, Elements, HtCapabilities};

use super::director::Verdict;
use super::elements::{association, beacon};
use super::reorder::{Reorder, WINDOW};
use super::script::FrameKind;
use super::{Builtin, Client, ADDRESS, ONE_MBIT_S, SEQUENCES};
use crate::air::Protection;
use crate::ap::queue::Queued;

/// Frame control, first byte.
const ASSOCIATION_REQUEST: u8 = 0x00;
const REASSOCIATION_REQUEST: u8 = 0x20;
const PROBE_REQUEST: u8 = 0x40;
const PROBE_RESPONSE: u8 = 0x50;
const DISASSOCIATION: u8 = 0xa0;
const AUTHENTICATION: u8 = 0xb0;
const DEAUTHENTICATION: u8 = 0xc0;
const ACTION: u8 = 0xd0;
/// Status codes (table 9-50): unspecified, algorithm not supported, declined.
const UNSPECIFIED: u16 = 1;
const NO_SUCH_ALGORITHM: u16 = 13;
const DECLINED: u16 = 37;
/// Reason codes (table 9-49): of a frame from a station that is not associated; of an association without authentication.
const NOT_ASSOCIATED: u16 = 7;
const NOT_AUTHENTICATED: u16 = 9;
/// Answers that wait at most.
const LATER_MAX: usize = 64;
/// Strangers are told so once in this time.
const STRANGER_NS: u64 = 100_000_000;

impl Builtin {
    fn management_frame(&mut self, now_ns: u64, kind: u8, to: [u8; 6], body: &[u8]) -> Queued {
        let sequence = self.next_sequence();
        let mut mpdu = vec![kind, 0, 0, 0];
        for address in [to, ADDRESS, ADDRESS] {
            mpdu.extend(address);
        }
        mpdu.extend((sequence << 4).to_le_bytes());
        mpdu.extend_from_slice(body);
        let modes = vec![(ONE_MBIT_S, 7)];
        Queued { mpdu, modes, protection: Protection::None, cookie: 0, since_ns: now_ns, attempts: 0 }
    }

    /// Sends a management frame.
    pub(super) fn manage(&mut self, now_ns: u64, kind: u8, to: [u8; 6], body: &[u8]) {
        let frame = self.management_frame(now_ns, kind, to, body);
        self.agreements.watch(&frame.mpdu, false);
        self.push(frame);
    }

    /// Sends an answer, as far and as soon as the script lets it.
    fn answer(&mut self, now_ns: u64, verdict: Verdict, (kind, to): (u8, [u8; 6]), body: &[u8]) {
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
        let Some(from) = mpdu.get(10..16).and_then(<[u8]>::first_chunk::<6>).copied() else { return false };
        let Some(&first) = mpdu.first() else { return false };
        let body = mpdu.get(24..).unwrap_or_default();
        let kind = match first {
            PROBE_REQUEST => Some(FrameKind::ProbeRequest),
            AUTHENTICATION => Some(FrameKind::Authentication),
            ASSOCIATION_REQUEST | REASSOCIATION_REQUEST => Some(FrameKind::Association),
            ACTION if body.starts_with(&[3, 0]) => Some(FrameKind::AddBlockAck),
            _ => None,
        };
        let mut moments = Vec::new();
        let verdict = match kind.filter(|kind| to_us || *kind == FrameKind::ProbeRequest) {
            Some(kind) => self.director.met(now_ns, kind, &mut moments),
            None => Verdict::Usual,
        };
        let taken = !matches!(verdict, Verdict::NoAck | Verdict::Ignore);
        // A group address has no retries.
        if taken && !(to_us && self.is_duplicate(mpdu, SEQUENCES - 1)) {
            match first {
                PROBE_REQUEST => self.probed(now_ns, verdict, from, body),
                _ if !to_us => {}
                AUTHENTICATION => self.authenticate(now_ns, verdict, from, body),
                ASSOCIATION_REQUEST => self.associate(now_ns, verdict, (0x10, from), body, 4),
                REASSOCIATION_REQUEST => self.associate(now_ns, verdict, (0x30, from), body, 10),
                DISASSOCIATION | DEAUTHENTICATION if self.is_client(from) => self.forget_client(),
                ACTION if self.is_client(from) => {
                    self.agreements.watch(mpdu, true);
                    if let Some(Action::AddbaRequest(request)) = Action::read(body) {
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

    fn is_client(&self, address: [u8; 6]) -> bool {
        self.client.as_ref().is_some_and(|client| client.address == address)
    }

    fn probed(&mut self, now_ns: u64, verdict: Verdict, from: [u8; 6], body: &[u8]) {
        let name = Elements::new(body).find(0).unwrap_or_default();
        let asked = name == self.settings.ssid.as_bytes() || name.is_empty() && !self.settings.more.hidden;
        if asked && self.director.beacons(now_ns) {
            let response = beacon(&self.settings, now_ns, None);
            self.answer(now_ns, verdict, (PROBE_RESPONSE, from), &response);
        }
    }

    /// Authentication: open system, of two steps (9.3.3.11).
    fn authenticate(&mut self, now_ns: u64, verdict: Verdict, from: [u8; 6], body: &[u8]) {
        let half = |at: usize| body.get(at..).and_then(<[u8]>::first_chunk).map_or(0, |b| u16::from_le_bytes(*b));
        let (algorithm, step) = (half(0), half(2));
        if step != 1 {
            return;
        }
        let status = match verdict {
            Verdict::Refuse(status) => status.unwrap_or(UNSPECIFIED),
            _ if algorithm != 0 => NO_SUCH_ALGORITHM,
            _ => 0,
        };
        if status == 0 {
            if self.is_client(from) {
                self.forget_client();
            }
            self.authenticated = Some(from);
        }
        let response = [algorithm, 2, status].map(u16::to_le_bytes).concat();
        self.answer(now_ns, verdict, (AUTHENTICATION, from), &response);
    }

    fn associate(&mut self, now_ns: u64, verdict: Verdict, answer: (u8, [u8; 6]), body: &[u8], fixed: usize) {
        let (_, from) = answer;
        if self.authenticated != Some(from) {
            self.manage(now_ns, DEAUTHENTICATION, from, &NOT_AUTHENTICATED.to_le_bytes());
            return;
        }
        let elements = Elements::new(body.get(fixed..).unwrap_or_default());
        let status = match verdict {
            Verdict::Refuse(status) => status.unwrap_or(UNSPECIFIED),
            _ if elements.find(0) != Some(self.settings.ssid.as_bytes()) => UNSPECIFIED,
            _ => 0,
        };
        if status == 0 {
            self.forget_client();
            self.authenticated = Some(from);
            let ht = elements.find(45).and_then(HtCapabilities::read).filter(|_| self.settings.more.ht);
            self.client = Some(Client { address: from, ht, asked: false });
            self.counters.associations += 1;
            self.director.associated(now_ns);
        }
        let response = association(&self.settings, status);
        self.answer(now_ns, verdict, answer, &response);
    }

    /// A stranger sends data. Who has authenticated is told that it is not associated, which keeps no association from being
    /// made that is under way: frames from before may still wait in a chip (11.3.3).
    pub(super) fn turn_away(&mut self, now_ns: u64, stranger: [u8; 6]) {
        if self.stranger_ns.is_none_or(|at_ns| now_ns >= at_ns + STRANGER_NS) {
            self.stranger_ns = Some(now_ns);
            let authenticated = self.authenticated == Some(stranger);
            let kind = if authenticated { DISASSOCIATION } else { DEAUTHENTICATION };
            self.manage(now_ns, kind, stranger, &NOT_ASSOCIATED.to_le_bytes());
        }
    }

    /// The station asks for an agreement about what it sends.
    fn agree(&mut self, now_ns: u64, verdict: Verdict, from: [u8; 6], request: &AddbaRequest) {
        let status = match verdict {
            Verdict::Refuse(status) => status.unwrap_or(DECLINED),
            _ if !self.settings.more.ht => DECLINED,
            _ => 0,
        };
        let tid = request.parameters.tid & 0x0f;
        if status == 0 {
            self.agreements.up |= 1 << tid;
            if let Some(reorder) = self.reorders.get_mut(usize::from(tid)) {
                *reorder = Some(Reorder::new(request.start));
            }
        }
        let window = match request.parameters.buffer_size {
            0 => WINDOW,
            size => size.min(WINDOW),
        };
        // A-MSDUs, immediate.
        let parameters = 0x0003 | u16::from(tid) << 2 | window << 6;
        let mut response = vec![3, 1, request.dialog_token];
        for half in [status, parameters, 0] {
            response.extend(half.to_le_bytes());
        }
        self.answer(now_ns, verdict, (ACTION, from), &response);
    }

    /// Asks the station for an agreement about what it receives, once.
    pub(super) fn ask_block_ack(&mut self, now_ns: u64) {
        let Some(client) = self.client.as_mut().filter(|client| !client.asked) else { return };
        if !self.settings.more.ampdu {
            return;
        }
        client.asked = true;
        let to = client.address;
        // Request: token 1, A-MSDUs, immediate, TID 0; no timeout; the next data frame's number.
        let start = (self.data_sequence + 1) & 0x0fff;
        let mut body = vec![3, 0, 1];
        for half in [0x0003 | WINDOW << 6, 0, start << 4] {
            body.extend(half.to_le_bytes());
        }
        self.manage(now_ns, ACTION, to, &body);
    }
}
