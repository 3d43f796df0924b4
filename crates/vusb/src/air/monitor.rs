//! The frames of an exchange, as a monitor beside the stations hears them.

use std::collections::BTreeMap;

use medium::{Slice, Timeline};
use monitor::OnAir;
use wire::ieee80211::{CompressedBlockAck, CompressedBlockAckReq, FrameKind, Header, MacAddr, Mpdu, Seq};

use super::channel::{ChannelSettings, Tuned};
use super::{Ppdu, Response};
use crate::record::AirFile;

/// Block Ack scoreboards kept: a driver may send from any address.
const SCOREBOARDS_MAX: usize = 256;

/// How far an exchange came.
#[derive(Clone, Copy, Debug)]
pub(super) struct Heard<'a> {
    pub(super) start_ns: u64,
    pub(super) timeline: &'a Timeline,
    pub(super) tuned: Tuned,
    /// It overlapped with another: nobody could read what was sent.
    pub(super) collided: bool,
    /// The PPDU followed its protection.
    pub(super) data_sent: bool,
    /// The MPDUs that the receiver answers for.
    pub(super) accepted: &'a [bool],
}

/// What a recipient has received of one TID, as far back as its Block Acks speak of it (IEEE 802.11-2020 10.25.6.3).
#[derive(Clone, Copy, Debug, Default)]
struct Scoreboard {
    /// The newest sequence number; bit 63 of `bits`.
    newest: u16,
    bits: u64,
}

impl Scoreboard {
    fn receive(&mut self, sequence: u16) {
        let ahead = sequence.wrapping_sub(self.newest) & 0x0fff;
        match 63u16.checked_sub(0x1000 - ahead) {
            Some(bit) if self.bits != 0 => self.bits |= 1 << bit,
            // Newer, or far behind: somebody has begun anew.
            _ => {
                self.bits = self.bits.checked_shr(u32::from(ahead)).unwrap_or(0) | 1 << 63;
                self.newest = sequence;
            }
        }
    }

    /// The bitmap that begins with a sequence number.
    fn from(&self, start: u16) -> u64 {
        let has = |sequence: u16| {
            let behind = self.newest.wrapping_sub(sequence) & 0x0fff;
            behind < 64 && self.bits >> (63 - behind) & 1 == 1
        };
        (0..64)
            .filter(|&offset| has(start.wrapping_add(offset) & 0x0fff))
            .fold(0, |bitmap, offset| bitmap | 1 << offset)
    }
}

/// Writes down what can be heard. What is lost at the receiver is not lost at the monitor; what collides is.
pub(super) struct Monitor {
    file: AirFile,
    /// By transmitter and TID.
    scoreboards: BTreeMap<(MacAddr, u8), Scoreboard>,
}

