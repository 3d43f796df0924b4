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
    fn an_address_without_memory_reads_as_ones() {
        assert_eq!(SharedMemory::default().of_function(0).word(0x1000), u32::MAX);
        let ram = Ram::new(8);
        ram.set(0, &[1, 2]);
        let memory = SharedMemory::new(ram).of_function(0);
        memory.write(4, &[7, 0, 0, 0, 9]);
        assert_eq!((memory.word(0), memory.word(4), memory.word(8)), (1, 7, u32::MAX));
    }
}
