//! What is written is read, and frames made by hand are what they are.

use std::fmt::Debug;
use std::net::Ipv4Addr;

use proptest::option::of;
use proptest::prelude::*;

use super::qmux::{Header, Kind, Message};
use super::tlv::Writer;
use super::*;

fn frame(header: Header, tlvs: &Writer) -> Vec<u8> {
    header.emit(tlvs).unwrap()
}

fn header(service: Service, kind: Kind) -> Header {
    Header { from_service: kind != Kind::Request, service, client: 1, kind, transaction: 7, message: 0x20 }
}

/// As a request, and as an answer that succeeded.
fn comes_back<F: Fields + PartialEq + Debug>(fields: F) {
    let request = frame(header(Service::WDA, Kind::Request), &write_fields(&fields));
    let message = Message::parse(&request, request.len()).unwrap().unwrap();
    assert_eq!(F::read(&message.tlvs).as_ref(), Ok(&fields));
    let answer = frame(header(Service::CTL, Kind::Response), &write_outcome(&Ok(fields)));
    let message = Message::parse(&answer, answer.len()).unwrap().unwrap();
    let again = read_outcome::<F>(&message.tlvs).unwrap().unwrap();
    assert_eq!(frame(message.header, &write_outcome(&Ok(again))), answer);
}

#[test]
fn a_request_for_the_versions_is_what_hosts_send() {
    let bytes = [1, 0x0b, 0, 0, 0, 0, 0, 1, 0x21, 0, 0, 0];
    let message = Message::parse(&bytes, bytes.len()).unwrap().unwrap();
    let expected = Header {
        from_service: false,
        service: Service::CTL,
        client: 0,
        kind: Kind::Request,
        transaction: 1,
        message: ctl::GET_VERSION_INFO,
    };
    assert_eq!((message.header, message.len), (expected, bytes.len()));
    assert_eq!(frame(expected, &Writer::default()), bytes);
    assert_eq!(Service::CTL.message_name(0x21), Some("Get Version Info"));
}

#[test]
fn a_request_for_a_data_format_is_read_by_its_numbers() {
    // Raw IP, QMAP both ways, 16 datagrams and 16,384 bytes to the host, as qmicli --wda-set-data-format asks for it.
    let tlvs = [
        &[0x11, 4, 0, 2, 0, 0, 0][..],
        &[0x12, 4, 0, 5, 0, 0, 0],
        &[0x13, 4, 0, 5, 0, 0, 0],
        &[0x15, 4, 0, 16, 0, 0, 0],
        &[0x16, 4, 0, 0, 0x40, 0, 0],
        &[0x17, 8, 0, 2, 0, 0, 0, 4, 0, 0, 0],
    ]
    .concat();
    let mut bytes = vec![1, 12 + tlvs.len() as u8, 0, 0, 0x1a, 3, 0, 2, 0, 0x20, 0, tlvs.len() as u8, 0];
    bytes.extend(&tlvs);
    let message = Message::parse(&bytes, bytes.len()).unwrap().unwrap();
    assert_eq!(message.header.service.message_name(message.header.message), Some("Set Data Format"));
    let request = wda::Request::read(&message.tlvs).unwrap();
    let qmap = Some(wda::Aggregation::QMAP);
    assert_eq!(request.endpoint, Some((wda::ENDPOINT_USB, 4)));
    assert_eq!(request.format.link, Some(wda::LinkProtocol::RAW_IP));
    assert_eq!(request.format.uplink, wda::Direction { aggregation: qmap, datagrams: None, bytes: None });
    let downlink = wda::Direction { aggregation: qmap, datagrams: Some(16), bytes: Some(16_384) };
    assert_eq!(request.format.downlink, downlink);
}

#[test]
fn a_refusal_is_no_answer() {
    let refused: Outcome<wda::Answer> = Err(ErrorCode::INVALID_QMI_COMMAND);
    let bytes = frame(header(Service::WDA, Kind::Response), &write_outcome(&refused));
    let message = Message::parse(&bytes, bytes.len()).unwrap().unwrap();
    assert_eq!(read_outcome::<wda::Answer>(&message.tlvs), Ok(refused));
    assert_eq!(ErrorCode(71).name(), Some("invalid QMI command"));
    let nothing = frame(header(Service::WDA, Kind::Response), &Writer::default());
    let message = Message::parse(&nothing, nothing.len()).unwrap().unwrap();
    assert_eq!(read_outcome::<wda::Answer>(&message.tlvs).unwrap_err().what, "an answer without its result");
}

