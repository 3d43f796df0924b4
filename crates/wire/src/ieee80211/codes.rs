//! Reason codes (9.4.1.7) and status codes (9.4.1.9).

macro_rules! codes {
    ($(#[$doc:meta])* $name:ident { $($number:literal $variant:ident $text:literal,)* }) => {
        $(#[$doc])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
        pub enum $name {
            $(#[doc = concat!(stringify!($number), ": ", $text, ".")] $variant,)*
            /// A number this crate has no name for.
            Unknown(u16),
        }

        impl $name {
            /// The code's number.
            pub const fn number(self) -> u16 {
                match self {
                    $(Self::$variant => $number,)*
                    Self::Unknown(number) => number,
                }
            }

            /// What the code means, in a few words.
            pub const fn text(self) -> &'static str {
                match self {
                    $(Self::$variant => $text,)*
                    Self::Unknown(_) => "unknown code",
                }
            }
        }

        impl From<u16> for $name {
            fn from(number: u16) -> Self {
                match number {
                    $($number => Self::$variant,)*
                    _ => Self::Unknown(number),
                }
            }
        }

        impl core::fmt::Display for $name {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                write!(f, "{} ({})", self.text(), self.number())
            }
        }
    };
}

codes! {
    /// Why a station was deauthenticated or disassociated, or a Block Ack agreement ended.
    ReasonCode {
        1 Unspecified "unspecified",
        2 InvalidAuthentication "previous authentication no longer valid",
        3 LeavingNetworkDeauth "station is leaving",
        4 Inactivity "inactivity",
        5 NoMoreStations "access point cannot serve more stations",
        6 InvalidClass2Frame "frame sent before authentication",
        7 InvalidClass3Frame "frame sent before association",
        8 LeavingNetworkDisassoc "station is leaving the BSS",
        9 NotAuthenticated "association without authentication",
        10 UnacceptablePowerCapability "unacceptable power capability",
        11 UnacceptableSupportedChannels "unacceptable supported channels",
        12 BssTransition "BSS transition",
        13 InvalidElement "invalid element",
        14 MicFailure "message integrity failure",
        15 FourWayHandshakeTimeout "4-way handshake timeout",
        16 GroupKeyHandshakeTimeout "group key handshake timeout",
        17 HandshakeElementMismatch "handshake element differs from the beacon's",
        18 InvalidGroupCipher "invalid group cipher",
        19 InvalidPairwiseCipher "invalid pairwise cipher",
        20 InvalidAkmp "invalid key management",
        21 UnsupportedRsneVersion "unsupported RSN version",
        22 InvalidRsneCapabilities "invalid RSN capabilities",
        23 Ieee8021xFailed "802.1X authentication failed",
        24 CipherOutOfPolicy "cipher rejected by policy",
        25 TdlsPeerUnreachable "TDLS peer unreachable",
        26 TdlsUnspecified "TDLS link torn down",
        27 SspRequested "disassociated by the service provider",
        28 NoSspRoamingAgreement "no roaming agreement",
        29 BadCipherOrAkm "cipher or key management not supported by the service",
        30 NotAuthorizedThisLocation "not authorized at this location",
        31 ServiceChangePrecludesTs "service change precludes the traffic stream",
        32 UnspecifiedQos "unspecified QoS reason",
        33 NotEnoughBandwidth "not enough bandwidth",
        34 MissingAcks "too many frames unacknowledged",
        35 ExceededTxop "transmissions exceed the TXOP limits",
        36 StationLeaving "station is leaving or resetting",
        37 EndTsBaDls "stream, Block Ack or direct link no longer wanted",
        38 UnknownTsBa "frames for which no stream or Block Ack was set up",
        39 Timeout "timeout",
        45 PeerkeyMismatch "peer does not support the cipher",
        46 PeerInitiated "peer initiated",
        47 ApInitiated "access point initiated",
        48 InvalidFtActionFrameCount "invalid FT action frame count",
        49 InvalidPmkid "invalid PMKID",
        50 InvalidMde "invalid mobility domain element",
        51 InvalidFte "invalid FT element",
        52 MeshPeeringCanceled "mesh peering canceled",
        53 MeshMaxPeers "mesh peer limit reached",
        54 MeshConfigurationPolicyViolation "mesh configuration policy violation",
        55 MeshCloseReceived "mesh close received",
        56 MeshMaxRetries "mesh peering retry limit",
        57 MeshConfirmTimeout "mesh confirm timeout",
        58 MeshInvalidGtk "mesh group key invalid",
        59 MeshInconsistentParameters "mesh parameters inconsistent",
        60 MeshInvalidSecurityCapability "mesh security capability invalid",
        61 MeshPathErrorNoProxy "mesh path error: no proxy information",
        62 MeshPathErrorNoForwarding "mesh path error: no forwarding information",
        63 MeshPathErrorUnreachable "mesh path error: destination unreachable",
        64 MacAddressExistsInMbss "MAC address already in the mesh",
        65 MeshChannelSwitchRegulatory "mesh channel switch: regulatory",
        66 MeshChannelSwitchUnspecified "mesh channel switch",
    }
}

codes! {
    /// How a request was answered.
    StatusCode {
        0 Success "successful",
        1 Refused "unspecified failure",
        2 TdlsRejectedAlternative "TDLS wakeup schedule rejected, alternative given",
        3 TdlsRejected "TDLS wakeup schedule rejected",
        5 SecurityDisabled "security disabled",
        6 UnacceptableLifetime "unacceptable lifetime",
        7 NotInSameBss "not in the same BSS",
        10 RefusedCapabilitiesMismatch "requested capabilities not supported",
        11 DeniedNoAssociationExists "reassociation without association",
        12 DeniedOtherReason "denied for a reason outside the standard",
        13 UnsupportedAuthAlgorithm "authentication algorithm not supported",
        14 TransactionSequenceError "authentication sequence number out of order",
        15 ChallengeFailure "challenge failed",
        16 RejectedSequenceTimeout "timeout waiting for the next frame",
        17 DeniedNoMoreStas "access point cannot serve more stations",
        18 RefusedBasicRatesMismatch "basic rates not supported",
        19 DeniedNoShortPreamble "short preamble not supported",
        22 RejectedSpectrumManagement "spectrum management required",
        23 RejectedBadPowerCapability "power capability unacceptable",
        24 RejectedBadSupportedChannels "supported channels unacceptable",
        25 DeniedNoShortSlotTime "short slot time not supported",
        27 DeniedNoHt "HT not supported",
        28 R0khUnreachable "R0KH unreachable",
        29 DeniedPcoTimeNotSupported "PCO transition time not supported",
        30 RefusedTemporarily "refused temporarily, try again later",
        31 RobustManagementPolicyViolation "management frame protection policy violated",
        32 UnspecifiedQosFailure "unspecified QoS failure",
        33 DeniedInsufficientBandwidth "insufficient bandwidth",
        34 DeniedPoorChannel "poor channel",
        35 DeniedQosNotSupported "QoS not supported",
        37 RequestDeclined "request declined",
        38 InvalidParameters "invalid parameters",
        39 RejectedWithSuggestedChanges "rejected, changes suggested",
        40 InvalidElement "invalid element",
        41 InvalidGroupCipher "invalid group cipher",
        42 InvalidPairwiseCipher "invalid pairwise cipher",
        43 InvalidAkmp "invalid key management",
        44 UnsupportedRsneVersion "unsupported RSN version",
        45 InvalidRsneCapabilities "invalid RSN capabilities",
        46 CipherRejectedPerPolicy "cipher rejected by policy",
        47 TsNotCreated "traffic stream not created",
        48 DirectLinkNotAllowed "direct link not allowed",
        49 DestStaNotPresent "destination not in the BSS",
        50 DestStaNotQos "destination without QoS",
        51 DeniedListenIntervalTooLarge "listen interval too large",
        52 InvalidFtActionFrameCount "invalid FT action frame count",
        53 InvalidPmkid "invalid PMKID",
        54 InvalidMde "invalid mobility domain element",
        55 InvalidFte "invalid FT element",
        76 AntiCloggingTokenRequired "anti-clogging token required",
        77 UnsupportedFiniteCyclicGroup "finite cyclic group not supported",
        78 CannotFindAlternativeTbtt "no alternative beacon time",
        79 TransmissionFailure "transmission failure",
        82 RejectedWithSuggestedBssTransition "rejected, another BSS suggested",
        104 DeniedVhtNotSupported "VHT not supported",
        123 UnknownPasswordIdentifier "unknown password identifier",
        124 DeniedHeNotSupported "HE not supported",
        126 SaeHashToElement "SAE hash-to-element",
        127 SaePk "SAE public key",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_number_round_trips() {
        for number in 0..=u16::MAX {
            assert_eq!(ReasonCode::from(number).number(), number);
            assert_eq!(StatusCode::from(number).number(), number);
        }
        assert_eq!(ReasonCode::from(7).to_string(), "frame sent before association (7)");
        assert_eq!(StatusCode::from(999).to_string(), "unknown code (999)");
    }
}
