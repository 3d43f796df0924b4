//! EHT Capabilities, EHT Operation and Multi-Link elements (IEEE Std 802.11be-2024, 9.4.2.311, 9.4.2.312 and 9.4.2.313).

use super::elements::{bit_at, u16_at};
use super::MacAddr;

/// EHT Capabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EhtCapabilities {
    /// EHT MAC Capabilities Information, as sent.
    pub mac: u16,
    /// EHT PHY Capabilities Information, as sent.
    pub phy: [u8; 9],
}

impl EhtCapabilities {
    /// Reads the element's data (after the extension ID); `None` when there are fewer than its 11 fixed bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        Some(Self { mac: u16_at(data, 0)?, phy: data.get(2..11)?.try_into().ok()? })
    }

    const fn phy_bit(self, bit: usize) -> bool {
        bit_at(&self.phy, bit)
    }

    /// Restricted TWT.
    pub const fn restricted_twt(self) -> bool {
        self.mac & 0x10 != 0
    }

    /// Single-user beamformer.
    pub const fn su_beamformer(self) -> bool {
        self.phy_bit(5)
    }

    /// Single-user beamformee.
    pub const fn su_beamformee(self) -> bool {
        self.phy_bit(6)
    }

    /// Multi-user beamformer, at any width.
    pub const fn mu_beamformer(self) -> bool {
        self.phy_bit(60) || self.phy_bit(61) || self.phy_bit(62)
    }
}

/// EHT Operation.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct EhtOperation {
    /// EHT Operation Parameters, as sent.
    pub parameters: u8,
    /// EHT Operation Information: Control and the two channel centre segments; `None` when it is left out.
    pub info: Option<[u8; 3]>,
    /// 20 MHz of the channel that are not used, from the lowest on, as bits; `None` when the element does not list them.
    pub disabled: Option<u16>,
}

impl EhtOperation {
    /// Reads the element's data (after the extension ID); `None` when there are fewer than its 5 fixed bytes.
    pub fn read(data: &[u8]) -> Option<Self> {
        let parameters = *data.first()?;
        data.get(1..5)?; // the basic EHT-MCS and NSS set
        let info = if parameters & 1 != 0 { data.get(5..8).and_then(|info| info.try_into().ok()) } else { None };
        let disabled = if parameters & 3 == 3 { u16_at(data, 8) } else { None };
        Some(Self { parameters, info, disabled })
    }

    /// Channel width, MHz; `None` when the operation elements of older generations decide, and for reserved values.
    pub const fn width_mhz(self) -> Option<u16> {
        match self.info {
            Some([control, ..]) if control & 7 <= 4 => Some(20 << (control & 7)),
            _ => None,
        }
    }

    /// Punctured part of the channel, MHz; `None` when the element does not list what is not used.
    pub const fn punctured_mhz(self) -> Option<u16> {
        match self.disabled {
            Some(bits) => Some(bits.count_ones() as u16 * 20),
            None => None,
        }
    }
}

/// Link IDs, 0 to 15, as bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinkIds(pub u16);

impl LinkIds {
    /// The IDs.
    pub fn iter(self) -> impl Iterator<Item = u8> {
        (0..16).filter(move |id| self.0 >> id & 1 != 0)
    }

    /// How many there are.
    pub const fn count(self) -> u32 {
        self.0.count_ones()
    }

    pub(super) fn insert(&mut self, id: u8) {
        self.0 |= 1 << (id & 15);
    }
}

/// Addresses of links by their IDs, 0 to 14.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct LinkAddresses([Option<MacAddr>; 15]);

impl LinkAddresses {
    /// IDs and addresses.
    pub fn iter(&self) -> impl Iterator<Item = (u8, MacAddr)> + '_ {
        (0u8..).zip(&self.0).filter_map(|(id, address)| Some((id, (*address)?)))
    }

    /// Keeps the first address of a link; 15 is not a link ID.
    fn insert(&mut self, id: u8, address: MacAddr) {
        if let Some(place) = self.0.get_mut(usize::from(id)) {
            place.get_or_insert(address);
        }
    }

    pub(super) fn extend(&mut self, others: &Self) {
        others.iter().for_each(|(id, address)| self.insert(id, address));
    }
}

/// The Basic Multi-Link element: its sender is one link of a multi-link device (MLD).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct MultiLink {
    /// Address of the device as a whole.
    pub mld: MacAddr,
    /// The link that an access point sends it on; stations leave it out.
    pub link_id: Option<u8>,
    /// Links that it uses at once at most.
    pub max_simultaneous_links: Option<u8>,
    /// Links with a profile of their own in the element: in association frames, those asked for or set up beside the one
    /// that the frame is sent on.
    pub profiles: LinkIds,
    /// Addresses of the links with a profile, where that gives them.
    pub addresses: LinkAddresses,
}

