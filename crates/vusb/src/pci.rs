//! What a device on PCI is to the computer that it is in: functions with registers, an interrupt line each, and the computer's
//! memory, which they read and write by themselves.

use std::fmt;
use std::rc::Rc;

/// Who a function says it is, in its configuration space (PCI Local Bus 3.0, 6.2.1).
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct PciIdentity {
    /// Vendor ID.
    pub vendor: u16,
    /// Device ID.
    pub device: u16,
    /// Revision ID.
    pub revision: u8,
    /// Subsystem vendor ID.
    pub subsystem_vendor: u16,
    /// Subsystem ID.
    pub subsystem: u16,
    /// Which base address register its registers are behind.
    pub base: Base,
}

/// A base address register (PCI Local Bus 3.0, 6.2.5.1).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Base {
    /// The first one.
    #[default]
    Zero,
    /// The third one, where the first one is for ports, which nobody uses.
    Two,
}

impl Base {
    /// Its number.
    pub const fn number(self) -> u8 {
        match self {
            Self::Zero => 0,
            Self::Two => 2,
        }
    }
}

/// Bytes of an access to registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// One.
    Byte,
    /// Two.
    Half,
    /// Four.
    Word,
}

impl Width {
    /// So many bytes; a bus has no others.
    pub const fn of(bytes: u32) -> Self {
        match bytes {
            1 => Self::Byte,
            2 => Self::Half,
            _ => Self::Word,
        }
    }

    /// How many.
    pub const fn bytes(self) -> usize {
        match self {
            Self::Byte => 1,
            Self::Half => 2,
            Self::Word => 4,
        }
    }

    /// The bits of a value that so many bytes have.
    pub const fn mask(self) -> u32 {
        match self {
            Self::Byte => 0xff,
            Self::Half => 0xffff,
            Self::Word => u32::MAX,
        }
    }
}

/// Where an access to registers goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Register {
    /// The function.
    pub function: usize,
    /// The first byte: a multiple of the width.
    pub offset: u32,
    /// How many bytes.
    pub width: Width,
}

impl Register {
    /// A whole word.
    pub const fn word(function: usize, offset: u32) -> Self {
        Self { function, offset, width: Width::Word }
    }

    /// The word that it is in.
    pub const fn whole(self) -> u32 {
        self.offset & !3
    }

    /// Where in that word it is: bits from its end.
    pub const fn shift(self) -> u32 {
        8 * (self.offset & 3)
    }

    /// What it has of its word.
    pub const fn part_of(self, word: u32) -> u32 {
        word >> self.shift() & self.width.mask()
    }
}

/// Base class and subclass of a network controller that is of no listed kind (PCI Code and ID Assignment, 1.3).
pub const NETWORK_CONTROLLER: (u8, u8) = (0x02, 0x80);

/// Bytes of a function's registers: those of a base address register, which asks for memory of 32 bits.
pub const REGISTERS_LEN: u32 = 0x1_0000;

/// Functions of a device at most.
pub const FUNCTIONS_MAX: usize = 8;

/// The memory of a computer, as its devices reach it. An address without memory reads as ones, and takes nothing.
pub trait HostMemory {
    /// Reads.
    fn read(&self, function: usize, address: u64, bytes: &mut [u8]);

    /// Writes.
    fn write(&self, function: usize, address: u64, bytes: &[u8]);
}

/// No memory: each address reads as ones.
struct Nothing;

impl HostMemory for Nothing {
    fn read(&self, _function: usize, _address: u64, bytes: &mut [u8]) {
        bytes.fill(0xff);
    }

    fn write(&self, _function: usize, _address: u64, _bytes: &[u8]) {}
}

/// A computer's memory, shared by the devices in it.
#[derive(Clone)]
pub struct SharedMemory(Rc<dyn HostMemory>);

impl SharedMemory {
    /// Of a computer.
    pub fn new(memory: impl HostMemory + 'static) -> Self {
        Self(Rc::new(memory))
    }

    /// As one function of a device reaches it.
    pub fn of_function(&self, function: usize) -> FunctionMemory {
        FunctionMemory { memory: self.clone(), function }
    }
}

impl Default for SharedMemory {
    fn default() -> Self {
        Self::new(Nothing)
    }
}

impl fmt::Debug for SharedMemory {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SharedMemory")
    }
}

/// The memory of a computer, as one function reaches it; addresses of 32 bits.
#[derive(Clone, Debug)]
pub struct FunctionMemory {
    memory: SharedMemory,
    function: usize,
}

impl FunctionMemory {
    /// Reads.
    pub fn read(&self, address: u32, bytes: &mut [u8]) {
        self.memory.0.read(self.function, address.into(), bytes);
    }

    /// Writes.
    pub fn write(&self, address: u32, bytes: &[u8]) {
        self.memory.0.write(self.function, address.into(), bytes);
    }

    /// Reads a word, little endian.
    pub fn word(&self, address: u32) -> u32 {
        let mut bytes = [0; 4];
        self.read(address, &mut bytes);
        u32::from_le_bytes(bytes)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use std::cell::RefCell;

    /// A computer with memory from address 0 on.
    #[derive(Clone, Default)]
    pub(crate) struct Ram(pub(crate) Rc<RefCell<Vec<u8>>>);

    impl Ram {
        pub(crate) fn new(len: usize) -> Self {
            Self(Rc::new(RefCell::new(vec![0; len])))
        }

        pub(crate) fn set(&self, address: u32, words: &[u32]) {
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_le_bytes()).collect();
            self.write(0, address.into(), &bytes);
        }

        pub(crate) fn word(&self, address: u32) -> u32 {
            SharedMemory::new(self.clone()).of_function(0).word(address)
        }
    }

    impl HostMemory for Ram {
        fn read(&self, _function: usize, address: u64, bytes: &mut [u8]) {
            let ram = self.0.borrow();
            for (at, byte) in bytes.iter_mut().enumerate() {
                *byte = ram.get(address as usize + at).copied().unwrap_or(0xff);
            }
        }

        fn write(&self, _function: usize, address: u64, bytes: &[u8]) {
            let mut ram = self.0.borrow_mut();
            for (at, byte) in bytes.iter().enumerate() {
                if let Some(place) = ram.get_mut(address as usize + at) {
                    *place = *byte;
                }
            }
        }
    }

    #[test]
    fn a_register_may_be_a_part_of_a_word() {
        let of = |offset, bytes| Register { function: 0, offset, width: Width::of(bytes) };
        let parts = [of(0x301, 1), of(0x302, 2), of(0x300, 4)].map(|register| register.part_of(0x1122_3344));
        assert_eq!(parts, [0x33, 0x1122, 0x1122_3344]);
        assert_eq!((of(0x303, 1).whole(), Register::word(0, 8)), (0x300, of(8, 4)));
    }

    #[test]
    fn an_address_without_memory_reads_as_ones() {
        assert_eq!(SharedMemory::default().of_function(0).word(0x1000), u32::MAX);
        let ram = Ram::new(8);
        ram.set(0, &[1, 2]);
        let memory = SharedMemory::new(ram).of_function(0);
        memory.write(4, &[7, 0, 0, 0, 9]);
        assert_eq!((memory.word(0), memory.word(4), memory.word(8)), (1, 7, u32::MAX));
    }
}
