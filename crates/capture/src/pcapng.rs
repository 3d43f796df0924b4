//! Blocks of a pcapng file: sections, interfaces, packets, statistics; everything else is passed over.

use wire::linktype::LinkType;
use wire::pcap::ByteOrder;
use wire::pcapng::{
    block_type, enhanced_packet_drops, padded, section_byte_order, InterfaceDescription, InterfaceStatistics,
    PacketHeader, SectionHeader, TickRate, BLOCK_HEADER_LEN, BLOCK_OVERHEAD, ENHANCED_PACKET_FIXED_LEN,
    SIMPLE_PACKET_FIXED_LEN,
};

use crate::damage::{Bytes, Grouped};
use crate::input::{Input, Short};
use crate::interfaces::{Drops, Interface, Section};
use crate::located::{record_len_max, Broken, Located, RECORD_LEN_MAX};

/// Longest block that is read into memory: the longest record and room for options.
const BLOCK_LEN_MAX: u32 = RECORD_LEN_MAX + (1 << 20);
/// More sections or interfaces than this are not kept, a hostile file could hold billions.
const SECTIONS_MAX: usize = 1 << 16;
const INTERFACES_MAX: usize = 1 << 16;

/// What a packet needs of its interface.
#[derive(Clone, Copy)]
struct Clock {
    rate: TickRate,
    offset_s: i64,
    link_type: LinkType,
    record_len_max: u32,
    snap_len: u32,
}

/// State of the reading.
pub(crate) struct Pcapng {
    byte_order: ByteOrder,
    pub(crate) sections: Vec<Section>,
    pub(crate) interfaces: Vec<Interface>,
    /// Index in `interfaces` of the present section's first.
    first_interface: usize,
    /// The present section's interfaces.
    clocks: Vec<Clock>,
    drops_in_records: Option<u64>,
}

/// A block with lengths that agree and all bytes in the window.
struct Block {
    offset: u64,
    block_type: u32,
    total_len: usize,
}

impl Pcapng {
    /// Reads the first section header, which `input` stands at.
    pub(crate) fn open(input: &mut Input) -> Result<Self, Broken> {
        let mut pcapng = Self {
            byte_order: ByteOrder::Little,
            sections: Vec::new(),
            interfaces: Vec::new(),
            first_interface: 0,
            clocks: Vec::new(),
            drops_in_records: None,
        };
        if let Some(block) = pcapng.next_block(input)? {
            pcapng.section_header(input, &block)?;
        }
        Ok(pcapng)
    }

    pub(crate) fn drops(&self) -> Drops {
        Drops {
            by_statistics: self.interfaces.iter().filter_map(|i| i.dropped).reduce(u64::saturating_add),
            by_records: self.drops_in_records,
        }
    }

    /// Finds the next packet.
    #[inline]
    pub(crate) fn locate(&mut self, input: &mut Input) -> Result<Option<Located>, Broken> {
        while let Some(block) = self.next_block(input)? {
            if block.block_type == block_type::ENHANCED_PACKET {
                return self.packet(input, &block, "an enhanced packet").map(Some);
            }
            if let Some(located) = self.other_block(input, &block)? {
                return Ok(Some(located));
            }
        }
        Ok(None)
    }

    #[inline(never)]
    fn other_block(&mut self, input: &mut Input, block: &Block) -> Result<Option<Located>, Broken> {
        match block.block_type {
            block_type::SECTION_HEADER => self.section_header(input, block)?,
            block_type::INTERFACE_DESCRIPTION => self.interface_description(input, block)?,
            block_type::INTERFACE_STATISTICS => self.interface_statistics(input, block),
            block_type::PACKET => return self.packet(input, block, "an obsolete packet").map(Some),
            block_type::SIMPLE_PACKET => return self.simple_packet(input, block).map(Some),
            // `next_block` passes over all others.
            _ => {}
        }
        Ok(None)
    }

