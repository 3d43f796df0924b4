//! What a link looks at in an IP packet: addresses, flow, DSCP and ECN (RFC 791, RFC 8200, RFC 2474, RFC 3168).

use core::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::internet_checksum::folded;

/// EtherType of IPv4.
pub const ETHERTYPE_IPV4: u16 = 0x0800;
/// EtherType of IPv6.
pub const ETHERTYPE_IPV6: u16 = 0x86dd;

const IPV4_HEADER: usize = 20;
const IPV6_HEADER: usize = 40;
const TCP: u8 = 6;
const UDP: u8 = 17;
/// Fragment offset and "more fragments" of the IPv4 header.
const FRAGMENTED: u16 = 0x3fff;
/// ECN codepoints (RFC 3168, 5).
const NOT_ECT: u8 = 0;
const CE: u8 = 3;

/// Bytes of the fixed header, by the version in it; `None` when that is not all there.
fn header_len(packet: &[u8]) -> Option<usize> {
    let len = match packet.first()? >> 4 {
        4 => IPV4_HEADER,
        6 => IPV6_HEADER,
        _ => return None,
    };
    (packet.len() >= len).then_some(len)
}

fn ipv4_at(packet: &[u8], at: usize) -> Option<IpAddr> {
    let bytes: [u8; 4] = *packet.get(at..)?.first_chunk()?;
    Some(IpAddr::V4(Ipv4Addr::from(bytes)))
}

fn ipv6_at(packet: &[u8], at: usize) -> Option<IpAddr> {
    let bytes: [u8; 16] = *packet.get(at..)?.first_chunk()?;
    Some(IpAddr::V6(Ipv6Addr::from(bytes)))
}

fn u16_at(packet: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes(*packet.get(at..)?.first_chunk()?))
}

/// IPv6 extension headers that are passed on the way to the transport: more are in no honest packet.
const MAX_EXTENSIONS: usize = 8;

/// What is behind the fixed header of an IPv6 packet and its extension headers (RFC 8200, 4; RFC 4302 for the
/// Authentication Header).
#[derive(Clone, Copy, Debug)]
struct Ipv6Transport {
    /// Protocol number.
    protocol: u8,
    /// Where it begins.
    at: usize,
    /// The packet is a fragment.
    is_fragment: bool,
    /// The transport's header is there: not in a later fragment.
    is_first: bool,
}

impl Ipv6Transport {
    /// `None` where an extension header is cut.
    #[inline]
    fn of(packet: &[u8]) -> Option<Self> {
        let mut found = Self { protocol: *packet.get(6)?, at: IPV6_HEADER, is_fragment: false, is_first: true };
        for _ in 0..MAX_EXTENSIONS {
            let len = match found.protocol {
                // Hop-by-hop options, routing, destination options.
                0 | 43 | 60 => 8 + 8 * usize::from(*packet.get(found.at + 1)?),
                // Fragment.
                44 => {
                    let offset = u16_at(packet, found.at + 2)?;
                    found.is_fragment |= offset & 0xfff9 != 0;
                    found.is_first &= offset & 0xfff8 == 0;
                    8
                }
                // Authentication.
                51 => 8 + 4 * usize::from(*packet.get(found.at + 1)?),
                _ => return Some(found),
            };
            found.protocol = *packet.get(found.at)?;
            found.at += len;
            if !found.is_first {
                return Some(found);
            }
        }
        Some(found)
    }
}

/// Bytes of an IP packet by the length in its header, as far as they are there; all bytes where that is less than the header
/// itself. What lies behind them is padding of the link.
pub fn packet_len(packet: &[u8]) -> usize {
    let claimed = match header_len(packet) {
        Some(IPV4_HEADER) => u16_at(packet, 2).map(usize::from),
        Some(fixed) => u16_at(packet, 4).filter(|payload| *payload > 0).map(|payload| fixed + usize::from(payload)),
        None => None,
    };
    claimed.filter(|len| *len >= IPV4_HEADER).map_or(packet.len(), |len| len.min(packet.len()))
}

/// What packets of one flow have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Flow {
    /// Source address.
    pub source: IpAddr,
    /// Destination address.
    pub destination: IpAddr,
    /// Protocol number: behind IPv6 extension headers that of the transport, or where they are cut that of the first of them.
    pub protocol: u8,
    /// Source and destination port of TCP and UDP; 0 for others, and for fragments.
    pub ports: (u16, u16),
}