impl Monitor {
    pub(super) const fn new(file: AirFile) -> Self {
        Self { file, scoreboards: BTreeMap::new() }
    }

    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        self.file.finish()
    }

    pub(super) fn hear(&mut self, channel: &ChannelSettings, ppdu: &Ppdu, heard: &Heard<'_>) {
        let Heard { start_ns, timeline, tuned, collided, data_sent, accepted } = *heard;
        let Some(recorder) = self.file.recorder() else { return };
        let on_air = |slice: &Slice| OnAir {
            start_ns: start_ns + slice.start_ns,
            end_ns: start_ns + slice.end_ns,
            mode: slice.mode,
            frequency_mhz: tuned.frequency_mhz,
            signal_dbm: channel.signal_dbm,
            noise_dbm: channel.noise_dbm,
            collided,
        };
        let mut write = |slice: &Slice, aggregated: bool, mpdus: &[Vec<u8>]| {
            recorder.take(&on_air(slice), mpdus.len(), aggregated, |index, _, out| {
                let mpdu = mpdus.get(index).map(Vec::as_slice).unwrap_or_default();
                out.extend_from_slice(mpdu);
                mpdu.len()
            });
        };
        let Some(first) = ppdu.mpdus.first() else { return };
        let frame = Mpdu::new(first);
        let (receiver, transmitter) = (frame.receiver().unwrap_or_default(), frame.transmitter().unwrap_or_default());
        // Duration of the frame that ends at `end`: to the end of the last frame, in whole microseconds.
        let rest = |end_ns: u64| timeline.last().end_ns.saturating_sub(end_ns).div_ceil(1_000).min(32_767) as u16;
        if let Some(slice) = &timeline.protection {
            let header = if timeline.cts.is_some() {
                Header::control(FrameKind::Rts, receiver, Some(transmitter))
            } else {
                Header::control(FrameKind::Cts, transmitter, None)
            };
            write(slice, false, &[emitted(header, rest(slice.end_ns))]);
        }
        if let Some(slice) = timeline.cts.as_ref().filter(|_| data_sent) {
            write(slice, false, &[emitted(Header::control(FrameKind::Cts, transmitter, None), rest(slice.end_ns))]);
        }
        if !data_sent {
            return;
        }
        write(&timeline.data, ppdu.aggregated, &ppdu.mpdus);
        for (mpdu, _) in ppdu.mpdus.iter().zip(accepted).filter(|(_, &accepted)| accepted) {
            let mpdu = Mpdu::new(mpdu);
            let (Some(tid), Some(sequence)) = (mpdu.tid(), mpdu.sequence()) else { continue };
            if self.scoreboards.len() < SCOREBOARDS_MAX || self.scoreboards.contains_key(&(transmitter, tid)) {
                self.scoreboards.entry((transmitter, tid)).or_default().receive(sequence.value());
            }
        }
        if let Some(slice) = timeline.response.as_ref().filter(|_| accepted.iter().any(|&it| it)) {
            let bytes = if ppdu.response == Response::BlockAck {
                let (tid, start) = tid_and_start(&frame);
                let scoreboard = self.scoreboards.get(&(transmitter, tid)).copied().unwrap_or_default();
                let bitmap = scoreboard.from(start.value()).into();
                let mut bytes = emitted(Header::control(FrameKind::BlockAck, transmitter, Some(receiver)), 0);
                CompressedBlockAck { tid, start, bitmap }.emit(&mut bytes);
                bytes
            } else {
                emitted(Header::control(FrameKind::Ack, transmitter, None), 0)
            };
            write(slice, false, &[bytes]);
        }
    }
}

fn emitted(header: Header, duration_us: u16) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(32);
    Header { duration_id: duration_us, ..header }.emit(&mut bytes);
    bytes
}

/// TID and sequence number of QoS data, or those that a Block Ack request is about.
fn tid_and_start(mpdu: &Mpdu<&Vec<u8>>) -> (u8, Seq) {
    if mpdu.kind() == Some(FrameKind::BlockAckReq) {
        CompressedBlockAckReq::parse(mpdu.control_body()).map_or((0, Seq::default()), |it| (it.tid, it.start))
    } else {
        (mpdu.tid().unwrap_or(0), mpdu.sequence().unwrap_or_default())
    }
}

/// Duration fields of the MPDUs: until their response has ended. The number of a PS-Poll, and of frames of which the
/// receiver is a group, stays.
pub(super) fn set_durations(ppdu: &mut Ppdu, timeline: &Timeline) {
    let Some(response) = &timeline.response else { return };
    let duration = response.end_ns.saturating_sub(timeline.data.end_ns).div_ceil(1_000).min(32_767) as u16;
    for mpdu in &mut ppdu.mpdus {
        let mut mpdu = Mpdu::new(mpdu);
        if mpdu.kind() != Some(FrameKind::PsPoll) {
            mpdu.set_duration_id(duration);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// As a list of all that was received, of which the newest 64 numbers count; nothing comes that is further behind.
        #[test]
        fn a_scoreboard_keeps_the_newest(first in 0u16..4_096, steps in prop::collection::vec(-2i64..20, 1..200)) {
            let (mut board, mut all) = (Scoreboard::default(), BTreeSet::new());
            let (mut at, mut newest) = (i64::from(first), i64::MIN);
            for step in steps {
                at += step;
                board.receive((at & 0xfff) as u16);
                newest = newest.max(at);
                all.insert(at);
            }
            let start = newest - 63;
            let expected = (0..64).filter(|offset| all.contains(&(start + offset))).fold(0u64, |b, o| b | 1 << o);
            prop_assert_eq!(board.from((start & 0xfff) as u16), expected);
        }
    }
}
