//! The whole analysis of a USB capture file or text.
#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|file: &[u8]| {
    let read = std::io::Cursor::new(file.to_vec());
    if let Ok(report) = bus::analyze_read(read, None, "fuzz".to_owned(), &Default::default(), &mut ()) {
        let summary = &report.summary;
        let counted = summary.submissions + summary.completions + summary.submission_errors;
        let logged = report.sdio.as_ref().map_or(0, |sdio| sdio.records);
        assert_eq!(report.records, counted + summary.copies.unwrap_or(0) + logged);
    }
});
