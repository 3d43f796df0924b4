//! Which resource units an MU PPDU has, and for how many users.

use super::Bandwidth;

/// Units of the whole of an MU PPDU, and the user fields that its signalling has for them.
///
/// A user field may have no recipient: a unit can be allocated and left empty (STA-ID 2046).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Allocation {
    /// How many units there are of each of [`Self::SIZES`].
    units: [u8; Self::SIZES.len()],
    /// User fields.
    pub users: u8,
}

/// What an RU Allocation subfield says of its 20 MHz.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Block {
    /// Units of 26, 52, 106 and 242 tones.
    units: [u8; 4],
    /// Tones of the larger unit that the 20 MHz are a part of.
    part_of: Option<u16>,
    users: u8,
}

impl Allocation {
    /// Tones of the units counted.
    pub const SIZES: [u16; 8] = [26, 52, 106, 242, 484, 996, 1992, 3984];

    /// Everybody in the whole band: MU-MIMO without an allocation of units. `None` for a width that HE and EHT do not have.
    pub fn whole_band(width: Bandwidth, users: u8) -> Option<Self> {
        let tones = width.tones()?;
        let mut all = Self { users, ..Self::default() };
        all.add(tones, 1);
        Some(all)
    }

    /// What the RU Allocation subfields of both HE-SIG-B content channels mean together (IEEE 802.11ax-2021, 27.3.11.8.3), each
    /// in the order of its channel, and the Center 26-tone RU fields of the lower and the upper 80 MHz.
    ///
    /// `None` where a subfield is missing or reserved, or they contradict each other.
    pub fn of_he(width: Bandwidth, channels: [Option<[u8; 4]>; 2], center: [Option<bool>; 2]) -> Option<Self> {
        let blocks = match width {
            Bandwidth::Mhz20 => 1,
            Bandwidth::Mhz40 => 2,
            Bandwidth::Mhz80 => 4,
            Bandwidth::Mhz160 => 8,
            Bandwidth::Mhz5 | Bandwidth::Mhz10 | Bandwidth::Mhz320 => return None,
        };
        let mut all = Self::default();
        let mut row = [Block::default(); 8];
        let row = row.get_mut(..blocks)?;
        // Channel 1 has the first, third, ... 20 MHz, channel 2 those between.
        for (index, block) in row.iter_mut().enumerate() {
            let channel = (*channels.get(index % 2)?)?;
            *block = Block::of(*channel.get(index / 2)?)?;
            all.users = all.users.saturating_add(block.users);
            for (tones, count) in Self::SIZES.into_iter().zip(block.units) {
                all.add(tones, count);
            }
        }
        all.join(row)?;
        // Between the two halves of each 80 MHz there is room for one more unit, for one user.
        for (half, center) in row.chunks_exact(4).zip(center) {
            let has_room = half.iter().all(|block| block.part_of != Some(996));
            match center {
                Some(true) if !has_room => return None,
                Some(true) => {
                    all.add(26, 1);
                    all.users = all.users.saturating_add(1);
                }
                Some(false) => {}
                None if has_room => return None,
                None => {}
            }
        }
        Some(all)
    }

    /// What the RU Allocation subfields of both EHT-SIG content channels mean together (IEEE 802.11be-2024, table 36-34), in the order of
    /// the 20 MHz that they are of: 1, 2, 4, 8 or 16.
    ///
    /// `None` where one is reserved or they contradict each other, and where one has a unit of several parts (MRU): its values are not decoded.
    pub fn of_eht(subfields: &[u16]) -> Option<Self> {
        let mut all = Self::default();
        let mut row = [Block::default(); 16];
        let row = row.get_mut(..subfields.len())?;
        for (block, subfield) in row.iter_mut().zip(subfields) {
            *block = Block::of_eht(*subfield)?;
            all.users = all.users.saturating_add(block.users);
            for (tones, count) in Self::SIZES.into_iter().zip(block.units) {
                all.add(tones, count);
            }
        }
        for half in row.chunks_mut(8).filter(|half| half.iter().any(|block| block.part_of == Some(1992))) {
            // The parts of its 80 MHz without user fields in this place are called a part of 996 tones.
            let is_whole = half.len() == 8
                && half.iter().all(|it| it.part_of == Some(1992) || (it.part_of == Some(996) && it.users == 0));
            if !is_whole {
                return None;
            }
            all.add(1992, 1);
            half.fill(Block::default());
        }
        all.join(row)?;
        Some(all)
    }

