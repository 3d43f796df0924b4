//! Virtual chips.

pub mod rtl8188cus;
