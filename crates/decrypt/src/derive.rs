//! From a passphrase to the keys of a session (12.7.1): PSK, PTK, and what a key management makes of them.

use aes::Aes128;
use cmac::Cmac;
use hmac::{Hmac, Mac};
use md5::Md5;
use sha1::Sha1;
use sha2::{Sha256, Sha384, Sha512};
use wire::ieee80211::eapol::{EapolKey, MobilityDomain, DESCRIPTOR_WPA};
use wire::ieee80211::rsn::akm;
use wire::ieee80211::{Cipher, MacAddr, SuiteSet};
use zeroize::Zeroizing;

use crate::stream;

/// Rounds of PBKDF2 (J.4.1).
const ITERATIONS: u32 = 4096;
const LABEL: &[u8] = b"Pairwise key expansion";
/// Descriptor version of HMAC-MD5 and RC4, which TKIP has.
const VERSION_MD5: u8 = 1;
/// Descriptor version of HMAC-SHA-1 and AES key wrap.
const VERSION_SHA1: u8 = 2;
/// Descriptor version of AES-CMAC and AES key wrap.
const VERSION_CMAC: u8 = 3;

/// The PSK of a passphrase in a network (J.4.1).
pub(crate) fn psk(passphrase: &[u8], ssid: &[u8]) -> Zeroizing<Vec<u8>> {
    let mut key = Zeroizing::new(vec![0; 32]);
    // It fails on a key that HMAC cannot take, and there is none.
    let _ = pbkdf2::pbkdf2::<Hmac<Sha1>>(passphrase, ssid, ITERATIONS, &mut key);
    key
}

/// The key managements that a key is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// Any that has the PMK of a session.
    Session,
    /// Those of PSK: it comes from a passphrase.
    Passphrase,
    /// 802.1X without FT: the beginning of an MSK.
    Dot1x,
    /// FT with 802.1X: another part of an MSK.
    FtDot1x,
}

/// Authentication and key management that a station chose.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Akm {
    /// 802.1X.
    Dot1x,
    /// PSK.
    Psk,
    /// FT with 802.1X.
    FtDot1x,
    /// 802.1X, SHA-256.
    Dot1xSha256,
    /// PSK, SHA-256.
    PskSha256,
    /// FT with PSK.
    FtPsk,
    /// SAE.
    Sae,
    /// FT with SAE.
    FtSae,
    /// Suite B, 128 bits.
    SuiteB,
    /// Suite B, 192 bits.
    SuiteB192,
    /// OWE.
    Owe,
    /// SAE with a group-dependent hash.
    SaeExt,
    /// Another one, with keys that are not derived here; its suite type.
    Other(u8),
}

/// The hash that a PTK is derived with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Hash {
    Sha1,
    Sha256,
    Sha384,
    Sha512,
}

/// The code that an EAPOL-Key frame is authenticated with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MicCode {
    HmacMd5,
    HmacSha1,
    AesCmac,
    HmacSha256,
    HmacSha384,
    HmacSha512,
}

/// How a key management derives and uses its keys (table 12-10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Scheme {
    hash: Hash,
    mic: MicCode,
    kck_len: usize,
    kek_len: usize,
}

impl Akm {
    /// The only one of a set, which is what a station's own element has.
    pub fn of(set: SuiteSet) -> Option<Self> {
        if set.unknown || set.bits.count_ones() != 1 {
            return None;
        }
        Some(match set.bits.trailing_zeros() as u8 {
            1 => Self::Dot1x,
            2 => Self::Psk,
            3 => Self::FtDot1x,
            5 => Self::Dot1xSha256,
            6 => Self::PskSha256,
            4 => Self::FtPsk,
            8 => Self::Sae,
            9 => Self::FtSae,
            11 => Self::SuiteB,
            12 => Self::SuiteB192,
            18 => Self::Owe,
            24 => Self::SaeExt,
            other => Self::Other(other),
        })
    }

