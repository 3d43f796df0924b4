//! One timeline from whatever clocks a capture has.

use crate::calibrate::ClockSource;
use crate::frame::Frame;

/// A frame's stamp on the timeline.
#[derive(Clone, Copy, Debug, Default)]
pub struct Position {
    /// ns since the first frame.
    pub ns: i64,
    /// From the receiver's hardware stamp (else from the capture clock).
    pub exact: bool,
}

/// Interfaces with a clock of their own; more share one.
const MAX_INTERFACES: usize = 64;

/// A hardware clock that runs away from the capture clock by more than this between two frames has jumped.
const JUMP_NS: i64 = 500_000_000;

/// Positions beyond 36 years are nonsense; the bound keeps later sums from overflowing.
const FARTHEST_NS: i64 = 1 << 60;

#[derive(Clone, Copy, Debug, Default)]
struct Anchor {
    /// Last stamp and its position.
    stamp_ns: i64,
    at_ns: i64,
    capture_ns: Option<i64>,
    known: bool,
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

    /// ns of the hardware stamp that the chosen source reads.
    fn stamp(&self, frame: &Frame) -> Option<(i64, u8)> {
        match self.source {
            ClockSource::Tsft => {
                let us = frame.radio.tsft_us.filter(|us| *us != 0 && *us != u64::MAX)?;
                Some(((us as i64).wrapping_mul(1000), frame.radio.tsft_bits))
            }
            ClockSource::StampField => {
                let stamp = frame.radio.stamp?;
                Some((stamp.ns as i64, if stamp.is_32bit { 32 } else { 64 }))
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
            Some((stamp_ns, bits)) if anchor.known => {
                let mut delta = stamp_ns.wrapping_sub(anchor.stamp_ns);
                if bits <= 32 {
                    let period = 1000i64 << bits.min(40);
                    delta = (delta + period / 2).rem_euclid(period) - period / 2;
                }
                let passed = capture.zip(anchor.capture_ns).map(|(now, then)| now.saturating_sub(then));
                let jumped = match passed {
                    Some(passed) => delta.saturating_sub(passed).saturating_abs() > JUMP_NS,
                    None => !(-JUMP_NS..=60_000_000_000).contains(&delta),
                };
                if jumped {
                    self.jumps += 1;
                    delta = passed.unwrap_or(0);
                }
                let ns = anchor.at_ns.saturating_add(delta);
                *anchor = Anchor { stamp_ns, at_ns: ns, capture_ns: capture, known: true };
                Position { ns, exact: true }
            }
            Some((stamp_ns, _)) => {
                let ns = capture.unwrap_or(self.last_ns);
                *anchor = Anchor { stamp_ns, at_ns: ns, capture_ns: capture, known: true };
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
