"""Typed objects for everything in a `txop-vusb-statistics` document (docs/vusb-json.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from pydantic import Field

from txop.present.document import Model


class FaultCounters(Model):
    """A fault of a script."""

    name: str
    """Its name in the script."""
    transfers: int
    """Transfers of its kind that were answered."""
    struck: int
    """How often it struck."""


class TransferLimit(Model):
    """What one transfer may be at most."""

    datagrams: int
    """Datagrams."""
    bytes: int
    """Bytes with all headers."""


class DataFormat(Model):
    """The format of the data path."""

    from_host: str
    """Transfers from the host. `raw-ip`: one IP packet, nothing around it; `qmap`: QMAP, version 1; `qmap-v4`: with
    checksums beside the datagrams; `qmap-v5`: with checksum headers in front of the datagrams."""
    to_host: str
    """Transfers to the host. `raw-ip`: one IP packet, nothing around it; `qmap`: QMAP, version 1; `qmap-v4`: with
    checksums beside the datagrams; `qmap-v5`: with checksum headers in front of the datagrams."""
    limit_from_host: TransferLimit | None
    """A host that goes past this crashes the modem; null: nothing was agreed on."""
    limit_to_host: TransferLimit
    """What a transfer to the host is at most."""


class ControlCounters(Model):
    """QMI messages."""

    requests: int
    """Requests of the host."""
    answers: int
    """Answers to them, refusals included."""
    refused: int
    """Answers that refuse."""
    indications: int
    """Indications: what the modem sent unasked."""
    malformed: int
    """Messages that break the rules of their layout, and others than requests."""
    not_taken: int
    """Requests that were not taken: the host does not listen, or fetches no answers."""


class ControlStatistics(Model):
    """The control plane."""

    messages: ControlCounters
    """QMI messages."""
    format: DataFormat
    """What they have made of the data path."""


class Aggregation(Model):
    """When a transfer to the host is complete: at the first of these limits."""

    datagrams: int
    """Datagrams."""
    bytes: int
    """Bytes with all headers. The first datagram of a transfer goes even if it alone has more."""
    hold_ns: int
    """How long the first datagram waits for more."""


class ModemSettings(Model):
    """How a QMI modem is set up."""

    framing: str
    """What transfers carry. `raw-ip`: one IP packet each; `qmap`: QMAP, version 1; `qmap-v4`: QMAP, version 4:
    checksums beside the datagrams; `qmap-v5`: QMAP, version 5: checksum headers in front of the datagrams;
    `negotiated`: what the host asks for with WDA_SET_DATA_FORMAT, over the connections that it starts with
    WDS_START_NETWORK."""
    mux_id: int
    """The multiplexed connection that there is, where messages do not decide."""
    transfer_cost_us: int
    """How long the modem works on one transfer from the host, whatever is in it, us."""
    uplink_mbit_s: float
    """Rate of the radio link from the host, Mbit/s."""
    downlink_mbit_s: float
    """Rate of the radio link to the host, Mbit/s: the most, where it wanders."""
    delay_us: int
    """Delay of the radio link, each way, us."""
    uplink_buffer_us: int
    """Datagrams from the host wait for the radio at most so long; while they would wait longer no transfer is taken,
    us."""
    downlink_queue: int
    """Datagrams for the host that wait at most, those on their way included; the wired end is not read while this
    many do."""
    to_host: Aggregation
    """How it packs datagrams for the host, in QMAP."""
    downlink_least_mbit_s: float | None = None
    """The rate to the host wanders between this and `downlink_mbit_s`, Mbit/s; left out: it does not."""
    downlink_wander_percent: float = 20.0
    """How far it wanders: the standard deviation of its change in a second, were there no bounds, in percent of
    `downlink_mbit_s`. Left out where it is that of Winstein, Sivaraman, Balakrishnan, NSDI 2013: 20."""
    limit_from_host: TransferLimit | None = None
    """What a transfer from the host may be at most, where that is negotiated: a larger one crashes the modem. Left
    out where it is that of no particular modem, 16 datagrams and 8,192 bytes."""
    model: str = "quectel-ec25"
    """Which modem it poses as. `quectel-ec25`: a Quectel EC25, 2c7c:0125: only the interface that carries data,
    number 4; `quectel-ec21`: a Quectel EC21, 2c7c:0121: five interfaces (lsusb -v in raspberrypi/linux issue 1880);
    `simcom-sim7600`: a SIMCom SIM7600, 1e0e:9001: six interfaces (lsusb -v in espressif/esp-iot-solution issues 121
    and 161); `telit-ln940`: a Telit LN940, 1bc7:1900: five interfaces, data on number 1 (usb/devices in
    4IceG/luci-app-3ginfo-lite issue 9)."""
    more_mux_ids: list[int] = Field(default_factory=list)
    """More multiplexed connections."""


class ModemDirection(Model):
    """One direction."""

    transfers: int
    """Transfers."""
    transfer_bytes: int
    """Bytes of them."""
    datagrams: int
    """Datagrams in them."""
    datagram_bytes: int
    """Bytes of the datagrams."""
    histogram: list[int]
    """Transfers by their number of datagrams; index 0 is those without."""
    dropped: int
    """Datagrams that were lost for want of room, or that the wired end did not take."""


class ModemCounters(Model):
    """What went between host, modem and radio."""

    uplink: ModemDirection
    """From the host."""
    downlink: ModemDirection
    """To the host."""
    engine_busy_ns: int
    """Time that the engine has worked on transfers from the host, ns."""
    commands: int
    """QMAP commands of the host; they are not answered."""
    other_connections: int
    """QMAP datagrams of other multiplexed connections: not forwarded."""
    faults: int
    """Transfers with faults in them."""
    not_ip: int
    """Packets for the host that are not IP."""
    checksums_filled: int = 0
    """Checksums that the host left to the modem, and that were filled in."""
    crashes: int = 0
    """How often it crashed."""
    unconnected: int = 0
    """Packets for the host while it has no connection."""


class QmiModemStatistics(Model):
    """What a QMI modem has counted."""

    qmi_modem: ModemCounters
    """Transfers, and what was in them."""
    settings: ModemSettings
    """How it is set up."""
    control: ControlStatistics | None = None
    """The control plane, once the host has used it."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class EcmDirection(Model):
    """One direction."""

    frames: int
    """Ethernet frames, which are as many transfers."""
    bytes: int
    """Bytes of them."""


class EcmCounters(Model):
    """What went between host and function."""

    uplink: EcmDirection
    """From the host."""
    downlink: EcmDirection
    """To the host."""
    too_long: int
    """Transfers from the host that are longer than a frame can be."""
    not_taken: int
    """Frames that the wired end did not take."""
    dropped: int
    """Frames for the host that came before it read, or that are longer than a frame can be."""


