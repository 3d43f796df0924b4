//! What the JSON of a device's counters looks like: the fields of one of the devices, with the faults of its script.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

use super::DeviceStatistics;
use crate::chips::{ar6003, mt7610u, rtl8188cus, sd8686};
use crate::device::FaultCounters;
use crate::functions::ecm::EcmStatistics;
use crate::functions::mbim::MbimStatistics;
use crate::functions::ncm::NcmStatistics;
use crate::functions::qmi_modem::QmiModemStatistics;

/// The counters of a device as they are in the document: with those of faults.
struct WithFaults<T>(PhantomData<T>);

/// Counters of faults, as a field.
#[derive(JsonSchema)]
#[expect(dead_code, reason = "only its schema is used")]
struct OfFaults {
    /// Faults of its script; null for a device that no script is around.
    faults: Option<Vec<FaultCounters>>,
}

impl<T: JsonSchema> JsonSchema for WithFaults<T> {
    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        format!("{} with faults", T::schema_id()).into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let (mut schema, of_faults) = (T::json_schema(generator), OfFaults::json_schema(generator));
        let properties = schema.get_mut("properties").and_then(|properties| properties.as_object_mut());
        if let (Some(properties), Some(faults)) = (properties, of_faults.pointer("/properties/faults")) {
            properties.insert("faults".to_owned(), faults.clone());
        }
        schema
    }
}

impl JsonSchema for DeviceStatistics {
    fn schema_name() -> Cow<'static, str> {
        "DeviceStatistics".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let devices = [
            of::<rtl8188cus::Statistics>(generator, "RTL8188CUS or RTL8723AU."),
            of::<rtl8188cus::EuStatistics>(generator, "RTL8188EU."),
            of::<mt7610u::Statistics>(generator, "MT7610U or MT7601U."),
            of::<ar6003::Statistics>(generator, "AR6003 or AR6004."),
            of::<sd8686::Statistics>(generator, "SD8686."),
            of::<NcmStatistics>(generator, "NCM function."),
            of::<MbimStatistics>(generator, "MBIM function."),
            of::<EcmStatistics>(generator, "ECM function."),
            of::<QmiModemStatistics>(generator, "QMI modem."),
        ];
        json_schema!({ "description": "What a device has counted.", "anyOf": devices })
    }
}

fn of<T: JsonSchema>(generator: &mut SchemaGenerator, whose: &str) -> Schema {
    let mut schema = generator.subschema_for::<WithFaults<T>>();
    schema.insert("description".to_owned(), whose.into());
    schema
}
