//! Security: the RSN element (9.4.2.24) and its WPA forerunner.

use super::elements::{id, u16_at, Element};
use super::Cipher;

const RSN_OUI: [u8; 3] = [0x00, 0x0f, 0xac];
const WPA_OUI: [u8; 3] = [0x00, 0x50, 0xf2];
/// Type of the vendor element behind its OUI.
const WPA_TYPE: u8 = 1;

/// A set of cipher suites or of key management suites: bit *n* is suite type *n* of the element's own OUI.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct SuiteSet {
    /// Suite types 0 to 31.
    pub bits: u32,
    /// Suites of other OUIs or higher types are there, too.
    pub unknown: bool,
}

impl SuiteSet {
    fn insert(&mut self, selector: &[u8], oui: [u8; 3]) {
        match selector {
            [a, b, c, kind @ 0..=31] if [*a, *b, *c] == oui => self.bits |= 1 << kind,
            _ => self.unknown = true,
        }
    }

    /// The set with one suite of the element's own OUI, 0 to 31.
    pub const fn of(kind: u8) -> Self {
        Self { bits: 1 << (kind & 31), unknown: false }
    }

    /// The selectors of its known suites, by type.
    fn selectors(self, oui: [u8; 3]) -> impl Iterator<Item = [u8; 4]> {
        let [a, b, c] = oui;
        (0..32).filter(move |kind| self.contains(*kind)).map(move |kind| [a, b, c, kind])
    }

    /// Appends a count and that many selectors.
    fn emit_list(self, oui: [u8; 3], out: &mut Vec<u8>) {
        out.extend_from_slice(&(self.bits.count_ones() as u16).to_le_bytes());
        out.extend(self.selectors(oui).flatten());
    }

    /// Whether suite type `kind` is in it.
    pub const fn contains(self, kind: u8) -> bool {
        kind < 32 && self.bits >> kind & 1 != 0
    }

    /// The cipher, when the set of *cipher* suites has exactly one that this crate knows.
    pub const fn single_cipher(self) -> Option<Cipher> {
        if self.unknown {
            return None;
        }
        Some(match self.bits {
            0b10 | 0b10_0000 => Cipher::Wep,
            0b100 => Cipher::Tkip,
            0b1_0000 => Cipher::Ccmp128,
            0b1_0000_0000 => Cipher::Gcmp128,
            0b10_0000_0000 => Cipher::Gcmp256,
            0b100_0000_0000 => Cipher::Ccmp256,
            _ => return None,
        })
    }
}

/// Key management suite types (Table 9-151), for [`SuiteSet::contains`].
pub mod akm {
    /// 802.1X.
    pub const IEEE802_1X: u8 = 1;
    /// PSK.
    pub const PSK: u8 = 2;
    /// FT over 802.1X.
    pub const FT_802_1X: u8 = 3;
    /// FT with PSK.
    pub const FT_PSK: u8 = 4;
    /// 802.1X, SHA-256.
    pub const IEEE802_1X_SHA256: u8 = 5;
    /// PSK, SHA-256.
    pub const PSK_SHA256: u8 = 6;
    /// SAE.
    pub const SAE: u8 = 8;
    /// FT over SAE.
    pub const FT_SAE: u8 = 9;
    /// Suite B, 192 bits.
    pub const SUITE_B_192: u8 = 12;
    /// OWE.
    pub const OWE: u8 = 18;
    /// FT with PSK, SHA-384.
    pub const FT_PSK_SHA384: u8 = 19;
    /// PSK, SHA-384.
    pub const PSK_SHA384: u8 = 20;
    /// SAE with a group-dependent hash.
    pub const SAE_EXT: u8 = 24;
    /// FT over SAE with a group-dependent hash.
    pub const FT_SAE_EXT: u8 = 25;

    /// What a suite is called here (IEEE Std 802.11-2020, table 9-151, and 802.11be-2024 from 24 on, which give them no short
    /// names); `None` for reserved ones and those of no use between a station and its access point.
    pub const fn name(kind: u8) -> Option<&'static str> {
        Some(match kind {
            1 => "802.1X",
            2 => "PSK",
            3 => "FT-802.1X",
            4 => "FT-PSK",
            5 => "802.1X-SHA256",
            6 => "PSK-SHA256",
            8 => "SAE",
            9 => "FT-SAE",
            11 => "802.1X-SuiteB",
            12 => "802.1X-SuiteB-192",
            13 => "FT-802.1X-SHA384",
            14 => "FILS-SHA256",
            15 => "FILS-SHA384",
            16 => "FT-FILS-SHA256",
            17 => "FT-FILS-SHA384",
            18 => "OWE",
            19 => "FT-PSK-SHA384",
            20 => "PSK-SHA384",
            21 => "PASN",
            22 => "FT-802.1X-SHA384 (suite 22)",
            23 => "802.1X-SHA384",
            24 => "SAE-EXT",
            25 => "FT-SAE-EXT",
            _ => return None,
        })
    }
}

