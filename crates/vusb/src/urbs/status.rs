//! Statuses of URBs: Linux error numbers (error-codes.rst).

pub(super) const EPIPE: i32 = -32;
pub(super) const EOVERFLOW: i32 = -75;
/// The host took the URB back.
pub const ECONNRESET: i32 = -104;
pub(super) const EREMOTEIO: i32 = -121;
pub(super) const EINVAL: i32 = -22;
pub(super) const ENOENT: i32 = -2;
