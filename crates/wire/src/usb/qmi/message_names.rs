//! What messages are called.

use super::{ctl, dms, nas, wda, wds, Service};

impl Service {
    /// The name of one of its messages, as far as they are read here.
    pub const fn message_name(self, message: u16) -> Option<&'static str> {
        Some(match (self, message) {
            (Self::CTL, ctl::SET_INSTANCE_ID) => "Set Instance ID",
            (Self::CTL, ctl::GET_VERSION_INFO) => "Get Version Info",
            (Self::CTL, ctl::ALLOCATE_CID) => "Allocate CID",
            (Self::CTL, ctl::RELEASE_CID) => "Release CID",
            (Self::CTL, ctl::SET_DATA_FORMAT) => "Set Data Format",
            (Self::CTL, ctl::SYNC) => "Sync",
            (Self::DMS, dms::GET_CAPABILITIES) => "Get Capabilities",
            (Self::DMS, dms::GET_MANUFACTURER) => "Get Manufacturer",
            (Self::DMS, dms::GET_MODEL) => "Get Model",
            (Self::DMS, dms::GET_REVISION) => "Get Revision",
            (Self::DMS, dms::GET_IDS) => "Get IDs",
            (Self::DMS, dms::GET_OPERATING_MODE) => "Get Operating Mode",
            (Self::NAS, nas::GET_SERVING_SYSTEM) => "Get Serving System",
            (Self::NAS, nas::GET_SIGNAL_INFO) => "Get Signal Info",
            (Self::WDS, wds::START_NETWORK) => "Start Network",
            (Self::WDS, wds::STOP_NETWORK) => "Stop Network",
            (Self::WDS, wds::GET_PACKET_SERVICE_STATUS) => "Get Packet Service Status",
            (Self::WDS, wds::GET_CURRENT_SETTINGS) => "Get Current Settings",
            (Self::WDS, wds::SET_IP_FAMILY) => "Set IP Family",
            (Self::WDS, wds::BIND_MUX_DATA_PORT) => "Bind Mux Data Port",
            (Self::WDA, wda::SET_DATA_FORMAT) => "Set Data Format",
            (Self::WDA, wda::GET_DATA_FORMAT) => "Get Data Format",
            _ => return None,
        })
    }
}
