//! What every model of a medium shares: who may send ([`Access`]), what a frame costs ([`Rates`]), how the frames of an
//! exchange follow each other ([`Timeline`]), and what noise destroys ([`ErrorRates`]).
//!
//! Nothing here knows what the frames carry. [`WlanLink`](crate::WlanLink) is one user, with packets, windows and queues of
//! its own; virtual chips are another, with the frames and the queues of real drivers.

mod access;
mod contention;
mod error_rate;
mod exchange;
mod rates;

pub use access::{Access, Collider, Spaces, Unanswered};
pub use contention::Parameters;
pub use error_rate::ErrorRates;
pub use exchange::{mpdu_end_ns, Plan, Protection, Response, Slice, Timeline};
pub use rates::{Rate, RateId, Rates};
