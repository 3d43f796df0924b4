//! Events: how stations come, prove who they are, move and go, and when the channel changes.
//!
//! Every frame of such a kind is counted. Rows are bounded twice: frames that say the same between the same stations share a
//! row, as do frames of a kind of which too many rows begin in a second (a flood in the names of many); and between the first
//! rows and the latest ones rows are left out.

use std::collections::VecDeque;

use hashbrown::HashMap;
use wire::ieee80211::eapol::Message;
use wire::ieee80211::{Action, FixedFields, FrameKind, MacAddr, Management, StatusCode};

use crate::eapol::Eapol;
use crate::frame::{Detail, Frame};
use crate::micros::us;
use crate::report;

/// Rows kept of the beginning, and of the end.
const FIRST_ROWS: usize = 1_000;
const LATEST_ROWS: usize = 1_000;
/// Frames that say the same within this time share a row.
const SAME_NS: i64 = 1_000_000_000;
/// Rows looked back at for the same.
const LOOK_BACK: usize = 64;
/// Rows of a kind that may begin in one second before its frames share one row, whoever sends them.
const ROWS_PER_SECOND: u32 = 32;
const SECOND_NS: i64 = 1_000_000_000;
/// Stations that are remembered with their network.
const MAX_STATIONS: usize = 4_096;

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Authentication,
    AssociationRequest,
    AssociationResponse,
    ReassociationRequest,
    ReassociationResponse,
    Handshake1,
    Handshake2,
    Handshake3,
    Handshake4,
    GroupKey1,
    GroupKey2,
    KeyRequest,
    OtherEapol,
    EapStart,
    Eap,
    EapSuccess,
    EapFailure,
    EapLogoff,
    Deauthentication,
    Disassociation,
    ChannelSwitch,
}

/// Names in the order of [`Kind`].
const NAMES: [&str; 21] = [
    "authentication",
    "association-request",
    "association-response",
    "reassociation-request",
    "reassociation-response",
    "handshake-1",
    "handshake-2",
    "handshake-3",
    "handshake-4",
    "group-key-1",
    "group-key-2",
    "key-request",
    "other-eapol",
    "eap-start",
    "eap",
    "eap-success",
    "eap-failure",
    "eap-logoff",
    "deauthentication",
    "disassociation",
    "channel-switch",
];

/// What a frame says beside its kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Says {
    Nothing,
    /// Encrypted: it cannot be determined.
    Hidden,
    /// Algorithm, transaction and status of an authentication.
    Authentication(u16, u16, u16),
    /// Status.
    Status(u16),
    /// The access point that a station comes from.
    From(MacAddr),
    /// Reason.
    Reason(u16),
    /// New channel, its operating class, and whether stations are to be quiet.
    Channel(u8, Option<u8>, bool),
}

#[derive(Clone, Debug)]
struct Row {
    kind: Kind,
    says: Says,
    /// `None`: several.
    ends: Option<(MacAddr, MacAddr)>,
    bssid: Option<MacAddr>,
    from: Option<MacAddr>,
    first_ns: i64,
    last_ns: i64,
    frames: u64,
    retries: u64,
}

/// Rows of one kind that began in the present second.
#[derive(Clone, Copy, Debug, Default)]
struct Lately {
    since_ns: i64,
    rows: u32,
}

/// The events of a capture.
#[derive(Debug, Default)]
pub struct Events {
    frames: [u64; NAMES.len()],
    lately: [Lately; NAMES.len()],
    first: Vec<Row>,
    latest: VecDeque<Row>,
    rows_left_out: u64,
    frames_left_out: u64,
    /// The network each station joined last.
    joined: HashMap<u64, MacAddr>,
}

