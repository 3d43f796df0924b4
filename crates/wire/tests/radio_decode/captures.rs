//! Reads the records of capture files, with an independent reader.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

use pcap_parser::traits::PcapNGPacketBlock;
use pcap_parser::{create_reader, Block, PcapBlockOwned, PcapError};

/// One captured packet: link type and bytes.
pub type Record = (u32, Vec<u8>);

/// Compares all files, one worker for each processor; each worker's outcomes are added up, then those of all.
pub fn compare_all<O: Default + Send>(mut files: Vec<PathBuf>, compare: fn(&mut O, &Path), add: fn(O, O) -> O) -> O {
    // The largest are taken first, so that no worker is left alone with one at the end.
    files.sort_by_key(|path| path.metadata().map_or(0, |metadata| metadata.len()));
    let files = Mutex::new(files);
    let threads = std::thread::available_parallelism().map_or(1, usize::from);
    std::thread::scope(|scope| {
        let work = || {
            let mut outcome = O::default();
            loop {
                let next = files.lock().expect("no panic in a worker").pop();
                let Some(path) = next else { return outcome };
                compare(&mut outcome, &path);
            }
        };
        let workers: Vec<_> = (0..threads).map(|_| scope.spawn(work)).collect();
        workers.into_iter().map(|worker| worker.join().expect("a worker")).fold(O::default(), add)
    })
}

/// All records up to the first unreadable one; `None` for a file that is not pcap or pcapng.
pub fn records(path: &Path) -> Option<Vec<Record>> {
    let mut bytes = std::fs::read(path).expect("capture is readable");
    if bytes.starts_with(&[0x1f, 0x8b]) {
        bytes = Command::new("gzip").arg("-dc").arg(path).output().expect("gzip runs").stdout;
    }
    let mut reader = create_reader(bytes.len().max(65536), std::io::Cursor::new(&bytes)).ok()?;
    let mut file_link = 0;
    let mut interfaces: Vec<u32> = Vec::new();
    let mut records = Vec::new();
    loop {
        let consumed = match reader.next() {
            Ok((consumed, block)) => {
                match block {
                    PcapBlockOwned::LegacyHeader(header) => file_link = header.network.0 as u32 & 0x03ff_ffff,
                    PcapBlockOwned::Legacy(packet) => records.push((file_link, packet.data.to_vec())),
                    PcapBlockOwned::NG(Block::SectionHeader(_)) => interfaces.clear(),
                    PcapBlockOwned::NG(Block::InterfaceDescription(interface)) => {
                        interfaces.push(interface.linktype.0 as u32);
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        let link = interfaces.get(packet.if_id as usize).copied().unwrap_or(0);
                        records.push((link, packet.packet_data().to_vec()));
                    }
                    PcapBlockOwned::NG(Block::SimplePacket(packet)) => {
                        records.push((interfaces.first().copied().unwrap_or(0), packet.packet_data().to_vec()));
                    }
                    PcapBlockOwned::NG(_) => {}
                }
                consumed
            }
            Err(PcapError::Incomplete(_)) => {
                if reader.refill().is_err() || reader.reader_exhausted() {
                    return Some(records);
                }
                continue;
            }
            Err(_) => return Some(records),
        };
        reader.consume(consumed);
    }
}

/// A classic pcap file of one link type.
pub fn pcap_file(link: u32, packets: &[Vec<u8>]) -> Vec<u8> {
    let mut file = Vec::new();
    for word in [0xa1b2_c3d4, 0x0004_0002, 0, 0, 65535, link] {
        file.extend_from_slice(&u32::to_le_bytes(word));
    }
    for packet in packets {
        let len = packet.len() as u32;
        for word in [1_700_000_000, 0, len, len] {
            file.extend_from_slice(&u32::to_le_bytes(word));
        }
        file.extend_from_slice(packet);
    }
    file
}