    /// Its suite type (IEEE Std 802.11-2020, table 9-151).
    pub const fn kind(self) -> u8 {
        match self {
            Self::Dot1x => 1,
            Self::Psk => 2,
            Self::FtDot1x => 3,
            Self::Dot1xSha256 => 5,
            Self::PskSha256 => 6,
            Self::FtPsk => 4,
            Self::Sae => 8,
            Self::FtSae => 9,
            Self::SuiteB => 11,
            Self::SuiteB192 => 12,
            Self::Owe => 18,
            Self::SaeExt => 24,
            Self::Other(kind) => kind,
        }
    }

    /// A passphrase and the SSID are all it takes.
    pub const fn takes_passphrase(self) -> bool {
        matches!(self, Self::Psk | Self::PskSha256 | Self::FtPsk)
    }

    /// Its PTK comes from the key hierarchy of a mobility domain (12.7.1.6).
    pub(crate) const fn is_fast_transition(self) -> bool {
        matches!(self, Self::FtDot1x | Self::FtPsk | Self::FtSae)
    }

    /// A key that is for this may be its PMK, or that of its key hierarchy.
    pub(crate) const fn takes(self, is_for: Use) -> bool {
        match is_for {
            Use::Session => true,
            Use::Passphrase => self.takes_passphrase(),
            Use::Dot1x => matches!(self, Self::Dot1x | Self::Dot1xSha256 | Self::SuiteB | Self::SuiteB192),
            Use::FtDot1x => matches!(self, Self::FtDot1x),
        }
    }

    /// How its keys are derived from a PMK of `pmk_len` bytes, with descriptors of `version`; `None` when they are not: another
    /// length or version, FILS.
    pub(crate) fn scheme(self, pmk_len: usize, version: u8) -> Option<Scheme> {
        let by_length = || {
            Some(match pmk_len {
                32 => Scheme { hash: Hash::Sha256, mic: MicCode::HmacSha256, kck_len: 16, kek_len: 16 },
                48 => Scheme { hash: Hash::Sha384, mic: MicCode::HmacSha384, kck_len: 24, kek_len: 32 },
                64 => Scheme { hash: Hash::Sha512, mic: MicCode::HmacSha512, kck_len: 32, kek_len: 32 },
                _ => return None,
            })
        };
        let usual = |hash, mic| Some(Scheme { hash, mic, kck_len: 16, kek_len: 16 });
        match (self, version, pmk_len) {
            (Self::Dot1x | Self::Psk, VERSION_MD5, 32) => usual(Hash::Sha1, MicCode::HmacMd5),
            (Self::Dot1x | Self::Psk, VERSION_SHA1, 32) => usual(Hash::Sha1, MicCode::HmacSha1),
            (Self::Dot1xSha256 | Self::PskSha256, VERSION_CMAC, 32) => usual(Hash::Sha256, MicCode::AesCmac),
            (Self::FtDot1x | Self::FtPsk, VERSION_CMAC, 32) => usual(Hash::Sha256, MicCode::AesCmac),
            (Self::Sae | Self::FtSae, 0, 32) => usual(Hash::Sha256, MicCode::AesCmac),
            (Self::SuiteB, 0, 32) => usual(Hash::Sha256, MicCode::HmacSha256),
            (Self::SuiteB192, 0, 48) => by_length(),
            (Self::Owe | Self::SaeExt, 0, _) => by_length(),
            _ => None,
        }
    }

    /// Its keys are derived here at all, with descriptors of `version`.
    pub(crate) fn is_known(self, version: u8) -> bool {
        [32, 48, 64].into_iter().any(|len| self.scheme(len, version).is_some())
    }
}

impl std::fmt::Display for Akm {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match akm::name(self.kind()) {
            Some(name) => f.write_str(name),
            None => write!(f, "suite {}", self.kind()),
        }
    }
}

/// What the two ends of a pair bring in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ends {
    pub(crate) authenticator: MacAddr,
    pub(crate) supplicant: MacAddr,
    pub(crate) anonce: [u8; 32],
    pub(crate) snonce: [u8; 32],
}

