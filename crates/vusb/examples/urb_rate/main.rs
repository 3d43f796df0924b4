//! How many URBs of 1500 bytes a second get through: `urb_rate loopback|vhci [SECONDS]`.
//!
//! `loopback`: the core alone, over a pair of sockets, with a host that does nothing else. `vhci`: through this machine's
//! vhci-hcd and usbfs, as a driver's URBs go. One line of JSON for each direction and number of URBs under way. Both ends,
//! device and host, run on this machine's processors.

mod device;
mod loopback;
mod usbfs;

use std::os::fd::OwnedFd;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use vusb::serve::{Host, ServeError, Signals, Until};
use vusb::urbs::UrbCounters;

use device::Bulk;

/// Bytes of a URB: a full-sized frame.
const LEN: usize = 1_500;
/// URBs under way: one, what a driver has for sending, what it has for receiving.
const DEPTHS: [usize; 3] = [1, 8, 32];
/// Before it counts: caches, first faults.
const WARM_UP: Duration = Duration::from_millis(200);

/// A way to the device: keeps URBs under way.
trait Bus {
    /// Hands a URB in.
    fn submit(&mut self, is_in: bool, slot: usize);

    /// Waits for one that is done.
    fn reap(&mut self, is_in: bool) -> usize;
}

/// URBs a second, with this many under way.
fn measure(bus: &mut impl Bus, is_in: bool, depth: usize, time: Duration) -> f64 {
    for slot in 0..depth {
        bus.submit(is_in, slot);
    }
    let mut rate = |time: Duration| {
        let (started, mut done) = (Instant::now(), 0u64);
        // The clock may cost as much as a URB: it is asked once for a batch.
        while done % 64 != 0 || started.elapsed() < time {
            let slot = bus.reap(is_in);
            bus.submit(is_in, slot);
            done += 1;
        }
        done as f64 / started.elapsed().as_secs_f64()
    };
    rate(WARM_UP);
    let rate = rate(time);
    for _ in 0..depth {
        bus.reap(is_in);
    }
    rate
}

fn measure_all(bus: &mut impl Bus, transport: &str, time: Duration) {
    for is_in in [false, true] {
        for depth in DEPTHS {
            let rate = measure(bus, is_in, depth, time);
            let direction = if is_in { "in" } else { "out" };
            println!(
                "{{\"transport\": \"{transport}\", \"direction\": \"{direction}\", \"depth\": {depth}, \"bytes\": {LEN}, \
                 \"urbs_per_s\": {rate:.0}}}"
            );
        }
    }
}

/// Serves the device to whoever has the other end of the connection.
fn serve(connection: OwnedFd, signals: &Signals) -> Result<(), ServeError> {
    let host = Host { connection: Some(connection), signals, statistics: None, before: UrbCounters::default() };
    host.serve(&mut Bulk::default(), None, Until::Parted).map(|_| ())
}

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let transport = arguments.next().unwrap_or_default();
    let time = arguments.next().and_then(|seconds| seconds.parse().ok()).unwrap_or(1.0);
    let time = Duration::from_secs_f64(f64::clamp(time, 0.1, 60.0));
    let done = match transport.as_str() {
        "loopback" => loopback::run(time),
        "vhci" => usbfs::run(time),
        _ => Err("usage: urb_rate loopback|vhci [SECONDS]".into()),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(problem) => {
            eprintln!("urb_rate: {problem}");
            ExitCode::FAILURE
        }
    }
}
