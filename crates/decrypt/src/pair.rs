//! Two stations: their handshakes, their keys, and how far decryption of their frames came.

use std::collections::VecDeque;

use wire::ieee80211::eapol::{self, EapolKey, Message, MobilityDomain};
use wire::ieee80211::{Cipher, MacAddr, Rsn};

use crate::counts::{Counts, Undecrypted};
use crate::derive::{key_len, pmk_r1, Akm, Ends, Ptk};
use crate::key_file::Pmk;
use crate::protect::TemporalKey;

/// Nonces of either side that are remembered, latest first.
const MAX_NONCES: usize = 4;
/// Temporal keys that are remembered, latest first: the one in use, and those of handshakes before it.
const MAX_KEYS: usize = 4;
/// Handshakes that are not tried again.
const MAX_FAILED: usize = 8;

/// How far a pair came.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum State {
    /// Keys were derived, and a MIC proved them.
    Keys,
    /// No message of a four-way handshake was captured.
    NoHandshake,
    /// Messages were captured, but not one nonce of each side that belong together.
    Incomplete,
    /// The keys given for the network were tried, and no MIC matches: a wrong passphrase or PMK.
    WrongKey,
    /// The key file has no key for this network.
    NoKeyForNetwork,
    /// The key management needs the PMK of the session, which no passphrase gives.
    PmkNeeded,
    /// A key management that is not supported (FILS, ...) or could not be read.
    UnsupportedAkm,
    /// A cipher that is not supported in a handshake (WEP) or could not be read.
    UnsupportedCipher,
    /// Its frames have WEP, and the key file has no WEP key for the network.
    NoWepKey,
    /// More handshakes were tried than a capture can have in earnest.
    TooMany,
}

/// What message 2 brought in.
struct Second {
    snonce: [u8; 32],
    akm: Option<Akm>,
    pairwise: Option<Cipher>,
    group: Option<Cipher>,
    version: u8,
    domain: Option<Domain>,
}

/// The key hierarchy of a mobility domain, as message 2 names it.
struct Domain {
    id: [u8; 2],
    r0kh_id: Vec<u8>,
    r1kh_id: [u8; 6],
}

/// The latest handshake that was proved.
struct Proved {
    anonce: [u8; 32],
    snonce: [u8; 32],
    ptk: Ptk,
    group: Option<Cipher>,
}

/// Two stations.
pub struct Pair {
    /// Authenticator and supplicant, by the handshake; else access point and station, by the DS bits.
    ends: (MacAddr, MacAddr),
    anonces: VecDeque<(u64, [u8; 32])>,
    seconds: VecDeque<Second>,
    keys: VecDeque<TemporalKey>,
    proved: Option<Proved>,
    failed: VecDeque<([u8; 32], [u8; 32])>,
    pub(crate) counts: Counts,
    /// EAPOL-Key messages captured, by number: 1 to 4.
    messages: [u64; 4],
    mismatches: u64,
    handshakes: u64,
    akm: Option<Akm>,
    cipher: Option<Cipher>,
    state: State,
}

impl std::fmt::Debug for Pair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Pair({} {} {:?})", self.ends.0, self.ends.1, self.state)
    }
}

/// A group key that a handshake delivered.
pub(crate) struct Delivered {
    pub(crate) authenticator: MacAddr,
    pub(crate) key: Option<TemporalKey>,
}

/// The keys that may be tried, and how many derivations are left.
pub(crate) struct Candidates<'a> {
    pub(crate) pmks: &'a [Pmk],
    pub(crate) ssid: Option<&'a [u8]>,
    pub(crate) budget: &'a mut u64,
}

impl Pair {
    pub(crate) fn new(ends: (MacAddr, MacAddr)) -> Self {
        Self {
            ends,
            anonces: VecDeque::new(),
            seconds: VecDeque::new(),
            keys: VecDeque::new(),
            proved: None,
            failed: VecDeque::new(),
            counts: Counts::default(),
            messages: [0; 4],
            mismatches: 0,
            handshakes: 0,
            akm: None,
            cipher: None,
            state: State::NoHandshake,
        }
    }

    /// Access point (authenticator).
    pub fn access_point(&self) -> MacAddr {
        self.ends.0
    }

    /// Station (supplicant).
    pub fn station(&self) -> MacAddr {
        self.ends.1
    }

    /// How far it came.
    pub fn state(&self) -> State {
        self.state
    }

    /// Key management that the station chose, where message 2 names it.
    pub fn akm(&self) -> Option<Akm> {
        self.akm
    }

    /// Pairwise cipher that the station chose, where message 2 names it.
    pub fn cipher(&self) -> Option<Cipher> {
        self.cipher
    }

    /// Messages 1 to 4 of four-way handshakes captured, copies included.
    pub fn messages(&self) -> [u64; 4] {
        self.messages
    }

