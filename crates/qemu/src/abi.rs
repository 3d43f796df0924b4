//! The functions that the C object (`python/txop/guest_image/emulator/shim`) calls. QEMU calls one at a time, under its lock.
//!
//! A panic ends the device, with its message as the reason; the guest goes on without it.

#![expect(unsafe_code, reason = "a C ABI")]

use std::ffi::{c_char, c_int, CStr};
use std::panic::{catch_unwind, AssertUnwindSafe};
use std::path::Path;

use vusb::pci::{HostMemory, PciIdentity, Register, SharedMemory, Width, NETWORK_CONTROLLER};
use vusb::urbs::{Finished, Request};
use wire::usb::setup::Setup;
use wire::usb::TransferType;

use crate::config::Config;
use crate::lab::{Action, Lab};

/// Nothing happens by itself.
const NEVER: u64 = u64::MAX;

/// A laboratory, and the bytes that C looks at until its next call.
pub struct Handle {
    lab: Lab,
    bytes: Vec<u8>,
}

/// What is to be done; `kind` is one of the numbers below.
#[repr(C)]
pub struct CAction {
    kind: u32,
    id: u32,
    status: i32,
    actual: u32,
    data: *const u8,
    data_len: usize,
}

const NONE: u32 = 0;
const FINISHED: u32 = 1;
const ATTACH: u32 = 2;
const DETACH: u32 = 3;
const REPLY: u32 = 4;
const INSERT: u32 = 5;
const PULL_OUT: u32 = 6;
const APPEAR: u32 = 7;
const VANISH: u32 = 8;
const STOP: u32 = 9;

/// Bytes that say who a function on PCI is: vendor, device, subsystem vendor, subsystem (16 bits each, little endian), revision,
/// class and subclass, the number of the base address register with its registers.
const IDENTITY_LEN: usize = 12;

/// C's way to the memory of the guest.
struct Dma {
    read: unsafe extern "C" fn(u32, u64, *mut u8, usize),
    write: unsafe extern "C" fn(u32, u64, *const u8, usize),
}

impl HostMemory for Dma {
    fn read(&self, function: usize, address: u64, bytes: &mut [u8]) {
        // SAFETY: C fills so many bytes.
        unsafe { (self.read)(function as u32, address, bytes.as_mut_ptr(), bytes.len()) };
    }

    fn write(&self, function: usize, address: u64, bytes: &[u8]) {
        // SAFETY: C reads so many bytes.
        unsafe { (self.write)(function as u32, address, bytes.as_ptr(), bytes.len()) };
    }
}

fn identity_bytes(identity: &PciIdentity) -> [u8; IDENTITY_LEN] {
    let PciIdentity { vendor, device, revision, subsystem_vendor, subsystem, base } = *identity;
    let ([v0, v1], [d0, d1]) = (vendor.to_le_bytes(), device.to_le_bytes());
    let ([s0, s1], [i0, i1]) = (subsystem_vendor.to_le_bytes(), subsystem.to_le_bytes());
    let (class, subclass) = NETWORK_CONTROLLER;
    [v0, v1, d0, d1, s0, s1, i0, i1, revision, class, subclass, base.number()]
}

/// A transfer of C's.
#[repr(C)]
pub struct CTransfer {
    id: u32,
    length: u32,
    endpoint: u8,
    is_in: bool,
    at_once: bool,
    setup: [u8; 8],
}

/// An endpoint of the device.
#[repr(C)]
pub struct CEndpoint {
    number: u8,
    is_in: bool,
    /// 0 control, 1 isochronous, 2 bulk, 3 interrupt (USB 2.0, table 9-13).
    transfer: u8,
    max_packet: u16,
}

impl Handle {
    /// Calls what may panic; a panic ends the device.
    fn guarded<T>(&mut self, what: impl FnOnce(&mut Lab) -> T, otherwise: T) -> T {
        match catch_unwind(AssertUnwindSafe(|| what(&mut self.lab))) {
            Ok(result) => result,
            Err(panic) => {
                let text = panic.downcast_ref::<String>().map(String::as_str);
                let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("a defect");
                let why = format!("the virtual device panicked: {text}");
                let _ = catch_unwind(AssertUnwindSafe(|| self.lab.end(&why)));
                otherwise
            }
        }
    }

