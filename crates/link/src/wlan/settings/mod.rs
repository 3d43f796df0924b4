//! The settings of an 802.11 link.

mod edca;
mod medium;
mod scenario;
mod station;

pub(crate) use self::medium::legacy_rate;
pub use self::medium::Medium;
pub use edca::{Edca, EdcaTable};
pub use scenario::Scenario;
pub use station::{Phy, RateControl, RetryRates, Station, Usb};
