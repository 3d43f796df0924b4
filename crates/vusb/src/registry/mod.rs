//! The devices: one line for each. What is listed of a device is in the file `entry.rs` beside its model ([`crate::entry`] has an
//! example); the command line, the table of devices and the schema of the counters are made from this list.

mod check;
mod command_line;
mod table;
#[cfg(test)]
mod tests;
mod words;

pub use check::{assumption, incompatible, STATIONS_MAX};
pub use command_line::{default_device, named, OwnOptions};
pub use table::{Assumption, DeviceKind, DeviceRow, Endpoint, KnownDriver, Table, Transport, FORMAT, FORMAT_VERSION};

use crate::chips::{ar6003, ar9280, mt7610u, mt7921u, rtl8188cus, rtl8822bu, sd8686};
use crate::entry::Entry;
use crate::functions::{ecm, mbim, ncm, qmi_modem};

/// Every device, in the order of help.
pub static DEVICES: &[&Entry] = &[
    &rtl8188cus::entry::RTL8188CUS,
    &rtl8188cus::entry::RTL8723AU,
    &rtl8188cus::entry::RTL8188EU,
    &rtl8822bu::entry::RTL8822BU,
    &rtl8822bu::entry::RTL8821CU,
    &rtl8822bu::entry::RTL8822BE,
    &rtl8822bu::entry::RTL8822BS,
    &mt7610u::entry::MT7610U,
    &mt7610u::entry::MT7601U,
    &mt7921u::entry::MT7921U,
    &ar6003::entry::AR6003,
    &ar6003::entry::AR6004,
    &sd8686::entry::SD8686,
    &ar9280::entry::AR9280,
    &ar9280::entry::AR9220,
    &ar9280::entry::AR9287,
    &ncm::entry::NCM,
    &mbim::entry::MBIM,
    &ecm::entry::ECM,
    &qmi_modem::entry::QMI_MODEM,
];

/// The devices in groups that have the same `key`, groups and devices in the order of the list.
fn grouped<K: PartialEq>(key: impl Fn(&Entry) -> Option<K>) -> Vec<(K, Vec<&'static Entry>)> {
    let mut groups: Vec<(K, Vec<&'static Entry>)> = Vec::new();
    for &entry in DEVICES {
        let Some(key) = key(entry) else { continue };
        match groups.iter_mut().find(|(known, _)| *known == key) {
            Some((_, group)) => group.push(entry),
            None => groups.push((key, vec![entry])),
        }
    }
    groups
}

/// Each struct of counters, and what the devices are called that have it.
#[cfg(feature = "schema")]
pub(crate) fn by_counters() -> Vec<(crate::entry::CountersOf, Vec<&'static str>)> {
    let groups = grouped(|entry| Some(entry.counters.name));
    let labels = |group: &[&Entry]| group.iter().map(|entry| entry.label).collect();
    groups.iter().filter_map(|(_, group)| Some((group.first()?.counters, labels(group)))).collect()
}
