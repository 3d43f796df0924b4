//! One-time programmable memory: what makes one dongle differ from the next.
//!
//! Drivers read it byte by byte. It holds packages of a header and up to four words of two bytes: bits 7:4 of the header
//! are the section (8 bytes of the logical map), bits 3:0 say which words are missing; a header with bits 4:0 that are 0x0f
//! is followed by another byte with the upper bits of the section and the mask (rtl8xxxu core.c, rtl8xxxu_read_efuse;
//! rtlwifi efuse.c, read_efuse).

use std::path::Path;

use crate::small_file;

/// Bytes of the memory (rtl8xxxu.h, EFUSE_REAL_CONTENT_LEN_8723A).
const PHYSICAL: usize = 512;
/// Bytes of one section of the logical map.
const SECTION: usize = 8;
/// Bytes of the logical map of an RTL8188C (rtl8xxxu.h, struct rtl8192cu_efuse).
pub const MAP_8188C: usize = 128;
/// Bytes of the logical map of an RTL8723A (rtl8xxxu.h, struct rtl8723au_efuse).
pub const MAP_8723A: usize = 256;
/// Bytes of the logical map of an RTL8188E (rtl8xxxu.h, struct rtl8188eu_efuse).
pub const MAP_8188E: usize = 512;
/// Where an RTL8188E has its address.
const MAC_8188E: usize = 0xd7;
/// Where an RTL8723A has its address.
const MAC_8723A: usize = 0xc6;
/// Where an RTL8188C has its address.
const MAC_8188C: usize = 0x16;

/// The map of an Edimax EW-7811Un, as rtl8xxxu printed it in a public bug report
/// (OpenWrt and GARDENA developers' wiki on rtl8xxxu, 2021).
const EDIMAX_EW_7811UN: [u8; MAP_8188C] = [
    0x29, 0x81, 0x00, 0x74, 0xcd, 0x00, 0x00, 0x00, 0xff, 0x00, 0x92, 0x73, 0x11, 0x78, 0x03, 0x41, 0x32, 0x00, 0x85,
    0x62, 0x9e, 0xad, 0x08, 0xbe, 0xac, 0x0b, 0x14, 0xc4, 0x0a, 0x03, 0x52, 0x65, 0x61, 0x6c, 0x74, 0x65, 0x6b, 0x00,
    0x16, 0x03, 0x38, 0x30, 0x32, 0x2e, 0x31, 0x31, 0x6e, 0x20, 0x57, 0x4c, 0x41, 0x4e, 0x20, 0x41, 0x64, 0x61, 0x70,
    0x74, 0x65, 0x72, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x06, 0x00, 0x27, 0x27, 0x27, 0x00, 0x00,
    0x00, 0x29, 0x29, 0x29, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x11, 0x11, 0x33, 0x00, 0x00, 0x00,
    0x00, 0x00, 0x00, 0x02, 0x00, 0x00, 0x0f, 0x00, 0x00, 0x00, 0x36, 0x00, 0x00, 0x00,
];

/// Why a file is not an efuse map.
#[derive(Debug, thiserror::Error)]
pub enum EfuseError {
    /// It cannot be read.
    #[error("{path}: {source}")]
    Read {
        /// The file.
        path: std::path::PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// It has the wrong contents.
    #[error("{path}: {what}; give {MAP_8188C} (or, for an RTL8723A, {MAP_8723A}, for an RTL8188E {MAP_8188E}) bytes, raw or as a hex dump with offsets (\"08: ff 00 92\")")]
    Contents {
        /// The file.
        path: std::path::PathBuf,
        /// What is wrong.
        what: String,
    },
}

/// The memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Efuse {
    map: Vec<u8>,
    physical: Vec<u8>,
}

impl Efuse {
    /// That of an Edimax EW-7811Un.
    pub fn rtl8188cus() -> Self {
        Self::of_map(EDIMAX_EW_7811UN.to_vec())
    }

    /// The same board with an RTL8723A on it: its map is longer and has the address elsewhere.
    pub fn rtl8723au() -> Self {
        let mut map = EDIMAX_EW_7811UN.to_vec();
        map.resize(MAP_8723A, 0xff);
        map.copy_within(MAC_8188C..MAC_8188C + 6, MAC_8723A);
        Self::of_map(map)
    }

