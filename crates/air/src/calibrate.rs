//! What the stamps of this capture mean, inferred from the gaps between frames and their responses.
//!
//! A response follows the PPDU that solicits it after one SIFS (IEEE 802.11-2020, 10.3.2.3). So for every
//! solicited response the gap is known, and of the three things a driver may have stamped (first bit of the MPDU,
//! start of the PPDU, end of the PPDU) the right one gives a narrow distribution around SIFS.

mod checks;
mod merged;

pub use merged::{SeveralRadios, Steps};

use wire::ieee80211::{FrameKind, FrameType, Seq};
use wire::phy::{AirDuration, Band, Mode};

use crate::captured_by::CapturedBy;
use crate::frame::{is_real, Frame};
use crate::micros::us;
use crate::report::{StampHypothesis, Timing};
use sentence::{counted, grouped, one_or, Figure};

/// Which clock the timeline reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ClockSource {
    /// Radiotap TSFT or the mactime of another header.
    Tsft,
    /// Radiotap's timestamp field.
    StampField,
    /// Only the capture's own time.
    Capture,
}

/// What a stamp marks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StampMeaning {
    /// First bit of the MPDU (radiotap's definition).
    FirstMpduBit,
    /// Start of the PPDU.
    PpduStart,
    /// End of the PPDU.
    PpduEnd,
}

impl StampMeaning {
    const ALL: [Self; 3] = [Self::FirstMpduBit, Self::PpduStart, Self::PpduEnd];

    /// Identifier in the report.
    pub const fn name(self) -> &'static str {
        match self {
            Self::FirstMpduBit => "mpdu-first-bit",
            Self::PpduStart => "ppdu-start",
            Self::PpduEnd => "ppdu-end",
        }
    }
}

/// How MPDUs are grouped to PPDUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Grouping {
    /// Equal A-MPDU reference numbers.
    Reference,
    /// Equal time stamps.
    EqualTsft,
    /// Not at all.
    None,
}

impl Grouping {
    const fn name(self) -> &'static str {
        match self {
            Self::Reference => "ampdu-reference",
            Self::EqualTsft => "equal-tsft",
            Self::None => "none",
        }
    }
}

/// Wrong FCS without a right one from which on the four bytes are taken to be something else.
const MIN_WRONG_FCS: u64 = 20;

/// Two meanings with scores closer than this cannot be distinguished, µs.
const TIE_US: f64 = 1.0;
/// Pairs below which nothing is inferred.
const MIN_PAIRS: usize = 5;

/// What the A-MPDU reference is where it equals the sequence number.
const NOT_A_PPDU_ID: &str = "not-a-ppdu-id";

/// The verdict on a capture's stamps.
#[derive(Clone, Debug)]
pub struct Calibration {
    /// Clock of the timeline.
    pub source: ClockSource,
    /// What its stamps mean (radiotap's definition when nothing could be inferred).
    pub meaning: StampMeaning,
    /// The meaning was inferred, not assumed.
    pub inferred: bool,
    /// See [`Timing::confidence`].
    pub confidence: Option<f64>,
    /// How MPDUs are grouped.
    pub grouping: Grouping,
    /// Rates of control frames can be believed; `None` when too few pairs tell.
    pub control_rates: Option<bool>,
    /// The evidence does not distinguish the meaning from this one.
    ambiguous_with: Option<StampMeaning>,
    /// The last four bytes of the frames are not an FCS, although the header says so: the receiver's flag decides.
    pub fcs_is_invented: bool,
    hypotheses: Vec<StampHypothesis>,
    /// Median of what the gaps are longer than each should be, µs.
    offset_us: Option<f64>,
    /// Frames that all of this was inferred from.
    looked_at: u64,
    /// These are not all frames of the capture.
    pub is_sample: bool,
    reference: &'static str,
    overlaps: u64,
    overlap_checked: u64,
    /// The receiver's mark of greenfield preambles differs between MPDUs of one PPDU: it is not the preamble's.
    pub greenfield_is_invented: bool,
    /// Frames that at their rates would still be on the air when the next begins, and all that were checked; `None`: few.
    pub rates_not_true: Option<(u64, u64)>,
    /// Frames that are there again before they have ended, without the retry bit, and all that were looked at: copies. `None`: few.
    pub copies: Option<(u64, u64)>,
    /// What shows that there were several radios, on channels of their own; `None`: there was one, as far as can be seen.
    pub several_radios: Option<SeveralRadios>,
    /// The stamps step to another clock, and back, on one channel.
    pub several_clocks: Option<Steps>,
    text: Vec<String>,
    /// Lines that compare frames with the next one and say what it does not show.
    of_neighbours: Vec<String>,
}