    fn shown(&mut self, action: Action) -> CAction {
        let (kind, id, status, actual, bytes) = match action {
            Action::Finished(Finished { id, status, actual, data, .. }) => (FINISHED, id, status, actual, data),
            Action::Attach(speed) => (ATTACH, 0, speed as i32, 0, Vec::new()),
            Action::Detach => (DETACH, 0, 0, 0, Vec::new()),
            Action::Insert => (INSERT, 0, 0, 0, Vec::new()),
            Action::PullOut => (PULL_OUT, 0, 0, 0, Vec::new()),
            Action::Reply(bytes) => (REPLY, 0, 0, 0, bytes),
            Action::Stop => (STOP, 0, 0, 0, Vec::new()),
            Action::Appear(functions) => (APPEAR, 0, 0, 0, functions.iter().flat_map(identity_bytes).collect()),
            Action::Vanish => (VANISH, 0, 0, 0, Vec::new()),
        };
        self.bytes = bytes;
        CAction { kind, id, status, actual, data: self.bytes.as_ptr(), data_len: self.bytes.len() }
    }

    fn kept(&mut self, bytes: Option<Vec<u8>>, len: *mut usize) -> *const u8 {
        let Some(bytes) = bytes else { return std::ptr::null() };
        self.bytes = bytes;
        // SAFETY: C gives the place of a size_t.
        unsafe { *len = self.bytes.len() };
        self.bytes.as_ptr()
    }
}

/// # Safety
/// `data` has `len` bytes, or `len` is 0.
unsafe fn bytes<'a>(data: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        &[]
    } else {
        // SAFETY: by contract.
        unsafe { std::slice::from_raw_parts(data, len) }
    }
}

/// A laboratory after its configuration; null, with an error on stderr: there is none.
///
/// # Safety
/// `config` is a string.
#[no_mangle]
pub unsafe extern "C" fn txop_open(config: *const c_char) -> *mut Handle {
    // SAFETY: by contract.
    let path = unsafe { CStr::from_ptr(config) }.to_string_lossy().into_owned();
    match Config::open(Path::new(&path)) {
        Ok(config) => Box::into_raw(Box::new(Handle { lab: Lab::new(config), bytes: Vec::new() })),
        Err(error) => {
            eprintln!("txop-vusb: {error}");
            std::ptr::null_mut()
        }
    }
}

/// Everything is written; the handle is void.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_close(handle: *mut Handle, now_ns: u64) {
    // SAFETY: by contract; C forgets it.
    let mut handle = unsafe { Box::from_raw(handle) };
    handle.guarded(|lab| lab.finish(now_ns), ());
}

/// Bytes that the guest wrote to its control port.
///
/// # Safety
/// `handle` is of [`txop_open`]; `data` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn txop_control(handle: *mut Handle, now_ns: u64, data: *const u8, len: usize) {
    // SAFETY: by contract.
    let (handle, data) = unsafe { (&mut *handle, bytes(data, len)) };
    handle.guarded(|lab| lab.control(now_ns, data), ());
}

/// A transfer; true: it is finished at once, and `done` says how.
///
/// # Safety
/// `handle` is of [`txop_open`]; `data` has `len` bytes; `done` is the place of an action.
#[no_mangle]
pub unsafe extern "C" fn txop_transfer(
    handle: *mut Handle,
    now_ns: u64,
    transfer: *const CTransfer,
    data: *const u8,
    len: usize,
    done: *mut CAction,
) -> bool {
    // SAFETY: by contract.
    let (handle, transfer, data) = unsafe { (&mut *handle, &*transfer, bytes(data, len)) };
    let [request_type, request, v0, v1, i0, i1, l0, l1] = transfer.setup;
    let half = |low, high| u16::from_le_bytes([low, high]);
    let setup = Setup { request_type, request, value: half(v0, v1), index: half(i0, i1), length: half(l0, l1) };
    let CTransfer { id, endpoint, is_in, length, at_once, .. } = *transfer;
    let request = Request { id, endpoint, is_in, flags: 0, interval: 0, setup, length };
    match handle.guarded(|lab| lab.transfer(now_ns, request, data, at_once), None) {
        Some(finished) => {
            let shown = handle.shown(Action::Finished(finished));
            // SAFETY: by contract.
            unsafe { *done = shown };
            true
        }
        None => false,
    }
}