#[test]
fn an_address_begins_with_its_last_byte() {
    let settings = wds::CurrentSettings { address: Some(Ipv4Addr::new(10, 80, 210, 2)), ..Default::default() };
    assert_eq!(write_fields(&settings).bytes(), [0x1e, 4, 0, 2, 210, 80, 10]);
}

#[test]
fn lengths_that_go_too_far_are_faults() {
    let whole = frame(header(Service::WDA, Kind::Request), &write_fields(&wds::IpFamily { family: 4 }));
    let what = |bytes: &[u8]| match Message::parse(bytes, bytes.len()) {
        Err(fault) => fault.what,
        Ok(found) => found.map_or("cut", |message| message.tlvs.check().map_or_else(|fault| fault.what, |()| "good")),
    };
    assert_eq!(what(&whole), "good");
    for (at, value, expected) in [
        (0, 2, "not the byte that a QMUX frame begins with"),
        (1, 17, "QMUX length goes past the end of the transfer"),
        (1, 11, "QMUX length has no room for the header of a message"),
        (6, 1, "several messages in one frame: not read"),
        (11, 5, "the fields go past the end of their frame"),
        (14, 2, "a TLV goes past the end of its message"),
        (11, 2, "fewer than three bytes are left for a TLV"),
    ] {
        let mut bytes = whole.clone();
        bytes[at] = value;
        assert_eq!(what(&bytes), expected);
    }
}

#[test]
fn a_cut_message_has_the_fields_before_the_cut() {
    let request = wda::Request {
        format: wda::DataFormat { link: Some(wda::LinkProtocol::RAW_IP), qos_header: Some(0), ..Default::default() },
        endpoint: Some((2, 4)),
    };
    let bytes = frame(header(Service::WDA, Kind::Request), &write_fields(&request));
    for cut in 0..bytes.len() {
        match Message::parse(&bytes[..cut], bytes.len()).unwrap() {
            None => assert!(cut < 13),
            Some(message) => {
                assert!(message.tlvs.is_cut() && message.tlvs.check().is_ok());
                let found = wda::Request::read(&message.tlvs).unwrap();
                assert_eq!(found.endpoint, None);
                assert_eq!(found.format.qos_header.is_some(), cut >= 17);
            }
        }
    }
}

prop_compose! {
    fn direction()(aggregation in of(any::<u32>()), datagrams in of(any::<u32>()), bytes in of(any::<u32>()))
        -> wda::Direction {
        wda::Direction { aggregation: aggregation.map(wda::Aggregation), datagrams, bytes }
    }
}

prop_compose! {
    fn format()(qos_header in of(any::<u8>()), link in of(any::<u32>()), uplink in direction(), downlink in direction())
        -> wda::DataFormat {
        wda::DataFormat { qos_header, link: link.map(wda::LinkProtocol), uplink, downlink }
    }
}

fn address() -> impl Strategy<Value = Option<Ipv4Addr>> {
    of(any::<u32>().prop_map(Ipv4Addr::from))
}