impl Calibration {
    /// Gaps between frames mean something.
    pub fn gaps_usable(&self) -> bool {
        self.inferred
    }

    /// Interquartile range of the response gaps, ns: what the clock's own spread makes of a constant gap; `None` when gaps
    /// mean nothing.
    pub fn spread_ns(&self) -> Option<i64> {
        let chosen = self.chosen()?;
        Some(chosen.iqr_us.map_or(0, |us| (us * 1000.0).round() as i64))
    }

    /// Solicited responses looked at under the meaning that has the most of them.
    pub fn pairs(&self) -> u64 {
        self.hypotheses.iter().map(|hypothesis| hypothesis.pairs).max().unwrap_or(0)
    }

    /// By how much responses come later than each is expected, in the median, µs, and the number of responses; `None` when
    /// gaps mean nothing.
    pub fn offset_us(&self) -> Option<(f64, u64)> {
        let chosen = self.chosen()?;
        Some((self.offset_us?, chosen.pairs))
    }

    /// A frame's A-MPDU status means that it was part of an A-MPDU: some receivers put one on every HT frame, with the sequence
    /// number for a reference.
    pub fn marks_ampdus(&self) -> bool {
        self.reference != NOT_A_PPDU_ID
    }

    /// Control responses that would overlap the next frame at their claimed rate, and all that were checked.
    pub fn overlaps(&self) -> (u64, u64) {
        (self.overlaps, self.overlap_checked)
    }

    fn chosen(&self) -> Option<&StampHypothesis> {
        let name = self.meaning.name();
        self.hypotheses.iter().find(|hypothesis| self.inferred && hypothesis.meaning == name)
    }

    /// The report's section. `place`: the interface that it was calibrated on.
    /// `why`: frames that follow each other in the capture may not have done so on the air.
    pub fn report(&self, clock_jumps: u64, place: CapturedBy, why: Option<&str>) -> Timing {
        let of_these = (self.is_sample || place.one().is_some()).then(|| {
            let first = if self.is_sample { format!("the first {} ", grouped(self.looked_at)) } else { String::new() };
            format!("all of this is of {first}frames{}", place.that())
        });
        let of_neighbours = match why {
            Some(why) if !self.of_neighbours.is_empty() => {
                vec![format!("what the next frame shows of the stamps is not used, because {why}")]
            }
            _ => self.of_neighbours.clone(),
        };
        let text = self.text.iter().cloned().chain(of_neighbours);
        Timing {
            frames: Some(self.looked_at),
            clock: match self.source {
                ClockSource::Tsft => "tsft",
                ClockSource::StampField => "timestamp-field",
                ClockSource::Capture => "capture-clock",
            }
            .to_owned(),
            stamp_meaning: self.inferred.then(|| self.meaning.name().to_owned()),
            ambiguous_with: self.ambiguous_with.map(|meaning| meaning.name().to_owned()),
            confidence: self.confidence,
            hypotheses: self.hypotheses.clone(),
            ampdu_reference: self.reference.to_owned(),
            grouping: self.grouping.name().to_owned(),
            control_rates_believable: self.control_rates,
            control_rate_overlaps: self.overlaps,
            control_rate_checked: self.overlap_checked,
            clock_jumps,
            text: of_these.into_iter().chain(text).collect(),
        }
    }
}