    /// The same board with an RTL8188E on it, by the fields of struct rtl8188eu_efuse: address and names are those of the
    /// EW-7811Un, the rest is plausible, as no dump was found. rtl8xxxu reads the transmit powers (no effect on the air
    /// here) and the crystal's capacity.
    pub fn rtl8188eu() -> Self {
        let mut map = vec![0xff; MAP_8188E];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(slot) = map.get_mut(at..at + bytes.len()) {
                slot.copy_from_slice(bytes);
            }
        };
        put(0, &[0x29, 0x81]);
        // CCK by six groups of channels, HT40 by five, the difference of HT20 and OFDM.
        put(0x10, &[0x2d; 11]);
        put(0x1b, &[0x02]);
        // Channel plan, crystal, thermal meter, calibration.
        put(0xb8, &[0x20, 0x20, 0x18, 0x00]);
        put(0xd0, &[0xda, 0x0b, 0x79, 0x81]);
        put(MAC_8188E, EDIMAX_EW_7811UN.get(MAC_8188C..MAC_8188C + 6).unwrap_or_default());
        put(0xdf, b"Realtek");
        put(0xe8, b"802.11n NIC");
        Self::of_map(map)
    }

    /// Reads a map in place of this one from a file.
    ///
    /// # Errors
    /// The file cannot be read, is neither a raw map nor a hex dump of one, has a map of another chip, or one that does
    /// not fit the memory.
    pub fn replaced_by(&self, path: &Path) -> Result<Self, EfuseError> {
        let bytes = small_file::read(path).map_err(|source| EfuseError::Read { path: path.into(), source })?;
        let map = if matches!(bytes.len(), MAP_8188C | MAP_8723A | MAP_8188E) {
            bytes
        } else {
            let text = String::from_utf8_lossy(&bytes);
            from_dump(&text).map_err(|what| EfuseError::Contents { path: path.into(), what })?
        };
        let (found, expected) = (map.len(), self.map.len());
        let efuse = Self::of_map(map);
        let what = if found != expected {
            format!("the map has {found} bytes, and that of this chip {expected}")
        } else if efuse.physical.len() > PHYSICAL {
            format!("the map takes more than the {PHYSICAL} bytes of the memory: leave unused sections at ff")
        } else {
            return Ok(efuse);
        };
        Err(EfuseError::Contents { path: path.into(), what })
    }

    fn of_map(map: Vec<u8>) -> Self {
        let mut physical = Vec::with_capacity(PHYSICAL);
        for (section, bytes) in map.chunks(SECTION).enumerate() {
            if bytes.iter().all(|&byte| byte == 0xff) {
                continue;
            }
            if section < 16 {
                physical.push((section as u8) << 4);
            } else {
                physical.extend([(section as u8 & 7) << 5 | 0x0f, (section as u8 >> 3) << 4]);
            }
            physical.extend_from_slice(bytes);
        }
        physical.resize(PHYSICAL.max(physical.len()), 0xff);
        Self { map, physical }
    }

    /// The byte at a physical address.
    pub fn byte(&self, address: u16) -> u8 {
        self.physical.get(usize::from(address)).copied().unwrap_or(0xff)
    }

    /// Vendor and product, at 0x0a and 0x0c of an RTL8188C's map (struct rtl8192cu_efuse), at 0xd0 and 0xd2 of an RTL8188E's.
    pub fn usb_ids(&self) -> (u16, u16) {
        let start = if self.map.len() == MAP_8188E { 0xd0 } else { 0x0a };
        let at = |offset| u16::from_le_bytes([self.get(offset), self.get(offset + 1)]);
        (at(start), at(start + 2))
    }

    /// Address of the station.
    pub fn address(&self) -> [u8; 6] {
        let start = match self.map.len() {
            MAP_8188E => MAC_8188E,
            MAP_8723A => MAC_8723A,
            _ => MAC_8188C,
        };
        std::array::from_fn(|i| self.get(start + i))
    }

    fn get(&self, offset: usize) -> u8 {
        self.map.get(offset).copied().unwrap_or(0xff)
    }
}

