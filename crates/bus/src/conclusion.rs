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

/// `1 transfer`, `2 transfers`.
pub(crate) fn counted(count: u64, one: &str) -> String {
    format!("{count} {one}{}", if count == 1 { "" } else { "s" })
}

/// A rate with thousands separated.
pub(crate) fn thousands(value: f64) -> String {
    if value < 10.0 {
        return format!("{value:.1}");
    }
    let digits = format!("{value:.0}");
    let mut out = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    out
}
