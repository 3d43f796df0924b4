//! Which chip it is, and what follows from that outside of one file.

use wire::phy::AccessCategory;
use wire::usb::mediatek::{Rate, Rxwi, Txwi};
use wire::usb::mt7601;

use super::registers as reg;

/// What the chip is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub enum Model {
    /// MT7610U (148f:7610).
    #[default]
    Mt7610u,
    /// MT7601U (148f:7601): a station only, in 2.4 GHz, of the generation before. Files named for it are those of Linux'
    /// drivers/net/wireless/mediatek/mt7601u.
    Mt7601u,
}

/// What is there when power comes. The tables of fallback are those of rt2800.h, since mt76x0u writes none; mt7601u writes the
/// same (main.c, mt7601u_bss_info_changed).
const BOTH_AT_START: [(u32, u32); 5] = [
    (reg::CMB_CTRL, reg::CMB_READY),
    (reg::EFUSE_CTRL, reg::EFUSE_PRESENT),
    (reg::HT_FBK_CFG0, 0x6543_2100),
    (reg::LG_FBK_CFG0, 0xedcb_a988),
    (reg::LG_FBK_CFG1, 0x0000_2100),
];
/// The chip, its MAC and its baseband say who they are (Linux mt76x02.h, is_mt76x0; the other two are only looked at for being
/// there).
const MT7610U_AT_START: [(u32, u32); 3] =
    [(reg::ASIC_VERSION, 0x7610_0002), (reg::MAC_CSR0, 0x7650_2000), (reg::BBP_VERSION, 0x000a_2b00)];
/// What a stick said in a kernel log (linux-wireless, May 2021, mail.spinics.net/lists/linux-wireless/msg210473.html). Its
/// baseband is elsewhere.
const MT7601U_AT_START: [(u32, u32); 2] = [(reg::ASIC_VERSION, 0x7601_0001), (reg::MAC_CSR0, 0x7601_0500)];

/// Gain of the LNA of an MT7601U in its EEPROM: that from which the driver's default for gain control is counted (phy.c,
/// mt7601u_agc_default). With it the weakest signal that can be reported of a frame is -96 dBm.
pub(super) const LNA_GAIN: i8 = 8;

/// Queues of frames in the order in which they are served: management, beacons and reported frames, then the access categories.
pub(super) const QUEUES: usize = 5;
pub(super) const MANAGEMENT: usize = 0;
const VOICE: usize = 1;
const VIDEO: usize = 2;
const BEST_EFFORT: usize = 3;
const BACKGROUND: usize = 4;

impl Model {
    /// 148f:7610 (mt76x0/usb.c, mt76x0_device_table), 148f:7601 (usb.c, mt7601u_device_table).
    pub(super) const fn product(self) -> u16 {
        match self {
            Self::Mt7610u => 0x7610,
            Self::Mt7601u => 0x7601,
        }
    }

