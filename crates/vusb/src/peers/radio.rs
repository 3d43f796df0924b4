//! A radio of mac80211_hwsim as a station on the air: an access point's, or a station's.

use wire::ieee80211::{FrameKind, FrameType, MacAddr, ManagementBody, Mpdu};
use wire::phy::{Band, Bandwidth, EdcaParameters, Mode, RateSet};

use super::agreements::Agreements;
use super::hwsim::{attribute, rate_flag, Incoming, FRAME, TX_CTL_NO_ACK, TX_INFO_FRAME, TX_STAT_ACK};
use super::queue::{Done, Queue, Queued};
use super::rates::DownRates;
use super::relay::Transport;
use super::statistics::{RadioStatistics, RelayCounters};
use crate::air::rates::{mode, vht, Modulation, LEGACY_RATES, MCS0};
use crate::air::{Outcome, Ppdu, Protection, Reception, Station, Tuned};

/// Frames that wait at most: what mac80211_hwsim keeps itself (MAX_QUEUE, 100) and some. It never holds its senders
/// back, so this is the radio's buffer, and its depth is the delay of a saturated link.
const QUEUE_MAX: usize = 128;
/// Bytes of a header with three addresses (Linux include/linux/ieee80211.h, struct ieee80211_hdr_3addr).
const HEADER_MIN: usize = 24;

/// What the kernel must be told about a frame.
#[derive(serde::Serialize, serde::Deserialize)]
struct Ticket {
    cookie: u64,
    transmitter: [u8; 6],
    flags: u32,
    tx_info: Vec<u8>,
}

/// A radio.
pub(super) struct Radio {
    /// The second address, by which the kernel names it (mac80211_hwsim.c: addresses[1] has bit 6 set).
    name: [u8; 6],
    /// Signal on the link to the chip, which its acknowledgements come with.
    signal_dbm: i8,
    /// with frames that it takes: those to this address and to groups; `None`: all.
    own: Option<MacAddr>,
    /// Where the radio is, as its frames say.
    tuned: Option<Tuned>,
    queue: Queue,
    tickets: Vec<Ticket>,
    done: Vec<Done>,
    /// Frames from the chip for the kernel.
    received: Vec<(Vec<u8>, Mode, i8, u16)>,
    /// Who may send A-MPDUs; "down" is what goes to the chip.
    agreements: Agreements,
    /// A-MPDUs without an agreement are not answered.
    strict_agreements: bool,
    basic: Option<RateSet>,
    rates: DownRates,
    counters: RelayCounters,
}

impl Radio {
    /// The radio with this number. It takes all frames, or only those to its own address and to groups.
    pub(super) fn new(number: u8, signal_dbm: i8, takes_all: bool, strict_agreements: bool) -> Self {
        Self {
            name: [0x42, 0, 0, 0, number, 0],
            signal_dbm,
            own: (!takes_all).then_some(MacAddr([0x02, 0, 0, 0, number, 0])),
            tuned: None,
            queue: Queue::default(),
            tickets: Vec::new(),
            done: Vec::new(),
            received: Vec::new(),
            agreements: Agreements::default(),
            strict_agreements,
            basic: None,
            rates: DownRates::default(),
            counters: RelayCounters::default(),
        }
    }

    /// How the kernel names it.
    pub(super) const fn name(&self) -> [u8; 6] {
        self.name
    }

    /// What it has counted.
    pub(super) fn statistics(&self) -> RadioStatistics {
        RadioStatistics { relay: self.counters, waiting: self.queue.len() }
    }

