//! Tests of capture files and streams, as one program.

mod hostile;
mod order;
mod tshark;
mod variants;