    /// Adds the units of 484 and 996 tones of which each 20 MHz is a part; `None` where parts are missing.
    fn join(&mut self, row: &[Block]) -> Option<()> {
        for (tones, blocks) in [(484, 2), (996, 4)] {
            // A width of fewer blocks has no such unit.
            let whole = row.chunks(blocks);
            for part in whole {
                match part.iter().filter(|block| block.part_of == Some(tones)).count() {
                    0 => {}
                    all_of_it if all_of_it == blocks => self.add(tones, 1),
                    _ => return None,
                }
            }
        }
        Some(())
    }

    fn add(&mut self, tones: u16, count: u8) {
        let of_size = Self::SIZES.iter().position(|size| *size == tones).and_then(|at| self.units.get_mut(at));
        if let Some(units) = of_size {
            *units = units.saturating_add(count);
        }
    }

    /// Units by their tones, smallest first.
    pub fn units(&self) -> impl Iterator<Item = (u16, u8)> + '_ {
        Self::SIZES.into_iter().zip(self.units).filter(|(_, count)| *count > 0)
    }

    /// Units of all sizes.
    pub fn unit_count(&self) -> u16 {
        self.units.iter().map(|count| u16::from(*count)).sum()
    }
}

impl Block {
    /// Units that are all here, the larger ones with `more` users than one each.
    fn each(units: [u8; 4], more: u8) -> Option<Self> {
        let users = units.iter().sum::<u8>() + more;
        Some(Self { units, part_of: None, users })
    }

    fn part(tones: u16, users: u8) -> Option<Self> {
        Some(Self { units: [0; 4], part_of: Some(tones), users })
    }

    /// IEEE 802.11ax-2021, table 27-26. `None` for a reserved value.
    fn of(value: u8) -> Option<Self> {
        let low = value & 7;
        match value {
            0..=15 => Self::each(quarters(value, 4, 0), 0),
            16..=31 => Self::each([0, 2, 1, 0], low),
            32..=95 => Self::each(quarters(value >> 3, 2, 1), low),
            96..=111 => Self::each([0, 0, 2, 0], (value >> 2 & 3) + (value & 3)),
            112 => Self::each([0, 4, 0, 0], 0),
            // Nothing is sent there.
            113 => Some(Self::default()),
            // The other content channel has the user fields.
            114 => Self::part(484, 0),
            115 => Self::part(996, 0),
            128..=191 => Self::each([1, 0, 2, 0], (value >> 3 & 7) + low),
            192..=199 => Self::each([0, 0, 0, 1], low),
            200..=207 => Self::part(484, low + 1),
            208..=215 => Self::part(996, low + 1),
            _ => None,
        }
    }

    /// IEEE 802.11be-2024, table 36-34. `None` for units of several parts and for reserved values.
    fn of_eht(value: u16) -> Option<Self> {
        let users = (value & 7) as u8 + 1;
        match value {
            0..=15 => Self::each(quarters(value as u8, 4, 0), 0),
            16..=23 => Self::each(quarters(value as u8, 2, 1), 0),
            24 => Self::each([0, 4, 0, 0], 0),
            25 => Self::each([1, 0, 2, 0], 0),
            // Punctured, and not assigned.
            26 | 27 => Some(Self::default()),
            // The other content channel has the user fields.
            28 => Some(Self { units: [0, 0, 0, 1], part_of: None, users: 0 }),
            29 => Self::part(484, 0),
            30 => Self::part(996, 0),
            64..=71 => Self::each([0, 0, 0, 1], users - 1),
            72..=79 => Self::part(484, users),
            80..=87 => Self::part(996, users),
            88..=95 => Self::part(1992, users),
            _ => None,
        }
    }
}