    /// Brings the next block of a type that is read into the window, passing over those that are not.
    #[inline]
    fn next_block(&mut self, input: &mut Input) -> Result<Option<Block>, Broken> {
        loop {
            let offset = input.offset();
            let head = match input.peek_array::<BLOCK_HEADER_LEN>() {
                Ok(head) => head,
                Err(Short { available: 0, failure: None }) => return Ok(None),
                Err(short) => {
                    let claim = format!("a block at byte {} begins with a header of 8 bytes", Grouped(offset));
                    return Err(Broken::cut_off(offset, claim, &short));
                }
            };
            let [t0, t1, t2, t3, l0, l1, l2, l3] = head;
            let (kind, len) = ([t0, t1, t2, t3], [l0, l1, l2, l3]);
            if self.byte_order.u32(kind) == block_type::SECTION_HEADER {
                self.begin_section(input, offset)?;
            }
            let block_type = self.byte_order.u32(kind);
            let total_len = self.byte_order.u32(len);
            if total_len < BLOCK_OVERHEAD as u32 || total_len % 4 != 0 {
                return Err(bad_length(offset, block_type, total_len));
            }
            let known = matches!(
                block_type,
                block_type::SECTION_HEADER | block_type::INTERFACE_DESCRIPTION | block_type::INTERFACE_STATISTICS
            ) || is_packet(block_type);
            if !known {
                pass_over(input, offset, block_type, total_len, self.byte_order)?;
                continue;
            }
            if total_len > BLOCK_LEN_MAX {
                return Err(too_long(input, offset, block_type, total_len));
            }
            let total_len = total_len as usize;
            let trailer = match input.peek(total_len) {
                Ok(block) => self.byte_order.u32_at(block, total_len - 4),
                Err(short) => return Err(block_cut_off(offset, block_type, total_len as u64, &short)),
            };
            if trailer != Some(total_len as u32) {
                return Err(trailer_differs(offset, block_type, total_len as u32, trailer));
            }
            return Ok(Some(Block { offset, block_type, total_len }));
        }
    }

    /// Learns the byte order that the section header's lengths are in.
    #[cold]
    fn begin_section(&mut self, input: &mut Input, offset: u64) -> Result<(), Broken> {
        let at = Grouped(offset);
        let [.., m0, m1, m2, m3] = input.peek_array::<12>().map_err(|short| {
            Broken::cut_off(offset, format!("a section header at byte {at} takes at least 28 bytes"), &short)
        })?;
        self.byte_order = section_byte_order([m0, m1, m2, m3]).ok_or_else(|| {
            let message = format!(
                "the section header at byte {at} has {m0:02x}{m1:02x}{m2:02x}{m3:02x} where 1a2b3c4d in either byte order belongs"
            );
            Broken::contradiction(offset, message)
        })?;
        Ok(())
    }

    fn section_header(&mut self, input: &mut Input, block: &Block) -> Result<(), Broken> {
        let header = SectionHeader::parse(body(input, block)).ok_or_else(|| too_short(block))?;
        if header.version.0 != 1 {
            let (major, minor) = header.version;
            let at = Grouped(block.offset);
            let message =
                format!("the section header at byte {at} claims pcapng version {major}.{minor}, known is 1.0");
            return Err(Broken::contradiction(block.offset, message));
        }
        if self.sections.len() >= SECTIONS_MAX {
            return Err(too_many(block, "sections", SECTIONS_MAX));
        }
        self.sections.push(Section::new(&header, block.offset));
        self.first_interface = self.interfaces.len();
        self.clocks.clear();
        input.take(block.total_len, 0, 0);
        Ok(())
    }

    fn interface_description(&mut self, input: &mut Input, block: &Block) -> Result<(), Broken> {
        let description =
            InterfaceDescription::parse(body(input, block), self.byte_order).ok_or_else(|| too_short(block))?;
        if self.interfaces.len() >= INTERFACES_MAX {
            return Err(too_many(block, "interfaces", INTERFACES_MAX));
        }
        let section = self.sections.len().saturating_sub(1) as u32;
        self.interfaces.push(Interface::new(&description, section, self.clocks.len() as u32));
        self.clocks.push(Clock {
            rate: description.tick_rate,
            offset_s: description.offset_s,
            link_type: description.link_type,
            record_len_max: record_len_max(description.link_type),
            snap_len: description.snap_len,
        });
        input.take(block.total_len, 0, 0);
        Ok(())
    }

