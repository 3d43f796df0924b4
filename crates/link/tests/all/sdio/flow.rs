//! A bulk transfer with a fixed window and one ACK for two segments, and a ping: enough for a link that loses nothing.

use txop_link::engine::{HostId, Link, Offer, Packet, Sink};
use txop_link::sdio::{SdioCounters, SdioLink, SdioSettings, NEAR_HOST};

/// Payload of a segment, bytes.
const PAYLOAD: u64 = 1_448;

#[derive(Clone, Debug)]
pub struct Sized {
    pub size: usize,
    pub tag: u64,
}

impl Packet for Sized {
    fn size_bytes(&self) -> usize {
        self.size
    }

    fn write_bytes(&self, _out: &mut Vec<u8>, _limit: usize) {}
}

#[derive(Default)]
struct Out(Vec<(HostId, Sized)>);

impl Sink<Sized> for Out {
    fn deliver(&mut self, _at_ns: u64, to: HostId, packet: Sized) {
        self.0.push((to, packet));
    }
}

fn other(host: HostId) -> HostId {
    if host == HostId::SERVER {
        NEAR_HOST
    } else {
        HostId::SERVER
    }
}

fn at_next(link: &mut SdioLink<Sized>, out: &mut Out) -> u64 {
    let now_ns = link.next_event().expect("polling or packets");
    out.0.clear();
    link.advance(now_ns, out);
    now_ns
}

/// A transfer.
pub struct Transfer {
    /// Goodput, 1000 bytes/s.
    pub kb_s: f64,
    pub seconds: f64,
    /// Times that something reached the receiver: its process waits once before each.
    pub waits: u64,
    pub counters: SdioCounters,
}

/// Transfers `megabytes` (2^20 bytes) to `to`.
pub fn transfer(settings: SdioSettings, to: HostId, window: u64, megabytes: u64) -> Transfer {
    let mut link = SdioLink::new(settings).expect("settings");
    let segments = megabytes * 1_048_576 / PAYLOAD;
    let (mut sent, mut received, mut acked) = (0, 0, 0);
    let (mut now_ns, mut waits) = (0, 0);
    let mut out = Out::default();
    while acked < segments {
        while sent < segments && sent - acked < window {
            let packet = Sized { size: 1_500, tag: sent };
            assert_eq!(link.offer(now_ns, other(to), to, packet), Offer::Accepted);
            sent += 1;
        }
        now_ns = at_next(&mut link, &mut out);
        waits += u64::from(out.0.iter().any(|(host, _)| *host == to));
        for (host, packet) in std::mem::take(&mut out.0) {
            if host != to {
                acked = acked.max(packet.tag);
                continue;
            }
            assert_eq!(packet.tag, received);
            received += 1;
            if received % 2 == 0 || received == segments {
                assert_eq!(link.offer(now_ns, to, other(to), Sized { size: 52, tag: received }), Offer::Accepted);
            }
        }
    }
    let seconds = now_ns as f64 / 1e9;
    Transfer { kb_s: (segments * PAYLOAD) as f64 / 1e3 / seconds, seconds, waits, counters: link.counters() }
}

/// Round-trip times of `count` pings of 84 bytes from `from`, one in a second and a bit, in ms.
pub fn ping(settings: SdioSettings, from: HostId, count: u64) -> Vec<f64> {
    let mut link = SdioLink::new(settings).expect("settings");
    let mut out = Out::default();
    (1..=count)
        .map(|tag| {
            let sent_ns = tag * 1_003_700_000;
            link.advance(sent_ns, &mut out);
            link.offer(sent_ns, from, other(from), Sized { size: 84, tag });
            loop {
                let now_ns = at_next(&mut link, &mut out);
                for (host, packet) in std::mem::take(&mut out.0) {
                    if host == from {
                        assert_eq!(packet.tag, tag);
                        return (now_ns - sent_ns) as f64 / 1e6;
                    }
                    link.offer(now_ns, host, from, packet);
                }
            }
        })
        .collect()
}
