//! Virtual chips.

pub mod ar6003;
pub mod ar9280;
mod block_ack_request;
pub mod ccmp;
mod duplicates;
pub mod dynamic_power;
pub mod mt7610u;
pub mod mt7921u;
pub mod on_air;
mod rate_steps;
pub mod realtek;
pub mod rtl8188cus;
pub mod rtl8822bu;
pub mod sd8686;
mod sdio_radio;
pub mod station_counters;
mod station_frames;
mod station_keys;
mod station_power;
pub mod tkip;
pub mod usb_radio;
pub mod wep;

/// Sets an assumption by `NAME=VALUE`. `set` gets both, and answers `None` to what is unknown; the error has the `names` that
/// there are.
fn assume(assignment: &str, names: &str, set: impl FnOnce(&str, &str) -> Option<()>) -> Result<(), String> {
    let (name, value) = assignment.split_once('=').unwrap_or((assignment, ""));
    set(name.trim(), value).ok_or_else(|| format!("{assignment:?} is not one of {names}"))
}

/// The choice of that name: a value of an assumption.
fn one_of<T: Copy>(value: &str, choices: [(&str, T); 2]) -> Option<T> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice)
}
