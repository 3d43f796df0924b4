//! Stage one: a captured record becomes a [`Frame`], a fixed-size value with everything later stages need.
//!
//! Bodies that matter (Block Ack, management) are decoded here too and travel beside the frames in the same
//! [`Batch`], so that the second stage never sees the capture's bytes.

use capture::{Order, Place};
use wire::ieee80211::{self as mac, BlockAck, BlockAckReq, Header, MacAddr};
use wire::linktype::LinkType;
use wire::radio::RadioInfo;

use crate::ciphers::Ciphers;
use crate::eapol::Eapol;
use crate::few::Few;
use crate::frame::{vouched, AckedTid, Detail, Fcs, Frame, NO_DETAIL};
use crate::namer::{Named, Namer};
use crate::network::{is_counted, Networks, Recall};
use crate::packet::{Packet, PacketReader};
use crate::repeats::{Repeats, Said};

/// EtherType of EAPOL (IEEE Std 802.1X-2020, 11.1.4).
const EAPOL: u16 = 0x888e;

/// LLC header and OUI of an Ethernet type behind it.
const SNAP: [u8; 6] = [0xaa, 0xaa, 3, 0, 0, 0];
/// Length of the headers of CCMP, GCMP and TKIP, and the bit that they have in common (12.5.2.2, 12.5.3.2).
const CIPHER_HEADER: usize = 8;
const EXTENDED_IV: u8 = 0x20;
/// Two addresses and a length before each MSDU of an A-MSDU (9.3.2.2).
const SUBFRAME_HEADER: usize = 14;

/// Channels counted.
pub const MAX_CHANNELS: usize = 256;

/// Frames by the centre of their primary channel, MHz.
pub type Channels = Few<u16, MAX_CHANNELS>;

/// Frames on their way from the first stage to the second.
#[derive(Default, Debug)]
pub struct Batch {
    /// Frames in capture order.
    pub frames: Vec<Frame>,
    /// Bodies, indexed by [`Frame::detail`].
    pub details: Vec<Detail>,
    /// Packets in data frames, where they were asked for.
    pub packets: Vec<Packet>,
    /// Counts of what did not become a frame.
    pub tally: Tally,
    /// Networks of all frames up to here, now and then and at the end.
    pub networks: Option<Box<Networks>>,
    /// Where all of it lies against the window of the analysis, if there is one.
    pub place: Option<Place>,
}

impl Batch {
    /// Its frames are counted: they are in the window, or there is none.
    pub fn counts(&self) -> bool {
        matches!(self.place, None | Some(Place::Inside))
    }

    /// The packets in a frame.
    pub fn packets(&self, frame: &Frame) -> &[Packet] {
        match self.details.get(frame.detail as usize) {
            Some(Detail::Packets { first, count }) => {
                let first = *first as usize;
                self.packets.get(first..first + usize::from(*count)).unwrap_or_default()
            }
            _ => &[],
        }
    }
}

impl Batch {
    /// Empties the batch for reuse.
    pub fn clear(&mut self) {
        self.frames.clear();
        self.details.clear();
        self.packets.clear();
        self.tally = Tally::default();
        self.networks = None;
        self.place = None;
    }
}

/// Records counted by the first stage.
#[derive(Clone, Debug, Default)]
pub struct Tally {
    /// 802.11 records.
    pub wlan: u64,
    /// Records of other link types.
    pub not_wlan: u64,
    /// Records with a link or MAC header that could not be read.
    pub unreadable: u64,
    /// First causes.
    pub examples: Vec<String>,
    /// Zero-length PSDUs (nothing follows the radiotap header).
    pub empty_psdus: u64,
    /// Frames cut by the snap length.
    pub cut: u64,
    /// Captured bytes.
    pub captured_bytes: u64,
    /// Receiver's flag and computed FCS disagree.
    pub fcs_disagreements: u64,
    /// Frames that end in a valid FCS, of link types that do not say whether one is there.
    pub fcs_inferred: u64,
    /// Frames of special protocols.
    pub named: Named,
    /// Records that are declared as frames without a link header, and have a radiotap header.
    pub relabelled: u64,
    /// Received whole frames with a header that leaves open whether an FCS is there.
    pub fcs_unsaid: u64,
    /// Bytes of the file passed, for progress.
    pub file_position: u64,
    /// Whether all records so far were sorted by time.
    pub order: Order,
    /// Records per link type.
    pub link_types: Few<u32, 64>,
    /// Where a channel was chosen: frames on other ones, which are in none of the other counts.
    pub elsewhere: Channels,
    /// Where a channel was chosen: frames that do not carry theirs; likewise.
    pub without_channel: u64,
}

