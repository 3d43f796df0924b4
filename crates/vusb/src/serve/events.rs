//! One thread waits for whatever comes first: the host, the device's own sources, a signal, or the device's next event.

use std::io;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::net::UnixStream;
use std::path::PathBuf;

use rustix::event::{poll, PollFd, PollFlags, Timespec};
use rustix::io::Errno;
use rustix::net::{recv, send, RecvFlags, SendFlags};
use wire::usb::usbip::ExportedDevice;

use super::export::{Arrival, Export};
use super::{system, Clock, ServeError};
use crate::device::{Device, Effect, Source};
use crate::record::Observer;
use crate::session::Session;
use crate::statistics::{DeviceStatistics, Statistics, FORMAT, FORMAT_VERSION};
use crate::urbs::UrbCounters;

const READ_LEN: usize = 1 << 20;
/// Events handled before the host is looked at again.
const EVENTS_MAX: usize = 256;

/// How long SIGUSR2 unplugs the device.
const UNPLUGGED_MS: u64 = 1_000;

/// The signals that this program answers.
#[derive(Debug)]
pub struct Signals {
    stop: UnixStream,
    report: UnixStream,
    unplug: UnixStream,
}

impl Signals {
    /// SIGTERM, SIGINT and SIGHUP end the run, SIGUSR1 asks for counters, SIGUSR2 unplugs the device for a second.
    ///
    /// # Errors
    /// The system's.
    pub fn install() -> io::Result<Self> {
        use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM, SIGUSR1, SIGUSR2};
        let (stop, stop_end) = UnixStream::pair()?;
        let (report, report_end) = UnixStream::pair()?;
        let (unplug, unplug_end) = UnixStream::pair()?;
        for signal in [SIGTERM, SIGINT, SIGHUP] {
            signal_hook::low_level::pipe::register(signal, stop_end.try_clone()?)?;
        }
        signal_hook::low_level::pipe::register(SIGUSR1, report_end)?;
        signal_hook::low_level::pipe::register(SIGUSR2, unplug_end)?;
        for stream in [&stop, &report, &unplug] {
            stream.set_nonblocking(true)?;
        }
        Ok(Self { stop, report, unplug })
    }
}

/// What is waited for.
#[derive(Debug)]
pub enum Until<'a> {
    /// The host lets go of the device, or the device is pulled out.
    Parted,
    /// The device is plugged in again.
    Present,
    /// A client imports the device, which is notified.
    Imported(&'a mut Export, &'a ExportedDevice),
}

/// Why waiting has ended.
#[derive(Debug)]
pub enum Ended {
    /// The host let go of the device.
    HostGone,
    /// The device was pulled out.
    Unplugged,
    /// The device is plugged in again.
    Present,
    /// A client has imported the device: the connection to it.
    Imported(OwnedFd),
    /// No client will come any more.
    NobodyLeft,
    /// A signal.
    Stopped,
}

/// A connection to a host, and what goes with it.
pub struct Host<'a> {
    /// The connection; `None`: no client is connected, the device lives on.
    pub connection: Option<OwnedFd>,
    /// Signals.
    pub signals: &'a Signals,
    /// Where counters are written when they are asked for.
    pub statistics: Option<PathBuf>,
    /// What earlier connections have done: counters are those of all.
    pub before: UrbCounters,
}

/// How serving a host went.
pub struct Served {
    /// Why it has ended.
    pub ended: Ended,
    /// What was counted, earlier connections not included.
    pub urbs: UrbCounters,
    /// For the next host.
    pub observer: Option<Box<dyn Observer>>,
}

/// What is under way.
struct Loop<'a, D: Device> {
    device: &'a mut D,
    until: Until<'a>,
    session: Session,
    buffer: Vec<u8>,
    sources: Vec<Source>,
    /// The time up to which everything has happened.
    reached_ns: u64,
}

impl Host<'_> {
    /// Lets the device live, and serves the host if there is one, until something has come or a signal has.
    ///
    /// # Errors
    /// Those of the system; a host that breaks the protocol is let go of, with a message.
    pub fn serve(
        &self,
        device: &mut impl Device,
        observer: Option<Box<dyn Observer>>,
        until: Until<'_>,
    ) -> Result<Served, ServeError> {
        let session = Session::new(device, observer);
        let (buffer, sources) = (vec![0; READ_LEN], Vec::new());
        let mut state = Loop { device, until, session, buffer, sources, reached_ns: Clock.now_ns() };
        let ended = loop {
            if let Some(ended) = state.turn(self)? {
                break ended;
            }
        };
        let urbs = *state.session.counters();
        Ok(Served { ended, urbs, observer: state.session.into_observer() })
    }
}

