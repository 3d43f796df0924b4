//! tshark's fields, and what each must be, given our reading.

use txop_wire::ieee80211::{AccessCategory, Capabilities, ExtendedCapabilities, Header};
use txop_wire::ieee80211::{Action, BlockAckParameters, FixedFields, MacAddr, Rsn, SuiteSet};

use crate::frame::Frame;

/// How many of the first columns concern the MAC header, which is compared in damaged frames, too.
pub const HEADER_COLUMNS: usize = 17;

/// A field.
pub struct Column {
    /// tshark's name.
    pub name: &'static str,
    /// What we say.
    pub ours: fn(&Frame<'_>) -> Ours,
}

/// What we say of a field.
pub enum Ours {
    /// It is not there.
    Nothing,
    /// Its (first) value.
    Number(u64),
    /// All its values, in any order and each once.
    Set(Vec<u64>),
    /// All its values.
    List(Vec<u64>),
    /// A MAC address (the first).
    Address(MacAddr),
    /// Bytes (the first).
    Bytes(Vec<u8>),
}

impl<T: Into<u64>> From<Option<T>> for Ours {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Nothing, |value| Self::Number(value.into()))
    }
}

fn address(address: Option<MacAddr>) -> Ours {
    address.map_or(Ours::Nothing, Ours::Address)
}

impl Column {
    /// `None` when both agree, else both in words.
    pub fn difference(&self, theirs: &str, ours: Ours) -> Option<String> {
        // An SSID of no bytes.
        let theirs = if theirs == "<MISSING>" { "" } else { theirs };
        let first = theirs.split(',').next().unwrap_or("");
        let numbers = || theirs.split(',').filter(|text| !text.is_empty()).map(number).collect::<Vec<_>>();
        let (equal, text) = match ours {
            Ours::Nothing => (theirs.is_empty(), "nothing".to_owned()),
            Ours::Number(ours) => (!first.is_empty() && number(first) == ours, ours.to_string()),
            Ours::Set(ours) => {
                let mut theirs = numbers();
                theirs.sort_unstable();
                theirs.dedup();
                (theirs == ours, format!("{ours:?}"))
            }
            Ours::List(ours) => (numbers() == ours, format!("{ours:?}")),
            Ours::Address(ours) => (first == ours.to_string(), ours.to_string()),
            Ours::Bytes(ours) => {
                let text: String = ours.iter().map(|byte| format!("{byte:02x}")).collect();
                (first.replace(':', "") == text, text)
            }
        };
        (!equal).then(|| format!("{} tshark {theirs:?} ours {text}", self.name))
    }
}

/// Decimal, hexadecimal, or the words of newer versions for flags; anything else is not a number.
fn number(text: &str) -> u64 {
    match text {
        "True" => 1,
        "False" => 0,
        _ => match text.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).unwrap_or(u64::MAX),
            None => text.parse().unwrap_or(u64::MAX),
        },
    }
}

fn fc(frame: &Frame<'_>, get: fn(&Header) -> u64) -> Ours {
    frame.header.as_ref().map(get).into()
}

fn qos(frame: &Frame<'_>, get: fn(u16) -> u16) -> Ours {
    frame.header.and_then(|header| header.qos).map(|qos| get(qos.0)).into()
}

fn claims<T: Into<u64>>(frame: &Frame<'_>, get: fn(&Capabilities) -> Option<T>) -> Ours {
    frame.capabilities().and_then(get).into()
}

fn parameters(frame: &Frame<'_>) -> Option<BlockAckParameters> {
    match frame.management.as_ref()?.fixed {
        FixedFields::Action(Action::AddbaRequest(request)) => Some(request.parameters),
        FixedFields::Action(Action::AddbaResponse(response)) => Some(response.parameters),
        _ => None,
    }
}

fn fixed<T: Into<u64>>(frame: &Frame<'_>, get: fn(FixedFields) -> Option<T>) -> Ours {
    frame.management.as_ref().and_then(|management| get(management.fixed)).into()
}

fn suites(frame: &Frame<'_>, element: fn(&Capabilities) -> Option<Rsn>, get: fn(&Rsn) -> SuiteSet) -> Ours {
    match frame.capabilities().and_then(element).as_ref().map(get) {
        Some(set) => Ours::Set((0..32).filter(|kind| set.contains(*kind)).map(u64::from).collect()),
        None => Ours::Nothing,
    }
}

