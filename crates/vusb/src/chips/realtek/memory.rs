//! The register file: 64 KiB that keep what is written, unless a block of the chip says otherwise.

/// Bytes that can be addressed.
const LEN: usize = 0x1_0000;

/// The register file.
#[derive(Clone, serde::Serialize, serde::Deserialize)]
pub struct Memory {
    bytes: Box<[u8]>,
}

impl Default for Memory {
    fn default() -> Self {
        Self { bytes: vec![0; LEN].into_boxed_slice() }
    }
}

impl Memory {
    /// One byte.
    pub fn u8(&self, address: u16) -> u8 {
        self.bytes.get(usize::from(address)).copied().unwrap_or(0)
    }

    /// Two bytes.
    pub fn u16(&self, address: u16) -> u16 {
        u16::from_le_bytes(self.array(address))
    }

    /// Four bytes.
    pub fn u32(&self, address: u16) -> u32 {
        u32::from_le_bytes(self.array(address))
    }

    /// Bytes from `address` on, which wraps round at the end of the file.
    pub fn array<const N: usize>(&self, address: u16) -> [u8; N] {
        std::array::from_fn(|i| self.u8(address.wrapping_add(i as u16)))
    }

    /// Sets one byte.
    pub fn set_u8(&mut self, address: u16, value: u8) {
        if let Some(byte) = self.bytes.get_mut(usize::from(address)) {
            *byte = value;
        }
    }

    /// Sets four bytes.
    pub fn set_u32(&mut self, address: u16, value: u32) {
        self.write(address, &value.to_le_bytes());
    }

    /// Clears and sets bits of one byte.
    pub fn change(&mut self, address: u16, clear: u8, set: u8) {
        self.set_u8(address, self.u8(address) & !clear | set);
    }

    /// Writes bytes; what would lie beyond the end is not written.
    pub fn write(&mut self, address: u16, data: &[u8]) {
        let start = usize::from(address);
        let len = data.len().min(LEN - start);
        if let (Some(to), Some(from)) = (self.bytes.get_mut(start..start + len), data.get(..len)) {
            to.copy_from_slice(from);
        }
    }

    /// Appends `len` bytes from `address` on, at most to the end of the file.
    pub fn read(&self, address: u16, len: usize, out: &mut Vec<u8>) {
        let start = usize::from(address);
        let end = start.saturating_add(len).min(LEN);
        out.extend_from_slice(self.bytes.get(start..end).unwrap_or_default());
    }
}

/// The registers that a write has touched.
#[derive(Clone, Copy, Debug)]
pub struct Touched {
    /// First byte written.
    pub start: u16,
    /// How many.
    pub len: usize,
}

impl Touched {
    /// Whether the byte at `address` was written.
    pub fn has(self, address: u16) -> bool {
        address.checked_sub(self.start).is_some_and(|offset| usize::from(offset) < self.len)
    }
}
