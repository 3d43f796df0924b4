//! Transfers taken apart and put together.

use wire::internet_checksum;
use wire::usb::qmap::{ChecksumHeader, ChecksumTrailer, Header, UplinkChecksumHeader, Walk, HEADER};

use super::checksum;
use super::format::{DataFormat, Packing};
use crate::functions::channels::Channels;

/// What a transfer from the host holds.
#[derive(Debug, Default)]
pub(super) struct Taken {
    /// Datagrams for the network, with the connection they came over.
    pub(super) datagrams: Vec<Vec<u8>>,
    /// All datagrams, those of unknown connections too.
    pub(super) all: usize,
    pub(super) commands: u64,
    pub(super) other_connections: u64,
    pub(super) faults: u64,
    /// Checksums that were asked for and filled in.
    pub(super) checksums: u64,
}

/// Takes a transfer from the host apart.
pub(super) fn take(format: &DataFormat, channels: &mut Channels, data: &[u8]) -> Taken {
    let mut taken = Taken::default();
    let mut send = |taken: &mut Taken, mux_id: Option<u8>, packet: &[u8], wants_checksum: bool| {
        taken.all += 1;
        if !channels.learn(mux_id, packet) {
            taken.other_connections += 1;
            return;
        }
        let mut packet = packet.to_vec();
        if wants_checksum && checksum::fill(&mut packet) {
            taken.checksums += 1;
        }
        taken.datagrams.push(packet);
    };
    if format.from_host == Packing::RawIp {
        send(&mut taken, None, data, false);
        return taken;
    }
    for item in Walk::new(data, data.len(), format.from_host.checksums_from_host()) {
        match item {
            Ok(item) if item.header.is_command => taken.commands += 1,
            Ok(item) => {
                let behind = data.get(item.offset + HEADER..).and_then(<[u8]>::first_chunk);
                let wants_checksum = behind.is_some_and(|&bytes| match format.from_host {
                    Packing::QmapV4 => UplinkChecksumHeader::from_bytes(bytes).is_wanted,
                    Packing::QmapV5 if item.header.has_next => ChecksumHeader::from_bytes(bytes).is_set,
                    _ => false,
                });
                send(&mut taken, Some(item.header.mux_id), item.payload, wants_checksum);
            }
            Err(_) => taken.faults += 1,
        }
    }
    taken
}

/// Length of a transfer to the host with a datagram more.
pub(super) const fn grow(packing: Packing, end: usize, len: usize) -> usize {
    let beside = match packing {
        Packing::QmapV4 => ChecksumTrailer::LEN,
        Packing::QmapV5 => ChecksumHeader::LEN,
        Packing::RawIp | Packing::Qmap => 0,
    };
    end + HEADER + len.next_multiple_of(4) + beside
}

/// Appends a datagram to a transfer to the host.
pub(super) fn put(packing: Packing, mux_id: u8, packet: &[u8], transfer: &mut Vec<u8>) {
    let Some(mut header) = Header::for_datagram(mux_id, packet.len()).filter(|_| packing != Packing::RawIp) else {
        transfer.extend_from_slice(packet);
        return;
    };
    header.has_next = packing == Packing::QmapV5;
    transfer.extend(header.to_bytes());
    if packing == Packing::QmapV5 {
        transfer.extend(ChecksumHeader { is_set: checksum::is_right(packet) }.to_bytes());
    }
    transfer.extend_from_slice(packet);
    transfer.resize(transfer.len() + usize::from(header.padding), 0);
    if packing == Packing::QmapV4 {
        let trailer = ChecksumTrailer {
            is_valid: true,
            start: 0,
            // The header has room for it.
            len: packet.len() as u16,
            checksum: internet_checksum::checksum(0, packet),
        };
        transfer.extend(trailer.to_bytes());
    }
}
