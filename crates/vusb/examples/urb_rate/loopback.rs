//! A host at the other end of a pair of sockets.

use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::thread;
use std::time::Duration;

use vusb::serve::Signals;
use wire::usb::setup::Setup;
use wire::usb::usbip::{Command, Completion, Submit, HEADER};

use crate::device::{IN, OUT};
use crate::{measure_all, serve, Bus, LEN};

/// The host: reads and writes as a kernel thread would, one URB at a time.
struct Stream {
    stream: UnixStream,
    out: Vec<u8>,
    data: Vec<u8>,
}

impl Bus for Stream {
    fn submit(&mut self, is_in: bool, slot: usize) {
        let endpoint = if is_in { IN & 0x0f } else { OUT };
        let (sequence, setup) = (slot as u32 + 1, Setup::from_bytes([0; 8]));
        let submit =
            Submit { sequence, is_in, endpoint, flags: 0, length: LEN as u32, iso_packets: 0, interval: 0, setup };
        self.out.clear();
        self.out.extend(Command::Submit(submit).emit(1));
        if !is_in {
            self.out.resize(HEADER + LEN, 0xa5);
        }
        self.stream.write_all(&self.out).expect("the device takes URBs");
    }

    fn reap(&mut self, is_in: bool) -> usize {
        let mut header = [0; HEADER];
        self.stream.read_exact(&mut header).expect("the device answers");
        let Some(Completion::Submit { sequence, status: 0, actual }) = Completion::parse(&header) else {
            panic!("a URB that has failed")
        };
        assert_eq!(actual as usize, LEN);
        if is_in {
            self.data.resize(LEN, 0);
            self.stream.read_exact(&mut self.data).expect("the device answers");
        }
        sequence as usize - 1
    }
}

/// Measures the core alone.
pub fn run(time: Duration) -> Result<(), String> {
    let (host, device) = UnixStream::pair().map_err(|error| error.to_string())?;
    let served = thread::spawn(move || {
        let signals = Signals::install().map_err(|error| error.to_string())?;
        serve(device.into(), &signals).map_err(|error| error.to_string())
    });
    let mut stream = Stream { stream: host, out: Vec::new(), data: Vec::new() };
    measure_all(&mut stream, "loopback", time);
    drop(stream);
    served.join().map_err(|_| "the device broke off".to_owned())?
}