impl Events {
    /// Records a frame that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, detail: &Detail, at_ns: i64) {
        // No station has a group address: this one is damaged, and so is what the frame says.
        let Some(ta) = frame.ta().filter(|ta| !ta.is_group()) else { return };
        let ra = frame.header.receiver();
        let (kind, says) = match detail {
            Detail::Management(management) => match of_management(frame.header.fc.kind(), management) {
                Some(known) => known,
                None => return,
            },
            Detail::Eapol(packet) => (of_eapol(*packet), Says::Nothing),
            _ => return,
        };
        let bssid = frame.header.bssid();
        if let Some(frames) = self.frames.get_mut(kind as usize) {
            *frames += 1;
        }
        let retry = u64::from(frame.header.fc.retry());
        let same =
            |row: &&mut Row| row.kind == kind && row.says == says && row.ends == Some((ta, ra)) && row.is_recent(at_ns);
        if let Some(row) = self.latest.iter_mut().rev().take(LOOK_BACK).find(same) {
            return row.add(at_ns, retry);
        }
        let mut ends = Some((ta, ra));
        if self.are_many(kind, at_ns) {
            let many = |row: &&mut Row| row.kind == kind && row.ends.is_none() && row.is_recent(at_ns);
            if let Some(row) = self.latest.iter_mut().rev().take(LOOK_BACK).find(many) {
                if row.says != says {
                    row.says = Says::Nothing;
                }
                if row.bssid != bssid {
                    row.bssid = None;
                }
                return row.add(at_ns, retry);
            }
            ends = None;
        }
        let from = self.moved(kind, says, ta, ra, bssid);
        let row = Row { kind, says, ends, bssid, from, first_ns: at_ns, last_ns: at_ns, frames: 1, retries: retry };
        self.push(row);
    }

    /// Do more rows of a kind begin than anybody could read? Counts one more.
    fn are_many(&mut self, kind: Kind, at_ns: i64) -> bool {
        let Some(lately) = self.lately.get_mut(kind as usize) else { return false };
        if lately.rows == 0 || at_ns.saturating_sub(lately.since_ns).saturating_abs() >= SECOND_NS {
            *lately = Lately { since_ns: at_ns, rows: 0 };
        }
        lately.rows = lately.rows.saturating_add(1);
        lately.rows > ROWS_PER_SECOND
    }

    fn push(&mut self, row: Row) {
        if self.latest.len() >= LATEST_ROWS {
            if let Some(oldest) = self.latest.pop_front() {
                if self.first.len() < FIRST_ROWS {
                    self.first.push(oldest);
                } else {
                    self.rows_left_out += 1;
                    self.frames_left_out += oldest.frames;
                }
            }
        }
        self.latest.push_back(row);
    }

    /// The network that a station leaves for this one, where it is known.
    fn moved(&mut self, kind: Kind, says: Says, ta: MacAddr, ra: MacAddr, bssid: Option<MacAddr>) -> Option<MacAddr> {
        match (kind, says) {
            (Kind::ReassociationRequest, Says::From(ap)) => Some(ap).filter(|ap| Some(*ap) != bssid),
            (Kind::AssociationRequest, _) => self.joined.get(&ta.as_u64()).copied().filter(|ap| Some(*ap) != bssid),
            (Kind::AssociationResponse | Kind::ReassociationResponse, Says::Status(0)) => {
                let before = self.joined.get(&ra.as_u64()).copied();
                if let Some(bssid) = bssid.filter(|_| before.is_some() || self.joined.len() < MAX_STATIONS) {
                    self.joined.insert(ra.as_u64(), bssid);
                }
                before.filter(|ap| Some(*ap) != bssid)
            }
            _ => None,
        }
    }

    /// The events, in time order.
    pub fn report(&self) -> report::Events {
        let frames = NAMES.iter().zip(self.frames).filter(|(_, frames)| *frames > 0);
        let mut rows: Vec<report::Event> = self.first.iter().chain(&self.latest).map(Row::report).collect();
        rows.sort_by(|a, b| a.start_us.total_cmp(&b.start_us));
        report::Events {
            frames: frames.map(|(kind, frames)| report::EventFrames { kind: (*kind).to_owned(), frames }).collect(),
            rows,
            rows_left_out: self.rows_left_out,
            frames_left_out: self.frames_left_out,
        }
    }
}

impl Row {
    fn is_recent(&self, at_ns: i64) -> bool {
        at_ns.saturating_sub(self.last_ns).saturating_abs() <= SAME_NS
    }

    fn add(&mut self, at_ns: i64, retry: u64) {
        self.frames += 1;
        self.retries += retry;
        self.last_ns = self.last_ns.max(at_ns);
        self.first_ns = self.first_ns.min(at_ns);
    }

    fn report(&self) -> report::Event {
        let (code, text) = self.said();
        report::Event {
            start_us: us(self.first_ns),
            end_us: us(self.last_ns),
            kind: NAMES.get(self.kind as usize).copied().unwrap_or_default().to_owned(),
            sender: self.ends.map(|(ta, _)| ta.to_string()),
            receiver: self.ends.map(|(_, ra)| ra.to_string()),
            bssid: self.bssid.map(|bssid| bssid.to_string()),
            from_bssid: self.from.map(|from| from.to_string()),
            frames: self.frames,
            retries: self.retries,
            code,
            text,
        }
    }