/// The keys of a pair.
pub(crate) struct Ptk {
    scheme: Scheme,
    bytes: Zeroizing<Vec<u8>>,
}

/// Bytes of a temporal key; `None` for ciphers that are not decrypted here.
pub(crate) const fn key_len(cipher: Cipher) -> Option<usize> {
    match cipher {
        Cipher::Ccmp128 | Cipher::Gcmp128 => Some(16),
        // TKIP: the key of the MPDUs, and one of Michael for each direction.
        Cipher::Ccmp256 | Cipher::Gcmp256 | Cipher::Tkip => Some(32),
        Cipher::Wep => None,
    }
}

impl Ptk {
    /// Derives it (12.7.1.3).
    pub(crate) fn derive(scheme: Scheme, pmk: &[u8], ends: &Ends, key_len: usize) -> Self {
        let (a, s) = (ends.authenticator.0, ends.supplicant.0);
        let mut context = [0; 76];
        let parts: [&[u8]; 4] = [
            a.as_slice().min(&s),
            a.as_slice().max(&s),
            ends.anonce.as_slice().min(&ends.snonce),
            ends.anonce.as_slice().max(&ends.snonce),
        ];
        let mut at = 0;
        for part in parts {
            if let Some(place) = context.get_mut(at..at + part.len()) {
                place.copy_from_slice(part);
            }
            at += part.len();
        }
        let len = scheme.kck_len + scheme.kek_len + key_len;
        let mut bytes = Zeroizing::new(vec![0; len]);
        match scheme.hash {
            Hash::Sha1 => prf(pmk, &context, &mut bytes),
            Hash::Sha256 => kdf::<Hmac<Sha256>>(pmk, LABEL, &context, &mut bytes),
            Hash::Sha384 => kdf::<Hmac<Sha384>>(pmk, LABEL, &context, &mut bytes),
            Hash::Sha512 => kdf::<Hmac<Sha512>>(pmk, LABEL, &context, &mut bytes),
        }
        Self { scheme, bytes }
    }

    /// Derives it from PMK-R1, for an initial mobility domain association (12.7.1.6.5); the BSSID is the authenticator's address.
    pub(crate) fn derive_fast(scheme: Scheme, pmk_r1: &[u8], ends: &Ends, key_len: usize) -> Self {
        let context = [&ends.snonce[..], &ends.anonce, &ends.authenticator.0, &ends.supplicant.0].concat();
        let mut bytes = Zeroizing::new(vec![0; scheme.kck_len + scheme.kek_len + key_len]);
        kdf::<Hmac<Sha256>>(pmk_r1, b"FT-PTK", &context, &mut bytes);
        Self { scheme, bytes }
    }

    fn kck(&self) -> &[u8] {
        self.bytes.get(..self.scheme.kck_len).unwrap_or_default()
    }

    fn kek(&self) -> &[u8] {
        self.bytes.get(self.scheme.kck_len..self.scheme.kck_len + self.scheme.kek_len).unwrap_or_default()
    }

    /// The temporal key.
    pub(crate) fn temporal_key(&self) -> &[u8] {
        self.bytes.get(self.scheme.kck_len + self.scheme.kek_len..).unwrap_or_default()
    }

    /// The MIC of an EAPOL-Key frame is right.
    pub(crate) fn authenticates(&self, key: &EapolKey<'_>) -> bool {
        // As many bytes of the code as the KCK has (table 12-10).
        if key.mic.len() != self.scheme.kck_len {
            return false;
        }
        match self.scheme.mic {
            MicCode::HmacMd5 => is_right::<Hmac<Md5>>(self.kck(), key),
            MicCode::HmacSha1 => is_right::<Hmac<Sha1>>(self.kck(), key),
            MicCode::AesCmac => is_right::<Cmac<Aes128>>(self.kck(), key),
            MicCode::HmacSha256 => is_right::<Hmac<Sha256>>(self.kck(), key),
            MicCode::HmacSha384 => is_right::<Hmac<Sha384>>(self.kck(), key),
            MicCode::HmacSha512 => is_right::<Hmac<Sha512>>(self.kck(), key),
        }
    }

