//! The capturing receiver: misses frames, damages them, stamps them, writes them.

use std::io::{self, Write};

use wire::ieee80211::MacAddr;
use wire::phy::Mode;

use crate::census::{Census, Harm};
use crate::file::File;
use crate::frame::{Builder, Class, Content, Mpdu, FCS_LEN};
use crate::linkheader::Reception;
use crate::scene::{legacy, AmpduReference, AmpduStamp, Link, Scene, Sniffer, StampMeaning};
use random::{mix, Rng, Stream};

/// 2021-07-23 12:00 UTC.
const START_UNIX_NS: u64 = 1_627_041_600_000_000_000;
/// What the sniffer's TSF counter shows at the start of the scene. Not a whole number of µs.
const START_TSF_NS: u64 = 5_812_344_007_377;
/// From the end of a PPDU to the capture time stamp of its first frame.
const HOST_LATENCY_NS: u64 = 20_000;

/// An MPDU at its place in time, ns since the start of the scene.
#[derive(Clone, Copy, Debug)]
pub(crate) struct OnAir {
    pub(crate) mpdu: Mpdu,
    pub(crate) mode: Mode,
    /// FCS included.
    pub(crate) len: usize,
    /// Number of the PPDU.
    pub(crate) ppdu: u32,
    pub(crate) ppdu_start_ns: u64,
    pub(crate) preamble_ns: u64,
    pub(crate) ppdu_end_ns: u64,
    pub(crate) mpdu_start_ns: u64,
    pub(crate) mpdu_end_ns: u64,
    /// Position in the PPDU and number of MPDUs; `None` outside of A-MPDUs.
    pub(crate) ampdu: Option<(u32, u32)>,
}

/// What happened to a frame at the sniffer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Heard {
    Missed,
    Damaged,
    Good,
}

/// Totals of the file.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct FileTotals {
    pub(crate) frames: u64,
    pub(crate) bad_fcs: u64,
    pub(crate) damaged: u64,
    pub(crate) damaged_unflagged: u64,
    pub(crate) not_captured: u64,
    pub(crate) cut_frames: u64,
    pub(crate) captured_bytes: u64,
    pub(crate) first_ns: Option<u64>,
    pub(crate) last_ns: u64,
}

/// The receiver with its open file.
pub(crate) struct Receiver<'a, W> {
    settings: &'a Sniffer,
    seed: u64,
    link: Link,
    snap_len: usize,
    frequency_mhz: u16,
    signals_dbm: Vec<i8>,
    file: File<W>,
    rng: Rng,
    record: Vec<u8>,
    pub(crate) census: Census,
    pub(crate) totals: FileTotals,
}

impl<'a, W: Write> Receiver<'a, W> {
    pub(crate) fn new(scene: &'a Scene, addresses: &[MacAddr], out: W) -> io::Result<Self> {
        let signals_dbm =
            std::iter::once(scene.bss.signal_dbm).chain(scene.stations.iter().map(|s| s.signal_dbm)).collect();
        Ok(Self {
            settings: &scene.sniffer,
            seed: scene.seed,
            link: scene.output.link,
            snap_len: scene.output.snap_len.map_or(usize::MAX, |n| n as usize),
            frequency_mhz: scene.frequency_mhz,
            signals_dbm,
            file: File::create(out, &scene.output, scene.sniffer.fcs)?,
            rng: Rng::new(scene.seed, Stream::SpecimenSniffer, 0),
            record: Vec::with_capacity(4096),
            census: Census::new(addresses),
            totals: FileTotals::default(),
        })
    }

    fn misses(&mut self, frame: &OnAir) -> bool {
        let settings = self.settings;
        let away = settings.hop.is_some_and(|hop| {
            let period_ns = u64::from(hop.period_ms.max(1)) * 1_000_000;
            frame.ppdu_start_ns % period_ns >= u64::from(hop.here_ms) * 1_000_000
        });
        let missed = self.rng.chance(settings.loss);
        let response_missed = frame.mpdu.content.is_response() && self.rng.chance(settings.response_loss);
        away || missed || response_missed || self.is_deaf_to(frame) || self.misses_ppdu(frame)
    }

