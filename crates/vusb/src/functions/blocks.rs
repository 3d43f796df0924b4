//! Transfer blocks both ways, as NCM and MBIM functions have them, and the requests about them (NCM 1.0, 3 and 6.2; MBIM
//! 1.0, 7).

use wire::usb::ntb::{parse, Content, Header, Width};
use wire::usb::ntb_layout::Layout;
use wire::usb::setup::Setup;

use super::block_counters::{BlockCounters, BlockFormat};
use super::block_limits::{BlockLimits, ALIGN, INPUT_MIN};
use super::downlink::{Aggregation, Downlink};
use crate::device::ControlReply;

/// The request that begins every set-up of a function.
pub(super) const GET_NTB_PARAMETERS: (u8, u8) = (0xa1, 0x80);

/// The blocks of a function.
#[derive(Debug)]
pub(super) struct Blocks {
    limits: BlockLimits,
    width: Width,
    input_size: u32,
    sequence: u16,
    expected: Option<u16>,
    pub(super) counters: BlockCounters,
}

impl Blocks {
    pub(super) fn new(limits: BlockLimits) -> Self {
        Self {
            limits,
            width: Width::Bits16,
            input_size: limits.in_max,
            sequence: 0,
            expected: None,
            counters: BlockCounters::default(),
        }
    }

    /// As after a reset of the port; counters stay.
    pub(super) fn reset(&mut self) {
        self.width = Width::Bits16;
        self.input_size = self.limits.in_max;
    }

    /// Bytes of a block to the host that the host asked for at most.
    pub(super) const fn input_size(&self) -> u32 {
        self.input_size
    }

    /// What the host chose for both directions.
    pub(super) fn format(&self) -> BlockFormat {
        if self.width == Width::Bits32 {
            BlockFormat::Ntb32
        } else {
            BlockFormat::Ntb16
        }
    }

    /// A request about blocks; `None`: it is another one.
    pub(super) fn control(&mut self, setup: Setup, data: &[u8]) -> Option<ControlReply> {
        Some(match (setup.request_type, setup.request) {
            GET_NTB_PARAMETERS => {
                self.expected = None;
                self.sequence = 0;
                ControlReply::Data(self.limits.parameters())
            }
            (0xa1, 0x83) => ControlReply::Data(vec![u8::from(self.width == Width::Bits32), 0]),
            (0x21, 0x84) if setup.value == 0 => {
                self.width = Width::Bits16;
                ControlReply::Accepted
            }
            (0x21, 0x84) if setup.value == 1 && self.limits.wide => {
                self.width = Width::Bits32;
                ControlReply::Accepted
            }
            (0xa1, 0x85) => ControlReply::Data(self.input_size.to_le_bytes().to_vec()),
            (0x21, 0x86) => match data.first_chunk().map(|bytes| u32::from_le_bytes(*bytes)) {
                Some(size) if (INPUT_MIN..=self.limits.in_max).contains(&size) => {
                    self.input_size = size;
                    ControlReply::Accepted
                }
                _ => ControlReply::Stall,
            },
            _ => return None,
        })
    }

    const fn layout(&self, room: usize) -> Layout {
        Layout { width: self.width, room, align: ALIGN as usize, remainder: 0 }
    }

    /// Bytes that a block has at most: below what the host has room for, so that every block ends with a short packet.
    fn limit(&self) -> usize {
        let most = if self.width == Width::Bits16 { self.input_size.min(65_535) } else { self.input_size };
        most as usize - 1
    }

    /// Whether a datagram fits into a block with a table that has room for this many.
    pub(super) fn fits(&self, room: usize, len: usize) -> bool {
        let layout = self.layout(room);
        layout.next_offset(layout.head_len()) + len <= self.limit()
    }

    /// The datagrams of the next block, none when the host has to wait.
    pub(super) fn take(&self, now_ns: u64, downlink: &mut Downlink, to_host: Aggregation) -> Vec<Vec<u8>> {
        // A table has room for all datagrams of a block, so it grows with each.
        let head = self.layout(0).head_len();
        let pointer = self.layout(1).head_len() - head;
        let limit = Aggregation { bytes: to_host.bytes.min(self.limit()), ..to_host };
        downlink.take(now_ns, limit, head, |end, len| (end + pointer).next_multiple_of(usize::from(ALIGN)) + len)
    }

    /// Appends a block of the datagrams; its table has this signature, and room for exactly them.
    pub(super) fn write(&mut self, signature: [u8; 4], datagrams: &[Vec<u8>], block: &mut Vec<u8>) {
        let layout = self.layout(datagrams.len());
        let mut end = layout.head_len();
        let places: Vec<_> = datagrams
            .iter()
            .map(|datagram| {
                let start = layout.next_offset(end);
                end = start + datagram.len();
                (start, datagram.len())
            })
            .collect();
        if layout.write_head(signature, self.sequence, end, &places, block).is_none() {
            self.counters.dropped += datagrams.len() as u64;
            return;
        }
        for (datagram, &(start, _)) in datagrams.iter().zip(&places) {
            block.resize(start, 0);
            block.extend_from_slice(datagram);
        }
        if block.len() % usize::from(crate::descriptors::BULK_PACKET) == 0 {
            // A byte behind the block: it ends with a short packet then, and no empty one follows.
            block.push(0);
        }
        self.sequence = self.sequence.wrapping_add(1);
        self.counters.downlink.count(block.len(), datagrams.iter().map(Vec::len));
    }

    /// The datagrams of a transfer from the host that are of a kind that is wanted, each with what it is.
    pub(super) fn read<'a>(&mut self, data: &'a [u8], is_wanted: impl Fn(Content) -> bool) -> Vec<(Content, &'a [u8])> {
        let Some(header) = Header::parse(data).filter(|header| header.width == self.width) else {
            self.counters.not_blocks += 1;
            return Vec::new();
        };
        if self.expected.is_some_and(|expected| expected != header.sequence) {
            self.counters.out_of_sequence += 1;
        }
        self.expected = Some(header.sequence.wrapping_add(1));
        let block = parse(&header, data, data.len());
        self.counters.faults += block.faults.len() as u64;
        let found: Vec<_> = block
            .datagrams
            .iter()
            .filter(|datagram| is_wanted(datagram.content))
            .filter_map(|datagram| Some((datagram.content, data.get(datagram.offset..datagram.offset + datagram.len)?)))
            .collect();
        self.counters.uplink.count(data.len(), found.iter().map(|(_, datagram)| datagram.len()));
        found
    }
}

crate::state!(Blocks { width, input_size, sequence, expected, counters } made { limits });
