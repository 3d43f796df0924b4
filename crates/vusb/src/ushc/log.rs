//! The command log of the bus behind the controller.

use std::collections::VecDeque;

use sdio::Answer;
use wire::sdio::log::{LoggedCommand, Record, TOOK_UNKNOWN};
use wire::usb::ushc::CommandBlock;

use super::HostCounters;
use crate::record::CommandFile;

/// A command with a status that the host has not fetched yet.
#[derive(serde::Serialize, serde::Deserialize)]
struct Waiting {
    began_ns: u64,
    command: LoggedCommand,
    data: Vec<u8>,
}

/// Writes down what goes over the bus.
pub(super) struct Log {
    file: CommandFile,
    bus_time: bool,
    waiting: VecDeque<Waiting>,
    line: bool,
}

impl Log {
    pub(super) fn new(file: CommandFile, bus_time: bool) -> Self {
        Self { file, bus_time, waiting: VecDeque::new(), line: false }
    }

    /// A command that began then was carried out; its status is the next that the host fetches.
    pub(super) fn carried_out(
        &mut self,
        began_ns: u64,
        block: CommandBlock,
        answer: Answer,
        data: &[u8],
        wrong_crc: bool,
        host: &HostCounters,
    ) {
        let response = match answer {
            Answer::Response(response) => Some(response),
            Answer::Silence => None,
        };
        let command = LoggedCommand {
            number: block.number & 63,
            argument: block.argument,
            response,
            fetched: false,
            wrong_crc,
            bus_time: self.bus_time,
            took_ns: TOOK_UNKNOWN,
            clock_hz: host.clock_hz,
            bus_width: host.bus_width,
            block_bytes: block.block_bytes,
            data_len: data.len() as u32,
        };
        self.waiting.push_back(Waiting { began_ns, command, data: data.to_vec() });
    }

    /// The host has fetched the next status.
    pub(super) fn fetched(&mut self, now_ns: u64) {
        if let Some(Waiting { began_ns, command, data }) = self.waiting.pop_front() {
            let took_ns = u32::try_from(now_ns.saturating_sub(began_ns)).unwrap_or(TOOK_UNKNOWN);
            let command = LoggedCommand { fetched: true, took_ns, ..command };
            self.file.take(now_ns, &Record::Command(command), &data);
        }
    }

    /// What was not fetched yet stays so.
    pub(super) fn start_over(&mut self) {
        for Waiting { began_ns, command, data } in self.waiting.drain(..) {
            self.file.take(began_ns, &Record::Command(command), &data);
        }
    }

    /// The interrupt line is like this now.
    pub(super) fn line(&mut self, now_ns: u64, line: bool) {
        if line != self.line {
            self.line = line;
            self.file.take(now_ns, &Record::Line(line), &[]);
        }
    }

    pub(super) fn finish(&mut self) -> std::io::Result<()> {
        self.start_over();
        self.file.finish()
    }
}

crate::state!(Log { file, waiting, line } made { bus_time });
