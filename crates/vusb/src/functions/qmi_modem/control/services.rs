//! The services, message by message.

use std::net::Ipv4Addr;

use wire::usb::qmi::qmux::{Header, Kind};
use wire::usb::qmi::tlv::Tlvs;
use wire::usb::qmi::{ctl, dms, nas, wda, wds, write_fields, ErrorCode, Fields, Nothing, Service};

use super::{done, Answered, Control};

/// The services there are, with versions as modems of category 4 give them.
const SERVICES: [(Service, u16, u16); 5] =
    [(Service::CTL, 1, 5), (Service::WDS, 1, 67), (Service::DMS, 1, 14), (Service::NAS, 1, 25), (Service::WDA, 1, 16)];
/// Addresses of connections count up from this one; the other end is the one before.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 80, 210, 2);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 80, 210, 1);
const MASK: Ipv4Addr = Ipv4Addr::new(255, 255, 255, 0);
const MTU: u32 = 1_500;
/// An IMEI that no device has: type allocation codes that begin with 00 are for tests (3GPP TS 23.003, 6.2; GSMA TS.06).
const IMEI: &str = "001010123456782";
/// The network for tests (3GPP TS 36.508, 4.4.2).
const TEST_PLMN: (u16, u16) = (1, 1);

impl Control {
    pub(super) fn ctl(&mut self, message: u16, tlvs: &Tlvs<'_>) -> Answered {
        match message {
            ctl::SET_INSTANCE_ID => {
                let number = tlvs.u8(0x01)?.ok_or(ErrorCode::MISSING_ARGUMENT)?;
                done(ctl::LinkId { link: u16::from(number) })
            }
            ctl::GET_VERSION_INFO => {
                let version = |(service, major, minor)| ctl::ServiceVersion { service, major, minor };
                done(ctl::VersionInfo { services: SERVICES.into_iter().map(version).collect() })
            }
            ctl::ALLOCATE_CID => {
                let ctl::Allocate { service } = ctl::Allocate::read(tlvs)?;
                if service == Service::CTL || !SERVICES.iter().any(|known| known.0 == service) {
                    return Err(ErrorCode::INVALID_SERVICE_TYPE.into());
                }
                let client = self.clients.allocate(service).ok_or(ErrorCode::CLIENT_IDS_EXHAUSTED)?;
                done(ctl::Client { service, client })
            }
            ctl::RELEASE_CID => {
                let client = ctl::Client::read(tlvs)?;
                let released =
                    self.clients.release(client.service, client.client).ok_or(ErrorCode::INVALID_CLIENT_ID)?;
                // Its connection goes with it.
                released.handle.into_iter().for_each(|handle| self.channels.close(handle));
                done(client)
            }
            ctl::SET_DATA_FORMAT => {
                // Without a header for quality of service; the link is raw IP, whatever was asked for.
                let asked = ctl::LinkFormat::read(tlvs)?;
                done(ctl::LinkFormat { qos_header: None, protocol: asked.protocol.map(|_| 2) })
            }
            ctl::SYNC => {
                self.clients = super::Clients::default();
                self.channels.close_all();
                done(Nothing)
            }
            _ => Err(ErrorCode::INVALID_QMI_COMMAND.into()),
        }
    }

    pub(super) fn dms(&self, message: u16) -> Answered {
        let text = |text: &str| done(dms::Text { text: text.to_owned() });
        match message {
            dms::GET_CAPABILITIES => {
                let rate = |mbit_s: f64| (mbit_s * 1e6) as u32;
                done(dms::Capabilities {
                    uplink_rate: rate(self.settings.uplink_mbit_s),
                    downlink_rate: rate(self.settings.downlink_mbit_s),
                    data_service: 2,
                    sim: 2,
                    radios: vec![dms::RADIO_UMTS, dms::RADIO_LTE],
                })
            }
            dms::GET_MANUFACTURER => text("txop"),
            dms::GET_MODEL => text(&format!("virtual QMI modem ({})", self.model)),
            dms::GET_REVISION => text("txop-vusb 1"),
            dms::GET_IDS => done(dms::Ids { esn: Some("0".into()), imei: Some(IMEI.into()), meid: None }),
            dms::GET_OPERATING_MODE => done(dms::OperatingMode { mode: 0 }),
            _ => Err(ErrorCode::INVALID_QMI_COMMAND.into()),
        }
    }

    pub(super) fn nas(message: u16) -> Answered {
        match message {
            nas::GET_SERVING_SYSTEM => {
                let (mcc, mnc) = TEST_PLMN;
                done(nas::ServingSystem {
                    registration: 1,
                    circuit: 2,
                    packet: 1,
                    network: 2,
                    radios: vec![nas::RADIO_LTE],
                    roaming: Some(1),
                    plmn: Some(nas::Plmn { mcc, mnc, name: "txop".into() }),
                })
            }
            nas::GET_SIGNAL_INFO => {
                let lte = nas::LteSignal { rssi_dbm: -60, rsrq_db: -10, rsrp_dbm: -90, snr_tenth_db: 200 };
                done(nas::SignalInfo { lte: Some(lte) })
            }
            _ => Err(ErrorCode::INVALID_QMI_COMMAND.into()),
        }
    }

