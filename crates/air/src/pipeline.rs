//! The two stages on two threads.

use std::path::Path;
use std::sync::mpsc::{channel, sync_channel, Receiver, Sender, SyncSender};
use std::time::{Duration, Instant};

use capture::{Damage, Ending, InOrder, OpenError, Place, Placing, Reader, Record};

use crate::analyzer::{Analyzer, Options};
use crate::decode::{Batch, Decoder, RawRecord};
use crate::decryption;
use crate::elsewhere::Elsewhere;
use crate::packet::PacketReader;
use crate::report::Report;
use crate::selection::NotThere;
use crate::summary::Source;

/// Frames handed over at once.
const BATCH_FRAMES: usize = 2_048;
/// Batches on their way.
const BATCHES: usize = 8;
/// How often the caller is asked whether to go on.
const TICK: Duration = Duration::from_millis(100);
/// While a growing file brings nothing new, the first stage hands over what it has this often.
const FLUSH: Duration = Duration::from_millis(200);
/// Interfaces with kept names.
const MAX_NAMED: usize = 4_096;
/// Letters of such a name that are kept; Linux allows 15.
const LONGEST_NAME: usize = 32;

/// Why there is no report.
#[derive(Debug)]
#[non_exhaustive]
pub enum Error {
    /// The file could not be opened, or is not a capture.
    Open(OpenError),
    /// The capture holds records, but none of them is 802.11.
    NotWlan {
        /// Records read.
        records: u64,
        /// Link types found, in words.
        link_types: String,
    },
    /// It holds 802.11 records, but none of them can be read.
    Unreadable {
        /// Records of 802.11.
        records: u64,
        /// What is wrong with the first.
        example: String,
    },
    /// A window was asked for, and no record of the capture has a time.
    NoTimes,
    /// A network or a channel was chosen that the capture does not have.
    NotThere(NotThere),
    /// The caller asked to stop.
    Stopped,
}

impl std::fmt::Display for Error {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Open(error) => error.fmt(f),
            Self::NotWlan { records, link_types } => write!(
                f,
                "none of its {records} records is an 802.11 frame (link type {link_types}): capture on a monitor \
                 interface"
            ),
            Self::Unreadable { records: 1, example } => write!(f, "its only 802.11 record cannot be read: {example}"),
            Self::Unreadable { records, example } => {
                write!(f, "none of its {records} 802.11 records can be read: {example}")
            }
            Self::NoTimes => f.write_str("its records have no time, so none can be placed in a window"),
            Self::NotThere(what) => what.fmt(f),
            Self::Stopped => f.write_str("stopped"),
        }
    }
}

impl std::error::Error for Error {}

/// What the caller sees and decides while the analysis runs.
pub trait Progress {
    /// Called about ten times a second with the bytes read and their total, where known. `false` stops: a followed
    /// file ends with a report, anything else with [`Error::Stopped`].
    fn tick(&mut self, bytes_read: u64, total_bytes: Option<u64>) -> bool;

    /// A report of what has been read so far is welcome now (asked after every tick while a file is followed).
    fn wants_snapshot(&mut self) -> bool {
        false
    }

    /// Takes the report asked for.
    fn snapshot(&mut self, _report: Report) {}
}

impl Progress for () {
    fn tick(&mut self, _: u64, _: Option<u64>) -> bool {
        true
    }
}

enum Message {
    Frames(Batch),
    /// The records are out of order and come once more, sorted: what was sent so far is to be forgotten.
    Again,
    /// The file cannot be read again.
    Failed(OpenError),
    End(Source),
}