/// Calibrates on the first frames of a capture.
pub fn calibrate<'a>(frames: impl Iterator<Item = &'a Frame> + Clone) -> Calibration {
    let mut text = Vec::new();
    let fcs_is_invented = invented_fcs(frames.clone(), &mut text);
    let source = choose_source(frames.clone(), &mut text);
    let (grouping, reference) = choose_grouping(frames.clone(), &mut text);
    let looked_at = frames.clone().count() as u64;
    let mut calibration = Calibration {
        source,
        meaning: StampMeaning::FirstMpduBit,
        inferred: false,
        confidence: None,
        grouping,
        control_rates: None,
        ambiguous_with: None,
        fcs_is_invented,
        hypotheses: Vec::new(),
        offset_us: None,
        looked_at,
        is_sample: false,
        reference,
        overlaps: 0,
        overlap_checked: 0,
        greenfield_is_invented: false,
        rates_not_true: None,
        copies: None,
        several_radios: None,
        several_clocks: None,
        text,
        of_neighbours: Vec::new(),
    };
    calibration.check_greenfield(frames.clone());
    calibration.check_radios(frames.clone());
    if source != ClockSource::Capture {
        choose_meaning(frames.clone(), &mut calibration);
        calibration.check_rates(frames.clone());
        // Of merged captures, the next record may be of another air, or a copy.
        if calibration.copies.is_none() && calibration.several_radios.is_none() {
            check_control_rates(frames, &mut calibration);
        }
    }
    calibration
}

/// Simulators write four bytes where the FCS belongs without computing it.
fn invented_fcs<'a>(frames: impl Iterator<Item = &'a Frame>, text: &mut Vec<String>) -> bool {
    let (mut wrong, mut right) = (0u64, 0u64);
    for frame in frames {
        match frame.computed_fcs {
            Some(true) => right += 1,
            Some(false) if frame.radio.bad_fcs == Some(false) => wrong += 1,
            _ => {}
        }
    }
    let invented = right == 0 && wrong >= MIN_WRONG_FCS;
    if invented {
        text.push(format!(
            "the FCS of all {wrong} that could be checked is wrong although the receiver flags none: these four \
             bytes are no FCS (a simulator's capture), so the receiver's flag is believed",
            wrong = counted(wrong, "frame")
        ));
    }
    invented
}

fn choose_source<'a>(frames: impl Iterator<Item = &'a Frame>, text: &mut Vec<String>) -> ClockSource {
    let (mut all, mut received, mut tsft, mut field) = (0u64, 0u64, 0u64, 0u64);
    for frame in frames.filter(|frame| !frame.radio.own_transmission) {
        all += 1;
        // Subframes that carry "no stamp" say nothing about whether the receiver stamps.
        received += u64::from(frame.radio.tsft_us.is_none_or(is_real));
        tsft += u64::from(frame.radio.tsft_us.is_some_and(is_real));
        field += u64::from(frame.radio.stamp.is_some());
    }
    if tsft * 2 > received {
        let without = match all - received {
            0 => String::new(),
            empty => format!("; in {} others its value means that there is none", grouped(empty)),
        };
        let carry = one_or(tsft, "carries", "carry");
        let [tsft, all] = [tsft, all].map(grouped);
        text.push(format!("{tsft} of {all} received frames {carry} a hardware time stamp (TSFT or mactime){without}"));
        ClockSource::Tsft
    } else if field * 2 > received {
        let carry = one_or(field, "carries", "carry");
        let [field, received] = [field, received].map(grouped);
        text.push(format!("{field} of {received} received frames {carry} radiotap's timestamp field"));
        ClockSource::StampField
    } else if all == 0 {
        text.push("no frame was received from the air, so there is no time stamp of a reception".to_owned());
        ClockSource::Capture
    } else {
        let (stamped, of) = (tsft.max(field), if received > 0 { received } else { all });
        text.push(format!(
            "{} of {} received frames {} a hardware time stamp: the capture clock is used, which is \
             read after reception and too coarse for gaps of microseconds",
            Figure::only(stamped, of),
            grouped(of),
            one_or(stamped, "carries", "carry")
        ));
        ClockSource::Capture
    }
}

