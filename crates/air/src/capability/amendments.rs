//! Radio measurement (802.11k), BSS transition (802.11v), fast BSS transition (802.11r), TWT and multi-link operation.

use wire::ieee80211::{Capabilities, LinkIds, MultiLink};

use super::subject::{row, Seen, Subject};
use crate::report::{Basis, CapabilityRow, Claim};

/// The rows. No station has to use any of it: a claim that is not used is not a fault, and has no note.
pub fn amendments(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let kvr = [
        row(
            Basis::Mac,
            "Radio Measurement (802.11k)",
            managed(subject, measurement),
            actions(subject, usage.radio_measurements),
            None,
        ),
        row(
            Basis::Mac,
            "BSS Transition (802.11v)",
            managed(subject, |c| (c.extended.is_some_and(|extended| extended.bss_transition()), None)),
            actions(subject, usage.transition_management),
            None,
        ),
        fast_transition(subject),
    ];
    rows.extend(kvr.into_iter().filter(is_told));
    let twt = [
        ("TWT Requester", managed(subject, |c| (requester(c), None))),
        ("TWT Responder", managed(subject, |c| (responder(c), twt_detail(c)))),
    ];
    for (name, claim) in twt {
        let mut twt = row(Basis::Mac, name, claim, actions(subject, usage.twt_setups), None);
        if usage.twt_setups + usage.twt_agreements > 0 {
            let sent = twt.seen_detail.unwrap_or_default();
            twt.seen_detail = Some(format!("{sent}, as TWT setups; part of {} agreements", usage.twt_agreements));
        }
        rows.extend((twt.claimed == Claim::Yes).then_some(twt));
    }
    rows.extend(multi_link(subject));
}

/// A row says something: there is a claim, or a use.
pub(super) fn is_told(row: &CapabilityRow) -> bool {
    row.claimed != Claim::NotAvailable || row.seen.is_some_and(|seen| seen > 0)
}

/// A claim that a probe request leaves out without meaning it.
pub(super) fn managed(
    subject: &Subject<'_>,
    test: impl Fn(&Capabilities) -> (bool, Option<String>),
) -> (Claim, Option<String>) {
    match (subject.claim(test), subject.shows_security) {
        ((Claim::No, _), false) => (Claim::NotAvailable, Some("a probe request does not contain it".to_owned())),
        (claim, _) => claim,
    }
}

/// Action frames of a kind.
fn actions(subject: &Subject<'_>, used: u64) -> Seen {
    let usage = subject.usage;
    match used {
        0 if usage.encrypted_actions > 0 && usage.actions == 0 => Seen::Unknown("its action frames are encrypted"),
        0 if usage.encrypted_actions > 0 => Seen::Unknown("some of its action frames are encrypted"),
        used => Seen::Frames(used, usage.actions, "action frames it sent".to_owned()),
    }
}

fn measurement(c: &Capabilities) -> (bool, Option<String>) {
    let Some(able) = c.radio_measurement else { return (false, None) };
    let [passive, active, table] = able.beacon_measurement();
    let parts = [
        (able.neighbor_report(), "neighbor report"),
        (passive, "beacon passive"),
        (active, "beacon active"),
        (table, "beacon table"),
        (able.link_measurement(), "link measurement"),
    ];
    let names: Vec<_> = parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect();
    (true, (!names.is_empty()).then(|| names.join(", ")))
}

fn fast_transition(subject: &Subject<'_>) -> CapabilityRow {
    let usage = subject.usage;
    let claim = managed(subject, |c| match c.mobility_domain {
        Some(domain) => {
            let over = if domain.over_ds() { "over the air and the distribution system" } else { "over the air" };
            (true, Some(format!("mobility domain {:04x}, {over}", domain.id)))
        }
        None => (false, None),
    });
    let (used, of) = (usage.ft_authentications + usage.ft_actions, usage.authentications + usage.ft_actions);
    let seen = Seen::Frames(used, of, "authentication and FT action frames it sent".to_owned());
    row(Basis::Mac, "Fast BSS Transition (802.11r)", claim, seen, None)
}

fn requester(c: &Capabilities) -> bool {
    c.he.is_some_and(|he| he.twt_requester()) || c.extended.is_some_and(|extended| extended.twt_requester())
}

fn responder(c: &Capabilities) -> bool {
    c.he.is_some_and(|he| he.twt_responder()) || c.extended.is_some_and(|extended| extended.twt_responder())
}

fn twt_detail(c: &Capabilities) -> Option<String> {
    let parts = [
        (c.he.is_some_and(|he| he.broadcast_twt()), "broadcast TWT"),
        (c.eht.is_some_and(|eht| eht.restricted_twt()), "restricted TWT"),
        (c.he_operation.is_some_and(|operation| operation.twt_required()), "requires it of stations"),
    ];
    let names: Vec<_> = parts.into_iter().filter(|(is_there, _)| *is_there).map(|(_, name)| name).collect();
    (!names.is_empty()).then(|| names.join(", "))
}

/// Frames carry the addresses of links, so the traffic of one address does not show what the device does as a whole.
fn multi_link(subject: &Subject<'_>) -> Option<CapabilityRow> {
    let claimed = subject.claimed?;
    let link = claimed.multi_link?;
    let detail = link_detail(&link, claimed.reported_links, subject.is_ap);
    let unseen = Seen::Unknown("every link has an address of its own, and this is one link");
    Some(row(Basis::Mac, "Multi-Link Operation", (Claim::Yes, Some(detail)), unseen, None))
}

fn link_detail(link: &MultiLink, reported: LinkIds, is_ap: bool) -> String {
    let list = |ids: LinkIds| ids.iter().map(|id| id.to_string()).collect::<Vec<_>>().join(", ");
    let mut text = format!("of the multi-link device {}", link.mld);
    if let Some(id) = link.link_id {
        text += &format!(", link {id}");
    }
    if let Some(most) = link.max_simultaneous_links {
        text += &format!(", at most {most} at once");
    }
    match (is_ap, link.profiles.count(), reported.count()) {
        (false, 1.., _) => text += &format!("; asks for link {} as well", list(link.profiles)),
        (true, 1.., _) => text += &format!("; other links: {}", list(link.profiles)),
        (true, 0, 1..) => text += &format!("; other links: {}", list(reported)),
        _ => {}
    }
    text
}
