//! The service Basic Connect, command by command (MBIM 1.0, 10.5).

use std::net::Ipv4Addr;

use wire::usb::mbim::basic_connect::{
    cid, Activation, Connection, DeviceCaps, DeviceServices, Fields, HomeProvider, IpConfiguration, PacketService,
    PacketStatistics, PinState, RadioState, RegisterState, SignalState, SubscriberReady, DATA_CLASS_LTE,
};
use wire::usb::mbim::buffer::Reader;
use wire::usb::mbim::{Command, Operation, Status, Uuid};

use super::control::{Answered, Control, Session};
use super::descriptors::MTU;
use crate::functions::BlockCounters;

/// Sessions at once.
const SESSIONS_MAX: u8 = 8;
/// Addresses of connections count up from this one; the other end is the one before.
const FIRST_ADDRESS: Ipv4Addr = Ipv4Addr::new(10, 80, 210, 2);
const GATEWAY: Ipv4Addr = Ipv4Addr::new(10, 80, 210, 1);
const PREFIX: u32 = 24;
/// An IMEI that no device has: type allocation codes that begin with 00 are for tests (3GPP TS 23.003, 6.2; GSMA TS.06).
const IMEI: &str = "001010123456782";
/// The network for tests (3GPP TS 36.508, 4.4.2), and a subscriber of it.
const PROVIDER: &str = "00101";
const IMSI: &str = "001010123456789";
const NETWORK: &str = "txop";
/// Reported rates of the packet service: those of the bus.
const RATE_BIT_S: u64 = 480_000_000;
/// Commands that there are.
const COMMANDS: [u32; 12] = [
    cid::DEVICE_CAPS,
    cid::SUBSCRIBER_READY_STATUS,
    cid::RADIO_STATE,
    cid::PIN,
    cid::HOME_PROVIDER,
    cid::REGISTER_STATE,
    cid::PACKET_SERVICE,
    cid::SIGNAL_STATE,
    cid::CONNECT,
    cid::IP_CONFIGURATION,
    cid::DEVICE_SERVICES,
    cid::PACKET_STATISTICS,
];

impl Control {
    pub(super) fn basic_connect(
        &mut self,
        command: Command,
        operation: Operation,
        buffer: &[u8],
        carried: &BlockCounters,
    ) -> Answered {
        if command.service != Uuid::BASIC_CONNECT {
            return Err(Status::NO_DEVICE_SUPPORT.into());
        }
        match (command.number, operation) {
            (cid::DEVICE_CAPS, Operation::Query) => Ok(device_caps().write()),
            (cid::SUBSCRIBER_READY_STATUS, Operation::Query) => Ok(subscriber().write()),
            (cid::RADIO_STATE, Operation::Query) => Ok(self.radio_state()),
            (cid::RADIO_STATE, Operation::Set) => {
                self.radio_is_on = on_or_off(buffer)?;
                self.is_attached &= self.radio_is_on;
                self.drop_unattached();
                Ok(self.radio_state())
            }
            (cid::PIN, Operation::Query) => Ok(PinState { kind: 2, state: 0, attempts: 3 }.write()),
            (cid::HOME_PROVIDER, Operation::Query) => Ok(home_provider().write()),
            (cid::REGISTER_STATE, _) => Ok(self.register_state()),
            (cid::PACKET_SERVICE, Operation::Query) => Ok(self.packet_service()),
            (cid::PACKET_SERVICE, Operation::Set) => {
                // 0 attaches, 1 detaches.
                self.is_attached = !on_or_off(buffer)? && self.radio_is_on;
                self.drop_unattached();
                Ok(self.packet_service())
            }
            // The host's request for indications is accepted; none is sent, as the signal does not change.
            (cid::SIGNAL_STATE, _) => {
                Ok(SignalState { rssi: 20, error_rate: 99, interval_s: 0, rssi_threshold: 0, error_rate_threshold: 0 }
                    .write())
            }
            (cid::CONNECT, Operation::Query) => {
                let session = self.session_of(Reader::new(buffer).u32()?)?;
                Ok(self.connection(session))
            }
            (cid::CONNECT, Operation::Set) => self.connect(&Activation::read(buffer)?),
            (cid::IP_CONFIGURATION, Operation::Query) => self.ip_configuration(Reader::new(buffer).u32()?),
            (cid::DEVICE_SERVICES, Operation::Query) => {
                Ok(DeviceServices { services: vec![(Uuid::BASIC_CONNECT, COMMANDS.to_vec())] }.write())
            }
            (cid::PACKET_STATISTICS, Operation::Query) => Ok(packet_statistics(carried).write()),
            _ => Err(Status::NO_DEVICE_SUPPORT.into()),
        }
    }

