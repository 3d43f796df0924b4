//! All pairs and groups of a capture.

use std::collections::VecDeque;
use std::sync::Arc;

use hashbrown::HashMap;
use wire::ieee80211::eapol::EapolKey;
use wire::ieee80211::{Cipher, Header, MacAddr};

use crate::counts::{Counts, Undecrypted};
use crate::derive::key_len;
use crate::key_file::Keys;
use crate::pair::{Candidates, Delivered, Pair};
use crate::protect::TemporalKey;

/// Pairs of stations kept.
const MAX_PAIRS: usize = 2_048;
/// Senders of group-addressed frames kept.
const MAX_GROUPS: usize = 1_024;
/// Networks with an SSID that is kept.
const MAX_NETWORKS: usize = 4_096;
/// Group keys kept of a sender, latest first.
const MAX_GROUP_KEYS: usize = 4;
/// Derivations in a capture: some seconds of work, and more handshakes than any has in earnest.
const BUDGET: u64 = 1 << 19;

/// What a temporal key may be of.
const CIPHERS: [Cipher; 5] = [Cipher::Ccmp128, Cipher::Gcmp128, Cipher::Ccmp256, Cipher::Gcmp256, Cipher::Tkip];

/// Group-addressed frames of one sender.
#[derive(Default)]
struct Group {
    keys: VecDeque<TemporalKey>,
    counts: Counts,
}

/// The handshakes of a capture, and what can be decrypted with them. `Debug` prints no key.
pub struct Sessions {
    keys: Arc<Keys>,
    networks: HashMap<u64, Vec<u8>>,
    pairs: HashMap<(u64, u64), Pair>,
    groups: HashMap<u64, Group>,
    total: Counts,
    budget: u64,
    counts_frames: bool,
    clear: Vec<u8>,
    /// The WEP key that fitted last, by its place.
    latest_wep: usize,
    /// The temporal keys given, each as a key of every cipher that it may be of.
    given: Vec<TemporalKey>,
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Sessions({} pairs)", self.pairs.len())
    }
}

/// Two addresses in one order.
fn unordered(a: MacAddr, b: MacAddr) -> (u64, u64) {
    let (a, b) = (a.as_u64(), b.as_u64());
    (a.min(b), a.max(b))
}

impl Sessions {
    /// Without any handshake yet.
    pub fn new(keys: Arc<Keys>) -> Self {
        let given = keys.temporal.iter().flat_map(|key| {
            CIPHERS
                .into_iter()
                .filter(|cipher| key_len(*cipher) == Some(key.len()))
                .filter_map(|cipher| TemporalKey::new(cipher, key))
        });
        Self {
            given: given.collect(),
            keys,
            networks: HashMap::new(),
            pairs: HashMap::new(),
            groups: HashMap::new(),
            total: Counts::default(),
            budget: BUDGET,
            counts_frames: true,
            clear: Vec::new(),
            latest_wep: 0,
        }
    }

    /// Whether frames are counted from now on: those outside a window are decrypted for their handshakes only.
    pub fn count(&mut self, counts: bool) {
        self.counts_frames = counts;
    }

    /// A network's name, from a beacon, a probe response or an association request; hidden names give nothing.
    pub fn network(&mut self, bssid: MacAddr, ssid: &[u8]) {
        if ssid.iter().all(|byte| *byte == 0) || ssid.len() > 32 {
            return;
        }
        let has_room = self.networks.len() < MAX_NETWORKS;
        match self.networks.get_mut(&bssid.as_u64()) {
            Some(known) if known.as_slice() == ssid => {}
            Some(known) => *known = ssid.to_vec(),
            None if has_room => {
                self.networks.insert(bssid.as_u64(), ssid.to_vec());
            }
            None => {}
        }
    }

    /// The name of a network, where it was heard.
    pub fn ssid(&self, bssid: MacAddr) -> Option<&[u8]> {
        self.networks.get(&bssid.as_u64()).map(Vec::as_slice)
    }