class EcmStatistics(Model):
    """What an ECM function has counted."""

    ecm: EcmCounters
    """Transfers."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class MbimSettings(Model):
    """How an MBIM function is set up."""

    connect: str
    """How sessions begin to carry packets. `fixed`: session 0 carries packets without messages; `negotiated`: the
    host connects sessions with CONNECT."""
    wide: bool
    """Offers 32-bit blocks beside 16-bit ones."""
    in_max: int
    """dwNtbInMaxSize: bytes of a block to the host, 2,048 to 1 MiB."""
    out_max: int
    """dwNtbOutMaxSize: bytes of a block from the host, 2,048 to 1 MiB."""
    out_datagrams_max: int
    """wNtbOutMaxDatagrams: datagrams of a block from the host; 0 is unlimited."""
    to_host: Aggregation
    """How it packs packets for the host."""


class MbimControlCounters(Model):
    """MBIM messages."""

    messages: int
    """Messages of the host, errors included."""
    answers: int
    """Answers to them, refusals included."""
    refused: int
    """Answers to commands that refuse."""
    errors: int
    """Function errors: a message was malformed, in fragments, or came before the function was opened."""
    not_taken: int
    """Messages that were not taken: the host fetches no answers."""


class MbimUncarried(Model):
    """Packets that no session carries."""

    other_sessions: int
    """Packets from the host in sessions that are not connected."""
    unconnected: int
    """Packets for the host while no session was connected."""
    streams: int
    """Datagrams from the host of device service streams, which the function has not."""
    not_ip: int
    """What came from the wired end and was no IP packet."""


class BlockDirection(Model):
    """One direction."""

    blocks: int
    """Transfer blocks."""
    block_bytes: int
    """Bytes of them as transferred."""
    datagrams: int
    """Datagrams in them."""
    datagram_bytes: int
    """Bytes of the datagrams."""
    histogram: list[int]
    """Blocks by their number of datagrams; index 0 is those without."""


class BlockCounters(Model):
    """What went between host and function."""

    uplink: BlockDirection
    """From the host."""
    downlink: BlockDirection
    """To the host."""
    not_blocks: int
    """Transfers that were not a block."""
    faults: int
    """Faults in blocks."""
    out_of_sequence: int
    """Faults of the host's block numbering."""
    not_taken: int
    """Datagrams that the wired end did not take."""
    dropped: int
    """Datagrams for the host that came before it read, or that fit into no block."""


class MbimStatistics(Model):
    """What an MBIM function has counted."""

    mbim: BlockCounters
    """Transfers, and what was in them."""
    uncarried: MbimUncarried
    """Packets that no session carries."""
    messages: MbimControlCounters
    """The control plane."""
    settings: MbimSettings
    """How it is set up."""
    input_size: int
    """Bytes of a block to the host that the host asked for at most."""
    format: str
    """What blocks look like. `ntb16`: with 16-bit lengths and offsets; `ntb32`: with 32-bit lengths and offsets."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class NcmSettings(Model):
    """How an NCM function is set up."""

    posing: str
    """What it looks like. `standard`: as the standard has it (Linux: cdc_ncm, which prefers 16-bit blocks);
    `huawei`: as a modem of Huawei (Linux: huawei_cdc_ncm, which prefers 32-bit blocks)."""
    wide: bool
    """Offers 32-bit blocks beside 16-bit ones."""
    in_max: int
    """dwNtbInMaxSize: bytes of a block to the host, 2,048 to 1 MiB."""
    out_max: int
    """dwNtbOutMaxSize: bytes of a block from the host, 2,048 to 1 MiB."""
    out_datagrams_max: int
    """wNtbOutMaxDatagrams: datagrams of a block from the host; 0 is unlimited."""
    to_host: Aggregation
    """How it packs frames for the host."""
    address: list[int]
    """The host's Ethernet address."""


class NcmStatistics(Model):
    """What an NCM function has counted."""

    ncm: BlockCounters
    """Transfers, and what was in them."""
    settings: NcmSettings
    """How it is set up."""
    input_size: int
    """Bytes of a block to the host that the host asked for at most."""
    format: str
    """What the host chose for both directions. `ntb16`: with 16-bit lengths and offsets; `ntb32`: with 32-bit
    lengths and offsets."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Ar9280RxCounters(Model):
    """What the receiver of an AR9280, AR9220 or AR9287 has done."""

    frames: int
    """Frames that came off the air whole."""
    delivered: int
    """Frames handed to the driver."""
    bytes: int
    """Bytes of them."""
    filtered: int
    """Frames that the filters kept back."""
    overruns: int
    """Frames that found no descriptor (they are not acknowledged either)."""
    too_long: int
    """Frames that are longer than the buffers that the host had ready."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""


class Ar9280TxCounters(Model):
    """What the transmitter of an AR9280, AR9220 or AR9287 has done."""

    frames: int
    """Frames and A-MPDUs of the host that are done."""
    mpdus: int
    """MPDUs in them."""
    bytes: int
    """Bytes of these, as they were read from the host's memory."""
    ppdus: int
    """PPDUs that were sent, each try counted."""
    failed: int
    """Tries that were not acknowledged, those among them of which only the RTS was sent."""
    encrypted: int
    """Frames that the chip encrypted."""
    not_encrypted: int
    """Frames with a key that is not there or of a cipher that is not modelled; they are sent as they are."""
    filtered: int
    """Frames to stations that did not answer before, given back unsent."""
    no_rate: int
    """Frames with a rate that the chip does not have, or without a try."""


class Ar9280Counters(Model):
    """Accesses to registers, and what they did."""

    reads: int
    """Reads."""
    writes: int
    """Writes."""
    interrupts: int
    """Times that the interrupt line was raised."""
    resets: int
    """Resets of the MAC."""
    beacon_alerts: int
    """Alerts to the host for the next beacon."""


class Ar9280Chip(Model):
    """One of several chips."""

    chip: Ar9280Counters
    """Its registers."""
    tx: Ar9280TxCounters
    """Its transmitter."""
    rx: Ar9280RxCounters
    """Its receiver."""


class EventCounters(Model):
    """An event of the script of an access point."""

    name: str
    """Its name in the script."""
    happened: int
    """How often it happened."""


