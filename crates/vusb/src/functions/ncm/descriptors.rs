//! What an NCM function says of itself (USB CDC 1.2, 5; NCM 1.0, 5 and 6.2.1).

use super::{NcmSettings, Posing};
use crate::descriptors::{device, function, CONTROL_INTERFACE, DATA_INTERFACE};
use crate::device::{Identity, Speed};

/// Bytes of the largest Ethernet frame, without FCS.
const SEGMENT_MAX: u16 = 1_514;
/// bmNetworkCapabilities: SetEthernetPacketFilter (NCM 1.0, table 5-2).
const CAPABILITIES: u8 = 0x01;

pub(super) fn identity(settings: &NcmSettings) -> Identity {
    // Linux' huawei_cdc_ncm binds to this vendor with this interface, and wants 32-bit blocks.
    let ((vendor, product), control) = match settings.posing {
        Posing::Standard => ((0x1d6b, 0x0104), (2, 0x0d, 0)),
        Posing::Huawei => ((0x12d1, 0x1506), (0xff, 2, 0x16)),
    };
    let data = (0x0a, 0, 1);
    let [low, high] = SEGMENT_MAX.to_le_bytes();
    let functional = [
        vec![5, 0x24, 0, 0x10, 1],
        vec![5, 0x24, 6, CONTROL_INTERFACE, DATA_INTERFACE],
        vec![13, 0x24, 0x0f, 4, 0, 0, 0, 0, low, high, 0, 0, 0],
        vec![6, 0x24, 0x1a, 0, 1, CAPABILITIES],
    ];
    let address = settings.address.iter().map(|byte| format!("{byte:02X}")).collect();
    Identity {
        device: device((2, 0, 0), vendor, product, 0x0100),
        configuration: function(control, &functional, data),
        strings: vec!["txop".into(), "virtual NCM function".into(), "0001".into(), address],
        speed: Speed::High,
    }
}
