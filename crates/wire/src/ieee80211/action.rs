//! Action frames (9.6): Block Ack agreements, channel switches and changes of operating mode.

use super::capabilities::ChannelSwitch;
use super::elements::{id, u16_at, Element, Elements};
use super::{OperatingMode, ReasonCode, Seq, StatusCode};

/// The Block Ack Parameter Set field (9.4.1.13), with the ADDBA Extension element where there is one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct BlockAckParameters {
    /// The 16-bit field as sent.
    pub raw: u16,
    /// A-MSDUs are allowed under the agreement.
    pub amsdu_supported: bool,
    /// Immediate (else delayed) Block Ack.
    pub immediate: bool,
    /// TID.
    pub tid: u8,
    /// Buffer size, MPDUs; 0 leaves the choice to the recipient. Above 1023 by the 1024ths of an ADDBA Extension
    /// element (IEEE Std 802.11be-2024).
    pub buffer_size: u16,
}

impl BlockAckParameters {
    /// An immediate Block Ack with up to 1023 buffers.
    pub const fn immediate(tid: u8, buffer_size: u16, amsdu_supported: bool) -> Self {
        let (tid, buffer_size) = (tid & 0xf, buffer_size & 0x3ff);
        let raw = amsdu_supported as u16 | 2 | (tid as u16) << 2 | buffer_size << 6;
        Self { raw, amsdu_supported, immediate: true, tid, buffer_size }
    }

    /// Appends the ADDBA Extension element, if the number of buffers needs it.
    fn emit_extension(self, out: &mut Vec<u8>) {
        let thousands = (self.buffer_size - (self.raw >> 6).min(self.buffer_size)) / 1024;
        if thousands > 0 {
            Element::new(id::ADDBA_EXTENSION, &[(thousands.min(7) as u8) << 5]).emit(out);
        }
    }

    /// `elements`: what follows the fixed fields of the Action frame.
    fn new(raw: u16, elements: &[u8]) -> Self {
        // Bits 5 to 7 of the ADDBA Extension (ID 159) say how often 1024 is to be added.
        let extension = Elements::new(elements).find(159).and_then(|data| data.first());
        Self {
            raw,
            amsdu_supported: raw & 1 != 0,
            immediate: raw & 2 != 0,
            tid: (raw >> 2 & 0xf) as u8,
            buffer_size: (raw >> 6) + extension.map_or(0, |byte| u16::from(byte >> 5) * 1024),
        }
    }
}

/// An ADDBA Request.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddbaRequest {
    /// Dialog token.
    pub dialog_token: u8,
    /// Parameters.
    pub parameters: BlockAckParameters,
    /// Inactivity timeout in time units (1024 µs); 0: none.
    pub timeout_tu: u16,
    /// First sequence number under the agreement.
    pub start: Seq,
}

/// An ADDBA Response.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AddbaResponse {
    /// Dialog token.
    pub dialog_token: u8,
    /// The answer.
    pub status: StatusCode,
    /// Parameters.
    pub parameters: BlockAckParameters,
    /// Inactivity timeout in time units (1024 µs); 0: none.
    pub timeout_tu: u16,
}

/// A DELBA.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Delba {
    /// The sender is the originator (transmitter of the data); else it is the recipient.
    pub initiator: bool,
    /// TID.
    pub tid: u8,
    /// Why.
    pub reason: ReasonCode,
}

/// A TWT Setup, by the first TWT element of the frame (9.4.2.199).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TwtSetup {
    /// Asked for by the requester; else the responder's answer (or offer).
    pub is_request: bool,
    /// TWT Setup Command: 0 request, 1 suggest, 2 demand, 3 TWT grouping, 4 accept, 5 alternate, 6 dictate, 7 reject.
    pub command: u8,
    /// Negotiation Type 2 or 3: membership in a broadcast TWT, not an agreement of two stations.
    pub is_broadcast: bool,
}

