//! The part of a capture that is chosen by network or channel, and whether a frame or a link belongs to it.

use hashbrown::{HashMap, HashSet};
use wire::ieee80211::MacAddr;
use wire::phy::Band;

use crate::decode::Channels;
use crate::frame::Frame;
use crate::link::{Link, Links};
use crate::network::{Network, Networks};
use crate::summary::Source;

/// Channel numbers end below it, frequencies in MHz begin above.
const FIRST_FREQUENCY: u16 = 1_000;
/// Networks and channels that an error names.
const MAX_NAMED: usize = 20;

/// A channel, as people write it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Channel {
    /// Its number, of any band.
    Number(u16),
    /// Centre of the primary channel, MHz.
    Frequency(u16),
}

impl From<u16> for Channel {
    /// Below 1,000 a number, else MHz.
    fn from(value: u16) -> Self {
        if value < FIRST_FREQUENCY {
            Self::Number(value)
        } else {
            Self::Frequency(value)
        }
    }
}

impl std::fmt::Display for Channel {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Number(number) => write!(f, "channel {number}"),
            Self::Frequency(mhz) => write!(f, "{mhz} MHz"),
        }
    }
}

impl Channel {
    /// Is this it?
    #[inline]
    pub fn is(self, frequency_mhz: u16) -> bool {
        match self {
            Self::Number(number) => Band::channel_number(frequency_mhz) == Some(number),
            Self::Frequency(mhz) => frequency_mhz == mhz,
        }
    }

    /// Was `frame` captured on another channel, or on one that is not known?
    #[inline]
    pub fn excludes(self, frame: &Frame) -> bool {
        !frame.radio.frequency_mhz.is_some_and(|mhz| self.is(mhz))
    }
}

/// What an analysis is of.
#[derive(Clone, Copy, Debug, Default)]
pub struct Selection {
    /// The network.
    pub bssid: Option<MacAddr>,
    /// The channel.
    pub channel: Option<Channel>,
    /// The interface of the capture, an index in its descriptions.
    pub interface: Option<u32>,
}

impl Selection {
    /// Does a frame from `ta` to `ra` that names `bssid` belong to the chosen network? All do when none is chosen.
    ///
    /// In an infrastructure network the BSSID is the access point's own address, so control frames, which name no network,
    /// belong to it when they come from there or go there.
    #[inline]
    pub fn takes(&self, ta: MacAddr, ra: MacAddr, bssid: Option<MacAddr>) -> bool {
        self.bssid.is_none_or(|chosen| ta == chosen || ra == chosen || bssid == Some(chosen))
    }

    /// Do frames of this link, or those the other way, belong to the chosen network?
    pub fn has(&self, link: &Link, links: &Links) -> bool {
        let back = || links.by_key(&(link.ra.as_u64(), link.ta.as_u64())).is_some_and(|back| back.is_chosen);
        self.bssid.is_none() || link.is_chosen || (!link.ra.is_group() && back())
    }

    /// The addresses of the chosen network's links; `None` when none is chosen.
    pub fn ends(&self, links: &Links) -> Option<HashSet<u64>> {
        self.bssid?;
        let chosen = links.iter().filter(|(_, link)| self.has(link, links));
        Some(chosen.flat_map(|(_, link)| [link.ta.as_u64(), link.ra.as_u64()]).collect())
    }

    /// The same of a row, as long as there is one; for frames without a link, of their receiver.
    pub fn has_ppdu(&self, row: Option<u32>, ra: MacAddr, links: &Links) -> bool {
        let Some(chosen) = self.bssid else { return true };
        match row.and_then(|row| links.get(row)) {
            Some(link) => self.has(link, links),
            None => ra == chosen || links.by_key(&(ra.as_u64(), chosen.as_u64())).is_some(),
        }
    }
}

/// Something was chosen that the capture does not have, or has twice.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NotThere {
    said: String,
}

impl std::fmt::Display for NotThere {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.said)
    }
}

impl NotThere {
    /// The same, in what could be read of a damaged capture.
    pub fn in_what_was_read(self, source: &Source) -> Self {
        Self { said: format!("{}{}", self.said, read_of(source)) }
    }

    /// `asked` where the capture does not describe it, or holds no 802.11 record of it.
    pub fn interface(asked: u32, source: &Source, records: u64) -> Option<Self> {
        let there = match source.described {
            0 => "the capture describes none".to_owned(),
            1 => "the capture has one, number 0".to_owned(),
            n => {
                let named = source.interfaces.iter().enumerate().filter(|(_, name)| !name.is_empty());
                let names: Vec<String> =
                    named.map(|(number, name)| format!("{number} is {name}")).take(MAX_NAMED).collect();
                let names = if names.is_empty() { String::new() } else { format!(": {}", names.join(", ")) };
                format!("the capture has {n}, numbers 0 to {last}{names}", last = n - 1)
            }
        };
        let read = read_of(source);
        if u64::from(asked) >= source.described {
            return Some(Self { said: format!("no interface {asked}: {there}{read}") });
        }
        (records == 0).then(|| Self { said: format!("no record was captured by interface {asked}{read}; {there}") })
    }

