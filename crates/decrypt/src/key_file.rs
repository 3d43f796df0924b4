//! The key file: one key in a line.

use zeroize::Zeroizing;

use crate::derive::{self, Use};
use crate::wep::{WepKey, KEY_LENS};

/// Keys that are read; further ones are an error.
const MAX_KEYS: usize = 256;
/// WEP keys that are read: each costs time with every frame that none fits.
const MAX_WEP_KEYS: usize = 16;
/// Temporal keys that are read: likewise.
const MAX_TEMPORAL_KEYS: usize = 16;
/// Bytes of a key file; more are an error.
const MAX_BYTES: usize = 1 << 20;
/// Bytes of an SSID.
const MAX_SSID: usize = 32;
/// Bytes of the PMKs that key managements have: 256, 384 and 512 bits.
const PMK_LENS: [usize; 3] = [32, 48, 64];
/// Bytes of the temporal keys that ciphers have: 128 and 256 bits.
const TEMPORAL_KEY_LENS: [usize; 2] = [16, 32];
/// Bytes of an MSK: what a RADIUS server hands over, and the most that EAP methods have.
const MSK_LENS: std::ops::RangeInclusive<usize> = 64..=128;
/// Where the key of FT with 802.1X is in it (12.7.1.6.3).
const XXKEY: std::ops::Range<usize> = 32..64;

/// Why a key file cannot be used. Says where and what, and never what is written there.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct KeyFileError {
    /// Line, from 1.
    pub line: usize,
    /// What is wrong with it.
    pub problem: Problem,
}

/// What is wrong with a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Problem {
    /// Not a kind of key.
    #[error("a line begins with psk, pmk, msk, tk or wep, or with # for a comment")]
    Kind,
    /// Words missing.
    #[error("psk is followed by an SSID and a passphrase, pmk, msk, tk and wep by hexadecimal digits")]
    Missing,
    /// Words too many.
    #[error("there is more than the key; an SSID or passphrase with blanks goes in double quotes")]
    TooMuch,
    /// A quote without its end.
    #[error("the double quote has no end")]
    Quote,
    /// A backslash before something else.
    #[error("a backslash stands before another one, before a double quote, or before x and two hexadecimal digits")]
    Escape,
    /// SSID of a length that there is not.
    #[error("an SSID has 1 to 32 bytes")]
    Ssid,
    /// Passphrase of a length that there is not, or of other characters.
    #[error("a passphrase has 8 to 63 printable ASCII characters, a PSK 64 hexadecimal digits")]
    Passphrase,
    /// Not a PMK.
    #[error("a PMK has 64, 96 or 128 hexadecimal digits")]
    Pmk,
    /// Not an MSK.
    #[error("an MSK has 128 to 256 hexadecimal digits")]
    Msk,
    /// Not a temporal key.
    #[error("a temporal key has 32 or 64 hexadecimal digits")]
    TemporalKey,
    /// Too many temporal keys.
    #[error("a key file has 16 temporal keys at the most")]
    TooManyTemporalKeys,
    /// Not a WEP key.
    #[error("a WEP key has 10 or 26 hexadecimal digits")]
    Wep,
    /// Too many WEP keys.
    #[error("a key file has 16 WEP keys at the most")]
    TooManyWep,
    /// Too large a file.
    #[error("a key file has 1 MiB and 256 keys at the most")]
    TooLong,
    /// No key at all.
    #[error("there is no key in the file")]
    Empty,
}

/// A pairwise master key and the networks it may be of.
pub(crate) struct Pmk {
    /// The only network it can be of; `None`: any.
    pub(crate) ssid: Option<Vec<u8>>,
    /// The key.
    pub(crate) key: Zeroizing<Vec<u8>>,
    /// What it is for.
    pub(crate) is_for: Use,
}

/// The keys of a key file. `Debug` shows how many there are.
#[derive(Default)]
pub struct Keys {
    pub(crate) pmks: Vec<Pmk>,
    pub(crate) weps: Vec<WepKey>,
    /// Temporal and group keys of sessions.
    pub(crate) temporal: Vec<Zeroizing<Vec<u8>>>,
    /// Lines with an MSK, which is several keys.
    msks: usize,
}

impl std::fmt::Debug for Keys {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Keys({})", self.len())
    }
}

