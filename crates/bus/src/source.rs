//! From a file or a pipe to events: captures, usbmon's text, UsbSnoop's text.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::Path;
use std::time::{Duration, Instant};

use capture::{Bound, OpenError, Place, Placing, Reader, Window};
use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::sdio::log::{NoRecord, Record};
use wire::usb::usbmon::{EventKind, LONG_HEADER, SHORT_HEADER};
use wire::usb::{usbmon_text, EndpointAddress, TransferType};

use crate::analyzer::Analyzer;
use crate::event::{self, Event, Skipped, Status};
use crate::report::Report;
use crate::totals::Source;
use crate::usbsnoop;

/// Bytes looked at to distinguish text from captures.
const HEAD: usize = 4096;
/// Longest line of a text; usbmon's have at most 160 bytes.
const LINE_MAX: usize = 16_384;
/// How often the caller is asked whether to go on, and after how many records the clock is looked at.
const TICK: Duration = Duration::from_millis(100);
const RECORDS_PER_LOOK: u64 = 4096;
/// A step back of more than this is the clock of the text starting over.
const WRAP_STEP_US: u64 = usbmon_text::WRAP_US / 2;

/// What the caller may choose.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options {
    /// The part of the capture that is counted; all of it when `None`.
    pub window: Option<Window>,
}

/// Why there is no report.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened, or is not a capture.
    Open(OpenError),
    /// Reading a text failed.
    Io(io::Error),
    /// The capture holds records, but none of them is a USB transfer request: why, and what to do.
    NotUsb(String),
    /// A window was asked for that this capture cannot have: why, and what to do.
    NoWindow(&'static str),
    /// The caller asked to stop.
    Stopped,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::Io(error) => error.fmt(f),
            Self::NotUsb(text) => f.write_str(text),
            Self::NoWindow(text) => f.write_str(text),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}

/// What the caller sees and decides while the analysis runs.
pub trait Progress {
    /// Called about ten times a second with the bytes read and their total, where known. `false` stops.
    fn tick(&mut self, bytes_read: u64, total_bytes: Option<u64>) -> bool;
}

impl Progress for () {
    fn tick(&mut self, _: u64, _: Option<u64>) -> bool {
        true
    }
}

struct Ticker<'a> {
    progress: &'a mut dyn Progress,
    last: Instant,
    count: u64,
}

impl Ticker<'_> {
    #[inline]
    fn tick(&mut self, read: impl FnOnce() -> u64, total: Option<u64>) -> Result<(), Error> {
        self.count += 1;
        if self.count % RECORDS_PER_LOOK != 0 || self.last.elapsed() < TICK {
            return Ok(());
        }
        self.last = Instant::now();
        if self.progress.tick(read(), total) {
            Ok(())
        } else {
            Err(Error::Stopped)
        }
    }
}

/// Analyses the capture or text at `path` (`-`: standard input).
///
/// # Errors
/// See [`Error`]. A capture that is damaged after its first records is not an error: the report says where it broke.
pub fn analyze(path: &Path, options: &Options, progress: &mut dyn Progress) -> Result<Report, Error> {
    let name = path.display().to_string();
    if path.as_os_str() == "-" {
        return analyze_read(io::stdin(), None, name, options, progress);
    }
    let open = |error| Error::Open(OpenError::Io(error));
    let mut file = File::open(path).map_err(open)?;
    let total = file.metadata().ok().filter(std::fs::Metadata::is_file).map(|metadata| metadata.len());
    if total.is_none() {
        return analyze_read(file, None, name, options, progress);
    }
    let mut head = Vec::new();
    file.by_ref().take(HEAD as u64).read_to_end(&mut head).map_err(open)?;
    io::Seek::rewind(&mut file).map_err(open)?;
    match text_kind(&head) {
        Some(kind) => text(BufReader::new(file), kind, total, name, options, progress),
        None => records(Reader::open(path, capture::Options::default()).map_err(Error::Open)?, name, options, progress),
    }
}

/// Analyses what `read` delivers; `name` is what the report calls it.
///
/// # Errors
/// See [`Error`].
pub fn analyze_read(
    mut read: impl Read + Send + 'static,
    total: Option<u64>,
    name: String,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let mut head = Vec::new();
    // One line is enough, and a slow pipe may not deliver more for long.
    while head.len() < HEAD && !(is_text_so_far(&head) && head.contains(&b'\n')) {
        let mut piece = [0; HEAD];
        let room = HEAD - head.len();
        let got = match read.read(piece.get_mut(..room).unwrap_or_default()) {
            Ok(got) => got,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::Open(OpenError::Io(error))),
        };
        head.extend(piece.get(..got).unwrap_or_default());
        if got == 0 || (!is_text_so_far(&head) && head.len() >= 4) {
            break;
        }
    }
    let kind = text_kind(&head);
    let whole = Cursor::new(head).chain(read);
    match kind {
        Some(kind) => text(BufReader::new(whole), kind, total, name, options, progress),
        None => records(Reader::from_read(whole).map_err(Error::Open)?, name, options, progress),
    }
}