class ApCounters(Model):
    """What the built-in access point has done."""

    from_wire: int
    """Frames from the TAP device for the station."""
    to_wire: int
    """Frames from the station to the TAP device."""
    from_wire_bytes: int
    """Bytes of them."""
    to_wire_bytes: int
    """See `from_wire_bytes`."""
    refused: int
    """Frames that the TAP device did not take."""
    given_up: int
    """Frames given up after their last retry."""
    dropped: int
    """Frames dropped because too many waited."""
    beacons: int
    """Beacons."""
    associations: int
    """Associations and reassociations that it granted."""
    amsdus_sent: int
    """A-MSDUs sent."""
    amsdus_received: int
    """A-MSDUs received."""
    duplicates: int
    """MPDUs received twice."""
    sleeps: int
    """Times that the station fell asleep."""
    kept: int
    """Frames that were kept for a sleeping station."""
    ps_polls: int
    """PS-Poll frames."""
    block_acks_withheld: int
    """Block Acks that a script kept back, or made late."""


class BuiltinStatistics(Model):
    """The built-in access point."""

    kind: str
    """Always `builtin`."""
    wire: ApCounters
    """What it did."""
    associated: bool
    """A station is associated."""
    channel: int
    """Where its network is now."""
    script: list[EventCounters]
    """Events of its script."""


class RelayCounters(Model):
    """What was relayed."""

    from_kernel: int
    """Frames from the kernel."""
    to_kernel: int
    """Frames to the kernel."""
    acknowledged: int
    """Frames of the kernel that were acknowledged."""
    given_up: int
    """Frames of the kernel given up after their last retry."""
    refused: int
    """Frames that the kernel did not take."""
    dropped: int
    """Frames from the kernel dropped because too many waited."""


class RadioStatistics(Model):
    """A radio of mac80211_hwsim."""

    relay: RelayCounters
    """Frames that went to and from the kernel."""
    waiting: int
    """Frames that wait."""


class AccessPointsStatistics(Model):
    """Several access points, each of a hostapd."""

    kind: str
    """Always `access-points`."""
    access_points: list[RadioStatistics]
    """One after the other."""


class StationsStatistics(Model):
    """Stations of a chip that is an access point."""

    kind: str
    """Always `stations`."""
    stations: list[RadioStatistics]
    """One after the other."""


class HostapdStatistics(Model):
    """The access point that hostapd is."""

    kind: str
    """Always `hostapd`."""
    relay: RelayCounters
    """Frames that went to and from the kernel."""
    waiting: int
    """Frames that wait."""


class NoPeers(Model):
    """No peer."""

    kind: str
    """Always `none`."""


class Frames(Model):
    """Frames that were sent."""

    ppdus: int
    """PPDUs, control frames not counted (but Block Ack requests are PPDUs like others)."""
    soliciting: int
    """PPDUs that ask for an ACK or a Block Ack."""
    data_ppdus: int
    """PPDUs with data for one receiver."""
    ampdus: int
    """A-MPDUs."""
    single_ampdus: int
    """A-MPDUs of one MPDU only."""
    mpdus: int
    """MPDUs in all PPDUs."""
    retries: int
    """MPDUs with the retry bit."""
    sent_bytes: int
    """Bytes of all MPDUs, frame check sequences included."""
    data: int
    """MPDUs with data (Null has none)."""
    unicast_data: int
    """MPDUs with data for one receiver, not for a group."""
    data_retries: int
    """Those for one receiver with the retry bit."""
    block_ack_requests: int
    """Block Ack requests."""
    rts: int
    """RTS frames."""
    cts_to_self: int
    """CTS to itself."""


class SideCounters(Model):
    """What was sent from one side."""

    ppdus: int
    """PPDUs, control frames not counted (but Block Ack requests are PPDUs like others)."""
    soliciting: int
    """PPDUs that ask for an ACK or a Block Ack."""
    data_ppdus: int
    """PPDUs with data for one receiver."""
    ampdus: int
    """A-MPDUs."""
    single_ampdus: int
    """A-MPDUs of one MPDU only."""
    mpdus: int
    """MPDUs in all PPDUs."""
    retries: int
    """MPDUs with the retry bit."""
    sent_bytes: int
    """Bytes of all MPDUs, frame check sequences included."""
    data: int
    """MPDUs with data (Null has none)."""
    unicast_data: int
    """MPDUs with data for one receiver, not for a group."""
    data_retries: int
    """Those for one receiver with the retry bit."""
    block_ack_requests: int
    """Block Ack requests."""
    rts: int
    """RTS frames."""
    cts_to_self: int
    """CTS to itself."""
    collided: Frames
    """What of this collided: a monitor has at most one PPDU of a collision, damaged."""
    acknowledged: int
    """MPDUs that were acknowledged."""
    bytes: int
    """Bytes of MPDUs that were acknowledged or needed no acknowledgement, without frame check sequence."""
    cts: int
    """CTS frames that answer RTS."""
    acks: int
    """ACKs."""
    block_acks: int
    """Block Acks."""
    answers_lost: int
    """Its ACKs and Block Acks that got lost on the way."""
    lost: int
    """Its MPDUs that noise or the given loss destroyed at the receiver."""
    airtime_ns: int
    """Time that its exchanges took, from the first preamble to the end of what was sent last, ns. A collision counts
    for each of those who sent: see `AirCounters.busy_ns`."""


class StationCounters(Model):
    """What went between the chip and one of several peers: stations, or access points."""

    signal_dbm: int
    """Signal of what the chip sends, at the peer, dBm; after a move that of the last place."""
    down: SideCounters
    """From the chip to this peer alone; it is in the chip's counters too."""
    up: SideCounters
    """From the peer."""
    signal_up_dbm: int | None = None
    """Signal of what the peer sends, at the chip, dBm, where it is another."""


class AirCounters(Model):
    """What happened on the air."""

    chip: SideCounters
    """From the chip."""
    collisions: int
    """Times that two or more began in the same slot."""
    lost: int
    """MPDUs that noise or the given loss destroyed."""
    busy_ns: int
    """Time that the medium was taken by exchanges and collisions, each counted once, ns."""
    access_points: list[StationCounters] = Field(default_factory=list)
    """What went to and from each access point, where there are several."""
    ap: SideCounters | None = None
    """From the access point, or all access points, where these are the chip's peers."""
    neighbour: SideCounters | None = None
    """From the neighbour, and its own access point's answers to it."""
    stations: list[StationCounters] = Field(default_factory=list)
    """What went to and from each station, where stations are the chip's peers."""


class Ar9280Assumptions(Model):
    """What is assumed of an AR9280, AR9220 or AR9287: `--assume`."""

    filter: str
    """A station that did not answer gets no more frames until one comes that clears its filter: the driver counts on
    it where a station sleeps (Linux ath9k/xmit.c, ATH9K_TXERR_FILT). `on`: it does; `off`: it does not."""


