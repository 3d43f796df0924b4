//! Commands of the service Basic Connect (MBIM 1.0, 10.5), as plain representations.

use super::buffer::{Reader, Writer};
use super::{Command, Uuid};
use crate::usb::Fault;

/// What the information buffer of a command has.
pub trait Fields: Sized {
    /// From the bytes of a buffer.
    ///
    /// # Errors
    /// A field that is missing, or lies outside the buffer.
    fn read(bytes: &[u8]) -> Result<Self, Fault>;

    /// As the bytes of a buffer.
    fn write(&self) -> Vec<u8>;
}

/// Numbers of the commands (table 10-5).
pub mod cid {
    /// What the device can do.
    pub const DEVICE_CAPS: u32 = 1;
    /// The SIM.
    pub const SUBSCRIBER_READY_STATUS: u32 = 2;
    /// Whether the radio is on.
    pub const RADIO_STATE: u32 = 3;
    /// Whether a PIN is missing.
    pub const PIN: u32 = 4;
    /// The network's operator.
    pub const HOME_PROVIDER: u32 = 6;
    /// Whether it is registered.
    pub const REGISTER_STATE: u32 = 9;
    /// Whether it is attached to the packet service.
    pub const PACKET_SERVICE: u32 = 10;
    /// The signal.
    pub const SIGNAL_STATE: u32 = 11;
    /// A connection.
    pub const CONNECT: u32 = 12;
    /// Addresses of a connection.
    pub const IP_CONFIGURATION: u32 = 15;
    /// Which services there are.
    pub const DEVICE_SERVICES: u32 = 16;
    /// What was carried.
    pub const PACKET_STATISTICS: u32 = 20;
}

/// A command of this service.
pub const fn command(number: u32) -> Command {
    Command { service: Uuid::BASIC_CONNECT, number }
}

/// LTE among data classes (table 10-12).
pub const DATA_CLASS_LTE: u32 = 1 << 5;

/// Answer of DEVICE_CAPS (10.5.1).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceCaps {
    /// DeviceType: 1 embedded, 2 removable, 3 remote.
    pub device_type: u32,
    /// CellularClass: 1 3GPP.
    pub cellular_class: u32,
    /// VoiceClass: 1 no voice.
    pub voice_class: u32,
    /// SimClass: 1 logical, 2 removable.
    pub sim_class: u32,
    /// DataClass.
    pub data_class: u32,
    /// SmsCaps; 0 none.
    pub sms_caps: u32,
    /// ControlCaps; 0 none.
    pub control_caps: u32,
    /// Sessions at once.
    pub max_sessions: u32,
    /// A data class that has no number.
    pub custom_data_class: String,
    /// IMEI.
    pub device_id: String,
    /// Version of the firmware.
    pub firmware: String,
    /// What hardware it is.
    pub hardware: String,
}

impl Fields for DeviceCaps {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self {
            device_type: from.u32()?,
            cellular_class: from.u32()?,
            voice_class: from.u32()?,
            sim_class: from.u32()?,
            data_class: from.u32()?,
            sms_caps: from.u32()?,
            control_caps: from.u32()?,
            max_sessions: from.u32()?,
            custom_data_class: from.string()?,
            device_id: from.string()?,
            firmware: from.string()?,
            hardware: from.string()?,
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        let numbers = [
            self.device_type,
            self.cellular_class,
            self.voice_class,
            self.sim_class,
            self.data_class,
            self.sms_caps,
            self.control_caps,
            self.max_sessions,
        ];
        to.numbers(&numbers);
        [&self.custom_data_class, &self.device_id, &self.firmware, &self.hardware]
            .into_iter()
            .for_each(|text| to.string(text));
        to.finish()
    }
}

/// Answer of SUBSCRIBER_READY_STATUS (10.5.2), without telephone numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SubscriberReady {
    /// ReadyState: 1 initialized.
    pub state: u32,
    /// IMSI.
    pub subscriber: String,
    /// ICCID.
    pub sim: String,
    /// ReadyInfo.
    pub info: u32,
}