/// An Action frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Action {
    /// Block Ack, 0.
    AddbaRequest(AddbaRequest),
    /// Block Ack, 1.
    AddbaResponse(AddbaResponse),
    /// Block Ack, 2.
    Delba(Delba),
    /// Spectrum Management 1, with a basic report of radar: the channel.
    RadarReport(u8),
    /// Spectrum Management 4, or Public 4 in the extended form.
    ChannelSwitch(ChannelSwitch),
    /// HT, 0: the station receives any supported width (`true`) or 20 MHz only.
    NotifyChannelWidth {
        /// Any supported width.
        any_width: bool,
    },
    /// HT, 1: the SM Power Control field, as sent.
    SmPowerSave(u8),
    /// VHT, 2.
    OperatingModeNotification(OperatingMode),
    /// Unprotected S1G, 6.
    TwtSetup(TwtSetup),
    /// Anything else, and the above where they are cut.
    Other {
        /// Category; the "error" bit 7 included.
        category: u8,
        /// Action field; `None` where the body ends before.
        action: Option<u8>,
    },
}

impl Action {
    /// Reads an Action frame's body (not encrypted, without FCS). `None` when it is empty.
    pub fn read(body: &[u8]) -> Option<Self> {
        let category = *body.first()?;
        let action = body.get(1).copied();
        let fields = body.get(2..).unwrap_or(&[]);
        let known = match (category, action) {
            (0, Some(1)) => radar(fields.get(1..).unwrap_or(&[])).map(Self::RadarReport),
            (0, Some(4)) => Elements::new(fields).find(37).and_then(ChannelSwitch::read).map(Self::ChannelSwitch),
            (3, Some(0)) => read_addba_request(fields).map(Self::AddbaRequest),
            (3, Some(1)) => read_addba_response(fields).map(Self::AddbaResponse),
            (3, Some(2)) => read_delba(fields).map(Self::Delba),
            (4, Some(4)) => ChannelSwitch::read_extended(fields).map(Self::ChannelSwitch),
            (7, Some(0)) => fields.first().map(|width| Self::NotifyChannelWidth { any_width: *width == 1 }),
            (7, Some(1)) => fields.first().copied().map(Self::SmPowerSave),
            (22, Some(6)) => {
                Elements::new(fields.get(1..).unwrap_or(&[])).find(216).and_then(read_twt).map(Self::TwtSetup)
            }
            (21, Some(2)) => fields.first().map(|mode| Self::OperatingModeNotification(OperatingMode(*mode))),
            _ => None,
        };
        Some(known.unwrap_or(Self::Other { category, action }))
    }

    /// Bytes that [`Self::emit`] appends.
    pub fn buffer_len(&self) -> usize {
        let mut out = Vec::with_capacity(16);
        self.emit(&mut out);
        out.len()
    }