    fn is_deaf_to(&self, frame: &OnAir) -> bool {
        let deaf = self.settings.deaf_to;
        match frame.mpdu.content {
            Content::Ack => deaf.ack,
            Content::BlockAck { .. } => deaf.block_ack,
            Content::Cts => deaf.cts,
            _ => false,
        }
    }

    /// Is the PPDU of this frame one that is missed as a whole? The same answer for each of its MPDUs.
    fn misses_ppdu(&self, frame: &OnAir) -> bool {
        let drawn = mix(self.seed ^ u64::from(frame.ppdu)) as f64 / u64::MAX as f64;
        !frame.mpdu.content.is_response() && drawn < self.settings.ppdu_loss
    }

    /// One frame arrives.
    pub(crate) fn hear(&mut self, builder: &Builder<'_>, frame: &OnAir) -> io::Result<Heard> {
        if self.misses(frame) {
            self.totals.not_captured += 1;
            return Ok(Heard::Missed);
        }
        let settings = self.settings;
        let damaged = self.rng.chance(settings.damage.probability);
        let flag_seen = matches!(self.link, Link::Radiotap | Link::Ppi);
        let flagged_bad = damaged && flag_seen && self.rng.chance(settings.damage.flagged_share);

        let mut record = std::mem::take(&mut self.record);
        record.clear();
        self.link.emit(&self.reception(frame, flagged_bad), &mut record);
        let start = record.len();
        builder.build(&frame.mpdu, &mut record);
        let mpdu_len = record.len() - start;
        let original_len = record.len() + if settings.fcs { FCS_LEN } else { 0 };
        let cut = original_len > self.snap_len;
        let mut harm = Harm::default();
        if settings.fcs && !cut {
            let check = wire::fcs::fcs32(&record[start..]);
            record.extend_from_slice(&check.to_le_bytes());
        }
        if damaged {
            self.damage(&frame.mpdu, &mut record[start..start + mpdu_len], &mut harm);
            harm.visible = flagged_bad || (settings.fcs && !cut);
            self.totals.damaged_unflagged += u64::from(settings.fcs && !cut && !flagged_bad);
        }
        record.truncate(self.snap_len);

        let position = frame.ampdu.map_or(0, |(index, _)| u64::from(index));
        let time_ns = START_UNIX_NS + frame.ppdu_end_ns + HOST_LATENCY_NS + position * 100;
        let totals = &mut self.totals;
        totals.frames += 1;
        totals.bad_fcs += u64::from(harm.visible);
        totals.damaged += u64::from(damaged);
        totals.cut_frames += u64::from(cut);
        totals.captured_bytes += record.len() as u64;
        totals.first_ns.get_or_insert(time_ns);
        totals.last_ns = time_ns;
        self.file.write(time_ns, original_len, &record)?;
        self.census.count(&frame.mpdu, frame.mode, frame.len, &harm);
        self.record = record;
        Ok(if damaged { Heard::Damaged } else { Heard::Good })
    }