    fn drop_unattached(&mut self) {
        if !self.is_attached {
            self.disconnect_all();
        }
    }

    fn radio_state(&self) -> Vec<u8> {
        RadioState { hardware: 1, software: u32::from(self.radio_is_on) }.write()
    }

    fn register_state(&self) -> Vec<u8> {
        // Deregistered, or at home; by itself.
        RegisterState {
            state: if self.radio_is_on { 3 } else { 1 },
            mode: 1,
            data_classes: DATA_CLASS_LTE,
            provider_id: PROVIDER.into(),
            provider_name: NETWORK.into(),
        }
        .write()
    }

    fn packet_service(&self) -> Vec<u8> {
        PacketService {
            state: if self.is_attached { PacketService::ATTACHED } else { PacketService::DETACHED },
            data_class: DATA_CLASS_LTE,
            uplink_bit_s: RATE_BIT_S,
            downlink_bit_s: RATE_BIT_S,
        }
        .write()
    }

    /// The number of a session that there can be.
    fn session_of(&self, number: u32) -> Result<u8, Status> {
        u8::try_from(number).ok().filter(|&number| number < SESSIONS_MAX).ok_or(Status::INVALID_PARAMETERS)
    }

    fn connection(&self, session: u8) -> Vec<u8> {
        let connected = self.sessions.get(&session);
        Connection {
            session: u32::from(session),
            state: if connected.is_some() { Connection::ACTIVATED } else { Connection::DEACTIVATED },
            ip_type: connected.map_or(0, |session| session.ip_type),
            context: Uuid::INTERNET,
        }
        .write()
    }

    fn connect(&mut self, asked: &Activation) -> Answered {
        let Ok(session) = self.session_of(asked.session) else {
            return Err(Status::MAX_ACTIVATED_CONTEXTS.into());
        };
        match asked.command {
            1 => {
                if !self.is_attached {
                    return Err(Status::PACKET_SERVICE_DETACHED.into());
                }
                // One that is there stays as it is.
                if !self.sessions.contains_key(&session) {
                    let handle = Some(self.channels.open(session));
                    self.sessions.insert(session, Session { handle, ip_type: asked.ip_type });
                }
            }
            0 => {
                let ended = self.sessions.remove(&session).ok_or(Status::CONTEXT_NOT_ACTIVATED)?;
                match ended.handle {
                    Some(handle) => self.channels.close(handle),
                    None => self.channels.remove(session),
                }
            }
            _ => return Err(Status::INVALID_PARAMETERS.into()),
        }
        Ok(self.connection(session))
    }

    fn ip_configuration(&self, number: u32) -> Answered {
        let session = self.session_of(number)?;
        let connected = self.sessions.get(&session).ok_or(Status::CONTEXT_NOT_ACTIVATED)?;
        let place = connected.handle.and_then(|handle| self.channels.place(handle)).unwrap_or(0);
        let address = Ipv4Addr::from(u32::from(FIRST_ADDRESS).saturating_add(place));
        Ok(IpConfiguration {
            session: number,
            addresses: vec![(PREFIX, address.octets())],
            gateway: Some(GATEWAY.octets()),
            name_servers: Vec::new(),
            mtu: Some(u32::from(MTU)),
        }
        .write())
    }
}

/// The only number of a buffer, which is 0 or 1.
fn on_or_off(buffer: &[u8]) -> Result<bool, super::control::Refused> {
    match Reader::new(buffer).u32()? {
        0 => Ok(false),
        1 => Ok(true),
        _ => Err(Status::INVALID_PARAMETERS.into()),
    }
}

fn device_caps() -> DeviceCaps {
    DeviceCaps {
        device_type: 2,
        cellular_class: 1,
        voice_class: 1,
        sim_class: 2,
        data_class: DATA_CLASS_LTE,
        sms_caps: 0,
        control_caps: 0,
        max_sessions: u32::from(SESSIONS_MAX),
        custom_data_class: String::new(),
        device_id: IMEI.into(),
        firmware: "txop-vusb 1".into(),
        hardware: "virtual MBIM function".into(),
    }
}

fn subscriber() -> SubscriberReady {
    SubscriberReady { state: 1, subscriber: IMSI.into(), sim: String::new(), info: 0 }
}

fn home_provider() -> HomeProvider {
    HomeProvider { id: PROVIDER.into(), state: 1, name: NETWORK.into() }
}

fn packet_statistics(carried: &BlockCounters) -> PacketStatistics {
    PacketStatistics {
        in_discards: carried.dropped,
        in_octets: carried.downlink.datagram_bytes,
        in_packets: carried.downlink.datagrams,
        out_octets: carried.uplink.datagram_bytes,
        out_packets: carried.uplink.datagrams,
        out_errors: carried.faults,
        out_discards: carried.not_taken,
    }
}
