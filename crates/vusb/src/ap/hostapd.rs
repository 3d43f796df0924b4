//! The access point that hostapd is: on a radio of mac80211_hwsim in this kernel, whose frames are relayed here.
//!
//! mac80211_hwsim gives every frame that its radios send to the one program that has registered, and takes frames and
//! transmit statuses from it (drivers/net/wireless/virtual/mac80211_hwsim.c; the interface of wmediumd). Encryption is
//! done by mac80211, so the frames are as they would be on the air.

use std::io;
use std::os::fd::{AsRawFd, RawFd};

use netlink_sys::{protocols::NETLINK_GENERIC, Socket, SocketAddr};
use serde::Serialize;
use wire::ieee80211::{FrameKind, ManagementBody, Mpdu};
use wire::phy::{EdcaParameters, Mode, RateSet};

use super::agreements::Agreements;
use super::hwsim::{
    attribute, rate_flag, Incoming, Incomings, Message, FRAME, REGISTER, TX_CTL_NO_ACK, TX_INFO_FRAME, TX_STAT_ACK,
};
use super::queue::{Done, Queue, Queued};
use super::rates::DownRates;
use super::{AccessPoint, ApError};
use crate::air::{Outcome, Ppdu, Protection, Reception, Station, Tuned};
use crate::chips::rtl8188cus::tx_descriptor::{mode, Modulation, LEGACY_RATES, MCS0};
use crate::device::Source;

/// The second address of the first radio, by which it is named (mac80211_hwsim.c: addresses[1] has bit 6 set).
const RADIO_DEFAULT: [u8; 6] = [0x42, 0, 0, 0, 0, 0];
/// Bytes that may wait in the socket.
const RECEIVE_BUFFER: usize = 4 << 20;
/// Frames that wait at most: what mac80211_hwsim keeps itself (MAX_QUEUE, 100) and some. It never holds its senders back,
/// so this is the access point's buffer, and its depth is the delay of a saturated downlink.
const QUEUE_MAX: usize = 128;

/// What the relay has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct RelayCounters {
    /// Frames from the kernel.
    pub from_ap: u64,
    /// Frames to the kernel.
    pub to_ap: u64,
    /// Frames of the kernel that were acknowledged.
    pub acknowledged: u64,
    /// Frames of the kernel given up after their last retry.
    pub given_up: u64,
    /// Frames that the kernel did not take.
    pub refused: u64,
    /// Frames from the kernel dropped because too many waited.
    pub dropped: u64,
}

/// What must be said to the kernel about a frame.
struct Ticket {
    cookie: u64,
    transmitter: [u8; 6],
    flags: u32,
    tx_info: Vec<u8>,
}

/// The relay.
pub struct Hostapd {
    socket: Socket,
    family: u16,
    buffer: Vec<u8>,
    radio: [u8; 6],
    /// Where the radio is, as its frames say.
    tuned: Option<Tuned>,
    queue: Queue,
    tickets: Vec<Ticket>,
    done: Vec<Done>,
    /// Frames from the chip for the kernel.
    received: Vec<(Vec<u8>, Mode, i8, u16)>,
    /// Who may send A-MPDUs.
    agreements: Agreements,
    /// A-MPDUs without an agreement are not answered.
    strict_agreements: bool,
    basic: Option<RateSet>,
    rates: DownRates,
    counters: RelayCounters,
}

impl Hostapd {
    /// Registers with mac80211_hwsim. `strict_agreements`: A-MPDUs for which there is no agreement are not answered; real
    /// access points have been seen to answer them.
    ///
    /// # Errors
    /// The module is not loaded, or somebody else relays already.
    pub fn new(strict_agreements: bool) -> Result<Self, ApError> {
        let no_hwsim = |source| ApError::NoHwsim { source };
        let mut socket = Socket::new(NETLINK_GENERIC).map_err(no_hwsim)?;
        socket.bind(&SocketAddr::new(0, 0)).map_err(no_hwsim)?;
        socket.connect(&SocketAddr::new(0, 0)).map_err(no_hwsim)?;
        // Root may have more than the system's limit; without it, that limit must do.
        let _ = socket.set_rx_buf_sz(RECEIVE_BUFFER as u32);
        let family = ask(&socket, &Message::family("MAC80211_HWSIM").finish(), |message| message.family_id().map(Ok))
            .map_err(no_hwsim)?;
        ask(&socket, &Message::new(family, REGISTER, true).finish(), |message| match message.error() {
            Some(0) => Some(Ok(())),
            Some(error) => Some(Err(io::Error::from_raw_os_error(-error))),
            None => None,
        })
        .map_err(|source| ApError::NotRelayed { source })?;
        socket.set_non_blocking(true).map_err(no_hwsim)?;
        Ok(Self {
            socket,
            family,
            buffer: vec![0; 65_536],
            radio: RADIO_DEFAULT,
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
        })
    }