/// The largest MPDU of any format has 11,454 bytes (IEEE 802.11-2020, table 9-25); some room for odd receivers.
const LONGEST_MPDU: usize = 16_383;

/// Causes of unreadable records kept as examples.
pub const MAX_EXAMPLES: usize = 5;

/// A record as the capture reader lends it.
#[derive(Clone, Copy, Debug)]
pub struct RawRecord<'a> {
    /// Record number from 1.
    pub number: u64,
    /// Byte offset in the file.
    pub offset: u64,
    /// Unix ns.
    pub time_ns: Option<i64>,
    /// Interface index.
    pub interface: u32,
    /// Link type.
    pub link: LinkType,
    /// Length on the wire, link header included.
    pub original_len: u32,
    /// Captured bytes.
    pub data: &'a [u8],
}

/// Decodes records; knows the latest beacons, and counts the networks, which need the frames as they come and nothing
/// of what the second stage finds out.
#[derive(Debug, Default)]
pub struct Decoder {
    radio: wire::radio::Decoder,
    fcs: wire::fcs::Checker,
    repeats: Repeats,
    ciphers: Ciphers,
    namer: Namer,
    networks: Networks,
    /// Where packets are asked for.
    pub(crate) packets: Option<Box<PacketReader>>,
}

impl Decoder {
    /// Decodes one record into `batch`.
    pub fn decode(&mut self, record: &RawRecord<'_>, batch: &mut Batch) {
        decode(record, batch, self);
    }

    /// The networks of all records so far.
    pub fn networks(&self) -> &Networks {
        &self.networks
    }
}

