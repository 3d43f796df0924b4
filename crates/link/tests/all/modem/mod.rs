//! The modem link: what holds always, and what was measured on real and virtual modems.

mod invariants;
mod reference;
