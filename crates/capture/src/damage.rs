//! What can go wrong: a file that cannot be opened as a capture, and a capture that breaks off.

use std::fmt;

/// Where and how a capture broke. All records before it were good; none after it can be read.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct Damage {
    /// Byte offset, in the decompressed capture, of the record or block that is broken.
    pub offset: u64,
    /// About how many bytes of the compressed file were used up to there; `None` if it is not compressed.
    pub compressed_offset: Option<u64>,
    /// Records read before the damage.
    pub records: u64,
    /// What was expected and what is there, as one sentence.
    pub message: String,
}

/// Why an input cannot be read as a capture at all.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The operating system refused.
    #[error("{0}")]
    Io(#[from] std::io::Error),
    /// Not a single byte.
    #[error("the input is empty (0 bytes)")]
    Empty,
    /// A format that txop can name but not read.
    #[error("this is {name}; {advice}")]
    Unsupported {
        /// The format with its article: "an OmniPeek file".
        name: &'static str,
        /// How to get a file that can be read.
        advice: &'static str,
    },
    /// Nothing known.
    #[error(
        "unknown capture format: the input begins with the bytes {first}, but pcap begins with d4c3b2a1, a1b2c3d4, \
         4d3cb2a1 or a1b23c4d and pcapng with 0a0d0d0a (both also inside gzip or zstd)"
    )]
    Unknown {
        /// The first bytes in hexadecimal.
        first: String,
    },
    /// A capture with a file header that is cut off or contradicts itself.
    #[error("{0}")]
    Damaged(Damage),
}

/// A number with thousands separators, as byte offsets of large files need them.
pub(crate) struct Grouped(pub u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = self.0.to_string();
        for (i, digit) in digits.chars().enumerate() {
            if i > 0 && (digits.len() - i) % 3 == 0 {
                f.write_str(",")?;
            }
            write!(f, "{digit}")?;
        }
        Ok(())
    }
}

/// A number of bytes, "1 byte" or "1,234 bytes".
pub(crate) struct Bytes(pub u64);

impl fmt::Display for Bytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} byte{}", Grouped(self.0), if self.0 == 1 { "" } else { "s" })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_grouped_by_thousands() {
        let texts: Vec<_> = [0, 999, 1000, 4_000_000_000].map(|n| Grouped(n).to_string()).into();
        assert_eq!(texts, ["0", "999", "1,000", "4,000,000,000"]);
        assert_eq!(Bytes(1).to_string(), "1 byte");
    }
}
