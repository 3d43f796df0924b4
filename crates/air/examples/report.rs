//! Prints the report of one capture as JSON: `cargo run --release --example report FILE`.

use std::io::{stdout, BufWriter, Write};
use std::path::Path;

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: report FILE");
        std::process::exit(2);
    };
    let started = std::time::Instant::now();
    match txop_air::analyze(Path::new(&path), Default::default(), Default::default(), &mut ()) {
        Ok(report) => {
            eprintln!("{} frames in {:.3} s", report.frames, started.elapsed().as_secs_f64());
            let mut out = BufWriter::with_capacity(1 << 16, stdout().lock());
            serde_json::to_writer(&mut out, &report).expect("a report is plain data, and the output is open");
            out.flush().expect("the output is open");
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(2);
        }
    }
}
