//! What of it all is saved.

use vusb::state::{Reader, State, StateError, Writer};

use super::commands::parsed;
use super::plugged::{Bus, Plugged};
use super::Lab;
use crate::request::Command;

/// The format of [`Lab::save`]. The version counts up with every change of what a device saves; the program that writes it is
/// known by its hash beside.
const STATE: (&str, u32) = ("txop-vusb-state", 4);

impl Lab {
    /// Everything that another process needs to continue, beside the files and the configuration.
    ///
    /// # Errors
    /// The device cannot be saved.
    pub fn save(&self) -> Result<Vec<u8>, StateError> {
        let mut to = Writer::default();
        to.put(&STATE)?;
        self.state(&mut to)?;
        to.put(&self.plugged.as_ref().map(|plugged| &plugged.words))?;
        if let Some(plugged) = &self.plugged {
            plugged.save_state(&mut to)?;
        }
        Ok(to.into_bytes())
    }

    fn state(&self, to: &mut Writer) -> Result<(), StateError> {
        let Self {
            config: _,
            memory: _,
            clock,
            radios,
            wired,
            plugged: _,
            actions,
            line,
            reached_ns,
            ended,
            stops,
            counted,
        } = self;
        radios.save(to)?;
        wired.save(to)?;
        to.put(&(clock, actions, line, reached_ns))?;
        to.put(&(ended, stops, counted))
    }

    /// Continues as the one that was saved. The files of its device have to be in the folder of results as they were then.
    ///
    /// # Errors
    /// It is not such a state, or the device cannot be made; this one is without a device then.
    pub fn restore(&mut self, bytes: &[u8]) -> Result<(), StateError> {
        let mut from = Reader::new(bytes);
        if from.take::<(String, u32)>()? != (STATE.0.to_owned(), STATE.1) {
            return Err(StateError::Other("it is of another version of txop".to_owned()));
        }
        self.radios.restore(&mut from)?;
        self.wired.restore(&mut from)?;
        (self.clock, self.actions, self.line, self.reached_ns) = from.take()?;
        (self.ended, self.stops, self.counted) = from.take()?;
        if let Some(words) = from.take::<Option<Vec<String>>>()? {
            let Ok(Command::Attach(mut args)) = parsed(&words) else {
                return Err(StateError::Other(format!("no device is asked for by {words:?}")));
            };
            args.surroundings.continued = true;
            let mut plugged = self.made(args, &words).map_err(|reply| StateError::Other(reply.text))?;
            plugged.restore_state(&mut from)?;
            self.plugged = Some(plugged);
        }
        from.end()
    }
}

impl Plugged {
    fn save_state(&self, to: &mut Writer) -> Result<(), StateError> {
        let Self { words: _, args: _, device, bus, before, present } = self;
        to.put(&(before, present))?;
        device.save_state(to)?;
        match bus {
            Bus::Usb(urbs) => urbs.save_state(to),
            Bus::Slot(slot) => slot.save(to),
            Bus::Pci => Ok(()),
        }
    }

    fn restore_state(&mut self, from: &mut Reader<'_>) -> Result<(), StateError> {
        (self.before, self.present) = from.take()?;
        self.device.restore_state(from)?;
        match &mut self.bus {
            Bus::Usb(urbs) => urbs.restore_state(from),
            Bus::Slot(slot) => slot.restore(from),
            Bus::Pci => Ok(()),
        }
    }
}
