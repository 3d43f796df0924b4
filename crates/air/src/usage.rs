//! Which capabilities the traffic itself uses, per transmitter and per receiver.

use wire::ieee80211::{Action, FrameKind, FrameType};
use wire::phy::{Bandwidth, Mode};

use crate::frame::Frame;

/// Counters of frames with a usable FCS.
#[derive(Clone, Copy, Debug, Default)]
pub struct Usage {
    /// Frames sent by PHY: DSSS/CCK.
    pub dsss: u64,
    /// OFDM.
    pub ofdm: u64,
    /// HT.
    pub ht: u64,
    /// VHT.
    pub vht: u64,
    /// HE.
    pub he: u64,
    /// EHT.
    pub eht: u64,
    /// Frames sent by band: 2.4, 5, 6 GHz.
    pub bands: [u64; 3],
    /// Most spatial streams sent.
    pub max_nss: u8,
    /// HT and later frames sent with spatial streams in their header, by these, from 1.
    pub streams: [u64; 8],
    /// HT and VHT frames sent with the short guard interval; the denominator is `short_gi_known`.
    pub short_gi: u64,
    /// HT and VHT frames sent: later formats have guard intervals of other lengths.
    pub short_gi_known: u64,
    /// HT and later frames sent with a bandwidth in their header.
    pub widths: Widths,
    /// Wide frames sent in 2.4 GHz.
    pub wide_2_4: u64,
    /// Frames sent with STBC; the denominator is `stbc_known`.
    pub stbc: u64,
    /// Frames with a header that says whether STBC was used.
    pub stbc_known: u64,
    /// Frames sent with LDPC; the denominator is `ldpc_known`.
    pub ldpc: u64,
    /// Frames with a header that says which coding was used.
    pub ldpc_known: u64,
    /// HT frames sent with a greenfield preamble; the denominator is `greenfield_known`.
    pub greenfield: u64,
    /// HT frames with a header that says which preamble was used.
    pub greenfield_known: u64,
    /// PPDUs sent as A-MPDU, and MPDUs in them.
    pub ampdus: u64,
    /// See `ampdus`.
    pub ampdu_mpdus: u64,
    /// MPDUs sent with an A-MSDU.
    pub amsdus: u64,
    /// Data frames sent.
    pub data: u64,
    /// QoS data frames sent by TID.
    pub tids: [u64; 16],
    /// Unicast robust management frames (deauthentication, disassociation, action frames of robust categories) sent protected.
    pub protected_management: u64,
    /// Such frames sent at all. What category an encrypted action frame has can't be seen; only robust ones are encrypted.
    pub robust_management: u64,
    /// Authentication frames sent.
    pub authentications: u64,
    /// Association and reassociation requests sent.
    pub associations: u64,
    /// Authentication frames with SAE.
    pub sae_authentications: u64,
    /// Authentications with fast BSS transition.
    pub ft_authentications: u64,
    /// Action frames sent that can be read.
    pub actions: u64,
    /// Action frames sent encrypted: what they say can't be determined.
    pub encrypted_actions: u64,
    /// Radio measurement, link measurement and neighbor reports, and requests for them; part of `actions`.
    pub radio_measurements: u64,
    /// BSS transition management queries, requests and responses; part of `actions`.
    pub transition_management: u64,
    /// Fast BSS transition over the distribution system; part of `actions`.
    pub ft_actions: u64,
    /// TWT setup frames; part of `actions`.
    pub twt_setups: u64,
    /// Individual TWT agreements made, by setup frames that accept, either way.
    pub twt_agreements: u64,
    /// Compressed beamforming reports (VHT, HE, EHT); part of `actions`.
    pub beamforming_reports: u64,
    /// Control frames sent that name their transmitter.
    pub control: u64,
    /// NDP announcements sent, which begin a sounding.
    pub ndp_announcements: u64,
    /// Data frames sent protected.
    pub protected_data: u64,
    /// Data frames with EAPOL in the clear: key exchange.
    pub eapol_data: u64,
    /// Protected data frames with a WEP header (no Extended IV).
    pub wep_data: u64,
    /// Frames with the power-management bit.
    pub power_management: u64,
    /// Frames received with STBC; the denominator is `received_stbc_known`.
    pub received_stbc: u64,
    /// See `received_stbc`.
    pub received_stbc_known: u64,
    /// HT and VHT frames received with the short guard interval; the denominator is `received_short_gi_known`.
    pub received_short_gi: u64,
    /// See `received_short_gi`.
    pub received_short_gi_known: u64,
    /// HT and later frames received with a bandwidth in their header.
    pub received_widths: Widths,
    /// Frames received with LDPC; the denominator is `received_ldpc_known`.
    pub received_ldpc: u64,
    /// See `received_ldpc`.
    pub received_ldpc_known: u64,
    /// HT greenfield frames received; the denominator is `received_greenfield_known`.
    pub received_greenfield: u64,
    /// HT frames received with a header that says which preamble was used.
    pub received_greenfield_known: u64,
    /// A-MSDUs received.
    pub received_amsdus: u64,
    /// Frames received in HT, VHT, HE or EHT format.
    pub received_high: u64,
    /// Frames received in HT format.
    pub received_ht: u64,
}

