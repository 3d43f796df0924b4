//! Writes a capture in which no two frames have the same addresses, to see what that does to memory:
//! `cargo run --release -p txop-air --example flood -- OUT [FRAMES]`.
//!
//! Probe requests, beacons with random names, QoS data and Block Acks, 10 µs apart, each with a right FCS.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::path::Path;

use capture::{PcapSettings, PcapWriter};
use wire::linktype::LinkType;

/// Radiotap: TSFT, flags (FCS at the end), rate 6 Mb/s, channel 1.
const RADIOTAP: [u8; 22] = [0, 0, 22, 0, 0x0f, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10, 12, 0x6c, 0x09, 0xc0, 0];

/// Numbers that look random (splitmix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    /// A unicast address.
    fn address(&mut self) -> [u8; 6] {
        let b = self.next().to_le_bytes();
        [b[0] & 0xfe, b[1], b[2], b[3], b[4], b[5]]
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let out = arguments.next().ok_or("usage: flood OUT [FRAMES]")?;
    let frames: u64 = arguments.next().map_or(Ok(4_000_000), |n| n.parse())?;
    let file = BufWriter::with_capacity(1 << 20, File::create(Path::new(&out))?);
    let mut writer = PcapWriter::new(file, PcapSettings::micros(LinkType::IEEE802_11_RADIOTAP))?;
    let mut random = Random(1);
    let mut record = Vec::new();
    for number in 0..frames {
        let time_us = 1_000_000 + number * 10;
        record.clear();
        record.extend(RADIOTAP);
        record[8..16].copy_from_slice(&time_us.to_le_bytes());
        let (a, b, c) = (random.address(), random.address(), random.address());
        let sequence = ((number as u16) << 4).to_le_bytes();
        match number % 4 {
            0 => {
                record.extend([0x40, 0, 0, 0, 255, 255, 255, 255, 255, 255]);
                record.extend(a.iter().chain(&[255; 6]).chain(&sequence));
                record.extend([0, 6].iter().chain(&c));
            }
            1 => {
                record.extend([0x80, 0, 0, 0, 255, 255, 255, 255, 255, 255]);
                record.extend(a.iter().chain(&a).chain(&sequence));
                record.extend([0; 8]);
                record.extend([100, 0, 1, 4, 0, 6].iter().chain(&c));
                record.extend([1, 4, 0x82, 0x84, 0x8b, 0x96, 3, 1, 1]);
            }
            2 => {
                record.extend([0x88, 1, 0, 0].iter().chain(&b).chain(&a).chain(&c).chain(&sequence));
                record.extend([0, 0, 0xaa, 0xaa, 3, 0, 0, 0, 8, 0]);
                record.extend([0; 40]);
            }
            _ => {
                record.extend([0x94, 0, 0, 0].iter().chain(&b).chain(&a));
                record.extend([5, 0].iter().chain(&sequence).chain(&[255; 8]));
            }
        }
        let fcs = wire::fcs::fcs32(&record[RADIOTAP.len()..]);
        record.extend(fcs.to_le_bytes());
        writer.write(time_us as i64 * 1_000, record.len() as u32, &record)?;
    }
    writer.flush()?;
    Ok(())
}
