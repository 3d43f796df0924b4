//! Link-header decoding: hand-made bytes, random headers, and tshark as the oracle.

mod captures;
mod eht;
mod encoder;
mod he_mu;
mod oracle;
mod other_headers;
mod radiotap_fields;
mod random;
mod tshark;