/// Cipher suite types (Table 9-149), for [`SuiteSet::contains`].
pub mod cipher {
    /// WEP-40.
    pub const WEP40: u8 = 1;
    /// TKIP.
    pub const TKIP: u8 = 2;
    /// CCMP-128.
    pub const CCMP128: u8 = 4;
    /// WEP-104.
    pub const WEP104: u8 = 5;
    /// GCMP-128.
    pub const GCMP128: u8 = 8;
    /// GCMP-256.
    pub const GCMP256: u8 = 9;
    /// CCMP-256.
    pub const CCMP256: u8 = 10;
}

/// The RSN element. Fields that the element leaves out have the standard's defaults where it names one
/// (CCMP, 802.1X), as [`Rsn::read`] says.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct Rsn {
    /// Version; 1.
    pub version: u16,
    /// Group data cipher.
    pub group: SuiteSet,
    /// Pairwise ciphers.
    pub pairwise: SuiteSet,
    /// Key management.
    pub akm: SuiteSet,
    /// RSN Capabilities; `None` when the element ends before.
    pub capabilities: Option<u16>,
    /// Group management cipher; empty when the element ends before.
    pub group_management: SuiteSet,
    /// The element was cut inside a field or list, or is of an unknown version.
    pub truncated: bool,
}

/// The only version.
const VERSION: u16 = 1;

impl Rsn {
    /// Reads the data of an RSN element; `None` without its version. A missing cipher counts as CCMP and a missing key
    /// management as 802.1X, as the standard has it where the element ends before them; in one that is cut inside a list, or of
    /// another version, they are not known (IEEE Std 802.11-2020, 9.4.2.24.1).
    pub fn read(data: &[u8]) -> Option<Self> {
        Self::read_suites(data, RSN_OUI, 4)
    }

    /// Appends the element, with as many fields as there are: no RSN Capabilities, nothing behind them. Suites that are not
    /// known are left out, and of several group ciphers only the first is written.
    pub fn emit(&self, out: &mut Vec<u8>) {
        Element::emit_with(id::RSN, out, |out| {
            out.extend_from_slice(&self.version.to_le_bytes());
            out.extend(self.group.selectors(RSN_OUI).take(1).flatten());
            self.pairwise.emit_list(RSN_OUI, out);
            self.akm.emit_list(RSN_OUI, out);
            let Some(capabilities) = self.capabilities else { return };
            out.extend_from_slice(&capabilities.to_le_bytes());
            let management = self.group_management.selectors(RSN_OUI).next();
            if let Some(selector) = management {
                // No PMKID.
                out.extend_from_slice(&[0, 0]);
                out.extend_from_slice(&selector);
            }
        });
    }

    /// Appends the WPA vendor element with these suites, of which its OUI has its own; without capabilities. As in [`Rsn::emit`],
    /// one group cipher.
    pub fn emit_wpa(&self, out: &mut Vec<u8>) {
        Element::emit_with(id::VENDOR, out, |out| {
            out.extend(WPA_OUI);
            out.push(WPA_TYPE);
            out.extend_from_slice(&self.version.to_le_bytes());
            out.extend(self.group.selectors(WPA_OUI).take(1).flatten());
            self.pairwise.emit_list(WPA_OUI, out);
            self.akm.emit_list(WPA_OUI, out);
        });
    }

    /// Reads a WPA vendor element's data after OUI and type; there a missing cipher counts as TKIP.
    pub fn read_wpa(data: &[u8]) -> Option<Self> {
        Self::read_suites(data, WPA_OUI, 2)
    }

    fn read_suites(data: &[u8], oui: [u8; 3], default_cipher: u8) -> Option<Self> {
        let default = SuiteSet { bits: 1 << default_cipher, unknown: false };
        let mut rsn = Self {
            version: u16_at(data, 0)?,
            group: default,
            pairwise: default,
            akm: SuiteSet { bits: 1 << akm::IEEE802_1X, unknown: false },
            ..Self::default()
        };
        let mut rest = data.get(2..)?;
        rsn.truncated = rsn.read_optional(&mut rest, oui).is_none() && !rest.is_empty();
        let unknown = SuiteSet::default();
        if rsn.version != VERSION {
            return Some(Self { version: rsn.version, truncated: true, ..Self::default() });
        }
        // The lists come before the capabilities, and key management behind the ciphers.
        if rsn.truncated && rsn.capabilities.is_none() && rsn.pairwise == unknown {
            rsn.akm = unknown;
        }
        Some(rsn)
    }

