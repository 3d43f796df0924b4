//! The EEPROM: what a card was calibrated to. Layouts: Linux ath9k/eeprom.h, struct ar5416_eeprom_def and ar9287_eeprom.
//!
//! Powers and gains are of no card: they have the shape that the driver's interpolation needs, and the same power for each rate
//! of a table.

use super::model::Model;
use crate::small_file;

/// Words of 16 bits.
const WORDS: usize = 0x800;
/// What the first word has (AR5416_EEPROM_MAGIC).
const MAGIC: u16 = 0xa55a;
/// Two chains.
const CHAINS: u8 = 3;
/// Regulatory domain: the United States, by country code (Linux ath/regd_common.h, CTRY_UNITED_STATES with COUNTRY_ERD_FLAG).
const DOMAIN: [u8; 2] = [0x48, 0x83];
/// Tables of target power begin at -5 dBm (AR5416_PWR_TABLE_OFFSET_DB).
const POWER_TABLE_OFFSET: u8 = 0xfb;
/// Target power of single chains, half dBm.
const TARGET: u8 = 34;
/// No channel in a table.
const UNUSED: u8 = 0xff;
/// Channels with calibration, as the driver's `FREQ2FBIN`: (MHz - 2300), and (MHz - 4800) / 5.
const PIERS_2GHZ: [u8; 4] = [112, 137, 172, UNUSED];
const PIERS_5GHZ: [u8; 8] = [76, 88, 100, 140, 160, 180, 189, 205];
const CCK_2GHZ: [u8; 3] = [112, 172, UNUSED];
const HARDWARE_ADDRESS: usize = 12;

/// A card's EEPROM.
#[derive(Clone, PartialEq, Eq)]
pub struct Eeprom(Vec<u16>);

impl std::fmt::Debug for Eeprom {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("Eeprom")
    }
}

/// A layout that is filled in at places.
struct Layout {
    /// The word at which it begins.
    start: usize,
    bytes: Vec<u8>,
}

impl Layout {
    fn new(start: usize, len: usize) -> Self {
        Self { start, bytes: vec![0; len] }
    }

    fn put(&mut self, at: usize, values: &[u8]) {
        if let Some(place) = self.bytes.get_mut(at..at + values.len()) {
            place.copy_from_slice(values);
        }
    }

    /// The header that both layouts begin with; its checksum is the exclusive or of all words, all ones.
    fn header(&mut self, version: [u8; 2], capabilities: u8, address: [u8; 6]) {
        let [low, high] = ((self.bytes.len() & !1) as u16).to_le_bytes();
        self.put(0, &[low, high, 0, 0, version[0], version[1], capabilities, 0, DOMAIN[0], DOMAIN[1], 0x1f]);
        self.put(HARDWARE_ADDRESS, &address);
        self.put(HARDWARE_ADDRESS + 6, &[CHAINS, CHAINS]);
    }

    fn into_eeprom(mut self) -> Eeprom {
        self.bytes.resize(self.bytes.len().next_multiple_of(2), 0);
        let mut words: Vec<u16> = self
            .bytes
            .chunks_exact(2)
            .map(|pair| pair.iter().rev().fold(0, |word, &byte| word << 8 | u16::from(byte)))
            .collect();
        let counted = words.first().map_or(0, |&len| usize::from(len) / 2);
        let sum = words.iter().take(counted).fold(0, |sum, word| sum ^ word);
        if let Some(checksum) = words.get_mut(1) {
            *checksum = !sum;
        }
        let mut all = vec![0xffff; WORDS];
        all.iter_mut().skip(self.start).zip(words).for_each(|(place, word)| *place = word);
        if let Some(first) = all.first_mut() {
            *first = MAGIC;
        }
        Eeprom(all)
    }
}

/// Target powers of channels: each channel, then as many powers.
fn targets(channels: &[u8], count: usize, power: u8) -> Vec<u8> {
    channels.iter().flat_map(|&channel| std::iter::once(channel).chain(std::iter::repeat_n(power, count))).collect()
}

impl Eeprom {
    /// That of a card with this address.
    pub fn new(model: Model, address: [u8; 6]) -> Self {
        match model {
            Model::Ar9280 | Model::Ar9220 => Self::def(address),
            Model::Ar9287 => Self::ar9287(address),
        }
    }