proptest! {
    #[test]
    fn headers_come_back(
        from_service: bool, service: u8, client: u8, kind in 0usize..3, transaction: u16, message: u16,
        values in prop::collection::vec((any::<u8>(), prop::collection::vec(any::<u8>(), 0..40)), 0..8),
    ) {
        let kind = [Kind::Request, Kind::Response, Kind::Indication][kind];
        let transaction = if service == 0 { transaction & 0xff } else { transaction };
        let header = Header { from_service, service: Service(service), client, kind, transaction, message };
        let mut tlvs = Writer::default();
        values.iter().for_each(|(kind, value)| tlvs.put(*kind, value));
        let bytes = header.emit(&tlvs).unwrap();
        let found = Message::parse(&bytes, bytes.len()).unwrap().unwrap();
        prop_assert_eq!((found.header, found.len), (header, bytes.len()));
        let read: Result<Vec<_>, _> = found.tlvs.iter().map(|tlv| tlv.map(|t| (t.kind, t.value.to_vec()))).collect();
        prop_assert_eq!(read, Ok(values));
    }

    #[test]
    fn data_formats_come_back(format in format(), endpoint in of(any::<(u32, u32)>())) {
        comes_back(wda::Request { format, endpoint });
        comes_back(wda::Answer { format });
    }

    #[test]
    fn messages_of_ctl_come_back(services in prop::collection::vec(any::<(u8, u16, u16)>(), 0..40), a: u8, b: u8, link: u16) {
        let version = |(service, major, minor)| ctl::ServiceVersion { service: Service(service), major, minor };
        comes_back(ctl::VersionInfo { services: services.into_iter().map(version).collect() });
        comes_back(ctl::Allocate { service: Service(a) });
        comes_back(ctl::Client { service: Service(a), client: b });
        comes_back(ctl::LinkFormat { qos_header: Some(a), protocol: Some(link) });
        comes_back(ctl::LinkId { link });
    }

    #[test]
    fn messages_of_dms_come_back(
        rates: (u32, u32), data_service: u8, sim: u8, radios in prop::collection::vec(any::<u8>(), 0..20),
        text in ".{0,40}", esn in of("[0-9]{0,8}"), imei in of("[0-9]{15}"), meid in of("[0-9a-f]{14}"),
    ) {
        let (uplink_rate, downlink_rate) = rates;
        comes_back(dms::Capabilities { uplink_rate, downlink_rate, data_service, sim, radios });
        comes_back(dms::Text { text });
        comes_back(dms::Ids { esn, imei, meid });
        comes_back(dms::OperatingMode { mode: sim });
    }

    #[test]
    fn messages_of_nas_come_back(
        states: (u8, u8, u8, u8), radios in prop::collection::vec(any::<u8>(), 0..5), roaming in of(any::<u8>()),
        plmn in of((any::<u16>(), any::<u16>(), "[a-z ]{0,30}")), lte in of(any::<(i8, i8, i16, i16)>()),
    ) {
        let (registration, circuit, packet, network) = states;
        let plmn = plmn.map(|(mcc, mnc, name)| nas::Plmn { mcc, mnc, name });
        comes_back(nas::ServingSystem { registration, circuit, packet, network, radios, roaming, plmn });
        let lte = lte.map(|(rssi_dbm, rsrq_db, rsrp_dbm, snr_tenth_db)| {
            nas::LteSignal { rssi_dbm, rsrq_db, rsrp_dbm, snr_tenth_db }
        });
        comes_back(nas::SignalInfo { lte });
    }

    #[test]
    fn messages_of_wds_come_back(
        apn in of("[a-z.]{0,100}"), number: u32, small: u8, optional in of(any::<u8>()), wide in of(any::<u32>()),
        first in address(), second in address(), third in address(), endpoint in of(any::<(u32, u32)>()),
    ) {
        comes_back(wds::StartNetwork { apn, family: optional, profile: Some(small) });
        comes_back(wds::PacketDataHandle { handle: number });
        comes_back(wds::PacketService { status: small });
        comes_back(wds::PacketServiceChange { status: small, reconfigure: small / 2 });
        comes_back(wds::RequestedSettings { mask: wide });
        comes_back(wds::CurrentSettings {
            dns: [first, second], address: third, gateway: second, mask: first, mtu: wide, family: optional,
        });
        comes_back(wds::IpFamily { family: small });
        comes_back(wds::BindMux { endpoint, mux_id: optional, client_type: wide });
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes: Vec<u8>, framed: bool, longer in 0usize..5_000) {
        let mut bytes = bytes;
        if framed && bytes.len() > 13 {
            let len = (bytes.len() - 1) as u16;
            bytes[0] = 1;
            bytes[1..3].copy_from_slice(&len.to_le_bytes());
            bytes[6] &= 0xfe;
            bytes[11..13].copy_from_slice(&(len - 12).to_le_bytes());
        }
        if let Ok(Some(message)) = Message::parse(&bytes, bytes.len() + longer) {
            let tlvs = message.tlvs;
            prop_assert!(tlvs.iter().count() <= bytes.len() / tlv::HEADER + 1);
            let _ = (read_outcome::<wda::Answer>(&tlvs), wda::Request::read(&tlvs));
            let _ = (read_outcome::<ctl::VersionInfo>(&tlvs), read_outcome::<dms::Capabilities>(&tlvs));
            let _ = (read_outcome::<nas::ServingSystem>(&tlvs), read_outcome::<wds::CurrentSettings>(&tlvs));
        }
    }
}