    /// Appends the body of a frame that makes, answers or ends a Block Ack agreement, or announces a channel switch; of
    /// others category and action only, as far as they are known.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let halves = |halves: &[u16], out: &mut Vec<u8>| out.extend(halves.iter().flat_map(|half| half.to_le_bytes()));
        out.push(self.category());
        match self {
            Self::AddbaRequest(AddbaRequest { dialog_token, parameters, timeout_tu, start }) => {
                out.extend_from_slice(&[0, *dialog_token]);
                halves(&[parameters.raw, *timeout_tu, start.value() << 4], out);
                parameters.emit_extension(out);
            }
            Self::AddbaResponse(AddbaResponse { dialog_token, status, parameters, timeout_tu }) => {
                out.extend_from_slice(&[1, *dialog_token]);
                halves(&[status.number(), parameters.raw, *timeout_tu], out);
                parameters.emit_extension(out);
            }
            Self::Delba(Delba { initiator, tid, reason }) => {
                out.push(2);
                halves(&[u16::from(*initiator) << 11 | u16::from(*tid & 0xf) << 12, reason.number()], out);
            }
            Self::ChannelSwitch(switch) => {
                out.push(4);
                match switch.operating_class {
                    None => switch.emit_element(out),
                    Some(class) => {
                        out.extend_from_slice(&[u8::from(switch.quiet), class, switch.channel, switch.count]);
                    }
                }
            }
            Self::RadarReport(channel) => {
                out.extend_from_slice(&[
                    1,
                    0,
                    MEASUREMENT_REPORT,
                    15,
                    0,
                    0,
                    0,
                    *channel,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    0,
                    RADAR,
                ]);
            }
            Self::NotifyChannelWidth { any_width } => out.extend_from_slice(&[0, u8::from(*any_width)]),
            Self::SmPowerSave(control) => out.extend_from_slice(&[1, *control]),
            Self::OperatingModeNotification(mode) => out.extend_from_slice(&[2, mode.0]),
            Self::TwtSetup(_) => out.push(6),
            Self::Other { action, .. } => out.extend(*action),
        }
    }

    /// The category; its "error" bit 7 included.
    pub const fn category(&self) -> u8 {
        match self {
            Self::AddbaRequest(_) | Self::AddbaResponse(_) | Self::Delba(_) => 3,
            Self::RadarReport(_) => 0,
            Self::ChannelSwitch(switch) if switch.operating_class.is_none() => 0,
            Self::ChannelSwitch(_) => 4,
            Self::NotifyChannelWidth { .. } | Self::SmPowerSave(_) => 7,
            Self::OperatingModeNotification(_) => 21,
            Self::TwtSetup(_) => 22,
            Self::Other { category, .. } => *category,
        }
    }

    /// Its category is robust: with management frame protection such frames are sent protected ([`is_robust`]).
    pub const fn is_robust(&self) -> bool {
        is_robust(self.category())
    }
}

/// Measurement Report element, and the bit of a basic report's map that stands for radar (9.4.2.21.2).
const MEASUREMENT_REPORT: u8 = 39;
const RADAR: u8 = 0x08;

/// The channel of the first basic report that has radar: token, mode, type 0, channel, start time, duration, map.
fn radar(elements: &[u8]) -> Option<u8> {
    Elements::new(elements).filter(|element| element.id == MEASUREMENT_REPORT).find_map(|element| match element.data {
        [_, 0, 0, channel, _, _, _, _, _, _, _, _, _, _, map, ..] if map & RADAR != 0 => Some(*channel),
        _ => None,
    })
}

/// Whether a category of Action frames is robust (IEEE Std 802.11-2020, table 9-51; 30 to 37 from IEEE Std 802.11ax-2021,
/// 802.11az-2022 and 802.11be-2024). Reserved categories and those of errors (128 and above) are not.
pub const fn is_robust(category: u8) -> bool {
    // Not robust: Public 4, HT 7, Unprotected WNM 11, Self-protected 15, Unprotected DMG 20, VHT 21, S1G 22, HE 30, EHT 36,
    // Vendor-specific 127. TDLS (12) goes in data frames, 17 is reserved for the Wi-Fi Alliance.
    matches!(category, 0..=3 | 5 | 6 | 8..=10 | 13 | 14 | 16 | 18 | 19 | 23..=27 | 31 | 33 | 34 | 37 | 126)
}

fn read_twt(data: &[u8]) -> Option<TwtSetup> {
    let (control, request) = (*data.first()?, *data.get(1)?);
    Some(TwtSetup { is_request: request & 1 != 0, command: request >> 1 & 7, is_broadcast: control >> 2 & 2 != 0 })
}

fn read_addba_request(fields: &[u8]) -> Option<AddbaRequest> {
    Some(AddbaRequest {
        dialog_token: *fields.first()?,
        parameters: BlockAckParameters::new(u16_at(fields, 1)?, fields.get(7..)?),
        timeout_tu: u16_at(fields, 3)?,
        start: Seq::new(u16_at(fields, 5)? >> 4),
    })
}

