//! What one transfer carries: its framing, its datagrams, and what in it breaks the rules.

use wire::pcap::ByteOrder;
use wire::usb::qmap::{self, Checksums};
use wire::usb::{ntb, realtek, rndis, Fault};

/// How datagrams are packed into transfers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Framing {
    /// Qualcomm's multiplexing and aggregation protocol.
    Qmap,
    /// One IP packet, nothing around it.
    RawIp,
    /// NCM or MBIM, 16 bit.
    Ntb16,
    /// NCM or MBIM, 32 bit.
    Ntb32,
    /// RNDIS packet messages.
    Rndis,
    /// One Ethernet frame, nothing around it.
    Ethernet,
    /// 802.11 frames with descriptors of a Realtek chip.
    Realtek,
    /// Command and status blocks of mass storage.
    MassStorage,
    /// Nothing known.
    Other,
}

impl Framing {
    /// In the order of their discriminants.
    pub const ALL: [Self; 9] = [
        Self::Qmap,
        Self::RawIp,
        Self::Ntb16,
        Self::Ntb32,
        Self::Rndis,
        Self::Ethernet,
        Self::Realtek,
        Self::MassStorage,
        Self::Other,
    ];

    /// Stable name.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Qmap => "qmap",
            Self::RawIp => "raw-ip",
            Self::Ntb16 => "ntb16",
            Self::Ntb32 => "ntb32",
            Self::Rndis => "rndis",
            Self::Ethernet => "ethernet",
            Self::Realtek => "realtek",
            Self::MassStorage => "mass-storage",
            Self::Other => "other",
        }
    }

    /// Its transfers begin with bytes that others hardly begin with, so that single ones are evidence.
    pub const fn has_signature(self) -> bool {
        !matches!(self, Self::Qmap | Self::RawIp | Self::Ethernet)
    }

    /// It carries network datagrams.
    pub const fn is_network(self) -> bool {
        !matches!(self, Self::MassStorage | Self::Other)
    }
}

/// What is known of the device already, which decides doubtful cases.
#[derive(Clone, Copy, Debug, Default)]
pub struct Hints {
    /// Transfers of this endpoint were QMAP before.
    pub qmap: bool,
    /// Transfers of this endpoint were RNDIS before.
    pub rndis: bool,
    /// The device answers Realtek's register requests.
    pub realtek: bool,
}

/// What was found in a transfer.
#[derive(Clone, Debug, Default)]
pub struct Found {
    /// Datagrams seen.
    pub datagrams: u64,
    /// All datagrams of the transfer are known: it is not cut, and breaks no rule.
    pub whole: bool,
    /// Datagrams that were not seen, by the length of their table, which was cut, or by the number of packets in the first descriptor.
    pub unseen: u64,
    /// With those, all datagrams of the transfer are counted.
    pub by_table: bool,
    /// The block's table ends before its length says, or the number in the first descriptor is not that of the packets.
    pub has_room: bool,
    /// Bytes after the last datagram seen, when not whole.
    pub rest: u64,
    /// Bytes of the datagrams seen.
    pub payload: u64,
    /// Bytes of headers and tables.
    pub headers: u64,
    /// Bytes of the largest datagram with its own headers.
    pub largest: u64,
    /// Datagrams that are pure acknowledgements, those that are not, and those that cannot be determined.
    pub acks: [u64; 3],
    /// Protocol commands.
    pub commands: u64,
    /// Connections or sessions, as bits.
    pub mux: [u64; 4],
    /// Sequence number of the block.
    pub sequence: Option<u16>,
    /// An Ethernet frame with the same source and destination.
    pub same_addresses: bool,
    /// The first fault.
    pub fault: Option<Fault>,
}

impl Found {
    /// The capture cut it, and what is there keeps the rules.
    pub fn is_cut(&self) -> bool {
        !self.whole && self.fault.is_none()
    }

    fn judge(&mut self, datagram: &[u8], ethernet: bool) {
        let slot = match pure_ack(datagram, ethernet) {
            Some(true) => 0,
            Some(false) => 1,
            None => 2,
        };
        if let Some(count) = self.acks.get_mut(slot) {
            *count += 1;
        }
    }

    fn take(&mut self, payload: usize, overhead: usize) {
        self.datagrams += 1;
        self.payload += payload as u64;
        self.headers += overhead as u64;
        self.largest = self.largest.max((payload + overhead) as u64);
    }

