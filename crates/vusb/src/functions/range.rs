//! Ranges of settings.

/// A setting out of its range.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{name} is {value}: give {least} to {most}")]
pub struct SettingsError {
    /// Which.
    pub name: &'static str,
    /// What it is.
    pub value: u64,
    /// Smallest that is taken.
    pub least: u64,
    /// Largest.
    pub most: u64,
}

/// Raises [`SettingsError`] for a value out of its range.
pub(super) const fn in_range(name: &'static str, value: u64, least: u64, most: u64) -> Result<(), SettingsError> {
    if value < least || value > most {
        return Err(SettingsError { name, value, least, most });
    }
    Ok(())
}
