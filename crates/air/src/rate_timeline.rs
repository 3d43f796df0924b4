//! Which station sent at which rate when: cells of bounded number, which get wider when there are too many.

use wire::ieee80211::MacAddr;
use wire::phy::Mode;

use crate::micros::us;
use crate::rate_range::rates_mbit_s;
use crate::report;

/// Cells of all stations together.
const MAX_CELLS: usize = 8_192;
/// First width of a cell.
const WIDTH_NS: i64 = 100_000_000;
/// No capture is longer than this.
const WIDEST_NS: i64 = 1 << 60;

/// Frames of one station at one rate in one span of time.
#[derive(Clone, Copy, Debug)]
struct Cell {
    start_ns: i64,
    key: u64,
    frames: u64,
    retries: u64,
}

/// The cells of one station, in time order.
#[derive(Clone, Debug, Default)]
pub struct Track {
    cells: Vec<Cell>,
    open: Open,
}

/// The cell last added to. What was added since is kept here, beside the station's other counters, so that most frames need no
/// look at the cells.
#[derive(Clone, Copy, Debug, Default)]
struct Open {
    place: usize,
    /// Frames from then on, and before `end_ns`, are the cell's.
    start_ns: i64,
    end_ns: i64,
    key: u64,
    frames: u64,
    retries: u64,
}

impl Track {
    /// Adds a frame; `false` when it needs a new cell and there is no `room` for one.
    #[inline]
    fn add(&mut self, at_ns: i64, key: u64, retry: bool, width_ns: i64, room: &mut usize) -> bool {
        let open = &mut self.open;
        if at_ns < open.end_ns && at_ns >= open.start_ns && key == open.key {
            open.frames += 1;
            open.retries += u64::from(retry);
            return true;
        }
        self.add_anywhere(at_ns, key, retry, width_ns, room)
    }

    #[inline(never)]
    fn add_anywhere(&mut self, at_ns: i64, key: u64, retry: bool, width_ns: i64, room: &mut usize) -> bool {
        let start_ns = at_ns.div_euclid(width_ns).saturating_mul(width_ns);
        // Mostly it is among the last ones.
        let is_last = self.cells.last().is_none_or(|cell| cell.start_ns <= start_ns);
        let end = if is_last { self.cells.len() } else { self.cells.partition_point(|cell| cell.start_ns <= start_ns) };
        let same = self.cells.get(..end).unwrap_or_default().iter().rev().take_while(|cell| cell.start_ns == start_ns);
        let found = same.zip(1..).find(|(cell, _)| cell.key == key).map(|(_, back)| end - back);
        if found.is_none() && *room == 0 {
            return false;
        }
        self.close();
        let place = found.unwrap_or_else(|| {
            *room -= 1;
            self.cells.insert(end, Cell { start_ns, key, frames: 0, retries: 0 });
            end
        });
        let end_ns = start_ns.saturating_add(width_ns);
        self.open = Open { place, start_ns, end_ns, key, frames: 1, retries: u64::from(retry) };
        true
    }

    /// Puts what was added into its cell.
    fn close(&mut self) {
        let Open { place, frames, retries, .. } = std::mem::take(&mut self.open);
        if let Some(cell) = self.cells.get_mut(place) {
            cell.frames += frames;
            cell.retries += retries;
        }
    }

    fn cells(&self) -> impl Iterator<Item = Cell> + '_ {
        self.cells.iter().enumerate().map(|(place, cell)| {
            let open = if place == self.open.place { self.open } else { Open::default() };
            Cell { frames: cell.frames + open.frames, retries: cell.retries + open.retries, ..*cell }
        })
    }

    /// Merges cells that share one of the new width.
    fn widen(&mut self, width_ns: i64) {
        self.close();
        let mut merged: Vec<Cell> = Vec::with_capacity(self.cells.len() / 2 + 1);
        for cell in &self.cells {
            let start_ns = cell.start_ns.div_euclid(width_ns).saturating_mul(width_ns);
            let mut same = merged.iter_mut().rev().take_while(|other| other.start_ns == start_ns);
            match same.find(|other| other.key == cell.key) {
                Some(other) => {
                    other.frames += cell.frames;
                    other.retries += cell.retries;
                }
                None => merged.push(Cell { start_ns, ..*cell }),
            }
        }
        self.cells = merged;
    }
}