    /// What the device calls itself (of the MT7601U in the same log).
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Mt7610u => "WiFi",
            Self::Mt7601u => "802.11 n WLAN",
        }
    }

    /// Registers and their values when power comes.
    pub(super) fn at_start(self) -> impl Iterator<Item = (u32, u32)> {
        let own: &[(u32, u32)] = match self {
            Self::Mt7610u => &MT7610U_AT_START,
            Self::Mt7601u => &MT7601U_AT_START,
        };
        BOTH_AT_START.into_iter().chain(own.iter().copied())
    }

    /// The queue of the n-th endpoint of frames. mt76x0u has them in the order best effort, background, video, voice (mt76.h,
    /// enum mt76u_out_ep), mt7601u begins with background (usb.h, enum mt_usb_ep_out; tx.c, q2hwq).
    pub(super) const fn queue(self, endpoint: usize) -> usize {
        match (self, endpoint) {
            (Self::Mt7610u, 0) | (Self::Mt7601u, 1) => BEST_EFFORT,
            (Self::Mt7610u, 1) | (Self::Mt7601u, 0) => BACKGROUND,
            (_, 2) => VIDEO,
            (_, 3) => VOICE,
            _ => MANAGEMENT,
        }
    }

    /// The contention register of a queue, which has the number of its endpoint (mt76x02_util.c, mt76x02_conf_tx; tx.c,
    /// mt7601u_conf_tx), and what it is for. `None`: the management queue has none.
    pub(super) fn contention(self, queue: usize) -> Option<(u32, AccessCategory)> {
        let category = match queue {
            VOICE => AccessCategory::Voice,
            VIDEO => AccessCategory::Video,
            BEST_EFFORT => AccessCategory::BestEffort,
            BACKGROUND => AccessCategory::Background,
            _ => return None,
        };
        let number = (0..4).find(|&endpoint| self.queue(endpoint) == queue)?;
        Some((reg::EDCA_CFG + 4 * number as u32, category))
    }

    /// Whether it is also in 5 GHz, with VHT.
    pub(super) const fn has_5ghz(self) -> bool {
        matches!(self, Self::Mt7610u)
    }

    /// Whether A-MPDUs are as long as MAX_LEN_CFG says: mt7601u writes nothing else (mac.c, mt7601u_mac_set_ampdu_factor),
    /// mt76x0u a length for each MCS.
    pub(super) const fn has_one_ampdu_length(self) -> bool {
        matches!(self, Self::Mt7601u)
    }

    /// Where RF_CSR_CFG has the bank, and how many bits of the register's number are below it (regs.h, MT_RF_CSR_CFG_*).
    pub(super) const fn rf_bank_shift(self) -> u32 {
        match self {
            Self::Mt7610u => 15,
            Self::Mt7601u => 14,
        }
    }

    /// Whether the baseband has registers of a byte behind BBP_CSR_CFG (phy.c, mt7601u_bbp_wr), not words of its own.
    pub(super) const fn has_small_baseband(self) -> bool {
        matches!(self, Self::Mt7601u)
    }

    /// Reads what the driver says of a frame to be sent.
    pub(super) fn split_txwi(self, bytes: &[u8]) -> Option<(Txwi, &[u8])> {
        match self {
            Self::Mt7610u => Txwi::split(bytes),
            Self::Mt7601u => mt7601::split_txwi(bytes),
        }
    }

    /// The descriptor of a received frame.
    pub(super) fn emit_rxwi(self, rxwi: &Rxwi) -> Vec<u8> {
        match self {
            Self::Mt7610u => rxwi.emit().to_vec(),
            Self::Mt7601u => mt7601::emit_rxwi(rxwi, LNA_GAIN).to_vec(),
        }
    }

    /// Reads that.
    pub(super) fn split_rxwi(self, bytes: &[u8]) -> Option<(Rxwi, &[u8])> {
        match self {
            Self::Mt7610u => Rxwi::split(bytes),
            Self::Mt7601u => mt7601::split_rxwi(bytes, LNA_GAIN),
        }
    }

    /// Bits 31:16 of a report: the rate, as in a descriptor (regs.h, a comment on MT_TX_STAT_FIFO).
    pub(super) const fn report_rate(self, rate: Rate) -> u16 {
        match self {
            Self::Mt7610u => rate.0,
            Self::Mt7601u => mt7601::rate_bits(rate),
        }
    }

    /// The rate that a report has.
    pub(super) const fn rate_of_report(self, bits: u16) -> Rate {
        match self {
            Self::Mt7610u => Rate(bits),
            Self::Mt7601u => mt7601::rate(bits),
        }
    }

    /// Bits 4:1 of a report: the mark, where that has four bits (regs.h, MT_TX_STAT_FIFO_PID_TYPE). An MT7610U's has eight, in
    /// the other register.
    pub(super) const fn report_mark(self, mark: u8) -> u8 {
        match self {
            Self::Mt7610u => 0,
            Self::Mt7601u => mark & 0x0f,
        }
    }

    /// The mark in a report.
    pub(super) const fn mark_of_report(self, report: u32) -> u8 {
        self.report_mark((report >> 1) as u8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_endpoint_has_its_register() {
        for (model, categories) in [
            (Model::Mt7610u, [AccessCategory::BestEffort, AccessCategory::Background]),
            (Model::Mt7601u, [AccessCategory::Background, AccessCategory::BestEffort]),
        ] {
            let of = |endpoint| model.contention(model.queue(endpoint)).unwrap();
            for (number, category) in
                categories.into_iter().chain([AccessCategory::Video, AccessCategory::Voice]).enumerate()
            {
                assert_eq!(of(number), (reg::EDCA_CFG + 4 * number as u32, category));
            }
            assert_eq!((model.queue(4), model.contention(MANAGEMENT)), (MANAGEMENT, None));
        }
    }
}