    /// A frame that the kernel wants it to send.
    pub(super) fn send(&mut self, now_ns: u64, message: &Incoming<'_>) {
        let (Some(frame), Some(transmitter)) = (message.get(attribute::FRAME), transmitter(message)) else { return };
        self.counters.from_kernel += 1;
        self.name = transmitter;
        if let (Some(own), Some(from)) = (&mut self.own, Mpdu::new(frame).transmitter()) {
            *own = from;
        }
        let frequency = message.u32(attribute::FREQ).and_then(|mhz| u16::try_from(mhz).ok());
        if let Some(frequency_mhz) = frequency.filter(|&mhz| mhz > 0) {
            self.tuned = Some(Tuned { frequency_mhz, width: Bandwidth::Mhz20 });
        }
        let band = self.tuned.map_or(Band::Ghz2_4, |tuned| tuned.band());
        if self.basic.is_none() {
            self.basic = basic_rates(frame);
        }
        let flags = message.u32(attribute::FLAGS).unwrap_or(0);
        let tx_info = message.get(attribute::TX_INFO).unwrap_or_default();
        let cookie =
            message.get(attribute::COOKIE).and_then(<[u8]>::first_chunk::<8>).map_or(0, |b| u64::from_le_bytes(*b));
        let (asked, protection) = rates(band, tx_info, message.get(attribute::TX_INFO_FLAGS).unwrap_or_default());
        let ticket = Ticket { cookie, transmitter, flags, tx_info: tx_info.to_vec() };
        if self.queue.len() >= QUEUE_MAX || frame.len() < 10 {
            self.counters.dropped += 1;
            self.tickets.push(ticket);
            self.done.push(Done { cookie, acknowledged: false, attempts: 0 });
            return;
        }
        self.agreements.watch(frame, false);
        self.rates.watch(frame);
        let modes = if is_unicast_data(frame) { self.rates.chain().unwrap_or(asked) } else { asked };
        self.tickets.push(ticket);
        self.queue.push(Queued { mpdu: frame.to_vec(), modes, protection, cookie, since_ns: now_ns, attempts: 0 });
    }

    /// Hands the kernel what came off the air, and what happened to its frames.
    pub(super) fn flush(&mut self, relay: &dyn Transport) {
        for (mut frame, mode, signal_dbm, frequency_mhz) in std::mem::take(&mut self.received) {
            self.counters.to_kernel += 1;
            lengthen(&mut frame);
            let message = relay
                .message(FRAME)
                .with(attribute::ADDR_RECEIVER, &self.name)
                .with(attribute::FRAME, &frame)
                .with(attribute::RX_RATE, &legacy_rate(&mode, frequency_mhz).to_le_bytes())
                .with(attribute::SIGNAL, &i32::from(signal_dbm).to_le_bytes())
                .with(attribute::FREQ, &u32::from(frequency_mhz).to_le_bytes());
            self.counters.refused += u64::from(!relay.send(message));
        }
        for done in std::mem::take(&mut self.done) {
            self.report(relay, &done);
        }
    }

    fn report(&mut self, relay: &dyn Transport, done: &Done) {
        let Some(at) = self.tickets.iter().position(|ticket| ticket.cookie == done.cookie) else { return };
        let Ticket { cookie, transmitter, flags, mut tx_info } = self.tickets.remove(at);
        let group_or_unacknowledged = flags & TX_CTL_NO_ACK != 0;
        if done.acknowledged {
            self.counters.acknowledged += u64::from(!group_or_unacknowledged);
        } else {
            self.counters.given_up += 1;
        }
        used(&mut tx_info, done.attempts);
        let flags = if done.acknowledged && !group_or_unacknowledged { flags | TX_STAT_ACK } else { flags };
        let message = relay
            .message(TX_INFO_FRAME)
            .with(attribute::ADDR_TRANSMITTER, &transmitter)
            .with(attribute::FLAGS, &flags.to_le_bytes())
            .with(attribute::SIGNAL, &i32::from(self.signal_dbm).to_le_bytes())
            .with(attribute::TX_INFO, &tx_info)
            .with(attribute::COOKIE, &cookie.to_le_bytes());
        self.counters.refused += u64::from(!relay.send(message));
    }
}

/// Control frames are shorter than a header with three addresses, and mac80211_hwsim refuses those
/// (hwsim_cloned_frame_received_nl). A PS-Poll or a Block Ack request means the same with zeros behind it: mac80211
/// reads its fields by their place. Other frames that are as short are cut, and stay so.
fn lengthen(frame: &mut Vec<u8>) {
    if Mpdu::new(frame.as_slice()).frame_type() == Some(FrameType::Control) {
        frame.resize(frame.len().max(HEADER_MIN), 0);
    }
}

/// Which radio sent a frame.
pub(super) fn transmitter(message: &Incoming<'_>) -> Option<[u8; 6]> {
    message.get(attribute::ADDR_TRANSMITTER).and_then(<[u8]>::first_chunk::<6>).copied()
}