impl Fields for SubscriberReady {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self { state: from.u32()?, subscriber: from.string()?, sim: from.string()?, info: from.u32()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u32(self.state);
        to.string(&self.subscriber);
        to.string(&self.sim);
        to.u32(self.info);
        to.u32(0);
        to.finish()
    }
}

/// Answer of RADIO_STATE (10.5.3): 0 off, 1 on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RadioState {
    /// HwRadioState.
    pub hardware: u32,
    /// SwRadioState.
    pub software: u32,
}

impl Fields for RadioState {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self { hardware: from.u32()?, software: from.u32()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.numbers(&[self.hardware, self.software]);
        to.finish()
    }
}

/// Answer of PIN (10.5.4).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PinState {
    /// PinType: 2 PIN1.
    pub kind: u32,
    /// PinState: 0 unlocked, 1 locked.
    pub state: u32,
    /// Attempts that are left.
    pub attempts: u32,
}

impl Fields for PinState {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self { kind: from.u32()?, state: from.u32()?, attempts: from.u32()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.numbers(&[self.kind, self.state, self.attempts]);
        to.finish()
    }
}

/// Answer of HOME_PROVIDER (10.5.6).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HomeProvider {
    /// MCC and MNC.
    pub id: String,
    /// ProviderState: 1 home.
    pub state: u32,
    /// The operator.
    pub name: String,
}

impl Fields for HomeProvider {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self { id: from.string()?, state: from.u32()?, name: from.string()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.string(&self.id);
        to.u32(self.state);
        to.string(&self.name);
        // CellularClass 3GPP; signal and error rate are not known.
        to.numbers(&[1, 99, 99]);
        to.finish()
    }
}

/// Answer of SIGNAL_STATE (10.5.11).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalState {
    /// Rssi: 0 is -113 dBm or less, and 2 dB for each up to 31.
    pub rssi: u32,
    /// ErrorRate; 99 is not known.
    pub error_rate: u32,
    /// SignalStrengthInterval, seconds.
    pub interval_s: u32,
    /// RssiThreshold.
    pub rssi_threshold: u32,
    /// ErrorRateThreshold.
    pub error_rate_threshold: u32,
}

impl Fields for SignalState {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self {
            rssi: from.u32()?,
            error_rate: from.u32()?,
            interval_s: from.u32()?,
            rssi_threshold: from.u32()?,
            error_rate_threshold: from.u32()?,
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.numbers(&[self.rssi, self.error_rate, self.interval_s, self.rssi_threshold, self.error_rate_threshold]);
        to.finish()
    }
}

/// Answer of PACKET_STATISTICS (10.5.20): in is to the host. Numbers of 32 bits in the message stay at their largest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketStatistics {
    /// Packets to the host that were lost.
    pub in_discards: u64,
    /// Bytes to the host.
    pub in_octets: u64,
    /// Packets to the host.
    pub in_packets: u64,
    /// Bytes from the host.
    pub out_octets: u64,
    /// Packets from the host.
    pub out_packets: u64,
    /// Packets from the host that had faults.
    pub out_errors: u64,
    /// Packets from the host that were lost.
    pub out_discards: u64,
}

impl Fields for PacketStatistics {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        let (in_discards, _in_errors) = (from.u32()?, from.u32()?);
        Ok(Self {
            in_discards: u64::from(in_discards),
            in_octets: from.u64()?,
            in_packets: from.u64()?,
            out_octets: from.u64()?,
            out_packets: from.u64()?,
            out_errors: u64::from(from.u32()?),
            out_discards: u64::from(from.u32()?),
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        let small = |value: u64| u32::try_from(value).unwrap_or(u32::MAX);
        to.numbers(&[small(self.in_discards), 0]);
        for number in [self.in_octets, self.in_packets, self.out_octets, self.out_packets] {
            to.u64(number);
        }
        to.u32(small(self.out_errors));
        to.u32(small(self.out_discards));
        to.finish()
    }
}

/// Answer of REGISTER_STATE (10.5.9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RegisterState {
    /// RegisterState: 3 home.
    pub state: u32,
    /// RegisterMode: 1 automatic.
    pub mode: u32,
    /// Data classes of the network.
    pub data_classes: u32,
    /// MCC and MNC.
    pub provider_id: String,
    /// The operator.
    pub provider_name: String,
}

