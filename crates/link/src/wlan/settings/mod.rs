//! The settings of an 802.11 link.

mod edca;
mod medium;
mod scenario;
mod station;

pub use edca::{Edca, EdcaTable};
pub(crate) use medium::legacy_rate;
pub use medium::Medium;
pub use scenario::Scenario;
pub use station::{Phy, RateControl, Station, Usb};
