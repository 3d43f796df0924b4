//! What a guest asks of its device, where that is outside of the guest: a line on a port of virtio-serial, and its answer.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Write};
use std::path::PathBuf;
use std::thread;
use std::time::Duration;

use clap::Args;
use rustix::time::{clock_gettime, ClockId};

const PORTS: &str = "/sys/class/virtio-ports";
const NAME: &str = "txop.control";
/// One process at a time has the port: how often another tries, and how long it waits between.
const TRIES: u32 = 500;
const PAUSE: Duration = Duration::from_millis(20);

/// What is asked.
#[derive(Debug, Args)]
pub struct ControlArgs {
    /// attach OPTION..., counters FILE, struck, replug, alive, detach, checkpoint, run or clock.
    #[arg(required = true, trailing_var_arg = true, allow_hyphen_values = true, value_name = "WORD")]
    words: Vec<String>,
}

impl ControlArgs {
    /// Asks, prints the answer, and gives its status.
    ///
    /// # Errors
    /// There is no such port, or no answer.
    pub fn run(&self) -> io::Result<u8> {
        let mut port = open()?;
        // The first line warms the way up; the second has the time.
        ask(&mut port, &["clock".to_owned()])?;
        let answer = ask(&mut port, &self.words)?;
        let status = answer
            .get("status")
            .and_then(serde_json::Value::as_u64)
            .and_then(|status| u8::try_from(status).ok())
            .unwrap_or(1);
        let text = answer.get("text").and_then(serde_json::Value::as_str).unwrap_or_default();
        if status != 0 {
            eprintln!("txop-vusb: {text}");
        } else if !text.is_empty() {
            writeln!(io::stdout(), "{text}")?;
        }
        Ok(status)
    }
}

fn now(id: ClockId) -> i64 {
    let time = clock_gettime(id);
    time.tv_sec * 1_000_000_000 + time.tv_nsec
}

fn ask(port: &mut File, words: &[String]) -> io::Result<serde_json::Value> {
    let realtime_ns = now(ClockId::Realtime);
    let monotonic_ns = now(ClockId::Monotonic);
    let line = serde_json::json!({ "realtime_ns": realtime_ns, "monotonic_ns": monotonic_ns, "words": words });
    port.write_all(format!("{line}\n").as_bytes())?;
    let mut answer = String::new();
    BufReader::new(&*port).read_line(&mut answer)?;
    serde_json::from_str(&answer).map_err(io::Error::other)
}

fn open() -> io::Result<File> {
    let path = path()?;
    for _ in 0..TRIES {
        match OpenOptions::new().read(true).write(true).open(&path) {
            Err(error) if error.kind() == io::ErrorKind::ResourceBusy => thread::sleep(PAUSE),
            opened => return opened,
        }
    }
    Err(io::ErrorKind::TimedOut.into())
}

fn path() -> io::Result<PathBuf> {
    for port in fs::read_dir(PORTS)?.flatten() {
        if fs::read_to_string(port.path().join("name")).is_ok_and(|name| name.trim_end() == NAME) {
            return Ok(PathBuf::from("/dev").join(port.file_name()));
        }
    }
    Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no port {NAME}: the device is in no QEMU of txop")))
}
