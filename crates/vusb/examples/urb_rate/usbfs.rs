//! A program with the kernel's USB stack in between: vhci-hcd below, usbfs above.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

use vusb::device::Speed;
use vusb::serve::{Signals, Vhci};

use crate::device::{IDS, IN, OUT};
use crate::{measure_all, serve, Bus, DEPTHS, LEN};

/// `struct usbdevfs_urb` and its requests (include/uapi/linux/usbdevice_fs.h).
#[repr(C)]
struct Urb {
    kind: u8,
    endpoint: u8,
    status: i32,
    flags: u32,
    buffer: *mut u8,
    buffer_length: i32,
    actual_length: i32,
    start_frame: i32,
    number_of_packets: i32,
    error_count: i32,
    signal: u32,
    context: usize,
}

const BULK: u8 = 3;
const SUBMIT: u64 = 0x8000_550a | (size_of::<Urb>() as u64) << 16;
const REAP: u64 = 0x4000_550c | (size_of::<usize>() as u64) << 16;
const CLAIM: u64 = 0x8000_550f | (size_of::<u32>() as u64) << 16;

#[expect(unsafe_code, reason = "usbfs is ioctls, for which no crate in use has a safe form")]
fn request<T>(file: &File, request: u64, argument: *mut T) -> io::Result<()> {
    // SAFETY: the requests above read and write what their argument points to, which outlives the call; what a URB points to
    // lives as long as `Usbfs`, which keeps it until the kernel has given the URB back.
    let done = unsafe { libc::ioctl(file.as_raw_fd(), request as _, argument) };
    if done < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(())
    }
}

/// The device's file, and the URBs that the kernel may have.
struct Usbfs {
    file: File,
    /// The URBs. Their number is fixed: the kernel knows where they are.
    urbs: Box<[Urb]>,
    _buffers: Vec<Vec<u8>>,
}

impl Bus for Usbfs {
    fn submit(&mut self, is_in: bool, slot: usize) {
        let urb = &mut self.urbs[slot];
        urb.endpoint = if is_in { IN } else { OUT };
        request(&self.file, SUBMIT, std::ptr::from_mut::<Urb>(urb)).expect("the kernel takes URBs");
    }

    fn reap(&mut self, _is_in: bool) -> usize {
        let mut urb: *mut Urb = std::ptr::null_mut();
        request(&self.file, REAP, &raw mut urb).expect("URBs come back");
        let slot = self.urbs.iter().position(|own| std::ptr::eq(own, urb)).expect("a URB of ours");
        let Urb { status, actual_length, .. } = self.urbs[slot];
        assert_eq!((status, actual_length), (0, LEN as i32));
        slot
    }
}

/// The file of the device with our ids, once the kernel has it.
fn find(patience: Duration) -> Option<PathBuf> {
    let read = |folder: &Path, name: &str| fs::read_to_string(folder.join(name)).map(|text| text.trim().to_owned());
    let started = Instant::now();
    while started.elapsed() < patience {
        for folder in fs::read_dir("/sys/bus/usb/devices").ok()?.flatten().map(|entry| entry.path()) {
            let is_ours = read(&folder, "idVendor").is_ok_and(|id| id == format!("{:04x}", IDS.0))
                && read(&folder, "idProduct").is_ok_and(|id| id == format!("{:04x}", IDS.1));
            let configured = folder.join("bConfigurationValue");
            if is_ours && fs::read_to_string(configured).is_ok_and(|value| !value.trim().is_empty()) {
                let number = |name: &str| read(&folder, name).ok().and_then(|text| text.parse::<u32>().ok());
                let (bus, device) = (number("busnum")?, number("devnum")?);
                return Some(PathBuf::from(format!("/dev/bus/usb/{bus:03}/{device:03}")));
            }
        }
        thread::sleep(Duration::from_millis(20));
    }
    None
}

/// Measures through the kernel's USB stack.
pub fn run(time: Duration) -> Result<(), String> {
    let (device, _) = Vhci::new(0x0001_0002, Speed::High).plug().map_err(|error| error.to_string())?;
    let served = thread::spawn(move || {
        let signals = Signals::install().map_err(|error| error.to_string())?;
        serve(device, &signals).map_err(|error| error.to_string())
    });
    let path = find(Duration::from_secs(20)).ok_or("the kernel did not find the device")?;
    let named = |what: &str| {
        let place = path.display().to_string();
        let what = what.to_owned();
        move |error: io::Error| format!("{place}: {what}: {error}")
    };
    let file = OpenOptions::new().read(true).write(true).open(&path).map_err(named("opening"))?;
    let mut interface = 0u32;
    request(&file, CLAIM, &raw mut interface).map_err(named("claiming the interface"))?;
    let slots = DEPTHS.iter().copied().max().unwrap_or(1);
    let mut buffers = vec![vec![0xa5u8; LEN]; slots];
    let urb = |buffer: &mut Vec<u8>| Urb {
        kind: BULK,
        endpoint: OUT,
        status: 0,
        flags: 0,
        buffer: buffer.as_mut_ptr(),
        buffer_length: LEN as i32,
        actual_length: 0,
        start_frame: 0,
        number_of_packets: 0,
        error_count: 0,
        signal: 0,
        context: 0,
    };
    let urbs = buffers.iter_mut().map(urb).collect();
    let mut bus = Usbfs { file, urbs, _buffers: buffers };
    measure_all(&mut bus, "vhci", time);
    // The device stays plugged in until the program ends.
    drop(served);
    Ok(())
}