    /// Whether a data endpoint that was named is this modem's; what was not named is.
    fn is_own_endpoint(&self, endpoint: Option<(u32, u32)>) -> bool {
        endpoint.is_none_or(|endpoint| endpoint == (wda::ENDPOINT_USB, u32::from(self.interface)))
    }

    pub(super) fn wda(&mut self, message: u16, tlvs: &Tlvs<'_>) -> Answered {
        match message {
            wda::SET_DATA_FORMAT => {
                let asked = wda::Request::read(tlvs)?;
                if !self.is_own_endpoint(asked.endpoint) {
                    return Err(ErrorCode::INVALID_ARGUMENT.into());
                }
                // A format that is fixed stays, and the answer says so.
                if self.is_negotiated() {
                    let (from_host, to_host) = (self.settings.limit_from_host, self.settings.limit_to_host());
                    self.format = self.format.asked(&asked.format, from_host, to_host);
                }
                done(self.format.answer())
            }
            wda::GET_DATA_FORMAT => {
                if !self.is_own_endpoint(tlvs.pair_of_u32(0x10)?) {
                    return Err(ErrorCode::INVALID_ARGUMENT.into());
                }
                done(self.format.answer())
            }
            _ => Err(ErrorCode::INVALID_QMI_COMMAND.into()),
        }
    }

    pub(super) fn wds(&mut self, header: Header, tlvs: &Tlvs<'_>) -> Answered {
        let client = self.clients.get_mut(header.service, header.client).ok_or(ErrorCode::INVALID_CLIENT_ID)?;
        match header.message {
            wds::START_NETWORK => {
                let asked = wds::StartNetwork::read(tlvs)?;
                if client.handle.is_some() {
                    return Err(ErrorCode::NO_EFFECT.into());
                }
                if asked.family.is_some_and(|family| !matches!(family, 4 | 6)) {
                    return Err(ErrorCode::INVALID_ARGUMENT.into());
                }
                let handle = self.channels.open(client.mux_id.unwrap_or(0));
                client.handle = Some(handle);
                done(wds::PacketDataHandle { handle })
            }
            wds::STOP_NETWORK => {
                let wds::PacketDataHandle { handle } = wds::PacketDataHandle::read(tlvs)?;
                if client.handle != Some(handle) {
                    return Err(ErrorCode::INVALID_HANDLE.into());
                }
                client.handle = None;
                self.channels.close(handle);
                done(Nothing)
            }
            wds::GET_PACKET_SERVICE_STATUS => {
                let status = if client.handle.is_some() { wds::CONNECTED } else { wds::DISCONNECTED };
                done(wds::PacketService { status })
            }
            wds::GET_CURRENT_SETTINGS => {
                let handle = client.handle.ok_or(ErrorCode::OUT_OF_CALL)?;
                // What is not asked for by name is reported, too, when nothing is.
                let mask = wds::RequestedSettings::read(tlvs)?.mask.unwrap_or(u32::MAX);
                let wanted = |bit| mask & bit != 0;
                let address = u32::from(FIRST_ADDRESS).wrapping_add(self.channels.place(handle).unwrap_or(0));
                done(wds::CurrentSettings {
                    dns: [Some(GATEWAY).filter(|_| wanted(wds::WANTS_DNS)), None],
                    address: Some(address.into()).filter(|_| wanted(wds::WANTS_ADDRESS)),
                    gateway: Some(GATEWAY).filter(|_| wanted(wds::WANTS_GATEWAY)),
                    mask: Some(MASK).filter(|_| wanted(wds::WANTS_GATEWAY)),
                    mtu: Some(MTU).filter(|_| wanted(wds::WANTS_MTU)),
                    family: Some(wds::FAMILY_IPV4).filter(|_| wanted(wds::WANTS_FAMILY)),
                })
            }
            wds::SET_IP_FAMILY => match wds::IpFamily::read(tlvs)?.family {
                4 | 6 => done(Nothing),
                _ => Err(ErrorCode::INVALID_ARGUMENT.into()),
            },
            wds::BIND_MUX_DATA_PORT => {
                let asked = wds::BindMux::read(tlvs)?;
                let mux_id = asked.mux_id.ok_or(ErrorCode::MISSING_ARGUMENT)?;
                let own = (wda::ENDPOINT_USB, u32::from(self.interface));
                if asked.endpoint.is_some_and(|endpoint| endpoint != own) || client.handle.is_some() {
                    return Err(ErrorCode::INVALID_ARGUMENT.into());
                }
                client.mux_id = Some(mux_id);
                done(Nothing)
            }
            _ => Err(ErrorCode::INVALID_QMI_COMMAND.into()),
        }
    }

    /// Tells clients about a connection that came or went, where there is room.
    pub(super) fn announce_changes(&mut self, before: usize) {
        // A request that got no answer has changed nothing.
        if self.outbox.len() == before {
            return;
        }
        for (client, connected) in self.clients.take_changed() {
            self.counters.indications += 1;
            let status = if connected { wds::CONNECTED } else { wds::DISCONNECTED };
            let (kind, message) = (Kind::Indication, wds::GET_PACKET_SERVICE_STATUS);
            let header = Header { from_service: true, service: Service::WDS, client, kind, transaction: 0, message };
            self.send(header, &write_fields(&wds::PacketServiceChange { status, reconfigure: 0 }));
        }
    }
}
