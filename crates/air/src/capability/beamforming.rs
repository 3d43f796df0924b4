//! Beamforming: who claims to steer, who claims to measure, and what soundings were captured.

use wire::ieee80211::Capabilities;

use super::amendments::managed;
use super::subject::{row, Seen, Subject};
use crate::report::{Basis, CapabilityRow, Claim};

/// What a claim is of, by generation: VHT, HE, EHT.
type Claims = [(&'static str, bool); 3];

fn su_beamformer(c: &Capabilities) -> Claims {
    [
        ("VHT", c.vht.is_some_and(|vht| vht.su_beamformer())),
        ("HE", c.he.is_some_and(|he| he.su_beamformer())),
        ("EHT", c.eht.is_some_and(|eht| eht.su_beamformer())),
    ]
}

fn su_beamformee(c: &Capabilities) -> Claims {
    [
        ("VHT", c.vht.is_some_and(|vht| vht.su_beamformee())),
        ("HE", c.he.is_some_and(|he| he.su_beamformee())),
        ("EHT", c.eht.is_some_and(|eht| eht.su_beamformee())),
    ]
}

fn mu_beamformer(c: &Capabilities) -> Claims {
    [
        ("VHT", c.vht.is_some_and(|vht| vht.mu_beamformer())),
        ("HE", c.he.is_some_and(|he| he.mu_beamformer())),
        ("EHT", c.eht.is_some_and(|eht| eht.mu_beamformer())),
    ]
}

fn mu_beamformee(c: &Capabilities) -> Claims {
    // Whoever is an HE or EHT beamformee is one for several users, too: there is no bit of its own.
    [("VHT", c.vht.is_some_and(|vht| vht.mu_beamformee())), ("HE", false), ("EHT", false)]
}

fn any(claims: Claims) -> bool {
    claims.iter().any(|(_, is_claimed)| *is_claimed)
}

fn claim(subject: &Subject<'_>, which: fn(&Capabilities) -> Claims) -> (Claim, Option<String>) {
    managed(subject, |c| {
        let names: Vec<_> = which(c).into_iter().filter(|(_, is_claimed)| *is_claimed).map(|(name, _)| name).collect();
        (!names.is_empty(), (!names.is_empty()).then(|| names.join(", ")))
    })
}

/// The rows, of what is claimed or used.
pub fn beamforming(subject: &Subject<'_>, rows: &mut Vec<CapabilityRow>) {
    let usage = subject.usage;
    // A sounding begins with a control frame. Where none of the sender's were captured, theirs may have been filtered out.
    let control_is_there = usage.control > 0;
    let announcements = || match control_is_there {
        true => {
            Seen::Frames(usage.ndp_announcements, subject.frames, "frames it sent (as NDP announcements)".to_owned())
        }
        false => Seen::Unknown("none of its control frames is in the capture"),
    };
    let to_beamformees = subject.peers.sent_to(|peer| any(su_beamformee(peer)));
    let occasion = control_is_there.then_some(to_beamformees);
    let reports = Seen::Frames(usage.beamforming_reports, usage.actions, "action frames it sent".to_owned());
    let single = [
        row(Basis::Mac, "SU Beamformer", claim(subject, su_beamformer), announcements(), occasion),
        row(Basis::Mac, "SU Beamformee", claim(subject, su_beamformee), reports, None),
    ];
    let silent = || Seen::Unknown("how many users a sounding or a PPDU was for is not known here");
    let several = [
        row(Basis::Mac, "MU Beamformer", claim(subject, mu_beamformer), silent(), None),
        row(Basis::Mac, "MU Beamformee", claim(subject, mu_beamformee), silent(), None),
    ];
    let is_shown = |row: &CapabilityRow| row.claimed == Claim::Yes || row.seen.is_some_and(|seen| seen > 0);
    rows.extend(single.into_iter().chain(several).filter(is_shown));
}
