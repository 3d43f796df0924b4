//! IEEE 802.11 frames: MAC header, control frames, data body arithmetic, management frames and their elements.
//!
//! Everything here is a pure function of the bytes of one frame. Parsing does not allocate, nothing keeps state, and a value
//! the standard does not define is data (`Unknown(n)`), not an error. What is written, too, is a representation: `parse` gives
//! what `emit` was called with, and `emit` appends `buffer_len` bytes. Clause numbers are those of IEEE Std 802.11-2020
//! unless an amendment is named.

pub mod action;
pub mod address;
pub mod block_ack;
pub mod body;
pub mod capabilities;
pub mod codes;
pub mod control;
pub mod eapol;
pub mod elements;
pub mod header;
pub mod management;
pub mod rsn;
pub mod sequence;
pub mod ssid;
mod tdls;
pub mod tkip;
pub mod wmm;

mod compressed;
mod eht;
mod he;
mod ht;
mod management_elements;
mod mpdu;
mod vht;

pub use crate::AccessCategory;
pub use action::{Action, AddbaRequest, AddbaResponse, BlockAckParameters, Delba, TwtSetup};
pub use address::{MacAddr, ParseMacAddrError};
pub use block_ack::{
    AckRecord, AckRecords, Bitmap, BlockAck, BlockAckControl, BlockAckReq, BlockAckType, ReqRecord, ReqRecords,
};
pub use body::{Amsdu, AmsduSubframe, Cipher, DataBody};
pub use capabilities::{
    Capabilities, ChannelSwitch, Coexistence2040, Erp, ExtendedCapabilities, MobilityDomain, RadioMeasurement, Rates,
    Tim,
};
pub use codes::{ReasonCode, StatusCode};
pub use compressed::{CompressedBlockAck, CompressedBlockAckReq};
pub use control::{FrameControl, FrameKind, FrameType};
pub use eht::{EhtCapabilities, EhtOperation, LinkAddresses, LinkIds, MultiLink};
pub use elements::{Element, Elements};
pub use he::{HeCapabilities, HeOperation};
pub use header::{AckPolicy, Header, HeaderError, QosControl};
pub use ht::{HtCapabilities, HtOperation, SecondaryChannel};
pub use management::{CapabilityInfo, FixedFields, Management, ManagementBody};
pub use management_elements::{Country, ManagementElements, TimElement, SUPPORTED_RATES_MAX};
pub use mpdu::Mpdu;
pub use rsn::{Rsn, SuiteSet};
pub use sequence::Seq;
pub use ssid::{display_ssid, Ssid};
pub use tdls::Tdls;
pub use vht::{OperatingMode, VhtCapabilities, VhtOperation};
pub use wmm::{EdcaParameters, Wmm};