fn choose_grouping<'a>(frames: impl Iterator<Item = &'a Frame>, text: &mut Vec<String>) -> (Grouping, &'static str) {
    let (mut with_reference, mut equal_sequence) = (0u64, 0u64);
    let (mut can_aggregate, mut equal_stamp) = (0u64, 0u64);
    let mut last_stamp = None;
    for frame in frames {
        if !frame.radio.mode.can_aggregate() {
            last_stamp = None;
            continue;
        }
        can_aggregate += 1;
        if let (Some(ampdu), Some(sequence)) = (frame.radio.ampdu, frame.header.sequence) {
            with_reference += 1;
            equal_sequence += u64::from(ampdu.reference == u32::from(sequence));
        }
        let stamp = frame.radio.tsft_us;
        equal_stamp += u64::from(stamp.is_some() && (stamp == last_stamp || !stamp.is_some_and(is_real)));
        last_stamp = stamp;
    }
    // All of a few references have to equal the sequence number: there are no others that could show a rule.
    let trap = with_reference > 0 && equal_sequence * 10 >= with_reference * 9;
    let reference = if with_reference == 0 {
        "absent"
    } else if trap {
        text.push(format!(
            "the A-MPDU reference equals the MPDU's sequence number in {} of {} frames: \
             it does not identify a PPDU and is not used",
            grouped(equal_sequence),
            grouped(with_reference)
        ));
        NOT_A_PPDU_ID
    } else {
        text.push(match with_reference {
            1 => "1 frame carries an A-MPDU reference, which is not its sequence number: it is taken to identify its PPDU".to_owned(),
            _ => format!(
                "{} frames carry an A-MPDU reference, which equals the sequence number in {} of them: it is taken to identify their PPDU",
                grouped(with_reference),
                grouped(equal_sequence)
            ),
        });
        "ppdu-id"
    };
    let grouping = if reference == "ppdu-id" {
        Grouping::Reference
    } else if equal_stamp > 0 {
        text.push(format!(
            "MPDUs are grouped by equal time stamps ({} of {} aggregatable frames repeat the stamp of the frame before)",
            grouped(equal_stamp),
            grouped(can_aggregate)
        ));
        Grouping::EqualTsft
    } else if trap && can_aggregate > 0 {
        Grouping::EqualTsft
    } else {
        Grouping::None
    };
    (grouping, reference)
}

/// Stamp of a frame in µs under the chosen source.
fn stamp_us(frame: &Frame, source: ClockSource) -> Option<i64> {
    match source {
        ClockSource::Tsft => frame.radio.tsft_us.filter(|us| is_real(*us)).map(|us| us as i64),
        ClockSource::StampField => frame.radio.stamp.map(|stamp| (stamp.ns / 1000) as i64),
        ClockSource::Capture => None,
    }
}

/// Frames with a response that is certain to come one SIFS after their own end: single MPDUs, not damaged.
fn solicits(frame: &Frame) -> bool {
    let fc = frame.header.fc;
    let plain = frame.radio.ampdu.is_none()
        && frame.usable()
        && !frame.radio.own_transmission
        && !frame.header.receiver().is_group()
        && !fc.more_fragments();
    plain
        && match fc.frame_type() {
            FrameType::Data => {
                !frame.header.qos.is_some_and(|qos| matches!(qos.ack_policy(), wire::ieee80211::AckPolicy::NoAck))
            }
            FrameType::Management => !matches!(fc.kind(), FrameKind::ActionNoAck | FrameKind::Beacon),
            FrameType::Control => matches!(fc.kind(), FrameKind::Rts),
            FrameType::Extension => false,
        }
}