class Ar9280Statistics(Model):
    """What an AR9280, AR9220 or AR9287 has counted."""

    chip: Ar9280Counters
    """Its registers."""
    tx: Ar9280TxCounters
    """Its transmitter."""
    rx: Ar9280RxCounters
    """Its receiver."""
    assumptions: Ar9280Assumptions
    """What is assumed of the chip."""
    air: AirCounters
    """The air."""
    peers: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points, or the stations."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""
    station_chips: list[Ar9280Chip] = Field(default_factory=list)
    """Its stations, where these are chips of the same kind."""


class Sd8686RxCounters(Model):
    """What the receiver of an SD8686 has done."""

    frames: int
    """Data frames that came off the air for this station."""
    delivered: int
    """Frames handed to the host."""
    bytes: int
    """Bytes of them, from the destination address on."""
    duplicates: int
    """Frames that came twice."""
    overflows: int
    """Frames that found no room (they are not acknowledged either)."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""
    michael_errors: int
    """Frames with a MIC (Michael) that was wrong (TKIP)."""
    dropped: int
    """Frames that could not be handed on: no key for them, or of a kind that is not modelled."""
    filtered: int
    """Frames for groups that the host has not asked for."""


class CardTxCounters(Model):
    """What the transmitter of a card has done."""

    frames: int
    """Frames of the host."""
    bytes: int
    """Bytes of them, from the destination address on."""
    encrypted: int
    """Frames that the chip encrypted."""
    dropped: int
    """Frames that were dropped: there is no connection, the transmitter is off, or they are cut."""
    retries: int
    """Frames sent again."""
    given_up: int
    """Frames given up after their last retry."""


class Sd8686Assumptions(Model):
    """What is assumed of an SD8686 and its firmware: `--assume`."""

    tx_frames: int = Field(alias="tx-frames")
    """Frames of the host that the chip takes before it has sent some; the next one it says to have taken when there
    is room."""
    rx_frames: int = Field(alias="rx-frames")
    """Received frames that wait to be fetched; what comes while they do is not acknowledged."""
    download_bytes: int = Field(alias="download-bytes")
    """Bytes of firmware that it asks for at once."""
    eapol_by_key: bool | None = Field(default=None, alias="eapol-by-key")
    """Frames of EAPOL are encrypted when there is a key, like all others; else when the last one of the access point
    was."""


class Sd8686Counters(Model):
    """What the chip was asked for."""

    helper_blocks: int
    """Blocks of the helper that were written."""
    firmware_bytes: int
    """Bytes of the firmware that were written, with their padding."""
    boots: int
    """Times that the firmware began to run."""
    packets_from_host: int
    """Packets of the host."""
    packets_to_host: int
    """Packets that the host has fetched."""
    malformed: int
    """Packets of the host that are cut, or of no kind that a host sends."""
    empty_reads: int
    """Times that the host read the port when there was no packet."""
    commands: int
    """Commands."""
    commands_without_effect: int
    """Those among them that have no effect here."""
    commands_failed: int
    """Those that were answered with a failure."""
    events: int
    """Events."""
    held_back: int
    """Times that the chip let the host wait because its transmit queue was full."""
    scans: int
    """Scans."""
    associations: int
    """Associations."""


class CardCounters(Model):
    """What a card was asked for."""

    cmd52_reads: int
    """CMD52 that read."""
    cmd52_writes: int
    """CMD52 that write."""
    cmd53_reads: int
    """CMD53 that read."""
    cmd53_writes: int
    """CMD53 that write."""
    cmd53_read_bytes: int
    """Bytes that CMD53 read."""
    cmd53_written_bytes: int
    """Bytes that CMD53 wrote."""
    cmd53_block_mode: int
    """CMD53 in block mode, among all."""
    other_commands: int
    """Commands that start a card: CMD0, 3, 5 and 7."""
    unknown_commands: int
    """Commands that the card does not know, and does not answer."""
    refused_commands: int
    """Commands that were refused: a function or an address that is not there, or a length that the card does not
    take."""
    aborts: int
    """Transfers that the host aborted (I/O Abort)."""
    resets: int
    """Resets of the card's I/O."""
    interrupts: int
    """Times that the interrupt line rose."""


class HostCounters(Model):
    """What the host controller has done."""

    commands: int
    """Commands, whatever the outcome."""
    timeouts: int
    """Commands that the card did not answer."""
    malformed: int
    """Transfers that are not a command."""
    interrupt_transfers: int
    """Transfers of the interrupt endpoint."""
    power_ups: int
    """Times that the card got power."""
    bus_width: int
    """Lines of the data bus that the driver has set: 1 or 4; 0: none yet."""
    high_speed: bool
    """The driver has set high speed."""
    clock_hz: int
    """The clock that the driver has set."""


class SdioStatistics(Model):
    """An SDIO bus: its host controller, and its card."""

    host: HostCounters
    """The host controller."""
    card: CardCounters
    """The card."""


class Sd8686Statistics(Model):
    """What an SD8686 has counted."""

    sdio: SdioStatistics
    """The SDIO bus."""
    chip: Sd8686Counters
    """What the chip was asked for."""
    assumptions: Sd8686Assumptions
    """What is assumed of the chip."""
    tx: CardTxCounters
    """The transmitter."""
    rx: Sd8686RxCounters
    """The receiver."""
    air: AirCounters
    """The air."""
    peers: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class SleepCounters(Model):
    """What power save has done."""

    announced: int
    """Times that the access point has acknowledged that the card sleeps."""
    asleep_ns: int
    """Time asleep as far as the access point knows, ns. Listening to beacons counts as sleep."""
    polls: int
    """PS-Polls sent."""
    woken_by_host: int
    """Times that a frame of the host, or a management frame, has ended the sleep."""
    woken_by_access_point: int
    """Times that the card has ended it to fetch what the access point kept."""
    missed: int
    """Frames of the own network, to the station or to groups, that came while the receiver was off."""


