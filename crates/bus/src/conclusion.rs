//! What conclusions in words are made of.

use crate::report::{Device, Report, Verdict};

/// A conclusion about a device.
pub(crate) fn verdict(code: &str, tone: &str, device: &Device, text: String, evidence: Vec<String>) -> Verdict {
    Verdict { code: code.to_owned(), tone: tone.to_owned(), device: Some(device.name.clone()), text, evidence }
}

/// What a request is called in this layer.
pub(crate) fn unit(report: &Report) -> &'static str {
    if report.summary.layer == "irp" {
        "IRP"
    } else {
        "URB"
    }
}

/// `1 transfer`, `1,200 transfers`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{} {one}{}", figure(count), if count == 1 { "" } else { "s" })
}

/// A count with its thousands separated.
pub(crate) fn figure(count: u64) -> String {
    let digits = count.to_string();
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}

/// A rate; a small one has a decimal.
pub(crate) fn thousands(rate: f64) -> String {
    if rate < 10.0 {
        format!("{rate:.1}")
    } else {
        figure(rate.round_ties_even() as u64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_are_separated_in_counts_and_rates() {
        let counts = [0, 999, 1_000, 12_345, 1_234_567].map(figure);
        assert_eq!(counts, ["0", "999", "1,000", "12,345", "1,234,567"]);
        assert_eq!((counted(1, "byte"), counted(2_000, "byte")), ("1 byte".to_owned(), "2,000 bytes".to_owned()));
        assert_eq!([9.94, 10.4, 1_116.4].map(thousands), ["9.9", "10", "1,116"]);
    }
}