/// Is `response` the immediate answer to `frame`?
fn answers(response: &Frame, frame: &Frame) -> bool {
    let expected = match frame.header.fc.kind() {
        FrameKind::Rts => matches!(response.header.fc.kind(), FrameKind::Cts),
        _ => matches!(response.header.fc.kind(), FrameKind::Ack),
    };
    expected
        && response.usable()
        && !response.radio.own_transmission
        && Some(response.header.receiver()) == frame.ta()
        && response.interface == frame.interface
}

/// A PPDU and its immediate response.
struct Pair<'a> {
    /// The first frame of the PPDU, its length that of the whole PSDU.
    frame: Frame,
    response: &'a Frame,
}

/// An A-MPDU on its way: the first frame with the length of the PSDU so far.
struct Train {
    first: Frame,
    last: Option<u16>,
    whole: bool,
}

/// All pairs of single MPDUs and their ACK or CTS; with `ampdus`, also of A-MPDUs captured up to their last subframe and
/// their Block Ack.
fn pairs<'a>(frames: impl Iterator<Item = &'a Frame> + Clone, ampdus: bool) -> impl Iterator<Item = Pair<'a>> {
    let mut train: Option<Train> = None;
    let next = frames.clone().skip(1);
    frames.zip(next).filter_map(move |(frame, response)| {
        let Some(status) = frame.radio.ampdu.filter(|_| ampdus) else {
            train = None;
            return (solicits(frame) && answers(response, frame)).then_some(Pair { frame: *frame, response });
        };
        let same = |first: &Frame| {
            first.radio.ampdu.is_some_and(|other| other.reference == status.reference) && first.ta() == frame.ta()
        };
        train = match train.take() {
            // A hole in the sequence numbers means a subframe that was not captured: the length would be wrong.
            Some(mut train) if same(&train.first) => {
                let follows =
                    train.last.zip(frame.header.sequence).is_some_and(|(a, b)| Seq::new(a).add(1).value() == b);
                train.first.mpdu_len = train.first.mpdu_len.saturating_add(3) / 4 * 4;
                train.first.mpdu_len = train.first.mpdu_len.saturating_add(frame.mpdu_len.saturating_add(4));
                Some(Train { last: frame.header.sequence, whole: train.whole && follows && frame.usable(), ..train })
            }
            _ => {
                let mut first = *frame;
                first.mpdu_len = first.mpdu_len.saturating_add(4);
                let whole = frame.usable() && !frame.radio.own_transmission;
                Some(Train { first, last: frame.header.sequence, whole })
            }
        };
        let first = &train.as_ref().filter(|train| train.whole && status.is_last != Some(false))?.first;
        let answered = matches!(response.header.fc.kind(), FrameKind::BlockAck)
            && response.usable()
            && Some(response.header.receiver()) == first.ta()
            && response.interface == first.interface;
        answered.then_some(Pair { frame: *first, response })
    })
}

/// Duration of a PPDU with a PSDU as long as this frame, µs.
fn duration_us(frame: &Frame) -> Option<f64> {
    air(frame).map(|air| us(air.ns as i64))
}

/// The shortest that the frame can have lasted by what its header says.
fn shortest_us(frame: &Frame) -> Option<f64> {
    air(frame).map(|air| us(air.ns as i64 - i64::from(air.minus_ns)))
}

fn air(frame: &Frame) -> Option<AirDuration> {
    let band = frame.radio.frequency_mhz.and_then(Band::from_frequency_mhz);
    frame.radio.mode.duration(frame.mpdu_len as usize, band)
}

fn preamble_us(mode: &Mode) -> f64 {
    mode.preamble_ns().map_or(0.0, |ns| us(i64::from(ns)))
}

