//! Which part of a capture is meant: from one moment of its clock to another.

/// One end of a [`Window`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// Nanoseconds since 1970-01-01 UTC.
    Unix(i64),
    /// Nanoseconds since the first record that has a time.
    SinceFirst(i64),
}

/// From `from` on, before `to`. An end that is `None` is open.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Window {
    /// The first moment inside.
    pub from: Option<Bound>,
    /// The first moment after it.
    pub to: Option<Bound>,
}

/// Where a record lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// Before the window.
    Before,
    /// In it.
    Inside,
    /// At its end or later.
    After,
    /// It has no time, so that it cannot be determined.
    Untimed,
}

/// What happened to the records of a capture that was cut to a window.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Placed {
    /// First moment inside, ns since 1970; `None`: open, or relative to a first record that there is not.
    pub from_ns: Option<i64>,
    /// First moment after it.
    pub to_ns: Option<i64>,
    /// Time of the first record that has one.
    pub first_ns: Option<i64>,
    /// Latest time of a record.
    pub last_ns: Option<i64>,
    /// Records before the window.
    pub before: u64,
    /// Records in it.
    pub inside: u64,
    /// Records after it.
    pub after: u64,
    /// Records without a time.
    pub untimed: u64,
}

/// Tells record after record where it lies, and counts.
#[derive(Clone, Debug)]
pub struct Placing {
    window: Window,
    placed: Placed,
}

impl Placing {
    /// For a capture of which no record has been read.
    pub fn new(window: Window) -> Self {
        let absolute = |bound| match bound {
            Some(Bound::Unix(ns)) => Some(ns),
            _ => None,
        };
        let placed = Placed { from_ns: absolute(window.from), to_ns: absolute(window.to), ..Placed::default() };
        Self { window, placed }
    }

    /// Where the next record lies, by its time in ns since 1970.
    pub fn place(&mut self, time_ns: Option<i64>) -> Place {
        let placed = &mut self.placed;
        let Some(now) = time_ns else {
            placed.untimed += 1;
            return Place::Untimed;
        };
        if placed.first_ns.is_none() {
            placed.first_ns = Some(now);
            let resolved = |bound| match bound {
                Some(Bound::SinceFirst(ns)) => Some(now.saturating_add(ns)),
                Some(Bound::Unix(ns)) => Some(ns),
                None => None,
            };
            (placed.from_ns, placed.to_ns) = (resolved(self.window.from), resolved(self.window.to));
        }
        placed.last_ns = placed.last_ns.max(Some(now));
        if placed.from_ns.is_some_and(|from| now < from) {
            placed.before += 1;
            Place::Before
        } else if placed.to_ns.is_some_and(|to| now >= to) {
            placed.after += 1;
            Place::After
        } else {
            placed.inside += 1;
            Place::Inside
        }
    }

    /// What was placed so far.
    pub fn placed(&self) -> Placed {
        self.placed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_outside_and_relative_bounds_count_from_the_first_record() {
        let window = Window { from: Some(Bound::SinceFirst(10)), to: Some(Bound::Unix(130)) };
        let mut placing = Placing::new(window);
        let places = [None, Some(100), Some(109), Some(110), Some(129), Some(130), Some(90)].map(|t| placing.place(t));
        use Place::*;
        assert_eq!(places, [Untimed, Before, Before, Inside, Inside, After, Before]);
        let placed = placing.placed();
        assert_eq!((placed.before, placed.inside, placed.after, placed.untimed), (3, 2, 1, 1));
        assert_eq!(
            (placed.from_ns, placed.to_ns, placed.first_ns, placed.last_ns),
            (Some(110), Some(130), Some(100), Some(130))
        );
    }

    #[test]
    fn open_ends_take_everything_and_huge_bounds_do_not_overflow() {
        let mut placing = Placing::new(Window::default());
        assert_eq!(placing.place(Some(i64::MIN)), Place::Inside);
        let far = Window { from: None, to: Some(Bound::SinceFirst(i64::MAX)) };
        assert_eq!(Placing::new(far).place(Some(i64::MAX - 1)), Place::Inside);
    }
}
