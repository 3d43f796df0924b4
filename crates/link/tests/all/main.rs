//! Tests of the link engine, as one program.

mod categories;
mod closed_form;
mod contention;
mod invariants;
mod modem;
mod pipe;
mod queues;
mod reference;
mod retry_rates;
mod scenario_file;
mod sdio;
mod tcp;
mod tcp_linux;
mod tcp_wlan;