/// Analyses the capture at `path` (`-`: standard input).
///
/// # Errors
/// See [`Error`]. A capture that is damaged after its first records is not an error: the report says where it broke.
pub fn analyze(
    path: &Path,
    settings: capture::Options,
    options: Options,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let stop = settings.follow.as_ref().map(|follow| follow.stop.clone());
    let (frames, stage_two) = sync_channel::<Message>(BATCHES);
    let (back, empty) = channel::<Batch>();
    let (opened, started) = sync_channel::<Result<Option<u64>, OpenError>>(1);
    let name = path.display().to_string();
    let path = path.to_owned();
    let reading = options.clone();
    let settings = capture::Options { interface: options.selection.interface, ..settings };
    let is_watched = stop.is_some();
    // Not a scoped thread: one that waits for a silent pipe must not keep the caller from stopping.
    std::thread::spawn(move || {
        let records = match InOrder::open(&path, settings) {
            Ok(records) => records,
            Err(error) => {
                let _ = opened.send(Err(error));
                return;
            }
        };
        let _ = opened.send(Ok(records.reader().total_bytes()));
        read_in_order(records, &name, &reading, is_watched, &frames, &empty);
    });
    let total = loop {
        match started.recv_timeout(TICK) {
            Ok(Ok(total)) => break total,
            Ok(Err(error)) => return Err(Error::Open(error)),
            Err(_) => {
                if !progress.tick(0, None) {
                    stop_following(stop.as_deref());
                    if stop.is_none() {
                        return Err(Error::Stopped);
                    }
                }
            }
        }
    };
    second_stage(&stage_two, &back, options, total, stop.as_deref(), progress)
}

/// Analyses what an open reader delivers, sorted as far as [`InOrder::once`] can; `name` is what the report calls it.
///
/// # Errors
/// See [`Error`].
pub fn analyze_reader(
    reader: Reader,
    name: String,
    options: Options,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let (frames, stage_two) = sync_channel::<Message>(BATCHES);
    let (back, empty) = channel::<Batch>();
    let total = reader.total_bytes();
    let reading = options.clone();
    std::thread::spawn(move || read_in_order(InOrder::once(reader), &name, &reading, false, &frames, &empty));
    second_stage(&stage_two, &back, options, total, None, progress)
}

fn stop_following(stop: Option<&std::sync::atomic::AtomicBool>) {
    if let Some(stop) = stop {
        stop.store(true, std::sync::atomic::Ordering::Release);
    }
}

/// The first stage.
struct FirstStage<'a> {
    frames: &'a SyncSender<Message>,
    empty: &'a Receiver<Batch>,
    decoder: Decoder,
    /// For records outside the window: what the networks of the window count is counted by `decoder` alone.
    outside: Decoder,
    /// Where a channel was chosen: for records of the others.
    elsewhere: Option<Box<Elsewhere>>,
    batch: Batch,
    spare: Vec<Batch>,
    flushed: Instant,
    networks_shown: Instant,
    since_check: u32,
    /// Bytes read when last looked.
    position: u64,
    /// Reports may be asked for on the way.
    is_watched: bool,
}

/// Reads the records; where they turn out not to be in order, once more.
fn read_in_order(
    mut records: InOrder,
    name: &str,
    options: &Options,
    is_watched: bool,
    frames: &SyncSender<Message>,
    empty: &Receiver<Batch>,
) {
    while let Err(Ended::OutOfOrder) = read(&mut records, name, options, is_watched, frames, empty) {
        records = match records.again() {
            Ok(records) => records,
            Err(error) => {
                let _ = frames.send(Message::Failed(error));
                return;
            }
        };
        if frames.send(Message::Again).is_err() {
            return;
        }
    }
}

fn read(
    records: &mut InOrder,
    path: &str,
    options: &Options,
    is_watched: bool,
    frames: &SyncSender<Message>,
    empty: &Receiver<Batch>,
) -> Result<(), Ended> {
    let mut stage = FirstStage {
        frames,
        empty,
        decoder: Decoder::default(),
        outside: Decoder::default(),
        elsewhere: options.selection.channel.map(|channel| Box::new(Elsewhere::new(channel))),
        batch: Batch::default(),
        spare: Vec::new(),
        flushed: Instant::now(),
        networks_shown: Instant::now(),
        since_check: 0,
        position: 0,
        is_watched,
    };
    if options.wants_packets() {
        stage.decoder.packets = Some(Box::new(PacketReader::new(options.keys.clone())));
    }
    let mut placing = options.window.map(Placing::new);
    let all = match &mut placing {
        None if stage.elsewhere.is_none() => stage.whole(records),
        None => stage.channel(records),
        Some(placing) => stage.part(records, placing),
    };
    let damage = match all {
        Ok(()) => None,
        Err(Ended::Damaged(damage)) => Some(damage),
        Err(ended) => return Err(ended),
    };
    let reader = records.reader();
    let FirstStage { decoder, outside, mut batch, .. } = stage;
    let packets = decoder.packets.as_ref().or(outside.packets.as_ref());
    let sessions = packets.and_then(|packets| packets.sessions());
    let keys = options.keys.as_ref().map_or(0, |keys| keys.len());
    let decryption = sessions.map(|sessions| decryption::report(sessions, keys));
    batch.tally.file_position = reader.bytes_read();
    batch.tally.order = records.order();
    batch.networks = Some(Box::new(decoder.networks().clone()));
    let _ = frames.send(Message::Frames(batch));
    let drops = reader.drops();
    let source = Source {
        path: path.to_owned(),
        origin: capture::origin(reader.interfaces()),
        container: reader.container().name().to_owned(),
        compression: match reader.compression() {
            None => "none",
            Some(capture::Compression::Gzip) => "gzip",
            Some(capture::Compression::Zstd) => "zstd",
        }
        .to_owned(),
        snap_lengths: reader.interfaces().iter().take(64).map(|i| i.snap_len.unwrap_or(0)).collect(),
        interfaces: reader.interfaces().iter().take(MAX_NAMED).map(name_of).collect(),
        described: reader.interfaces().len() as u64,
        on_other_interfaces: reader.left_out(),
        dropped: drops.by_statistics.or(drops.by_records),
        damage: damage.as_ref().map(|damage| (damage.offset, damage.to_string())),
        window: placing.map(|placing| placing.placed()),
        decryption,
    };
    let _ = frames.send(Message::End(source));
    Ok(())
}