    fn mux(&mut self, id: u8) {
        if let Some(word) = self.mux.get_mut(usize::from(id >> 6)) {
            *word |= 1 << (id & 63);
        }
    }

    fn single(len: usize, datagram: &[u8], ethernet: bool) -> Self {
        let mut found = Self { whole: true, ..Self::default() };
        found.take(len, 0);
        found.judge(datagram, ethernet);
        found
    }
}

/// Looks into a transfer of `len` bytes of which `data` was captured; `is_in`: towards the host.
pub fn inspect(data: &[u8], len: usize, is_in: bool, hints: Hints) -> (Framing, Found) {
    let data = data.get(..len).unwrap_or(data);
    if let Some(header) = ntb::Header::parse(data) {
        return block(&header, data, len);
    }
    if rndis::is_packet(data, len) || (hints.rndis && data.starts_with(&rndis::PACKET_MSG.to_le_bytes())) {
        return (Framing::Rndis, rndis_messages(data, len));
    }
    if let Some(frame_len) = realtek::tx_frame_len(data, len).filter(|_| !is_in) {
        let mut found = Found { whole: true, ..Found::default() };
        found.take(frame_len, len - frame_len);
        found.acks = [0, 0, 1];
        return (Framing::Realtek, found);
    }
    if ip_len(data) == Some(len) {
        return (Framing::RawIp, Found::single(len, data, false));
    }
    if let Some(trailer) = looks_like_qmap(data, len) {
        return (Framing::Qmap, qmap_chain(data, len, trailer));
    }
    if is_ethernet(data, len) {
        let mut found = Found::single(len, data, true);
        found.same_addresses = data.get(..6) == data.get(6..12);
        return (Framing::Ethernet, found);
    }
    if (len == 31 && data.starts_with(b"USBC")) || (len == 13 && data.starts_with(b"USBS")) {
        return (Framing::MassStorage, Found { whole: true, ..Found::default() });
    }
    if hints.realtek && is_in {
        return (Framing::Realtek, received(data, len));
    }
    if hints.qmap {
        return (Framing::Qmap, qmap_chain(data, len, Checksums::None));
    }
    (Framing::Other, Found::default())
}

fn block(header: &ntb::Header, data: &[u8], len: usize) -> (Framing, Found) {
    let framing = if header.width == ntb::Width::Bits16 { Framing::Ntb16 } else { Framing::Ntb32 };
    let parsed = ntb::parse(header, data, len);
    let mut found = Found {
        whole: !parsed.is_cut && parsed.unseen == 0 && parsed.faults.is_empty(),
        unseen: parsed.unseen as u64,
        by_table: !parsed.is_cut && parsed.unseen > 0 && parsed.faults.is_empty(),
        has_room: parsed.has_room,
        headers: parsed.overhead as u64,
        sequence: Some(header.sequence),
        fault: parsed.faults.first().copied(),
        ..Found::default()
    };
    for datagram in &parsed.datagrams {
        let ethernet = matches!(datagram.content, ntb::Content::Ethernet | ntb::Content::EthernetWithCrc);
        if let ntb::Content::Ip(session) | ntb::Content::Stream(session) = datagram.content {
            found.mux(session);
        }
        found.take(datagram.len, 0);
        let end = (datagram.offset + datagram.len).min(data.len());
        found.judge(data.get(datagram.offset..end).unwrap_or_default(), ethernet);
    }
    if found.is_cut() {
        found.rest = (len as u64).saturating_sub(found.headers + found.payload);
    }
    (framing, found)
}

fn rndis_messages(data: &[u8], len: usize) -> Found {
    let mut found = Found::default();
    let mut walk = rndis::Walk::new(data, len);
    for message in walk.by_ref() {
        match message {
            Ok(message) => {
                found.take(message.payload_len, message.len - message.payload_len);
                found.judge(message.payload, true);
            }
            Err(fault) => found.fault = Some(fault),
        }
    }
    end(&mut found, walk.next_offset(), len);
    found
}

