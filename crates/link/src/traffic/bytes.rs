//! A modelled packet as links carry it, and as it would be on a wire, for captures.

use wire::internet_checksum::{checksum, sum};

use super::segment::{Body, Ecn, Modelled, Segment, IPV4_HEADER, UDP_HEADER};
use crate::engine::{AccessCategory, HostId, Packet};

/// The port that servers listen on: iperf3's.
const SERVER_PORT: u16 = 5201;
/// Port of the first flow's client; the next flow has the next.
const CLIENT_PORT: u16 = 40_000;
/// How far the receive window is shifted (RFC 7323, 2.2).
const WINDOW_SCALE: u8 = 7;

impl Packet for Modelled {
    fn size_bytes(&self) -> usize {
        let header = match &self.body {
            Body::Tcp(segment) => segment.header_bytes(),
            Body::Udp { .. } | Body::Echo { .. } => UDP_HEADER,
        };
        IPV4_HEADER + header + self.payload_bytes()
    }

    fn flow(&self) -> u32 {
        self.flow.wrapping_mul(2).wrapping_add(u32::from(self.back))
    }

    fn category(&self) -> AccessCategory {
        self.category
    }

    fn mark_congestion(&mut self) -> bool {
        if self.ecn == Ecn::NotCapable {
            return false;
        }
        self.ecn = Ecn::Congested;
        true
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        write(self, out, limit);
    }
}

/// Appends `packet` from its IP header on, `limit` bytes at most. Checksums are right; payloads are zeros.
fn write(packet: &Modelled, out: &mut Vec<u8>, limit: usize) {
    let begin = out.len();
    let total = packet.size_bytes();
    let (protocol, from, to) = match packet.body {
        Body::Tcp(_) => (6, address(packet.from), address(packet.to)),
        Body::Udp { .. } => (17, address(packet.from), address(packet.to)),
        Body::Echo { .. } => (1, address(packet.from), address(packet.to)),
    };
    let ecn = match packet.ecn {
        Ecn::NotCapable => 0,
        Ecn::Capable => 2,
        Ecn::Congested => 3,
    };
    // Version 4, header of 5 words; no identification, Don't Fragment; 64 hops.
    out.extend([0x45, dscp(packet.category) << 2 | ecn]);
    out.extend((total as u16).to_be_bytes());
    out.extend([0, 0, 0x40, 0, 64, protocol, 0, 0]);
    out.extend(from);
    out.extend(to);
    let check = checksum(0, &out[begin..begin + IPV4_HEADER]);
    out[begin + 10..begin + 12].copy_from_slice(&check.to_be_bytes());

    let body = begin + IPV4_HEADER;
    let client = CLIENT_PORT.wrapping_add((packet.flow % 20_000) as u16);
    let (source, destination) = if packet.back { (SERVER_PORT, client) } else { (client, SERVER_PORT) };
    let checksum_at = match &packet.body {
        Body::Tcp(segment) => {
            write_tcp(packet, segment, source, destination, out);
            16
        }
        Body::Udp { .. } => {
            out.extend(source.to_be_bytes());
            out.extend(destination.to_be_bytes());
            out.extend(((total - IPV4_HEADER) as u16).to_be_bytes());
            out.extend([0, 0]);
            6
        }
        Body::Echo { reply, sequence, .. } => {
            out.extend([if *reply { 0 } else { 8 }, 0, 0, 0]);
            out.extend((packet.flow as u16).to_be_bytes());
            out.extend((*sequence as u16).to_be_bytes());
            2
        }
    };
    // The pseudo-header (RFC 9293, 3.1) does not count for ICMP. The payload is zeros and adds nothing.
    let mut pseudo = 0;
    if protocol != 1 {
        pseudo += sum(&from) + sum(&to) + u64::from(protocol) + (total - IPV4_HEADER) as u64;
    }
    let mut check = checksum(pseudo, &out[body..]);
    if protocol == 17 && check == 0 {
        check = 0xffff;
    }
    out[body + checksum_at..body + checksum_at + 2].copy_from_slice(&check.to_be_bytes());
    out.resize(begin + total.min(limit), 0);
}

