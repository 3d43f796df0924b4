//! Tests of synthetic captures, as one program.

mod decode;
mod recount;
mod tshark;
