//! The access categories of EDCA (IEEE 802.11-2020, 10.2.3.2).

/// An access category. The numbers are the ACI of the WMM and EDCA Parameter elements, which is not the order of priority.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum AccessCategory {
    /// AC_BE.
    #[default]
    BestEffort = 0,
    /// AC_BK.
    Background = 1,
    /// AC_VI.
    Video = 2,
    /// AC_VO.
    Voice = 3,
}

impl AccessCategory {
    /// All four, by ACI.
    pub const ALL: [Self; 4] = [Self::BestEffort, Self::Background, Self::Video, Self::Voice];
    /// All four, lowest priority first: by [`Self::priority`].
    pub const BY_PRIORITY: [Self; 4] = [Self::Background, Self::BestEffort, Self::Video, Self::Voice];

    /// The category a TID of 0..=7 (a user priority, table 10-1) belongs to; `None` for a traffic stream.
    #[inline]
    pub const fn of_tid(tid: u8) -> Option<Self> {
        match tid {
            0 | 3 => Some(Self::BestEffort),
            1 | 2 => Some(Self::Background),
            4 | 5 => Some(Self::Video),
            6 | 7 => Some(Self::Voice),
            _ => None,
        }
    }

    /// The TID that stands for it: of its two user priorities the one of the same name (table 10-1), as mac80211 has it.
    pub const fn tid(self) -> u8 {
        match self {
            Self::BestEffort => 0,
            Self::Background => 1,
            Self::Video => 5,
            Self::Voice => 6,
        }
    }

    /// ACI, 0..=3.
    #[inline]
    pub const fn index(self) -> u8 {
        self as u8
    }

    /// 0, lowest, to 3: for tables with one row per category.
    #[inline]
    pub const fn priority(self) -> usize {
        match self {
            Self::Background => 0,
            Self::BestEffort => 1,
            Self::Video => 2,
            Self::Voice => 3,
        }
    }

    /// `BE`, `BK`, `VI` or `VO`.
    pub const fn short_name(self) -> &'static str {
        match self {
            Self::BestEffort => "BE",
            Self::Background => "BK",
            Self::Video => "VI",
            Self::Voice => "VO",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tids_map_to_categories() {
        let names: Vec<_> = (0..9).map(|tid| AccessCategory::of_tid(tid).map(AccessCategory::short_name)).collect();
        let expected = ["BE", "BK", "BK", "BE", "VI", "VI", "VO", "VO"];
        assert_eq!(names[..8], expected.map(Some));
        assert_eq!(names[8], None);
    }

    #[test]
    fn numbers_and_tables_agree() {
        for (number, category) in (0..).zip(AccessCategory::ALL) {
            assert_eq!(category.index(), number);
            assert_eq!(AccessCategory::of_tid(category.tid()), Some(category));
        }
        assert_eq!(AccessCategory::BY_PRIORITY.map(AccessCategory::priority), [0, 1, 2, 3]);
    }
}