impl<D: Device> Loop<'_, D> {
    /// One round: what is due, what can be sent, then waiting.
    fn turn(&mut self, host: &Host<'_>) -> Result<Option<Ended>, ServeError> {
        let connection = host.connection.as_ref().map(AsFd::as_fd);
        let now_ns = Clock.now_ns();
        self.catch_up(now_ns, connection.is_some());
        if let Some(connection) = connection {
            if !self.flush(connection) {
                return Ok(Some(Ended::HostGone));
            }
            while self.session.is_held_back() && !self.session.is_full() {
                self.session.pump(now_ns, self.device);
                if !self.flush(connection) {
                    return Ok(Some(Ended::HostGone));
                }
            }
        }
        let present = self.device.is_present(now_ns);
        if connection.is_some() && !present {
            return Ok(Some(Ended::Unplugged));
        }
        if matches!(self.until, Until::Present) && present {
            return Ok(Some(Ended::Present));
        }
        self.wait(host, connection, present)
    }

    /// Lets everything happen that is due: one event after the other, each at its time, with the bus between them.
    /// Transfers that the host has queued take data off the device when these come, even if this process was kept waiting.
    fn catch_up(&mut self, now_ns: u64, connected: bool) {
        for _ in 0..EVENTS_MAX {
            let Some(at_ns) = self.device.next_event().filter(|&at_ns| at_ns < now_ns) else { break };
            let at_ns = at_ns.max(self.reached_ns);
            self.reached_ns = at_ns;
            self.device.advance(at_ns);
            if connected {
                self.session.pump(at_ns, self.device);
            }
        }
        self.reached_ns = now_ns;
        self.device.advance(now_ns);
        if connected {
            self.session.pump(now_ns, self.device);
        }
    }

    fn wait(
        &mut self,
        host: &Host<'_>,
        connection: Option<BorrowedFd<'_>>,
        present: bool,
    ) -> Result<Option<Ended>, ServeError> {
        self.sources.clear();
        self.device.sources(&mut self.sources);
        let Signals { stop, report, unplug } = host.signals;
        let mut fds: Vec<PollFd<'_>> =
            [stop, report, unplug].into_iter().map(|stream| PollFd::new(stream, PollFlags::IN)).collect();
        let connection_at = fds.len();
        let waiting = !self.session.output().is_empty();
        if let Some(connection) = connection {
            let mut events = PollFlags::empty();
            events.set(PollFlags::IN, !self.session.is_full());
            events.set(PollFlags::OUT, waiting);
            fds.push(PollFd::from_borrowed_fd(connection, events));
        }
        let first_source = fds.len();
        for source in self.sources.iter().filter(|source| source.wanted) {
            // SAFETY: `Source::fd` stays open as long as the device, which outlives this round.
            #[expect(unsafe_code, reason = "descriptors of devices are polled together")]
            let fd = unsafe { BorrowedFd::borrow_raw(source.fd) };
            fds.push(PollFd::from_borrowed_fd(fd, PollFlags::IN));
        }
        let first_client = fds.len();
        // Clients wait while the device is unplugged.
        let export = match &self.until {
            Until::Imported(export, _) if present => Some(&**export),
            _ => None,
        };
        fds.extend(export.into_iter().flat_map(Export::fds).map(|fd| PollFd::from_borrowed_fd(fd, PollFlags::IN)));
        let deadline = export.and_then(Export::next_event);
        let timeout = self.device.next_event().into_iter().chain(deadline).min().map(|at_ns| {
            let wait_ns = at_ns.saturating_sub(Clock.now_ns());
            Timespec { tv_sec: (wait_ns / 1_000_000_000) as i64, tv_nsec: (wait_ns % 1_000_000_000) as _ }
        });
        match poll(&mut fds, timeout.as_ref()) {
            Ok(_) | Err(Errno::INTR) => {}
            Err(errno) => return Err(system("waiting for events")(errno.into())),
        }
        let ready: Vec<bool> = fds.iter().map(|fd| !fd.revents().is_empty()).collect();
        drop(fds);
        let is_ready = |at: usize| ready.get(at).copied().unwrap_or(false);
        if is_ready(0) {
            return Ok(Some(Ended::Stopped));
        }
        if is_ready(1) {
            drain(report);
            self.report(host)?;
        }
        // What happened before the news happened before the news.
        let now_ns = Clock.now_ns();
        self.catch_up(now_ns, connection.is_some());
        if is_ready(2) {
            drain(unplug);
            self.device.inject(now_ns, Effect::Unplug(UNPLUGGED_MS));
        }
        let wanted = self.sources.iter().filter(|source| source.wanted);
        for (at, source) in wanted.enumerate() {
            if is_ready(first_source + at) {
                self.device.readable(now_ns, source.fd);
            }
        }
        if let Some(connection) = connection.filter(|_| is_ready(connection_at)) {
            return self.read(now_ns, connection);
        }
        let knocked = ready.iter().skip(first_client).any(|&it| it);
        match &mut self.until {
            Until::Imported(export, exported) if knocked || deadline.is_some_and(|at_ns| at_ns <= now_ns) => {
                Ok(match export.look(now_ns, exported)? {
                    Arrival::Host(connection) => Some(Ended::Imported(connection)),
                    Arrival::Never => Some(Ended::NobodyLeft),
                    Arrival::None => None,
                })
            }
            _ => Ok(None),
        }
    }

    fn read(&mut self, now_ns: u64, connection: BorrowedFd<'_>) -> Result<Option<Ended>, ServeError> {
        if self.session.is_full() {
            return Ok(None);
        }
        let got = recv(connection, &mut self.buffer, RecvFlags::DONTWAIT).map(|(len, _)| len);
        match got {
            Ok(0) => Ok(Some(Ended::HostGone)),
            Ok(len) => {
                let bytes = self.buffer.get(..len).unwrap_or_default();
                let broken = self.session.receive(now_ns, bytes).err();
                if let Some(error) = broken {
                    eprintln!("txop-vusb: the host broke the protocol: {error}");
                    return Ok(Some(Ended::HostGone));
                }
                Ok(None)
            }
            Err(Errno::AGAIN | Errno::INTR) => Ok(None),
            Err(errno) => {
                gone("reading from the host", errno);
                Ok(Some(Ended::HostGone))
            }
        }
    }

    /// Sends what the host takes; `false`: it is gone.
    fn flush(&mut self, connection: BorrowedFd<'_>) -> bool {
        let sent = flush_bytes(self.session.output(), connection);
        sent.map_err(|errno| gone("writing to the host", errno)).is_ok()
    }

    fn report(&self, host: &Host<'_>) -> Result<(), ServeError> {
        let Some(path) = &host.statistics else { return Ok(()) };
        let mut urbs = host.before;
        urbs.add(self.session.counters());
        write_statistics(path, self.device, &urbs).map_err(system("writing the counters"))
    }
}

