//! Faults of accesses to registers on PCI.

use super::faulty::Faulty;
use super::script::{Action, Direction};
use crate::device::{CommandFault, Device};
use crate::pci::Register;

impl<D: Device> Faulty<D> {
    /// The host reads a register.
    pub(super) fn reads(&mut self, now_ns: u64, register: Register) -> u32 {
        match self.access(now_ns, Direction::In, register) {
            Some(Change::Lost) => register.width.mask(),
            Some(Change::Value(change)) => change.applied(register, self.inner.read_register(now_ns, register)),
            None => self.inner.read_register(now_ns, register),
        }
    }

    /// It writes one.
    pub(super) fn writes(&mut self, now_ns: u64, register: Register, value: u32) {
        match self.access(now_ns, Direction::Out, register) {
            Some(Change::Lost) => {}
            Some(Change::Value(change)) => self.inner.write_register(now_ns, register, change.applied(register, value)),
            None => self.inner.write_register(now_ns, register, value),
        }
    }

    /// What happens to an access. Each fault counts those that it is about.
    fn access(&mut self, now_ns: u64, direction: Direction, register: Register) -> Option<Change> {
        if self.armed.iter().all(|armed| armed.fault.access.is_none()) {
            return None;
        }
        let elapsed_ns = self.elapsed_ns(now_ns);
        let mut found = None;
        for at in 0..self.armed.len() {
            let Some(armed) = self.armed.get_mut(at) else { continue };
            if !armed.fault.is_about_access(direction, register) || !armed.is_due(elapsed_ns) {
                continue;
            }
            let strikes = found.is_none() && armed.strikes_next();
            armed.seen += 1;
            if !strikes {
                continue;
            }
            let fault = armed.fault.clone();
            found = match fault.action {
                Action::Corrupt => Some(Change::Value(fault.corruption())),
                Action::Drop => Some(Change::Lost),
                // The access is lost with the connection.
                Action::Disconnect => {
                    self.happens(now_ns, at, &fault);
                    found = Some(Change::Lost);
                    continue;
                }
                // Inside the device: the access is made.
                _ => {
                    self.happens(now_ns, at, &fault);
                    continue;
                }
            };
            self.struck_at(at, &fault);
        }
        found
    }
}

/// What happens to an access.
enum Change {
    /// Nobody answers.
    Lost,
    /// Another value.
    Value(CommandFault),
}

impl CommandFault {
    /// A changed register: what it has of the word that is to be changed.
    fn applied(self, register: Register, value: u32) -> u32 {
        let mut bytes = (value << register.shift()).to_le_bytes();
        self.corrupt(&mut bytes);
        register.part_of(u32::from_le_bytes(bytes))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::Effect;
    use crate::fault::Script;
    use crate::pci::Width;

    #[derive(Default)]
    struct Plain {
        written: Vec<(u32, u32)>,
        stuck: bool,
    }

    impl Device for Plain {
        fn read_register(&mut self, _now_ns: u64, register: Register) -> u32 {
            register.part_of(register.whole())
        }
        fn write_register(&mut self, _now_ns: u64, register: Register, value: u32) {
            self.written.push((register.offset, value));
        }
        fn inject(&mut self, _now_ns: u64, effect: Effect) -> bool {
            if let Effect::StuckDma(stuck) = effect {
                self.stuck = stuck;
            }
            matches!(effect, Effect::StuckDma(_))
        }
        fn advance(&mut self, _now_ns: u64) {}
        fn next_event(&self) -> Option<u64> {
            None
        }
    }

    fn faulty(script: &str) -> Faulty<Plain> {
        let mut device = Faulty::new(Plain::default(), Script::parse(script).expect("a script"));
        device.reset(0);
        device
    }

    #[test]
    fn reads_change_and_writes_get_lost() {
        let mut device = faulty(
            "[[fault]]\naction = \"corrupt\"\naccess = \"read\"\noffset = 0x8048\nnth = 2\ntimes = 1\nor = 1\n\
             [[fault]]\naction = \"drop\"\naccess = \"write\"\n[[fault]]\naction = \"drop\"\naccess = \"any\"\n\
             offset = 0x8\nfrom_ms = 1\n",
        );
        assert_eq!([0; 3].map(|_| device.read_register(0, Register::word(0, 0x8048))), [0x8048, 0x8049, 0x8048]);
        device.write_register(0, Register::word(0, 0x8048), 7);
        assert!(device.inner.written.is_empty());
        let at = |device: &mut Faulty<Plain>, now_ns| device.read_register(now_ns, Register::word(0, 8));
        assert_eq!((at(&mut device, 0), at(&mut device, 1_000_000)), (8, u32::MAX));
        let counters = device.fault_counters().expect("counters");
        assert_eq!(
            counters.iter().map(|fault| (fault.transfers, fault.struck)).collect::<Vec<_>>(),
            [(3, 1), (1, 1), (1, 1)]
        );
    }

    #[test]
    fn a_part_of_a_word_changes_as_that_does() {
        let mut device = faulty("[[fault]]\naction = \"corrupt\"\naccess = \"any\"\noffset = 0x8048\nor = 0x0200\n");
        let part = |offset, bytes| Register { function: 0, offset, width: Width::of(bytes) };
        let read = [part(0x8049, 1), part(0x8048, 2), part(0x804a, 2), part(0x8048, 1), part(0x804d, 1)];
        assert_eq!(read.map(|register| device.read_register(0, register)), [0x82, 0x8248, 0, 0x48, 0x80]);
        device.write_register(0, part(0x8049, 1), 1);
        assert_eq!(device.inner.written, [(0x8049, 3)]);
        let mut device = faulty("[[fault]]\naction = \"drop\"\naccess = \"read\"\n");
        assert_eq!(device.read_register(0, part(0x8048, 2)), 0xffff);
    }

    #[test]
    fn an_access_may_begin_a_fault_inside_or_pull_the_device_out() {
        let mut device = faulty(
            "[[fault]]\naction = \"stuck_dma\"\naccess = \"write\"\noffset = 0x840\nfor_ms = 5\n\
             [[fault]]\naction = \"disconnect\"\naccess = \"read\"\noffset = 0x4020\nfor_ms = 1\n",
        );
        device.write_register(0, Register::word(0, 0x840), 2);
        assert!(device.inner.stuck && device.inner.written == [(0x840, 2)]);
        device.advance(5_000_000);
        assert!(!device.inner.stuck);
        let read = |function| device.read_register(6_000_000, Register::word(function, 0x4020));
        assert_eq!([1, 0].map(read), [0x4020, u32::MAX]);
        assert!(!device.is_present(6_500_000) && device.is_present(7_000_000));
    }

    #[test]
    fn keys_that_do_not_go_together_are_refused() {
        for wrong in [
            "action = \"drop\"",
            "action = \"drop\"\nendpoint = 1",
            "action = \"corrupt\"\naccess = \"read\"",
            "action = \"stall\"\naccess = \"read\"",
            "action = \"drop\"\naccess = \"read\"\noffset = 0x8046",
            "action = \"drop\"\naccess = \"read\"\noffset = 0x10000",
            "action = \"loss\"\nprobability = 0.1\noffset = 0x8",
            "action = \"drop\"\naccess = \"read\"\nendpoint = 0",
        ] {
            assert!(Script::parse(&format!("[[fault]]\n{wrong}\n")).is_err(), "{wrong}");
        }
    }
}