    fn frame_from_ap(&mut self, now_ns: u64, message: &Incoming<'_>) {
        let (Some(frame), Some(transmitter)) = (
            message.get(attribute::FRAME),
            message.get(attribute::ADDR_TRANSMITTER).and_then(<[u8]>::first_chunk::<6>),
        ) else {
            return;
        };
        self.counters.from_ap += 1;
        self.radio = *transmitter;
        let frequency = message.u32(attribute::FREQ).and_then(|mhz| u16::try_from(mhz).ok());
        if let Some(frequency_mhz) = frequency.filter(|&mhz| mhz > 0) {
            self.tuned = Some(Tuned { frequency_mhz, wide: false });
        }
        if self.basic.is_none() {
            self.basic = basic_rates(frame);
        }
        let flags = message.u32(attribute::FLAGS).unwrap_or(0);
        let tx_info = message.get(attribute::TX_INFO).unwrap_or_default();
        let cookie =
            message.get(attribute::COOKIE).and_then(<[u8]>::first_chunk::<8>).map_or(0, |b| u64::from_le_bytes(*b));
        let (asked, protection) = rates(tx_info, message.get(attribute::TX_INFO_FLAGS).unwrap_or_default());
        let ticket = Ticket { cookie, transmitter: *transmitter, flags, tx_info: tx_info.to_vec() };
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

    fn send(&mut self, message: Vec<u8>) {
        // A full socket is the kernel not keeping up: the frame is lost, as on a real radio.
        if self.socket.send(&message, 0).is_err() {
            self.counters.refused += 1;
        }
    }

    fn report(&mut self, done: &Done) {
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
        let message = Message::new(self.family, TX_INFO_FRAME, false)
            .with(attribute::ADDR_TRANSMITTER, &transmitter)
            .with(attribute::FLAGS, &flags.to_le_bytes())
            .with(attribute::SIGNAL, &(-45i32).to_le_bytes())
            .with(attribute::TX_INFO, &tx_info)
            .with(attribute::COOKIE, &cookie.to_le_bytes())
            .finish();
        self.send(message);
    }
}

/// Sends a request and waits for the message that answers it.
fn ask<T>(
    socket: &Socket,
    request: &[u8],
    mut read: impl FnMut(&Incoming<'_>) -> Option<io::Result<T>>,
) -> io::Result<T> {
    socket.send(request, 0)?;
    let mut buffer = vec![0; 16_384];
    for _ in 0..64 {
        let len = socket.recv(&mut &mut buffer[..], 0)?;
        for message in Incomings(buffer.get(..len).unwrap_or_default()) {
            if let Some(error) = message.error().filter(|&error| error != 0) {
                return Err(io::Error::from_raw_os_error(-error));
            }
            if let Some(result) = read(&message) {
                return result;
            }
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

/// The rates of a frame: indices and counts (struct hwsim_tx_rate), flags by the same indices (struct hwsim_tx_rate_flag).
fn rates(tx_info: &[u8], all_flags: &[u8]) -> (Vec<(Mode, u8)>, Protection) {
    let mut modes = Vec::new();
    let mut protection = Protection::None;
    for (at, rate) in tx_info.chunks_exact(2).enumerate() {
        let (index, count) = (rate[0] as i8, rate[1]);
        let Ok(index) = u8::try_from(index) else { break };
        let flags = all_flags.get(3 * at + 1..3 * at + 3).map_or(0, |b| u16::from_le_bytes([b[0], b[1]]));
        let has = |flag: u16| flags & flag != 0;
        let modulation = Modulation {
            wide: has(rate_flag::WIDE),
            short_gi: has(rate_flag::SHORT_GI),
            short_preamble: has(rate_flag::SHORT_PREAMBLE),
            greenfield: has(rate_flag::GREEN_FIELD),
            stbc: 0,
        };
        // hwsim numbers its legacy rates as this chip does: 1 to 11, then 6 to 54 Mbit/s.
        let number = if has(rate_flag::MCS) { MCS0 + index.min(7) } else { index.min(11) };
        modes.push((mode(number, modulation), count.max(1)));
        if at == 0 {
            // The protecting frame goes at a rate that everybody hears.
            let rate = mode(8, Modulation::default());
            protection = match (has(rate_flag::USE_RTS_CTS), has(rate_flag::USE_CTS_PROTECT)) {
                (true, _) => Protection::Rts(rate),
                (false, true) => Protection::CtsToSelf(rate),
                (false, false) => Protection::None,
            };
        }
    }
    if modes.is_empty() {
        modes.push((mode(0, Modulation::default()), 1));
    }
    (modes, protection)
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
        if (rate[0] as i8) < 0 {
            continue;
        }
        // What the radio tried beyond the kernel's table counts for its last rate.
        let count = if at + 1 == rates { left } else { rate[1].max(1).min(left) };
        if count == 0 {
            rate[0] = 0xff;
        }
        rate[1] = count;
        left -= count;
    }
}

/// hwsim's number of a legacy rate. HT has none: the fastest is given, and the truth stays in this program's capture.
fn legacy_rate(mode: &Mode) -> u32 {
    match mode {
        Mode::Dsss { rate_500kbps, .. } | Mode::Ofdm { rate_500kbps, .. } => {
            LEGACY_RATES.iter().position(|rate| rate == rate_500kbps).unwrap_or(0) as u32
        }
        _ => LEGACY_RATES.len() as u32 - 1,
    }
}

impl AccessPoint for Hostapd {
    fn station(&self) -> &dyn Station {
        self
    }

    fn as_station(&mut self) -> &mut dyn Station {
        self
    }

    fn advance(&mut self, _now_ns: u64) {}

    fn flush(&mut self, _now_ns: u64) {
        for (frame, mode, signal_dbm, frequency_mhz) in std::mem::take(&mut self.received) {
            self.counters.to_ap += 1;
            let message = Message::new(self.family, FRAME, false)
                .with(attribute::ADDR_RECEIVER, &self.radio)
                .with(attribute::FRAME, &frame)
                .with(attribute::RX_RATE, &legacy_rate(&mode).to_le_bytes())
                .with(attribute::SIGNAL, &i32::from(signal_dbm).to_le_bytes())
                .with(attribute::FREQ, &u32::from(frequency_mhz).to_le_bytes())
                .finish();
            self.send(message);
        }
        for done in std::mem::take(&mut self.done) {
            self.report(&done);
        }
    }

    fn next_event(&self) -> Option<u64> {
        None
    }

    fn sources(&self, sources: &mut Vec<Source>) {
        // Statuses must go back before the kernel sends more than 100 frames: it is always read.
        sources.push(Source { fd: self.socket.as_raw_fd(), wanted: true });
    }

    fn readable(&mut self, now_ns: u64, _fd: RawFd) {
        let mut buffer = std::mem::take(&mut self.buffer);
        while let Ok(len) = self.socket.recv(&mut &mut buffer[..], 0) {
            for message in Incomings(buffer.get(..len).unwrap_or_default()) {
                if message.family == self.family && message.command == FRAME {
                    self.frame_from_ap(now_ns, &message);
                }
            }
        }
        self.buffer = buffer;
    }

    fn statistics(&self) -> serde_json::Value {
        serde_json::json!({ "kind": "hostapd", "relay": self.counters, "waiting": self.queue.len() })
    }
}

impl Station for Hostapd {
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

    fn begin(&mut self, _now_ns: u64) -> Option<Ppdu> {
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
