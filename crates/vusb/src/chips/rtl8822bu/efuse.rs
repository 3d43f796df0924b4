//! One-time programmable memory: what makes one dongle differ from the next.
//!
//! Drivers read it byte by byte. It holds packages of a header and up to four words of two bytes: a header of one byte has the
//! section (8 bytes of the logical map) in bits 7:4 and in bits 3:0 which words are missing; one of two bytes, the first of which
//! ends in 0x0f, has three more bits of the section (rtw88 efuse.c, rtw_dump_logical_efuse_map).

use super::model::Model;

/// Bytes of one section of the logical map.
const SECTION: usize = 8;
/// The thermal meter when the chip was calibrated.
pub const THERMAL: u8 = 0x1a;

/// The memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Efuse {
    map: Vec<u8>,
    physical: Vec<u8>,
}

impl Efuse {
    /// That of a dongle, by the fields of struct rtw8822b_efuse, which are those of rtw8821c_efuse, too; no dump was found, so the
    /// rest is plausible. rtw88 reads the transmit powers (no effect on the air here), the type of its front end, and a country,
    /// of which there is none.
    pub(super) fn new(model: Model) -> Self {
        let (physical, len) = model.efuse_bytes();
        let mut map = vec![0xff; len];
        let mut put = |at: usize, bytes: &[u8]| {
            if let Some(slot) = map.get_mut(at..at + bytes.len()) {
                slot.copy_from_slice(bytes);
            }
        };
        put(0x00, &[0x29, 0x81]);
        // Paths A and B: 2.4 GHz by groups of channels, differences of bandwidth and streams; 5 GHz likewise.
        for path in [0x10, 0x3a] {
            put(path, &[0x2d; 11]);
            put(path + 11, &[0x00; 7]);
            put(path + 18, &[0x2d; 14]);
            put(path + 32, &[0x00; 10]);
        }
        // Channel plan, crystal, thermal meter, calibration, amplifiers of both bands, board.
        put(0xb8, &[0x7f, 0x20, THERMAL, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x01, 0x00, 0x00]);
        // Type of the front end.
        put(0xca, &[model.front_end()]);
        let (vendor, product) = (model.vendor().to_le_bytes(), model.product().to_le_bytes());
        match model {
            // rtw8822b.h, struct rtw8822bu_efuse; rtw8821c.h, struct rtw8821cu_efuse.
            Model::Rtl8822bu | Model::Rtl8821cu => {
                // USB 2 only.
                put(0x06, &[0x00]);
                put(0x100, &vendor);
                put(0x102, &product);
                put(0x107, &model.address());
                put(0x10f, b"Realtek");
                put(0x118, b"802.11ac NIC");
            }
            // rtw8822b.h, struct rtw8822be_efuse.
            Model::Rtl8822be => {
                put(0xd0, &model.address());
                put(0xd6, &[vendor, product, vendor, product].concat());
            }
            // rtw8822b.h, struct rtw8822bs_efuse: nothing else is known of it.
            Model::Rtl8822bs => put(0x11a, &model.address()),
        }
        Self::of_map(map, physical)
    }

    fn of_map(map: Vec<u8>, len: usize) -> Self {
        let mut physical = Vec::with_capacity(len);
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
        physical.resize(len.max(physical.len()), 0xff);
        Self { map, physical }
    }

    /// The byte at a physical address.
    pub fn byte(&self, address: u16) -> u8 {
        self.physical.get(usize::from(address)).copied().unwrap_or(0xff)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Bytes at the end that are not packages (ptct_efuse_size).
    const PROTECTED: usize = 96;

    /// Reads the memory as rtw88 does.
    fn read_back(efuse: &Efuse) -> Vec<u8> {
        let mut map = vec![0xff; efuse.map.len()];
        let mut at = 0;
        while at < efuse.physical.len() - PROTECTED {
            let (first, second) = (efuse.byte(at as u16), efuse.byte(at as u16 + 1));
            let long = first & 0x1f == 0x0f;
            if first == 0xff || long && second == 0xff {
                break;
            }
            let (section, missing) = if long {
                (usize::from(second & 0xf0) >> 1 | usize::from(first >> 5), second & 0x0f)
            } else {
                (usize::from(first >> 4), first & 0x0f)
            };
            at += 1 + usize::from(long);
            for word in (0..4).filter(|word| missing >> word & 1 == 0) {
                map[section * SECTION + 2 * word] = efuse.byte(at as u16);
                map[section * SECTION + 2 * word + 1] = efuse.byte(at as u16 + 1);
                at += 2;
            }
        }
        map
    }

    #[test]
    fn the_map_is_read_back() {
        for (model, ids, address, front_end) in [
            (Model::Rtl8822bu, Some((0x100, [0xda, 0x0b, 0x12, 0xb8])), 0x107, 3),
            (Model::Rtl8822be, Some((0xd6, [0xec, 0x10, 0x22, 0xb8])), 0xd0, 3),
            (Model::Rtl8822bs, None, 0x11a, 3),
            (Model::Rtl8821cu, Some((0x100, [0xda, 0x0b, 0x11, 0xc8])), 0x107, 0),
        ] {
            let efuse = Efuse::new(model);
            assert_eq!(efuse.physical.len(), model.efuse_bytes().0);
            assert_eq!(read_back(&efuse), efuse.map);
            assert_eq!(efuse.map[address..address + 6], model.address());
            if let Some((at, ids)) = ids {
                assert_eq!(efuse.map[at..at + 4], ids);
            }
            // No Bluetooth, the front end, no country.
            let board = (efuse.map[0xc1] & 0xe0, efuse.map[0xca], &efuse.map[0xcb..0xcd]);
            assert_eq!(board, (0, front_end, &[0xff, 0xff][..]));
        }
    }
}
