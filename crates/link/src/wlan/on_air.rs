//! The frame exchange that is on the air.

use crate::engine::AccessCategory;
use crate::wlan::recipient::Shown;

/// What is on the air, in the stage that ends next. Its data are those of the first PPDU in the lane.
#[derive(Clone, Debug)]
pub(crate) struct Exchange {
    pub(crate) radio: usize,
    pub(crate) category: AccessCategory,
    /// When the PPDU of this stage began.
    pub(crate) start_ns: u64,
    /// When it ends.
    pub(crate) end_ns: u64,
    /// When the medium must be given up; 0: after this exchange.
    pub(crate) txop_end_ns: u64,
    pub(crate) stage: Stage,
}

#[derive(Clone, Debug)]
pub(crate) enum Stage {
    Beacon,
    Rts,
    Cts,
    Data,
    /// The answer to a data PPDU.
    Answer(Answer),
    Request,
    RequestedBlockAck(Shown),
    /// Several send at once.
    Collision(Vec<Party>),
}

/// One of those that send at once.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Party {
    pub(crate) radio: usize,
    pub(crate) category: AccessCategory,
    pub(crate) first: First,
    pub(crate) end_ns: u64,
}

/// The first PPDU of an exchange.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum First {
    Rts,
    Request,
    Data,
}

#[derive(Clone, Copy, Debug)]
pub(crate) enum Answer {
    Ack,
    BlockAck(Shown),
}
