//! The frames of an exchange, as a monitor beside the stations receives them.

use std::collections::BTreeMap;

use medium::{Scoreboard, Slice, Timeline, WINDOW};
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
    /// It overlapped with others, which began with it: what was sent could not be received.
    pub(super) collided: bool,
    /// The PPDU followed its protection.
    pub(super) data_sent: bool,
    /// The MPDUs that the receiver answers for.
    pub(super) accepted: &'a [bool],
}

/// Writes down what can be heard. What is lost at the receiver is not lost at the monitor; what collides is damaged there, too.
pub(super) struct Monitor {
    file: AirFile,
    /// By transmitter and TID.
    scoreboards: BTreeMap<(MacAddr, u8), Scoreboard<()>>,
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
            collision_ns: collided.then_some(start_ns),
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
                let fresh = || Scoreboard::new(sequence, WINDOW);
                let board = self.scoreboards.entry((transmitter, tid)).or_insert_with(fresh);
                // Far behind: the transmitter has restarted its sequence numbers.
                if sequence.is_before(board.head()) && !board.head().is_within(sequence, WINDOW) {
                    *board = fresh();
                }
                board.receive(sequence, ());
            }
        }
        if let Some(slice) = timeline.response.as_ref().filter(|_| accepted.iter().any(|&it| it)) {
            let bytes = if ppdu.response == Response::BlockAck {
                let (tid, start) = tid_and_start(&frame);
                let scoreboard = self.scoreboards.get(&(transmitter, tid));
                let bitmap = scoreboard.map_or(0, |board| board.bitmap(start, |()| true)).into();
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

crate::state!(Monitor { file, scoreboards });
