//! Which part of a capture a sentence is about: all of it, or what one of several interfaces captured.

use std::fmt;

/// The interface that the accounts of the medium are about, where there are others.
#[derive(Clone, Copy, Debug, Default)]
pub struct CapturedBy(Option<u32>);

impl CapturedBy {
    /// `interfaces`: how many captured frames.
    pub fn new(main_interface: u32, interfaces: u64) -> Self {
        Self((interfaces > 1).then_some(main_interface))
    }

    /// The interface, where there are others.
    pub fn one(self) -> Option<u32> {
        self.0
    }

    /// Completes "no transmission was captured": empty, or " by interface 1".
    pub fn by(self) -> impl fmt::Display {
        self.0.map_or(String::new(), |interface| format!(" by interface {interface}"))
    }

    /// Completes "these frames": empty, or " that interface 1 captured".
    pub fn that(self) -> impl fmt::Display {
        self.0.map_or(String::new(), |interface| format!(" that interface {interface} captured"))
    }
}

/// Completes "no beacon is in": "it", or "what interface 1 captured".
impl fmt::Display for CapturedBy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0 {
            Some(interface) => write!(f, "what interface {interface} captured"),
            None => f.write_str("it"),
        }
    }
}