/// The host takes a transfer back.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_cancel(handle: *mut Handle, now_ns: u64, id: u32) {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.cancel(now_ns, id), ());
}

/// The host resets the port.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_reset(handle: *mut Handle, now_ns: u64) {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.reset(now_ns), ());
}

/// Lets happen what is due.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_advance(handle: *mut Handle, now_ns: u64) {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.advance(now_ns), ());
}

/// When something happens next, ns.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_next(handle: *mut Handle) -> u64 {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.next_event(), None).unwrap_or(NEVER)
}

/// The guest's CLOCK_MONOTONIC at a time of QEMU's clock, ns.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_guest_ns(handle: *mut Handle, now_ns: u64) -> u64 {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.guest_ns(now_ns), now_ns)
}

/// Whether [`txop_action`] has one.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_has_actions(handle: *mut Handle) -> bool {
    // SAFETY: by contract.
    unsafe { &mut *handle }.lab.has_actions()
}

/// Takes the next action; its kind is 0 where there is none.
///
/// # Safety
/// `handle` is of [`txop_open`]; `action` is the place of one.
#[no_mangle]
pub unsafe extern "C" fn txop_action(handle: *mut Handle, action: *mut CAction) {
    // SAFETY: by contract.
    let handle = unsafe { &mut *handle };
    let shown = match handle.lab.action() {
        Some(action) => handle.shown(action),
        None => CAction { kind: NONE, id: 0, status: 0, actual: 0, data: std::ptr::null(), data_len: 0 },
    };
    // SAFETY: by contract.
    unsafe { *action = shown };
}

/// The endpoints of the device but endpoint 0: how many.
///
/// # Safety
/// `handle` is of [`txop_open`]; there is room for `room` of them.
#[no_mangle]
pub unsafe extern "C" fn txop_endpoints(handle: *mut Handle, endpoints: *mut CEndpoint, room: usize) -> usize {
    // SAFETY: by contract.
    let (handle, places) = unsafe { (&mut *handle, std::slice::from_raw_parts_mut(endpoints, room)) };
    let found = handle.lab.endpoints();
    for (place, (number, is_in, endpoint)) in places.iter_mut().zip(&found) {
        let transfer = match endpoint.transfer {
            TransferType::Control => 0,
            TransferType::Isochronous => 1,
            TransferType::Bulk => 2,
            TransferType::Interrupt => 3,
        };
        *place = CEndpoint { number: *number, is_in: *is_in, transfer, max_packet: endpoint.max_packet };
    }
    found.len().min(room)
}

/// A message of mac80211_hwsim.
///
/// # Safety
/// `handle` is of [`txop_open`]; `data` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn txop_from_radios(handle: *mut Handle, now_ns: u64, data: *const u8, len: usize) {
    // SAFETY: by contract.
    let (handle, data) = unsafe { (&mut *handle, bytes(data, len)) };
    handle.guarded(|lab| lab.from_radios(now_ns, data), ());
}

/// Takes the next message for mac80211_hwsim; null: there is none.
///
/// # Safety
/// `handle` is of [`txop_open`]; `len` is the place of a size.
#[no_mangle]
pub unsafe extern "C" fn txop_to_radios(handle: *mut Handle, len: *mut usize) -> *const u8 {
    // SAFETY: by contract.
    let handle = unsafe { &mut *handle };
    let message = handle.lab.to_radios();
    handle.kept(message, len)
}

/// A command of the SD host controller, with the data that it writes.
///
/// # Safety
/// `handle` is of [`txop_open`]; `data` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn txop_from_slot(handle: *mut Handle, now_ns: u64, data: *const u8, len: usize) {
    // SAFETY: by contract.
    let (handle, data) = unsafe { (&mut *handle, bytes(data, len)) };
    handle.guarded(|lab| lab.from_slot(now_ns, data), ());
}

