//! What the access point does on purpose: the tables `[[ap]]` of a script.

use serde::Deserialize;

/// Frames of the station, as far as a script distinguishes them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FrameKind {
    /// A probe request.
    ProbeRequest,
    /// Authentication.
    Authentication,
    /// Association or reassociation request.
    Association,
    /// Request of a Block Ack agreement.
    AddBlockAck,
    /// A data frame with a body; each MPDU of an A-MPDU.
    Data,
    /// An A-MPDU.
    Ampdu,
}

/// What happens.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// Sends a deauthentication with `reason` (3: it is leaving).
    Deauthenticate,
    /// Sends a disassociation with `reason` (8: the network is being left).
    Disassociate,
    /// Forgets the station without a word, as after a restart. What it sends is answered by a deauthentication.
    Forget,
    /// Goes to `channel`, after `count` beacons (5) that say so; without a word where `announced` is `false`.
    ChannelSwitch,
    /// Ends all Block Ack agreements.
    DeleteBlockAck,
    /// Sends no beacons and answers no probe requests for `for_ms`, or forever.
    NoBeacons,
    /// Does not acknowledge the frame, nor react to it.
    NoAck,
    /// Acknowledges the frame, but does nothing more.
    Ignore,
    /// Answers `by_us` later.
    Delay,
    /// Answers with `status` (1, unspecified; 37, declined, for Block Ack agreements).
    Refuse,
    /// Answers with the first `length` bytes of the body only.
    Cut,
    /// Takes the A-MPDU, but sends no Block Ack.
    NoBlockAck,
    /// Sends the Block Ack of an A-MPDU `by_us` after it, as a frame of its own: too late.
    LateBlockAck,
}

/// One thing that it does.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Event {
    /// For counters.
    #[serde(default)]
    pub name: String,
    /// What it does.
    pub action: Action,
    /// Not before this time after the station has associated first. Frames of which an association is made count from
    /// the start of the run.
    pub at_ms: Option<u64>,
    /// How long it goes on; by default forever.
    pub for_ms: Option<u64>,
    /// With the frames of this kind.
    pub frame: Option<FrameKind>,
    /// The first of them, from 1; retransmissions count.
    #[serde(default = "one")]
    pub nth: u64,
    /// How many of them; all by default, one for what happens at a moment.
    pub times: Option<u64>,
    /// See [`Action`].
    pub reason: Option<u16>,
    /// See [`Action`].
    pub status: Option<u16>,
    /// See [`Action`].
    pub channel: Option<u8>,
    /// See [`Action`].
    pub count: Option<u8>,
    /// See [`Action`].
    pub announced: Option<bool>,
    /// See [`Action`].
    pub by_us: Option<u64>,
    /// See [`Action`].
    pub length: Option<usize>,
}

const fn one() -> u64 {
    1
}

impl Action {
    /// It happens at a moment; the others last.
    pub(super) const fn is_moment(self) -> bool {
        use Action::{ChannelSwitch, Deauthenticate, DeleteBlockAck, Disassociate, Forget};
        matches!(self, Deauthenticate | Disassociate | Forget | ChannelSwitch | DeleteBlockAck)
    }

    const fn key(self) -> &'static [&'static str] {
        match self {
            Self::Deauthenticate | Self::Disassociate => &["reason"],
            Self::ChannelSwitch => &["channel", "count", "announced"],
            Self::Refuse => &["status"],
            Self::Delay | Self::LateBlockAck => &["by_us"],
            Self::Cut => &["length"],
            _ => &[],
        }
    }
}