fn decode(record: &RawRecord<'_>, batch: &mut Batch, decoder: &mut Decoder) {
    batch.tally.link_types.add(record.link.0, 1);
    if !record.link.is_wlan() {
        batch.tally.not_wlan += 1;
        return;
    }
    batch.tally.wlan += 1;
    batch.tally.captured_bytes += record.data.len() as u64;
    let link = if is_relabelled(record) {
        batch.tally.relabelled += 1;
        LinkType::IEEE802_11_RADIOTAP
    } else {
        record.link
    };
    let radio = match decoder.radio.decode(link, record.data) {
        Ok(radio) => radio,
        Err(error) => return unreadable(record, &error, &mut batch.tally),
    };
    if radio.zero_length_psdu {
        batch.tally.empty_psdus += 1;
        return;
    }
    let mpdu = record.data.get(radio.header_len..).unwrap_or_default();
    let header = match Header::parse(mpdu, radio.data_pad) {
        Ok(header) => header,
        Err(error) => match illegible(mpdu).filter(|_| radio.bad_fcs == Some(true)) {
            Some(header) => header,
            None => return unreadable(record, &error, &mut batch.tally),
        },
    };
    let on_wire = (record.original_len as usize).max(record.data.len()).saturating_sub(radio.header_len);
    if on_wire > LONGEST_MPDU {
        let claim = format!("claims an MPDU of {on_wire} bytes, no format has more than {LONGEST_MPDU}");
        return unreadable(record, &claim, &mut batch.tally);
    }
    let cut = on_wire > mpdu.len();
    batch.tally.cut += u64::from(cut);

    let computed = if cut { None } else { decoder.fcs.check(mpdu) };
    let decrypted = computed == Some(false)
        && radio.bad_fcs == Some(false)
        && radio.fcs_included != Some(false)
        && is_decrypted(&header, mpdu);
    let (fcs, fcs_there) = match decrypted {
        true => (vouched(&radio), true),
        false => check(computed, &radio, &mut batch.tally),
    };
    let padding = usize::from(header.pad_len);
    let mpdu_len = (on_wire.saturating_sub(padding) + if fcs_there { 0 } else { 4 }) as u32;
    let body_end = if fcs_there && !cut { mpdu.len().saturating_sub(4) } else { mpdu.len() };
    let body = mpdu.get(header.header_len..body_end).unwrap_or_default();

    let Batch { frames, details, packets, tally, .. } = batch;
    frames.push(Frame {
        number: record.number,
        time_ns: record.time_ns,
        interface: record.interface,
        header,
        radio,
        fcs,
        computed_fcs: if fcs_there { computed } else { None },
        mpdu_len,
        payload_len: 0,
        is_cut: cut,
        is_wep: false,
        is_eapol: false,
        amsdu_subframes: 0,
        detail: NO_DETAIL,
    });
    // What follows is added in place: a copy of what was just written would wait for it.
    let Some(frame) = frames.last_mut() else { return };
    let networks = &mut decoder.networks;
    match read_body(frame, body, padding, details, (&mut decoder.repeats, &mut decoder.ciphers)) {
        Some((management, recall)) => {
            if let Some(name) = decoder.namer.name_again(&frame.header).filter(|_| frame.usable()) {
                tally.named.add(name, 1);
            }
            let ssid = management.capabilities.ssid.as_ref().map(|ssid| ssid.as_bytes());
            networks.repeat(frame, ssid, recall);
        }
        None if frame.header.fc.frame_type() == mac::FrameType::Management => {
            let management = match details.get(frame.detail as usize) {
                Some(Detail::Management(management)) => Some(management),
                _ => None,
            };
            if let (Some(management), true) = (management, frame.usable()) {
                if let Some(name) = decoder.namer.name(&frame.header, body, management) {
                    tally.named.add(name, 1);
                }
            }
            if is_counted(frame) {
                let ssid = management.and_then(|management| management.capabilities.ssid.as_ref());
                networks.frame(frame, ssid.map(|ssid| ssid.as_bytes()));
            }
        }
        None if is_counted(frame) => {
            let ssid = match details.get(frame.detail as usize) {
                Some(Detail::Management(management)) => management.capabilities.ssid.as_ref(),
                Some(Detail::Tdls(_)) => {
                    tally.named.add("TDLS action", 1);
                    None
                }
                _ => None,
            };
            networks.frame(frame, ssid.map(|ssid| ssid.as_bytes()));
        }
        None => {}
    }
    if let Some(reader) = &mut decoder.packets {
        read_packets(reader, frame, body, details, packets);
    }
}

/// Is it declared as a frame without a link header, although it begins with a radiotap header? Read as a frame, that would be an
/// association request with the length of the header as its duration.
#[inline]
fn is_relabelled(record: &RawRecord<'_>) -> bool {
    record.link == LinkType::IEEE802_11 && record.data.starts_with(&[0, 0]) && has_radiotap(record.data)
}

/// A radiotap header with fields that fill its length, and a frame behind it.
#[cold]
fn has_radiotap(data: &[u8]) -> bool {
    let Ok(radio) = wire::radio::decode(LinkType::IEEE802_11_RADIOTAP, data) else { return false };
    let mpdu = data.get(radio.header_len..).unwrap_or_default();
    let is_frame = Header::parse(mpdu, radio.data_pad).is_ok_and(|header| header.fc.version() == 0);
    // The header of an association request is longer than what its duration would have to say here.
    is_frame && radio.header_len >= 8 && (radio.frequency_mhz.is_some() || radio.signal_dbm.is_some())
}

/// The header of a damaged frame with a type that needs more bytes than there are: without a field that could be
/// believed. The frame was on the air all the same.
#[cold]
fn illegible(mpdu: &[u8]) -> Option<Header> {
    /// Protocol version 3, and the type with the shortest header.
    const FRAME_CONTROL: u8 = 0x0f;
    let mut header = [0; 10];
    *header.first_mut()? = FRAME_CONTROL;
    Header::parse(&header, false).ok().filter(|header| header.header_len <= mpdu.len())
}