fn is_text_so_far(head: &[u8]) -> bool {
    head.iter().all(|byte| matches!(byte, b'\t' | b'\n' | b'\r' | b' '..=b'~'))
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    Usbmon,
    Usbsnoop,
}

/// What kind of text `head` begins: one of its first lines is of that kind.
fn text_kind(head: &[u8]) -> Option<TextKind> {
    let mut lines = head.split(|byte| *byte == b'\n').take(20).filter_map(|line| std::str::from_utf8(line).ok());
    lines.find_map(|line| {
        if usbmon_text::parse(line).is_ok() {
            Some(TextKind::Usbmon)
        } else {
            usbsnoop::parse(line).map(|_| TextKind::Usbsnoop)
        }
    })
}

fn records(mut reader: Reader, path: String, options: &Options, progress: &mut dyn Progress) -> Result<Report, Error> {
    let mut placing = options.window.map(Placing::new);
    let mut analyzer = Analyzer::default();
    let mut source = Source { path, origin: "imported", clock_is_absolute: true, ..Source::default() };
    let mut ticker = Ticker { progress, last: Instant::now(), count: 0 };
    let total = reader.total_bytes();
    let mut counts: Vec<(LinkType, u64)> = Vec::new();
    let (mut has_records, mut has_times) = (false, false);
    let mut order = (u32::MAX, ByteOrder::Little);
    let damage = loop {
        let interface = order.0;
        let record = match reader.next() {
            Ok(Some(record)) => record,
            Ok(None) => break None,
            Err(damage) => break Some(damage),
        };
        has_records = true;
        has_times |= record.time_ns.is_some();
        let place = placing.as_mut().map_or(Place::Inside, |placing| placing.place(record.time_ns));
        // Several descriptions of interfaces are rare: the byte order is looked up when the interface changes.
        let (link, number, changed) = (record.link_type, record.number, record.interface != interface);
        if place != Place::Inside {
            // Counted nowhere.
        } else if let Some((_, count)) = counts.iter_mut().find(|(known, _)| *known == link) {
            *count += 1;
        } else if counts.len() < 64 {
            counts.push((link, 1));
        }
        if changed {
            let (interface, data) = (record.interface, record.data.to_vec());
            let (offset, time_ns) = (record.offset, record.time_ns);
            let section = reader.interfaces().get(interface as usize).map_or(0, |found| found.section as usize);
            let found = reader.sections().get(section).map_or(ByteOrder::Little, |section| section.byte_order);
            order = (interface, found);
            take(&mut analyzer, link, place, number, offset, time_ns, &data, found);
        } else {
            take(&mut analyzer, link, place, number, record.offset, record.time_ns, record.data, order.1);
        }
        ticker.tick(|| reader.bytes_read(), total)?;
    };
    source.container = reader.container().name().to_owned();
    source.compression = match reader.compression() {
        None => "none",
        Some(capture::Compression::Gzip) => "gzip",
        Some(capture::Compression::Zstd) => "zstd",
    };
    source.origin = capture::origin(reader.interfaces());
    source.snap_lengths = reader.interfaces().iter().take(64).map(|i| i.snap_len.unwrap_or(0)).collect();
    let drops = reader.drops();
    source.dropped = drops.by_statistics.or(drops.by_records);
    source.damage = damage.map(|damage| (damage.offset, damage.to_string()));
    // usbmon writes the time into its own header, too.
    source.has_clock = has_records.then(|| has_times || analyzer.summary.first_us.is_some());
    for (link, count) in counts {
        source.link_types.insert((link.0, link.name().unwrap_or("unknown").to_owned()), count);
    }
    source.window = placing.map(|placing| placing.placed());
    if source.window.is_some_and(|placed| placed.first_ns.is_none() && placed.untimed > 0) {
        return Err(Error::NoWindow("its records have no time, so none of them is known to lie in a window"));
    }
    let totals = &analyzer.summary;
    if analyzer.records() + totals.other_requests == 0 && totals.not_usb > 0 {
        return Err(Error::NotUsb(not_usb(&source)));
    }
    Ok(analyzer.report(&source))
}

