//! A host and a simple device for tests.

use std::collections::VecDeque;

use vusb::device::{ControlReply, Device, Identity, InReply, OutReply, Speed};
use vusb::record::Observer;
use vusb::session::{Session, SessionError};
use vusb::urbs::UrbCounters;
use wire::usb::setup::Setup;
use wire::usb::usbip::{Command, Completion, Submit, HEADER};

/// Sends what a test gives it, and keeps what the host sends.
pub struct Echo {
    pub identity: Identity,
    pub to_host: VecDeque<Vec<u8>>,
    pub interrupts: VecDeque<Vec<u8>>,
    pub from_host: Vec<Vec<u8>>,
    /// Transfers that it still takes.
    pub room: usize,
    pub stall_in: bool,
    /// How often it was asked for data.
    pub asked: usize,
}

impl Default for Echo {
    fn default() -> Self {
        let device = [18, 1, 0, 2, 0xff, 0, 0, 64, 1, 0, 2, 0, 0, 1, 1, 0, 0, 1];
        let configuration = vec![
            9, 2, 39, 0, 1, 1, 0, 0x80, 50, 9, 4, 0, 0, 3, 0xff, 0, 0, 0, 7, 5, 0x81, 2, 0, 2, 0, 7, 5, 2, 2, 0, 2, 0,
            7, 5, 0x83, 3, 16, 0, 4,
        ];
        let identity = Identity { device, configuration, strings: vec!["vusb".into()], speed: Speed::High };
        let (to_host, interrupts) = (VecDeque::new(), VecDeque::new());
        Self { identity, to_host, interrupts, from_host: Vec::new(), room: 1_000, stall_in: false, asked: 0 }
    }
}

impl Device for Echo {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn control(&mut self, _now_ns: u64, setup: Setup, _data: &[u8]) -> ControlReply {
        if setup.is_in() {
            ControlReply::Data(vec![0; usize::from(setup.length)])
        } else {
            ControlReply::Accepted
        }
    }

    fn transfer_out(&mut self, _now_ns: u64, _endpoint: u8, data: &[u8]) -> OutReply {
        if self.room == 0 {
            return OutReply::Nak;
        }
        self.room -= 1;
        self.from_host.push(data.to_vec());
        OutReply::Accepted
    }

    fn transfer_in(&mut self, _now_ns: u64, endpoint: u8, transfer: &mut Vec<u8>) -> InReply {
        self.asked += 1;
        if self.stall_in {
            return InReply::Stall;
        }
        let queue = if endpoint == 1 { &mut self.to_host } else { &mut self.interrupts };
        match queue.pop_front() {
            Some(bytes) => {
                transfer.extend(bytes);
                InReply::Transfer
            }
            None => InReply::Nak,
        }
    }

    fn advance(&mut self, _now_ns: u64) {}

    fn next_event(&self) -> Option<u64> {
        None
    }
}

/// A host that imported the device.
pub struct Host<D: Device> {
    pub device: D,
    pub now_ns: u64,
    session: Session,
    sequence: u32,
    /// Which transfers are IN.
    reads: Vec<u32>,
}

impl<D: Device> Host<D> {
    pub fn new(device: D) -> Self {
        Self::observed(device, None)
    }

    /// The bus is watched.
    pub fn observed(device: D, observer: Option<Box<dyn Observer>>) -> Self {
        let session = Session::new(&device, observer);
        Self { device, now_ns: 0, session, sequence: 0, reads: Vec::new() }
    }

    /// Unplugs the device: gives it back, with what was counted, when all recordings are written.
    pub fn finish(self) -> (D, UrbCounters) {
        let counters = *self.session.counters();
        if let Some(mut observer) = self.session.into_observer() {
            observer.finish().unwrap();
        }
        (self.device, counters)
    }

    pub fn receive(&mut self, bytes: &[u8]) -> Result<(), SessionError> {
        self.session.receive(self.now_ns, bytes)
    }

    fn submit(&mut self, endpoint: u8, is_in: bool, length: u32, flags: u32, setup: Setup, data: &[u8]) -> u32 {
        self.sequence += 1;
        let sequence = self.sequence;
        if is_in {
            self.reads.push(sequence);
        }
        let submit = Submit { sequence, is_in, endpoint, flags, length, iso_packets: 0, interval: 0, setup };
        self.receive(&Command::Submit(submit).emit(0x0001_0002)).unwrap();
        self.receive(data).unwrap();
        sequence
    }

    pub fn submit_header(&mut self, endpoint: u8, is_in: bool, length: u32) -> [u8; HEADER] {
        self.sequence += 1;
        if is_in {
            self.reads.push(self.sequence);
        }
        let setup = Setup::from_bytes([0; 8]);
        let sequence = self.sequence;
        Command::Submit(Submit { sequence, is_in, endpoint, flags: 0, length, iso_packets: 0, interval: 0, setup })
            .emit(1)
    }

    pub fn read(&mut self, endpoint: u8, length: u32, flags: u32) -> u32 {
        self.submit(endpoint, true, length, flags, Setup::from_bytes([0; 8]), &[])
    }

    pub fn write(&mut self, endpoint: u8, data: &[u8]) -> u32 {
        self.submit(endpoint, false, data.len() as u32, 0, Setup::from_bytes([0; 8]), data)
    }

    pub fn unlink(&mut self, victim: u32) -> u32 {
        self.sequence += 1;
        let sequence = self.sequence;
        self.receive(&Command::Unlink { sequence, victim }.emit(0x0001_0002)).unwrap();
        sequence
    }

    /// A control transfer that is answered at once: status and data.
    pub fn control(&mut self, setup: Setup, data: &[u8]) -> (i32, Vec<u8>) {
        let length = u32::from(setup.length);
        let sequence = self.submit(0, setup.is_in(), length, 0, setup, data);
        match &self.completions()[..] {
            [(Completion::Submit { sequence: of, status, .. }, data)] if *of == sequence => (*status, data.clone()),
            other => panic!("{other:?}"),
        }
    }

    /// A control transfer that is answered some time.
    pub fn ask(&mut self, setup: Setup) -> u32 {
        self.ask_with(setup, &[])
    }

    /// The same with data for the device.
    pub fn ask_with(&mut self, setup: Setup, data: &[u8]) -> u32 {
        self.submit(0, setup.is_in(), u32::from(setup.length), 0, setup, data)
    }

    /// What the device has counted, as JSON.
    pub fn statistics(&self) -> serde_json::Value {
        serde_json::to_value(self.device.statistics()).unwrap()
    }

    /// Lets the device answer, and gives what it said.
    pub fn completions(&mut self) -> Vec<(Completion, Vec<u8>)> {
        self.device.advance(self.now_ns);
        self.session.pump(self.now_ns, &mut self.device);
        let bytes = std::mem::take(self.session.output());
        let mut rest = &bytes[..];
        let mut completions = Vec::new();
        while let Some((header, after)) = rest.split_first_chunk::<HEADER>() {
            let completion = Completion::parse(header).unwrap();
            let len = match completion {
                Completion::Submit { sequence, actual, .. } if self.reads.contains(&sequence) => actual as usize,
                _ => 0,
            };
            let (data, next) = after.split_at(len);
            completions.push((completion, data.to_vec()));
            rest = next;
        }
        assert!(rest.is_empty());
        completions
    }
}
