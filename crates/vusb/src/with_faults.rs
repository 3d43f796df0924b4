//! What the JSON of a device's counters looks like in the document of statistics: its own fields, and the faults of its
//! script.

use std::borrow::Cow;
use std::marker::PhantomData;

use schemars::{JsonSchema, Schema, SchemaGenerator};

use crate::device::FaultCounters;

/// The counters of a device as they are in the document: with those of faults.
pub struct WithFaults<T>(PhantomData<T>);

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
