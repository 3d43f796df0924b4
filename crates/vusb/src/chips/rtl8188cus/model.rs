//! Which chip it poses as.

/// What the chip says it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Model {
    /// RTL8188CUS, as in an Edimax EW-7811Un (7392:7811).
    Rtl8188cus,
    /// RTL8723AU (0bda:1724): the same generation, which Debian's rtl8xxxu knows without RTL8XXXU_UNTESTED.
    Rtl8723au,
}
