//! What a frame and a PPDU add to the counters.

use std::sync::Arc;

use capture::Place;
use wire::ieee80211::{FixedFields, FrameKind, MacAddr, Management};

use super::Accounts;
use crate::block_ack::Occasion;
use crate::decode::Batch;
use crate::exchange::{Matcher, Role};
use crate::frame::{Detail, Frame};
use crate::link::{Link, StationRows};
use crate::ppdu::{Control, Ppdu};

/// Authentication algorithm number of SAE (9.4.1.1).
const SAE: u16 = 3;

/// The same of fast BSS transition.
const FT: u16 = 2;

/// TWT Setup Command of an agreement (9.4.2.199).
const TWT_ACCEPT: u8 = 4;

impl Accounts {
    /// Per-frame counting; the row of the frame's link, when it names a transmitter, and whether it repeats an MPDU that
    /// was captured before.
    pub(super) fn frame(&mut self, frame: &Frame, batch: &Batch, at_ns: i64, is_main: bool) -> Option<(u32, bool)> {
        if frame.is_foreign() {
            return None;
        }
        let receiver = frame.header.receiver();
        let link = match frame.ta() {
            Some(ta) => Some(self.frame_on_link(frame, ta, receiver, at_ns, is_main)),
            None => {
                let row = self.stations.row(receiver);
                self.stations.received(row, frame);
                None
            }
        };
        let detail = batch.details.get(frame.detail as usize);
        if let (Some(detail), true) = (detail, frame.usable()) {
            let ta = frame.ta().unwrap_or(MacAddr::ZERO);
            if self.selection.takes(ta, receiver, frame.header.bssid()) {
                self.events.frame(frame, detail, at_ns);
                self.happenings.detail(frame, detail, at_ns);
            }
        }
        if let Some(log) = &mut self.block_acks {
            let ta = frame.ta().unwrap_or(MacAddr::ZERO);
            let is_one = frame.header.kind() == FrameKind::BlockAck && frame.usable();
            if is_one && self.selection.takes(ta, receiver, frame.header.bssid()) {
                // One of a reserved kind has no TIDs that could be read.
                let tids = if let Some(Detail::BlockAck(tids)) = detail { tids.as_slice() } else { &[] };
                log.frame(frame, tids, at_ns);
            }
        }
        let management = match detail {
            Some(Detail::Management(management)) => Some(management),
            _ => None,
        };
        if frame.usable() {
            self.contents.frame(frame);
            self.happenings.frame(frame, management.map(|management| &**management), at_ns);
        }
        if let (Some(management), true) = (management, frame.usable()) {
            self.announced(frame, management, is_main);
            self.floods.frame(frame, management, at_ns);
            self.usage(frame, management);
            self.agreement(frame, management);
        }
        link
    }

    /// Joins the packets of a frame with its MPDU, where they are looked at. `repeats`: that MPDU was captured before.
    pub(super) fn packets(&mut self, frame: &Frame, batch: &Batch, at_ns: i64, repeats: bool) {
        let Some(traffic) = &mut self.traffic else { return };
        let (ta, ra) = (frame.ta(), frame.header.receiver());
        if ta.is_some_and(|ta| self.selection.takes(ta, ra, frame.header.bssid())) {
            traffic.frame(frame, batch.packets(frame), at_ns, repeats);
        }
    }

    /// Takes from a frame outside the window what is true inside it as well.
    pub(super) fn learn(&mut self, frame: &Frame, batch: &Batch, place: Place) {
        use wire::ieee80211::{Action, StatusCode};
        let Some(Detail::Management(management)) = batch.details.get(frame.detail as usize) else { return };
        if !frame.usable() {
            return;
        }
        self.announced(frame, management, place == Place::Before);
        if let (Place::Before, Some(ta), FixedFields::Action(Action::AddbaResponse(response))) =
            (place, frame.ta(), &management.fixed)
        {
            if response.status == StatusCode::Success {
                let p = response.parameters;
                self.flows.agreed_before(frame.header.receiver(), ta, p.tid, p.buffer_size, p.amsdu_supported);
            }
        }
    }

    /// What a management frame says of its sender. `on_medium`: the accounts of the medium are of where it was
    /// captured.
    fn announced(&mut self, frame: &Frame, management: &Arc<Management>, on_medium: bool) {
        self.claims.management(frame, management);
        self.devices.management(frame, management);
        if let (true, FrameKind::Beacon, FixedFields::Beacon { interval_tu: tu @ 1.., .. }) =
            (on_medium, frame.header.kind(), management.fixed)
        {
            self.medium.beacon_interval(tu);
        }
    }

