//! Records on other channels than the chosen one.

use crate::decode::{Batch, Decoder, RawRecord, Tally};
use crate::selection::Channel;

/// Takes records of other channels out of all counts. Their frames go into the batch all the same, so that the second stage
/// sees that the receiver was away, and what stations claim.
pub struct Elsewhere {
    channel: Channel,
    radio: wire::radio::Decoder,
    decoder: Decoder,
    /// Where their records are counted; nothing reads it.
    tally: Tally,
}

impl Elsewhere {
    /// For an analysis of `channel`.
    pub fn new(channel: Channel) -> Self {
        Self { channel, radio: Default::default(), decoder: Decoder::default(), tally: Tally::default() }
    }

    /// Takes a record of another channel, or of one that is not known; `false` when it is another's. What cannot be read at
    /// all belongs to no channel, and so counts as unreadable.
    pub fn took(&mut self, record: &RawRecord<'_>, batch: &mut Batch) -> bool {
        if !record.link.is_wlan() {
            return false;
        }
        let Ok(radio) = self.radio.decode(record.link, record.data) else { return false };
        if radio.frequency_mhz.is_some_and(|mhz| self.channel.is(mhz)) {
            return false;
        }
        std::mem::swap(&mut batch.tally, &mut self.tally);
        self.decoder.decode(record, batch);
        std::mem::swap(&mut batch.tally, &mut self.tally);
        match radio.frequency_mhz {
            Some(mhz) => batch.tally.elsewhere.add(mhz, 1),
            None => batch.tally.without_channel += 1,
        }
        true
    }
}
