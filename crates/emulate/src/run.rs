//! The loop: packets from the devices into the link, time forward, packets out of it.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::num::NonZeroU64;
use std::os::fd::{AsFd, BorrowedFd};
use std::time::Instant;

use link::{DropCause, HostId, Link, Offer, Packet, Ppdu, Sink};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use wire::ip::Flow;

use crate::datagram::Datagram;
use crate::delays::Delays;
use crate::device::{Device, HostSettings};
use crate::files::Files;
use crate::pairs::{Pair, Pairs};
use crate::status::HostStatus;
use crate::timing::{Timing, LATE_NS};
use crate::EmulateError;

/// What is left to wait after the sleep, which the kernel may make longer than asked for, ns.
const SPIN_NS: u64 = 30_000;
/// Longest sleep, ns.
const SLEEP_NS: u64 = 1_000_000_000;
/// Nice value: this thread sleeps nearly always, and when it is to run it should.
const PRIORITY: i32 = -15;
/// Packets read from a device before the others have their turn.
const BURST: usize = 64;
/// Buffered records of captures are handed over when nothing was due for this long, ns.
const IDLE_NS: u64 = 200_000_000;

/// What a run has counted.
pub(crate) struct Ran {
    pub(crate) seconds: f64,
    pub(crate) cpu_seconds: f64,
    pub(crate) timing: Timing,
    pub(crate) hosts: Vec<HostStatus>,
    pub(crate) pairs: Vec<Pair>,
}

/// The outside of the link.
struct Outside<'a> {
    devices: &'a [Device],
    hosts: Vec<HostStatus>,
    pairs: Pairs,
    files: &'a mut Files,
    /// By host.
    airtime_ns: Vec<u64>,
    late_release: Delays,
    late: u64,
    origin: Instant,
}

impl Outside<'_> {
    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

impl Sink<Datagram> for Outside<'_> {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Datagram) {
        if let Some(pair) = self.pairs.get(packet.pair) {
            pair.delivered(at_ns, packet.offered_ns, packet.size_bytes());
        }
        let Some(device) = self.devices.get(to.index()) else { return };
        let late_ns = self.now_ns().saturating_sub(at_ns);
        self.late_release.record(late_ns);
        self.late += u64::from(late_ns > LATE_NS);
        if device.tun.send(packet.bytes()).is_err() {
            if let Some(host) = self.hosts.get_mut(to.index()) {
                host.not_taken += 1;
            }
        }
    }

    fn dropped(&mut self, _at_ns: u64, _from: HostId, packet: &Datagram, cause: DropCause) {
        if let Some(pair) = self.pairs.get(packet.pair) {
            pair.dropped(cause);
        }
    }

    fn wants_air(&self) -> bool {
        true
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        let station = if ppdu.from == HostId::SERVER { ppdu.to } else { Some(ppdu.from) };
        if let Some(airtime_ns) = station.and_then(|station| self.airtime_ns.get_mut(station.index())) {
            *airtime_ns += ppdu.end_ns - ppdu.start_ns;
        }
        self.files.air(ppdu);
    }

    fn wants_bus(&self) -> bool {
        self.files.wants_bus()
    }

    fn bus(&mut self, urb: &wire::usb::urb::Urb<'_>) {
        self.files.bus(urb);
    }
}

fn system(what: &'static str) -> impl Fn(Errno) -> EmulateError {
    move |error| EmulateError::System { what, source: error.into() }
}

/// CPU time that the process has taken, s.
fn cpu_s() -> f64 {
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9
}

