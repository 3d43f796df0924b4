//! Transfers by their number of datagrams.

/// Datagrams counted apart; more count as these.
const MOST: usize = 64;

/// Counts a transfer with this many datagrams. The list is as long as the largest one; index 0 is those without.
pub(super) fn count(histogram: &mut Vec<u64>, datagrams: usize) {
    let at = datagrams.min(MOST);
    if histogram.len() <= at {
        histogram.resize(at + 1, 0);
    }
    if let Some(bin) = histogram.get_mut(at) {
        *bin += 1;
    }
}
