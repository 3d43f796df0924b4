//! Lengths of control frames, FCS included.

/// Ack with FCS, bytes.
pub const ACK_LEN: usize = 14;
/// CTS with FCS, bytes.
pub const CTS_LEN: usize = 14;
/// RTS with FCS, bytes.
pub const RTS_LEN: usize = 20;
/// Basic or compressed BlockAckReq with FCS, bytes.
pub const BLOCK_ACK_REQ_LEN: usize = 24;
/// Compressed BlockAck with a 64-bit bitmap, with FCS, bytes.
pub const BLOCK_ACK_64_LEN: usize = 32;
/// Compressed BlockAck with a 256-bit bitmap, with FCS, bytes.
pub const BLOCK_ACK_256_LEN: usize = 56;
/// Compressed BlockAck with a 1024-bit bitmap, with FCS, bytes.
pub const BLOCK_ACK_1024_LEN: usize = 152;
