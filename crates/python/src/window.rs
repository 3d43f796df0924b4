//! Ends of a window as Python hands them over: whether they count from the first record, and nanoseconds.

use capture::{Bound, Window};

/// `(since_first_record, nanoseconds)`; `None`: open.
pub(crate) type End = Option<(bool, i64)>;

/// `None` when both ends are open.
pub(crate) fn window(from: End, to: End) -> Option<Window> {
    let bound = |(since_first, ns)| if since_first { Bound::SinceFirst(ns) } else { Bound::Unix(ns) };
    (from.is_some() || to.is_some()).then(|| Window { from: from.map(bound), to: to.map(bound) })
}
