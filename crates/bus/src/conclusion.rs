//! What conclusions in words are made of.

use crate::report::{Device, Endpoint, Report, Verdict};

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

/// Bulk endpoints that moved bytes of which the capture has nothing to look into.
pub(crate) fn without_data(report: &Report) -> impl Iterator<Item = &Endpoint> {
    let is_seen = |e: &Endpoint| report.traffic.iter().any(|row| row.device == e.device && row.endpoint == e.address);
    report.endpoints.iter().filter(move |e| e.transfer == "bulk" && e.bytes > 0 && with_bytes(e) > 0 && !is_seen(e))
}

/// Completed transfers that carried bytes.
pub(crate) fn with_bytes(endpoint: &Endpoint) -> u64 {
    endpoint.size_histogram.iter().filter(|bar| bar.low > 0).map(|bar| bar.count).sum()
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

/// A share in percent, without decimals, but with as many as it takes for 0 and 100 % to be said of nothing and of all only.
pub(crate) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    let shown = (0..4).map(|decimals| format!("{percent:.decimals$}"));
    let is_true = |shown: &String| {
        let is_end = shown.parse::<f64>().is_ok_and(|shown| shown == 0.0 || shown == 100.0);
        !is_end || percent == 0.0 || percent == 100.0
    };
    let end = if percent < 50.0 { "below 0.001" } else { "above 99.999" };
    format!("{} %", shown.into_iter().find(is_true).unwrap_or_else(|| end.to_owned()))
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

    #[test]
    fn a_share_is_all_or_nothing_only_where_it_is() {
        let shares =
            [0.0, 599.0 / 1115.0, 5152.0 / 5162.0, 9999.0 / 10_000.0, 1.0, 0.004, 0.000_04, 0.000_000_1, 0.999_999_9];
        let shown =
            ["0 %", "54 %", "99.8 %", "99.99 %", "100 %", "0.4 %", "0.004 %", "below 0.001 %", "above 99.999 %"];
        assert_eq!(shares.map(percent), shown);
    }
}
