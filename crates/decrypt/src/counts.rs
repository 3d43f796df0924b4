//! What happened to protected data MPDUs.

/// Why a protected data MPDU was not decrypted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Undecrypted {
    /// No key of its pair was known when it came; [`Pair::state`](crate::Pair::state) says why.
    NoKey,
    /// Keys of its pair were known, and its MIC matches under none: another session's, or damaged.
    OtherKey,
    /// Group-addressed, and no group key of its sender was known.
    NoGroupKey,
    /// The capture has not all of it.
    Cut,
    /// There was no room for another pair of stations.
    TooMany,
}

/// Protected data MPDUs, and what happened to them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// All of them.
    pub protected: u64,
    /// Decrypted: their MIC matches.
    pub decrypted: u64,
    /// Decrypted ones among them with a packet number that is not above all before, and that are not retries.
    pub behind: u64,
    /// No key known when it came.
    pub no_key: u64,
    /// Under none of the known keys.
    pub other_key: u64,
    /// No group key known when it came.
    pub no_group_key: u64,
    /// Cut by the snap length.
    pub cut: u64,
    /// No room for the pair.
    pub too_many: u64,
}

impl Counts {
    pub(crate) fn add(&mut self, outcome: Result<bool, Undecrypted>) {
        self.protected += 1;
        match outcome {
            Ok(behind) => {
                self.decrypted += 1;
                self.behind += u64::from(behind);
            }
            Err(Undecrypted::NoKey) => self.no_key += 1,
            Err(Undecrypted::OtherKey) => self.other_key += 1,
            Err(Undecrypted::NoGroupKey) => self.no_group_key += 1,
            Err(Undecrypted::Cut) => self.cut += 1,
            Err(Undecrypted::TooMany) => self.too_many += 1,
        }
    }
}
