//! What the packets in data frames say of themselves: in frames without encryption, and in those that the keys given decrypt.

use std::sync::Arc;

use decrypt::{Keys, Sessions};
use wire::dhcp::Dhcp;
use wire::ieee80211::body::snap;
use wire::ieee80211::{eapol, Amsdu, DataBody, FrameControl, Header, Tdls};
use wire::ip::{Flow, TcpSegment};

use crate::frame::{Fcs, Frame};

/// Packets taken from one A-MSDU.
const MAX_SUBFRAMES: usize = 64;
/// Frame Control's Protected Frame bit.
const PROTECTED: u16 = 0x4000;

const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const ARP: u16 = 0x0806;

/// One packet out of a data frame.
#[derive(Clone, Copy, Debug)]
pub struct Packet {
    /// Who it is from and to; `None` for ARP.
    pub flow: Option<Flow>,
    /// Bytes by the length in the IP header (of ARP by the lengths of its addresses), as far as they are there.
    pub len: u32,
    /// TCP header.
    pub tcp: Option<TcpSegment>,
    /// DHCP message.
    pub dhcp: Option<Dhcp>,
}

/// Reads packets, and decrypts where there are keys.
#[derive(Debug)]
pub struct PacketReader {
    sessions: Option<Sessions>,
    counts: bool,
}

impl PacketReader {
    /// `keys`: `None` for the packets of frames without encryption alone.
    pub fn new(keys: Option<Arc<Keys>>) -> Self {
        Self { sessions: keys.map(Sessions::new), counts: true }
    }

    /// Whether what comes now counts; what does not is only learned from.
    pub fn count(&mut self, counts: bool) {
        self.counts = counts;
        if let Some(sessions) = &mut self.sessions {
            sessions.count(counts);
        }
    }

    /// What happened to the protected frames.
    pub fn sessions(&self) -> Option<&Sessions> {
        self.sessions.as_ref()
    }

    /// Records a network's name.
    pub fn network(&mut self, header: &Header, ssid: &[u8]) {
        if let (Some(sessions), Some(bssid)) = (&mut self.sessions, header.addr3) {
            sessions.network(bssid, ssid);
        }
    }

    /// Reads the body of a data frame; what was hidden in `frame` is known afterwards if it was decrypted. How many packets
    /// there are now at the end of `packets`, and the TDLS frame that was decrypted.
    pub fn read(&mut self, frame: &mut Frame, body: &[u8], packets: &mut Vec<Packet>) -> (usize, Option<Tdls>) {
        let header = frame.header;
        let before = packets.len();
        if !header.fc.protected() {
            if frame.radio.bad_fcs == Some(true) {
                return (0, None);
            }
            let Some(data) = DataBody::divide(&header, body, body.len(), None) else { return (0, None) };
            let body = body.get(data.mesh_len..).unwrap_or_default();
            if let (Some(eapol::ETHERTYPE), Some(sessions)) = (data.ethertype, &mut self.sessions) {
                sessions.eapol(&header, body.get(data.llc_len..).unwrap_or_default());
            }
            if self.counts {
                read_packets(&header, body, packets);
            }
            return (packets.len() - before, None);
        }
        let Some(sessions) = self.sessions.as_mut().filter(|_| frame.fcs != Fcs::Bad) else { return (0, None) };
        let Ok(clear) = sessions.decrypt(&header, (!frame.is_cut).then_some(body)) else { return (0, None) };
        let open = Header { fc: FrameControl(header.fc.0 & !PROTECTED), ..header };
        let Some(data) = DataBody::divide(&open, clear, clear.len(), None) else { return (0, None) };
        frame.payload_len = data.payload_len as u32;
        if let (true, Some(msdus)) = (header.is_amsdu(), data.msdus) {
            frame.amsdu_subframes = msdus;
        }
        if self.counts {
            read_packets(&open, clear, packets);
        }
        let is_tdls = data.ethertype == Some(Tdls::ETHERTYPE);
        let tdls = if is_tdls { clear.get(data.llc_len..).and_then(Tdls::read) } else { None };
        if data.ethertype == Some(eapol::ETHERTYPE) {
            // A handshake under the keys of the one before. Copied, because what is learned may replace them.
            let packet = clear.get(data.llc_len..).unwrap_or_default().to_vec();
            sessions.eapol(&header, &packet);
        }
        (packets.len() - before, tdls)
    }
}

fn read_packets(header: &Header, body: &[u8], packets: &mut Vec<Packet>) {
    if header.is_amsdu() {
        for subframe in Amsdu::new(body, body.len()).take(MAX_SUBFRAMES) {
            packets.extend(packet(subframe.msdu));
        }
    } else if header.fragment == Some(0) {
        packets.extend(packet(body));
    }
}

/// The packet behind the LLC and SNAP header of an MSDU.
fn packet(msdu: &[u8]) -> Option<Packet> {
    let (ethertype, packet) = snap(msdu)?;
    match ethertype {
        IPV4 | IPV6 => {
            let flow = Flow::of(packet)?;
            let is_dhcp = flow.protocol == 17 && wire::dhcp::PORTS.contains(&flow.ports.1);
            let dhcp = if is_dhcp { wire::ip::udp_payload(packet).and_then(Dhcp::parse) } else { None };
            let len = wire::ip::packet_len(packet) as u32;
            Some(Packet { flow: Some(flow), len, tcp: TcpSegment::of(packet), dhcp })
        }
        ARP => {
            // RFC 826: eight bytes, and both ends' hardware and protocol addresses.
            let [hardware, protocol] = [4, 5].map(|at| packet.get(at).copied().map_or(0, usize::from));
            let len = packet.len().min(8 + 2 * (hardware + protocol)) as u32;
            Some(Packet { flow: None, len, tcp: None, dhcp: None })
        }
        _ => None,
    }
}
