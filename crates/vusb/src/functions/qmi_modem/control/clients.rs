//! Clients of the services, and the connections that some of them have.

use wire::usb::qmi::Service;

/// Clients of all services together, at most.
const MAX: usize = 64;

/// A client.
#[derive(Clone, Debug, serde::Serialize, serde::Deserialize)]
pub(super) struct Client {
    service: Service,
    number: u8,
    /// WDS: the multiplexed channel that its connection is bound to.
    pub(super) mux_id: Option<u8>,
    /// WDS: its connection.
    pub(super) handle: Option<u32>,
    /// WDS: it was notified whether it is connected, and how.
    pub(super) told_connected: bool,
}

/// All of them.
#[derive(Debug, Default, serde::Serialize, serde::Deserialize)]
pub(super) struct Clients {
    clients: Vec<Client>,
}

impl Clients {
    /// A new client: the lowest number that is free; `None`: there are too many.
    pub(super) fn allocate(&mut self, service: Service) -> Option<u8> {
        if self.clients.len() >= MAX {
            return None;
        }
        let number = (1..=MAX as u8).find(|&number| !self.has(service, number))?;
        self.clients.push(Client { service, number, mux_id: None, handle: None, told_connected: false });
        Some(number)
    }

    /// Its client, as it goes.
    pub(super) fn release(&mut self, service: Service, number: u8) -> Option<Client> {
        let at = self.clients.iter().position(|client| (client.service, client.number) == (service, number))?;
        Some(self.clients.swap_remove(at))
    }

    pub(super) fn has(&self, service: Service, number: u8) -> bool {
        self.clients.iter().any(|client| (client.service, client.number) == (service, number))
    }

    pub(super) fn get_mut(&mut self, service: Service, number: u8) -> Option<&mut Client> {
        self.clients.iter_mut().find(|client| (client.service, client.number) == (service, number))
    }

    /// Those of WDS that have not been notified yet that their connection came or went: number, and whether it is there.
    pub(super) fn take_changed(&mut self) -> Vec<(u8, bool)> {
        let changed = self.clients.iter_mut().filter(|client| client.handle.is_some() != client.told_connected);
        let mut found: Vec<_> = changed
            .map(|client| {
                client.told_connected = client.handle.is_some();
                (client.number, client.told_connected)
            })
            .collect();
        found.sort_unstable();
        found
    }
}