impl MultiLink {
    /// Reads the element's data (after the extension ID); `None` when it is of another type than Basic, or ends before the
    /// device's address. Of an element in fragments only the first one is read.
    pub fn read(data: &[u8]) -> Option<Self> {
        let control = u16_at(data, 0)?;
        if control & 7 != 0 {
            return None;
        }
        let common_len = usize::from(*data.get(2)?);
        let common = data.get(3..(2 + common_len).min(data.len()))?;
        let mld = MacAddr::read(common, 0)?;
        let is_there = |bit: u16| control >> bit & 1 != 0;
        // Link ID Info, BSS Parameters Change Count, Medium Synchronization Delay, EML Capabilities, MLD Capabilities.
        let mut at = 6;
        let link_id = if is_there(4) { common.get(at).map(|info| info & 15) } else { None };
        for (bit, len) in [(4, 1), (5, 1), (6, 2), (7, 2)] {
            at += if is_there(bit) { len } else { 0 };
        }
        let max_simultaneous_links =
            if is_there(8) { u16_at(common, at).map(|capabilities| (capabilities & 15) as u8 + 1) } else { None };
        let mut profiles = LinkIds::default();
        let mut addresses = LinkAddresses::default();
        let mut rest = data.get(2 + common_len..).unwrap_or(&[]);
        while let [id, len, tail @ ..] = rest {
            let len = usize::from(*len);
            // Per-STA Profile: STA Control, with low four bits that are the link ID.
            let profile = tail.get(..len).unwrap_or(tail);
            if let (0, Some(control)) = (*id, u16_at(profile, 0)) {
                let link = (control & 15) as u8;
                profiles.insert(link);
                // STA Info: its own length, then the address, if STA MAC Address Present says so.
                if let (true, Some(7..), Some(address)) =
                    (control & 0x20 != 0, profile.get(2).copied(), MacAddr::read(profile, 3))
                {
                    addresses.insert(link, address);
                }
            }
            rest = tail.get(len..).unwrap_or(&[]);
        }
        Some(Self { mld, link_id, max_simultaneous_links, profiles, addresses })
    }
}