    /// `asked` where no channel, or more than one, of those that frames were captured on (`heard`) is meant.
    pub fn channel(asked: Channel, heard: &Channels, without_channel: u64) -> Option<Self> {
        let mut heard: Vec<(u16, u64)> = heard.iter().collect();
        heard.sort_by_key(|(mhz, frames)| (std::cmp::Reverse(*frames), *mhz));
        let meant: Vec<String> =
            heard.iter().filter(|(mhz, _)| asked.is(*mhz)).map(|(mhz, _)| format!("{mhz} MHz")).collect();
        let said = match meant.len() {
            1 => return None,
            0 if heard.is_empty() && without_channel == 0 => return None,
            0 if heard.is_empty() => format!("none of its {} carries its channel", counted(without_channel, "frame")),
            0 => {
                let all = heard.iter().map(|(mhz, frames)| {
                    let number =
                        Band::channel_number(*mhz).map_or(String::new(), |number| format!("channel {number}, "));
                    format!("{number}{mhz} MHz ({})", counted(*frames, "frame"))
                });
                format!("no frame was captured on {asked}; there are: {}", listed(all, heard.len()))
            }
            _ => format!("{asked} is {} here: name the frequency", meant.join(" and ")),
        };
        Some(Self { said })
    }

    /// `asked` where no frame names it; `None` as well where there are no networks at all because there are no frames.
    pub fn bssid(asked: MacAddr, networks: &Networks) -> Option<Self> {
        if networks.rows().iter().any(|row| row.bssid == asked) {
            return None;
        }
        // An access point that answers to many names has a row for each of them.
        let mut rows: HashMap<u64, (u64, Option<&Network>)> = HashMap::new();
        for row in networks.rows().iter().filter(|row| !row.bssid.is_group() && row.bssid != MacAddr::ZERO) {
            let (packets, named) = rows.entry(row.bssid.as_u64()).or_default();
            *packets += row.packets;
            let is_better = named.is_none_or(|other| row.packets > other.packets);
            if !row.ssid.as_bytes().is_empty() && is_better {
                *named = Some(row);
            }
        }
        let mut rows: Vec<_> = rows.into_iter().collect();
        rows.sort_by_key(|(bssid, (packets, _))| (std::cmp::Reverse(*packets), *bssid));
        let all = rows.iter().map(|(bssid, (packets, named))| {
            let ssid = named.map_or(String::new(), |row| format!(" \"{}\"", row.ssid.display()));
            format!("{}{ssid} ({})", MacAddr::from_u64(*bssid), counted(*packets, "packet"))
        });
        let said = if rows.is_empty() {
            format!("no frame names the network {asked}, or any other one")
        } else {
            format!(
                "no frame names the network {asked}; there are, with packets as Wireshark counts them: {}",
                listed(all, rows.len())
            )
        };
        Some(Self { said })
    }
}

/// Where a damaged capture ends; empty for a whole one.
fn read_of(source: &Source) -> String {
    source.damage.as_ref().map_or(String::new(), |(offset, what)| {
        format!(" in what could be read of it (damaged at byte {offset}: {what})")
    })
}

/// "1 frame", "2 frames".
fn counted(count: u64, what: &str) -> String {
    format!("{count} {what}{}", if count == 1 { "" } else { "s" })
}

fn listed(all: impl Iterator<Item = String>, count: usize) -> String {
    let mut named: Vec<String> = all.take(MAX_NAMED).collect();
    if count > MAX_NAMED {
        named.push(format!("and {} more with fewer", count - MAX_NAMED));
    }
    named.join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn heard(channels: &[(u16, u64)]) -> Channels {
        let mut all = Channels::default();
        channels.iter().for_each(|(mhz, frames)| all.add(*mhz, *frames));
        all
    }

    #[test]
    fn numbers_are_of_every_band_and_frequencies_of_one() {
        assert!(Channel::from(1).is(2_412) && Channel::from(1).is(5_955) && !Channel::from(1).is(2_417));
        assert!(Channel::from(5_955).is(5_955) && !Channel::from(5_955).is(2_412));
    }

    #[test]
    fn what_is_not_there_is_answered_with_what_is() {
        let all = heard(&[(2_412, 1), (5_955, 70)]);
        let said = |asked: u16| NotThere::channel(asked.into(), &all, 3).map(|error| error.to_string());
        assert_eq!(said(2_412), None);
        assert_eq!(said(1).as_deref(), Some("channel 1 is 5955 MHz and 2412 MHz here: name the frequency"));
        assert_eq!(
            said(6).as_deref(),
            Some(
                "no frame was captured on channel 6; there are: channel 1, 5955 MHz (70 frames), channel 1, 2412 MHz (1 frame)"
            )
        );
        let none = NotThere::channel(6.into(), &heard(&[]), 3).map(|error| error.to_string());
        assert_eq!(none.as_deref(), Some("none of its 3 frames carries its channel"));
        assert_eq!(NotThere::channel(6.into(), &heard(&[]), 0), None, "an empty window is reported otherwise");
    }
}