/// What the operating system called an interface, safe to print; empty where the capture does not show it.
fn name_of(interface: &capture::Interface) -> String {
    let name = interface.name.as_deref().unwrap_or_default();
    name.chars().take(LONGEST_NAME).map(|letter| if letter.is_ascii_graphic() { letter } else { '?' }).collect()
}

/// Why not all records were read.
enum Ended {
    /// The capture breaks off there.
    Damaged(Damage),
    /// They are to be sorted.
    OutOfOrder,
    /// The second stage has gone.
    Gone,
}

impl From<Ending> for Ended {
    fn from(ending: Ending) -> Self {
        match ending {
            Ending::Damage(damage) => Self::Damaged(damage),
            Ending::OutOfOrder => Self::OutOfOrder,
        }
    }
}

impl FirstStage<'_> {
    /// Reads all records.
    fn whole(&mut self, records: &mut InOrder) -> Result<(), Ended> {
        while let Some(record) = records.next()? {
            self.decoder.decode(&raw(&record), &mut self.batch);
            self.hand_over_when_due(records)?;
        }
        Ok(())
    }

    /// Reads all records and separates those of a channel from the others.
    fn channel(&mut self, records: &mut InOrder) -> Result<(), Ended> {
        while let Some(record) = records.next()? {
            self.decode(&raw(&record));
            self.hand_over_when_due(records)?;
        }
        Ok(())
    }

    /// Decodes a record that is counted, if it is of the channel that was chosen.
    #[inline]
    fn decode(&mut self, record: &RawRecord<'_>) {
        let elsewhere = self.elsewhere.as_mut().is_some_and(|elsewhere| elsewhere.took(record, &mut self.batch));
        if !elsewhere {
            self.decoder.decode(record, &mut self.batch);
        }
    }

    /// Reads all records and separates those of a window from the others: a batch is of one place.
    fn part(&mut self, records: &mut InOrder, placing: &mut Placing) -> Result<(), Ended> {
        self.batch.place = Some(Place::Before);
        self.outside.packets = self.decoder.packets.take();
        if let Some(packets) = &mut self.outside.packets {
            packets.count(false);
        }
        while let Some(record) = records.next()? {
            let place = placing.place(record.time_ns);
            if self.batch.place != Some(place) {
                // Handshakes outside the window are those of the frames in it.
                let mut packets = self.decoder.packets.take().or_else(|| self.outside.packets.take());
                if let Some(packets) = &mut packets {
                    packets.count(place == Place::Inside);
                }
                if self.batch.place == Some(Place::Inside) {
                    // What it remembers may be older than what was reported meanwhile.
                    self.outside = Decoder::default();
                }
                let next = if place == Place::Inside { &mut self.decoder } else { &mut self.outside };
                next.packets = packets;
                self.hand_over()?;
                self.batch.place = Some(place);
            }
            if place == Place::Inside {
                self.decode(&raw(&record));
            } else {
                self.outside.decode(&raw(&record), &mut self.batch);
            }
            self.hand_over_when_due(records)?;
        }
        Ok(())
    }

    #[inline]
    fn hand_over_when_due(&mut self, records: &InOrder) -> Result<(), Ended> {
        self.since_check = self.since_check.wrapping_add(1);
        // Records that gave no frame do not fill a batch: however many there are, few batches wait for the calibration.
        let full = self.batch.frames.len() >= BATCH_FRAMES;
        // A pipe or a growing file may deliver slowly: time counts too, looked at now and then.
        if full || (self.since_check % 16 == 0 && self.flushed.elapsed() > FLUSH) {
            self.position = records.reader().bytes_read();
            self.batch.tally.order = records.order();
            self.hand_over()?;
        }
        Ok(())
    }

    /// Sends what there is to the second stage; the next batch is of the same place.
    fn hand_over(&mut self) -> Result<(), Ended> {
        self.since_check = 0;
        self.flushed = Instant::now();
        let place = self.batch.place;
        self.batch.tally.file_position = self.position;
        if self.is_watched && self.networks_shown.elapsed() > FLUSH {
            self.networks_shown = self.flushed;
            self.batch.networks = Some(Box::new(self.decoder.networks().clone()));
        }
        // The one that came back last is still in the processor's cache; more than can be on their way are not kept.
        self.spare.extend(self.empty.try_iter());
        let mut next = self.spare.pop().unwrap_or_default();
        self.spare.truncate(BATCHES);
        next.clear();
        next.place = place;
        self.frames.send(Message::Frames(std::mem::replace(&mut self.batch, next))).map_err(|_| Ended::Gone)
    }
}