    /// Status, reason or channel, and what it means.
    fn said(&self) -> (Option<u16>, Option<String>) {
        use wire::ieee80211::ReasonCode;
        match self.says {
            Says::Nothing | Says::From(_) => (None, None),
            Says::Hidden => (None, Some("encrypted".to_owned())),
            Says::Authentication(algorithm, transaction, status) => {
                let algorithm_name = match algorithm {
                    0 => "open".to_owned(),
                    1 => "shared key".to_owned(),
                    2 => "FT".to_owned(),
                    3 => "SAE".to_owned(),
                    4..=6 => "FILS".to_owned(),
                    other => format!("algorithm {other}"),
                };
                let message = match (algorithm, transaction) {
                    (3, 1) => "SAE commit".to_owned(),
                    (3, 2) => "SAE confirm".to_owned(),
                    _ => format!("{algorithm_name}, message {transaction}"),
                };
                // A commit that is not refused proves nothing yet.
                if algorithm == 3 && status == 0 {
                    return (Some(status), Some(message));
                }
                if is_request(algorithm, transaction) {
                    return (None, Some(message));
                }
                (Some(status), Some(format!("{message}: {}", StatusCode::from(status).text())))
            }
            Says::Status(status) => (Some(status), Some(StatusCode::from(status).text().to_owned())),
            Says::Reason(reason) => (Some(reason), Some(ReasonCode::from(reason).text().to_owned())),
            Says::Channel(channel, class, quiet) => {
                let class = class.map_or(String::new(), |class| format!(", operating class {class}"));
                let quiet = if quiet { ", quiet until then" } else { "" };
                (Some(u16::from(channel)), Some(format!("to channel {channel}{class}{quiet}")))
            }
        }
    }
}

/// Whether an authentication frame asks rather than answers: its status is reserved (802.11-2020, table 9-41). Both ends of
/// SAE answer.
const fn is_request(algorithm: u16, transaction: u16) -> bool {
    matches!(algorithm, 0..=2 | 4..=6) && transaction % 2 == 1
}

fn of_management(kind: FrameKind, management: &Management) -> Option<(Kind, Says)> {
    let says = match management.fixed {
        FixedFields::Authentication { algorithm, transaction, status } => {
            Says::Authentication(algorithm, transaction, status.number())
        }
        FixedFields::AssociationResponse { status, .. } => Says::Status(status.number()),
        FixedFields::ReassociationRequest { current_ap, .. } => Says::From(current_ap),
        FixedFields::Disassociation(reason) | FixedFields::Deauthentication(reason) => Says::Reason(reason.number()),
        FixedFields::Encrypted => Says::Hidden,
        _ => Says::Nothing,
    };
    let kind = match kind {
        FrameKind::Authentication => Kind::Authentication,
        FrameKind::AssociationRequest => Kind::AssociationRequest,
        FrameKind::AssociationResponse => Kind::AssociationResponse,
        FrameKind::ReassociationRequest => Kind::ReassociationRequest,
        FrameKind::ReassociationResponse => Kind::ReassociationResponse,
        FrameKind::Deauthentication => Kind::Deauthentication,
        FrameKind::Disassociation => Kind::Disassociation,
        _ => {
            let switch = match management.fixed {
                FixedFields::Action(Action::ChannelSwitch(switch)) => switch,
                // Elements that do not add up are damaged, or those of a frame cut short: what they say may be anything.
                FixedFields::Beacon { .. } if !management.capabilities.truncated => {
                    management.capabilities.channel_switch?
                }
                _ => return None,
            };
            return Some((Kind::ChannelSwitch, Says::Channel(switch.channel, switch.operating_class, switch.quiet)));
        }
    };
    Some((kind, says))
}

fn of_eapol(packet: Eapol) -> Kind {
    match packet {
        Eapol::Key(Message::First) => Kind::Handshake1,
        Eapol::Key(Message::Second) => Kind::Handshake2,
        Eapol::Key(Message::Third) => Kind::Handshake3,
        Eapol::Key(Message::Fourth) => Kind::Handshake4,
        Eapol::Key(Message::GroupFirst) => Kind::GroupKey1,
        Eapol::Key(Message::GroupSecond) => Kind::GroupKey2,
        Eapol::Key(Message::Request) => Kind::KeyRequest,
        Eapol::Eap(3) => Kind::EapSuccess,
        Eapol::Eap(4) => Kind::EapFailure,
        Eapol::Eap(_) | Eapol::Wps { .. } => Kind::Eap,
        Eapol::Start => Kind::EapStart,
        Eapol::Logoff => Kind::EapLogoff,
        Eapol::OtherKey | Eapol::Other => Kind::OtherEapol,
    }
}
