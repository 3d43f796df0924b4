//! The 802.11 physical layer's arithmetic: what a PPDU's mode is, how fast it carries bits, how long it is on the air.

mod allocation;
mod control_len;
mod duration;
mod key;
mod ldpc;
mod mode;
mod rate;
mod response;
mod sig_b;
#[cfg(test)]
mod testing;
mod timing;

pub use crate::AccessCategory;
pub use allocation::Allocation;
pub use control_len::{
    ACK_LEN, BLOCK_ACK_1024_LEN, BLOCK_ACK_256_LEN, BLOCK_ACK_64_LEN, BLOCK_ACK_REQ_LEN, CTS_LEN, RTS_LEN,
};
pub use duration::{ampdu_psdu_len, l_sig_duration_ns, AirDuration};
pub use mode::{Bandwidth, Eht, EhtFormat, GuardInterval, He, HeFormat, Ht, Mode, Vht};
pub use response::{control_response_rate, RateSet};
pub use sig_b::SigB;
pub use timing::{response_gap_ns, Band, EdcaParameters, Timing};