class CardRxCounters(Model):
    """What the receiver of a card has done."""

    frames: int
    """Data frames that came off the air for this station."""
    delivered: int
    """Frames handed to the host."""
    bytes: int
    """Bytes of them, from the destination address on."""
    duplicates: int
    """Frames that came twice."""
    overflows: int
    """Frames that found no room (they are not acknowledged either)."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""
    michael_errors: int
    """Frames with a MIC (Michael) that was wrong (TKIP)."""
    dropped: int
    """Frames that could not be handed on: no key for them, or of a kind that is not modelled."""


class Ar6003Assumptions(Model):
    """What is assumed of an AR6003 or AR6004 and its firmware: `--assume`."""

    credits: int
    """Credits that the firmware gives the host: messages of up to `credit-bytes` that it takes before it has sent
    some."""
    credit_bytes: int = Field(alias="credit-bytes")
    """Bytes of a message that a credit stands for."""
    bundle: int
    """Messages to the host that may be fetched at once, at most."""
    rx_frames: int = Field(alias="rx-frames")
    """Received frames that wait to be fetched; what comes while they do is not acknowledged."""
    scan_dwell_ms: int = Field(alias="scan-dwell-ms")
    """Time on each channel of a scan, ms: more than the usual 102.4 ms between beacons."""
    idle_ms: int = Field(alias="idle-ms")
    """Time without data before the station sleeps, ms, where the driver has chosen to save power."""
    ps_polls: int = Field(alias="ps-polls")
    """PS-Polls between two beacons at most: for more frames it wakes up."""
    revision: str
    """Revision of the hardware, as the driver names it. Which card has which is not known."""
    device_id: int = Field(alias="device-id")
    """SDIO device ID of the card."""


class HtcCounters(Model):
    """What HTC has done."""

    from_host: int
    """Messages from the host."""
    bundles_from_host: int
    """Transfers of the host with more than one message."""
    to_host: int
    """Messages to the host."""
    bundles_to_host: int
    """Times that the host was notified that several messages can be fetched at once."""
    bundled_to_host: int
    """Messages in them."""
    credit_reports: int
    """Reports of credits."""
    credit_messages: int
    """Messages of nothing but a report of credits."""
    malformed: int
    """Transfers that hold no message, and messages that are cut."""
    overflows: int
    """Messages that found no room."""
    underflows: int
    """Times that the host fetched more than there was."""


class Ar6003Counters(Model):
    """What the chip was asked for."""

    bmi_commands: int
    """Commands of BMI, before the firmware runs."""
    bmi_bytes: int
    """Bytes that they wrote into the chip's memory."""
    boots: int
    """Times that the firmware began to run."""
    cold_resets: int
    """Cold resets."""
    wmi_commands: int
    """Commands of WMI."""
    wmi_without_effect: int
    """Those among them that have no effect here."""
    wmi_events: int
    """Events of WMI."""
    register_reads: int
    """Times that the host read the interrupt registers."""
    scans: int
    """Scans."""
    associations: int
    """Associations."""


class Ar6003Statistics(Model):
    """What an AR6003 or AR6004 has counted."""

    sdio: SdioStatistics
    """The SDIO bus."""
    chip: Ar6003Counters
    """What the chip was asked for."""
    htc: HtcCounters
    """Messages between host and chip."""
    assumptions: Ar6003Assumptions
    """What is assumed of the chip."""
    tx: CardTxCounters
    """The transmitter."""
    rx: CardRxCounters
    """The receiver."""
    power: SleepCounters
    """Power save."""
    air: AirCounters
    """The air."""
    peers: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Mt7921uRxCounters(Model):
    """What the receiver of an MT7921U has done."""

    frames: int
    """Frames that came off the air whole."""
    delivered: int
    """Frames handed to the driver."""
    bytes: int
    """Bytes of them."""
    ethernet: int
    """Those handed over as Ethernet frames."""
    filtered: int
    """Frames that the filters kept back."""
    overflows: int
    """Frames that found the receive buffer full (they are not acknowledged either)."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""


class Mt7921uTxCounters(Model):
    """What the transmitter of an MT7921U has done."""

    frames: int
    """Frames from the driver."""
    ethernet: int
    """Ethernet frames among them, for which the chip makes the 802.11 header."""
    malformed: int
    """Transfers in which a descriptor and frame could not be found."""
    reported: int
    """Frames with a status that the driver asked for."""
    driver_rate: int
    """Frames at the driver's rate."""
    encrypted: int
    """Frames that the chip encrypted."""
    dropped: int
    """Frames for which there was no key, or no receiver."""
    rts: int
    """PPDUs behind an RTS."""
    retries: int
    """Frames sent again."""
    given_up: int
    """Frames given up after the last retry."""
    buffer_full: int
    """Times that a bulk OUT endpoint was NAKed because the buffer was full (counted once per wait)."""


class Mt7921uAssumptions(Model):
    """What is assumed of an MT7921U: `--assume`."""

    adaptation_sample: int = Field(alias="adaptation-sample")
    """Rate control of the firmware (its algorithm is not known): MPDUs of one decision at least."""
    adaptation_interval_ms: int = Field(alias="adaptation-interval-ms")
    """Time between two decisions at least, ms."""
    adaptation_down: float = Field(alias="adaptation-down")
    """It goes one rate down when a smaller part of the MPDUs than this was acknowledged."""
    adaptation_up: float = Field(alias="adaptation-up")
    """It goes one rate up when a larger part was."""
    attempts_per_rate: int = Field(alias="attempts-per-rate")
    """Attempts at each rate before the next lower one."""
    ampdu_max: int = Field(alias="ampdu-max")
    """MPDUs of an A-MPDU at most, where the window of the agreement allows as many."""
    tx_buffer_kib: int = Field(alias="tx-buffer-kib")
    """Bytes of frames that wait in the chip, KiB, before the endpoints of frames are NAKed."""
    rx_buffer_kib: int = Field(alias="rx-buffer-kib")
    """Bytes of received frames that wait for the host, KiB."""
    scan_active_ms: int = Field(alias="scan-active-ms")
    """Time on a channel of a scan with probe requests, ms."""
    scan_passive_ms: int = Field(alias="scan-passive-ms")
    """Time on a channel where a scan only listens, ms."""
    scan_home_ms: int = Field(alias="scan-home-ms")
    """Time on the channel of the network between two others of a scan, ms."""
    beacon_loss: int = Field(alias="beacon-loss")
    """Beacons that have not come when the firmware says that the connection is lost."""
    idle_ms: int = Field(alias="idle-ms")
    """Time without data before the chip sleeps, where the driver allows it, ms."""
    ps_polls: int = Field(alias="ps-polls")
    """PS-Polls between two beacons at most, before the chip wakes up for the rest."""


class Mt7921uCounters(Model):
    """Registers and the firmware."""

    reads: int
    """Register reads."""
    writes: int
    """Register writes."""
    firmware_bytes: int
    """Bytes of firmware in the chip's memories."""
    boots: int
    """Times that the firmware began to run."""
    commands: int
    """Commands to the firmware."""
    commands_without_effect: int
    """Those among them that have no effect here."""
    malformed: int
    """Transfers to the endpoint of commands that were none."""
    events: int
    """Events of the firmware to the host, answers to commands included."""
    events_lost: int
    """Events that got lost (a fault)."""
    scans: int
    """Scans."""
    beacon_losses: int
    """Times that the firmware said that the connection is lost."""