/// Lines of `OFFSET: BYTE BYTE ...` in hexadecimal, with anything before the offset, as kernels print them.
fn from_dump(text: &str) -> Result<Vec<u8>, String> {
    let mut map = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let Some((before, bytes)) = line.rsplit_once(':') else { continue };
        let offset = before.rsplit([' ', '\t']).next().and_then(|word| usize::from_str_radix(word, 16).ok());
        let bytes: Option<Vec<u8>> = bytes
            .split_whitespace()
            .take_while(|word| word.len() == 2)
            .map(|word| u8::from_str_radix(word, 16).ok())
            .collect();
        let (Some(offset), Some(bytes)) = (offset, bytes) else { continue };
        if bytes.is_empty() {
            continue;
        }
        if offset != map.len() {
            let expected = map.len();
            return Err(format!("line {} begins at 0x{offset:02x}, but 0x{expected:02x} comes next", number + 1));
        }
        map.extend(bytes);
        if map.len() > MAP_8188E {
            return Err(format!("more than {MAP_8188E} bytes"));
        }
    }
    match map.len() {
        MAP_8188C | MAP_8723A | MAP_8188E => Ok(map),
        len => Err(format!("{len} bytes were found")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Reads the memory as rtl8xxxu does.
    fn read_back(efuse: &Efuse, len: usize) -> Vec<u8> {
        let mut map = vec![0xff; len];
        let mut address = 0;
        let mut next = || {
            address += 1;
            efuse.byte(address - 1)
        };
        loop {
            let header = next();
            if header == 0xff {
                return map;
            }
            let (section, mask) = if header & 0x1f == 0x0f {
                let more = next();
                (usize::from(header >> 5) | usize::from(more & 0xf0) >> 1, more & 0x0f)
            } else {
                (usize::from(header >> 4), header & 0x0f)
            };
            for word in (0..4).filter(|word| mask & 1 << word == 0) {
                map[section * SECTION + word * 2] = next();
                map[section * SECTION + word * 2 + 1] = next();
            }
        }
    }

    #[test]
    fn maps_are_read_back() {
        let ids = (0x7392, 0x7811);
        for (efuse, ids) in
            [(Efuse::rtl8188cus(), ids), (Efuse::rtl8723au(), ids), (Efuse::rtl8188eu(), (0x0bda, 0x8179))]
        {
            assert_eq!(read_back(&efuse, efuse.map.len()), efuse.map);
            assert_eq!(efuse.address(), [0x08, 0xbe, 0xac, 0x0b, 0x14, 0xc4]);
            assert_eq!(efuse.usb_ids(), ids);
        }
    }

    #[test]
    fn dumps_of_kernel_logs_are_read() {
        let mut text = String::from("usb 1-1: rtl8192cu_parse_efuse: dumping efuse (0x80 bytes):\n");
        for (row, bytes) in EDIMAX_EW_7811UN.chunks(8).enumerate() {
            let bytes: Vec<String> = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
            text += &format!("kernel: usb 1-1.5.4: {:02x}: {}\n", row * 8, bytes.join(" "));
        }
        assert_eq!(from_dump(&text).unwrap(), EDIMAX_EW_7811UN);
        assert!(from_dump(&text.replace(" 10: ", " 11: ")).unwrap_err().contains("0x10 comes next"));
        assert_eq!(from_dump("nothing\n").unwrap_err(), "0 bytes were found");
    }

    #[test]
    fn a_map_of_another_chip_or_a_full_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("map");
        std::fs::write(&path, EDIMAX_EW_7811UN).unwrap();
        assert_eq!(Efuse::rtl8188cus().replaced_by(&path).unwrap(), Efuse::rtl8188cus());
        let said = Efuse::rtl8188eu().replaced_by(&path).unwrap_err().to_string();
        assert!(said.contains("the map has 128 bytes, and that of this chip 512"), "{said}");
        std::fs::write(&path, [0x55; MAP_8188E]).unwrap();
        let said = Efuse::rtl8188eu().replaced_by(&path).unwrap_err().to_string();
        assert!(said.contains("more than the 512 bytes of the memory"), "{said}");
    }

    proptest::proptest! {
        #[test]
        fn any_map_is_read_back(map in proptest::collection::vec(proptest::num::u8::ANY, MAP_8723A)) {
            let efuse = Efuse::of_map(map.clone());
            assert_eq!(read_back(&efuse, MAP_8723A), map);
        }
    }
}