#[inline]
fn raw<'a>(record: &Record<'a>) -> RawRecord<'a> {
    RawRecord {
        number: record.number,
        offset: record.offset,
        time_ns: record.time_ns,
        interface: record.interface,
        link: record.link_type,
        original_len: record.original_len,
        data: record.data,
    }
}

fn second_stage(
    frames: &Receiver<Message>,
    back: &Sender<Batch>,
    options: Options,
    total: Option<u64>,
    stop: Option<&std::sync::atomic::AtomicBool>,
    progress: &mut dyn Progress,
) -> Result<Report, Error> {
    let mut analyzer = Analyzer::new(options.clone());
    let mut ticked = Instant::now();
    let mut position = 0;
    let source = loop {
        match frames.recv_timeout(TICK) {
            Ok(Message::Frames(batch)) => {
                position = batch.tally.file_position;
                analyzer.push(batch, |batch| {
                    let _ = back.send(batch);
                });
            }
            Ok(Message::Again) => analyzer = Analyzer::new(options.clone()),
            Ok(Message::Failed(error)) => return Err(Error::Open(error)),
            Ok(Message::End(source)) => break source,
            Err(std::sync::mpsc::RecvTimeoutError::Timeout) => {}
            Err(std::sync::mpsc::RecvTimeoutError::Disconnected) => return Err(Error::Stopped),
        }
        if ticked.elapsed() >= TICK {
            ticked = Instant::now();
            if !progress.tick(position, total) {
                stop_following(stop);
                if stop.is_none() {
                    return Err(Error::Stopped);
                }
            } else if stop.is_some() && progress.wants_snapshot() {
                progress.snapshot(analyzer.report(&Source { origin: "imported", ..Source::default() }));
            }
        }
    };
    if source.window.is_some_and(|placed| placed.first_ns.is_none() && placed.untimed > 0) {
        return Err(Error::NoTimes);
    }
    let report = analyzer.report(&source);
    let records = report.frames + report.summary.not_wlan;
    let interface = options.selection.interface;
    if let Some(what) = interface.and_then(|asked| NotThere::interface(asked, &source, records)) {
        return Err(Error::NotThere(what));
    }
    if let Some(what) = analyzer.not_there() {
        return Err(Error::NotThere(what.in_what_was_read(&source)));
    }
    if report.frames == 0 && report.summary.not_wlan > 0 {
        let names: Vec<String> =
            report.summary.link_types.iter().map(|link| format!("{} ({})", link.number, link.name)).collect();
        return Err(Error::NotWlan { records: report.summary.not_wlan, link_types: names.join(", ") });
    }
    if let Some((records, example)) = analyzer.unreadable() {
        return Err(Error::Unreadable { records, example });
    }
    Ok(report)
}