/// The rates of a frame: indices and counts (struct hwsim_tx_rate), flags by the same indices (struct
/// hwsim_tx_rate_flag).
fn rates(band: Band, tx_info: &[u8], all_flags: &[u8]) -> (Vec<(Mode, u8)>, Protection) {
    let mut modes = Vec::new();
    let mut protection = Protection::None;
    for (at, rate) in tx_info.chunks_exact(2).enumerate() {
        let &[index, count] = rate else { break };
        let Ok(index) = u8::try_from(index as i8) else { break };
        let flags = all_flags.get(3 * at + 1..).and_then(<[u8]>::first_chunk).map_or(0, |b| u16::from_le_bytes(*b));
        let has = |flag: u16| flags & flag != 0;
        let modulation = Modulation {
            wide: has(rate_flag::WIDE),
            short_gi: has(rate_flag::SHORT_GI),
            short_preamble: has(rate_flag::SHORT_PREAMBLE),
            greenfield: has(rate_flag::GREEN_FIELD),
            stbc: 0,
        };
        let legacy = index.saturating_add(first_rate(band)).min(LEGACY_RATES.len() as u8 - 1);
        let number = if has(rate_flag::MCS) { MCS0 + index.min(7) } else { legacy };
        let asked = if has(rate_flag::VHT_MCS) { vht_mode(index, flags) } else { mode(number, modulation) };
        modes.push((asked, count.max(1)));
        if at == 0 {
            // The protecting frame goes at a rate that all stations can receive.
            let rate = mode(8, Modulation::default());
            protection = match (has(rate_flag::USE_RTS_CTS), has(rate_flag::USE_CTS_PROTECT)) {
                (true, _) => Protection::Rts(rate),
                (false, true) => Protection::CtsToSelf(rate),
                (false, false) => Protection::None,
            };
        }
    }
    if modes.is_empty() {
        modes.push((mode(first_rate(band), Modulation::default()), 1));
    }
    (modes, protection)
}

/// hwsim numbers its legacy rates as these chips do: 1 to 11, then 6 to 54 Mbit/s; in 5 GHz from 6 Mbit/s on
/// (mac80211_hwsim.c, mac80211_hwsim_new_radio).
const fn first_rate(band: Band) -> u8 {
    match band {
        Band::Ghz2_4 => 0,
        _ => 4,
    }
}

/// VHT with one stream: the MCS is in bits 3:0 (Linux include/net/mac80211.h, ieee80211_rate_get_vht_mcs).
const fn vht_mode(index: u8, flags: u16) -> Mode {
    let bandwidth = match (flags & rate_flag::WIDE_80 != 0, flags & rate_flag::WIDE != 0) {
        (true, _) => Bandwidth::Mhz80,
        (_, true) => Bandwidth::Mhz40,
        _ => Bandwidth::Mhz20,
    };
    vht(index & 0x0f, bandwidth, flags & rate_flag::SHORT_GI != 0)
}

fn is_unicast_data(frame: &[u8]) -> bool {
    let mpdu = Mpdu::new(frame);
    mpdu.is_data() && !mpdu.is_group()
}

/// What a beacon says of the rates that responses use.
fn basic_rates(frame: &[u8]) -> Option<RateSet> {
    let mpdu = Mpdu::new(frame);
    let fc = mpdu.frame_control().filter(|fc| fc.kind() == FrameKind::Beacon)?;
    let beacon = ManagementBody::parse(fc, mpdu.management_body())?;
    Some(RateSet::basic_of(beacon.elements.supported_rates))
}

/// Puts how often each rate was used into the table of rates; those that were not needed get index -1.
fn used(tx_info: &mut [u8], attempts: u8) {
    let mut left = attempts;
    let rates = tx_info.len() / 2;
    for (at, rate) in tx_info.chunks_exact_mut(2).enumerate() {
        let [index, tries] = rate else { continue };
        if (*index as i8) < 0 {
            continue;
        }
        // What the radio tried beyond the kernel's table counts for its last rate.
        let count = if at + 1 == rates { left } else { (*tries).max(1).min(left) };
        if count == 0 {
            *index = 0xff;
        }
        *tries = count;
        left -= count;
    }
}