class Mt7921uStatistics(Model):
    """What an MT7921U has counted."""

    chip: Mt7921uCounters
    """Registers and the firmware."""
    assumptions: Mt7921uAssumptions
    """What is assumed of the chip."""
    tx: Mt7921uTxCounters
    """The transmitter."""
    rx: Mt7921uRxCounters
    """The receiver."""
    power: SleepCounters
    """Power save."""
    air: AirCounters
    """The air."""
    ap: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Mt7610uRxCounters(Model):
    """What the receiver of an MT7610U or MT7601U has done."""

    frames: int
    """Frames that came off the air whole."""
    delivered: int
    """Frames handed to the driver."""
    bytes: int
    """Bytes of them."""
    filtered: int
    """Frames that the filters kept back."""
    overflows: int
    """Frames that found the buffer full (they are not acknowledged either)."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""


class Mt7610uTxCounters(Model):
    """What the transmitter of an MT7610U or MT7601U has done."""

    frames: int
    """Frames of the host."""
    aggregate: int
    """Those among them that may be aggregated."""
    malformed: int
    """Transfers that hold no frame."""
    encrypted: int
    """Frames that the chip encrypted."""
    not_encrypted: int
    """Frames with a key for a cipher that is not modelled; they are not sent."""
    queue_full: int
    """Times that bulk OUT began to be NAKed."""
    beacons: int
    """Frames of the beacon's memory: beacons, and what is sent behind them."""
    beacons_missed: int
    """Times that beacons were due while some of the time before still waited: none are sent then."""
    given_up: int
    """Frames given up after their last retry."""
    asleep: int
    """Frames to stations that sleep, dropped."""
    reports: int
    """Reports of transmission."""
    reports_lost: int
    """Reports that found no room."""


class McuCounters(Model):
    """What the MCU was asked for."""

    firmware_bytes: int
    """Bytes of firmware."""
    commands: int
    """Commands."""
    calibrations: int
    """Calibrations among them, which succeed at once."""
    ignored: int
    """Commands to an MCU that does not run, or that are damaged."""


class Mt7610uAssumptions(Model):
    """What is assumed of an MT7610U or MT7601U: `--assume`."""

    tx_queue_frames: int = Field(alias="tx-queue-frames")
    """Frames that each queue takes before bulk OUT is NAKed."""
    tx_reports: int = Field(alias="tx-reports")
    """Reports of transmission that wait to be read; what comes while they do is lost."""
    rx_frames: int = Field(alias="rx-frames")
    """Received frames that wait to be fetched."""
    aggregates: str
    """What goes into an A-MPDU. `any`: all in the queue that are for the same station and TID; `neighbours`: only
    those that follow each other."""
    vendor_request_us: int = Field(alias="vendor-request-us")
    """Time that a vendor request takes on the bus and in the chip, us. The guest adds some 5 at 1,000 and some 9 at
    500 million instructions a second (usbmon of a guest, n = 1,624 and 1,617), so that the driver waits some 220.
    Calibrated from public usbmon captures of four other high-speed devices on Linux hosts, with vendor requests that
    took 48, 207, 270 (reads) or 372 (writes) and 420 us in the median (n = 8 to 162). On the bus alone a device took
    27 to 114 us for a control read (n = 30, Packetry's capture `address-reuse`). A comment in mt7601u has about 200
    for each read of a register (mac.c, mt7601u_mac_work)."""


class Mt7610uCounters(Model):
    """Vendor requests."""

    reads: int
    """Vendor requests that read."""
    writes: int
    """Vendor requests that write."""


class Mt7610uStatistics(Model):
    """What an MT7610U or MT7601U has counted."""

    chip: Mt7610uCounters
    """Vendor requests."""
    assumptions: Mt7610uAssumptions
    """What is assumed of the chip."""
    mcu: McuCounters
    """Its microcontroller."""
    tx: Mt7610uTxCounters
    """The transmitter."""
    rx: Mt7610uRxCounters
    """The receiver."""
    air: AirCounters
    """The air."""
    peers: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points, or the stations."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class PowerCounters(Model):
    """What power save has done."""

    announced: int
    """Times that the access point has acknowledged that the chip sleeps."""
    asleep_ns: int
    """Time asleep as far as the access point knows, ns. Listening to beacons counts as sleep."""
    polls: int
    """PS-Polls sent."""
    missed: int
    """Frames of the own network, to the station or to groups, that came while the receiver was off."""


class Rtl8822buRxCounters(Model):
    """What the receiver of an RTL8822BU has done."""

    frames: int
    """Frames that came off the air whole."""
    delivered: int
    """Frames handed to the driver."""
    bytes: int
    """Bytes of them."""
    transfers: int
    """Bulk IN transfers; on PCI buffers."""
    filtered: int
    """Frames that the filters kept back."""
    overflows: int
    """Frames that found the receive buffer full (they are not acknowledged either)."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""


class Rtl8822buTxCounters(Model):
    """What the transmitter of an RTL8822BU has done."""

    frames: int
    """Frames from the driver."""
    aggregated_transfers: int
    """Transfers that held several of them."""
    bad_checksums: int
    """Descriptors with a wrong checksum: the frame is dropped."""
    malformed: int
    """Transfers in which a descriptor and frame could not be found."""
    aggregate: int
    """Frames that may be part of an A-MPDU."""
    rts: int
    """Frames with RTS."""
    reported: int
    """Frames that the firmware was to report on."""
    driver_rate: int
    """Frames at the driver's rate."""
    encrypted: int
    """Frames that the chip encrypted."""
    no_key: int
    """Frames for which there was no key."""
    given_up: int
    """Frames given up after the last retry."""
    buffer_full: int
    """Times that a bulk OUT endpoint was NAKed, or a ring was not read on, because the packet buffer was full
    (counted once per wait)."""


class Rtl8822bsBusCounters(Model):
    """What the bus of an RTL8822BS has done."""

    taken: int
    """Transfers from the host that the MAC has taken: each has one frame, page or command."""
    lost: int
    """Transfers from the host that were lost, because there was no room for their frame, or DMA was off."""
    page_reads: int
    """Times that the host has read how many pages of the high and the normal place are free: its first question
    before each frame."""
    fetched: int
    """Transfers in which the host has read what was received."""
    empty_reads: int
    """Such reads with nothing to read."""
    indirect: int
    """Registers of the MAC that were read or written by registers of the bus."""


