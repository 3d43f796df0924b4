//! Direct links of two stations of an access point (TDLS): how they are set up, and what they carry.

use hashbrown::HashMap;
use wire::ieee80211::{MacAddr, ReasonCode, StatusCode, Tdls};

use super::context::{named, Context};
use crate::frame::Frame;
use crate::report::Happening;
use sentence::{sentence, Figure};

/// Pairs that are followed.
const MAX_PAIRS: usize = 256;

/// What one station sent another to set up a link. Each frame goes to the access point and from there: `[to, from]` it.
#[derive(Clone, Debug, Default)]
struct Setup {
    requests: [u64; 2],
    response: Option<StatusCode>,
    confirm: Option<StatusCode>,
    teardown: Option<ReasonCode>,
    frames: u64,
    bssid: Option<MacAddr>,
    first_ns: i64,
    last_ns: i64,
}

/// Set-ups of direct links, by (initiator, responder).
#[derive(Debug, Default)]
pub struct DirectLinks(HashMap<(u64, u64), Setup>);

impl DirectLinks {
    /// Records a TDLS frame that is not known to be damaged.
    pub fn frame(&mut self, frame: &Frame, tdls: Tdls, at_ns: i64) {
        let header = &frame.header;
        let (Some(from), Some(to)) = (header.source(), header.destination()) else { return };
        if !named(from) || !named(to) || matches!(tdls, Tdls::Other(_)) {
            return;
        }
        // Who tears it down is any of the two.
        let back = (to.as_u64(), from.as_u64());
        let key = match tdls {
            Tdls::SetupResponse(_) => back,
            Tdls::Teardown(_) if self.0.contains_key(&back) => back,
            _ => (from.as_u64(), to.as_u64()),
        };
        if self.0.len() >= MAX_PAIRS && !self.0.contains_key(&key) {
            return;
        }
        let setup = self.0.entry(key).or_insert_with(|| Setup { first_ns: at_ns, ..Setup::default() });
        setup.frames += 1;
        setup.last_ns = at_ns;
        setup.bssid = setup.bssid.or(header.bssid());
        match tdls {
            Tdls::SetupRequest => {
                let [to_ap, from_ap] = &mut setup.requests;
                *(if header.fc.from_ds() { from_ap } else { to_ap }) += 1;
            }
            Tdls::SetupResponse(status) => setup.response = Some(status),
            Tdls::SetupConfirm(status) => setup.confirm = Some(status),
            Tdls::Teardown(reason) => setup.teardown = Some(reason),
            Tdls::Other(_) => {}
        }
    }

    /// One row for each set-up, and one for each pair with data.
    pub fn report(&self, context: &Context<'_>) -> Vec<Happening> {
        let mut rows: Vec<_> = self.0.iter().collect();
        rows.sort_by_key(|(key, _)| **key);
        let set_up = rows
            .into_iter()
            .map(|((one, other), setup)| setup.happening(MacAddr::from_u64(*one), MacAddr::from_u64(*other)));
        set_up.chain(data(context)).collect()
    }
}

impl Setup {
    fn happening(&self, one: MacAddr, other: MacAddr) -> Happening {
        let [to_ap, from_ap] = self.requests;
        let requests = to_ap.max(from_ap);
        let refused = |status: &StatusCode| status.number() != 0;
        let refusal = self.response.filter(refused).or(self.confirm.filter(refused));
        let asked = sentence!(
            "{one} asked {other} for a direct link (TDLS) {times}",
            times = Figure::all(requests, "time");
            one = one,
            other = other
        );
        let end = |reason: ReasonCode| format!("ended with reason {} ({})", reason.number(), reason.text());
        let how = match (refusal, self.confirm, self.teardown) {
            (Some(status), ..) => format!("refused, status {} ({})", status.number(), status.text()),
            (None, Some(_), None) => "set up".to_owned(),
            (None, Some(_), Some(reason)) => format!("set up, and {}", end(reason)),
            (None, None, Some(reason)) => end(reason),
            (None, None, None) if self.response.is_some() => "accepted; no confirmation is in the capture".to_owned(),
            (None, None, None) => "no response is in the capture".to_owned(),
        };
        let kind = if refusal.is_some() { "fault" } else { "event" };
        Happening {
            station: Some(one.to_string()),
            bssid: self.bssid.map(|bssid| bssid.to_string()),
            ..Happening::new(
                "direct-link-set-up",
                kind,
                (self.first_ns, self.last_ns),
                self.frames,
                asked.with(&format!(": {how}")),
            )
        }
    }
}

/// Two stations of a network that send data to each other, not through its access point.
fn data(context: &Context<'_>) -> Vec<Happening> {
    let mut pairs: HashMap<(MacAddr, MacAddr), (u64, i64, i64, MacAddr)> = HashMap::new();
    for (_, link) in context.links.iter() {
        let Some(bssid) = link.bssid.filter(|bssid| *bssid != link.ta && *bssid != link.ra) else { continue };
        let is_direct = link.ds == Some((false, false)) && link.mpdus > 0 && !link.ra.is_group();
        let acts_as_ap = |bssid: MacAddr| {
            context.stations.table.by_key(&bssid.as_u64()).is_some_and(|station| station.acts_as_ap(false))
        };
        let is_of_ap = context.claims.kind(bssid) == Some("ap") || acts_as_ap(bssid);
        if is_direct && is_of_ap {
            let key = (link.ta.min(link.ra), link.ta.max(link.ra));
            let sum = pairs.entry(key).or_insert((0, link.first_ns, link.last_ns, bssid));
            *sum = (sum.0 + link.mpdus, sum.1.min(link.first_ns), sum.2.max(link.last_ns), bssid);
        }
    }
    pairs
        .into_iter()
        .map(|((one, other), (frames, first_ns, last_ns, bssid))| {
            let said = sentence!(
                "{one} and {other} send {frames} to each other directly, not through {ap} (TDLS)",
                frames = Figure::all(frames, "data frame");
                one = one,
                other = other,
                ap = context.network(bssid)
            );
            Happening {
                station: Some(one.to_string()),
                bssid: Some(bssid.to_string()),
                ..Happening::new("direct-link", "event", (first_ns, last_ns), frames, said)
            }
        })
        .collect()
}
