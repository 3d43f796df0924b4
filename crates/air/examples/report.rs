//! Prints the report of one capture as JSON: `cargo run --release --example report FILE`.

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
            println!("{}", serde_json::to_string_pretty(&report).expect("a report is plain data"));
        }
        Err(error) => {
            eprintln!("{path}: {error}");
            std::process::exit(2);
        }
    }
}