class Rtl8822buAssumptions(Model):
    """What is assumed of an RTL8822BU: `--assume`."""

    adaptation_sample: int = Field(alias="adaptation-sample")
    """Rate control of the firmware (its algorithm is not known): MPDUs of one decision at least."""
    adaptation_interval_ms: int = Field(alias="adaptation-interval-ms")
    """Time between two decisions at least, ms."""
    adaptation_down: float = Field(alias="adaptation-down")
    """It goes one rate down when a smaller part of the MPDUs than this was acknowledged."""
    adaptation_up: float = Field(alias="adaptation-up")
    """It goes one rate up when a larger part was."""
    report_form: str = Field(alias="report-form")
    """How a transmission is reported. `extended`: C2H_HALMAC with C2H_CCX_RPT inside; `plain`: C2H_CCX_TX_RPT."""
    ampdu_time_us: int = Field(alias="ampdu-time-us")
    """What AMPDU_MAX_TIME_V1 counts in, us: with rtw88's 0x70 and 32 us that is 3.6 ms."""
    rx_threshold_bytes: int = Field(alias="rx-threshold-bytes")
    """What the threshold of receive aggregation counts in, bytes: rtw88's 5 are then 20 KiB, which fit its buffers
    of 32 KiB."""
    rx_timeout_us: int = Field(alias="rx-timeout-us")
    """What the timeout of receive aggregation counts in, us: rtw88's 32 are then 1 ms."""


class Rtl8822buCounters(Model):
    """Registers and the firmware."""

    reads: int
    """Register reads."""
    writes: int
    """Register writes."""
    firmware_bytes: int
    """Bytes of firmware in the chip's memories."""
    commands: int
    """Commands to the firmware by mailboxes."""
    packets: int
    """Commands to the firmware by the queue of commands."""
    calibrations: int
    """Calibrations among them, which succeed at once."""
    pages_written: int
    """Transfers for the packet buffer: parts of the firmware, and templates."""
    reports: int
    """Reports of the firmware to the host."""
    reports_lost: int
    """Reports that got lost: a fault, or the receive buffer was full."""


class Rtl8822bsStatistics(Model):
    """What an RTL8822BS has counted."""

    sdio: SdioStatistics
    """The host controller and the card."""
    chip: Rtl8822buCounters
    """Registers of the MAC, and the firmware."""
    assumptions: Rtl8822buAssumptions
    """What is assumed of the chip."""
    bus: Rtl8822bsBusCounters
    """What goes over the registers of the bus."""
    tx: Rtl8822buTxCounters
    """The transmitter."""
    rx: Rtl8822buRxCounters
    """The receiver."""
    power: PowerCounters
    """Power save."""
    air: AirCounters
    """The air."""
    ap: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Rtl8822beBusCounters(Model):
    """What the bus of an RTL8822BE has done."""

    interrupts: int
    """Times that the interrupt line was raised."""
    fetched: int
    """Descriptors of frames and commands that were read."""
    pages: int
    """Pages for the packet buffer that were read by the beacon queue."""
    filled: int
    """Buffers that were filled for the host."""
    no_buffer: int
    """Times that a frame or report waited because the host had no buffer for it (counted once per wait)."""
    too_long: int
    """Frames and reports that were longer than their buffer: they are lost."""


class Rtl8822beStatistics(Model):
    """What an RTL8822BE has counted."""

    chip: Rtl8822buCounters
    """Registers of the MAC, and the firmware."""
    assumptions: Rtl8822buAssumptions
    """What is assumed of the chip."""
    bus: Rtl8822beBusCounters
    """The bus."""
    tx: Rtl8822buTxCounters
    """The transmitter."""
    rx: Rtl8822buRxCounters
    """The receiver."""
    power: PowerCounters
    """Power save."""
    air: AirCounters
    """The air."""
    ap: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Rtl8822buStatistics(Model):
    """What an RTL8822BU has counted."""

    chip: Rtl8822buCounters
    """Registers and the firmware."""
    assumptions: Rtl8822buAssumptions
    """What is assumed of the chip."""
    tx: Rtl8822buTxCounters
    """The transmitter."""
    rx: Rtl8822buRxCounters
    """The receiver."""
    power: PowerCounters
    """Power save."""
    air: AirCounters
    """The air."""
    ap: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Rtl8188cusRxCounters(Model):
    """What the receiver of an RTL8188CUS has done."""

    frames: int
    """Frames that came off the air whole."""
    delivered: int
    """Frames handed to the driver."""
    bytes: int
    """Bytes of them."""
    transfers: int
    """Bulk IN transfers."""
    filtered: int
    """Frames that the filters kept back."""
    overflows: int
    """Frames that found the receive buffer full (they are not acknowledged either)."""
    decrypted: int
    """Frames that the chip decrypted."""
    integrity_errors: int
    """Frames with an integrity check that failed."""


class ReportTally(Model):
    """The fate of frames."""

    retries: list[int]
    """Frames that arrived: at once, after one, two, three, and four or more retries."""
    given_up: int
    """Frames that were given up."""


class ReportCounters(Model):
    """Transmit reports."""

    sent: int
    """Reports put into the receive buffer."""
    lost: int
    """Reports that found no room there, or that the fault `lost_c2h` took: what they counted is lost."""
    counted: ReportTally
    """What the MAC has counted, of all stations."""
    reported: ReportTally
    """What the reports that were sent say, of all stations. Less than `counted` by lost reports, by what came after
    the last report, by stations that are not in reports, by counters that were full, and by what was cleared when
    the MAC was switched off."""


class Rtl8188cusTxCounters(Model):
    """What the transmitter of an RTL8188CUS has done."""

    frames: int
    """Frames from the driver."""
    bad_checksums: int
    """Descriptors with a wrong checksum: the frame is dropped."""
    malformed: int
    """Transfers in which no descriptor and frame could be found."""
    reserved: int
    """Frames for the beacon queue: they are kept back."""
    aggregate: int
    """Frames with AGG_ENABLE."""
    rts: int
    """Frames with RTS_CTS_ENABLE."""
    cts_to_self: int
    """Frames with CTS_SELF_ENABLE."""
    hardware_rts: int
    """Frames with HW_RTS_ENABLE."""
    rts_rates: list[int]
    """Frames by RTS rate: 1, 2, 5.5 Mbit/s and so on."""
    encrypted: int
    """Frames that the chip encrypted."""
    no_key: int
    """Frames for which there was no key."""
    given_up: int
    """Frames given up after the last retry."""
    buffer_full: int
    """Times that a bulk OUT endpoint was NAKed because the packet buffer was full (counted once per wait)."""