/// Gap from the end of `a` to the start of `b`, µs, if stamps mean `meaning`.
fn gap_us(a: &Frame, b: &Frame, source: ClockSource, meaning: StampMeaning) -> Option<f64> {
    let delta = stamp_us(b, source)?.wrapping_sub(stamp_us(a, source)?) as f64;
    if delta.abs() > 100_000.0 {
        return None;
    }
    Some(match meaning {
        StampMeaning::FirstMpduBit => delta - preamble_us(&b.radio.mode) + preamble_us(&a.radio.mode) - duration_us(a)?,
        StampMeaning::PpduStart => delta - duration_us(a)?,
        StampMeaning::PpduEnd => delta - duration_us(b)?,
    })
}

/// Expected gap of a pair, µs (2.4 GHz when the capture does not name a channel).
fn sifs_us(frame: &Frame) -> Option<f64> {
    let band = frame.radio.frequency_mhz.and_then(Band::from_frequency_mhz).unwrap_or(Band::Ghz2_4);
    wire::phy::response_gap_ns(band, &frame.radio.mode).map(|ns| us(i64::from(ns)))
}

fn choose_meaning<'a>(frames: impl Iterator<Item = &'a Frame> + Clone, calibration: &mut Calibration) {
    let source = calibration.source;
    let mut errors: [Vec<f64>; 3] = Default::default();
    let mut gaps: [Vec<f64>; 3] = Default::default();
    for pair in pairs(frames, calibration.grouping == Grouping::Reference) {
        let (frame, response) = (&pair.frame, pair.response);
        let Some(sifs) = sifs_us(frame) else { continue };
        for ((meaning, gaps), errors) in StampMeaning::ALL.into_iter().zip(&mut gaps).zip(&mut errors) {
            if let Some(gap) = gap_us(frame, response, source, meaning).filter(|gap| gap.abs() < 1000.0) {
                gaps.push(gap);
                errors.push(gap - sifs);
            }
        }
    }
    let mut best: Option<(usize, f64)> = None;
    let mut runner_up: Option<(usize, f64)> = None;
    for (index, ((meaning, gaps), errors)) in StampMeaning::ALL.into_iter().zip(&mut gaps).zip(&mut errors).enumerate()
    {
        gaps.sort_by(f64::total_cmp);
        errors.sort_by(f64::total_cmp);
        let in_window = errors.iter().filter(|error| (-4.0..=10.0).contains(*error)).count();
        let share = (!errors.is_empty()).then(|| in_window as f64 / errors.len() as f64);
        calibration.hypotheses.push(StampHypothesis {
            meaning: meaning.name().to_owned(),
            pairs: gaps.len() as u64,
            median_gap_us: median(gaps),
            iqr_us: quantile(gaps, 0.75).zip(quantile(gaps, 0.25)).map(|(q3, q1)| q3 - q1),
            in_window: share,
        });
        let (Some(median), Some(spread)) =
            (median(errors), quantile(errors, 0.75).zip(quantile(errors, 0.25)).map(|(q3, q1)| q3 - q1))
        else {
            continue;
        };
        if errors.len() < MIN_PAIRS || !(-6.0..=10.0).contains(&median) || share.unwrap_or(0.0) < 0.5 {
            continue;
        }
        // Narrow and near SIFS: the spread counts fully, a constant offset of the driver half.
        let score = spread + 0.5 * median.abs();
        if best.is_none_or(|(_, other)| score < other) {
            runner_up = best;
            best = Some((index, score));
        } else if runner_up.is_none_or(|(_, other)| score < other) {
            runner_up = Some((index, score));
        }
    }
    let pairs = gaps[0].len().max(gaps[2].len());
    match best.and_then(|(index, _)| StampMeaning::ALL.get(index).map(|meaning| (index, *meaning))) {
        Some((index, meaning)) => {
            let share = calibration.hypotheses.get(index).and_then(|h| h.in_window).unwrap_or(0.0);
            let gaps = gaps.get(index).map(Vec::as_slice).unwrap_or_default();
            let n = gaps.len() as f64;
            calibration.offset_us = errors.get(index).and_then(|errors| median(errors));
            calibration.meaning = meaning;
            calibration.inferred = true;
            let tied = runner_up.filter(|(_, score)| best.is_some_and(|(_, first)| score - first < TIE_US));
            let tied = tied.and_then(|(other, _)| StampMeaning::ALL.get(other));
            calibration.confidence = Some(share * n / (n + 10.0) * if tied.is_some() { 0.5 } else { 1.0 });
            calibration.ambiguous_with = tied.copied();
            calibration.text.push(format!(
                "stamps mark the {} ({}, median gap {:.1} µs, {} of them within SIFS -4/+10 µs)",
                match meaning {
                    StampMeaning::FirstMpduBit => "first bit of the MPDU",
                    StampMeaning::PpduStart => "start of the PPDU",
                    StampMeaning::PpduEnd => "end of the PPDU",
                },
                counted(gaps.len() as u64, "solicited response"),
                median(gaps).unwrap_or(0.0),
                grouped((share * n).round() as u64),
            ));
            if let Some(other) = calibration.ambiguous_with {
                calibration.text.push(format!(
                    "these responses do not distinguish this from {}: the two differ by the preambles only, which are as long in the \
                     responses as in the PPDUs that they answer; gaps between such PPDUs are right either way",
                    other.name()
                ));
            }
        }
        None => calibration.of_neighbours.push(format!(
            "what the stamps mark is unknown ({pairs} with stamps, at least {MIN_PAIRS} \
             with a gap near SIFS are needed): gaps and response delays are not available",
            pairs = counted(pairs as u64, "solicited response")
        )),
    }
}