    /// Reads as many of the optional fields as there are; `None` where the data ends.
    fn read_optional(&mut self, rest: &mut &[u8], oui: [u8; 3]) -> Option<()> {
        let mut group = SuiteSet::default();
        group.insert(take(rest, 4)?, oui);
        self.group = group;
        Self::read_list(rest, oui, &mut self.pairwise)?;
        Self::read_list(rest, oui, &mut self.akm)?;
        self.capabilities = Some(u16_at(take(rest, 2)?, 0)?);
        let pmkids = usize::from(u16_at(take(rest, 2)?, 0)?);
        take(rest, pmkids * 16)?;
        self.group_management.insert(take(rest, 4)?, oui);
        Some(())
    }

    /// A list, which is empty where it is cut; `None` where the data ends.
    fn read_list(rest: &mut &[u8], oui: [u8; 3], set: &mut SuiteSet) -> Option<()> {
        if rest.is_empty() {
            return None;
        }
        *set = SuiteSet::default();
        *set = take_suites(rest, oui)?;
        Some(())
    }

    /// Management frame protection required.
    pub const fn mfp_required(self) -> bool {
        matches!(self.capabilities, Some(bits) if bits & 0x40 != 0)
    }

    /// Management frame protection capable.
    pub const fn mfp_capable(self) -> bool {
        matches!(self.capabilities, Some(bits) if bits & 0x80 != 0)
    }

    /// Offers SAE in any form: WPA3-Personal.
    pub const fn sae(self) -> bool {
        self.akm.contains(akm::SAE)
            || self.akm.contains(akm::FT_SAE)
            || self.akm.contains(akm::SAE_EXT)
            || self.akm.contains(akm::FT_SAE_EXT)
    }

    /// Offers PSK in any form: WPA2-Personal (in a WPA element: WPA-Personal).
    pub const fn psk(self) -> bool {
        self.akm.contains(akm::PSK)
            || self.akm.contains(akm::FT_PSK)
            || self.akm.contains(akm::PSK_SHA256)
            || self.akm.contains(akm::FT_PSK_SHA384)
            || self.akm.contains(akm::PSK_SHA384)
    }

    /// Offers OWE: Enhanced Open.
    pub const fn owe(self) -> bool {
        self.akm.contains(akm::OWE)
    }

    /// Offers 802.1X in any form: Enterprise.
    pub const fn enterprise(self) -> bool {
        // 1, 3, 5: 802.1X; 11 to 17: Suite B, FT over SHA-384, and FILS, which also runs over 802.1X; 22, 23: SHA-384.
        self.akm.bits & (1 << 1 | 1 << 3 | 1 << 5 | 0x7f << 11 | 0b11 << 22) != 0
    }
}

/// The first `len` bytes, which `rest` then lacks; `None`, and `rest` as it was, when there are not that many.
fn take<'a>(rest: &mut &'a [u8], len: usize) -> Option<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len)?;
    *rest = tail;
    Some(head)
}