impl Flow {
    /// The flow of a packet; `None` for what is neither IPv4 nor IPv6, or is cut inside its header.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let fixed = header_len(packet)?;
        let (source, destination, protocol, transport) = if fixed == IPV4_HEADER {
            let whole = u16_at(packet, 6)? & FRAGMENTED == 0;
            let transport = usize::from(packet.first()? & 0x0f) * 4;
            (ipv4_at(packet, 12)?, ipv4_at(packet, 16)?, *packet.get(9)?, whole.then_some(transport))
        } else {
            let transport = Ipv6Transport::of(packet);
            let protocol = transport.map_or(*packet.get(6)?, |transport| transport.protocol);
            let whole = transport.filter(|transport| !transport.is_fragment);
            (ipv6_at(packet, 8)?, ipv6_at(packet, 24)?, protocol, whole.map(|transport| transport.at))
        };
        let at = transport.filter(|_| matches!(protocol, TCP | UDP));
        let ports = at.and_then(|at| Some((u16_at(packet, at)?, u16_at(packet, at + 2)?)));
        Some(Self { source, destination, protocol, ports: ports.unwrap_or_default() })
    }
}

/// What a TCP segment says of itself (RFC 9293, 3.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TcpSegment {
    /// Sequence number.
    pub sequence: u32,
    /// Acknowledgment number; only with [`TcpSegment::ack`] it means something.
    pub acknowledgment: u32,
    /// Flags, FIN in the lowest bit.
    pub flags: u8,
    /// Bytes of data, by the length that the IP header names.
    pub payload_len: u32,
}

impl TcpSegment {
    /// The segment in a packet; `None` for other protocols, later fragments, and where it is cut.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let fixed = header_len(packet)?;
        let (at, end) = if fixed == IPV4_HEADER {
            let is_tcp = *packet.get(9)? == TCP && u16_at(packet, 6)? & 0x1fff == 0;
            let at = usize::from(packet.first()? & 0x0f) * 4;
            (is_tcp.then_some(at)?, usize::from(u16_at(packet, 2)?))
        } else {
            let transport = Ipv6Transport::of(packet).filter(|found| found.protocol == TCP && found.is_first)?;
            (transport.at, IPV6_HEADER + usize::from(u16_at(packet, 4)?))
        };
        let header = packet.get(at..at.checked_add(14)?)?;
        let data_at = at + usize::from(header.get(12)? >> 4) * 4;
        Some(Self {
            sequence: u32::from_be_bytes(*header.get(4..)?.first_chunk()?),
            acknowledgment: u32::from_be_bytes(*header.get(8..)?.first_chunk()?),
            flags: *header.get(13)?,
            payload_len: end.saturating_sub(data_at) as u32,
        })
    }

    /// FIN.
    pub const fn fin(&self) -> bool {
        self.flags & 0x01 != 0
    }

    /// SYN.
    pub const fn syn(&self) -> bool {
        self.flags & 0x02 != 0
    }

    /// ACK.
    pub const fn ack(&self) -> bool {
        self.flags & 0x10 != 0
    }

    /// Sequence numbers it takes: its data, SYN and FIN.
    pub const fn sequence_len(&self) -> u32 {
        self.payload_len + self.syn() as u32 + self.fin() as u32
    }
}

/// The data of a UDP datagram, as far as it is there; `None` for other protocols and later fragments.
pub fn udp_payload(packet: &[u8]) -> Option<&[u8]> {
    let fixed = header_len(packet)?;
    let at = if fixed == IPV4_HEADER {
        let is_udp = *packet.get(9)? == UDP && u16_at(packet, 6)? & 0x1fff == 0;
        is_udp.then_some(usize::from(packet.first()? & 0x0f) * 4)?
    } else {
        Ipv6Transport::of(packet).filter(|found| found.protocol == UDP && found.is_first)?.at
    };
    packet.get(at + 8..)
}

/// Type of service or traffic class: DSCP (upper six bits) and ECN (lower two).
pub fn traffic_class(packet: &[u8]) -> Option<u8> {
    let [first, second] = *packet.first_chunk::<2>()?;
    match header_len(packet)? {
        IPV4_HEADER => Some(second),
        _ => Some(first << 4 | second >> 4),
    }
}

/// The 802.11 user priority that Linux gives to packets with a DSCP when the network has no QoS map of its own: RFC 8325,
/// section 4, as in cfg80211 (net/wireless/util.c, cfg80211_classify8021d, since Linux 6.8).
pub const fn user_priority(dscp: u8) -> u8 {
    match dscp & 0x3f {
        // AF11 to AF13 (high-throughput data) and CS2 (administration): best effort.
        10 | 12 | 14 | 16 => 0,
        // AF21 to AF23: low-latency data.
        18 | 20 | 22 => 3,
        // CS3 and AF31 to AF33: video.
        24 | 26 | 28 | 30 => 4,
        // VOICE-ADMIT and EF.
        44 | 46 => 6,
        // CS6: network control.
        48 => 7,
        // The precedence: the upper three bits.
        other => other >> 3,
    }
}

