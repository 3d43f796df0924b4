//! Virtual chips.

mod block_ack_request;
pub mod ccmp;
pub mod mt7610u;
pub mod rtl8188cus;

/// The choice of that name: a value of an assumption.
fn one_of<T: Copy>(value: &str, choices: [(&str, T); 2]) -> Option<T> {
    choices.iter().find(|(name, _)| *name == value).map(|(_, choice)| *choice)
}
