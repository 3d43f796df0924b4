//! From settings to radios.

use random::{Rng, Stream};
use wire::phy::EdcaParameters;

use crate::checked::ScenarioError;
use crate::engine::{AccessCategory, Packet};
use crate::queue::{Fifo, MacQueue};
use crate::wlan::counters::DirectionCounters;
use crate::wlan::host::Host;
use crate::wlan::phy::{self, speech_down, speech_up, Speech};
use crate::wlan::radio::{Lane, Peer, Queue, Radio};
use crate::wlan::rate::{Minstrel, RateControl};
use crate::wlan::settings::{self, Phy, Scenario, Station};
use medium::ErrorRates;
use medium::Parameters;

/// AIFSN of the DCF, which waits DIFS.
const DCF_AIFSN: u32 = 2;

/// Contention parameters of one category, with the longest time that the medium is kept, ns.
fn edca(station: &Station, is_ap: bool, category: AccessCategory) -> (Parameters, u64) {
    let defaults = EdcaParameters::default_for(match category {
        AccessCategory::Background => wire::phy::AccessCategory::Background,
        AccessCategory::BestEffort => wire::phy::AccessCategory::BestEffort,
        AccessCategory::Video => wire::phy::AccessCategory::Video,
        AccessCategory::Voice => wire::phy::AccessCategory::Voice,
    });
    let given = station.edca.of(category);
    let (aifsn, cw_min, cw_max, txop_us) = match station.phy {
        Phy::Ht => {
            let first = is_ap && matches!(category, AccessCategory::Video | AccessCategory::Voice);
            let aifsn = if first { 1 } else { u32::from(defaults.aifsn) };
            let windows = ((1 << defaults.ecw_min) - 1, (1 << defaults.ecw_max) - 1);
            (aifsn, windows.0, windows.1, u32::from(defaults.txop_limit_32us) * 32)
        }
        Phy::Ofdm => (DCF_AIFSN, 15, 1_023, 0),
        Phy::Dsss => (DCF_AIFSN, 31, 1_023, 0),
    };
    let cw_min = given.cw_min.map_or(cw_min, u32::from);
    let parameters = Parameters {
        aifsn: given.aifsn.map_or(aifsn, u32::from),
        cw_min,
        cw_max: given.cw_max.map_or(cw_max, u32::from).max(cw_min),
        retry_limit: u32::from(station.retry_limit),
    };
    (parameters, u64::from(given.txop_us.unwrap_or(txop_us)) * 1_000)
}

/// The contention parameters of every channel access function.
pub(crate) fn parameters(scenario: &Scenario) -> Vec<Parameters> {
    let stations = scenario.each_station().map(|(_, station)| (station, false));
    let all = std::iter::once((&scenario.ap, true)).chain(stations);
    all.flat_map(|(station, is_ap)| AccessCategory::BY_PRIORITY.map(|category| edca(station, is_ap, category).0))
        .collect()
}

fn rate_control(
    phy: &mut phy::Phy,
    kind: settings::RateControl,
    rate: phy::RateId,
    aggregates: bool,
) -> Option<RateControl> {
    if kind == settings::RateControl::Fixed {
        return Some(RateControl::Fixed(rate));
    }
    let mut rates = Vec::new();
    for mode in phy::up_to(phy.rate(rate).mode) {
        let id = phy.rates.rate_id(mode)?;
        rates.push((id, phy.rate(id).kbit_s));
    }
    let fastest = phy.rate(rate);
    // DIFS, half of a contention window of 15 slots, preamble, SIFS, answer.
    let contention_ns = phy.spaces.sifs_ns + 2 * phy.spaces.slot_ns + 15 * phy.spaces.slot_ns / 2;
    let overhead_ns = contention_ns + fastest.preamble_ns + fastest.gap_ns + fastest.block_ack_ns;
    Some(RateControl::Minstrel(Box::new(Minstrel::new(rates.into_iter(), overhead_ns, aggregates))))
}

fn peer<P: Packet>(
    phy: &mut phy::Phy,
    speech: &Speech,
    own: &Station,
    other: &Station,
    (radio, mirror): (usize, usize),
    key: &str,
) -> Result<Peer<P>, ScenarioError> {
    let no_mode = || ScenarioError::new(key, "no such modulation at this channel width");
    let rate = phy.rates.rate_id(speech.mode).ok_or_else(no_mode)?;
    let aggregates = own.phy == Phy::Ht && other.phy == Phy::Ht && own.tx_ampdu;
    if own.retry_rates == settings::RetryRates::Stepwise {
        for lower in phy::up_to(speech.mode) {
            phy.rates.rate_id(lower).ok_or_else(no_mode)?;
        }
    }
    let rates = rate_control(phy, own.rate_control, rate, aggregates).ok_or_else(no_mode)?;
    let both_ht = own.phy == Phy::Ht && other.phy == Phy::Ht;
    Ok(Peer {
        radio,
        mirror,
        qos: both_ht,
        session_to: both_ht && own.tx_ampdu,
        session_from: both_ht && other.tx_ampdu,
        rates,
        mpdu_error_rate: speech.mpdu_error_rate,
        errors: ErrorRates::new(speech.snr_db),
        originators: Default::default(),
        recipients: Default::default(),
        counts: DirectionCounters::default(),
    })
}

fn radio<P: Packet + 'static>(settings: &Station, is_ap: bool, peers: Vec<Peer<P>>, perturbation: u64) -> Radio<P> {
    let queue: Queue<P> = match &settings.queueing {
        Some(queueing) => queueing.queues(peers.len(), perturbation),
        // `queue_packets` is looked at before a packet comes here.
        None => Box::new(MacQueue::new(usize::MAX, false, peers.len(), |_| Fifo::new(usize::MAX))),
    };
    Radio {
        qos: settings.phy == Phy::Ht,
        queue,
        lanes: std::array::from_fn(|_| Lane::default()),
        peers,
        host: Host::new(settings),
        txop_ns: AccessCategory::BY_PRIORITY.map(|category| edca(settings, is_ap, category).1),
        hardware_us: 0,
        settings: settings.clone(),
    }
}

/// The access point, and the stations in the order of their hosts.
pub(crate) fn radios<P: Packet + 'static>(
    scenario: &Scenario,
    phy: &mut phy::Phy,
) -> Result<Vec<Radio<P>>, ScenarioError> {
    let ap = &scenario.ap;
    let perturbation = |radio: usize| Rng::new(scenario.seed, Stream::FlowHash, radio as u32).next();
    let mut ap_peers = Vec::new();
    let mut stations = Vec::new();
    for (index, (name, station)) in scenario.each_station().enumerate() {
        let down = speech_down(scenario, station);
        let up = speech_up(scenario, station);
        ap_peers.push(peer(phy, &down, ap, station, (index + 1, 0), &format!("{name}.ap_mcs"))?);
        let peers = vec![peer(phy, &up, station, ap, (0, index), &format!("{name}.mcs"))?];
        stations.push(radio(station, false, peers, perturbation(index + 1)));
    }
    let mut radios = vec![radio(ap, true, ap_peers, perturbation(0))];
    radios.append(&mut stations);
    Ok(radios)
}
