//! What USB monitors would see of the radios that are reached over USB.
//!
//! Each radio is at a bus of its host; here they share one, each with an address of its own. OUT URBs carry one frame, IN
//! URBs as many as were put together, behind descriptors as the RTL8188C family has them ([`wire::usb::realtek`]).

use std::collections::VecDeque;

use wire::ieee80211::{FrameControl, Header, MacAddr, QosControl, Seq};
use wire::usb::realtek::{rx_descriptor, tx_descriptor, RX_ALIGNMENT, RX_DESCRIPTOR, TX_DESCRIPTOR};
use wire::usb::urb::{Urb, IN_PROGRESS};
use wire::usb::usbmon::EventKind;
use wire::usb::{EndpointAddress, TransferType};

use crate::engine::{HostId, Packet, Sink};
use crate::ppdu::write_msdu;
use crate::wlan::carried::{overhead, Carried, MAX_PACKET_BYTES};
use crate::wlan::radio::Radio;

const ENDPOINT_OUT: u8 = 0x02;
const ENDPOINT_IN: u8 = 0x81;
const ENDPOINT_INTERRUPT: u8 = 0x84;
/// Address of the access point; the stations follow. 1 is the root hub.
const FIRST_DEVICE: usize = 3;
/// USB 2.0, 9.4.6.
const LAST_DEVICE: usize = 127;
/// Bytes of an interrupt report (`USB_INTR_CONTENT_LENGTH` of Linux' rtl8xxxu.h).
const INTERRUPT_BYTES: u32 = 56;
/// URB of the interrupt endpoint; bulk URBs are numbered from 1.
const INTERRUPT_ID: u64 = 1 << 32;
/// Frame check sequence: not between driver and device.
const FCS_LEN: usize = 4;

/// MAC address of a radio: locally administered, `txop` in the middle, its number at the end.
pub const fn address(host: HostId) -> MacAddr {
    let [high, low] = host.0.to_be_bytes();
    MacAddr([0x02, 0x74, 0x78, 0x6f, 0x70_u8.wrapping_add(high), low])
}

/// Bytes of the frame that a packet becomes between driver and device: without FCS.
const fn frame_len(qos: bool, packet_bytes: usize) -> usize {
    packet_bytes + overhead(qos) - FCS_LEN
}

/// Length of an OUT transfer.
pub(crate) const fn out_len(qos: bool, packet_bytes: usize) -> usize {
    TX_DESCRIPTOR + frame_len(qos, packet_bytes)
}

/// Length of an IN transfer after another packet was added to it.
pub(crate) fn in_len(before: usize, qos: bool, packet_bytes: usize) -> usize {
    before.next_multiple_of(RX_ALIGNMENT) + RX_DESCRIPTOR + frame_len(qos, packet_bytes)
}

/// An event that no sink was shown yet.
#[derive(Clone, Debug)]
struct Record<P> {
    at_ns: u64,
    radio: usize,
    id: u64,
    what: What<P>,
}

#[derive(Clone, Debug)]
enum What<P> {
    SubmitOut(Carried<P>),
    /// With the length.
    CompleteOut(usize),
    SubmitIn,
    SubmitInterrupt,
    CompleteIn(Vec<Carried<P>>),
}

/// The device of one radio.
#[derive(Clone, Debug)]
struct Device {
    address: u8,
    qos: bool,
    is_ap: bool,
    in_buffer_bytes: u32,
    interrupts_per_second: f64,
    /// Interrupt URBs that have completed.
    interrupts: u64,
}

impl Device {
    /// When the next interrupt URB completes.
    fn interrupt_ns(&self) -> u64 {
        if self.interrupts_per_second > 0.0 {
            ((self.interrupts + 1) as f64 * 1e9 / self.interrupts_per_second) as u64
        } else {
            u64::MAX
        }
    }

    /// Polling interval of the interrupt URB: as the endpoints of high speed have it, a power of two of microframes (USB 2.0,
    /// 9.6.6), and not longer than the time between two interrupts.
    fn interval(&self) -> u32 {
        let microframes = (8_000.0 / self.interrupts_per_second.max(0.25)) as u32;
        1 << microframes.max(1).ilog2()
    }

