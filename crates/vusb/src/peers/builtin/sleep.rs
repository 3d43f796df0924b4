//! Power save of the station (11.2.3): what is kept for it, and what beacons say of that.

use std::collections::VecDeque;

use wire::ieee80211::Mpdu;

use crate::peers::queue::Queued;

/// The station's sleep.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Sleep {
    /// Its last frame said that it sleeps from now on.
    pub(super) asleep: bool,
    kept: VecDeque<Queued>,
    group: VecDeque<Queued>,
    /// Beacons so far.
    beacons: u64,
}

fn mark_more(frame: &mut Queued, more: bool) {
    if more {
        Mpdu::new(&mut frame.mpdu).set_more_data(true);
    }
}

impl Sleep {
    /// How many frames are kept.
    pub(super) fn len(&self) -> usize {
        self.kept.len() + self.group.len()
    }

    /// Whether frames for the station itself are kept.
    pub(super) fn keeps(&self) -> bool {
        !self.kept.is_empty()
    }

    /// Keeps a frame.
    pub(super) fn keep(&mut self, frame: Queued) {
        if frame.is_group() {
            self.group.push_back(frame);
        } else {
            self.kept.push_back(frame);
        }
    }

    /// A PS-Poll frame came: the next frame.
    pub(super) fn poll(&mut self) -> Option<Queued> {
        let mut frame = self.kept.pop_front()?;
        mark_more(&mut frame, self.keeps());
        Some(frame)
    }

    /// It woke up: everything.
    pub(super) fn wake(&mut self) -> impl Iterator<Item = Queued> {
        self.asleep = false;
        std::mem::take(&mut self.group).into_iter().chain(std::mem::take(&mut self.kept))
    }

    /// It is gone.
    pub(super) fn forget(&mut self) {
        *self = Self { beacons: self.beacons, ..Self::default() };
    }

    /// A beacon is sent: the DTIM count that it says, and the group frames that follow it.
    pub(super) fn beacon(&mut self, period: u8) -> (u8, VecDeque<Queued>) {
        let period = u64::from(period.max(1));
        let phase = self.beacons % period;
        self.beacons += 1;
        if phase != 0 {
            return ((period - phase) as u8, VecDeque::new());
        }
        let mut frames = std::mem::take(&mut self.group);
        let count = frames.len();
        for (at, frame) in frames.iter_mut().enumerate() {
            mark_more(frame, at + 1 < count);
        }
        (0, frames)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::air::Protection;

    fn frame(first_address_byte: u8, mark: u8) -> Queued {
        let mpdu = vec![0x08, 0x02, 0, 0, first_address_byte, 0, 0, 0, 0, mark];
        Queued { mpdu, modes: Vec::new(), protection: Protection::None, cookie: 0, since_ns: 0, attempts: 0 }
    }

    #[test]
    fn frames_wait_for_polls_and_for_every_other_beacon() {
        let mut sleep = Sleep { asleep: true, ..Sleep::default() };
        [frame(2, 1), frame(1, 2), frame(2, 3), frame(1, 4)].into_iter().for_each(|f| sleep.keep(f));
        let marks = |frames: &mut dyn Iterator<Item = Queued>| -> Vec<_> {
            frames.map(|frame| (frame.mpdu[9], frame.mpdu[1] & 0x20 != 0)).collect()
        };
        assert_eq!(marks(&mut sleep.poll().into_iter()), [(1, true)]);
        let (count, group) = sleep.beacon(2);
        assert_eq!((count, marks(&mut group.into_iter())), (0, vec![(2, true), (4, false)]));
        sleep.keep(frame(1, 5));
        let (count, group) = sleep.beacon(2);
        assert_eq!((count, group.len(), sleep.len()), (1, 0, 2));
        assert_eq!(marks(&mut sleep.wake()), [(5, false), (3, false)]);
        assert!(!sleep.asleep && sleep.poll().is_none());
    }
}
