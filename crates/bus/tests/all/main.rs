//! Tests of the analysis of USB captures, as one program.

mod bounds;
mod copies;
mod cut_records;
mod hostile;
mod missing_records;
mod oracle_tshark;
mod realtek_counts;
mod sdio;
mod window;