    /// Statistics never end the reading: they say nothing about the records.
    fn interface_statistics(&mut self, input: &mut Input, block: &Block) {
        if let Some(statistics) = InterfaceStatistics::parse(body(input, block), self.byte_order) {
            let index = self.first_interface.saturating_add(statistics.interface as usize);
            if let Some(interface) = self.interfaces.get_mut(index) {
                interface.received = statistics.received.or(interface.received);
                interface.dropped = statistics.dropped.or(interface.dropped);
            }
        }
        input.take(block.total_len, 0, 0);
    }

    /// An enhanced or obsolete packet; both have 20 bytes before the data.
    #[inline]
    fn packet(&mut self, input: &mut Input, block: &Block, what: &str) -> Result<Located, Broken> {
        let body = body(input, block);
        let Some(fixed) = body.first_chunk::<ENHANCED_PACKET_FIXED_LEN>() else { return Err(too_short(block)) };
        let header = if block.block_type == block_type::ENHANCED_PACKET {
            PacketHeader::parse_enhanced(fixed, self.byte_order)
        } else {
            PacketHeader::parse_obsolete(fixed, self.byte_order)
        };
        let Some(clock) = self.clocks.get(header.interface as usize).copied() else {
            return Err(no_interface(block, what, header.interface, self.clocks.len()));
        };
        let data_len = header.captured_len as usize;
        let room = body.len() - ENHANCED_PACKET_FIXED_LEN;
        if data_len > room || header.captured_len > clock.record_len_max {
            return Err(data_too_long(block, what, data_len, room.min(clock.record_len_max as usize)));
        }
        let options = body.get(ENHANCED_PACKET_FIXED_LEN + padded(data_len)..).unwrap_or_default();
        let dropped = match header.drops.map(u64::from) {
            None if !options.is_empty() && block.block_type == block_type::ENHANCED_PACKET => {
                enhanced_packet_drops(options, self.byte_order)
            }
            dropped => dropped,
        };
        if let Some(dropped) = dropped {
            self.drops_in_records = Some(self.drops_in_records.unwrap_or(0).saturating_add(dropped));
        }
        Ok(Located {
            offset: block.offset,
            time_ns: clock.rate.time_ns(header.ticks, clock.offset_s),
            interface: self.first_interface as u32 + header.interface,
            link_type: clock.link_type,
            original_len: header.original_len,
            data: input.take(block.total_len, BLOCK_HEADER_LEN + ENHANCED_PACKET_FIXED_LEN, data_len),
        })
    }

    /// A simple packet: no time, the section's first interface, captured length min(original, snap length).
    fn simple_packet(&mut self, input: &mut Input, block: &Block) -> Result<Located, Broken> {
        let body = body(input, block);
        let original_len = self.byte_order.u32_at(body, 0).ok_or_else(|| too_short(block))?;
        let room = body.len() - SIMPLE_PACKET_FIXED_LEN;
        let what = "a simple packet";
        let Some(clock) = self.clocks.first().copied() else {
            return Err(no_interface(block, what, 0, 0));
        };
        let data_len = match clock.snap_len {
            0 => original_len,
            snap_len => original_len.min(snap_len),
        };
        if data_len as usize > room || data_len > clock.record_len_max {
            return Err(data_too_long(block, what, data_len as usize, room.min(clock.record_len_max as usize)));
        }
        Ok(Located {
            offset: block.offset,
            time_ns: None,
            interface: self.first_interface as u32,
            link_type: clock.link_type,
            original_len,
            data: input.take(block.total_len, BLOCK_HEADER_LEN + SIMPLE_PACKET_FIXED_LEN, data_len as usize),
        })
    }
}

/// The bytes between the block's lengths.
#[inline]
fn body<'a>(input: &'a Input, block: &Block) -> &'a [u8] {
    input.unread().get(BLOCK_HEADER_LEN..block.total_len - 4).unwrap_or_default()
}

const fn is_packet(block_type: u32) -> bool {
    matches!(block_type, block_type::ENHANCED_PACKET | block_type::SIMPLE_PACKET | block_type::PACKET)
}