    /// Takes an EAPOL packet (what follows its EtherType) out of a data frame with this header.
    pub fn eapol(&mut self, header: &Header, packet: &[u8]) {
        let Some(key) = EapolKey::parse(packet) else { return };
        let (Some(sender), receiver) = (header.addr2, header.addr1) else { return };
        let authenticator = if key.information.ack() { sender } else { receiver };
        let keys = Arc::clone(&self.keys);
        let ssid = self.networks.get(&authenticator.as_u64()).cloned();
        let mut budget = self.budget;
        let Some(pair) = self.pair(header) else { return };
        let mut candidates = Candidates { pmks: &keys.pmks, ssid: ssid.as_deref(), budget: &mut budget };
        let delivered = pair.learn(sender, receiver, &key, &mut candidates);
        self.budget = budget;
        if let Some(delivered) = delivered {
            self.install(delivered);
        }
    }

    fn install(&mut self, delivered: Delivered) {
        let address = delivered.authenticator.as_u64();
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&address) {
            self.groups.retain(|_, group| !group.keys.is_empty());
            if self.groups.len() >= MAX_GROUPS {
                return;
            }
        }
        let group = self.groups.entry(address).or_default();
        if let Some(key) = delivered.key.filter(|key| !group.keys.iter().any(|known| known.is_same(key))) {
            group.keys.push_front(key);
            group.keys.truncate(MAX_GROUP_KEYS);
        }
    }

    /// The pair of a frame, made if there is room.
    fn pair(&mut self, header: &Header) -> Option<&mut Pair> {
        let (ra, ta) = (header.addr1, header.addr2?);
        let key = unordered(ra, ta);
        if self.pairs.len() >= MAX_PAIRS && !self.pairs.contains_key(&key) {
            // Addresses that only damage or a flood made up.
            self.pairs.retain(|_, pair| !pair.is_expendable());
            if self.pairs.len() >= MAX_PAIRS {
                return None;
            }
        }
        let ends = if header.fc.to_ds() { (ra, ta) } else { (ta, ra) };
        Some(self.pairs.entry(key).or_insert_with(|| Pair::new(ends)))
    }

    /// Decrypts a protected data MPDU. `body`: what lies between MAC header and FCS, `None` when the capture has not all of
    /// it. What comes back is what followed the security header: LLC and packet, or A-MSDU subframes.
    ///
    /// # Errors
    /// Why it was not decrypted.
    pub fn decrypt(&mut self, header: &Header, body: Option<&[u8]>) -> Result<&[u8], Undecrypted> {
        let mut clear = std::mem::take(&mut self.clear);
        let counts = self.counts_frames;
        let wep = body
            .filter(|body| Cipher::guess(body) == Some(Cipher::Wep))
            .map(|body| self.open_wep(header, body, &mut clear));
        let outcome = if header.addr1.is_group() {
            self.open_group(header, body, wep, &mut clear)
        } else {
            self.open_pair(header, body, wep, &mut clear)
        };
        self.clear = clear;
        if counts {
            self.total.add(outcome);
        }
        outcome.map(|_| self.clear.as_slice())
    }

    /// Tries the WEP keys given for the network, the one that fitted last first.
    fn open_wep(&mut self, header: &Header, body: &[u8], clear: &mut Vec<u8>) -> Result<bool, Undecrypted> {
        let ssid = header.bssid().and_then(|bssid| self.ssid(bssid));
        let fits = |of: Option<&[u8]>| of.zip(ssid).is_none_or(|(of, is)| of == is);
        let count = self.keys.weps.len();
        let order = (0..count).map(|index| (self.latest_wep + index) % count);
        let mut candidates = order
            .filter_map(|at| self.keys.weps.get(at).map(|key| (at, key)))
            .filter(|(_, key)| fits(key.ssid.as_deref()))
            .peekable();
        if candidates.peek().is_none() {
            return Err(if header.addr1.is_group() { Undecrypted::NoGroupKey } else { Undecrypted::NoKey });
        }
        match candidates.find(|(_, key)| key.open(body, clear)).map(|(at, _)| at) {
            Some(at) => {
                self.latest_wep = at;
                Ok(false)
            }
            None => Err(Undecrypted::OtherKey),
        }
    }

    fn open_pair(
        &mut self,
        header: &Header,
        body: Option<&[u8]>,
        wep: Option<Result<bool, Undecrypted>>,
        clear: &mut Vec<u8>,
    ) -> Result<bool, Undecrypted> {
        let counts = self.counts_frames;
        let Some(pair) = self.pair(header) else { return Err(Undecrypted::TooMany) };
        let mut outcome = match (body, wep) {
            (None, _) => Err(Undecrypted::Cut),
            (Some(_), Some(outcome)) => {
                pair.wep(outcome);
                outcome
            }
            (Some(body), None) => pair.open(header, body, clear),
        };
        if let (Err(Undecrypted::NoKey | Undecrypted::OtherKey), None, Some(body)) = (outcome, wep, body) {
            if let (Some(key), Some(pair)) = (self.given(header, body, clear), self.pair(header)) {
                pair.adopt(key);
                outcome = Ok(false);
            }
        }
        if let (true, Some(pair)) = (counts, self.pair(header)) {
            pair.counts.add(outcome);
        }
        outcome
    }

    /// The key among those given that opens an MPDU into `clear`, with its packet number.
    fn given(&self, header: &Header, body: &[u8], clear: &mut Vec<u8>) -> Option<TemporalKey> {
        let mut key = self.given.iter().find(|key| key.open(header, body, clear))?.again()?;
        key.is_behind(header, body);
        Some(key)
    }

    fn open_group(
        &mut self,
        header: &Header,
        body: Option<&[u8]>,
        wep: Option<Result<bool, Undecrypted>>,
        clear: &mut Vec<u8>,
    ) -> Result<bool, Undecrypted> {
        let sender = header.addr2.unwrap_or(MacAddr::ZERO).as_u64();
        if self.groups.len() >= MAX_GROUPS && !self.groups.contains_key(&sender) {
            return Err(Undecrypted::TooMany);
        }
        let mut outcome = match body {
            None => Err(Undecrypted::Cut),
            Some(body) => wep.unwrap_or_else(|| self.groups.entry(sender).or_default().open(header, body, clear)),
        };
        let mut adopted = None;
        if let (Err(Undecrypted::NoGroupKey | Undecrypted::OtherKey), None, Some(body)) = (outcome, wep, body) {
            adopted = self.given(header, body, clear);
            outcome = if adopted.is_some() { Ok(false) } else { outcome };
        }
        let group = self.groups.entry(sender).or_default();
        if let Some(key) = adopted {
            group.keys.push_front(key);
            group.keys.truncate(MAX_GROUP_KEYS);
        }
        if self.counts_frames {
            group.counts.add(outcome);
        }
        outcome
    }

    /// All protected data MPDUs.
    pub fn total(&self) -> &Counts {
        &self.total
    }

    /// Pairs of stations, in no order.
    pub fn pairs(&self) -> impl Iterator<Item = &Pair> {
        self.pairs.values()
    }

    /// Senders of protected group-addressed frames, in no order.
    pub fn groups(&self) -> impl Iterator<Item = (MacAddr, &Counts)> {
        self.groups.iter().map(|(address, group)| (MacAddr::from_u64(*address), &group.counts))
    }
}

impl Group {
    fn open(&mut self, header: &Header, body: &[u8], clear: &mut Vec<u8>) -> Result<bool, Undecrypted> {
        for key in &mut self.keys {
            if key.open(header, body, clear) {
                return Ok(key.is_behind(header, body));
            }
        }
        Err(if self.keys.is_empty() { Undecrypted::NoGroupKey } else { Undecrypted::OtherKey })
    }
}