    /// `to_ds`: from a station to the access point.
    fn write_frame<P: Packet>(&self, packet: &Carried<P>, to_ds: bool, out: &mut Vec<u8>) {
        let (from, to, ap) = (address(packet.from), address(packet.to), address(HostId::SERVER));
        let addresses = if to_ds { [ap, from, to] } else { [to, ap, from] };
        let fc = FrameControl::default().with_to_ds(to_ds).with_from_ds(!to_ds);
        // The device numbers what is sent.
        Header::data(fc, addresses, Seq::default(), self.qos.then(QosControl::default)).emit(out);
        write_msdu(packet, usize::MAX, out);
    }

    fn write_out<P: Packet>(&self, packet: &Carried<P>, out: &mut Vec<u8>) {
        let len = frame_len(self.qos, packet.size_bytes());
        out.extend_from_slice(&tx_descriptor(len as u16));
        self.write_frame(packet, !self.is_ap, out);
        out.resize(TX_DESCRIPTOR + len, 0);
    }

    fn write_in<P: Packet>(&self, packets: &[Carried<P>], out: &mut Vec<u8>) {
        for (index, packet) in packets.iter().enumerate() {
            out.resize(out.len().next_multiple_of(RX_ALIGNMENT), 0);
            // The first descriptor says how many there are; more than fit into it, none.
            let count = if index == 0 { u8::try_from(packets.len()).unwrap_or(0) } else { 0 };
            let len = frame_len(self.qos, packet.size_bytes());
            let end = out.len() + RX_DESCRIPTOR + len;
            out.extend_from_slice(&rx_descriptor(len as u16, count));
            self.write_frame(packet, self.is_ap, out);
            out.resize(end, 0);
        }
    }

    /// An event of the interrupt URB.
    fn interrupt<'a>(&self, at_ns: u64, event: EventKind, data: &'a [u8]) -> Urb<'a> {
        Urb {
            at_ns,
            event,
            id: INTERRUPT_ID,
            device: self.address,
            endpoint: EndpointAddress(ENDPOINT_INTERRUPT),
            transfer: TransferType::Interrupt,
            status: if event == EventKind::Submission { IN_PROGRESS } else { 0 },
            length: INTERRUPT_BYTES,
            setup: None,
            interval: self.interval(),
            transfer_flags: 0,
            data,
        }
    }
}

/// The devices, and what was not shown yet.
#[derive(Clone, Debug)]
pub(crate) struct Bus<P> {
    /// By radio.
    devices: Vec<Option<Device>>,
    pending: VecDeque<Record<P>>,
    /// The first sink wanted to see the bus, or there was none yet.
    wanted: bool,
    bytes: Vec<u8>,
}

impl<P: Packet> Bus<P> {
    /// Device and IN URBs of every radio with USB, from time 0 on.
    pub(crate) fn new(radios: &[Radio<P>]) -> Self {
        let mut pending = VecDeque::new();
        let mut devices = Vec::with_capacity(radios.len());
        for (radio, own) in radios.iter().enumerate() {
            let address = FIRST_DEVICE + radio;
            let usb = own.settings.usb.as_ref().filter(|_| address <= LAST_DEVICE);
            let longest = in_len(0, true, MAX_PACKET_BYTES).next_multiple_of(RX_ALIGNMENT);
            devices.push(usb.map(|usb| Device {
                address: address as u8,
                qos: own.qos,
                is_ap: radio == 0,
                in_buffer_bytes: longest as u32 * usb.rx_packets_per_urb,
                interrupts_per_second: usb.interrupts_per_second,
                interrupts: 0,
            }));
            if let Some(usb) = usb {
                let submit = |id| Record { at_ns: 0, radio, id, what: What::SubmitIn };
                pending.extend(own.host.in_urbs().map(submit));
                if usb.interrupts_per_second > 0.0 {
                    pending.push_back(Record { at_ns: 0, radio, id: INTERRUPT_ID, what: What::SubmitInterrupt });
                }
            }
        }
        Self { devices, pending, wanted: true, bytes: Vec::new() }
    }