/// Passes over a block of a type that is not read, whatever its size, and compares its two lengths.
#[cold]
fn pass_over(
    input: &mut Input,
    offset: u64,
    block_type: u32,
    total_len: u32,
    byte_order: ByteOrder,
) -> Result<(), Broken> {
    let before_trailer = u64::from(total_len) - 4;
    let cut_off = |short: &Short, before: u64| {
        let short = Short { available: before as usize + short.available, failure: short.failure.clone() };
        block_cut_off(offset, block_type, u64::from(total_len), &short)
    };
    input.skip(before_trailer).map_err(|short| cut_off(&short, 0))?;
    let trailer = input.peek_array::<4>().map_err(|short| cut_off(&short, before_trailer))?;
    let trailer = byte_order.u32(trailer);
    if trailer != total_len {
        return Err(trailer_differs(offset, block_type, total_len, Some(trailer)));
    }
    input.take(4, 0, 0);
    Ok(())
}

fn name(block_type: u32) -> String {
    match block_type {
        block_type::SECTION_HEADER => "the section header".to_owned(),
        block_type::INTERFACE_DESCRIPTION => "the interface description".to_owned(),
        block_type::INTERFACE_STATISTICS => "the interface statistics block".to_owned(),
        block_type::ENHANCED_PACKET => "the enhanced packet".to_owned(),
        block_type::SIMPLE_PACKET => "the simple packet".to_owned(),
        block_type::PACKET => "the obsolete packet".to_owned(),
        other => format!("the block of type {other:#x}"),
    }
}

#[cold]
fn bad_length(offset: u64, block_type: u32, total_len: u32) -> Broken {
    let message = format!(
        "{} at byte {} claims a length of {}, but a block has at least 12 bytes and a multiple of 4",
        name(block_type),
        Grouped(offset),
        Bytes(u64::from(total_len))
    );
    Broken::contradiction(offset, message)
}

#[cold]
fn trailer_differs(offset: u64, block_type: u32, total_len: u32, trailer: Option<u32>) -> Broken {
    let message = format!(
        "{} at byte {} claims {} at its beginning and {} at its end",
        name(block_type),
        Grouped(offset),
        Bytes(u64::from(total_len)),
        Grouped(u64::from(trailer.unwrap_or(0)))
    );
    Broken::contradiction(offset, message)
}

#[cold]
fn block_cut_off(offset: u64, block_type: u32, total_len: u64, short: &Short) -> Broken {
    Broken::cut_off(
        offset,
        format!("{} at byte {} claims {}", name(block_type), Grouped(offset), Bytes(total_len)),
        short,
    )
}

#[cold]
fn too_long(input: &mut Input, offset: u64, block_type: u32, total_len: u32) -> Broken {
    if let Err(short) = input.peek(BLOCK_LEN_MAX as usize) {
        return Broken { cut_off: false, ..block_cut_off(offset, block_type, u64::from(total_len), &short) };
    }
    let message = format!(
        "{} at byte {} claims {}, but at most {} are believed",
        name(block_type),
        Grouped(offset),
        Bytes(u64::from(total_len)),
        Bytes(u64::from(BLOCK_LEN_MAX))
    );
    Broken::contradiction(offset, message)
}

#[cold]
fn too_short(block: &Block) -> Broken {
    let message = format!(
        "{} at byte {} has only {}, too few for its fixed part",
        name(block.block_type),
        Grouped(block.offset),
        Bytes(block.total_len as u64)
    );
    Broken::contradiction(block.offset, message)
}

#[cold]
fn too_many(block: &Block, what: &str, most: usize) -> Broken {
    let message = format!(
        "at byte {} begin more than {} {what}, which no capture has",
        Grouped(block.offset),
        Grouped(most as u64)
    );
    Broken::contradiction(block.offset, message)
}

#[cold]
fn no_interface(block: &Block, what: &str, interface: u32, known: usize) -> Broken {
    let message = format!(
        "{what} at byte {} belongs to interface {interface}, but its section has described {known} so far",
        Grouped(block.offset)
    );
    Broken::contradiction(block.offset, message)
}

#[cold]
fn data_too_long(block: &Block, what: &str, claimed: usize, most: usize) -> Broken {
    let message = format!(
        "{what} at byte {} claims {} of data in a block of {}, at most {} are possible",
        Grouped(block.offset),
        Bytes(claimed as u64),
        Bytes(block.total_len as u64),
        Grouped(most as u64)
    );
    Broken::contradiction(block.offset, message)
}