/// Writes the counters as they are now.
///
/// # Errors
/// Those of the file.
pub fn write_statistics(path: &std::path::Path, device: &impl Device, urbs: &UrbCounters) -> io::Result<()> {
    let statistics = Statistics {
        format: FORMAT,
        version: FORMAT_VERSION,
        monotonic_ns: Clock.now_ns(),
        epoch_ns: Clock.epoch_ns(),
        urbs: *urbs,
        device: device.statistics().map(|counters| DeviceStatistics { counters, faults: device.fault_counters() }),
    };
    statistics.write(path)
}

/// Sends bytes as far as the host takes them.
fn flush_bytes(output: &mut Vec<u8>, connection: BorrowedFd<'_>) -> Result<(), Errno> {
    let mut sent = 0;
    let done = loop {
        let Some(rest) = output.get(sent..).filter(|rest| !rest.is_empty()) else { break Ok(()) };
        match send(connection, rest, SendFlags::DONTWAIT | SendFlags::NOSIGNAL) {
            Ok(len) => sent += len,
            Err(Errno::INTR) => {}
            Err(Errno::AGAIN) => break Ok(()),
            Err(errno) => break Err(errno),
        }
    };
    output.drain(..sent);
    done
}

/// A connection has failed. That the host closed it needs no word.
fn gone(what: &str, errno: Errno) {
    if !matches!(errno, Errno::CONNRESET | Errno::PIPE) {
        eprintln!("txop-vusb: {what}: {errno}");
    }
}

fn drain(mut stream: &UnixStream) {
    let mut bytes = [0; 64];
    while io::Read::read(&mut stream, &mut bytes).is_ok_and(|len| len > 0) {}
}