    /// The map of a real card: as many bytes as there are, little endian.
    ///
    /// # Errors
    /// The file, or what is in it.
    pub fn open(path: &std::path::Path) -> Result<Self, String> {
        let bytes = small_file::read(path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut words: Vec<u16> = bytes
            .chunks_exact(2)
            .map(|pair| pair.iter().rev().fold(0, |word, &byte| word << 8 | u16::from(byte)))
            .collect();
        if bytes.len() % 2 != 0 || words.len() > WORDS || words.first() != Some(&MAGIC) {
            return Err(format!(
                "{}: {} bytes that begin with {:04x}: an EEPROM has up to {} bytes and begins with {MAGIC:04x}, little endian",
                path.display(),
                bytes.len(),
                words.first().copied().unwrap_or(0),
                2 * WORDS
            ));
        }
        words.resize(WORDS, 0xffff);
        Ok(Self(words))
    }

    /// A word; ones beyond the end.
    pub(super) fn word(&self, at: u32) -> u16 {
        self.0.get(at as usize).copied().unwrap_or(0xffff)
    }

    /// struct ar5416_eeprom_def.
    fn def(address: [u8; 6]) -> Self {
        const MODAL: usize = 128;
        const MODAL_LEN: usize = 104;
        let mut layout = Layout::new(0x100, 3_256);
        // 5 GHz and 2.4 GHz; bits 2 to 5 would take 802.11n away.
        layout.header([0x16, 0xe0], 3, address);
        layout.put(41, &[POWER_TABLE_OFFSET]);
        for band in 0..2 {
            let modal = MODAL + MODAL_LEN * band;
            for (at, values) in [
                (19, &[0x2d][..]),
                (26, &[0xe2]),
                (31, &[0, 2, 0x0e, 0x1c, 0xff, 0xff, 0xff, 2, 1]),
                (46, &[6, 3, 3]),
                (52, &[0x0e, 0x0e, 2]),
                (61, &[0x2d]),
            ] {
                layout.put(modal + at, values);
            }
            layout.no_spurs(modal + 84);
        }
        let mut at = 336;
        for table in [&PIERS_5GHZ[..], &PIERS_2GHZ] {
            layout.put(at, table);
            at += table.len();
        }
        // Three chains, eight piers of 5 GHz and four of 2.4: four gains, each with rising powers, then rising voltages.
        for _ in 0..3 * (PIERS_5GHZ.len() + PIERS_2GHZ.len()) {
            let curve = |first: u8, step: u8| (0..4).flat_map(move |_| (0..5).map(move |point| first + step * point));
            layout.put(at, &curve(20, 12).chain(curve(30, 22)).collect::<Vec<u8>>());
            at += 40;
        }
        for table in [
            targets(&PIERS_5GHZ, 4, TARGET),
            targets(&PIERS_5GHZ, 8, TARGET),
            targets(&PIERS_5GHZ, 8, TARGET - 2),
            targets(&CCK_2GHZ, 4, TARGET + 2),
            targets(&PIERS_2GHZ, 4, TARGET + 2),
            targets(&PIERS_2GHZ, 8, TARGET + 2),
            targets(&PIERS_2GHZ, 8, TARGET),
        ] {
            layout.put(at, &table);
            at += table.len();
        }
        layout.into_eeprom()
    }

    /// struct ar9287_eeprom: open loop power control, as closed loop has one point a curve here.
    fn ar9287(address: [u8; 6]) -> Self {
        let mut layout = Layout::new(0x80, 727);
        layout.header([3, 0xe0], 2, address);
        layout.put(31, &[1, POWER_TABLE_OFFSET]);
        let modal = 96;
        for (at, value) in [(26, 2), (32, 6), (36, 2)] {
            layout.put(modal + at, &[value]);
        }
        layout.no_spurs(modal + 79);
        let piers = [112, 137, 172];
        layout.put(195, &piers);
        for curve in 0..6 {
            let rising = |first: u8, step: u8| (0..10).map(move |point| first + step * (point % 5));
            let powers: Vec<u8> = rising(40, 12).chain(rising(30, 22)).chain(rising(20, 10)).collect();
            layout.put(198 + 40 * curve, &powers);
        }
        for (at, count, power) in [(438, 4, 36), (453, 4, 36), (468, 8, 36), (495, 8, 34)] {
            layout.put(at, &targets(&piers, count, power));
        }
        layout.into_eeprom()
    }
}

impl Layout {
    /// Five channels with spurs of their own, none of them used (AR_NO_SPUR).
    fn no_spurs(&mut self, at: usize) {
        for spur in 0..5 {
            self.put(at + 4 * spur, &[0, 0x80]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_add_up_to_ones_and_the_address_is_there() {
        for (model, start) in [(Model::Ar9280, 0x100), (Model::Ar9287, 0x80)] {
            let eeprom = Eeprom::new(model, [2, 3, 4, 5, 6, 7]);
            let words = u32::from(eeprom.word(start)) / 2;
            assert_eq!((start..start + words).fold(0, |sum, at| sum ^ eeprom.word(at)), 0xffff, "{model:?}");
            assert_eq!([6, 7, 8].map(|at| eeprom.word(start + at)), [0x0302, 0x0504, 0x0706]);
            assert_eq!((eeprom.word(0), eeprom.word(0xffff)), (MAGIC, 0xffff));
        }
    }
}
