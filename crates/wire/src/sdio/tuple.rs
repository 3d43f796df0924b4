//! Tuples of a Card Information Structure (16.5): code, length of the body, body.

/// CISTPL_NULL: a byte without length and body.
pub const NULL: u8 = 0x00;
/// CISTPL_VERS_1: version and product strings.
pub const VERS_1: u8 = 0x15;
/// CISTPL_MANFID: manufacturer and card, as [`manufacturer`] writes them.
pub const MANFID: u8 = 0x20;
/// CISTPL_FUNCID: what the function is.
pub const FUNCID: u8 = 0x21;
/// CISTPL_FUNCE: more of the function.
pub const FUNCE: u8 = 0x22;
/// CISTPL_END: the chain ends.
pub const END: u8 = 0xff;

/// Bytes of CISTPL_FUNCE of a function of SDIO 1.10 and later (16.7.4).
pub const FUNCTION_EXTENSION: usize = 42;

/// A tuple.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Tuple<'a> {
    /// Its code.
    pub code: u8,
    /// Its body, 255 bytes at most.
    pub body: &'a [u8],
}

impl Tuple<'_> {
    /// Appends it. What is longer than a tuple can be is cut.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let body = self.body.get(..usize::from(u8::MAX)).unwrap_or(self.body);
        out.extend([self.code, body.len() as u8]);
        out.extend_from_slice(body);
    }
}

/// Iterator over a chain. It ends behind CISTPL_END, and at a tuple that does not fit.
#[derive(Clone, Copy, Debug)]
pub struct Tuples<'a>(&'a [u8]);

impl<'a> Tuples<'a> {
    /// At the start of a chain.
    pub const fn new(bytes: &'a [u8]) -> Self {
        Self(bytes)
    }
}

impl<'a> Iterator for Tuples<'a> {
    type Item = Tuple<'a>;

    fn next(&mut self) -> Option<Tuple<'a>> {
        while let Some((&NULL, rest)) = self.0.split_first() {
            self.0 = rest;
        }
        let (&[code, len], rest) = self.0.split_first_chunk()?;
        if code == END {
            return None;
        }
        let (body, rest) = rest.split_at_checked(usize::from(len))?;
        self.0 = rest;
        Some(Tuple { code, body })
    }
}

/// The body of CISTPL_MANFID (16.5): who made the card, and which card it is.
pub const fn manufacturer(vendor: u16, device: u16) -> [u8; 4] {
    let ([v0, v1], [d0, d1]) = (vendor.to_le_bytes(), device.to_le_bytes());
    [v0, v1, d0, d1]
}

/// The body of CISTPL_FUNCE of the whole card (16.7.3): largest block of function 0, and top speed as a code
/// (16.7.3: 0x32 is 25 Mbit/s, 0x5a 50 Mbit/s).
pub const fn common_extension(block_bytes: u16, speed: u8) -> [u8; 4] {
    let [low, high] = block_bytes.to_le_bytes();
    [0, low, high, speed]
}

/// The body of CISTPL_FUNCE of a function (16.7.4): largest block, and the time that it may take until it is ready, in
/// steps of 10 ms.
pub fn function_extension(block_bytes: u16, ready_10ms: u16) -> [u8; FUNCTION_EXTENSION] {
    let mut body = [0; FUNCTION_EXTENSION];
    body[0] = 1;
    body[12..14].copy_from_slice(&block_bytes.to_le_bytes());
    body[28..30].copy_from_slice(&ready_10ms.to_le_bytes());
    body
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn bodies_are_where_linux_reads_them() {
        // drivers/mmc/core/sdio_cis.c: cistpl_manfid, cistpl_funce_common, cistpl_funce_func.
        assert_eq!(manufacturer(0x0271, 0x0301), [0x71, 0x02, 0x01, 0x03]);
        assert_eq!(common_extension(128, 0x5a), [0, 128, 0, 0x5a]);
        let function = function_extension(512, 10);
        assert_eq!((function[0], function[12], function[13], function[28], function[29]), (1, 0, 2, 10, 0));
    }

    proptest! {
        #[test]
        fn chains_come_back(tuples in prop::collection::vec((1u8..0xff, prop::collection::vec(any::<u8>(), 0..=255)), 0..8)) {
            let mut chain = Vec::new();
            for (code, body) in &tuples {
                chain.push(NULL);
                Tuple { code: *code, body }.emit(&mut chain);
            }
            chain.push(END);
            let read: Vec<_> = Tuples::new(&chain).map(|tuple| (tuple.code, tuple.body.to_vec())).collect();
            prop_assert_eq!(read, tuples);
        }

        #[test]
        fn any_bytes_are_walked_through(bytes: Vec<u8>) {
            prop_assert!(Tuples::new(&bytes).count() <= bytes.len());
        }
    }
}
