//! How packets lie in a transfer: how long it becomes, and its bytes.

use wire::usb::ntb::Width;
use wire::usb::ntb_layout::Layout;
use wire::usb::qmap;

use crate::engine::Packet;
use crate::modem::settings::{Framing, ModemSettings};

/// Bytes of an Ethernet header.
const ETHERNET_HEADER: usize = 14;
/// Multiplexed connection of everything (`mux_id 1`).
const MUX_ID: u8 = 1;
/// QMAP version 5's checksum header: type 2, checksum valid (rmnet.rst).
const CHECKSUM_HEADER_5: [u8; qmap::CHECKSUM_HEADER] = [2 << 1, 0x80, 0, 0];

/// How packets lie in the transfers of one direction.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Encoding {
    /// The packet is the transfer.
    RawIp,
    /// A chain. `before` bytes in front of each packet; Linux sends no padding up (`RMNET_MAP_NO_PAD_BYTES`), modems pad what
    /// they send to four bytes.
    Qmap { version: u8, pads: bool, trailer: bool },
    /// A block.
    Ntb { layout: Layout, ethernet: bool },
}

impl Encoding {
    /// Towards the modem.
    pub(crate) fn uplink(settings: &ModemSettings) -> Self {
        let driver = &settings.driver;
        Self::new(driver.framing, driver.qmap_version, false, driver.max_datagrams)
    }

    /// Towards the host.
    pub(crate) fn downlink(settings: &ModemSettings) -> Self {
        let driver = &settings.driver;
        Self::new(driver.framing, driver.qmap_version, true, settings.device.downlink_max_datagrams)
    }

    fn new(framing: Framing, version: u8, down: bool, room: u32) -> Self {
        let ntb = |width, ethernet: bool| {
            // wNdpOutDivisor 4 and wNdpOutPayloadRemainder 0, which cdc_ncm shifts so that the IP header is aligned.
            let remainder = if ethernet { 2 } else { 0 };
            Self::Ntb { layout: Layout { width, room: room as usize, align: 4, remainder }, ethernet }
        };
        match framing {
            Framing::RawIp => Self::RawIp,
            Framing::Qmap => Self::Qmap { version, pads: down, trailer: down && version == 4 },
            Framing::Ncm16 => ntb(Width::Bits16, true),
            Framing::Ncm32 => ntb(Width::Bits32, true),
            Framing::Mbim16 => ntb(Width::Bits16, false),
        }
    }

    /// Length of a transfer with nothing in it.
    pub(crate) const fn empty_len(&self) -> usize {
        match self {
            Self::RawIp | Self::Qmap { .. } => 0,
            Self::Ntb { layout, .. } => layout.head_len(),
        }
    }

    /// Length of a transfer of `len` bytes once a packet of `size` has been added.
    pub(crate) const fn grown(&self, len: usize, size: usize) -> usize {
        match *self {
            Self::RawIp => len + size,
            Self::Qmap { version, pads, trailer } => {
                let header = if version == 1 || (version == 4 && pads) { qmap::HEADER } else { 2 * qmap::HEADER };
                let padded = if pads { size.next_multiple_of(4) } else { size };
                len + header + padded + if trailer { qmap::CHECKSUM_TRAILER } else { 0 }
            }
            Self::Ntb { ref layout, ethernet } => {
                layout.next_offset(len) + size + if ethernet { ETHERNET_HEADER } else { 0 }
            }
        }
    }

    /// Length of a transfer with one packet of `size`.
    pub(crate) const fn single(&self, size: usize) -> usize {
        self.grown(self.empty_len(), size)
    }

    /// The bytes of a transfer of `len` bytes, padding at its end included.
    pub(crate) fn write<'a, P: Packet + 'a>(
        &self,
        packets: impl Iterator<Item = &'a P>,
        sequence: u16,
        len: usize,
        out: &mut Vec<u8>,
    ) {
        out.clear();
        match *self {
            Self::RawIp => packets.for_each(|packet| append(packet, out)),
            Self::Qmap { version, pads, trailer } => {
                packets.for_each(|packet| append_qmap(packet, version, pads, trailer, out));
            }
            Self::Ntb { ref layout, ethernet } => append_ntb(packets, layout, ethernet, sequence, len, out),
        }
        out.resize(len, 0);
    }
}

/// Appends a packet, whatever it writes, in its full length.
fn append<P: Packet>(packet: &P, out: &mut Vec<u8>) {
    let end = out.len() + packet.size_bytes();
    packet.write_bytes(out, packet.size_bytes());
    out.resize(end, 0);
}

fn append_qmap<P: Packet>(packet: &P, version: u8, pads: bool, trailer: bool, out: &mut Vec<u8>) {
    let size = packet.size_bytes();
    let padding = if pads { size.next_multiple_of(4) - size } else { 0 };
    let header = qmap::Header {
        is_command: false,
        has_next: version == 5,
        padding: padding as u8,
        mux_id: MUX_ID,
        length: (size + padding) as u16,
    };
    out.extend(header.to_bytes());
    match version {
        5 => out.extend(CHECKSUM_HEADER_5),
        // rmnet counts the version 4 checksum header in no length (rmnet_map_add_map_header). All zeros: no offload asked for.
        4 if !pads => out.extend([0; qmap::UPLINK_CHECKSUM_HEADER]),
        _ => {}
    }
    append(packet, out);
    out.resize(out.len() + padding, 0);
    if trailer {
        // Valid, from byte 0, the whole of it.
        let [high, low] = (size as u16).to_be_bytes();
        out.extend([0, 1, 0, 0, high, low, 0, 0]);
    }
}

fn append_ntb<'a, P: Packet + 'a>(
    packets: impl Iterator<Item = &'a P>,
    layout: &Layout,
    ethernet: bool,
    sequence: u16,
    len: usize,
    out: &mut Vec<u8>,
) {
    out.resize(layout.head_len(), 0);
    let mut places = Vec::new();
    for packet in packets {
        out.resize(layout.next_offset(out.len()), 0);
        let start = out.len();
        if ethernet {
            // Locally administered addresses 02::01 and 02::02, and the EtherType by the version of IP.
            out.extend([2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
            let at = out.len() + 2;
            out.extend([0x08, 0x00]);
            append(packet, out);
            if out.get(at).is_some_and(|byte| byte >> 4 == 6) {
                out[at - 2..at].copy_from_slice(&[0x86, 0xdd]);
            }
        } else {
            append(packet, out);
        }
        places.push((start, out.len() - start));
    }
    let signature = if ethernet { *b"NCM0" } else { *b"IPS\0" };
    let mut head = Vec::with_capacity(layout.head_len());
    // The aggregator keeps to the room of the table and the width, so this always is `Some`.
    if layout.write_head(signature, sequence, len, &places, &mut head).is_some() {
        out[..head.len()].copy_from_slice(&head);
    }
}