impl Keys {
    /// Reads the text of a key file. One key in a line, words separated by blanks:
    ///
    /// - `psk SSID PASSPHRASE`: a passphrase of 8 to 63 characters, or the PSK itself as 64 hexadecimal digits;
    /// - `pmk DIGITS`: a PMK as 64, 96 or 128 hexadecimal digits, tried on every network (enterprise, SAE, OWE);
    /// - `pmk DIGITS SSID`: the same, tried on that network only;
    /// - `msk DIGITS` and `msk DIGITS SSID`: the MSK of an 802.1X session as 128 to 256 hexadecimal digits, likewise;
    /// - `tk DIGITS`: a temporal or group key of a session as 32 or 64 hexadecimal digits, tried on every frame that no other key opens;
    /// - `wep DIGITS` and `wep DIGITS SSID`: a WEP key as 10 or 26 hexadecimal digits, likewise.
    ///
    /// What holds blanks goes in double quotes, in which `\"`, `\\` and `\xHH` stand for a double quote, a backslash and any
    /// byte. Empty lines and those that begin with `#` are left out. Every passphrase costs some milliseconds.
    ///
    /// # Errors
    /// The first line that is neither, without its contents.
    pub fn parse(text: &[u8]) -> Result<Self, KeyFileError> {
        let mut keys = Self::default();
        if text.len() > MAX_BYTES {
            return Err(KeyFileError { line: 1, problem: Problem::TooLong });
        }
        let text = text.strip_prefix(b"\xef\xbb\xbf").unwrap_or(text);
        let mut last = 1;
        for (index, line) in text.split(|byte| *byte == b'\n').enumerate() {
            let at = |problem| KeyFileError { line: index + 1, problem };
            last = index + 1;
            let words = words(line).map_err(at)?;
            let Some((kind, rest)) = words.split_first() else { continue };
            if keys.len() >= MAX_KEYS {
                return Err(at(Problem::TooLong));
            }
            match kind.as_slice() {
                b"psk" => keys.pmks.push(psk(rest).map_err(at)?),
                b"pmk" => keys.pmks.push(pmk(rest).map_err(at)?),
                b"msk" => {
                    keys.pmks.extend(msk(rest).map_err(at)?);
                    keys.msks += 1;
                }
                b"tk" if keys.temporal.len() >= MAX_TEMPORAL_KEYS => return Err(at(Problem::TooManyTemporalKeys)),
                b"tk" => keys.temporal.push(temporal_key(rest).map_err(at)?),
                b"wep" if keys.weps.len() >= MAX_WEP_KEYS => return Err(at(Problem::TooManyWep)),
                b"wep" => keys.weps.push(wep(rest).map_err(at)?),
                _ => return Err(at(Problem::Kind)),
            }
        }
        if keys.is_empty() {
            return Err(KeyFileError { line: last, problem: Problem::Empty });
        }
        Ok(keys)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.pmks.len() - self.msks * (KEYS_OF_MSK - 1) + self.weps.len() + self.temporal.len()
    }

    /// There is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

type Word = Zeroizing<Vec<u8>>;

/// Keys that an MSK has in it: PMKs of 256 and of 384 bits, and the key of FT.
const KEYS_OF_MSK: usize = 3;

fn msk(words: &[Word]) -> Result<[Pmk; KEYS_OF_MSK], Problem> {
    let (digits, ssid) = digits_of(words)?;
    let msk = hex(digits).filter(|msk| MSK_LENS.contains(&msk.len())).ok_or(Problem::Msk)?;
    let part = |range, is_for| Pmk {
        ssid: ssid.clone(),
        key: Zeroizing::new(msk.get::<std::ops::Range<usize>>(range).unwrap_or_default().to_vec()),
        is_for,
    };
    Ok([part(0..32, Use::Dot1x), part(0..48, Use::Dot1x), part(XXKEY, Use::FtDot1x)])
}

fn temporal_key(words: &[Word]) -> Result<Word, Problem> {
    match words {
        [digits] => hex(digits).filter(|key| TEMPORAL_KEY_LENS.contains(&key.len())).ok_or(Problem::TemporalKey),
        [] => Err(Problem::Missing),
        _ => Err(Problem::TooMuch),
    }
}

fn psk(words: &[Word]) -> Result<Pmk, Problem> {
    let (ssid, secret) = match words {
        [ssid, secret] => (ssid, secret),
        [] | [_] => return Err(Problem::Missing),
        _ => return Err(Problem::TooMuch),
    };
    let ssid = ssid_of(ssid)?;
    let key = match secret.len() {
        8..=63 if secret.iter().all(|byte| (0x20..0x7f).contains(byte)) => derive::psk(secret, &ssid),
        64 => hex(secret).ok_or(Problem::Passphrase)?,
        _ => return Err(Problem::Passphrase),
    };
    Ok(Pmk { ssid: Some(ssid), key, is_for: Use::Passphrase })
}

/// Digits, and the network that they are of where one is named.
fn digits_of(words: &[Word]) -> Result<(&Word, Option<Vec<u8>>), Problem> {
    match words {
        [digits] => Ok((digits, None)),
        [digits, ssid] => Ok((digits, Some(ssid_of(ssid)?))),
        [] => Err(Problem::Missing),
        _ => Err(Problem::TooMuch),
    }
}

fn wep(words: &[Word]) -> Result<WepKey, Problem> {
    let (digits, ssid) = digits_of(words)?;
    let key = hex(digits).filter(|key| KEY_LENS.contains(&key.len())).ok_or(Problem::Wep)?;
    Ok(WepKey { ssid, key })
}

fn pmk(words: &[Word]) -> Result<Pmk, Problem> {
    let (digits, ssid) = digits_of(words)?;
    let key = hex(digits).filter(|key| PMK_LENS.contains(&key.len())).ok_or(Problem::Pmk)?;
    Ok(Pmk { ssid, key, is_for: Use::Session })
}

fn ssid_of(word: &Word) -> Result<Vec<u8>, Problem> {
    if word.is_empty() || word.len() > MAX_SSID {
        return Err(Problem::Ssid);
    }
    Ok(word.to_vec())
}

fn hex(digits: &[u8]) -> Option<Zeroizing<Vec<u8>>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).map(|value| value as u8);
    if digits.len() % 2 != 0 {
        return None;
    }
    let mut bytes = Zeroizing::new(Vec::with_capacity(digits.len() / 2));
    for pair in digits.chunks_exact(2) {
        let &[high, low] = pair else { return None };
        bytes.push(digit(high)? << 4 | digit(low)?);
    }
    Some(bytes)
}