/// hwsim's number of a legacy rate. HT and VHT have none: the fastest is given, and the truth stays in this program's capture.
fn legacy_rate(mode: &Mode, frequency_mhz: u16) -> u32 {
    let number = match mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
            LEGACY_RATES.iter().position(|rate| rate == rate_500kbps).unwrap_or(0) as u32
        }
        _ => LEGACY_RATES.len() as u32 - 1,
    };
    let band = Band::from_frequency_mhz(frequency_mhz).unwrap_or(Band::Ghz2_4);
    number.saturating_sub(u32::from(first_rate(band)))
}

impl Station for Radio {
    fn tuned(&self) -> Option<Tuned> {
        self.tuned
    }

    fn ready_since(&self) -> Option<u64> {
        self.queue.ready_since()
    }

    fn access(&self) -> EdcaParameters {
        self.queue.access()
    }

    fn access_function(&self) -> usize {
        self.queue.access_function()
    }

    fn begin(&mut self, _now_ns: u64, _function: usize) -> Option<Ppdu> {
        self.queue.begin(self.agreements.down, self.agreements.down_window)
    }

    fn ended(&mut self, _now_ns: u64, ppdu: Ppdu, outcome: &Outcome) {
        for (mpdu, &acknowledged) in ppdu.mpdus.iter().zip(&outcome.acknowledged) {
            if is_unicast_data(mpdu) {
                self.rates.report(acknowledged);
            }
        }
        self.queue.ended(outcome, &mut self.done);
    }

    fn wants(&self, receiver: MacAddr) -> bool {
        self.own.is_none_or(|own| receiver == own || receiver.is_group())
    }

    fn receive(&mut self, _now_ns: u64, mpdu: &[u8], reception: &Reception) -> bool {
        if self.strict_agreements && reception.ampdu.is_some() && !self.agreements.covers(mpdu) {
            return false;
        }
        self.agreements.watch(mpdu, true);
        self.rates.watch(mpdu);
        self.received.push((mpdu.to_vec(), reception.mode, reception.signal_dbm, reception.tuned.frequency_mhz));
        true
    }

    fn basic_rates(&self) -> Option<RateSet> {
        self.basic
    }
}

crate::state!(Radio {
    name, own, tuned, queue, tickets, done, received, agreements, basic, rates, counters,
} made { signal_dbm, strict_agreements });

#[cfg(test)]
mod tests {
    use super::*;

    /// Both bands' numbers of 6 and 54 Mbit/s, what VHT comes as, and what the kernel asks for.
    #[test]
    fn rates_are_numbered_by_band() {
        let ofdm = |rate| Mode::from_legacy_rate(rate, None).unwrap();
        let number = |mode: &Mode| [2_412, 5_180].map(|mhz| legacy_rate(mode, mhz));
        assert_eq!((number(&ofdm(12)), number(&ofdm(108))), ([4, 0], [11, 7]));
        let fastest = vht(9, Bandwidth::Mhz80, true);
        assert_eq!(number(&fastest), [11, 7]);
        let asked = |band, flags: u16| {
            let [low, high] = flags.to_le_bytes();
            rates(band, &[9, 2, 0xff, 0], &[9, low, high, 0xff, 0, 0]).0
        };
        assert_eq!(asked(Band::Ghz5, 0), [(ofdm(108), 2)], "beyond the last");
        assert_eq!(asked(Band::Ghz2_4, 0), [(ofdm(72), 2)]);
        let short_80 = rate_flag::VHT_MCS | rate_flag::WIDE_80 | rate_flag::SHORT_GI;
        assert_eq!(asked(Band::Ghz5, short_80), [(fastest, 2)]);
        assert_eq!(rates(Band::Ghz5, &[], &[]).0, [(ofdm(12), 1)]);
    }

    #[test]
    fn a_short_control_frame_reaches_the_kernel() {
        let poll = vec![0xa4, 0x10, 1, 0xc0, 2, 0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 1];
        let mut longer = poll.clone();
        lengthen(&mut longer);
        assert_eq!((longer.len(), &longer[..16], &longer[16..]), (24, &poll[..], &[0; 8][..]));
        for len in [0, 1, 16, 30] {
            let mut data = vec![0x08; len];
            lengthen(&mut data);
            assert_eq!(data, vec![0x08; len], "a data frame is whole or cut");
        }
    }
}