/// What matters of a mode; `None` where its format has no such thing, or the header does not show it.
#[derive(Clone, Copy, Debug, Default)]
struct Traits {
    short_gi: Option<bool>,
    width: Option<Bandwidth>,
    stbc: Option<bool>,
    ldpc: Option<bool>,
    greenfield: Option<bool>,
}

impl Traits {
    fn of(mode: &Mode) -> Self {
        match mode {
            Mode::Ht(ht) => Self {
                short_gi: ht.short_gi,
                width: Some(ht.bandwidth),
                stbc: ht.stbc.map(|streams| streams > 0),
                ldpc: ht.ldpc,
                greenfield: ht.greenfield,
            },
            Mode::Vht(vht) => Self {
                short_gi: vht.short_gi,
                width: Some(vht.bandwidth),
                stbc: vht.stbc,
                ldpc: vht.ldpc,
                greenfield: None,
            },
            Mode::He(he) => Self { width: he.bandwidth, stbc: he.stbc, ldpc: he.ldpc, ..Self::default() },
            Mode::Eht(eht) => Self { width: eht.bandwidth, ..Self::default() },
            Mode::Unknown | Mode::Dsss { .. } | Mode::Ofdm { .. } => Self::default(),
        }
    }
}

/// Frames by how wide they are.
#[derive(Clone, Copy, Debug, Default)]
pub struct Widths(pub(crate) [u64; 5]);

impl Widths {
    const MHZ: [u16; 5] = [20, 40, 80, 160, 320];

    #[inline]
    fn add(&mut self, width: Option<Bandwidth>) {
        let place = match width {
            None => return,
            Some(Bandwidth::Mhz5 | Bandwidth::Mhz10 | Bandwidth::Mhz20) => 0,
            Some(Bandwidth::Mhz40) => 1,
            Some(Bandwidth::Mhz80) => 2,
            Some(Bandwidth::Mhz160) => 3,
            Some(Bandwidth::Mhz320) => 4,
        };
        if let Some(count) = self.0.get_mut(place) {
            *count += 1;
        }
    }

    /// All of them.
    pub fn known(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Those at least this wide.
    pub fn from_mhz(&self, mhz: u16) -> u64 {
        Self::MHZ.iter().zip(self.0).filter(|(wide, _)| **wide >= mhz).map(|(_, count)| count).sum()
    }

    /// Both together.
    pub fn with(&self, other: &Self) -> Self {
        let mut both = *self;
        both.0.iter_mut().zip(other.0).for_each(|(count, more)| *count += more);
        both
    }

    /// Widths that occur, MHz, with their frames.
    pub fn each(&self) -> impl Iterator<Item = (u16, u64)> + '_ {
        Self::MHZ.into_iter().zip(self.0).filter(|(_, count)| *count > 0)
    }
}

/// Counts a trait: (frames that have it, frames that tell).
fn tell((used, known): (&mut u64, &mut u64), has: Option<bool>) {
    *used += u64::from(has == Some(true));
    *known += u64::from(has.is_some());
}

