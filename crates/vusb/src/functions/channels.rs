//! Multiplexed connections: which there are, and which of them a packet for the host belongs to.

/// A connection that carries datagrams.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
struct Channel {
    mux_id: u8,
    /// Packet data handle; none where the connection exists without messages.
    handle: Option<u32>,
    /// Addresses that the host last sent from: the network routes by them.
    source: Option<[u8; 4]>,
    source_v6: Option<[u8; 16]>,
    /// How many were there before it.
    place: u32,
}

/// All of them.
#[derive(Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Channels {
    channels: Vec<Channel>,
    next_handle: u32,
}

/// The address at an offset of a packet.
fn address<const N: usize>(packet: &[u8], at: usize) -> Option<[u8; N]> {
    packet.get(at..)?.first_chunk().copied()
}

impl Channels {
    /// With connections that are there without messages.
    pub(super) fn fixed(mux_ids: &[u8]) -> Self {
        let channel = |(place, &mux_id)| Channel { mux_id, handle: None, source: None, source_v6: None, place };
        Self { channels: (0..).zip(mux_ids).map(channel).collect(), next_handle: 1 }
    }

    /// A new connection; its handle. There are no more of them than clients.
    pub(super) fn open(&mut self, mux_id: u8) -> u32 {
        let handle = self.next_handle;
        self.next_handle = handle.checked_add(1).unwrap_or(1);
        let place = (0..).find(|place| !self.channels.iter().any(|channel| channel.place == *place)).unwrap_or(0);
        self.channels.push(Channel { mux_id, handle: Some(handle), source: None, source_v6: None, place });
        handle
    }

    pub(super) fn close(&mut self, handle: u32) {
        self.channels.retain(|channel| channel.handle != Some(handle));
    }

    /// Ends a connection that is there without messages.
    pub(super) fn remove(&mut self, mux_id: u8) {
        self.channels.retain(|channel| channel.mux_id != mux_id || channel.handle.is_some());
    }

    /// Ends every connection that messages have begun.
    pub(super) fn close_all(&mut self) {
        self.channels.retain(|channel| channel.handle.is_none());
    }

    /// The lowest number that no earlier connection had.
    pub(super) fn place(&self, handle: u32) -> Option<u32> {
        self.channels.iter().find(|channel| channel.handle == Some(handle)).map(|channel| channel.place)
    }

    /// Whether there is any.
    pub(super) fn is_empty(&self) -> bool {
        self.channels.is_empty()
    }

    /// A packet came over a connection: whether there is such a one. From now on the network knows the sender's address.
    pub(super) fn learn(&mut self, mux_id: Option<u8>, packet: &[u8]) -> bool {
        let found = self.channels.iter().position(|channel| mux_id.is_none_or(|mux_id| channel.mux_id == mux_id));
        let Some(at) = found else { return false };
        if self.channels.len() > 1 {
            let (source, source_v6) = match packet.first().map(|first| first >> 4) {
                Some(4) => (address(packet, 12), None),
                Some(6) => (None, address(packet, 8)),
                _ => (None, None),
            };
            for (place, channel) in self.channels.iter_mut().enumerate() {
                let is_it = place == at;
                if source.is_some() && (is_it || channel.source == source) {
                    channel.source = source.filter(|_| is_it);
                }
                if source_v6.is_some() && (is_it || channel.source_v6 == source_v6) {
                    channel.source_v6 = source_v6.filter(|_| is_it);
                }
            }
        }
        true
    }

    /// Which connection a packet for the host belongs to: that with its destination address, else the first.
    pub(super) fn for_host(&self, packet: &[u8]) -> Option<u8> {
        let to = |channel: &&Channel| match packet.first().map(|first| first >> 4) {
            Some(4) => channel.source.is_some() && channel.source == address(packet, 16),
            Some(6) => channel.source_v6.is_some() && channel.source_v6 == address(packet, 24),
            _ => false,
        };
        self.channels.iter().find(to).or(self.channels.first()).map(|channel| channel.mux_id)
    }
}