fn rates(frame: &Frame<'_>, element: u8) -> Ours {
    // Our list joins both elements; tshark shows them apart. The split is by count, from the bytes.
    let Some(rates) = frame.capabilities().and_then(|claims| claims.rates) else { return Ours::Nothing };
    let all: Vec<u64> = rates.as_bytes().iter().map(|byte| u64::from(*byte)).collect();
    let supported = crate::exceptions::element_len(frame, 1).unwrap_or(0).min(all.len());
    let part = if element == 1 { &all[..supported] } else { &all[supported..] };
    match part {
        [] => Ours::Nothing,
        part => Ours::List(part.to_vec()),
    }
}

fn edca(frame: &Frame<'_>, get: fn(AccessCategory, &txop_wire::ieee80211::EdcaParameters) -> u64) -> Ours {
    let Some(parameters) = frame.capabilities().and_then(|claims| claims.edca_parameters()) else {
        return Ours::Nothing;
    };
    Ours::List(
        AccessCategory::ALL.iter().zip(&parameters).map(|(category, parameters)| get(*category, parameters)).collect(),
    )
}

/// tshark shows only the bits that were sent.
fn extended(frame: &Frame<'_>, bit: usize, get: fn(ExtendedCapabilities) -> bool) -> Ours {
    let sent = crate::exceptions::element_len(frame, 127).is_some_and(|len| len * 8 > bit);
    frame.capabilities().and_then(|claims| claims.extended).filter(|_| sent).map(get).into()
}

macro_rules! column {
    ($name:literal, $ours:expr) => {
        Column { name: $name, ours: $ours }
    };
}