    /// Counts a frame for its two ends and the link between them.
    fn frame_on_link(&mut self, frame: &Frame, ta: MacAddr, ra: MacAddr, at_ns: i64, is_main: bool) -> (u32, bool) {
        let Self { stations, links, .. } = self;
        let key = (ta.as_u64(), ra.as_u64());
        let row = links.row(key, || Link::new(ta, ra, at_ns));
        let Some(link) = links.get_mut(row) else { return (row, frame.header.fc.retry()) };
        if self.selection.bssid.is_some() && frame.usable() {
            let bssid = frame.header.bssid();
            link.is_chosen |= self.selection.takes(ta, ra, bssid);
            self.bss_frames += u64::from(bssid == self.selection.bssid);
        }
        let repeats = link.frame(frame, at_ns, is_main);
        match link.station_rows.filter(|rows| rows.generation == stations.table.generation()) {
            Some(rows) => {
                stations.received(rows.ra, frame);
                stations.sent(rows.ta, frame, at_ns, is_main);
            }
            None => {
                let ra = stations.row(ra);
                stations.received(ra, frame);
                let generation = stations.table.generation();
                let ta = stations.row(ta);
                stations.sent(ta, frame, at_ns, is_main);
                link.station_rows =
                    (generation == stations.table.generation()).then_some(StationRows { generation, ta, ra });
            }
        }
        (row, repeats)
    }

    /// What a station uses that only the body of a management frame shows.
    fn usage(&mut self, frame: &Frame, management: &Management) {
        let Some(ta) = frame.ta() else { return };
        let says_something = matches!(
            management.fixed,
            FixedFields::Authentication { .. }
                | FixedFields::Action(_)
                | FixedFields::AssociationRequest { .. }
                | FixedFields::ReassociationRequest { .. }
        );
        if !says_something {
            return;
        }
        let row = self.stations.row(ta);
        let Some(station) = self.stations.table.get_mut(row) else { return };
        match &management.fixed {
            // By which algorithm it proves who it is.
            FixedFields::Authentication { algorithm, .. } => {
                station.usage.authentications += 1;
                station.usage.sae_authentications += u64::from(*algorithm == SAE);
                station.usage.ft_authentications += u64::from(*algorithm == FT);
            }
            FixedFields::AssociationRequest { .. } | FixedFields::ReassociationRequest { .. } => {
                station.usage.associations += 1;
            }
            FixedFields::Action(action) => {
                station.usage.action(frame, action);
                if let wire::ieee80211::Action::TwtSetup(setup) = action {
                    self.twt(ta, frame.header.receiver(), *setup);
                }
            }
            _ => {}
        }
    }

    /// An accepted TWT is an agreement of both stations.
    fn twt(&mut self, responder: MacAddr, requester: MacAddr, setup: wire::ieee80211::TwtSetup) {
        if setup.is_request || setup.is_broadcast || setup.command != TWT_ACCEPT || requester.is_group() {
            return;
        }
        for end in [responder, requester] {
            let row = self.stations.row(end);
            if let Some(station) = self.stations.table.get_mut(row) {
                station.usage.twt_agreements += 1;
            }
        }
    }

    /// ADDBA and DELBA.
    fn agreement(&mut self, frame: &Frame, management: &Management) {
        use wire::ieee80211::{Action, StatusCode};
        let (Some(ta), ra) = (frame.ta(), frame.header.receiver()) else { return };
        let FixedFields::Action(action) = management.fixed else { return };
        match action {
            Action::AddbaRequest(request) => {
                let p = request.parameters;
                self.flows.addba_request(ta, ra, p.tid, p.buffer_size, p.amsdu_supported);
            }
            Action::AddbaResponse(response) => {
                let p = response.parameters;
                let accepted = response.status == StatusCode::Success;
                self.flows.addba_response(ra, ta, p.tid, accepted, p.buffer_size, p.amsdu_supported);
            }
            Action::Delba(delba) => {
                let (originator, recipient) = if delba.initiator { (ta, ra) } else { (ra, ta) };
                self.flows.delba(originator, recipient, delba.tid);
            }
            _ => {}
        }
    }

