//! Writes a preset's capture, and its truth beside it.
//!
//! `cargo run --release -p txop-specimen --example specimen -- PRESET OUT [SECONDS] [SEED]`; without arguments it lists
//! the presets. `-` as OUT writes to nowhere and prints the truth.

use std::error::Error;
use std::fs::File;
use std::io::BufWriter;
use std::time::Instant;

use txop_specimen::{write, Scene, PRESETS};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [preset, out, rest @ ..] = &arguments[..] else {
        for (name, what) in PRESETS {
            println!("{name:20} {what}");
        }
        return Ok(());
    };
    let mut scene = Scene::preset(preset).ok_or("no such preset")?;
    if let Some(seconds) = rest.first() {
        scene.seconds = seconds.parse()?;
    }
    if let Some(seed) = rest.get(1) {
        scene.seed = seed.parse()?;
    }
    let begin = Instant::now();
    let truth = if out == "-" {
        let truth = write(&scene, std::io::sink())?;
        println!("{}", serde_json::to_string_pretty(&truth)?);
        truth
    } else {
        let truth = write(&scene, BufWriter::with_capacity(1 << 20, File::create(out)?))?;
        serde_json::to_writer_pretty(File::create(format!("{out}.truth.json"))?, &truth)?;
        truth
    };
    let seconds = begin.elapsed().as_secs_f64();
    eprintln!(
        "{} frames, {:.1} MB in {seconds:.2} s: {:.2} M frames/s",
        truth.frames,
        truth.captured_bytes as f64 / 1e6,
        truth.frames as f64 / seconds / 1e6
    );
    Ok(())
}