/// The words of a line; none of an empty one or a comment.
fn words(line: &[u8]) -> Result<Vec<Word>, Problem> {
    let mut words = Vec::new();
    let mut rest = line.trim_ascii();
    if rest.first() == Some(&b'#') {
        return Ok(words);
    }
    while !rest.is_empty() {
        // All at once, so that no copy is left behind where it grew.
        let mut word = Zeroizing::new(Vec::with_capacity(rest.len()));
        rest = match rest.strip_prefix(b"\"") {
            Some(inner) => quoted(inner, &mut word)?,
            None => {
                let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
                word.extend_from_slice(rest.get(..end).unwrap_or_default());
                rest.get(end..).unwrap_or_default()
            }
        };
        if rest.first().is_some_and(|next| !next.is_ascii_whitespace()) {
            return Err(Problem::Quote);
        }
        rest = rest.trim_ascii_start();
        words.push(word);
    }
    Ok(words)
}

/// Reads up to the closing quote; what comes behind it.
fn quoted<'a>(mut rest: &'a [u8], word: &mut Word) -> Result<&'a [u8], Problem> {
    loop {
        rest = match rest {
            [] => return Err(Problem::Quote),
            [b'"', rest @ ..] => return Ok(rest),
            [b'\\', byte @ (b'"' | b'\\'), rest @ ..] => {
                word.push(*byte);
                rest
            }
            [b'\\', b'x', high, low, rest @ ..] => {
                word.extend_from_slice(&hex(&[*high, *low]).ok_or(Problem::Escape)?);
                rest
            }
            [b'\\', ..] => return Err(Problem::Escape),
            [byte, rest @ ..] => {
                word.push(*byte);
                rest
            }
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn problem(text: &str) -> (usize, Problem) {
        let error = Keys::parse(text.as_bytes()).unwrap_err();
        (error.line, error.problem)
    }

    fn ssids(keys: &Keys) -> Vec<Option<&[u8]>> {
        keys.pmks.iter().map(|pmk| pmk.ssid.as_deref()).collect()
    }

    #[test]
    fn every_kind_of_line() {
        let digits = "0123456789abcdefABCDEF0123456789".repeat(2);
        let text = format!(
            "# the lab\r\n\npsk Coherer Induction\r\n  psk \"My \\\"net\\\" \\\\ \\xc3\\xa9\" \"a pass phrase\"\npmk {digits}\n\
             pmk {digits} corporate\npsk raw {digits}"
        );
        let keys = Keys::parse(text.as_bytes()).unwrap();
        let expected: [Option<&[u8]>; 5] =
            [Some(b"Coherer"), Some(b"My \"net\" \\ \xc3\xa9"), None, Some(b"corporate"), Some(b"raw")];
        assert_eq!(ssids(&keys), expected);
        assert_eq!(keys.pmks[2].key[..4], [0x01, 0x23, 0x45, 0x67]);
        assert_eq!(keys.pmks[2].key, keys.pmks[4].key);
        // The PMK of "Induction" and "Coherer", as wpa_passphrase and Wireshark's generator give it.
        assert_eq!(keys.pmks[0].key[..4], [0xa2, 0x88, 0xfc, 0xf0]);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        assert_eq!(problem(""), (1, Problem::Empty));
        assert_eq!(problem("# nothing\n\n"), (3, Problem::Empty));
        assert_eq!(problem("\nwpa 0123456789"), (2, Problem::Kind));
        assert_eq!(problem("psk home"), (1, Problem::Missing));
        assert_eq!(problem("psk my home secret123"), (1, Problem::TooMuch));
        assert_eq!(problem("psk home \"secret123"), (1, Problem::Quote));
        assert_eq!(problem("psk \"home\"secret123"), (1, Problem::Quote));
        assert_eq!(problem("psk \"ho\\me\" secret123"), (1, Problem::Escape));
        assert_eq!(problem("psk \"\" secret123"), (1, Problem::Ssid));
        assert_eq!(problem("psk home secret"), (1, Problem::Passphrase));
        assert_eq!(problem(&format!("psk home {}", "g".repeat(64))), (1, Problem::Passphrase));
        assert_eq!(problem("pmk 0123"), (1, Problem::Pmk));
        assert_eq!(problem(&format!("pmk {}", "0".repeat(65))), (1, Problem::Pmk));
        assert_eq!((problem("wep 01234567"), problem("wep")), ((1, Problem::Wep), (1, Problem::Missing)));
        assert_eq!(problem(&"wep 0123456789\n".repeat(17)), (17, Problem::TooManyWep));
        assert_eq!(Keys::parse(b"wep 0123456789 old\nwep 000102030405060708090a0b0c").unwrap().len(), 2);
        assert_eq!(
            (problem("msk 00"), problem("tk 00"), problem("tk")),
            ((1, Problem::Msk), (1, Problem::TemporalKey), (1, Problem::Missing))
        );
        assert_eq!(problem(&format!("tk {}\n", "0".repeat(32)).repeat(17)), (17, Problem::TooManyTemporalKeys));
        let keys = Keys::parse(format!("msk {}\ntk {}", "0f".repeat(64), "1f".repeat(32)).as_bytes()).unwrap();
        assert_eq!((keys.len(), keys.pmks.len()), (2, 3), "an MSK is one key of the file, and three that are tried");
        let many = format!("pmk {}\n", "0".repeat(64)).repeat(MAX_KEYS + 1);
        assert_eq!(problem(&many), (MAX_KEYS + 1, Problem::TooLong));
    }

    #[test]
    fn debug_tells_no_key() {
        let keys = Keys::parse(b"psk home \"correct horse\"").unwrap();
        assert_eq!(format!("{keys:?}"), "Keys(1)");
    }

    proptest! {
        // A passphrase is 8,192 hashes, which take their time in a build without optimisation.
        #![proptest_config(ProptestConfig::with_cases(8))]
        #[test]
        fn any_ssid_and_passphrase_can_be_written(ssid in prop::collection::vec(any::<u8>(), 1..=32), secret in "[ -~]{8,9}") {
            let quoted = |bytes: &[u8]| -> String { bytes.iter().map(|byte| format!("\\x{byte:02x}")).collect() };
            let line = format!("psk \"{}\" \"{}\"", quoted(&ssid), quoted(secret.as_bytes()));
            let keys = Keys::parse(line.as_bytes()).unwrap();
            prop_assert_eq!(ssids(&keys), [Some(&ssid[..])]);
            prop_assert_eq!(&keys.pmks[0].key[..], &derive::psk(secret.as_bytes(), &ssid)[..]);
        }
    }

    proptest! {
        #[test]
        fn errors_repeat_nothing_of_the_file(secret in "[a-z]{12}[0-9]{4}") {
            for text in [format!("{secret} x"), format!("psk {secret}"), format!("pmk {secret}"), format!("wep {secret}"), format!("msk {secret}"), format!("tk {secret}"), format!("psk x \"{secret}")] {
                let error = Keys::parse(text.as_bytes()).unwrap_err();
                let said = format!("{error} {error:?}");
                prop_assert!(!said.contains(&secret));
            }
        }

        #[test]
        fn never_panics(text in prop::collection::vec(any::<u8>(), 0..40)) {
            let _ = Keys::parse(&text);
        }
    }
}