impl Event {
    /// Whether its keys go together.
    ///
    /// # Errors
    /// What is missing or too much.
    pub fn check(&self) -> Result<(), String> {
        let Self { action, at_ms, for_ms, frame, .. } = self;
        if self.nth == 0 {
            return Err("nth counts from 1".into());
        }
        let given = [
            ("reason", self.reason.is_some()),
            ("status", self.status.is_some()),
            ("channel", self.channel.is_some()),
            ("count", self.count.is_some()),
            ("announced", self.announced.is_some()),
            ("by_us", self.by_us.is_some()),
            ("length", self.length.is_some()),
        ];
        if let Some((key, _)) = given.iter().find(|(key, given)| *given && !action.key().contains(key)) {
            return Err(format!("{key} means nothing for this action"));
        }
        if frame.is_none() && (self.nth != 1 || self.times.is_some()) {
            return Err("nth and times count frames: frame is missing".into());
        }
        use FrameKind::{AddBlockAck, Ampdu, Association, Authentication, ProbeRequest};
        let answered = matches!(frame, Some(ProbeRequest | Authentication | Association | AddBlockAck));
        let refused = matches!(frame, Some(Authentication | Association | AddBlockAck));
        let what = match action {
            _ if action.is_moment() && at_ms.is_none() && frame.is_none() => {
                "when? give at_ms (after the association), or frame and nth"
            }
            _ if action.is_moment() && for_ms.is_some() => "for_ms is for what lasts",
            Action::ChannelSwitch if !self.channel.is_some_and(|channel| (1..=13).contains(&channel)) => {
                "channel is missing, or not 1 to 13"
            }
            Action::ChannelSwitch if self.count == Some(0) => "count is 1 or more; announced = false goes at once",
            Action::NoBeacons if frame.is_some() => "frame means nothing for this action",
            Action::NoAck | Action::Ignore if frame.is_none() => "frame is missing: which kind of frame",
            Action::Delay | Action::Cut if !answered => {
                "frame is missing, or one that has no answer: probe_request, authentication, association, add_block_ack"
            }
            Action::Refuse if !refused => {
                "frame is missing, or one that is not refused: authentication, association, add_block_ack"
            }
            Action::Delay | Action::LateBlockAck if self.by_us.is_none() => "by_us is missing: how late",
            Action::Cut if self.length.is_none() => "length is missing: how many bytes are sent",
            Action::NoBlockAck | Action::LateBlockAck if *frame != Some(Ampdu) => "it needs frame = \"ampdu\"",
            _ => return Ok(()),
        };
        Err(what.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_checked() {
        let read = |text: &str| toml::from_str::<Event>(text).map_err(|e| e.to_string()).and_then(|e| e.check());
        for text in [
            "action = \"deauthenticate\"\nat_ms = 100\nreason = 7\n",
            "action = \"channel_switch\"\nframe = \"data\"\nnth = 100\nchannel = 11\ncount = 3\n",
            "action = \"no_beacons\"\nat_ms = 100\nfor_ms = 5000\n",
            "action = \"refuse\"\nframe = \"association\"\ntimes = 2\nstatus = 17\n",
            "action = \"late_block_ack\"\nframe = \"ampdu\"\nby_us = 500\n",
            "action = \"cut\"\nframe = \"association\"\nlength = 4\n",
        ] {
            assert_eq!(read(text), Ok(()), "{text}");
        }
        for (text, message) in [
            ("action = \"deauthenticate\"\n", "when?"),
            ("action = \"deauthenticate\"\nat_ms = 1\nfor_ms = 5\n", "what lasts"),
            ("action = \"deauthenticate\"\nat_ms = 1\nchannel = 5\n", "channel means nothing"),
            ("action = \"channel_switch\"\nat_ms = 1\nchannel = 14\n", "not 1 to 13"),
            ("action = \"refuse\"\nframe = \"data\"\n", "not refused"),
            ("action = \"delay\"\nframe = \"data\"\nby_us = 1\n", "no answer"),
            ("action = \"delay\"\nframe = \"association\"\n", "by_us is missing"),
            ("action = \"no_block_ack\"\n", "ampdu"),
            ("action = \"no_ack\"\n", "frame is missing"),
            ("action = \"no_beacons\"\nnth = 2\n", "frame is missing"),
            ("action = \"no_ack\"\nframe = \"data\"\nnth = 0\n", "from 1"),
            ("action = \"explode\"\n", "unknown variant"),
        ] {
            let error = read(text).unwrap_err();
            assert!(error.contains(message), "{text}: {error}");
        }
    }
}