    pub(crate) fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }

    fn reception(&self, frame: &OnAir, flagged_bad: bool) -> Reception {
        let settings = self.settings;
        let mode =
            if settings.false_control_rates && frame.mpdu.content.is_response() { legacy(2) } else { frame.mode };
        let ampdu = match (settings.ampdu_reference, frame.ampdu) {
            (AmpduReference::PpduId, Some((index, count))) => Some((frame.ppdu, index + 1 == count)),
            (AmpduReference::SequenceNumber, Some((index, count))) => {
                Some((u32::from(frame.mpdu.seq), index + 1 == count))
            }
            _ => None,
        };
        let signal = self.signals_dbm.get(frame.mpdu.from).copied().unwrap_or(-90);
        let fading = (mix(u64::from(frame.ppdu)) % 5) as i8 - 2;
        Reception {
            tsft_us: settings.tsft.then(|| self.tsft_us(frame)),
            fcs_included: settings.fcs,
            flagged_bad,
            mode: settings.rates.then_some(mode),
            frequency_mhz: self.frequency_mhz,
            signal_dbm: signal.saturating_add(fading),
            noise_dbm: -95,
            ampdu,
            mpdu_len: frame.len - if settings.fcs { 0 } else { FCS_LEN },
        }
    }

    fn tsft_us(&self, frame: &OnAir) -> u64 {
        let own = match (self.settings.ampdu_stamp, frame.ampdu) {
            (_, None | Some((_, 0 | 1))) | (AmpduStamp::Equal, _) => false,
            (AmpduStamp::ZeroAfterFirst, Some((index, _))) => {
                if index > 0 {
                    return 0;
                }
                false
            }
            (AmpduStamp::LastDiffers, Some((index, count))) => index + 1 == count,
            (AmpduStamp::Own, Some(_)) => true,
        };
        let ns = match (self.settings.stamp, own) {
            (StampMeaning::FirstMpduBit, false) => frame.ppdu_start_ns + frame.preamble_ns,
            (StampMeaning::FirstMpduBit, true) => frame.mpdu_start_ns,
            (StampMeaning::PpduStart, false) => frame.ppdu_start_ns,
            (StampMeaning::PpduStart, true) => frame.mpdu_start_ns - frame.preamble_ns,
            (StampMeaning::PpduEnd, false) => frame.ppdu_end_ns,
            (StampMeaning::PpduEnd, true) => frame.mpdu_end_ns,
        };
        (START_TSF_NS + ns) / 1000
    }

    /// Flips bits of an address or elsewhere; one to three, which CRC-32 never misses at these lengths.
    fn damage(&mut self, mpdu: &Mpdu, bytes: &mut [u8], harm: &mut Harm) {
        harm.damaged = true;
        let flips = 1 + self.rng.below(u32::from(self.settings.damage.max_flips.clamp(1, 3)));
        let in_address = self.rng.chance(self.settings.damage.address_share);
        let transmitter = mpdu.content.has_transmitter();
        if in_address && (transmitter || mpdu.to.is_some()) {
            let hit_transmitter = transmitter && (mpdu.to.is_none() || self.rng.chance(0.5));
            let at = if hit_transmitter { 10 } else { 4 };
            let address = &mut bytes[at..at + 6];
            let original: [u8; 6] = std::array::from_fn(|i| address[i]);
            let ghost = loop {
                let ghost = self.ghost_of(original, flips);
                if !self.census.is_real(ghost) {
                    break ghost;
                }
            };
            address.copy_from_slice(&ghost.0);
            *(if hit_transmitter { &mut harm.transmitter } else { &mut harm.receiver }) = Some(ghost);
            return;
        }
        // Behind the addresses; in frames that end there, the Duration field.
        let (low, high) = match mpdu.content.class() {
            Class::Control if bytes.len() > 16 => (16, bytes.len()),
            Class::Control => (2, 4),
            _ if bytes.len() > 26 => (26, bytes.len()),
            _ => (2, 4),
        };
        let bits = (high - low) as u32 * 8;
        let mut hit = [u32::MAX; 3];
        for index in 0..flips as usize {
            let bit = loop {
                let bit = self.rng.below(bits);
                if !hit.contains(&bit) {
                    break bit;
                }
            };
            hit[index] = bit;
            bytes[low + (bit / 8) as usize] ^= 1 << (bit % 8);
        }
    }

    /// An address some flipped bits away, individual like the original.
    fn ghost_of(&mut self, original: [u8; 6], flips: u32) -> MacAddr {
        let origin = MacAddr(original);
        let mut value = origin.as_u64();
        while origin.bit_distance(MacAddr::from_u64(value)) < flips {
            let bit = self.rng.below(48);
            // The Individual/Group bit is bit 40 of the number.
            if bit != 40 && (origin.as_u64() ^ value) >> bit & 1 == 0 {
                value ^= 1 << bit;
            }
        }
        MacAddr::from_u64(value)
    }
}