/// The units of 20 MHz of which `count` quarters have 52 tones where a bit says so and two times 26 where not, with the 26 in the
/// middle, and `of_106` of 106 tones.
fn quarters(bits: u8, count: u8, of_106: u8) -> [u8; 4] {
    let wide = (bits & ((1 << count) - 1)).count_ones() as u8;
    [2 * (count - wide) + 1, wide, of_106, 0]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn units(allocation: &Allocation) -> Vec<(u16, u8)> {
        allocation.units().collect()
    }

    fn in_20(value: u8) -> Option<Allocation> {
        Allocation::of_he(Bandwidth::Mhz20, [Some([value, 0, 0, 0]), None], [None; 2])
    }

    #[test]
    fn twenty_mhz() {
        for (value, expected, users) in [
            (0b0000_0000, vec![(26, 9)], 9),
            (0b0000_0001, vec![(26, 7), (52, 1)], 8),
            (0b0000_1111, vec![(26, 1), (52, 4)], 5),
            (0b0001_0010, vec![(52, 2), (106, 1)], 5),
            (0b0001_1000, vec![(52, 2), (106, 1)], 3),
            (0b0010_0000, vec![(26, 5), (106, 1)], 6),
            (0b0011_1111, vec![(26, 1), (52, 2), (106, 1)], 11),
            (0b0100_0000, vec![(26, 5), (106, 1)], 6),
            (0b0101_1001, vec![(26, 1), (52, 2), (106, 1)], 5),
            (0b0110_0000, vec![(106, 2)], 2),
            (0b0110_1111, vec![(106, 2)], 8),
            (0b0111_0000, vec![(52, 4)], 4),
            (0b0111_0001, vec![], 0),
            (0b1000_0000, vec![(26, 1), (106, 2)], 3),
            (0b1011_1111, vec![(26, 1), (106, 2)], 17),
            (0b1100_0111, vec![(242, 1)], 8),
        ] {
            let allocation = in_20(value).expect("not reserved");
            assert_eq!((units(&allocation), allocation.users), (expected, users), "{value:#010b}");
        }
        for reserved in (116..=127).chain(216..=255) {
            assert_eq!(in_20(reserved), None, "{reserved}");
        }
        assert_eq!((in_20(200), in_20(114), in_20(208)), (None, None, None), "larger than the width");
    }

    #[test]
    fn wider() {
        let of_he = |width, one: &[u8], two: &[u8], center| {
            let channel = |values: &[u8]| {
                let mut all = [0; 4];
                all[..values.len()].copy_from_slice(values);
                Some(all)
            };
            Allocation::of_he(width, [channel(one), channel(two)], center).map(|it| (units(&it), it.users))
        };
        // The user fields of a unit of 484 tones are shared out between the channels.
        assert_eq!(of_he(Bandwidth::Mhz40, &[201], &[200], [None; 2]), Some((vec![(484, 1)], 3)));
        assert_eq!(of_he(Bandwidth::Mhz40, &[200], &[114], [None; 2]), Some((vec![(484, 1)], 1)));
        assert_eq!(of_he(Bandwidth::Mhz40, &[200], &[192], [None; 2]), None, "half a unit");
        let center = [Some(true), None];
        let expected = Some((vec![(26, 1), (242, 2), (484, 1)], 4));
        assert_eq!(of_he(Bandwidth::Mhz80, &[200, 192], &[114, 192], center), expected);
        assert_eq!(of_he(Bandwidth::Mhz80, &[200, 192], &[114, 192], [None; 2]), None, "nothing describes the middle");
        assert_eq!(of_he(Bandwidth::Mhz80, &[208, 115], &[115, 115], [None; 2]), Some((vec![(996, 1)], 1)));
        assert_eq!(of_he(Bandwidth::Mhz80, &[208, 115], &[115, 115], center), None, "there is no middle");
        let quiet = [Some(false), Some(true)];
        let all = of_he(Bandwidth::Mhz160, &[208, 115, 192, 113], &[115, 115, 192, 192], quiet);
        assert_eq!(all, Some((vec![(26, 1), (242, 3), (996, 1)], 5)));
        assert_eq!(Allocation::of_he(Bandwidth::Mhz40, [Some([192; 4]), None], [None; 2]), None, "one channel only");
    }

    /// As ns-3's EhtRu has them (src/wifi/model/eht/eht-ru.cc), and the rows of the table that it leaves out.
    #[test]
    fn eht() {
        let of_eht = |subfields: &[u16]| Allocation::of_eht(subfields).map(|it| (units(&it), it.users));
        for (value, expected, users) in [
            (0, vec![(26, 9)], 9),
            (1, vec![(26, 7), (52, 1)], 8),
            (15, vec![(26, 1), (52, 4)], 5),
            (16, vec![(26, 5), (106, 1)], 6),
            (19, vec![(26, 1), (52, 2), (106, 1)], 4),
            (20, vec![(26, 5), (106, 1)], 6),
            (21, vec![(26, 3), (52, 1), (106, 1)], 5),
            (22, vec![(26, 3), (52, 1), (106, 1)], 5),
            (23, vec![(26, 1), (52, 2), (106, 1)], 4),
            (24, vec![(52, 4)], 4),
            (25, vec![(26, 1), (106, 2)], 3),
            (26, vec![], 0),
            (64, vec![(242, 1)], 1),
            (71, vec![(242, 1)], 8),
        ] {
            assert_eq!(of_eht(&[value]), Some((expected, users)), "{value}");
        }
        for (subfields, expected, users) in [
            (&[72, 29][..], (484, 1), 1),
            (&[73, 74], (484, 1), 5),
            (&[80, 30, 30, 30], (996, 1), 1),
            (&[80, 80, 30, 30], (996, 1), 2),
            (&[88, 30, 30, 30, 30, 30, 30, 30], (1992, 1), 1),
            (&[88, 89, 30, 30, 30, 30, 30, 30, 91, 30, 30, 30, 30, 30, 30, 30], (1992, 2), 7),
        ] {
            assert_eq!(of_eht(subfields), Some((vec![expected], users)), "{subfields:?}");
        }
        assert_eq!(of_eht(&[72, 29, 64, 26]), Some((vec![(242, 1), (484, 1)], 2)), "20 MHz punctured");
        assert_eq!((of_eht(&[72]), of_eht(&[72, 64]), of_eht(&[88, 30, 30, 30])), (None, None, None), "half a unit");
        for not_decoded in [31, 32, 47, 48, 63, 96, 128, 303, 304, 511] {
            assert_eq!(of_eht(&[not_decoded]), None, "{not_decoded}");
        }
        assert_eq!(of_eht(&[0; 17]), None);
    }

    #[test]
    fn the_whole_band() {
        let all = Allocation::whole_band(Bandwidth::Mhz80, 3).expect("a width of HE");
        assert_eq!((units(&all), all.users, all.unit_count()), (vec![(996, 1)], 3, 1));
    }

    proptest! {
        #[test]
        fn units_of_eht_fit(
            count in prop::sample::select(vec![1usize, 2, 4, 8, 16]),
            values in prop::collection::vec(prop::sample::select((0u16..=30).chain(64..96).collect::<Vec<_>>()), 16),
        ) {
            if let Some(all) = Allocation::of_eht(&values[..count]) {
                let tones: u32 = all.units().map(|(tones, count)| u32::from(tones) * u32::from(count)).sum();
                prop_assert!(tones <= 249 * count as u32, "{tones}");
            }
        }

        /// The tones of all units fit into the width, and no users share a unit below 106 tones.
        #[test]
        fn units_fit(
            width in prop::sample::select(vec![Bandwidth::Mhz20, Bandwidth::Mhz40, Bandwidth::Mhz80, Bandwidth::Mhz160]),
            channels in any::<[[u8; 4]; 2]>(),
            center in any::<[Option<bool>; 2]>(),
        ) {
            if let Some(all) = Allocation::of_he(width, channels.map(Some), center) {
                let tones: u32 = all.units().map(|(tones, count)| u32::from(tones) * u32::from(count)).sum();
                prop_assert!(tones <= u32::from(width.tones().unwrap_or(0)), "{tones}");
                let may_be_shared: u16 = all.units().filter(|(tones, _)| *tones >= 106).map(|(_, n)| u16::from(n)).sum();
                // A unit of 484 or 996 tones has up to 8 users in each subfield that names it.
                let most = all.unit_count() - may_be_shared + 8 * may_be_shared.max(8);
                prop_assert!(u16::from(all.users) <= most);
            }
        }
    }
}