class Rtl8188euAssumptions(Model):
    """What is assumed of an RTL8188EU: `--assume`."""

    fallback_counts: str = Field(alias="fallback-counts")
    """What DARFRC and RARFRC count. `rates`: byte n says how many rates below the first one the n-th retry is sent;
    `retries`: each byte that is not 0 is a number of retries from which on one rate more is given up."""
    fallback_order: str = Field(alias="fallback-order")
    """Which rate comes below another one. `slower`: the next slower one of its class; below MCS 0 6 Mbit/s, below 6
    Mbit/s 5.5 Mbit/s; `index`: the next lower descriptor number: below MCS 0 54 Mbit/s, below 6 Mbit/s 11 Mbit/s."""
    fallback_beyond: str = Field(alias="fallback-beyond")
    """From the ninth retry on. `last`: the eighth; `lowest`: none: the lowest rate of the table."""
    rts_retries: str = Field(alias="rts-retries")
    """Retries of RTS. `apart`: counted apart: they were not sent, so they are not retries; `with-data`: an attempt
    of theirs."""
    rts_table: str = Field(alias="rts-table")
    """Rates of RTS. `responses`: in the set of response rates (0x440); `all`: all legacy rates are."""
    aggregate_limit: str = Field(alias="aggregate-limit")
    """Most MPDUs of an A-MPDU. `register`: as many as MAX_AGGR_NUM (0x4ca) says: rtl8xxxu writes 7 for this chip, 20
    for an RTL8723B, 31 for an RTL8192F, which fits the five bits of the descriptor's limit (core.c,
    rtl8xxxu_init_mac; 8723b.c and 8192f.c, max_aggr_num); `fixed`: 20, as for an RTL8188CUS."""
    report_frames: str = Field(alias="report-frames")
    """Which frames transmit reports count. `all`: all frames of the driver that must be acknowledged; `data`: only
    data frames."""
    report_counters: str = Field(alias="report-counters")
    """What happens to a counter of a report that is full. `stays`: it stays at its largest value; `wraps`: it starts
    again from 0."""


class Rtl8188cusCounters(Model):
    """Registers, interrupts and commands."""

    reads: int
    """Register reads."""
    writes: int
    """Register writes."""
    interrupts: int
    """Transfers of the interrupt endpoint."""
    commands: int
    """Commands to the firmware."""


class Rtl8188euStatistics(Model):
    """What an RTL8188EU has counted."""

    chip: Rtl8188cusCounters
    """Registers and commands; it has no interrupt endpoint."""
    assumptions: Rtl8188euAssumptions
    """What is assumed of the chip."""
    tx: Rtl8188cusTxCounters
    """The transmitter."""
    reports: ReportCounters
    """Transmit reports."""
    rx: Rtl8188cusRxCounters
    """The receiver."""
    air: AirCounters
    """The air."""
    ap: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class Rtl8188cusAssumptions(Model):
    """What is assumed of an RTL8188CUS: `--assume`."""

    fallback_counts: str = Field(alias="fallback-counts")
    """What DARFRC and RARFRC count. `rates`: byte n says how many rates below the first one the n-th retry is sent;
    `retries`: each byte that is not 0 is a number of retries from which on one rate more is given up."""
    fallback_order: str = Field(alias="fallback-order")
    """Which rate comes below another one. `slower`: the next slower one of its class; below MCS 0 6 Mbit/s, below 6
    Mbit/s 5.5 Mbit/s; `index`: the next lower descriptor number: below MCS 0 54 Mbit/s, below 6 Mbit/s 11 Mbit/s."""
    fallback_table: str = Field(alias="fallback-table")
    """The table of rate IDs 0 to 11. `mask`: in the mask of rates that the driver gave the firmware for the station;
    `arfr`: in the ARFR register with the number of the rate ID, modulo 4."""
    fallback_beyond: str = Field(alias="fallback-beyond")
    """From the ninth retry on. `last`: the eighth; `lowest`: none: the lowest rate of the table."""
    rts_retries: str = Field(alias="rts-retries")
    """Retries of RTS. `apart`: counted apart: they were not sent, so they are not retries; `with-data`: an attempt
    of theirs."""
    rts_table: str = Field(alias="rts-table")
    """Rates of RTS. `responses`: in the set of response rates (0x440); `all`: all legacy rates are."""
    adaptation_sample: int = Field(alias="adaptation-sample")
    """Rate adaptation: MPDUs of one decision at least."""
    adaptation_interval_ms: int = Field(alias="adaptation-interval-ms")
    """Rate adaptation: shortest time between two decisions, ms."""
    adaptation_down: float = Field(alias="adaptation-down")
    """Rate adaptation: a lower first rate when less than this part of the MPDUs got through."""
    adaptation_up: float = Field(alias="adaptation-up")
    """Rate adaptation: a higher first rate when more than this part did."""


class Rtl8188cusStatistics(Model):
    """What an RTL8188CUS or RTL8723AU has counted."""

    chip: Rtl8188cusCounters
    """Registers, interrupts and commands."""
    assumptions: Rtl8188cusAssumptions
    """What is assumed of the chip."""
    tx: Rtl8188cusTxCounters
    """The transmitter."""
    rx: Rtl8188cusRxCounters
    """The receiver."""
    power: PowerCounters
    """Power save."""
    air: AirCounters
    """The air."""
    ap: NoPeers | HostapdStatistics | StationsStatistics | AccessPointsStatistics | BuiltinStatistics
    """The access points."""
    faults: list[FaultCounters] | None = None
    """Faults of its script; null for a device that no script is around."""


class UrbCounters(Model):
    """What a session has done."""

    submitted: int
    """URBs that came."""
    succeeded: int
    """URBs that went back with status 0."""
    stalled: int
    """URBs that ended with a STALL."""
    babbled: int
    """URBs that ended with babble."""
    failed: int
    """URBs that went back with another status."""
    unlinked: int
    """URBs that the host took back in time."""
    out_bytes: int
    """Bytes of OUT data taken, endpoint 0 not counted."""
    in_bytes: int
    """Bytes of IN data given, endpoint 0 not counted."""


class Statistics(Model):
    """Everything that was counted up to a moment."""

    format: str
    """Always `"txop-vusb-statistics"`."""
    version: int
    """Layout version: 1. Raised when a field changes its meaning or goes."""
    monotonic_ns: int
    """When that was, by CLOCK_MONOTONIC (/proc/uptime without suspend), ns."""
    epoch_ns: int
    """What has to be added to it for the time stamps of the captures, ns."""
    urbs: UrbCounters
    """The bus."""
    device: (
        Rtl8188cusStatistics
        | Rtl8188euStatistics
        | Rtl8822buStatistics
        | Rtl8822beStatistics
        | Rtl8822bsStatistics
        | Mt7610uStatistics
        | Mt7921uStatistics
        | Ar6003Statistics
        | Sd8686Statistics
        | Ar9280Statistics
        | NcmStatistics
        | MbimStatistics
        | EcmStatistics
        | QmiModemStatistics
        | None
    )
    """The device; null when it counts nothing."""
