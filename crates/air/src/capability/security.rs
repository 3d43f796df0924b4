//! Security: what is claimed, and what data frames, key exchange and cipher headers show of it.

use wire::ieee80211::{Capabilities, Rsn};

use super::subject::{row, Seen, Subject};
use crate::report::{Basis, CapabilityRow, Claim};

/// How keys are managed, as far as elements tell.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Family {
    Personal,
    Sae,
    Enterprise,
    Owe,
}

/// The families that elements name; `None` when they name one that is not known here.
fn families(capabilities: &Capabilities) -> Option<Vec<Family>> {
    let mut found = Vec::new();
    for security in [capabilities.rsn, capabilities.wpa].into_iter().flatten() {
        let named = [
            (Family::Personal, security.psk()),
            (Family::Sae, security.sae()),
            (Family::Enterprise, security.enterprise()),
            (Family::Owe, security.owe()),
        ];
        found.extend(named.into_iter().filter(|(_, is_named)| *is_named).map(|(family, _)| family));
        if security.akm.unknown {
            return None;
        }
    }
    found.sort_unstable();
    found.dedup();
    Some(found)
}

impl Subject<'_> {
    /// The one family that its encrypted data can belong to; `None` when the capture does not show it.
    fn family(&self) -> Option<Family> {
        let own = self.claimed.filter(|_| self.shows_security).map(families);
        let found = match own {
            Some(found) => found?,
            // What it asked for was not captured: its access point may offer only one thing.
            None if !self.is_ap => {
                let mut offered = self.peers.0.iter().filter(|peer| peer.sent + peer.received > 0);
                let only = offered.next().filter(|_| offered.next().is_none())?;
                families(only.claimed?)?
            }
            None => return None,
        };
        match found.as_slice() {
            [one] => Some(*one),
            _ => None,
        }
    }

    /// Encrypted data frames of a family.
    fn protected(&self, family: Family) -> Seen {
        let usage = self.usage;
        let what = "data frames it sent".to_owned();
        match self.family() {
            _ if usage.protected_data == 0 => Seen::Frames(0, usage.data, what),
            _ if usage.wep_data > 0 && usage.wep_data * 2 > usage.protected_data => {
                Seen::Unknown("its encrypted data frames have WEP headers")
            }
            Some(known) if known == family => Seen::Frames(usage.protected_data, usage.data, what),
            Some(_) => Seen::Unknown("its encrypted data frames belong to another key management"),
            None => Seen::Unknown("encrypted data frames do not show how their key was agreed on"),
        }
    }
}

/// The rows of security.
pub fn security(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    let claim = |test: &dyn Fn(&Capabilities) -> (bool, Option<String>)| match subject.shows_security {
        true => subject.claim(test),
        false => (Claim::NotAvailable, Some("no frame with its security elements captured".to_owned())),
    };
    let personal = claim(&|c| {
        let (rsn, wpa) = (c.rsn.is_some_and(Rsn::psk), c.wpa.is_some_and(Rsn::psk));
        let detail = match (rsn, wpa) {
            (true, true) => Some("WPA2 and WPA"),
            (true, false) => Some("WPA2"),
            (false, true) => Some("WPA only"),
            (false, false) => None,
        };
        (rsn || wpa, detail.map(str::to_owned))
    });
    // Key exchange goes before encryption.
    let after_keys = Some(usage.data.saturating_sub(usage.eapol_data));
    rows.push(row(Basis::Mac, "WPA2/WPA Personal", personal, subject.protected(Family::Personal), after_keys));

    let sae = claim(&|c| (c.rsn.is_some_and(Rsn::sae), c.sae_h2e.then(|| "with hash-to-element".to_owned())));
    let seen =
        Seen::Frames(usage.sae_authentications, usage.authentications, "authentication frames it sent".to_owned());
    // Who offers both gets open-system authentication of stations that choose the other one.
    let offers_more = subject.claimed.and_then(families).is_none_or(|families| families.len() > 1);
    rows.push(row(Basis::Mac, "WPA3 Personal (SAE)", sae, seen, (!offers_more).then_some(usage.authentications)));

    let enterprise = claim(&|c| ([c.rsn, c.wpa].into_iter().flatten().any(Rsn::enterprise), None));
    if enterprise.0 == Claim::Yes {
        rows.push(row(
            Basis::Mac,
            "WPA2/WPA3 Enterprise",
            enterprise,
            subject.protected(Family::Enterprise),
            after_keys,
        ));
    }
    let owe = claim(&|c| (c.rsn.is_some_and(Rsn::owe), None));
    if owe.0 == Claim::Yes {
        rows.push(row(Basis::Mac, "Enhanced Open (OWE)", owe, subject.protected(Family::Owe), after_keys));
    }
    if usage.wep_data > 0 {
        let secured = subject.claimed.is_some_and(|c| c.rsn.is_some() || c.wpa.is_some());
        let claim = match (secured, subject.privacy) {
            (false, Some(true)) => (Claim::Yes, Some("privacy without RSN or WPA element".to_owned())),
            (_, None) => (Claim::NotAvailable, Some("no frame with its Privacy bit captured".to_owned())),
            _ => (Claim::No, None),
        };
        let seen = Seen::Frames(usage.wep_data, usage.data, "data frames it sent".to_owned());
        rows.push(row(Basis::Mac, "WEP", claim, seen, None));
    }

    let pmf = claim(&|c| match c.rsn {
        Some(rsn) if rsn.mfp_required() => (true, Some("required".to_owned())),
        Some(rsn) if rsn.mfp_capable() => (true, Some("capable".to_owned())),
        _ => (false, None),
    });
    let what = "unicast robust management frames it sent".to_owned();
    let seen = Seen::Frames(usage.protected_management, usage.robust_management, what);
    // Before keys are there, and towards a peer without it, such frames are not protected.
    let peers = subject.peers.sent_to(|c| c.rsn.is_some_and(Rsn::mfp_capable));
    rows.push(row(
        Basis::Mac,
        "Protected Management Frames",
        pmf,
        seen,
        (peers > 0).then_some(usage.robust_management),
    ));
}