    /// Key Data of a frame that [`Ptk::authenticates`] found right; `None` when it is not
    /// encrypted or cannot be unwrapped.
    pub(crate) fn unwrap(&self, key: &EapolKey<'_>) -> Option<Zeroizing<Vec<u8>>> {
        // Descriptors of WPA do not have the bit, and their group keys are encrypted all the same.
        let is_wpa_group = key.descriptor == DESCRIPTOR_WPA && !key.information.pairwise();
        if !key.information.encrypted() && !is_wpa_group {
            return None;
        }
        if self.scheme.mic == MicCode::HmacMd5 {
            let seed = Zeroizing::new([key.iv.as_slice(), self.kek()].concat());
            let mut clear = Zeroizing::new(key.data.to_vec());
            stream::key_data(&seed, &mut clear)?;
            return Some(clear);
        }
        let clear = match self.kek().len() {
            16 => aes_kw::KekAes128::try_from(self.kek()).ok()?.unwrap_vec(key.data),
            _ => aes_kw::KekAes256::try_from(self.kek()).ok()?.unwrap_vec(key.data),
        };
        clear.ok().map(Zeroizing::new)
    }
}

fn is_right<M: Mac + hmac::digest::KeyInit>(kck: &[u8], key: &EapolKey<'_>) -> bool {
    let Ok(mut code) = <M as Mac>::new_from_slice(kck) else { return false };
    key.authenticated().for_each(|part| code.update(part));
    code.verify_truncated_left(key.mic).is_ok()
}

/// PRF (12.7.1.2).
fn prf(key: &[u8], context: &[u8], out: &mut [u8]) {
    for (counter, chunk) in out.chunks_mut(20).enumerate() {
        let Ok(mut mac) = <Hmac<Sha1> as Mac>::new_from_slice(key) else { return };
        for part in [LABEL, &[0], context, &[counter as u8]] {
            mac.update(part);
        }
        let block = mac.finalize().into_bytes();
        chunk.iter_mut().zip(block).for_each(|(place, byte)| *place = byte);
    }
}

/// PMK-R1 of a station in a mobility domain, from the PSK or the PMK of SAE (12.7.1.6.3, 12.7.1.6.4).
pub(crate) fn pmk_r1(key: &[u8], ssid: &[u8], domain: &MobilityDomain<'_>, station: MacAddr) -> Zeroizing<Vec<u8>> {
    let context =
        [&[ssid.len() as u8], ssid, &domain.id, &[domain.r0kh_id.len() as u8], domain.r0kh_id, &station.0].concat();
    // PMK-R0, and the salt of its name.
    let mut r0 = Zeroizing::new(vec![0; 48]);
    kdf::<Hmac<Sha256>>(key, b"FT-R0", &context, &mut r0);
    let mut r1 = Zeroizing::new(vec![0; 32]);
    kdf::<Hmac<Sha256>>(r0.get(..32).unwrap_or_default(), b"FT-R1", &[domain.r1kh_id, station.0].concat(), &mut r1);
    r1
}

/// KDF (12.7.1.7.2).
fn kdf<M: Mac + hmac::digest::KeyInit>(key: &[u8], label: &[u8], context: &[u8], out: &mut [u8]) {
    let bits = (out.len() * 8) as u16;
    for (counter, chunk) in (1u16..).zip(out.chunks_mut(M::output_size())) {
        let Ok(mut mac) = <M as Mac>::new_from_slice(key) else { return };
        for part in [&counter.to_le_bytes(), label, context, &bits.to_le_bytes()] {
            mac.update(part);
        }
        let block = mac.finalize().into_bytes();
        chunk.iter_mut().zip(block).for_each(|(place, byte)| *place = byte);
    }
}

