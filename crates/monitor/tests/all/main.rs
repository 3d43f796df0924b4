//! Tests of recorded captures, as one program.

mod air_agreement;
mod any_frame;
mod collisions;
mod many_stations;
mod usb;
mod usb_agreement;