    /// Handshakes with keys that a MIC proved.
    pub fn handshakes(&self) -> u64 {
        self.handshakes
    }

    /// Handshakes (pairs of nonces) that no key given fits.
    pub fn mismatches(&self) -> u64 {
        self.mismatches
    }

    /// Individually addressed protected data MPDUs between the two.
    pub fn counts(&self) -> &Counts {
        &self.counts
    }

    /// Nothing is lost with it but counts.
    pub(crate) fn is_expendable(&self) -> bool {
        self.keys.is_empty()
    }

    /// Takes an EAPOL-Key frame from `sender` to `receiver`; the group key in it, if any.
    pub(crate) fn learn(
        &mut self,
        sender: MacAddr,
        receiver: MacAddr,
        key: &EapolKey<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Option<Delivered> {
        let message = key.message();
        let number = match message {
            Message::First => 0,
            Message::Second => 1,
            Message::Third => 2,
            Message::Fourth => 3,
            Message::GroupFirst => return self.group_key(key),
            Message::GroupSecond | Message::Request => return None,
        };
        if let Some(count) = self.messages.get_mut(number) {
            *count += 1;
        }
        self.ends = if key.information.ack() { (sender, receiver) } else { (receiver, sender) };
        if self.state == State::NoHandshake {
            self.state = State::Incomplete;
        }
        match message {
            Message::First => self.remember_anonce(key),
            Message::Second => {
                let second = Second::read(key);
                self.akm = second.akm;
                self.cipher = second.pairwise;
                let mut anonces: Vec<(u64, [u8; 32])> = self.anonces.iter().copied().collect();
                // The answer has the counter of the question; the sort keeps the order of the others.
                anonces.sort_by_key(|(counter, _)| *counter != key.replay_counter);
                for (_, anonce) in anonces {
                    if self.try_keys(&second, anonce, key, candidates) {
                        break;
                    }
                }
                self.seconds.retain(|known| known.snonce != second.snonce);
                self.seconds.push_front(second);
                self.seconds.truncate(MAX_NONCES);
            }
            Message::Third => {
                if self.proved.as_ref().is_none_or(|proved| proved.anonce != key.nonce) {
                    // Message 1 was missed, or the one captured is another's.
                    for second in std::mem::take(&mut self.seconds) {
                        if self.proved.as_ref().is_none_or(|proved| proved.anonce != key.nonce) {
                            self.try_keys(&second, key.nonce, key, candidates);
                        }
                        self.seconds.push_back(second);
                    }
                }
                self.remember_anonce(key);
                return self.group_key(key);
            }
            _ => {}
        }
        None
    }

    fn remember_anonce(&mut self, key: &EapolKey<'_>) {
        self.anonces.retain(|(_, anonce)| *anonce != key.nonce);
        self.anonces.push_front((key.replay_counter, key.nonce));
        self.anonces.truncate(MAX_NONCES);
    }

    /// Tries the keys given on a pair of nonces; `proof` is a message with a MIC.
    fn try_keys(
        &mut self,
        second: &Second,
        anonce: [u8; 32],
        proof: &EapolKey<'_>,
        candidates: &mut Candidates<'_>,
    ) -> bool {
        let nonces = (anonce, second.snonce);
        if self.proved.as_ref().is_some_and(|proved| (proved.anonce, proved.snonce) == nonces) {
            return true;
        }
        if self.failed.contains(&nonces) {
            return false;
        }
        let outcome = self.derive(second, anonce, proof, candidates);
        match outcome {
            Ok((ptk, temporal)) => {
                self.proved = Some(Proved { anonce, snonce: second.snonce, ptk, group: second.group });
                self.keys.push_front(temporal);
                self.keys.truncate(MAX_KEYS);
                self.handshakes += 1;
                self.state = State::Keys;
                true
            }
            Err(state) => {
                if state == State::WrongKey {
                    self.mismatches += 1;
                    self.failed.push_front(nonces);
                    self.failed.truncate(MAX_FAILED);
                }
                if self.state != State::Keys {
                    self.state = state;
                }
                false
            }
        }
    }

    fn derive(
        &self,
        second: &Second,
        anonce: [u8; 32],
        proof: &EapolKey<'_>,
        candidates: &mut Candidates<'_>,
    ) -> Result<(Ptk, TemporalKey), State> {
        let Some(akm) = second.akm else { return Err(State::UnsupportedAkm) };
        let Some(cipher) = second.pairwise else { return Err(State::UnsupportedCipher) };
        let Some(key_len) = key_len(cipher) else { return Err(State::UnsupportedCipher) };
        if !akm.is_known(second.version) {
            return Err(State::UnsupportedAkm);
        }
        let (authenticator, supplicant) = self.ends;
        let ends = Ends { authenticator, supplicant, anonce, snonce: second.snonce };
        let (mut tried, mut fitting) = (0, 0);
        for pmk in candidates.pmks {
            let other_network = pmk.ssid.as_deref().zip(candidates.ssid).is_some_and(|(of, is)| of != is);
            // Without the name of the network there is no PMK-R0.
            let ssid = pmk.ssid.as_deref().or(candidates.ssid);
            if other_network || (akm.is_fast_transition() && ssid.is_none()) {
                continue;
            }
            fitting += 1;
            // The key derived from a passphrase is not the PMK of SAE, 802.1X or OWE.
            let Some(scheme) = akm.scheme(pmk.key.len(), second.version) else { continue };
            if !akm.takes(pmk.is_for) {
                continue;
            }
            let fast = match (akm.is_fast_transition(), &second.domain) {
                (false, _) => None,
                (true, Some(domain)) => Some((domain, ssid.unwrap_or_default())),
                (true, None) => return Err(State::UnsupportedAkm),
            };
            let Some(left) = candidates.budget.checked_sub(1) else { return Err(State::TooMany) };
            *candidates.budget = left;
            tried += 1;
            let ptk = match fast {
                None => Ptk::derive(scheme, &pmk.key, &ends, key_len),
                Some((domain, ssid)) => {
                    let domain = MobilityDomain { id: domain.id, r0kh_id: &domain.r0kh_id, r1kh_id: domain.r1kh_id };
                    Ptk::derive_fast(scheme, &pmk_r1(&pmk.key, ssid, &domain, supplicant), &ends, key_len)
                }
            };
            if ptk.authenticates(proof) {
                let temporal = TemporalKey::new(cipher, ptk.temporal_key()).ok_or(State::UnsupportedCipher)?;
                return Ok((ptk, temporal));
            }
        }
        Err(match (tried, fitting) {
            (0, 0) => State::NoKeyForNetwork,
            (0, _) => State::PmkNeeded,
            _ => State::WrongKey,
        })
    }

    /// The group key in message 3 or in a group key handshake.
    fn group_key(&self, key: &EapolKey<'_>) -> Option<Delivered> {
        let proved = self.proved.as_ref()?;
        if !proved.ptk.authenticates(key) {
            return None;
        }
        let clear = proved.ptk.unwrap(key)?;
        // WPA sends the bare key, RSN wraps it in an element.
        let group = match key.descriptor {
            eapol::DESCRIPTOR_WPA => clear.as_slice(),
            _ => eapol::group_key(&clear)?.key,
        };
        let temporal = proved.group.and_then(|cipher| TemporalKey::new(cipher, group));
        Some(Delivered { authenticator: self.ends.0, key: temporal })
    }

    /// Records what happened to an MPDU with WEP.
    pub(crate) fn wep(&mut self, outcome: Result<bool, Undecrypted>) {
        self.cipher = self.cipher.or(Some(Cipher::Wep));
        self.state = match (outcome, self.state) {
            (Ok(_), _) | (_, State::Keys) => State::Keys,
            (Err(Undecrypted::OtherKey), State::NoHandshake | State::NoWepKey) => State::WrongKey,
            (Err(Undecrypted::NoKey), State::NoHandshake) => State::NoWepKey,
            (Err(_), known) => known,
        };
    }

    /// Opens the body of an MPDU between the two into `clear`.
    pub(crate) fn open(
        &mut self,
        header: &wire::ieee80211::Header,
        body: &[u8],
        clear: &mut Vec<u8>,
    ) -> Result<bool, Undecrypted> {
        for key in &mut self.keys {
            if key.open(header, body, clear) {
                return Ok(key.is_behind(header, body));
            }
        }
        Err(if self.keys.is_empty() { Undecrypted::NoKey } else { Undecrypted::OtherKey })
    }

    /// A temporal key that was given opened an MPDU between the two: it is one of theirs.
    pub(crate) fn adopt(&mut self, key: TemporalKey) {
        self.cipher = self.cipher.or(Some(key.cipher()));
        self.keys.push_front(key);
        self.keys.truncate(MAX_KEYS);
        self.state = State::Keys;
    }
}

impl Second {
    fn read(key: &EapolKey<'_>) -> Self {
        let element = eapol::rsn(key.data).and_then(Rsn::read).or_else(|| eapol::wpa(key.data).and_then(Rsn::read_wpa));
        Self {
            snonce: key.nonce,
            akm: element.and_then(|rsn| Akm::of(rsn.akm)),
            pairwise: element.and_then(|rsn| rsn.pairwise.single_cipher()),
            group: element.and_then(|rsn| rsn.group.single_cipher()),
            version: key.information.version(),
            domain: eapol::mobility_domain(key.data, key.mic.len()).map(|domain| Domain {
                id: domain.id,
                r0kh_id: domain.r0kh_id.to_vec(),
                r1kh_id: domain.r1kh_id,
            }),
        }
    }
}