fn read_addba_response(fields: &[u8]) -> Option<AddbaResponse> {
    Some(AddbaResponse {
        dialog_token: *fields.first()?,
        status: StatusCode::from(u16_at(fields, 1)?),
        parameters: BlockAckParameters::new(u16_at(fields, 3)?, fields.get(7..)?),
        timeout_tu: u16_at(fields, 5)?,
    })
}

fn read_delba(fields: &[u8]) -> Option<Delba> {
    let parameters = u16_at(fields, 0)?;
    Some(Delba {
        initiator: parameters & 0x0800 != 0,
        tid: (parameters >> 12) as u8,
        reason: ReasonCode::from(u16_at(fields, 2)?),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn an_agreement_from_request_to_end() {
        // Token 9; A-MSDU, immediate, TID 5, 64 buffers; timeout 5000; SSC of sequence 0x123.
        let request = Action::read(&[3, 0, 9, 0x17, 0x10, 0x88, 0x13, 0x30, 0x12]).unwrap();
        let Action::AddbaRequest(request) = request else { panic!("{request:?}") };
        assert_eq!((request.dialog_token, request.timeout_tu, request.start), (9, 5000, Seq::new(0x123)));
        let parameters = request.parameters;
        assert!(parameters.amsdu_supported && parameters.immediate);
        assert_eq!((parameters.tid, parameters.buffer_size), (5, 64));
        let response = Action::read(&[3, 1, 9, 37, 0, 0x16, 0x10, 0, 0, 159, 1, 0x20]).unwrap();
        let Action::AddbaResponse(response) = response else { panic!("{response:?}") };
        assert_eq!((response.status, response.parameters.buffer_size), (StatusCode::RequestDeclined, 64 + 1024));
        assert!(!response.parameters.amsdu_supported);
        let end = Action::read(&[3, 2, 0x00, 0x58, 39, 0]).unwrap();
        assert_eq!(end, Action::Delba(Delba { initiator: true, tid: 5, reason: ReasonCode::Timeout }));
    }

    #[test]
    fn changes_of_channel_and_mode() {
        let switch = |operating_class| ChannelSwitch { quiet: true, operating_class, channel: 11, count: 3 };
        assert_eq!(Action::read(&[0, 4, 37, 3, 1, 11, 3]), Some(Action::ChannelSwitch(switch(None))));
        assert_eq!(Action::read(&[4, 4, 1, 81, 11, 3]), Some(Action::ChannelSwitch(switch(Some(81)))));
        let report = |map| [&[0, 1, 9, 39, 15, 9, 0, 0, 52], [0; 10].as_slice(), &[map]].concat();
        assert_eq!(Action::read(&report(0x0a)), Some(Action::RadarReport(52)));
        assert_eq!(Action::read(&report(0x02)), Some(Action::Other { category: 0, action: Some(1) }), "no radar");
        assert_eq!(Action::read(&[7, 0, 0]), Some(Action::NotifyChannelWidth { any_width: false }));
        assert_eq!(Action::read(&[21, 2, 0x12]), Some(Action::OperatingModeNotification(OperatingMode(0x12))));
    }

    #[test]
    fn twt_is_agreed_on() {
        let setup = |bytes: &[u8]| match Action::read(bytes) {
            Some(Action::TwtSetup(setup)) => (setup.is_request, setup.command, setup.is_broadcast),
            other => panic!("{other:?}"),
        };
        assert_eq!(setup(&[22, 6, 1, 216, 3, 0, 0x01, 0]), (true, 0, false));
        assert_eq!(setup(&[22, 6, 1, 216, 3, 0, 0x08, 0]), (false, 4, false), "accepted");
        assert_eq!(setup(&[22, 6, 1, 216, 3, 0x0c, 0x0e, 0]), (false, 7, true), "broadcast, rejected");
        assert_eq!(Action::read(&[22, 6, 1]), Some(Action::Other { category: 22, action: Some(6) }));
    }

    #[test]
    fn public_ht_and_vht_actions_are_not_robust() {
        let robust = |body: &[u8]| Action::read(body).unwrap().is_robust();
        assert!(robust(&[3, 0, 9, 0x17, 0x10, 0, 0, 0x30, 0x12]) && robust(&[3, 2, 0, 0x58, 39, 0]) && robust(&[3]));
        assert!(robust(&[0, 4, 37, 3, 1, 11, 3]) && robust(&[10, 7]) && robust(&[5, 0]) && robust(&[126, 0]));
        assert!(!robust(&[4, 4, 1, 81, 11, 3]), "Public, Extended Channel Switch Announcement");
        assert!(!robust(&[7, 0, 0]) && !robust(&[21, 2, 0x12]) && !robust(&[21, 0]), "HT, VHT");
        assert!(!robust(&[127, 0x00, 0x17, 0xf2]) && !robust(&[30, 0]) && !robust(&[36, 0]), "vendor, HE, EHT");
        assert!(!robust(&[131, 0]), "an error returns the frame");
    }

    #[test]
    fn cut_and_unknown_actions_keep_their_category() {
        assert_eq!(Action::read(&[3, 0, 9]), Some(Action::Other { category: 3, action: Some(0) }));
        assert_eq!(Action::read(&[127]), Some(Action::Other { category: 127, action: None }));
        assert_eq!(Action::read(&[]), None);
    }

    prop_compose! {
        fn parameters()(raw: u16, thousands in 0u16..8) -> BlockAckParameters {
            let extension = [id::ADDBA_EXTENSION, 1, (thousands as u8) << 5];
            BlockAckParameters::new(raw, if thousands > 0 { &extension } else { &[] })
        }
    }

    fn actions() -> impl Strategy<Value = Action> {
        let switch = (any::<[bool; 2]>(), any::<[u8; 3]>()).prop_map(|([quiet, extended], [class, channel, count])| {
            let operating_class = extended.then_some(class);
            Action::ChannelSwitch(ChannelSwitch { quiet, operating_class, channel, count })
        });
        prop_oneof![
            (any::<u8>(), parameters(), any::<[u16; 2]>()).prop_map(
                |(dialog_token, parameters, [timeout_tu, start])| {
                    Action::AddbaRequest(AddbaRequest { dialog_token, parameters, timeout_tu, start: Seq::new(start) })
                }
            ),
            (any::<u8>(), parameters(), any::<[u16; 2]>()).prop_map(
                |(dialog_token, parameters, [timeout_tu, status])| {
                    let status = StatusCode::from(status);
                    Action::AddbaResponse(AddbaResponse { dialog_token, status, parameters, timeout_tu })
                }
            ),
            (any::<bool>(), 0u8..16, any::<u16>()).prop_map(|(initiator, tid, reason)| {
                Action::Delba(Delba { initiator, tid, reason: ReasonCode::from(reason) })
            }),
            switch,
            any::<bool>().prop_map(|any_width| Action::NotifyChannelWidth { any_width }),
            any::<u8>().prop_map(Action::SmPowerSave),
            any::<u8>().prop_map(|mode| Action::OperatingModeNotification(OperatingMode(mode))),
        ]
    }

    proptest! {
        #[test]
        fn what_is_written_comes_back(action in actions()) {
            let mut out = Vec::new();
            action.emit(&mut out);
            prop_assert_eq!(out.len(), action.buffer_len());
            prop_assert_eq!(Action::read(&out), Some(action));
        }

        #[test]
        fn made_parameters_are_those_that_are_read(tid in 0u8..16, buffer_size in 0u16..1024, amsdu: bool) {
            let made = BlockAckParameters::immediate(tid, buffer_size, amsdu);
            prop_assert_eq!(BlockAckParameters::new(made.raw, &[]), made);
        }

        #[test]
        fn never_panics(category in 0u8..25, action in 0u8..8, rest in proptest::collection::vec(any::<u8>(), 0..40)) {
            let _ = Action::read(&[&[category, action][..], &rest].concat());
        }
    }
}