#[allow(clippy::too_many_arguments)] // what a record is made of
fn take(
    analyzer: &mut Analyzer,
    link: LinkType,
    place: Place,
    number: u64,
    offset: u64,
    time_ns: Option<i64>,
    data: &[u8],
    order: ByteOrder,
) {
    let time_us = time_ns.map(|time| time.div_euclid(1_000));
    let event = match link {
        LinkType::USB_LINUX => event::from_usbmon(number, time_us, data, order, SHORT_HEADER),
        LinkType::USB_LINUX_MMAPPED => event::from_usbmon(number, time_us, data, order, LONG_HEADER),
        LinkType::USBPCAP => event::from_usbpcap(number, time_us, data),
        LinkType::SDIO_LOG => {
            match Record::parse(data) {
                Ok((record, data)) => analyzer.push_command(time_ns, &record, data, place),
                // A capture of another user of the link type has no magic in any record.
                Err(NoRecord::Magic) => analyzer.summary.not_usb += u64::from(place == Place::Inside),
                Err(why) if place == Place::Inside => {
                    analyzer.unreadable(|| format!("record {number} at byte {offset}: {why}"));
                }
                Err(_) => {}
            }
            return;
        }
        _ => {
            analyzer.summary.not_usb += u64::from(place == Place::Inside);
            return;
        }
    };
    match event {
        Ok(event) if place == Place::Inside => analyzer.push(&event),
        Ok(event) => analyzer.push_outside(&event, place),
        Err(Skipped::OtherRequest { .. } | Skipped::ControlStage) if place != Place::Inside => analyzer.saw_irps(),
        Err(_) if place != Place::Inside => {}
        Err(Skipped::OtherRequest { function, is_completion }) => analyzer.push_other(time_us, function, is_completion),
        Err(Skipped::ControlStage) => analyzer.time(time_us),
        Err(Skipped::Unreadable(why)) => analyzer.unreadable(|| format!("record {number} at byte {offset}: {why}")),
    }
}

fn not_usb(source: &Source) -> String {
    let names: Vec<String> = source
        .link_types
        .iter()
        .map(|((number, name), count)| format!("{count} of link type {number} ({name})"))
        .collect();
    let has = |number| source.link_types.keys().any(|(found, _)| *found == number);
    let advice = if has(288) {
        "this is a capture of the wires (a USB analyser's packets), not of transfer requests: capture with usbmon on \
         Linux or USBPcap on Windows"
    } else if has(LinkType::SDIO_LOG.0) {
        "this link type is for private use, and another program than txop wrote this"
    } else if has(266) {
        "macOS' own format is not read: capture with usbmon on Linux or USBPcap on Windows"
    } else if source.link_types.keys().any(|(number, _)| LinkType(*number).is_wlan()) {
        "this is an 802.11 capture: use txop air"
    } else {
        "capture with usbmon on Linux (tcpdump -i usbmonN) or USBPcap on Windows"
    };
    format!("none of its records is a USB transfer request ({}); {advice}", names.join(", "))
}

fn text(
    mut lines: impl BufRead,
    kind: TextKind,
    total: Option<u64>,
    path: String,
    options: &Options,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    if options.window.is_some() && kind == TextKind::Usbsnoop {
        return Err(Error::NoWindow("a UsbSnoop log has no time that could be trusted, so it has no window"));
    }
    let mut placing: Option<Placing> = None;
    let mut analyzer = Analyzer::default();
    let mut ticker = Ticker { progress, last: Instant::now(), count: 0 };
    let mut clock = Clock::default();
    let mut line = Vec::with_capacity(256);
    let (mut number, mut read) = (0u64, 0u64);
    loop {
        line.clear();
        let got = lines.by_ref().take(LINE_MAX as u64).read_until(b'\n', &mut line).map_err(Error::Io)?;
        if got == 0 {
            break;
        }
        number += 1;
        read += got as u64;
        ticker.tick(|| read, total)?;
        let text = String::from_utf8_lossy(&line);
        let text = text.trim();
        if text.is_empty() {
            continue;
        }
        match kind {
            TextKind::Usbmon => match usbmon_text::parse(text) {
                Ok(parsed) => {
                    let time = clock.unwrap(parsed.time_us);
                    let event = event::from_text(number, time, &parsed);
                    let place = options.window.map(|window| {
                        let first = parsed.time_us;
                        let placing = placing.get_or_insert_with(|| Placing::new(by_text_clock(window, first)));
                        placing.place(event.time_us.map(|us| us.saturating_mul(1000)))
                    });
                    match place {
                        None | Some(Place::Inside) => analyzer.push(&event),
                        Some(place) => analyzer.push_outside(&event, place),
                    }
                }
                Err(bad) => analyzer.unreadable(|| format!("line {number}: {bad}")),
            },
            TextKind::Usbsnoop => match usbsnoop::parse(text) {
                Some(parsed) => {
                    snooped(&mut analyzer, number, &parsed);
                }
                None => analyzer.unreadable(|| format!("line {number}: not a request of a UsbSnoop log")),
            },
        }
    }
    analyzer.summary.clock_wraps = clock.wraps;
    let is_date = |bound: Option<Bound>| matches!(bound, Some(Bound::Unix(_)));
    let is_by_time_of_day = options.window.is_some_and(|window| is_date(window.from) || is_date(window.to));
    let blank = Source { is_by_time_of_day, ..Source::default() };
    let mut source = Source { path, origin: "imported", compression: "none", is_text: true, ..blank };
    match kind {
        TextKind::Usbmon => {
            source.container = "usbmon-text".to_owned();
            source.has_clock = Some(true);
        }
        TextKind::Usbsnoop => {
            source.container = "usbsnoop-text".to_owned();
            source.has_clock = Some(false);
            analyzer.summary.layers = [0, 0, analyzer.summary.records];
        }
    }
    source.link_types.insert((0, source.container.clone()), analyzer.summary.records);
    source.window = placing.map(|placing| placing.placed());
    Ok(analyzer.report(&source))
}

