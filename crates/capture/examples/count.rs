//! Records per second of each way to walk through a capture, in one run: mapped, buffered, and a bare `pcap-parser`
//! loop for comparison (plain pcap and pcapng only).
//!
//! `cargo run --release -p txop-capture --example count -- FILE...`, or `--once WAY FILE` to walk through it one time.

use std::error::Error;
use std::fs::File;
use std::hint::black_box;
use std::path::Path;
use std::time::Instant;

use pcap_parser::{create_reader, Block, PcapBlockOwned, PcapError};
use txop_capture::{Access, Options, Reader};

const ROUNDS: usize = 5;

/// Records, captured bytes, and a sum that touches the data: last bytes.
#[derive(Debug, Default, PartialEq, Eq, Clone, Copy)]
struct Count {
    records: u64,
    bytes: u64,
    last_bytes: u64,
}

impl Count {
    fn add(&mut self, data: &[u8]) {
        self.records += 1;
        self.bytes += data.len() as u64;
        self.last_bytes += data.last().map_or(0, |&byte| u64::from(byte));
    }
}

fn ours(path: &Path, access: Access) -> Result<Count, Box<dyn Error>> {
    let mut reader = Reader::open(path, Options { access, ..Options::default() })?;
    let mut count = Count::default();
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                count.add(record.data);
                black_box(record.time_ns);
            }
            Ok(None) => return Ok(count),
            Err(damage) => {
                eprintln!("{}: {damage}", path.display());
                return Ok(count);
            }
        }
    }
}

fn pcap_parser(path: &Path) -> Result<Count, Box<dyn Error>> {
    let mut reader = create_reader(1 << 20, File::open(path)?).map_err(|error| format!("{error:?}"))?;
    let mut count = Count::default();
    loop {
        match reader.next() {
            Ok((consumed, block)) => {
                match block {
                    PcapBlockOwned::Legacy(record) => {
                        count.add(record.data);
                        black_box((record.ts_sec, record.ts_usec));
                    }
                    PcapBlockOwned::NG(Block::EnhancedPacket(packet)) => {
                        // Its `data` includes the padding.
                        count.add(packet.data.get(..packet.caplen as usize).unwrap_or(packet.data));
                        black_box((packet.ts_high, packet.ts_low));
                    }
                    _ => {}
                }
                reader.consume(consumed);
            }
            Err(PcapError::Incomplete(_)) => {
                if let Err(error) = reader.refill() {
                    return Err(format!("{error:?}").into());
                }
            }
            Err(PcapError::Eof) => return Ok(count),
            Err(error) => return Err(format!("{error:?}").into()),
        }
    }
}

/// Seconds this thread has spent on a processor: on a busy machine the fairer figure. Linux only.
fn cpu_seconds() -> Option<f64> {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<u64>().ok()? as f64 / 1e9)
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(f64::NAN)
}

type Walk = fn(&Path) -> Result<Count, Box<dyn Error>>;

#[derive(Default)]
struct Rounds {
    count: Option<Count>,
    wall_s: Vec<f64>,
    cpu_s: Vec<f64>,
}

fn main() -> Result<(), Box<dyn Error>> {
    let walks: [(&str, Walk); 3] = [
        ("mapped", |path| ours(path, Access::Mapped)),
        ("buffered", |path| ours(path, Access::Buffered)),
        ("pcap-parser", pcap_parser),
    ];
    let arguments: Vec<std::ffi::OsString> = std::env::args_os().skip(1).collect();
    if let [once, way, path] = &arguments[..] {
        if once == "--once" {
            let (_, walk) = walks.iter().find(|(name, _)| way == name).ok_or("no such way")?;
            println!("{:?}", walk(Path::new(path))?);
            return Ok(());
        }
    }
    for path in &arguments {
        let path = Path::new(path);
        println!("{}: {} bytes, medians of {ROUNDS}", path.display(), std::fs::metadata(path)?.len());
        let mut results: [Rounds; 3] = Default::default();
        // Rounds interleave the ways, so that a change of the machine's load meets all of them.
        for _ in 0..ROUNDS {
            for ((name, walk), result) in walks.iter().zip(&mut results) {
                let (start, cpu_start) = (Instant::now(), cpu_seconds());
                match walk(path) {
                    Ok(count) => result.count = Some(count),
                    Err(error) => println!("  {name}: {error}"),
                }
                result.wall_s.push(start.elapsed().as_secs_f64());
                result.cpu_s.extend(cpu_start.zip(cpu_seconds()).map(|(from, to)| to - from));
            }
        }
        for ((name, _), result) in walks.iter().zip(&mut results) {
            let Some(count) = result.count else { continue };
            let (wall_s, cpu_s) = (median(&mut result.wall_s), median(&mut result.cpu_s));
            println!(
                "  {name:<12} {:>10} records, wall {wall_s:.3} s = {:>5.1} M records/s, CPU {cpu_s:.3} s = {:>5.1} M records/s, \
                 {:>5.0} MB/s (bytes {}, sum {})",
                count.records,
                count.records as f64 / wall_s / 1e6,
                count.records as f64 / cpu_s / 1e6,
                count.bytes as f64 / cpu_s / 1e6,
                count.bytes,
                count.last_bytes,
            );
        }
    }
    Ok(())
}