fn write_tcp(packet: &Modelled, segment: &Segment, source: u16, destination: u16, out: &mut Vec<u8>) {
    let flags = segment.flags;
    let byte = |number: u64| 1u32.wrapping_add((number.wrapping_mul(u64::from(segment.mss))) as u32);
    let acknowledges = !flags.syn || packet.back;
    out.extend(source.to_be_bytes());
    out.extend(destination.to_be_bytes());
    out.extend(if flags.syn { 0 } else { byte(segment.number) }.to_be_bytes());
    out.extend(if acknowledges { byte(segment.ack) } else { 0 }.to_be_bytes());
    let bits = u8::from(flags.syn) << 1
        | u8::from(segment.data) << 3
        | u8::from(acknowledges) << 4
        | u8::from(flags.ece) << 6
        | u8::from(flags.cwr) << 7;
    out.extend([(segment.header_bytes() as u8 / 4) << 4, bits]);
    // The window of a SYN is never scaled.
    let window = if flags.syn { segment.window_bytes } else { segment.window_bytes >> WINDOW_SCALE };
    out.extend((window.min(0xffff) as u16).to_be_bytes());
    out.extend([0, 0, 0, 0]);
    if flags.syn {
        out.extend([2, 4]);
        out.extend((segment.mss + 12).to_be_bytes());
        out.extend([4, 2]);
    } else {
        out.extend([1, 1]);
    }
    out.extend([8, 10]);
    out.extend(segment.ts_value.to_be_bytes());
    out.extend(segment.ts_echo.to_be_bytes());
    if flags.syn {
        out.extend([1, 3, 3, WINDOW_SCALE]);
    } else if !segment.sack().is_empty() {
        out.extend([1, 1, 5, 2 + 8 * segment.sack().len() as u8]);
        for &(first, end) in segment.sack() {
            out.extend(byte(first).to_be_bytes());
            out.extend(byte(end).to_be_bytes());
        }
    }
}

/// Host n has an address of 10.0.0.0/8: 10.0.0.1 is the server.
fn address(host: HostId) -> [u8; 4] {
    let [high, low] = (host.0).to_be_bytes();
    let [b, c, d] = if low == 255 { [1, high, 255] } else { [0, high, low + 1] };
    [10, b, c, d]
}

/// CS1, CS0, AF41, EF: what mac80211 maps to the four categories (by their upper three bits: 1, 0, 4, 5) apart from EF,
/// which `net/wireless/util.c` maps to Voice since Linux 6.8 (RFC 8325, 4.3).
fn dscp(category: AccessCategory) -> u8 {
    match category {
        AccessCategory::Background => 8,
        AccessCategory::BestEffort => 0,
        AccessCategory::Video => 34,
        AccessCategory::Voice => 46,
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::traffic::segment::{Flags, SACK_BLOCKS};

    fn bodies() -> impl Strategy<Value = Body> {
        let tcp = (any::<u64>(), any::<u64>(), 88u16..1449, any::<[bool; 4]>(), 0u8..4, any::<[u32; 3]>());
        let tcp = tcp.prop_map(|(number, ack, mss, [data, syn, ece, cwr], blocks, [a, b, c])| {
            Body::Tcp(Segment {
                number,
                ack,
                mss,
                data: data && !syn,
                flags: Flags { syn, ece, cwr },
                ts_value: a,
                ts_echo: b,
                window_bytes: c,
                sack_blocks: if syn { 0 } else { blocks },
                sack: [(u64::from(a), u64::from(b)); SACK_BLOCKS],
            })
        });
        let udp = (any::<u64>(), 1u16..1473).prop_map(|(sequence, payload)| Body::Udp { sequence, payload });
        let echo = (any::<bool>(), any::<u64>(), 0u16..1473).prop_map(|(reply, sequence, payload)| Body::Echo {
            reply,
            sequence,
            payload,
            asked_ns: 0,
        });
        prop_oneof![tcp, udp, echo]
    }

    proptest! {
        /// The lengths in the headers are those of the packet, and all checksums add up.
        #[test]
        fn headers_are_right(body in bodies(), back in any::<bool>(), from in 0u16..600, to in 0u16..600) {
            let packet = Modelled {
                flow: 7, back, from: HostId(from), to: HostId(to), category: AccessCategory::Voice,
                ecn: Ecn::Capable, sent_ns: 0, body,
            };
            let mut bytes = vec![0xaa];
            packet.write_bytes(&mut bytes, usize::MAX);
            let bytes = &bytes[1..];
            prop_assert_eq!(bytes.len(), packet.size_bytes());
            prop_assert_eq!(usize::from(u16::from_be_bytes([bytes[2], bytes[3]])), bytes.len());
            prop_assert_eq!(bytes[1], 46 << 2 | 2);
            prop_assert_eq!(checksum(0, &bytes[..20]), 0);
            let transport = &bytes[20..];
            let pseudo = sum(&bytes[12..20]) + u64::from(bytes[9]) + transport.len() as u64;
            prop_assert_eq!(checksum(if bytes[9] == 1 { 0 } else { pseudo }, transport), 0);
            if bytes[9] == 6 {
                let header = usize::from(transport[12] >> 4) * 4;
                prop_assert_eq!(header + packet.payload_bytes(), transport.len());
            }
            let mut short = Vec::new();
            packet.write_bytes(&mut short, 33);
            prop_assert_eq!(&short[..], &bytes[..bytes.len().min(33)]);
        }
    }

    #[test]
    fn hosts_have_addresses_of_their_own() {
        let mut all: Vec<_> = (0..=u16::MAX).map(|host| address(HostId(host))).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 65536);
        assert_eq!(address(HostId::SERVER), [10, 0, 0, 1]);
    }
}