/// Emulates `link` until one of `stop` can be read or is hung up. `ready` is called when all devices are there, down and
/// without addresses; when it says no, that is the end.
///
/// # Errors
/// Devices that cannot be made, a device that fails while in use.
pub(crate) fn run<L: Link<Datagram>>(
    link: &mut L,
    hosts: &[HostSettings],
    files: &mut Files,
    stop: &[BorrowedFd<'_>],
    ready: impl FnOnce() -> bool,
) -> Result<Ran, EmulateError> {
    let devices: Vec<Device> = hosts.iter().map(HostSettings::open).collect::<Result<_, _>>()?;
    // The default slack of 50 µs would make every sleep that much longer.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).map_err(system("cannot set the timer slack"))?;
    // This thread before others, where that is allowed (to root); after the writers were started, which get no share in it.
    let _ = rustix::process::setpriority_process(None, PRIORITY);
    let routes = hosts.iter().enumerate().flat_map(|(number, host)| {
        let number = HostId(u16::try_from(number).unwrap_or(u16::MAX));
        host.addresses.iter().map(move |address| (*address, number))
    });
    let routes: HashMap<IpAddr, HostId> = routes.collect();
    let mut outside = Outside {
        devices: &devices,
        hosts: hosts.iter().map(|host| HostStatus { name: host.name.clone(), ..HostStatus::default() }).collect(),
        pairs: Pairs::default(),
        files,
        airtime_ns: vec![0; hosts.len()],
        late_release: Delays::default(),
        late: 0,
        origin: Instant::now(),
    };
    let is_wanted = ready();
    outside.origin = Instant::now();
    let cpu_before_s = cpu_s();
    let ended = if is_wanted { forward(link, &mut outside, &routes, stop) } else { Ok(()) };
    let seconds = outside.origin.elapsed().as_secs_f64();
    let cpu_seconds = cpu_s() - cpu_before_s;
    link.settle(&mut outside);
    ended?;
    let Outside { mut hosts, pairs, airtime_ns, late_release, late, .. } = outside;
    // A link that has an air was busy with something: beacons at least, or what was sent.
    let has_air = airtime_ns.iter().any(|&ns| ns > 0);
    for (number, (host, device)) in hosts.iter_mut().zip(&devices).enumerate() {
        host.lost_in_device = device.lost();
        let airtime_ns = airtime_ns.get(number).filter(|_| has_air && number > 0);
        host.airtime_s = airtime_ns.map(|&ns| ns as f64 / 1e9);
    }
    let taken = hosts.iter().map(|host| host.taken).sum();
    let lost = hosts.iter().filter_map(|host| host.lost_in_device).sum();
    let cpu_share = (seconds > 0.0).then(|| cpu_seconds / seconds);
    let timing = Timing::new(late_release, late, (taken, lost), cpu_share);
    Ok(Ran { seconds, cpu_seconds, timing, hosts, pairs: pairs.finish() })
}

/// Time to sleep before something is due, if it is worth it.
fn sleep(due_ns: Option<u64>, now_ns: u64) -> Timespec {
    let ns = due_ns.map_or(SLEEP_NS, |due_ns| due_ns.saturating_sub(now_ns).saturating_sub(SPIN_NS)).min(SLEEP_NS);
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

fn forward<L: Link<Datagram>>(
    link: &mut L,
    outside: &mut Outside<'_>,
    routes: &HashMap<IpAddr, HostId>,
    stop: &[BorrowedFd<'_>],
) -> Result<(), EmulateError> {
    let mut buffer = vec![0; 1 << 16];
    let devices = outside.devices;
    let polled = devices.iter().map(|device| device.tun.as_fd()).chain(stop.iter().copied());
    let mut polled: Vec<PollFd<'_>> = polled.map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    let mut flushed_ns = 0;
    loop {
        let now_ns = outside.now_ns();
        link.advance(now_ns, outside);
        let now_ns = outside.now_ns();
        let timeout = sleep(link.next_event(), now_ns);
        if now_ns - flushed_ns > IDLE_NS {
            flushed_ns = now_ns;
            outside.files.flush();
        }
        match poll(&mut polled, Some(&timeout)) {
            Ok(_) => {}
            Err(Errno::INTR) => continue,
            Err(error) => return Err(system("poll failed")(error)),
        }
        let (of_devices, of_stop) = polled.split_at(devices.len());
        if of_stop.iter().any(|fd| !fd.revents().is_empty()) {
            return Ok(());
        }
        for (number, fd) in of_devices.iter().enumerate() {
            if !fd.revents().is_empty() {
                read_burst(link, outside, HostId(number as u16), routes, &mut buffer)?;
            }
        }
    }
}

fn read_burst<L: Link<Datagram>>(
    link: &mut L,
    outside: &mut Outside<'_>,
    from: HostId,
    routes: &HashMap<IpAddr, HostId>,
    buffer: &mut [u8],
) -> Result<(), EmulateError> {
    let devices = outside.devices;
    let Some(device) = devices.get(from.index()) else { return Ok(()) };
    for _ in 0..BURST {
        let len = match device.tun.recv(buffer) {
            Ok(len) => len,
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(source) => {
                let host = outside.hosts.get(from.index()).map(|host| host.name.clone()).unwrap_or_default();
                return Err(EmulateError::Lost { host, source });
            }
        };
        // What was due in the meantime comes before what came in it.
        let now_ns = outside.now_ns();
        link.advance(now_ns, outside);
        let (Some(host), Some(bytes)) = (outside.hosts.get_mut(from.index()), buffer.get(..len)) else { continue };
        host.taken += 1;
        let flow = Flow::of(bytes);
        let to = flow.and_then(|flow| routes.get(&flow.destination)).filter(|to| **to != from);
        let Some((flow, &to)) = flow.zip(to) else {
            host.unroutable += 1;
            continue;
        };
        let row = outside.pairs.row(from, to);
        if let Some(pair) = outside.pairs.get(row) {
            pair.offered(len);
        }
        let offer = link.offer(now_ns, from, to, Datagram::new(bytes, &flow, now_ns, from, row));
        if let (Offer::Dropped(cause), Some(pair)) = (offer, outside.pairs.get(row)) {
            pair.dropped(cause);
        }
        link.advance(now_ns, outside);
    }
    Ok(())
}
