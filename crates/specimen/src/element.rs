//! Bodies of management frames and EAPOL-Key frames (IEEE 802.11-2020 clauses 9.3.3, 9.4.2 and 12.7.2).

use wire::ieee80211::body::LLC_SNAP;
use wire::ieee80211::{
    eapol, rsn, Action, AddbaRequest, AddbaResponse, BlockAckParameters, CapabilityInfo, Country, Delba, Erp,
    FixedFields, HtCapabilities, HtOperation, ManagementBody, ManagementElements, ReasonCode, Rsn, Seq, StatusCode,
    SuiteSet, TimElement, Wmm,
};

use crate::scene::{Bss, Station};

/// Supported rates: the DSSS ones and 6, 12 and 24 Mb/s basic, the other OFDM ones optional.
const RATES: [u8; 12] = [0x82, 0x84, 0x8b, 0x96, 0x8c, 0x12, 0x98, 0x24, 0xb0, 0x48, 0x60, 0x6c];
/// Bit 62: operating mode notification.
const EXTENDED_CAPABILITIES: [u8; 8] = [0, 0, 0, 0, 0, 0, 0, 0x40];
/// Beacon intervals between two times that stations listen.
const LISTEN_INTERVAL: u16 = 3;
/// QoS Info of the access point: U-APSD.
const QOS_INFO: u8 = 0x80;

/// HT Capabilities of a one-stream device: short GI at 20 MHz, one-stream STBC reception, A-MPDU of 64 KiB.
fn ht_capabilities() -> HtCapabilities {
    let mut mcs_set = [0; 16];
    (mcs_set[0], mcs_set[12]) = (0xff, 0x01);
    HtCapabilities { info: 0x012c, ampdu_parameters: 0x13, mcs_set, extended: 0 }
}

/// Non-member protection.
fn ht_operation(channel: u8) -> HtOperation {
    HtOperation { primary_channel: channel, info: [0, 0x01, 0, 0, 0], basic_mcs_set: [0; 16] }
}

/// WPA2-PSK with CCMP, protected management frames neither required nor possible.
fn rsn() -> Rsn {
    let ccmp = SuiteSet::of(rsn::cipher::CCMP128);
    let akm = SuiteSet::of(rsn::akm::PSK);
    Rsn { version: 1, group: ccmp, pairwise: ccmp, akm, capabilities: Some(0), ..Rsn::default() }
}

fn capability(bss: &Bss) -> CapabilityInfo {
    CapabilityInfo(0x0421 | if bss.protected { 0x0010 } else { 0 })
}

fn ssid(bss: &Bss) -> Option<&[u8]> {
    Some(&bss.ssid)
}

fn access_point_elements<'a>(bss: &'a Bss, channel: u8, tim: Option<TimElement<'a>>) -> ManagementElements<'a> {
    let band_2_4 = channel <= 14;
    let (first_channel, channels) = if band_2_4 { (1, 13) } else { (36, 4) };
    let text = [bss.country[0], bss.country[1], b' '];
    let elements = ManagementElements {
        ssid: ssid(bss),
        dsss_channel: band_2_4.then_some(channel),
        tim,
        country: Some(Country { text, first_channel, channels, max_power_dbm: 20 }),
        erp: band_2_4.then_some(Erp(0)),
        rsn: bss.protected.then(rsn),
        ht: bss.ht.then(ht_capabilities),
        ht_operation: bss.ht.then(|| ht_operation(channel)),
        extended_capabilities: Some(&EXTENDED_CAPABILITIES),
        wmm: Some(Wmm::default_parameters(QOS_INFO)),
        ..ManagementElements::default()
    };
    elements.with_rates(&RATES)
}

fn timestamp_and_interval(bss: &Bss, tsf_us: u64) -> FixedFields {
    FixedFields::Beacon { timestamp_us: tsf_us, interval_tu: bss.beacon_interval_tu, capability: capability(bss) }
}

/// Beacon body; `tsf_us` is the access point's own clock.
pub(crate) fn beacon(out: &mut Vec<u8>, bss: &Bss, channel: u8, tsf_us: u64, dtim_count: u8, buffered: bool) {
    let bitmap = [u8::from(buffered) << 1];
    let tim = TimElement { dtim_count, dtim_period: 3, bitmap_control: 0, bitmap: &bitmap };
    let elements = access_point_elements(bss, channel, Some(tim));
    ManagementBody { fixed: timestamp_and_interval(bss, tsf_us), elements }.emit(out);
}

/// Probe response body.
pub(crate) fn probe_response(out: &mut Vec<u8>, bss: &Bss, channel: u8, tsf_us: u64) {
    let elements = access_point_elements(bss, channel, None);
    ManagementBody { fixed: timestamp_and_interval(bss, tsf_us), elements }.emit(out);
}

/// Probe request body.
pub(crate) fn probe_request(out: &mut Vec<u8>, bss: &Bss, station: &Station) {
    let ht = station.ht.then(ht_capabilities);
    ManagementElements { ssid: ssid(bss), ht, ..ManagementElements::default() }.with_rates(&RATES).emit(out);
}