fn received(data: &[u8], len: usize) -> Found {
    let mut found = Found::default();
    let mut walk = realtek::RxWalk::new(data, len);
    while let Some(packet) = walk.next() {
        match packet {
            Ok(packet) if packet.report != 0 => {
                // To the driver, not for the network.
                found.commands += 1;
                found.headers += (packet.overhead + packet.frame_len) as u64;
            }
            Ok(packet) => {
                found.take(packet.frame_len, packet.overhead);
                // With what lies before the next one: so much of a cut transfer is one packet.
                found.largest = found.largest.max((walk.next_offset() - packet.offset) as u64);
                found.acks = [0, 0, found.datagrams];
            }
            Err(fault) => found.fault = Some(fault),
        }
    }
    end(&mut found, walk.next_offset(), len);
    if let (Some(packets), None) = (realtek::rx_packets(data).map(u64::from), found.fault) {
        let seen = found.datagrams + found.commands;
        let more = packets.saturating_sub(seen);
        if found.whole {
            found.has_room = packets != seen;
        } else if found.commands == 0 && (1..=found.rest.div_ceil(realtek::RX_ALIGNMENT as u64)).contains(&more) {
            (found.unseen, found.by_table) = (more, true);
        } else {
            // Reports are packets, too.
            found.has_room = true;
        }
    }
    found
}

/// A fault ends the walk: what was before it was seen, and the transfer is not whole.
fn end(found: &mut Found, offset: usize, len: usize) {
    found.whole = found.fault.is_none() && offset >= len;
    found.rest = if found.whole || found.fault.is_some() { 0 } else { (len - offset) as u64 };
}

fn qmap_chain(data: &[u8], len: usize, checksums: Checksums) -> Found {
    let mut found = Found::default();
    let mut walk = qmap::Walk::new(data, len, checksums);
    for item in walk.by_ref() {
        match item {
            Ok(item) if item.header.is_command => {
                found.commands += 1;
                found.headers += (item.overhead + item.payload_len) as u64;
            }
            Ok(item) => {
                found.mux(item.header.mux_id);
                found.take(item.payload_len, item.overhead);
                found.judge(item.payload, false);
            }
            Err(fault) => found.fault = Some(fault),
        }
    }
    end(&mut found, walk.next_offset(), len);
    found
}

/// Whether a transfer begins with a QMAP header in front of an IP packet of the length that the header says, and where
/// its checksums are.
fn looks_like_qmap(data: &[u8], len: usize) -> Option<Checksums> {
    let first = qmap::Walk::new(data, len, Checksums::None).next()?.ok()?;
    if first.header.is_command {
        // Commands are acknowledged, and their first byte is one of few.
        let known = first.payload.first().copied().and_then(qmap::command_name).is_some();
        return (known && first.header.length >= 12).then_some(Checksums::None);
    }
    let fits = |checksums| {
        let first = qmap::Walk::new(data, len, checksums).next()?.ok()?;
        (ip_len(first.payload)? == first.payload_len).then_some(checksums)
    };
    let is_clean = |&checksums: &Checksums| qmap::Walk::new(data, len, checksums).all(|item| item.is_ok());
    let behind = || fits(Checksums::Behind).filter(is_clean);
    fits(Checksums::None).filter(is_clean).or_else(behind).or_else(|| fits(Checksums::Before)).or(fits(Checksums::None))
}

/// Bytes of the IP packet at the start of `data`, by its own header.
pub fn ip_len(data: &[u8]) -> Option<usize> {
    match data.first()? >> 4 {
        4 if data.first()? & 0xf >= 5 => ByteOrder::Big.u16_at(data, 2).map(usize::from).filter(|len| *len >= 20),
        6 => ByteOrder::Big.u16_at(data, 4).map(|len| usize::from(len) + 40),
        _ => None,
    }
}

/// Ethernet with a payload that fits: an IP packet of the right length, ARP, or a VLAN tag before either.
pub fn is_ethernet(data: &[u8], len: usize) -> bool {
    let Some(kind) = ByteOrder::Big.u16_at(data, 12) else { return false };
    let Some(room) = len.checked_sub(14) else { return false };
    match kind {
        // Short frames are padded to 60 bytes; a driver may add a byte to avoid a zero-length packet.
        0x0800 | 0x86dd => {
            data.get(14..).and_then(ip_len).is_some_and(|ip| ip <= room && (room <= ip + 1 || len <= 64))
        }
        0x0806 => data.get(14..18) == Some(&[0, 1, 8, 0]) && room >= 28,
        0x8100 => room >= 24,
        _ => false,
    }
}

