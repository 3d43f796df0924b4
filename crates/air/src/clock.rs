//! One timeline from whatever clocks a capture has.

use crate::calibrate::ClockSource;
use crate::frame::{is_real, Frame};

/// A frame's stamp on the timeline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    /// ns since the first frame.
    pub ns: i64,
    /// From the receiver's hardware stamp (else from the capture clock, as where the hardware clock has just jumped).
    pub exact: bool,
}

/// Interfaces with a clock of their own; more share one.
const MAX_INTERFACES: usize = 64;

/// A position may differ this much from the capture clock: reception is reported late, never for long.
const DRIFT_NS: i64 = 500_000_000;

/// Stamps go back by less than the longest PPDU when frames are reported out of order; by more after a glitch or a reset.
const BACKWARDS_NS: i64 = 10_000_000;

/// Positions beyond 36 years are nonsense; the bound keeps later sums from overflowing.
const FARTHEST_NS: i64 = 1 << 60;

/// How the stamps of one interface relate to the timeline: position = stamp + offset + shift.
#[derive(Clone, Copy, Debug, Default)]
struct Anchor {
    /// Last stamp, its wraps added up.
    stamp_ns: i64,
    /// Last stamp as read.
    raw_ns: i64,
    at_ns: i64,
    capture_ns: Option<i64>,
    offset_ns: i64,
    /// Correction while the counter is off, 0 at first: some chips (ath9k) fall back by multiples of 32,768 µs and return.
    shift_ns: i64,
    known: bool,
}

impl Anchor {
    /// Position of the next stamp, and whether the clock jumped. `period`: after this many ns the counter begins again.
    fn advance(&mut self, raw_ns: i64, period: Option<i64>, capture: Option<i64>) -> (i64, bool) {
        let mut delta = raw_ns.wrapping_sub(self.raw_ns);
        if let Some(period) = period {
            delta = (delta.wrapping_add(period / 2)).rem_euclid(period) - period / 2;
        }
        self.raw_ns = raw_ns;
        self.stamp_ns = self.stamp_ns.saturating_add(delta);
        let passed = capture.zip(self.capture_ns).map(|(now, then)| now.saturating_sub(then));
        self.capture_ns = capture;
        let unshifted = self.stamp_ns.saturating_add(self.offset_ns);
        let shifted = unshifted.saturating_add(self.shift_ns);
        let last = self.at_ns;
        let plausible = |at: i64| {
            at >= last - BACKWARDS_NS
                && capture.is_none_or(|capture| at.saturating_sub(capture).saturating_abs() <= DRIFT_NS)
        };
        let error =
            |at: i64| passed.map_or(0, |passed| at.saturating_sub(last.saturating_add(passed)).saturating_abs());
        let returned = self.shift_ns != 0 && plausible(unshifted) && error(unshifted) <= error(shifted);
        let (at, jumped) = if returned && passed.is_some() {
            self.shift_ns = 0;
            (unshifted, true)
        } else if plausible(shifted) {
            (shifted, false)
        } else {
            let at = last.saturating_add(passed.unwrap_or(0).max(0));
            self.shift_ns = at.saturating_sub(unshifted);
            (at, true)
        };
        self.at_ns = at;
        (at, jumped)
    }
}

/// Turns stamps into positions; re-anchors when a counter wraps, is reset or belongs to another radio.
#[derive(Debug)]
pub struct Clock {
    source: ClockSource,
    first_capture_ns: Option<i64>,
    anchors: Vec<Anchor>,
    last_ns: i64,
    jumps: u64,
}

impl Clock {
    /// A clock that reads `source`.
    pub fn new(source: ClockSource) -> Self {
        Self { source, first_capture_ns: None, anchors: Vec::new(), last_ns: 0, jumps: 0 }
    }

    /// Times the hardware clock jumped.
    pub fn jumps(&self) -> u64 {
        self.jumps
    }