#[cfg(test)]
impl Ptk {
    /// The MIC of an EAPOL-Key frame.
    pub(crate) fn mic(&self, key: &EapolKey<'_>) -> Vec<u8> {
        fn code<M: Mac + hmac::digest::KeyInit>(kck: &[u8], key: &EapolKey<'_>) -> Vec<u8> {
            let mut code = <M as Mac>::new_from_slice(kck).unwrap();
            key.authenticated().for_each(|part| code.update(part));
            code.finalize().into_bytes().to_vec()
        }
        let mut mic = match self.scheme.mic {
            MicCode::HmacMd5 => code::<Hmac<Md5>>(self.kck(), key),
            MicCode::HmacSha1 => code::<Hmac<Sha1>>(self.kck(), key),
            MicCode::AesCmac => code::<Cmac<Aes128>>(self.kck(), key),
            MicCode::HmacSha256 => code::<Hmac<Sha256>>(self.kck(), key),
            MicCode::HmacSha384 => code::<Hmac<Sha384>>(self.kck(), key),
            MicCode::HmacSha512 => code::<Hmac<Sha512>>(self.kck(), key),
        };
        mic.truncate(self.scheme.kck_len);
        mic
    }

    /// Key Data as it is sent.
    pub(crate) fn wrap(&self, data: &[u8]) -> Vec<u8> {
        if self.scheme.mic == MicCode::HmacMd5 {
            let mut data = data.to_vec();
            stream::key_data(&[&[0; 16], self.kek()].concat(), &mut data).unwrap();
            return data;
        }
        match self.kek().len() {
            16 => aes_kw::KekAes128::try_from(self.kek()).unwrap().wrap_vec(data).unwrap(),
            _ => aes_kw::KekAes256::try_from(self.kek()).unwrap().wrap_vec(data).unwrap(),
        }
    }

    pub(crate) fn mic_len(&self) -> usize {
        self.scheme.kck_len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    /// J.4.2: the three passphrases that the standard maps.
    #[test]
    fn passphrases_of_the_standard() {
        let mapped = |passphrase: &str, ssid: &[u8]| hex(&psk(passphrase.as_bytes(), ssid));
        assert_eq!(mapped("password", b"IEEE"), "f42c6fc52df0ebef9ebb4b90b38a5f902e83fe1b135a70e23aed762e9710a12e");
        assert_eq!(
            mapped("ThisIsAPassword", b"ThisIsASSID"),
            "0dc0d6eb90555ed6419756b9a15ec3e3209b63df707dd508d14581f8982721af"
        );
        assert_eq!(
            mapped(&"a".repeat(32), &[b'Z'; 32]),
            "becb93866bb8c3832cb777c2f559807c8c59afcb6eae734885001300a981cc62"
        );
    }

    #[test]
    fn a_key_management_that_is_not_alone_is_none() {
        let set = |bits| SuiteSet { bits, unknown: false };
        assert_eq!(Akm::of(set(1 << 2)), Some(Akm::Psk));
        assert_eq!(Akm::of(set(1 << 4)).map(|akm| akm.to_string()), Some("FT-PSK".to_owned()));
        for kind in 0..32 {
            let akm = Akm::of(set(1 << kind)).expect("one");
            assert_eq!(akm.kind(), kind as u8);
            assert_eq!(akm.to_string(), akm::name(kind as u8).map_or(format!("suite {kind}"), str::to_owned));
        }
        assert_eq!(Akm::of(set(1 << 2 | 1 << 8)), None);
        assert_eq!(Akm::of(SuiteSet { bits: 4, unknown: true }), None);
        assert!(Akm::Psk.is_known(1), "TKIP's descriptors");
        assert!(!Akm::Sae.is_known(1));
        assert!(!Akm::FtPsk.is_known(2), "HMAC-SHA-1");
        assert!(!Akm::Other(14).is_known(0), "FILS");
    }
}