/// The clock of usbmon's text is the time of day modulo 4096 s (Linux drivers/usb/mon/mon_text.c, `mon_get_timestamp`): a
/// window in the time of day, as seen from the first record, which is stamped `first_us`. It may begin up to 2048 s before
/// that record or after it.
fn by_text_clock(window: Window, first_us: u64) -> Window {
    let wrap_ns = i64::try_from(usbmon_text::WRAP_US).unwrap_or(i64::MAX).saturating_mul(1000);
    let first_ns = i64::try_from(first_us).unwrap_or(0).saturating_mul(1000);
    let seen = |bound| match bound {
        Bound::Unix(ns) => {
            let since = ns.saturating_sub(first_ns).rem_euclid(wrap_ns);
            Bound::SinceFirst(if since > wrap_ns / 2 { since - wrap_ns } else { since })
        }
        since_first @ Bound::SinceFirst(_) => since_first,
    };
    Window { from: window.from.map(seen), to: window.to.map(seen) }
}

/// A request of a UsbSnoop log, which has no time that could be trusted and no address.
fn snooped(analyzer: &mut Analyzer, number: u64, line: &usbsnoop::Line) {
    let is_in = line.setup.is_in();
    let submission = Event {
        number,
        time_us: None,
        id: line.number.max(1),
        kind: EventKind::Submission,
        transfer: TransferType::Control,
        bus: 0,
        device: 0,
        endpoint: EndpointAddress(if is_in { 0x80 } else { 0 }),
        status: Status::Unknown,
        setup: Some(line.setup),
        length: Some(u32::from(line.setup.length)),
        may_be_longer: false,
        data: if is_in { &[] } else { &line.data },
        cut_at: None,
        iso_errors: 0,
    };
    analyzer.push(&submission);
    analyzer.push(&Event {
        kind: EventKind::Completion,
        setup: None,
        length: Some(line.data.len() as u32),
        may_be_longer: line.may_be_longer(),
        data: if is_in { &line.data } else { &[] },
        ..submission
    });
}

/// Undoes the wraps of usbmon's text clock.
#[derive(Debug, Default)]
struct Clock {
    last: Option<u64>,
    base: i64,
    wraps: u64,
}

impl Clock {
    fn unwrap(&mut self, time_us: u64) -> i64 {
        if self.last.is_some_and(|last| last.saturating_sub(time_us) > WRAP_STEP_US) {
            self.base = self.base.saturating_add(usbmon_text::WRAP_US as i64);
            self.wraps += 1;
        }
        self.last = Some(time_us);
        self.base.saturating_add(time_us.min(i64::MAX as u64) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<Report, Error> {
        analyze_read(Cursor::new(text.to_owned().into_bytes()), None, "test".to_owned(), &Options::default(), &mut ())
    }

    #[test]
    fn the_text_clock_wraps() {
        let report = read(
            "ffff0001 4095999000 S Bo:1:002:5 -115 98 = 45000054\nffff0001 1000 C Bo:1:002:5 0 98 >\n\
             not a line\nffff0001 2000 S Bo:1:002:5 -115 98 = 45000054\n",
        )
        .unwrap();
        assert_eq!((report.summary.clock_wraps, report.summary.span_us), (1, Some(3_000)));
        assert_eq!(report.endpoints[0].turnaround_us.map(|t| t.max), Some(2_000.0));
        assert_eq!((report.summary.unreadable, report.summary.unfinished), (1, 1));
        assert_eq!(report.summary.unreadable_examples, ["line 3: word 1 is not a URB tag"]);
    }

    #[test]
    fn what_is_no_capture_is_refused() {
        assert!(matches!(read("hello"), Err(Error::Open(_))));
        assert!(matches!(read(""), Err(Error::Open(OpenError::Empty))));
    }
}
