//! The report of a capture as JSON: `cargo run -p txop-bus --example bus -- FILE`; with `--quiet` only the time it took.

use std::path::Path;
use std::time::Instant;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let quiet = arguments.iter().any(|argument| argument == "--quiet");
    for file in arguments.iter().filter(|argument| *argument != "--quiet") {
        let started = Instant::now();
        let report = txop_bus::analyze(Path::new(file), &Default::default(), &mut ())?;
        if quiet {
            println!("{} records in {:.6} s", report.records, started.elapsed().as_secs_f64());
        } else {
            println!("{}", serde_json::to_string_pretty(&report)?);
        }
    }
    Ok(())
}
