//! The loop: packets from the devices into the link, time forward, packets out of it.

use std::io;
use std::num::NonZeroU64;
use std::os::fd::BorrowedFd;
use std::sync::Arc;
use std::time::{Instant, SystemTime};

use link::{HostId, Link, Packet, Ppdu, Scenario, Side, Sink, WlanLink};
use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use tun_rs::SyncDevice;

use crate::air::{AirSettings, AirWriter};
use crate::device::DeviceSettings;
use crate::status::{EndStatus, Status};
use crate::EmulateError;

/// What is left to wait after the sleep, which the kernel may make longer than asked for, ns.
const SPIN_NS: u64 = 30_000;
/// Longest sleep, ns.
const SLEEP_NS: u64 = 1_000_000_000;
/// Nice value: this thread sleeps nearly always, and when it is to run it should.
const PRIORITY: i32 = -15;
/// Packets read from a device before time is looked at again.
const BURST: usize = 32;

/// What to emulate, and between what.
#[derive(Clone, Debug)]
pub struct Settings {
    /// The link.
    pub scenario: Scenario,
    /// The device of the station.
    pub dut: DeviceSettings,
    /// The device of the host behind the access point.
    pub ap: DeviceSettings,
    /// A capture of the emulated air.
    pub air: Option<AirSettings>,
}

/// An IP packet.
#[derive(Clone, Debug)]
pub(crate) struct Datagram(Arc<[u8]>);

impl Datagram {
    pub(crate) fn new(bytes: Arc<[u8]>) -> Self {
        Self(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.0
    }
}

impl Packet for Datagram {
    fn size_bytes(&self) -> usize {
        self.0.len()
    }

    fn write_bytes(&self, out: &mut Vec<u8>, limit: usize) {
        out.extend_from_slice(&self.0[..self.0.len().min(limit)]);
    }
}

/// The outside of the link.
struct Outside {
    devices: [SyncDevice; 2],
    ends: [EndStatus; 2],
    air: Option<AirWriter>,
    origin: Instant,
}

impl Outside {
    fn now_ns(&self) -> u64 {
        self.origin.elapsed().as_nanos() as u64
    }
}

impl Sink<Datagram> for Outside {
    fn deliver(&mut self, at_ns: u64, to: HostId, packet: Datagram) {
        let to = Side::of(to);
        let late_ns = self.now_ns().saturating_sub(at_ns);
        let end = &mut self.ends[to.index()];
        end.late_release.record(late_ns);
        if self.devices[to.index()].send(packet.bytes()).is_err() {
            end.not_taken += 1;
        }
    }

    fn wants_air(&self) -> bool {
        self.air.is_some()
    }

    fn air(&mut self, ppdu: &Ppdu<'_, Datagram>) {
        if let Some(air) = &mut self.air {
            air.take(ppdu);
        }
    }
}

/// Emulates the link until one of `stop` can be read or is hung up. `ready` is called when both devices are there, down
/// and without addresses; when it says no, that is the end.
///
/// # Errors
/// A scenario that cannot be, devices or the capture file that cannot be made, a device that fails while in use.
pub fn run(settings: Settings, stop: &[BorrowedFd<'_>], ready: impl FnOnce() -> bool) -> Result<Status, EmulateError> {
    let Settings { scenario, dut, ap, air } = settings;
    let mut link = WlanLink::new(scenario.clone())?;
    let devices = [dut.open()?, ap.open()?];
    // The default slack of 50 µs would make every sleep that much longer.
    rustix::thread::set_current_timer_slack(NonZeroU64::new(1)).map_err(system("cannot set the timer slack"))?;
    let air = air.map(|air| {
        let path = air.path.clone();
        let writer = AirWriter::start(air, scenario.clone(), SystemTime::now());
        writer.map_err(|source| EmulateError::Air { path, source })
    });
    let air = air.transpose()?;
    // This thread before others, where that is allowed (to root); after the writer was started, which gets no share in it.
    let _ = rustix::process::setpriority_process(None, PRIORITY);
    let mut outside = Outside { devices, ends: Default::default(), air, origin: Instant::now() };
    let ended = if ready() { forward(&mut link, &mut outside, stop) } else { Ok(()) };
    link.settle(&mut outside);
    let seconds = outside.origin.elapsed().as_secs_f64();
    let Outside { ends: [dut, ap], air, .. } = outside;
    let air = air.map(AirWriter::finish);
    ended?;
    let cpu = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Ok(Status {
        format: "txop-emulate",
        version: 1,
        scenario,
        seconds,
        cpu_seconds: cpu.tv_sec as f64 + cpu.tv_nsec as f64 / 1e9,
        counters: link.counters(),
        dut,
        ap,
        air,
    })
}

fn system(what: &'static str) -> impl Fn(Errno) -> EmulateError {
    move |error| EmulateError::System { what, source: error.into() }
}

/// Time to sleep before something is due, if it is worth it.
fn sleep(due_ns: Option<u64>, now_ns: u64) -> Timespec {
    let ns = due_ns.map_or(SLEEP_NS, |due_ns| due_ns.saturating_sub(now_ns).saturating_sub(SPIN_NS)).min(SLEEP_NS);
    Timespec { tv_sec: (ns / 1_000_000_000) as i64, tv_nsec: (ns % 1_000_000_000) as _ }
}

fn forward(link: &mut WlanLink<Datagram>, outside: &mut Outside, stop: &[BorrowedFd<'_>]) -> Result<(), EmulateError> {
    let mut buffer = vec![0; 1 << 16];
    loop {
        link.advance(outside.now_ns(), outside);
        let timeout = sleep(link.next_event(), outside.now_ns());
        let (readable, stopped) = wait(outside, stop, &timeout)?;
        if stopped {
            return Ok(());
        }
        for side in Side::BOTH.into_iter().filter(|side| readable[side.index()]) {
            // What was due while this thread slept comes before what came in the meantime.
            link.advance(outside.now_ns(), outside);
            read_burst(link, outside, side, &mut buffer)?;
        }
    }
}

/// Sleeps. Gives the devices that have packets, and whether to stop.
fn wait(outside: &Outside, stop: &[BorrowedFd<'_>], timeout: &Timespec) -> Result<([bool; 2], bool), EmulateError> {
    use std::os::fd::AsFd;
    let devices = outside.devices.iter().map(|device| device.as_fd());
    let mut polled: Vec<PollFd<'_>> =
        devices.chain(stop.iter().copied()).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)).collect();
    match poll(&mut polled, Some(timeout)) {
        Ok(_) => {}
        Err(Errno::INTR) => return Ok(([false; 2], false)),
        Err(error) => return Err(system("poll failed")(error)),
    }
    let set = |index: usize| polled.get(index).is_some_and(|fd| !fd.revents().is_empty());
    Ok(([set(0), set(1)], (2..polled.len()).any(set)))
}

fn read_burst(
    link: &mut WlanLink<Datagram>,
    outside: &mut Outside,
    side: Side,
    buffer: &mut [u8],
) -> Result<(), EmulateError> {
    for _ in 0..BURST {
        match outside.devices[side.index()].recv(buffer) {
            Ok(len) => {
                let packet = Datagram::new(Arc::from(&buffer[..len]));
                link.offer(outside.now_ns(), side.host(), side.other().host(), packet);
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => break,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(source) => {
                let side = if side == Side::Dut { "station" } else { "access point" };
                return Err(EmulateError::Lost { side, source });
            }
        }
    }
    Ok(())
}