/// Open system authentication, step 1 or 2.
pub(crate) fn authentication(out: &mut Vec<u8>, step: u8) {
    FixedFields::Authentication { algorithm: 0, transaction: step.into(), status: StatusCode::Success }.emit(out);
}

/// The answer of an access point that refuses.
pub(crate) fn refusal(out: &mut Vec<u8>, status: u16) {
    FixedFields::Authentication { algorithm: 0, transaction: 2, status: StatusCode::from(status) }.emit(out);
}

/// An access point throws a station out.
pub(crate) fn deauthentication(out: &mut Vec<u8>, reason: u16) {
    FixedFields::Deauthentication(ReasonCode::from(reason)).emit(out);
}

/// Association request body.
pub(crate) fn association_request(out: &mut Vec<u8>, bss: &Bss, station: &Station) {
    let fixed = FixedFields::AssociationRequest { capability: capability(bss), listen_interval: LISTEN_INTERVAL };
    let elements = ManagementElements {
        ssid: ssid(bss),
        rsn: bss.protected.then(rsn),
        ht: station.ht.then(ht_capabilities),
        wmm: station.qos.then_some(Wmm { qos_info: 0, parameters: None }),
        ..ManagementElements::default()
    };
    ManagementBody { fixed, elements: elements.with_rates(&RATES) }.emit(out);
}

/// Association response body (success).
pub(crate) fn association_response(out: &mut Vec<u8>, bss: &Bss, station: &Station, channel: u8, aid: u16) {
    let fixed = FixedFields::AssociationResponse { capability: capability(bss), status: StatusCode::Success, aid };
    let ht = bss.ht && station.ht;
    let elements = ManagementElements {
        ht: ht.then(ht_capabilities),
        ht_operation: ht.then(|| ht_operation(channel)),
        wmm: station.qos.then(|| Wmm::default_parameters(QOS_INFO)),
        ..ManagementElements::default()
    };
    ManagementBody { fixed, elements: elements.with_rates(&RATES) }.emit(out);
}

/// LLC/SNAP and one of the four EAPOL-Key frames of the 4-way handshake. Nonces and keys are arbitrary bytes.
pub(crate) fn eapol_key(out: &mut Vec<u8>, message: u8, filler: &[u8]) {
    let (information, replay, nonce, mic): (u16, u8, bool, bool) = match message {
        1 => (0x008a, 1, true, false),
        2 => (0x010a, 1, true, true),
        3 => (0x13ca, 2, true, true),
        _ => (0x030a, 2, false, true),
    };
    let key_data: Vec<u8> = match message {
        2 => {
            let mut element = Vec::new();
            rsn().emit(&mut element);
            element
        }
        3 => filler.iter().copied().cycle().skip(5).take(56).collect(),
        _ => Vec::new(),
    };
    let random = |n: usize| filler.iter().copied().cycle().skip(usize::from(message)).take(n);
    out.extend_from_slice(&LLC_SNAP);
    out.extend_from_slice(&eapol::ETHERTYPE.to_be_bytes());
    out.extend_from_slice(&[2, 3]);
    out.extend_from_slice(&(95 + key_data.len() as u16).to_be_bytes());
    out.push(2);
    out.extend_from_slice(&information.to_be_bytes());
    out.extend_from_slice(&(if message % 2 == 1 { 16u16 } else { 0 }).to_be_bytes());
    out.extend_from_slice(&u64::from(replay).to_be_bytes());
    if nonce {
        out.extend(random(32));
    } else {
        out.extend_from_slice(&[0; 32]);
    }
    out.extend_from_slice(&[0; 32]);
    if mic {
        out.extend(random(16));
    } else {
        out.extend_from_slice(&[0; 16]);
    }
    out.extend_from_slice(&(key_data.len() as u16).to_be_bytes());
    out.extend_from_slice(&key_data);
}

/// ADDBA request: immediate Block Ack, A-MSDU allowed.
pub(crate) fn addba_request(out: &mut Vec<u8>, token: u8, tid: u8, window: u16, first_seq: u16) {
    let parameters = BlockAckParameters::immediate(tid, window, true);
    let start = Seq::new(first_seq);
    Action::AddbaRequest(AddbaRequest { dialog_token: token, parameters, timeout_tu: 0, start }).emit(out);
}

/// ADDBA response: accepted, without A-MSDU.
pub(crate) fn addba_response(out: &mut Vec<u8>, token: u8, tid: u8, window: u16) {
    let parameters = BlockAckParameters::immediate(tid, window, false);
    let status = StatusCode::Success;
    Action::AddbaResponse(AddbaResponse { dialog_token: token, status, parameters, timeout_tu: 0 }).emit(out);
}

/// DELBA by the originator: the station no longer wants the mechanism.
pub(crate) fn delba(out: &mut Vec<u8>, tid: u8) {
    Action::Delba(Delba { initiator: true, tid, reason: ReasonCode::EndTsBaDls }).emit(out);
}
