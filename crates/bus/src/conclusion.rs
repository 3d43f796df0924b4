//! What conclusions in words are made of.

use sentence::Sentence;

use crate::report::{Device, Endpoint, Report, Verdict};

/// A conclusion about a device.
pub(crate) fn verdict(code: &str, tone: &str, device: &Device, text: Sentence, evidence: Vec<Sentence>) -> Verdict {
    Verdict::new(code, tone, Some(&device.name), text, evidence)
}

/// What a request is called in this layer.
pub(crate) fn unit(report: &Report) -> &'static str {
    if report.summary.layer == "irp" {
        "IRP"
    } else {
        "URB"
    }
}

/// What figures are of: `window` or `capture`.
pub(crate) fn part(report: &Report) -> &'static str {
    if report.summary.window.is_some() {
        "window"
    } else {
        "capture"
    }
}

/// Bulk endpoints that moved bytes of which the capture has nothing to look into.
pub(crate) fn without_data(report: &Report) -> impl Iterator<Item = &Endpoint> {
    let is_seen = |e: &Endpoint| report.traffic.iter().any(|row| row.device == e.device && row.endpoint == e.address);
    report.endpoints.iter().filter(move |e| {
        e.transfer == "bulk" && e.bytes.is_some_and(|bytes| bytes > 0) && with_bytes(e) > 0 && !is_seen(e)
    })
}

/// Completed transfers that carried bytes.
pub(crate) fn with_bytes(endpoint: &Endpoint) -> u64 {
    endpoint.size_histogram.iter().filter(|bar| bar.low > 0).map(|bar| bar.count).sum()
}
