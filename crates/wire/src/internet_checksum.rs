//! The Internet checksum of IPv4 headers, ICMP, TCP and UDP (RFC 1071).

/// The sum that a checksum is made of: 16-bit words, an odd byte padded with zero. Sums of parts add up, where all parts but
/// the last have an even length.
pub fn sum(bytes: &[u8]) -> u64 {
    let words = bytes.chunks_exact(2);
    let odd = words.remainder().first().map_or(0, |byte| u64::from(*byte) << 8);
    odd + words.filter_map(|word| word.first_chunk()).map(|word| u64::from(u16::from_be_bytes(*word))).sum::<u64>()
}

/// A sum in ones' complement arithmetic: `0xffff` over what has the right checksum in it.
pub const fn folded(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    sum as u16
}

/// The checksum of `bytes` and of what was summed before.
pub fn checksum(before: u64, bytes: &[u8]) -> u16 {
    !folded(before + sum(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The example of RFC 1071, 3.
    #[test]
    fn the_sum_of_the_rfc() {
        assert_eq!(folded(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7])), 0xddf2);
    }

    proptest::proptest! {
        #[test]
        fn what_has_its_checksum_sums_up_to_all_ones(mut bytes: Vec<u8>, before in 0u64..0x1_0000_0000) {
            bytes.resize(bytes.len().next_multiple_of(2), 0);
            let check = checksum(before, &bytes);
            bytes.extend(check.to_be_bytes());
            proptest::prop_assert_eq!(folded(before + sum(&bytes)), 0xffff);
        }
    }
}
