//! What commands take on the bus, in clocks (SD Physical Layer and SDIO Simplified Specifications 3.0).

/// A command without data: command and response of 48 bits, with the least gap (8 clocks) before and after the response.
pub const COMMAND: u64 = 48 + 8 + 48 + 8;
/// CMD53 without its data: as [`COMMAND`], and two clocks until the data begin.
const EXTENDED: u64 = COMMAND + 2;
/// Start bit, CRC16 and end bit of a block.
const BLOCK_FRAME: u64 = 1 + 16 + 1;
/// CRC status after a written block.
const CRC_STATUS: u64 = 7;

/// CMD53 with `blocks` of `bytes` each (in byte mode one) over `width` lines.
pub fn extended(blocks: u64, bytes: u64, width: u8, is_write: bool) -> u64 {
    let status = if is_write { CRC_STATUS } else { 0 };
    let block = (bytes.saturating_mul(8) / u64::from(width.max(1))).saturating_add(BLOCK_FRAME + status);
    blocks.saturating_mul(block).saturating_add(EXTENDED)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clocks_by_the_specification() {
        assert_eq!(COMMAND, 112);
        assert_eq!(extended(12, 128, 4, false), 114 + 12 * 274);
        assert_eq!(extended(12, 128, 4, true), 114 + 12 * 281);
        assert_eq!(extended(1, 4, 1, false), 114 + 32 + 18);
        assert!(extended(u64::MAX, u64::MAX, 0, true) == u64::MAX);
    }
}
