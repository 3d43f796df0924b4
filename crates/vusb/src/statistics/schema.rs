//! What the JSON of a device's counters looks like: that of one of the devices.

use std::borrow::Cow;

use schemars::{json_schema, JsonSchema, Schema, SchemaGenerator};

use super::DeviceStatistics;
use crate::registry;

impl JsonSchema for DeviceStatistics {
    fn schema_name() -> Cow<'static, str> {
        "DeviceStatistics".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        let devices: Vec<Schema> = registry::by_counters()
            .into_iter()
            .map(|(counters, labels)| {
                let mut schema = (counters.schema)(generator);
                schema.insert("description".to_owned(), format!("{}.", labels.join(" or ")).into());
                schema
            })
            .collect();
        json_schema!({ "description": "What a device has counted.", "anyOf": devices })
    }
}