/// Sets Congestion Experienced and says whether the packet is ECN-capable; if it is not, nothing is changed. The checksum of
/// an IPv4 header is brought up to date (RFC 1624, equation 3).
pub fn mark_congestion(packet: &mut [u8]) -> bool {
    let Some((class, header)) = traffic_class(packet).zip(header_len(packet)) else { return false };
    match class & CE {
        NOT_ECT => return false,
        CE => return true,
        _ => {}
    }
    if header != IPV4_HEADER {
        let [_, second, ..] = packet else { return false };
        *second |= CE << 4;
        return true;
    }
    let [first, second, _, _, _, _, _, _, _, _, checksum_high, checksum_low, ..] = packet else { return false };
    let before = u16::from_be_bytes([*first, *second]);
    *second |= CE;
    let after = u16::from_be_bytes([*first, *second]);
    let checksum = u16::from_be_bytes([*checksum_high, *checksum_low]);
    let sum = u64::from(!checksum) + u64::from(!before) + u64::from(after);
    [*checksum_high, *checksum_low] = (!folded(sum)).to_be_bytes();
    true
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::internet_checksum::checksum;

    fn ipv4(class: u8, protocol: u8, ports: [u8; 4]) -> Vec<u8> {
        let mut packet = vec![0x45, class, 0, 24, 0x12, 0x34, 0x40, 0, 64, protocol, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2];
        let check = checksum(0, &packet);
        packet[10..12].copy_from_slice(&check.to_be_bytes());
        packet.extend(ports);
        packet
    }

    #[test]
    fn flows() {
        let packet = ipv4(0, TCP, [0x13, 0x88, 0, 80]);
        let flow = Flow::of(&packet).unwrap();
        assert_eq!((flow.source.to_string(), flow.destination.to_string()), ("10.0.0.1".into(), "10.0.0.2".into()));
        assert_eq!((flow.protocol, flow.ports), (TCP, (5_000, 80)));
        assert_eq!(Flow::of(&ipv4(0, 1, [8, 0, 0, 0])).unwrap().ports, (0, 0));
        let mut fragment = packet.clone();
        fragment[6] = 0x20;
        assert_eq!(Flow::of(&fragment).unwrap().ports, (0, 0));
        let mut six = vec![0; 48];
        (six[0], six[6], six[23], six[39]) = (0x60, UDP, 1, 2);
        six[40..44].copy_from_slice(&[0, 53, 0, 54]);
        let flow = Flow::of(&six).unwrap();
        assert_eq!((flow.source.to_string(), flow.ports), ("::1".into(), (53, 54)));
        assert_eq!(Flow::of(&packet[..19]), None);
        assert_eq!(Flow::of(&six[..39]), None);
    }

    #[test]
    fn a_segment_and_a_datagram() {
        let mut packet = ipv4(0, TCP, [0x13, 0x88, 0, 80]);
        packet.extend([0, 0, 0, 7, 0, 0, 0, 9, 0x60, 0x11, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1]);
        packet[3] = 20 + 24 + 100;
        let segment = TcpSegment::of(&packet).unwrap();
        assert_eq!(
            (segment.sequence, segment.acknowledgment, segment.payload_len),
            (7, 9, 100),
            "as the IP header says"
        );
        assert_eq!((segment.fin(), segment.syn(), segment.ack(), segment.sequence_len()), (true, false, true, 101));
        assert_eq!(udp_payload(&packet), None);
        let mut datagram = ipv4(0, UDP, [0, 67, 0, 68]);
        datagram.extend([0, 11, 0, 0, 1, 2, 3]);
        assert_eq!(udp_payload(&datagram), Some(&[1, 2, 3][..]));
        assert_eq!(TcpSegment::of(&datagram), None);
        datagram[7] = 1;
        assert_eq!(udp_payload(&datagram), None, "a later fragment");
    }

    /// An IPv6 packet with a fixed header that is followed by `rest`, the first part of which is a header of kind `next`.
    fn ipv6(next: u8, rest: &[u8]) -> Vec<u8> {
        let mut packet = vec![0; IPV6_HEADER];
        (packet[0], packet[5], packet[6], packet[23], packet[39]) = (0x60, rest.len() as u8, next, 1, 2);
        packet.extend(rest);
        packet
    }

    #[test]
    fn extension_headers_are_passed() {
        const HOP_BY_HOP: u8 = 0;
        let listener_report = ipv6(HOP_BY_HOP, &[58, 0, 5, 2, 0, 0, 1, 0, 143, 0, 0, 0]);
        assert_eq!(Flow::of(&listener_report).unwrap().protocol, 58, "MLDv2 is ICMPv6");
        // Destination options of 16 bytes, then an Authentication Header of 12.
        let mut options = vec![51, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, UDP, 1, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1];
        options.extend([0, 53, 0, 54, 0, 9, 0, 0, 7]);
        let datagram = ipv6(60, &options);
        assert_eq!((Flow::of(&datagram).unwrap().protocol, Flow::of(&datagram).unwrap().ports), (UDP, (53, 54)));
        assert_eq!(udp_payload(&datagram), Some(&[7][..]));
        let fragment = |offset: u8| ipv6(44, &[UDP, 0, 0, offset, 0, 0, 0, 9, 0, 53, 0, 54, 0, 9, 0, 0, 7]);
        for (offset, ports) in [(0, (53, 54)), (1, (0, 0)), (8, (0, 0))] {
            let flow = Flow::of(&fragment(offset)).unwrap();
            assert_eq!((flow.protocol, flow.ports), (UDP, ports), "offset and flag {offset}");
        }
        assert_eq!(udp_payload(&fragment(1)), Some(&[7][..]), "the first fragment has the header");
        assert_eq!(udp_payload(&fragment(8)), None, "a later one has not");
        assert_eq!(Flow::of(&ipv6(HOP_BY_HOP, &[58])).unwrap().protocol, HOP_BY_HOP, "cut");
        let endless = ipv6(HOP_BY_HOP, &[0; 200]);
        assert_eq!(Flow::of(&endless).unwrap().protocol, HOP_BY_HOP);
    }

    #[test]
    fn padding_behind_a_packet_is_not_part_of_it() {
        let mut packet = ipv4(0, UDP, [0, 53, 0, 54]);
        assert_eq!(packet_len(&packet), 24);
        packet.extend([0; 22]);
        assert_eq!(packet_len(&packet), 24);
        assert_eq!(packet_len(&packet[..22]), 22, "cut");
        packet[3] = 0;
        assert_eq!(packet_len(&packet), 46, "no length, as offloading drivers leave it");
        let mut six = ipv6(UDP, &[0; 8]);
        six.push(0);
        assert_eq!(packet_len(&six), 48);
        six[5] = 0;
        assert_eq!(packet_len(&six), 49, "a jumbogram");
        assert_eq!(packet_len(&[0x70, 0]), 2);
    }

    #[test]
    fn priorities_of_rfc_8325() {
        let rows = [(0, 0), (8, 1), (10, 0), (16, 0), (18, 3), (24, 4), (26, 4), (32, 4), (34, 4), (40, 5), (46, 6)];
        for (dscp, priority) in rows.into_iter().chain([(44, 6), (48, 7), (56, 7), (1, 0)]) {
            assert_eq!(user_priority(dscp), priority, "DSCP {dscp}");
        }
    }

    #[test]
    fn only_ecn_capable_packets_are_marked() {
        for ecn in 0..4 {
            for dscp in 0..64 {
                let mut packet = ipv4(dscp << 2 | ecn, TCP, [0; 4]);
                let before = packet.clone();
                assert_eq!(mark_congestion(&mut packet), ecn != NOT_ECT);
                assert_eq!(checksum(0, &packet[..IPV4_HEADER]), 0);
                assert_eq!(traffic_class(&packet), Some(dscp << 2 | if ecn == NOT_ECT { NOT_ECT } else { CE }));
                packet[1] = before[1];
                packet[10..12].copy_from_slice(&before[10..12]);
                assert_eq!(packet, before);
                let mut six = vec![0; 40];
                (six[0], six[1]) = (0x60 | dscp >> 2, dscp << 6 | ecn << 4 | 0x0f);
                assert_eq!(traffic_class(&six), Some(dscp << 2 | ecn));
                assert_eq!(mark_congestion(&mut six), ecn != NOT_ECT);
                assert_eq!(traffic_class(&six), Some(dscp << 2 | if ecn == NOT_ECT { NOT_ECT } else { CE }));
            }
        }
    }

    proptest::proptest! {
        #[test]
        fn any_bytes_are_read_without_a_panic(mut bytes: Vec<u8>) {
            let flow = Flow::of(&bytes);
            let _ = (TcpSegment::of(&bytes), udp_payload(&bytes));
            assert_eq!(flow.is_some(), traffic_class(&bytes).is_some());
            let len = bytes.len();
            mark_congestion(&mut bytes);
            assert_eq!(bytes.len(), len);
        }

        #[test]
        fn checksums_stay_right(header: [u8; 20], ecn in 1u8..3) {
            let mut packet = header;
            packet[0] = 0x45;
            packet[1] = packet[1] & 0xfc | ecn;
            packet[10..12].fill(0);
            let check = checksum(0, &packet);
            packet[10..12].copy_from_slice(&check.to_be_bytes());
            assert!(mark_congestion(&mut packet));
            assert_eq!(checksum(0, &packet), 0);
        }
    }
}