/// Decrypts where there are keys, and hands packets over.
#[cold]
fn read_packets(
    reader: &mut PacketReader,
    frame: &mut Frame,
    body: &[u8],
    details: &mut Vec<Detail>,
    packets: &mut Vec<Packet>,
) {
    if let Some(Detail::Management(management)) = details.get(frame.detail as usize) {
        if let (Some(ssid), true) = (management.capabilities.ssid.as_ref(), frame.usable()) {
            reader.network(&frame.header, ssid.as_bytes());
        }
    } else if frame.header.fc.carries_data() && !frame.is_foreign() {
        let first = packets.len() as u32;
        let (count, tdls) = reader.read(frame, body, packets);
        let detail = tdls.map(Detail::Tdls).or((count > 0).then_some(Detail::Packets { first, count: count as u16 }));
        if let (Some(detail), NO_DETAIL) = (detail, frame.detail) {
            frame.detail = details.len() as u32;
            details.push(detail);
        }
    }
}

fn unreadable(record: &RawRecord<'_>, error: &dyn std::fmt::Display, tally: &mut Tally) {
    tally.unreadable += 1;
    if tally.examples.len() < MAX_EXAMPLES {
        tally.examples.push(format!("record {} at byte {}: {error}", record.number, record.offset));
    }
}

/// The receiver decrypted the payload in place, and left the FCS of what had been on the air: behind the cipher's header stands
/// LLC/SNAP (IEEE Std 802.2, RFC 1042) in the clear.
#[cold]
fn is_decrypted(header: &Header, mpdu: &[u8]) -> bool {
    let fc = header.fc;
    let is_there = |at: usize| mpdu.get(at..at + SNAP.len()).is_some_and(|bytes| bytes == SNAP);
    let ext_iv = mpdu.get(header.header_len + 3).is_some_and(|byte| byte & EXTENDED_IV != 0);
    let begins = header.header_len + CIPHER_HEADER + if header.is_amsdu() { SUBFRAME_HEADER } else { 0 };
    fc.carries_data() && fc.protected() && ext_iv && is_there(begins)
}

/// FCS state, and whether the four bytes are part of the captured MPDU.
fn check(computed: Option<bool>, radio: &RadioInfo, tally: &mut Tally) -> (Fcs, bool) {
    match radio.fcs_included {
        Some(true) => {
            let flagged = radio.bad_fcs == Some(true);
            let fcs = match computed {
                Some(good) => {
                    tally.fcs_disagreements += u64::from(good == flagged && radio.bad_fcs.is_some());
                    if good && !flagged {
                        Fcs::Good
                    } else {
                        Fcs::Bad
                    }
                }
                None if flagged => Fcs::Bad,
                None if radio.bad_fcs == Some(false) => Fcs::Good,
                None => Fcs::Unknown,
            };
            (fcs, true)
        }
        Some(false) => (vouched(radio), false),
        None => {
            // A CRC-32 matches by chance once in 4 billion: when it does, the FCS is there.
            let there = computed == Some(true);
            let is_received = !radio.own_transmission;
            tally.fcs_inferred += u64::from(there && is_received);
            tally.fcs_unsaid += u64::from(computed.is_some() && is_received);
            (if there && radio.bad_fcs != Some(true) { Fcs::Good } else { vouched(radio) }, there)
        }
    }
}