/// Width and number of the cells of all stations.
#[derive(Debug)]
pub struct RateTimeline {
    width_ns: i64,
    room: usize,
    frames_left_out: u64,
}

impl Default for RateTimeline {
    fn default() -> Self {
        Self { width_ns: WIDTH_NS, room: MAX_CELLS, frames_left_out: 0 }
    }
}

impl RateTimeline {
    /// Adds a frame to the track of its sender; `false` when there is no room for it.
    #[inline]
    pub fn add(&mut self, track: &mut Track, at_ns: i64, key: u64, retry: bool) -> bool {
        track.add(at_ns, key, retry, self.width_ns, &mut self.room)
    }

    /// Makes room for more cells: `each` visits every track.
    #[cold]
    pub fn make_room(&mut self, mut each: impl FnMut(&mut dyn FnMut(&mut Track))) {
        // A capture of many stations with many rates has more cells than there is room for, however wide they are.
        while self.room < MAX_CELLS / 4 && self.width_ns < WIDEST_NS {
            self.width_ns *= 2;
            let mut cells = 0;
            each(&mut |track| {
                track.widen(self.width_ns);
                cells += track.cells.len();
            });
            self.room = MAX_CELLS.saturating_sub(cells);
        }
    }

    /// Adds a frame, or counts it as left out where there is no room even now.
    pub fn add_or_leave_out(&mut self, track: &mut Track, at_ns: i64, key: u64, retry: bool) {
        let added = self.add(track, at_ns, key, retry);
        self.frames_left_out += u64::from(!added);
    }

    /// The cells, track by track, each with the address of its station.
    pub fn report<'a>(&self, tracks: impl Iterator<Item = (MacAddr, &'a Track)>) -> report::RateTimeline {
        let rows = tracks.flat_map(|(address, track)| {
            let address = address.to_string();
            track.cells().map(move |cell| {
                let mode = Mode::from_key(cell.key).unwrap_or_default();
                let (mbit_s, mbit_s_low, mbit_s_high) = rates_mbit_s(&mode);
                report::RateCell {
                    address: address.clone(),
                    start_us: us(cell.start_ns),
                    label: mode.label(),
                    family: mode.family().to_owned(),
                    mbit_s,
                    mbit_s_low,
                    mbit_s_high,
                    frames: cell.frames,
                    retries: cell.retries,
                }
            })
        });
        report::RateTimeline { bin_us: us(self.width_ns), rows: rows.collect(), frames_left_out: self.frames_left_out }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn frames_are_neither_lost_nor_moved(
            frames in proptest::collection::vec((-1i64 << 40..1i64 << 40, 0u64..4, proptest::bool::ANY), 1..300),
            doublings in 0u32..5,
        ) {
            let (mut track, mut room) = (Track::default(), MAX_CELLS);
            let (half, width) = (frames.len() / 2, WIDTH_NS << doublings);
            for (at, key, retry) in &frames[..half] {
                assert!(track.add(*at, *key, *retry, WIDTH_NS, &mut room));
            }
            track.widen(width);
            for (at, key, retry) in &frames[half..] {
                assert!(track.add(*at, *key, *retry, width, &mut room));
            }
            let mut known = std::collections::BTreeMap::<(i64, u64), (u64, u64)>::new();
            for (at, key, retry) in &frames {
                let cell = known.entry((at.div_euclid(width) * width, *key)).or_default();
                *cell = (cell.0 + 1, cell.1 + u64::from(*retry));
            }
            let mut cells: Vec<_> = track.cells().map(|c| ((c.start_ns, c.key), (c.frames, c.retries))).collect();
            assert!(cells.windows(2).all(|pair| pair[0].0 .0 <= pair[1].0 .0));
            cells.sort_unstable();
            assert_eq!(cells, known.into_iter().collect::<Vec<_>>());
        }
    }
}