impl Fields for RegisterState {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        let (_network_error, state, mode, data_classes) = (from.u32()?, from.u32()?, from.u32()?, from.u32()?);
        let _cellular_class = from.u32()?;
        Ok(Self { state, mode, data_classes, provider_id: from.string()?, provider_name: from.string()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.numbers(&[0, self.state, self.mode, self.data_classes, 1]);
        to.string(&self.provider_id);
        to.string(&self.provider_name);
        to.string("");
        to.u32(0);
        to.finish()
    }
}

/// Answer of PACKET_SERVICE (10.5.10).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketService {
    /// PacketServiceState: 2 attached, 4 detached.
    pub state: u32,
    /// HighestAvailableDataClass.
    pub data_class: u32,
    /// Rate from the host, bit/s.
    pub uplink_bit_s: u64,
    /// Rate to the host, bit/s.
    pub downlink_bit_s: u64,
}

impl PacketService {
    /// PacketServiceState of a device that is attached.
    pub const ATTACHED: u32 = 2;
    /// That of one that is not.
    pub const DETACHED: u32 = 4;
}

impl Fields for PacketService {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        let _network_error = from.u32()?;
        let (state, data_class) = (from.u32()?, from.u32()?);
        Ok(Self { state, data_class, uplink_bit_s: from.u64()?, downlink_bit_s: from.u64()? })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.numbers(&[0, self.state, self.data_class]);
        to.u64(self.uplink_bit_s);
        to.u64(self.downlink_bit_s);
        to.finish()
    }
}

/// What CONNECT sets (10.5.12, table 10-60).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Activation {
    /// The session.
    pub session: u32,
    /// ActivationCommand: 0 deactivate, 1 activate.
    pub command: u32,
    /// The access point name (APN).
    pub access_string: String,
    /// User name for authentication.
    pub user: String,
    /// Password for authentication.
    pub password: String,
    /// Compression: 0 none.
    pub compression: u32,
    /// AuthProtocol: 0 none.
    pub authentication: u32,
    /// IPType: 0 as the device wants, 1 IPv4, 2 IPv6.
    pub ip_type: u32,
    /// ContextType.
    pub context: Uuid,
}

impl Fields for Activation {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        Ok(Self {
            session: from.u32()?,
            command: from.u32()?,
            access_string: from.string()?,
            user: from.string()?,
            password: from.string()?,
            compression: from.u32()?,
            authentication: from.u32()?,
            ip_type: from.u32()?,
            context: from.uuid()?,
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u32(self.session);
        to.u32(self.command);
        [&self.access_string, &self.user, &self.password].into_iter().for_each(|text| to.string(text));
        to.numbers(&[self.compression, self.authentication, self.ip_type]);
        to.uuid(self.context);
        to.finish()
    }
}

/// What CONNECT asks for and answers (10.5.12, table 10-63).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The session.
    pub session: u32,
    /// ActivationState: 1 activated, 3 deactivated.
    pub state: u32,
    /// IPType, as in [`Activation`].
    pub ip_type: u32,
    /// ContextType.
    pub context: Uuid,
}

impl Connection {
    /// ActivationState of a session that carries packets.
    pub const ACTIVATED: u32 = 1;
    /// That of one that does not.
    pub const DEACTIVATED: u32 = 3;
}

impl Fields for Connection {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        let (session, state, _voice) = (from.u32()?, from.u32()?, from.u32()?);
        let (ip_type, context, _network_error) = (from.u32()?, from.uuid()?, from.u32()?);
        Ok(Self { session, state, ip_type, context })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.numbers(&[self.session, self.state, 0, self.ip_type]);
        to.uuid(self.context);
        to.u32(0);
        to.finish()
    }
}