    /// Whether reports to it are of use.
    pub(crate) const fn is_wanted(&self) -> bool {
        self.wanted
    }

    fn note(&mut self, at_ns: u64, radio: usize, id: u64, what: What<P>) {
        if self.wanted && self.devices[radio].is_some() {
            let at_ns = self.pending.back().map_or(at_ns, |last| last.at_ns.max(at_ns));
            self.pending.push_back(Record { at_ns, radio, id, what });
        }
    }

    pub(crate) fn submit_out(&mut self, at_ns: u64, radio: usize, id: u64, packet: &Carried<P>) {
        if self.wanted {
            self.note(at_ns, radio, id, What::SubmitOut(packet.clone()));
        }
    }

    pub(crate) fn complete_out(&mut self, at_ns: u64, radio: usize, id: u64, len: usize) {
        self.note(at_ns, radio, id, What::CompleteOut(len));
    }

    pub(crate) fn submit_in(&mut self, at_ns: u64, radio: usize, id: u64) {
        self.note(at_ns, radio, id, What::SubmitIn);
    }

    /// Another packet has been received into the URB `id`.
    pub(crate) fn receive(&mut self, at_ns: u64, radio: usize, id: u64, packet: Carried<P>) {
        if let Some(Record { radio: last, id: last_id, what: What::CompleteIn(packets), .. }) = self.pending.back_mut()
        {
            if (*last, *last_id) == (radio, id) {
                packets.push(packet);
                return;
            }
        }
        self.note(at_ns, radio, id, What::CompleteIn(vec![packet]));
    }

    fn show_interrupts(&mut self, until_ns: u64, sink: &mut impl Sink<P>) {
        loop {
            let next = self.devices.iter_mut().flatten().min_by_key(|device| device.interrupt_ns());
            let Some(device) = next else { return };
            let at_ns = device.interrupt_ns();
            if at_ns > until_ns {
                return;
            }
            sink.bus(&device.interrupt(at_ns, EventKind::Completion, &[0; INTERRUPT_BYTES as usize]));
            sink.bus(&device.interrupt(at_ns, EventKind::Submission, &[]));
            device.interrupts += 1;
        }
    }

    /// Shows what has happened by `now_ns`.
    pub(crate) fn show(&mut self, now_ns: u64, sink: &mut impl Sink<P>) {
        if self.pending.is_empty() && !self.wanted {
            return;
        }
        self.wanted = sink.wants_bus();
        if !self.wanted {
            self.pending.clear();
            return;
        }
        let mut bytes = std::mem::take(&mut self.bytes);
        while let Some(Record { at_ns, radio, id, what }) = self.pending.pop_front() {
            self.show_interrupts(at_ns, sink);
            let Some(device) = &self.devices[radio] else { continue };
            bytes.clear();
            let (event, endpoint, len) = match &what {
                What::SubmitOut(packet) => {
                    device.write_out(packet, &mut bytes);
                    (EventKind::Submission, ENDPOINT_OUT, bytes.len() as u32)
                }
                What::CompleteOut(len) => (EventKind::Completion, ENDPOINT_OUT, *len as u32),
                What::SubmitIn => (EventKind::Submission, ENDPOINT_IN, device.in_buffer_bytes),
                What::SubmitInterrupt => {
                    sink.bus(&device.interrupt(at_ns, EventKind::Submission, &[]));
                    continue;
                }
                What::CompleteIn(packets) => {
                    device.write_in(packets, &mut bytes);
                    (EventKind::Completion, ENDPOINT_IN, bytes.len() as u32)
                }
            };
            sink.bus(&Urb {
                at_ns,
                event,
                id,
                device: device.address,
                endpoint: EndpointAddress(endpoint),
                transfer: TransferType::Bulk,
                status: if event == EventKind::Submission { IN_PROGRESS } else { 0 },
                length: len,
                setup: None,
                interval: 0,
                transfer_flags: 0,
                data: &bytes,
            });
        }
        self.bytes = bytes;
        if now_ns < u64::MAX {
            self.show_interrupts(now_ns, sink);
        }
    }
}