/// A control response that ends after the next frame has begun was not sent at the rate it claims.
fn check_control_rates<'a>(frames: impl Iterator<Item = &'a Frame> + Clone, calibration: &mut Calibration) {
    if !calibration.inferred {
        return;
    }
    let next = frames.clone().skip(1);
    for (control, after) in frames.zip(next) {
        let response = matches!(control.header.fc.kind(), FrameKind::Ack | FrameKind::Cts | FrameKind::BlockAck);
        if !response || !control.usable() || !after.usable() || control.interface != after.interface {
            continue;
        }
        let Some(gap) = gap_us(control, after, calibration.source, calibration.meaning) else { continue };
        // What begins at the same moment is a copy of the record, or has a clock that stands still.
        let is_copy = stamp_us(control, calibration.source) == stamp_us(after, calibration.source);
        if gap.abs() > 2_000.0 || is_copy {
            continue;
        }
        calibration.overlap_checked += 1;
        calibration.overlaps += u64::from(gap < -4.0);
    }
    let (overlaps, checked) = (calibration.overlaps, calibration.overlap_checked);
    if checked >= 10 {
        let believable = overlaps * 10 <= checked;
        calibration.control_rates = Some(believable);
        let [overlaps, checked] = [overlaps, checked].map(grouped);
        if believable {
            let line =
                format!("rates of control frames can be true ({overlaps} of {checked} would overlap the next frame)");
            calibration.text.push(line);
        } else {
            calibration.of_neighbours.push(format!(
                "rates of control frames are not believable: at the claimed rate {overlaps} of {checked} control \
                 responses would still be on the air when the next frame begins"
            ));
        }
    }
}

/// The value in the middle; of an even number, the mean of the two in the middle.
fn median(sorted: &[f64]) -> Option<f64> {
    let (low, high) = (sorted.get(sorted.len().checked_sub(1)? / 2)?, sorted.get(sorted.len() / 2)?);
    Some((low + high) / 2.0)
}

fn quantile(sorted: &[f64], q: f64) -> Option<f64> {
    let last = sorted.len().checked_sub(1)?;
    sorted.get(((last as f64) * q).round() as usize).copied()
}