    /// ns of the hardware stamp that the chosen source reads, and its period where the counter is a short one.
    fn stamp(&self, frame: &Frame) -> Option<(i64, Option<i64>)> {
        match self.source {
            ClockSource::Tsft => {
                let us = frame.radio.tsft_us.filter(|us| is_real(*us))?;
                let bits = frame.radio.tsft_bits;
                Some(((us as i64).wrapping_mul(1000), (bits <= 32).then(|| 1000i64 << bits)))
            }
            ClockSource::StampField => {
                let stamp = frame.radio.stamp?;
                Some((stamp.ns as i64, stamp.wraps_after_ns.and_then(|ns| i64::try_from(ns).ok())))
            }
            ClockSource::Capture => None,
        }
    }

    /// Position of a frame.
    pub fn position(&mut self, frame: &Frame) -> Position {
        let capture = frame.time_ns.map(|ns| {
            let first = *self.first_capture_ns.get_or_insert(ns);
            ns.saturating_sub(first)
        });
        let index = (frame.interface as usize).min(MAX_INTERFACES - 1);
        if index >= self.anchors.len() {
            self.anchors.resize(index + 1, Anchor::default());
        }
        let stamp = self.stamp(frame);
        let Some(anchor) = self.anchors.get_mut(index) else { return Position::default() };
        let position = match stamp {
            Some((stamp_ns, period)) if anchor.known => {
                let (ns, jumped) = anchor.advance(stamp_ns, period, capture);
                self.jumps += u64::from(jumped);
                Position { ns, exact: !jumped }
            }
            Some((stamp_ns, _)) => {
                let ns = capture.unwrap_or(self.last_ns);
                *anchor = Anchor {
                    stamp_ns,
                    raw_ns: stamp_ns,
                    at_ns: ns,
                    capture_ns: capture,
                    offset_ns: ns.saturating_sub(stamp_ns),
                    shift_ns: 0,
                    known: true,
                };
                Position { ns, exact: true }
            }
            None => {
                // Between stamped frames the capture clock counts on from the last anchor.
                let ns = match (capture, anchor.capture_ns) {
                    (Some(now), Some(then)) if anchor.known => anchor.at_ns.saturating_add(now.saturating_sub(then)),
                    (Some(now), _) => now,
                    (None, _) => self.last_ns,
                };
                Position { ns, exact: false }
            }
        };
        let position = Position { ns: position.ns.clamp(-FARTHEST_NS, FARTHEST_NS), ..position };
        self.last_ns = position.ns;
        position
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::decode::{Batch, Decoder, RawRecord};
    use wire::linktype::LinkType;

    /// Positions of ACKs with radiotap's timestamp field: a 32-bit counter that counts in `unit`s.
    fn positions(unit: u8, counters: &[u32], step_ns: i64) -> Vec<i64> {
        let (mut decoder, mut batch) = (Decoder::default(), Batch::default());
        for (number, counter) in (1u64..).zip(counters) {
            let mut data = vec![0, 0, 20, 0, 0, 0, 0x40, 0];
            data.extend(counter.to_le_bytes());
            data.extend([0, 0, 0, 0, 0, 0, unit, 0x01]);
            data.extend([0xd4, 0, 0, 0, 2, 0, 0, 0, 0, 1]);
            let time_ns = Some(number as i64 * step_ns);
            let (link, original_len) = (LinkType::IEEE802_11_RADIOTAP, data.len() as u32);
            let raw = RawRecord { number, offset: 0, time_ns, interface: 0, link, original_len, data: &data };
            decoder.decode(&raw, &mut batch);
        }
        let mut clock = Clock::new(ClockSource::StampField);
        batch.frames.iter().map(|frame| clock.position(frame).ns).collect()
    }

    #[test]
    fn a_short_counter_goes_on_whatever_it_counts() {
        // 10 µs before the counter begins again, and 10 µs after it.
        assert_eq!(positions(2, &[u32::MAX - 9_999, 10_000], 20_000), [0, 20_000], "ns");
        assert_eq!(positions(1, &[u32::MAX - 9, 10], 20_000), [0, 20_000], "µs");
        assert_eq!(positions(0, &[u32::MAX, 1], 2_000_000), [0, 2_000_000], "ms");
    }
}
