//! Things that go wrong on purpose.
//!
//! A script says when something happens and what. [`Faulty`] is a layer around any device that carries it out.
//!
//! ```toml
//! [[fault]]
//! name = "one block of the firmware is not taken"
//! endpoint = 0            # of which endpoint; without it: of the whole device, by time
//! direction = "out"       # which way the data go
//! register = 0x1c00       # vendor requests: wValue
//! nth = 1                 # from the first such transfer on (default)
//! times = 6               # for six of them; default: forever
//! action = "stall"
//!
//! [[fault]]
//! name = "a register of a chip on PCI is dead"
//! access = "read"         # of a register: read, write or any
//! offset = 0x8048         # which one; default: all
//! action = "drop"         # nobody answers: ones
//! ```

mod faulty;
mod registers;
mod script;

pub use faulty::Faulty;
pub use script::{Action, Direction, Fault, Script, ScriptError};