/// Takes the next message for the SD host controller; null: there is none.
///
/// # Safety
/// `handle` is of [`txop_open`]; `len` is the place of a size.
#[no_mangle]
pub unsafe extern "C" fn txop_to_slot(handle: *mut Handle, len: *mut usize) -> *const u8 {
    // SAFETY: by contract.
    let handle = unsafe { &mut *handle };
    let message = handle.lab.to_slot();
    handle.kept(message, len)
}

/// C's way to the memory of the guest, for devices on PCI.
///
/// # Safety
/// `handle` is of [`txop_open`]; both functions can be called whenever C calls one of this library.
#[no_mangle]
pub unsafe extern "C" fn txop_memory(
    handle: *mut Handle,
    read: unsafe extern "C" fn(u32, u64, *mut u8, usize),
    write: unsafe extern "C" fn(u32, u64, *const u8, usize),
) {
    // SAFETY: by contract.
    unsafe { &mut *handle }.lab.set_memory(SharedMemory::new(Dma { read, write }));
}

const fn register(function: u32, offset: u32, bytes: u32) -> Register {
    Register { function: function as usize, offset, width: Width::of(bytes) }
}

/// The guest reads a register of a function on PCI: 1, 2 or 4 bytes.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_read(handle: *mut Handle, now_ns: u64, function: u32, offset: u32, bytes: u32) -> u32 {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.read_register(now_ns, register(function, offset, bytes)), u32::MAX)
}

/// The guest writes one.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_write(
    handle: *mut Handle,
    now_ns: u64,
    function: u32,
    offset: u32,
    bytes: u32,
    value: u32,
) {
    // SAFETY: by contract.
    unsafe { &mut *handle }.guarded(|lab| lab.write_register(now_ns, register(function, offset, bytes), value), ());
}

/// The functions on PCI that hold their interrupt line, a bit for each.
///
/// # Safety
/// `handle` is of [`txop_open`].
#[no_mangle]
pub unsafe extern "C" fn txop_interrupts(handle: *mut Handle) -> u32 {
    // SAFETY: by contract.
    unsafe { &*handle }.lab.interrupts()
}

/// A frame that the guest sends on the wired interface.
///
/// # Safety
/// `handle` is of [`txop_open`]; `data` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn txop_from_wired(handle: *mut Handle, now_ns: u64, data: *const u8, len: usize) {
    // SAFETY: by contract.
    let (handle, data) = unsafe { (&mut *handle, bytes(data, len)) };
    handle.guarded(|lab| lab.from_wired(now_ns, data), ());
}

/// Takes the next frame that the guest gets on the wired interface; null: there is none.
///
/// # Safety
/// `handle` is of [`txop_open`]; `len` is the place of a size.
#[no_mangle]
pub unsafe extern "C" fn txop_to_wired(handle: *mut Handle, len: *mut usize) -> *const u8 {
    // SAFETY: by contract.
    let handle = unsafe { &mut *handle };
    let frame = handle.lab.to_wired();
    handle.kept(frame, len)
}

/// What another process needs to continue; null, with an error on stderr: it cannot be saved.
///
/// # Safety
/// `handle` is of [`txop_open`]; `len` is the place of a size.
#[no_mangle]
pub unsafe extern "C" fn txop_save(handle: *mut Handle, len: *mut usize) -> *const u8 {
    // SAFETY: by contract.
    let handle = unsafe { &mut *handle };
    let saved = handle.guarded(|lab| lab.save().map_err(|error| eprintln!("txop-vusb: {error}")).ok(), None);
    handle.kept(saved, len)
}

/// Continues with what [`txop_save`] gave; false, with an error on stderr: it does not.
///
/// # Safety
/// `handle` is of [`txop_open`], and was not used; `data` has `len` bytes.
#[no_mangle]
pub unsafe extern "C" fn txop_restore(handle: *mut Handle, data: *const u8, len: usize) -> bool {
    // SAFETY: by contract.
    let (handle, data) = unsafe { (&mut *handle, bytes(data, len)) };
    handle.guarded(|lab| lab.restore(data).map_err(|error| eprintln!("txop-vusb: {error}")).is_ok(), false)
}

/// The layout of what passes between C and Rust: both sides have to have the same number.
#[no_mangle]
pub extern "C" fn txop_abi() -> c_int {
    6
}