fn take_suites(rest: &mut &[u8], oui: [u8; 3]) -> Option<SuiteSet> {
    let count = usize::from(u16_at(rest, 0)?);
    let list = rest.get(2..2 + count * 4)?;
    *rest = rest.get(2 + count * 4..)?;
    let mut suites = SuiteSet::default();
    for selector in list.chunks_exact(4) {
        suites.insert(selector, oui);
    }
    Some(suites)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wpa3_transition_mode() {
        let data = [
            1, 0, 0, 0x0f, 0xac, 4, 1, 0, 0, 0x0f, 0xac, 4, 2, 0, 0, 0x0f, 0xac, 2, 0, 0x0f, 0xac, 8, 0x80, 0x00, 0, 0,
            0, 0x0f, 0xac, 6,
        ];
        let rsn = Rsn::read(&data).unwrap();
        assert!(rsn.psk() && rsn.sae() && !rsn.enterprise() && rsn.mfp_capable() && !rsn.mfp_required());
        assert_eq!(rsn.pairwise.single_cipher(), Some(Cipher::Ccmp128));
        assert!(rsn.group_management.contains(6) && !rsn.truncated);
    }

    #[test]
    fn every_suite_belongs_to_one_family() {
        // Table 9-151 of IEEE Std 802.11-2020 and what later amendments add; 7, 10 and 21 (TDLS, AP peer key, PASN) are for
        // no association.
        let families = |kind: u8| {
            let rsn = Rsn { akm: SuiteSet { bits: 1 << kind, unknown: false }, ..Rsn::default() };
            [rsn.psk(), rsn.sae(), rsn.enterprise(), rsn.owe()].iter().position(|is_named| *is_named)
        };
        let of = |family: usize| (1..=25).filter(|kind| families(*kind) == Some(family)).collect::<Vec<_>>();
        assert_eq!(of(0), [2, 4, 6, 19, 20], "PSK");
        assert_eq!(of(1), [8, 9, 24, 25], "SAE");
        assert_eq!(of(2), [1, 3, 5, 11, 12, 13, 14, 15, 16, 17, 22, 23], "802.1X");
        assert_eq!(of(3), [18], "OWE");
        assert_eq!((1..=25).filter(|kind| families(*kind).is_none()).collect::<Vec<_>>(), [7, 10, 21]);
    }

    #[test]
    fn the_element_may_end_after_any_field() {
        let rsn = Rsn::read(&[1, 0]).unwrap();
        assert!(
            rsn.pairwise.contains(cipher::CCMP128) && rsn.enterprise() && rsn.capabilities.is_none() && !rsn.truncated
        );
        // A pairwise list that announces two suites and has one.
        let cut = Rsn::read(&[1, 0, 0, 0x0f, 0xac, 2, 2, 0, 0, 0x0f, 0xac, 4]).unwrap();
        assert!(cut.truncated && cut.group.contains(cipher::TKIP));
        assert!(cut.pairwise == SuiteSet::default() && !cut.enterprise(), "what it lists is not known");
        // 754 pairwise suites in an element of version 27,744: damaged.
        let damaged = Rsn::read(&[0x60, 0x6c, 0, 0x0f, 0xac, 4, 0xf2, 2, 0, 0x0f, 0xac, 4]).unwrap();
        assert!(damaged.truncated && damaged.group == SuiteSet::default() && !damaged.enterprise());
        assert_eq!(Rsn::read(&[1]), None);
    }

    #[test]
    fn suites_of_strangers_are_noted_not_misread() {
        let rsn = Rsn::read(&[1, 0, 0x00, 0x40, 0x96, 4, 1, 0, 0, 0x0f, 0xac, 200]).unwrap();
        assert_eq!((rsn.group.bits, rsn.group.unknown), (0, true));
        assert_eq!((rsn.pairwise.bits, rsn.pairwise.unknown), (0, true));
        assert_eq!(rsn.pairwise.single_cipher(), None);
    }

    #[test]
    fn wpa_uses_its_own_oui() {
        let wpa = Rsn::read_wpa(&[1, 0, 0, 0x50, 0xf2, 2, 1, 0, 0, 0x50, 0xf2, 2, 1, 0, 0, 0x50, 0xf2, 2]).unwrap();
        assert!(wpa.psk() && wpa.group.single_cipher() == Some(Cipher::Tkip) && !wpa.akm.unknown);
        let mut out = Vec::new();
        wpa.emit_wpa(&mut out);
        let (head, data) = out.split_at(6);
        assert_eq!(head, [0xdd, 22, 0, 0x50, 0xf2, 1]);
        assert_eq!(Rsn::read_wpa(data), Some(wpa));
    }

    proptest! {
        #[test]
        fn wpa_comes_back(group in 0u8..32, pairwise in 1u32.., akm in 1u32..) {
            let set = |bits| SuiteSet { bits, unknown: false };
            let wpa = Rsn { version: 1, group: SuiteSet::of(group), pairwise: set(pairwise), akm: set(akm), ..Rsn::default() };
            let mut out = Vec::new();
            wpa.emit_wpa(&mut out);
            // As many as an element has room for: 255 bytes.
            if out.len() == 2 + 4 + 2 + 4 + 2 + 2 + 4 * (pairwise.count_ones() + akm.count_ones()) as usize {
                prop_assert_eq!(Rsn::read_wpa(&out[6..]), Some(wpa));
            }
        }

        #[test]
        fn never_panics(data in proptest::collection::vec(any::<u8>(), 0..80)) {
            let _ = Rsn::read(&data);
            let _ = Rsn::read_wpa(&data);
        }
    }
}