/// Reads what lies behind the MAC header. Returns the contents of a management frame that repeats an earlier one.
fn read_body<'a>(
    frame: &mut Frame,
    body: &[u8],
    padding: usize,
    details: &mut Vec<Detail>,
    (repeats, ciphers): (&'a mut Repeats, &mut Ciphers),
) -> Option<(&'a mac::Management, &'a mut Recall)> {
    use mac::FrameType;
    if frame.is_foreign() {
        return None;
    }
    let mut hand_over = |detail| {
        frame.detail = details.len() as u32;
        details.push(detail);
    };
    let fc = frame.header.fc;
    match fc.frame_type() {
        FrameType::Data if fc.carries_data() => {
            let on_air = (frame.mpdu_len as usize).saturating_sub(4 + frame.header.header_len.saturating_sub(padding));
            let is_usable = frame.fcs != Fcs::Bad;
            let cipher = if fc.protected() { ciphers.of(&frame.header, body, is_usable) } else { None };
            if let Some(data) = mac::body::DataBody::divide(&frame.header, body, on_air, cipher) {
                frame.payload_len = data.payload_len as u32;
                frame.is_wep = data.cipher == Some(mac::Cipher::Wep);
                frame.is_eapol = data.ethertype == Some(EAPOL);
                if frame.is_eapol {
                    hand_over(Detail::Eapol(Eapol::read(msdu(&frame.header, body, &data))));
                } else if data.ethertype == Some(mac::Tdls::ETHERTYPE) {
                    mac::Tdls::read(msdu(&frame.header, body, &data)).map(Detail::Tdls).into_iter().for_each(hand_over);
                }
                frame.amsdu_subframes = match data.msdus {
                    _ if !frame.header.is_amsdu() => 0,
                    Some(msdus) => msdus,
                    None => u16::MAX,
                };
            }
        }
        FrameType::Control => {
            let detail = match fc.kind() {
                mac::FrameKind::BlockAck => BlockAck::parse(body).map(|ack| Detail::BlockAck(acked_tids(&ack))),
                mac::FrameKind::BlockAckReq => {
                    BlockAckReq::parse(body).map(|request| Detail::BlockAckReq(requested_tids(&request)))
                }
                _ => None,
            };
            if let Some(detail) = detail {
                hand_over(detail);
            }
        }
        FrameType::Management if frame.radio.bad_fcs != Some(true) || wants_ssid(fc.kind()) => {
            let sender = frame.header.transmitter().unwrap_or(MacAddr::ZERO);
            match repeats.read(sender, fc, body, frame.fcs != Fcs::Bad)? {
                Said::New(management) => hand_over(Detail::Management(management)),
                Said::Before(management, recall) => {
                    hand_over(Detail::Management(management.clone()));
                    return Some((management, recall));
                }
                Said::Again(management, recall) => {
                    // Every announcement counts, also where it does not count down.
                    if management.capabilities.channel_switch.is_some() {
                        hand_over(Detail::Management(management.clone()));
                    }
                    return Some((management, recall));
                }
            }
        }
        _ => {}
    }
    None
}

/// What the (first) MSDU of an unprotected frame carries behind its LLC header.
fn msdu<'a>(header: &Header, body: &'a [u8], data: &mac::body::DataBody) -> &'a [u8] {
    const LLC_SNAP_LEN: usize = 8;
    let from = |bytes: &'a [u8], at: usize| bytes.get(at..).unwrap_or_default();
    let body = from(body, data.mesh_len);
    if !header.is_amsdu() {
        return from(body, LLC_SNAP_LEN);
    }
    mac::body::Amsdu::new(body, body.len()).next().map_or(&[], |subframe| from(subframe.msdu, LLC_SNAP_LEN))
}

/// The TIDs of a Block Ack with one bit per MPDU in its bitmap.
fn acked_tids(ack: &BlockAck<'_>) -> Vec<AckedTid> {
    match (ack.tid, ack.start, ack.bitmap) {
        (Some(tid), Some(start), Some(bitmap)) if ack.bits_per_msdu == 1 => {
            vec![AckedTid { tid, aid: None, start: start.value(), bitmap }]
        }
        (None, ..) => ack
            .records()
            .filter(|record| record.bits_per_msdu == 1)
            .filter_map(|record| {
                let (start, bitmap) = record.bitmap?;
                Some(AckedTid { tid: record.tid, aid: record.aid, start: start.value(), bitmap })
            })
            .take(16)
            .collect(),
        _ => Vec::new(),
    }
}

fn requested_tids(request: &BlockAckReq<'_>) -> Vec<u8> {
    match request.tid {
        Some(tid) => vec![tid],
        None => request.records().map(|record| record.tid).take(16).collect(),
    }
}

/// Frames that give Wireshark's network rows their SSID even when the FCS is bad.
fn wants_ssid(kind: mac::FrameKind) -> bool {
    use mac::FrameKind::*;
    matches!(kind, Beacon | ProbeRequest | ProbeResponse | AssociationRequest | ReassociationRequest)
}