impl Usage {
    /// A frame with this address as transmitter.
    pub fn sent(&mut self, frame: &Frame) {
        let mode = &frame.radio.mode;
        match mode {
            Mode::Dsss { .. } => self.dsss += 1,
            Mode::Ofdm { .. } => self.ofdm += 1,
            Mode::Ht(_) => self.ht += 1,
            Mode::Vht(_) => self.vht += 1,
            Mode::He(_) => self.he += 1,
            Mode::Eht(_) => self.eht += 1,
            Mode::Unknown => {}
        }
        let mhz = frame.radio.frequency_mhz.unwrap_or(0);
        match mhz {
            2_400..=2_500 => self.bands[0] += 1,
            4_900..=5_924 => self.bands[1] += 1,
            5_925..=7_125 => self.bands[2] += 1,
            _ => {}
        }
        if mode.can_aggregate() {
            let nss = mode.nss().unwrap_or(0);
            self.max_nss = self.max_nss.max(nss);
            if let Some(count) = self.streams.get_mut(usize::from(nss).wrapping_sub(1)) {
                *count += 1;
            }
            let is = Traits::of(mode);
            self.wide_2_4 += u64::from(is.width > Some(Bandwidth::Mhz20) && mhz < 2_500 && mhz > 0);
            tell((&mut self.short_gi, &mut self.short_gi_known), is.short_gi);
            self.widths.add(is.width);
            tell((&mut self.stbc, &mut self.stbc_known), is.stbc);
            tell((&mut self.ldpc, &mut self.ldpc_known), is.ldpc);
            tell((&mut self.greenfield, &mut self.greenfield_known), is.greenfield);
        }
        let fc = frame.header.fc;
        self.power_management += u64::from(fc.power_management());
        match fc.frame_type() {
            FrameType::Data if fc.carries_data() => {
                self.data += 1;
                self.protected_data += u64::from(fc.protected());
                self.wep_data += u64::from(frame.is_wep);
                self.eapol_data += u64::from(frame.is_eapol);
                self.amsdus += u64::from(frame.amsdu_subframes > 0);
                if let Some(qos) = frame.header.qos {
                    if let Some(count) = self.tids.get_mut(usize::from(qos.tid() & 15)) {
                        *count += 1;
                    }
                }
            }
            // Deauthentication and disassociation frames are robust (11.13); so are action frames of most categories, which is
            // for `action` to tell, unless they are encrypted.
            FrameType::Management if !frame.header.receiver().is_group() => {
                let is_robust = match fc.kind() {
                    FrameKind::Deauthentication | FrameKind::Disassociation => true,
                    FrameKind::Action => fc.protected(),
                    _ => false,
                };
                self.robust_management += u64::from(is_robust);
                self.protected_management += u64::from(is_robust && fc.protected());
                self.encrypted_actions += u64::from(fc.protected() && matches!(fc.kind(), FrameKind::Action));
            }
            FrameType::Control => {
                self.control += 1;
                self.ndp_announcements += u64::from(matches!(fc.kind(), FrameKind::VhtNdpAnnouncement));
            }
            _ => {}
        }
    }

    /// What an unencrypted action frame with this address as transmitter says.
    pub fn action(&mut self, frame: &Frame, action: &Action) {
        let is_unicast = !frame.header.receiver().is_group();
        self.robust_management +=
            u64::from(is_unicast && matches!(frame.header.fc.kind(), FrameKind::Action) && action.is_robust());
        self.actions += 1;
        let counter = match (action, action.category()) {
            (_, 5) => &mut self.radio_measurements,
            (_, 6) => &mut self.ft_actions,
            (Action::TwtSetup(_), _) => &mut self.twt_setups,
            (Action::Other { action: Some(6..=8), .. }, 10) => &mut self.transition_management,
            (Action::Other { action: Some(0), .. }, 21 | 30 | 36) => &mut self.beamforming_reports,
            _ => return,
        };
        *counter += 1;
    }

    /// A frame with this address as receiver.
    pub fn received(&mut self, frame: &Frame) {
        let mode = &frame.radio.mode;
        if !mode.can_aggregate() {
            return;
        }
        let is = Traits::of(mode);
        self.received_high += 1;
        self.received_ht += u64::from(matches!(mode, Mode::Ht(_)));
        tell((&mut self.received_short_gi, &mut self.received_short_gi_known), is.short_gi);
        self.received_widths.add(is.width);
        tell((&mut self.received_stbc, &mut self.received_stbc_known), is.stbc);
        tell((&mut self.received_ldpc, &mut self.received_ldpc_known), is.ldpc);
        tell((&mut self.received_greenfield, &mut self.received_greenfield_known), is.greenfield);
        self.received_amsdus += u64::from(frame.amsdu_subframes > 0);
    }

    /// An A-MPDU sent.
    pub fn aggregate(&mut self, mpdus: usize) {
        self.ampdus += 1;
        self.ampdu_mpdus += mpdus as u64;
    }
}
