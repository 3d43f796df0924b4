#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]
#![deny(clippy::unwrap_used, clippy::expect_used, clippy::indexing_slicing, clippy::panic, clippy::unreachable)]

mod text;

use std::io;
use std::path::{Path, PathBuf};

use schemars::generate::SchemaSettings;
use schemars::JsonSchema;
use serde_json::Value;

/// The schema of `T` as a document called `name`.
fn document<T: JsonSchema>(name: &str) -> (String, Value) {
    let schema = SchemaSettings::draft2020_12().for_serialize().into_generator().into_root_schema_for::<T>();
    (name.to_owned(), schema.into())
}

/// Every document that has a schema.
fn documents() -> Vec<(String, Value)> {
    vec![
        document::<air::report::Report>(air::report::FORMAT),
        document::<bus::report::Report>(bus::report::FORMAT),
        document::<simulate::Document>(simulate::result::FORMAT),
        document::<emulate::Status>(emulate::FORMAT),
        document::<vusb::statistics::Statistics>(vusb::statistics::FORMAT),
        document::<vusb::registry::Table>(vusb::registry::FORMAT),
        document::<link::wlan::Counters>("wlan-counters"),
        document::<link::modem::ModemCounters>("modem-counters"),
        document::<link::sdio::SdioCounters>("sdio-counters"),
        document::<link::scenario::ScenarioFile>("scenario"),
    ]
}

/// Every file with its text.
fn files() -> io::Result<Vec<(PathBuf, String)>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let schema =
        |(name, schema): (String, Value)| (folder.join(format!("schema/{name}.json")), text::of(&name, schema));
    let mut files: Vec<_> = documents().into_iter().map(schema).collect();
    files.push((folder.join("devices.json"), vusb::registry::Table::of_all().to_json()?));
    Ok(files)
}

fn main() -> io::Result<()> {
    for (path, text) in files()? {
        std::fs::write(path, text)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_of_devices_names_the_counters_of_each() {
        let schema = document::<vusb::statistics::Statistics>("").1;
        for device in vusb::registry::Table::of_all().devices {
            assert!(schema["$defs"][device.statistics]["properties"]["faults"].is_object(), "{}", device.name);
        }
    }

    #[test]
    fn the_schemas_are_what_the_structs_say() {
        for (path, text) in files().unwrap() {
            let written = std::fs::read_to_string(&path).unwrap_or_default();
            assert!(
                written == text,
                "{}: run: cargo run -p txop-contract && .venv/bin/python scripts/contract.py",
                path.display()
            );
        }
    }
}