/// Answer of IP_CONFIGURATION (10.5.15) of a session with IPv4; queries have the session alone, and nothing else.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct IpConfiguration {
    /// The session.
    pub session: u32,
    /// Addresses, each with the length of its network's prefix.
    pub addresses: Vec<(u32, [u8; 4])>,
    /// The gateway.
    pub gateway: Option<[u8; 4]>,
    /// Name servers.
    pub name_servers: Vec<[u8; 4]>,
    /// MTU, bytes.
    pub mtu: Option<u32>,
}

impl Fields for IpConfiguration {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        let (session, available, _available_v6) = (from.u32()?, from.u32()?, from.u32()?);
        let count = from.u32()?;
        let addresses = from.elements::<8>(count)?;
        let (_count_v6, _addresses_v6) = (from.u32()?, from.u32()?);
        let gateway = from.elements::<4>(u32::from(available & 2 != 0))?.first().copied();
        let _gateway_v6 = from.u32()?;
        let count = from.u32()?;
        let name_servers = from.elements::<4>(count)?;
        let (_count_v6, _name_servers_v6) = (from.u32()?, from.u32()?);
        let (mtu, _mtu_v6) = (from.u32()?, from.u32()?);
        let split = |[p0, p1, p2, p3, address @ ..]: [u8; 8]| (u32::from_le_bytes([p0, p1, p2, p3]), address);
        Ok(Self {
            session,
            addresses: addresses.into_iter().map(split).collect(),
            gateway,
            name_servers,
            mtu: (available & 8 != 0).then_some(mtu),
        })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u32(self.session);
        let available =
            [!self.addresses.is_empty(), self.gateway.is_some(), !self.name_servers.is_empty(), self.mtu.is_some()];
        to.u32(available.iter().zip(0..).map(|(&is_there, bit)| u32::from(is_there) << bit).sum());
        to.u32(0);
        to.u32(self.addresses.len() as u32);
        let bytes: Vec<u8> =
            self.addresses.iter().flat_map(|(prefix, address)| [prefix.to_le_bytes(), *address]).flatten().collect();
        to.offset(&bytes);
        to.u32(0);
        to.u32(0);
        to.offset(self.gateway.as_ref().map_or(&[], |address| address));
        to.u32(0);
        to.u32(self.name_servers.len() as u32);
        to.offset(self.name_servers.as_flattened());
        to.u32(0);
        to.u32(0);
        to.u32(self.mtu.unwrap_or(0));
        to.u32(0);
        to.finish()
    }
}

/// Answer of DEVICE_SERVICES (10.5.29): each service with its commands. No data service streams.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeviceServices {
    /// Services and numbers of their commands.
    pub services: Vec<(Uuid, Vec<u32>)>,
}

impl Fields for DeviceServices {
    fn read(bytes: &[u8]) -> Result<Self, Fault> {
        let mut from = Reader::new(bytes);
        let (count, _max_streams) = (from.u32()?, from.u32()?);
        let mut services = Vec::new();
        for _ in 0..count {
            // Each costs eight bytes of the buffer, so that there cannot be more than it has room for.
            let (start, len) = (from.u32()? as usize, from.u32()? as usize);
            let fault = Fault { offset: 8 + 8 * services.len(), what: "a service lies outside the information buffer" };
            let element = start.checked_add(len).and_then(|end| bytes.get(start..end)).ok_or(fault)?;
            let mut inside = Reader::new(element);
            let service = inside.uuid()?;
            let (_payload, _instances, commands) = (inside.u32()?, inside.u32()?, inside.u32()?);
            let numbers: Result<Vec<u32>, Fault> = (0..commands).map(|_| inside.u32()).collect();
            services.push((service, numbers?));
        }
        Ok(Self { services })
    }

    fn write(&self) -> Vec<u8> {
        let mut to = Writer::default();
        to.u32(self.services.len() as u32);
        to.u32(0);
        for (service, commands) in &self.services {
            let mut element = Writer::default();
            element.uuid(*service);
            element.numbers(&[0, 0, commands.len() as u32]);
            element.numbers(commands);
            let element = element.finish();
            to.offset(&element);
            to.u32(element.len() as u32);
        }
        to.finish()
    }
}