/// Whether a datagram is a TCP segment without data that only acknowledges; `None` when too little was captured.
fn pure_ack(datagram: &[u8], ethernet: bool) -> Option<bool> {
    let ip = if ethernet {
        if !matches!(ByteOrder::Big.u16_at(datagram, 12)?, 0x0800 | 0x86dd) {
            return Some(false);
        }
        datagram.get(14..)?
    } else {
        datagram
    };
    let first = *ip.first()?;
    let (protocol, header_len) = match first >> 4 {
        4 => (*ip.get(9)?, usize::from(first & 0xf) * 4),
        6 => (*ip.get(6)?, 40),
        _ => return Some(false),
    };
    if protocol != 6 {
        return Some(false);
    }
    let tcp = ip.get(header_len..)?;
    let tcp_header = usize::from(tcp.get(12)? >> 4) * 4;
    let flags = tcp.get(13)?;
    let only_ack = flags & 0x17 == 0x10; // of FIN, SYN, RST and ACK only ACK
    Some(only_ack && ip_len(ip)? == header_len + tcp_header)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(data: usize, flags: u8) -> Vec<u8> {
        let mut ip = vec![0; 40 + data];
        ip[0] = 0x45;
        ip[2..4].copy_from_slice(&((40 + data) as u16).to_be_bytes());
        ip[9] = 6;
        ip[32] = 0x50;
        ip[33] = flags;
        ip
    }

    fn qmap_of(datagrams: &[Vec<u8>]) -> Vec<u8> {
        let mut out = Vec::new();
        for datagram in datagrams {
            let header = qmap::Header::for_datagram(1, datagram.len()).unwrap();
            out.extend(header.to_bytes());
            out.extend(datagram);
            out.resize(out.len() + usize::from(header.padding), 0);
        }
        out
    }

    #[test]
    fn raw_ip_qmap_and_ethernet_are_told_apart() {
        let (ack, data) = (tcp(0, 0x10), tcp(101, 0x18));
        let framing = |bytes: &[u8]| inspect(bytes, bytes.len(), false, Hints::default()).0;
        assert_eq!(framing(&ack), Framing::RawIp);
        assert_eq!(framing(&[&[2; 12][..], &[8, 0], &data[..]].concat()), Framing::Ethernet);
        let aggregate = qmap_of(&[ack.clone(), data, ack]);
        let (framing, found) = inspect(&aggregate, aggregate.len(), false, Hints::default());
        assert_eq!((framing, found.datagrams, found.whole, found.acks), (Framing::Qmap, 3, true, [2, 1, 0]));
        assert_eq!(aggregate.len() as u64, found.payload + found.headers + 3);
    }

    #[test]
    fn a_syn_is_no_pure_acknowledgement() {
        assert_eq!(pure_ack(&tcp(0, 0x12), false), Some(false));
        assert_eq!(pure_ack(&tcp(0, 0x10), false), Some(true));
        assert_eq!(pure_ack(&tcp(1, 0x10), false), Some(false));
        assert_eq!(pure_ack(&tcp(0, 0x10)[..32], false), None);
    }

    #[test]
    fn version_4_uplink_headers_are_not_payload() {
        let datagram = tcp(0, 0x10);
        let mut bytes = qmap::Header::for_datagram(1, datagram.len()).unwrap().to_bytes().to_vec();
        bytes.extend([0, 0, 0, 0]);
        bytes.extend(&datagram);
        let (framing, found) = inspect(&bytes, bytes.len(), false, Hints::default());
        assert_eq!((framing, found.payload, found.headers, found.acks), (Framing::Qmap, 40, 8, [1, 0, 0]));
    }

    #[test]
    fn reports_of_a_realtek_chip_are_commands() {
        let mut transfer = realtek::rx_descriptor(16, 0).to_vec();
        transfer.resize(40, 0);
        let hints = Hints { realtek: true, ..Hints::default() };
        let (_, found) = inspect(&transfer, 40, true, hints);
        assert_eq!((found.datagrams, found.commands, found.payload, found.whole), (1, 0, 16, true));
        transfer[13] = 2 << 6;
        let (framing, found) = inspect(&transfer, 40, true, hints);
        assert_eq!((framing, found.datagrams, found.commands), (Framing::Realtek, 0, 1));
        assert_eq!((found.payload, found.headers, found.acks, found.whole), (0, 40, [0; 3], true));
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_inspected(bytes: Vec<u8>, longer in 0usize..70_000, is_in: bool, qmap: bool, realtek: bool) {
            let len = bytes.len() + longer;
            let (_, found) = inspect(&bytes, len, is_in, Hints { qmap, realtek, rndis: qmap });
            assert!(found.rest <= len as u64);
            assert_eq!(found.acks.iter().sum::<u64>(), found.datagrams);
        }
    }
}