    /// Per-PPDU counting. `matcher`: of the interface that captured it; `is_main`: the medium's accounts are of that
    /// one.
    pub(super) fn ppdu(&mut self, ppdu: &Ppdu, matcher: &mut Matcher, is_main: bool) {
        let link = match ppdu.link {
            Some((row, generation)) if generation == self.links.generation() => Some(row),
            _ => ppdu.ta.and_then(|ta| self.links.find(&(ta.as_u64(), ppdu.ra.as_u64()))),
        };
        let role = matcher.ppdu(ppdu, link, &mut self.links, &self.claims);
        if let (Some(traffic), Role::Data, true) = (&mut self.traffic, role, is_main) {
            traffic.ppdu(ppdu);
        }
        self.listener.ppdu(ppdu, role, is_main);
        if is_main {
            self.allocations.ppdu(ppdu);
            self.contents.ppdu(ppdu);
        }
        let is_chosen = self.selection.bssid.is_some() && role != Role::Damaged && {
            let of = match role {
                Role::Response { link, .. } | Role::CtsResponse { link } => Some(link),
                _ => link,
            };
            self.selection.has_ppdu(of, ppdu.ra, &self.links)
        };
        match matcher
            .answered
            .as_ref()
            .and_then(|answered| answered.expected_mode)
            .filter(|_| self.distrust_control_rates)
        {
            _ if !is_main => self.response(role),
            Some(mode) => {
                let at_rule = ppdu.at_mode(mode);
                self.medium.ppdu(&at_rule, role, link, is_chosen, &mut self.links, &mut self.stations);
            }
            None => self.medium.ppdu(ppdu, role, link, is_chosen, &mut self.links, &mut self.stations),
        }
        match role {
            Role::Data if !ppdu.ra.is_group() => self.data(ppdu, link),
            Role::Request => {
                if let (Some(ta), Control::Request(tids)) = (ppdu.ta, &ppdu.control) {
                    for tid in tids {
                        self.flows.request(ta, ppdu.ra, *tid);
                    }
                }
            }
            _ => {}
        }
        match &ppdu.control {
            Control::BlockAck(tids) if !ppdu.all_bad => {
                // One without its transmitter is some station's, whose account has the same MPDUs already.
                if let Some(recipient) = ppdu.ta.filter(|ta| *ta != MacAddr::ZERO) {
                    for acked in tids {
                        // One to several stations names the receiver of each part by AID.
                        let to_one = Some(ppdu.ra).filter(|ra| acked.aid.is_none() || !ra.is_group());
                        let by_aid = || self.claims.associated(recipient, acked.aid?);
                        let Some(originator) = to_one.or_else(by_aid) else {
                            self.unattributed_acks += 1;
                            continue;
                        };
                        let answered = matcher.answered.as_ref().filter(|answered| {
                            (answered.ta, answered.responder) == (originator, recipient)
                                && answered.tid.is_none_or(|tid| tid == acked.tid)
                        });
                        let by = Occasion {
                            number: ppdu.number,
                            at_ns: ppdu.start_ns,
                            exact: ppdu.exact_start,
                            answers: answered.is_some(),
                            room_ns: answered
                                .filter(|answered| answered.tid.is_some())
                                .and_then(|answered| answered.room_ns),
                        };
                        self.flows.block_ack(originator, recipient, acked, by);
                        if let Some(traffic) = &mut self.traffic {
                            traffic.block_ack(originator, recipient, acked, ppdu.start_ns);
                        }
                    }
                }
            }
            _ => {}
        }
        if let (FrameKind::Ack, Some(answered)) = (ppdu.kind, &matcher.answered) {
            if let (Some(traffic), 1) = (&mut self.traffic, answered.mpdus) {
                let (ta, ra, first) = (answered.ta, answered.responder, answered.first_sequence);
                traffic.acknowledged(ta, ra, answered.tid, first, ppdu.start_ns);
            }
            if let (Some(tid), 1) = (answered.tid, answered.mpdus) {
                self.flows.ack(answered.ta, answered.responder, tid, answered.first_sequence);
            }
        }
    }

    /// A station answered, on a channel where airtime is not counted.
    fn response(&mut self, role: Role) {
        let (Role::Response { link, .. } | Role::CtsResponse { link }) = role else { return };
        let Some(responder) = self.links.get(link).map(|link| link.ra) else { return };
        let row = self.stations.row(responder);
        if let Some(station) = self.stations.table.get_mut(row) {
            station.responses += 1;
        }
    }

    fn data(&mut self, ppdu: &Ppdu, link: Option<u32>) {
        let Some(first) = ppdu.data_mpdus().next() else { return };
        let tid = first.tid;
        if tid.is_some() {
            self.flows.data(ppdu);
        }
        if let Some(link) = link.and_then(|row| self.links.get_mut(row)) {
            if let Some(aggregates) = link.aggregates(tid, &mut self.aggregates_left) {
                aggregates.ppdu(ppdu);
            }
        }
        if ppdu.mpdus.len() > 1 || (ppdu.is_ampdu && self.marks_ampdus) {
            if let Some(ta) = ppdu.ta {
                let known = link.and_then(|row| self.links.get(row)).and_then(|link| link.station_rows);
                let row = match known.filter(|rows| rows.generation == self.stations.table.generation()) {
                    Some(rows) => rows.ta,
                    None => self.stations.row(ta),
                };
                if let Some(station) = self.stations.table.get_mut(row) {
                    station.usage.aggregate(ppdu.mpdus.len());
                }
            }
        }
    }
}
