//! A register file: words that keep what is written, unless a block of the chip says otherwise.

/// A register file.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Memory {
    words: Box<[u32]>,
}

impl Memory {
    /// One of `len` bytes, all zero.
    pub fn new(len: u32) -> Self {
        Self { words: vec![0; (len / 4) as usize].into_boxed_slice() }
    }

    /// The word at an address; 0 where there is none.
    pub fn word(&self, address: u32) -> u32 {
        self.words.get((address / 4) as usize).copied().unwrap_or(0)
    }

    /// Writes a word; where there is none nothing happens.
    pub fn set(&mut self, address: u32, value: u32) {
        if let Some(word) = self.words.get_mut((address / 4) as usize) {
            *word = value;
        }
    }

    /// Bytes from an address on, which is a multiple of 4.
    pub fn array<const N: usize>(&self, address: u32) -> [u8; N] {
        std::array::from_fn(|at| (self.word(address + (at as u32 & !3)) >> (8 * (at & 3))) as u8)
    }

    /// As many bytes, or what there is of them.
    pub fn bytes(&self, address: u32, len: u32) -> Vec<u8> {
        let words = self.words.iter().skip((address / 4) as usize).take(len.div_ceil(4) as usize);
        let mut bytes: Vec<u8> = words.flat_map(|word| word.to_le_bytes()).collect();
        bytes.truncate(len as usize);
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keeps_what_there_is_room_for() {
        let mut memory = Memory::new(16);
        for address in [0, 12, 16, u32::MAX] {
            memory.set(address, 0x0403_0201);
        }
        assert_eq!(
            (memory.word(0), memory.word(8), memory.word(12), memory.word(16)),
            (0x0403_0201, 0, 0x0403_0201, 0)
        );
        assert_eq!(memory.array(12), [1, 2, 3, 4, 0, 0]);
        assert_eq!((memory.bytes(12, 3), memory.bytes(12, 9)), (vec![1, 2, 3], vec![1, 2, 3, 4]));
        assert!(memory.bytes(u32::MAX, 4).is_empty());
    }
}