/// All fields compared.
pub const COLUMNS: &[Column] = &[
    column!("wlan.fc.type_subtype", |f| fc(f, |h| h.fc.type_subtype().into())),
    column!("wlan.fc.frag", |f| fc(f, |h| h.fc.more_fragments().into())),
    column!("wlan.fc.retry", |f| fc(f, |h| h.fc.retry().into())),
    column!("wlan.fc.pwrmgt", |f| fc(f, |h| h.fc.power_management().into())),
    column!("wlan.fc.moredata", |f| fc(f, |h| h.fc.more_data().into())),
    column!("wlan.fc.protected", |f| fc(f, |h| h.fc.protected().into())),
    column!("wlan.fc.order", |f| fc(f, |h| h.fc.order().into())),
    column!("wlan.ra", |f| address(f.header.map(|h| h.receiver()))),
    column!("wlan.ta", |f| address(f.header.and_then(|h| h.transmitter()))),
    column!("wlan.sa", |f| address(f.header.and_then(|h| h.source()))),
    column!("wlan.da", |f| address(f.header.and_then(|h| h.destination()))),
    column!("wlan.bssid", |f| address(f.header.and_then(|h| h.bssid()))),
    column!("wlan.seq", |f| f.header.and_then(|h| h.sequence).into()),
    column!("wlan.frag", |f| f.header.and_then(|h| h.fragment).into()),
    column!("wlan.qos.tid", |f| f.header.and_then(|h| h.qos).map(|q| q.tid()).into()),
    column!("wlan.qos.ack", |f| qos(f, |q| q >> 5 & 3)),
    column!("wlan.qos.amsdupresent", |f| {
        match f.header {
            Some(h) if h.fc.carries_data() => h.qos.map(|q| q.amsdu_present()).into(),
            _ => Ours::Nothing,
        }
    }),
    column!("wlan.ba.control.ackpolicy", |f| {
        f.ack.map(|a| a.control.no_ack()).or(f.request.map(|r| r.control.no_ack())).into()
    }),
    column!("wlan.ba.control.ba_type", |f| {
        let control = f.ack.map(|a| a.control).or(f.request.map(|r| r.control));
        control.map(|control| control.0 >> 1 & 15).into()
    }),
    column!("wlan.ba.basic.tidinfo", |f| f.ack.and_then(|a| a.tid).or(f.request.and_then(|r| r.tid)).into()),
    column!("wlan.ba.bm", |f| match f.ack.and_then(|a| a.bitmap) {
        Some(bitmap) => Ours::Bytes(bitmap.bytes().collect()),
        None => Ours::Nothing,
    }),
    column!("wlan.fixed.ssc.sequence", |f| {
        let addba = match f.management.map(|m| m.fixed) {
            Some(FixedFields::Action(Action::AddbaRequest(request))) => Some(request.start),
            _ => None,
        };
        let start = f.ack.and_then(|a| a.start).or(f.request.and_then(|r| r.start)).or(addba);
        start.map(|start| start.value()).into()
    }),
    column!("wlan.fixed.baparams", |f| parameters(f).map(|p| p.raw).into()),
    column!("wlan.fixed.baparams.amsdu", |f| parameters(f).map(|p| p.amsdu_supported).into()),
    column!("wlan.fixed.baparams.policy", |f| parameters(f).map(|p| p.immediate).into()),
    column!("wlan.fixed.baparams.tid", |f| parameters(f).map(|p| p.tid).into()),
    column!("wlan.fixed.baparams.buffersize", |f| parameters(f).map(|p| p.buffer_size & 0x3ff).into()),
    column!("wlan.fixed.batimeout", |f| fixed(f, |fields| match fields {
        FixedFields::Action(Action::AddbaRequest(request)) => Some(request.timeout_tu),
        FixedFields::Action(Action::AddbaResponse(response)) => Some(response.timeout_tu),
        _ => None,
    })),
    column!("wlan.fixed.delba.param.initiator", |f| fixed(f, |fields| match fields {
        FixedFields::Action(Action::Delba(delba)) => Some(delba.initiator),
        _ => None,
    })),
    column!("wlan.fixed.delba.param.tid", |f| fixed(f, |fields| match fields {
        FixedFields::Action(Action::Delba(delba)) => Some(delba.tid),
        _ => None,
    })),
    column!("wlan.fixed.reason_code", |f| fixed(f, |fields| match fields {
        FixedFields::Disassociation(reason) | FixedFields::Deauthentication(reason) => Some(reason.number()),
        FixedFields::Action(Action::Delba(delba)) => Some(delba.reason.number()),
        _ => None,
    })),
    column!("wlan.fixed.status_code", |f| fixed(f, |fields| match fields {
        FixedFields::AssociationResponse { status, .. } | FixedFields::Authentication { status, .. } => {
            Some(status.number())
        }
        FixedFields::Action(Action::AddbaResponse(response)) => Some(response.status.number()),
        _ => None,
    })),
    column!("wlan.fixed.timestamp", |f| fixed(f, |fields| match fields {
        FixedFields::Beacon { timestamp_us, .. } => Some(timestamp_us),
        _ => None,
    })),
    column!("wlan.fixed.capabilities", |f| f.management.and_then(|m| m.capability_info()).map(|info| info.0).into()),
    column!("wlan.fixed.listen_ival", |f| fixed(f, |fields| match fields {
        FixedFields::AssociationRequest { listen_interval, .. }
        | FixedFields::ReassociationRequest { listen_interval, .. } => Some(listen_interval),
        _ => None,
    })),
    column!("wlan.fixed.aid", |f| fixed(f, |fields| match fields {
        FixedFields::AssociationResponse { aid, .. } => Some(aid),
        _ => None,
    })),
    column!("wlan.fixed.auth.alg", |f| fixed(f, |fields| match fields {
        FixedFields::Authentication { algorithm, .. } => Some(algorithm),
        _ => None,
    })),
    column!("wlan.ssid", |f| match f.capabilities().and_then(|c| c.ssid) {
        Some(ssid) if ssid.as_bytes().is_empty() => Ours::Nothing,
        Some(ssid) => Ours::Bytes(ssid.as_bytes().to_vec()),
        None => Ours::Nothing,
    }),
    column!("wlan.supported_rates", |f| rates(f, 1)),
    column!("wlan.extended_supported_rates", |f| rates(f, 50)),
    column!("wlan.ds.current_channel", |f| claims(f, |c| c.dsss_channel)),
    column!("wlan.tim.dtim_count", |f| claims(f, |c| c.tim.map(|tim| tim.dtim_count))),
    column!("wlan.tim.dtim_period", |f| claims(f, |c| c.tim.map(|tim| tim.dtim_period))),
    column!("wlan.tim.bmapctl.multicast", |f| claims(f, |c| c.tim.map(|tim| tim.group_traffic))),
    column!("wlan.erp_info", |f| claims(f, |c| c.erp.map(|erp| erp.0))),
    column!("wlan.erp_info.use_protection", |f| claims(f, |c| c.erp.map(|erp| erp.use_protection()))),
    column!("wlan.ht.capabilities", |f| claims(f, |c| c.ht.map(|ht| ht.info))),
    column!("wlan.ht.capabilities.ldpccoding", |f| claims(f, |c| c.ht.map(|ht| ht.ldpc()))),
    column!("wlan.ht.capabilities.width", |f| claims(f, |c| c.ht.map(|ht| ht.width_40()))),
    column!("wlan.ht.capabilities.sm", |f| claims(f, |c| c.ht.map(|ht| ht.sm_power_save()))),
    column!("wlan.ht.capabilities.green", |f| claims(f, |c| c.ht.map(|ht| ht.greenfield()))),
    column!("wlan.ht.capabilities.short20", |f| claims(f, |c| c.ht.map(|ht| ht.short_gi_20()))),
    column!("wlan.ht.capabilities.short40", |f| claims(f, |c| c.ht.map(|ht| ht.short_gi_40()))),
    column!("wlan.ht.capabilities.txstbc", |f| claims(f, |c| c.ht.map(|ht| ht.tx_stbc()))),
    column!("wlan.ht.capabilities.rxstbc", |f| claims(f, |c| c.ht.map(|ht| ht.rx_stbc_streams()))),
    column!("wlan.ht.capabilities.amsdu", |f| claims(f, |c| c.ht.map(|ht| ht.max_amsdu_bytes() == 7935))),
    column!("wlan.ht.capabilities.40mhzintolerant", |f| claims(f, |c| c.ht.map(|ht| ht.intolerant_40()))),
    column!("wlan.ht.ampduparam", |f| claims(f, |c| c.ht.map(|ht| ht.ampdu_parameters))),
    column!("wlan.ht.mcsset.rxbitmask.0to7", |f| claims(f, |c| c.ht.map(|ht| ht.mcs_set[0]))),
    column!("wlan.ht.mcsset.rxbitmask.8to15", |f| claims(f, |c| c.ht.map(|ht| ht.mcs_set[1]))),
    column!("wlan.ht.mcsset.rxbitmask.16to23", |f| claims(f, |c| c.ht.map(|ht| ht.mcs_set[2]))),
    column!("wlan.ht.mcsset.txsetdefined", |f| claims(f, |c| c.ht.map(|ht| ht.tx_streams().is_some()))),
    column!("wlan.ht.info.primarychannel", |f| claims(f, |c| c.ht_operation.map(|o| o.primary_channel))),
    column!("wlan.ht.info.secchanoffset", |f| claims(f, |c| c.ht_operation.map(|o| o.info[0] & 3))),
    column!("wlan.ht.info.chanwidth", |f| claims(f, |c| c.ht_operation.map(|o| o.any_width()))),
    column!("wlan.ht.info.ht_protection", |f| claims(f, |c| c.ht_operation.map(|o| o.protection()))),
    column!("wlan.ht.info.greenfield", |f| claims(f, |c| c.ht_operation.map(|o| o.nongreenfield_present()))),
    column!("wlan.ht.info.obssnonht", |f| claims(f, |c| c.ht_operation.map(|o| o.obss_non_ht_present()))),
    column!("wlan.20_40_bc.forty_mhz_intolerant", |f| claims(f, |c| c.coexistence_2040.map(|b| b.intolerant_40()))),
    column!("wlan.extcap.b0", |f| extended(f, 0, |e| e.coexistence_2040())),
    column!("wlan.extcap.b19", |f| extended(f, 19, |e| e.bss_transition())),
    column!("wlan.extcap.b62", |f| extended(f, 62, |e| e.operating_mode_notification())),
    column!("wlan.vht.capabilities", |f| claims(f, |c| c.vht.map(|vht| vht.info))),
    column!("wlan.vht.capabilities.short80", |f| claims(f, |c| c.vht.map(|vht| vht.short_gi_80()))),
    column!("wlan.vht.capabilities.rxldpc", |f| claims(f, |c| c.vht.map(|vht| vht.ldpc()))),
    column!("wlan.vht.capabilities.txstbc", |f| claims(f, |c| c.vht.map(|vht| vht.tx_stbc()))),
    column!("wlan.vht.capabilities.rxstbc", |f| claims(f, |c| c.vht.map(|vht| vht.rx_stbc_streams()))),
    column!("wlan.vht.capabilities.subeamformee", |f| claims(f, |c| c.vht.map(|vht| vht.su_beamformee()))),
    column!("wlan.vht.capabilities.mubeamformer", |f| claims(f, |c| c.vht.map(|vht| vht.mu_beamformer()))),
    column!("wlan.vht.mcsset.rxmcsmap", |f| claims(f, |c| c.vht.map(|vht| vht.rx_mcs_map))),
    column!("wlan.vht.mcsset.txmcsmap", |f| claims(f, |c| c.vht.map(|vht| vht.tx_mcs_map))),
    column!("wlan.vht.op.channelwidth", |f| claims(f, |c| c.vht_operation.map(|o| o.width))),
    column!("wlan.vht.op.channelcenter0", |f| claims(f, |c| c.vht_operation.map(|o| o.center_segment_0))),
    column!("wlan.ext_tag.he_mac_caps", |f| claims(f, |c| {
        let mut octets = [0; 8];
        octets[..6].copy_from_slice(&c.he?.mac);
        Some(u64::from_le_bytes(octets))
    })),
    column!("wlan.ext_tag.he_phy_cap.ldpc_coding_in_payload", |f| claims(f, |c| c.he.map(|he| he.ldpc()))),
    column!("wlan.ext_tag.he_phy_cap.stbc_tx_lt_80mhz", |f| claims(f, |c| c.he.map(|he| he.tx_stbc()))),
    column!("wlan.ext_tag.he_phy_cap.stbc_rx_lt_80mhz", |f| claims(f, |c| c.he.map(|he| he.rx_stbc()))),
    column!("wlan.ext_tag.he_phy_cap.su_beamformer", |f| claims(f, |c| c.he.map(|he| he.su_beamformer()))),
    column!("wlan.ext_tag.he_phy_cap.su_beamformee", |f| claims(f, |c| c.he.map(|he| he.su_beamformee()))),
    column!("wlan.ext_tag.he_phy_cap.mu_beamformer", |f| claims(f, |c| c.he.map(|he| he.mu_beamformer()))),
    column!("wlan.ext_tag.he_mcs_map.rx_he_mcs_map_lte_80", |f| claims(f, |c| c.he.map(|he| he.rx_mcs_map_80))),
    column!("wlan.ext_tag.he_mcs_map.tx_he_mcs_map_lte_80", |f| claims(f, |c| c.he.map(|he| he.tx_mcs_map_80))),
    column!("wlan.ext_tag.he_operation.params", |f| claims(f, |c| c.he_operation.map(|o| o.parameters))),
    column!("wlan.rsn.version", |f| claims(f, |c| c.rsn.map(|rsn| rsn.version))),
    column!("wlan.rsn.gcs.type", |f| suites(f, |c| c.rsn, |rsn| rsn.group)),
    column!("wlan.rsn.pcs.type", |f| suites(f, |c| c.rsn, |rsn| rsn.pairwise)),
    column!("wlan.rsn.akms.type", |f| suites(f, |c| c.rsn, |rsn| rsn.akm)),
    column!("wlan.rsn.capabilities", |f| claims(f, |c| c.rsn.and_then(|rsn| rsn.capabilities))),
    column!("wlan.rsn.capabilities.mfpc", |f| claims(f, |c| {
        c.rsn.filter(|rsn| rsn.capabilities.is_some()).map(|rsn| rsn.mfp_capable())
    })),
    column!("wlan.rsn.capabilities.mfpr", |f| claims(f, |c| {
        c.rsn.filter(|rsn| rsn.capabilities.is_some()).map(|rsn| rsn.mfp_required())
    })),
    column!("wlan.rsn.gmcs.type", |f| {
        match f.capabilities().and_then(|c| c.rsn).filter(|rsn| rsn.group_management.bits != 0) {
            Some(rsn) => Ours::Number(u64::from(rsn.group_management.bits.trailing_zeros())),
            None => Ours::Nothing,
        }
    }),
    column!("wlan.wfa.ie.wpa.mcs.type", |f| suites(f, |c| c.wpa, |wpa| wpa.group)),
    column!("wlan.wfa.ie.wpa.ucs.type", |f| suites(f, |c| c.wpa, |wpa| wpa.pairwise)),
    column!("wlan.wfa.ie.wpa.type", |f| suites(f, |c| c.wpa, |wpa| wpa.akm)),
    column!("wlan.wfa.ie.wme.qos_info", |f| claims(f, |c| c.wmm.or(c.edca).map(|wmm| wmm.qos_info))),
    column!("wlan.wfa.ie.wme.acp.aci", |f| edca(f, |category, _| category.index().into())),
    column!("wlan.wfa.ie.wme.acp.aifsn", |f| edca(f, |_, p| p.aifsn.into())),
    column!("wlan.wfa.ie.wme.acp.acm", |f| edca(f, |_, p| p.admission_control.into())),
    column!("wlan.wfa.ie.wme.acp.ecw.min", |f| edca(f, |_, p| p.ecw_min.into())),
    column!("wlan.wfa.ie.wme.acp.ecw.max", |f| edca(f, |_, p| p.ecw_max.into())),
    column!("wlan.wfa.ie.wme.acp.txop_limit", |f| edca(f, |_, p| p.txop_limit_32us.into())),
];