/// The links of the sender's own multi-link device that a Reduced Neighbor Report (9.4.2.170) names: those with MLD ID 0.
pub fn reported_links(data: &[u8]) -> (LinkIds, LinkAddresses) {
    let (mut links, mut addresses) = (LinkIds::default(), LinkAddresses::default());
    let mut rest = data;
    while let Some(header) = u16_at(rest, 0) {
        // TBTT Information Header; operating class; channel number.
        let (count, len) = (usize::from(header >> 4 & 15) + 1, usize::from(header >> 8));
        let is_tbtt_information = header & 3 == 0;
        let Some(set) = rest.get(4..) else { break };
        if len == 0 {
            break;
        }
        // MLD Parameters end entries of 10 bytes and of 16 and more; the latter have BSSID, short SSID and PSD before.
        let at = match len {
            10 => Some(7),
            16.. => Some(13),
            _ => None,
        };
        if let (true, Some(at)) = (is_tbtt_information, at) {
            for entry in set.chunks_exact(len).take(count) {
                if let [0, link, ..] = entry.get(at..).unwrap_or(&[]) {
                    links.insert(link & 15);
                    // The BSSID stands behind the TBTT offset.
                    if let Some(bssid) = MacAddr::read(entry, 1) {
                        addresses.insert(link & 15, bssid);
                    }
                }
            }
        }
        rest = set.get(count * len..).unwrap_or(&[]);
    }
    (links, addresses)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MLD: [u8; 6] = [2, 0, 0, 0, 0, 0x42];

    #[test]
    fn capabilities_and_operation() {
        let mut data = [0; 13];
        data[0] = 0x10;
        data[2] = 0x62; // 320 MHz, SU beamformer and beamformee
        data[9] = 0x20; // MU beamformer at 160 MHz
        let eht = EhtCapabilities::read(&data).unwrap();
        assert!(eht.restricted_twt() && eht.su_beamformer() && eht.su_beamformee());
        assert!(eht.mu_beamformer() && EhtCapabilities::read(&data[..10]).is_none());
        let width = |bytes: &[u8]| EhtOperation::read(bytes).map(EhtOperation::width_mhz);
        assert_eq!(width(&[1, 0x44, 0x44, 0x44, 0x44, 4, 31, 63]), Some(Some(320)));
        assert_eq!(width(&[1, 0x44, 0x44, 0x44, 0x44, 5, 31, 63]), Some(None), "reserved");
        assert_eq!(width(&[0, 0x44, 0x44, 0x44, 0x44]), Some(None), "as HE Operation says");
        assert_eq!(width(&[0, 0x44]), None);
        let punctured = |bytes: &[u8]| EhtOperation::read(bytes).and_then(EhtOperation::punctured_mhz);
        assert_eq!(punctured(&[3, 0x44, 0x44, 0x44, 0x44, 4, 31, 63, 0x0c, 0x80]), Some(60));
        assert_eq!(punctured(&[2, 0x44, 0x44, 0x44, 0x44, 0x0c, 0x80]), None, "no operation information");
        assert_eq!(punctured(&[3, 0x44, 0x44, 0x44, 0x44, 4, 31, 63, 0x0c]), None, "cut");
    }

    #[test]
    fn a_beacon_names_its_link() {
        // Basic; Link ID Info, BSS Parameters Change Count, MLD Capabilities: 13 = 1 + 6 + 1 + 1 + 2 and 2 of EML.
        let mut data = vec![0xb0, 0x01, 13];
        data.extend(MLD);
        data.extend([2, 7, 0, 0, 0x01, 0x00]);
        let link = MultiLink::read(&data).unwrap();
        assert_eq!((link.mld, link.link_id), (MacAddr(MLD), Some(2)));
        assert_eq!((link.max_simultaneous_links, link.profiles.count()), (Some(2), 0));
        data[0] = 0xb1;
        assert_eq!(MultiLink::read(&data), None, "Probe Request");
        assert_eq!(MultiLink::read(&data[..8]), None);
    }

    #[test]
    fn an_association_request_has_a_profile_for_each_other_link() {
        let mut data = vec![0x00, 0x01, 9];
        data.extend(MLD);
        data.extend([0x02, 0x00]);
        data.extend([0, 4, 0x31, 0x00, 1, 2, 0, 3, 0x35, 0x00, 9]);
        let link = MultiLink::read(&data).unwrap();
        assert_eq!((link.link_id, link.max_simultaneous_links), (None, Some(3)));
        assert_eq!(link.profiles.iter().collect::<Vec<_>>(), [1, 5]);
        assert_eq!(link.addresses.iter().count(), 0, "cut before the address");
    }

    #[test]
    fn a_profile_tells_the_address_of_its_link() {
        let mut data = vec![0x00, 0x00, 7];
        data.extend(MLD);
        // Complete, with address; without one; with a STA Info too short for one.
        data.extend([
            0, 9, 0x32, 0x00, 7, 2, 0, 0, 0, 0, 7, 0, 3, 0x13, 0x00, 1, 0, 9, 0x34, 0x00, 1, 2, 0, 0, 0, 0, 8,
        ]);
        let link = MultiLink::read(&data).unwrap();
        assert_eq!(link.profiles.iter().collect::<Vec<_>>(), [2, 3, 4]);
        assert_eq!(link.addresses.iter().collect::<Vec<_>>(), [(2, MacAddr([2, 0, 0, 0, 0, 7]))]);
    }

    #[test]
    fn neighbours_of_the_same_device() {
        let mut data = vec![0x10, 16, 131, 37]; // two entries of 16 bytes
        for (mld_id, link) in [(0, 1), (1, 4)] {
            data.extend([0xff, 2, 0, 0, 0, 0, 9, 1, 2, 3, 4, 0, 0xfe, mld_id, 0xf0 | link, 0]);
        }
        data.extend([0x00, 10, 115, 36, 0xff, 1, 2, 3, 4, 0, 0, 0, 0x02, 0]); // one of 10 bytes
        data.extend([0x00, 13, 81, 6]); // cut
        let (links, addresses) = reported_links(&data);
        assert_eq!(links.iter().collect::<Vec<_>>(), [1, 2]);
        let expected = [(1, MacAddr([2, 0, 0, 0, 0, 9])), (2, MacAddr([1, 2, 3, 4, 0, 0]))];
        assert_eq!(addresses.iter().collect::<Vec<_>>(), expected);
    }

    proptest! {
        #[test]
        fn never_panics_and_ends(data in proptest::collection::vec(any::<u8>(), 0..300)) {
            let _ = MultiLink::read(&data);
            let _ = reported_links(&data);
            let _ = EhtCapabilities::read(&data);
            let _ = EhtOperation::read(&data);
        }
    }
}
