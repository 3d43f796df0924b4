"""Typed objects for everything in a `txop-bus` document (docs/bus-json.md).

Null in the document is ``None`` here and means *not available*, never zero.

Made by scripts/contract.py from docs/schema: change the structs in Rust instead.
"""

from __future__ import annotations

from pydantic import Field

from txop.present.document import Model
from txop.present.report_parts import DamageNote, Figure, Window


class SdioRegister(Model):
    """Commands to one register or mailbox."""

    command: str
    """`CMD52` or `CMD53`."""
    direction: str
    """`in` (to the host) or `out`."""
    function: int
    """Function of the card; 0 is the card itself."""
    address: str
    """Address of the register, or where the mailbox begins, hexadecimal."""
    name: str | None
    """Its name, where it is known."""
    commands: int
    """Commands."""
    bytes: int
    """Their bytes."""


class SdioPackets(Model):
    """Packets that CMD53 carried."""

    protocol: str
    """How they are framed: `htc` (Atheros), `marvell-port` (SD8686)."""
    to_card: int
    """Packets to the card."""
    to_card_transfers: int
    """Transfers that carried them, each of one CMD53 or more."""
    to_host: int
    """Packets to the host."""
    to_host_transfers: int
    """CMD53 that completed them."""
    per_transfer_to_card: float | None
    """Packets per transfer to the card."""
    per_transfer_to_host: float | None
    """Packets per transfer to the host."""
    commands_per_packet: float | None
    """All CMD52 and CMD53 per packet, those without a packet included."""
    cmd52_per_packet: float | None
    """CMD52 per packet."""


class Spread(Model):
    """Percentiles of a quantity, read from a histogram (minimum, maximum and mean are exact)."""

    n: int
    """Samples."""
    min: float
    """Smallest."""
    p5: float
    """5th percentile."""
    median: float
    """Median."""
    p95: float
    """95th percentile."""
    p99: float
    """99th percentile."""
    max: float
    """Largest."""
    mean: float
    """Mean."""
    resolution: float | None = None
    """How wide the buckets of the histogram are, as part of the numbers in them: percentiles are right to half of
    it. 1/2,048, unless the numbers lie very far apart; older documents lack it, and theirs is 1/32."""


class Sdio(Model):
    """What went over an SDIO bus, by the command log of its host controller."""

    records: int
    """Records of the log: commands, and changes of the interrupt line."""
    card: str | None
    """Manufacturer and card by its information structure, hexadecimal; null when the host's reading of it is not in
    the log."""
    card_name: str | None
    """Its name, where it is known."""
    bus_time: bool | None
    """Whether commands took their time on the wires, as the controller modelled it; null: some did, others did not."""
    clock_hz: int | None
    """Clock of the bus at the end, Hz; null when the host has set none."""
    bus_width: int | None
    """Lines of the data bus at the end; null when the host has set none."""
    commands: int
    """Commands, whatever the outcome."""
    commands_per_s: float | None
    """Commands per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within a second,
    and within 10 ms. So are all rates here."""
    cmd52: int
    """CMD52: a register of one byte."""
    cmd52_reads: int
    """Those that read."""
    cmd52_writes: int
    """Those that write."""
    cmd53: int
    """CMD53: several bytes."""
    cmd53_reads: int
    """Those that read."""
    cmd53_writes: int
    """Those that write."""
    cmd53_block_mode: int
    """Those in block mode."""
    cmd52_share: float | None
    """`cmd52` of `cmd52` and `cmd53`."""
    cmd52_per_s: float | None
    """CMD52 per second."""
    cmd53_per_s: float | None
    """CMD53 per second."""
    read_bytes: int
    """Bytes that CMD53 read."""
    written_bytes: int
    """Bytes that CMD53 wrote."""
    read_size_bytes: Spread | None
    """Bytes of a CMD53 that read and succeeded."""
    written_size_bytes: Spread | None
    """Bytes of a CMD53 that wrote and succeeded."""
    cut_commands: int
    """Commands with data that are not all in the log."""
    unanswered: int
    """Commands that the card did not answer; the host asks for what an SDIO card does not know while it enumerates."""
    refused: int
    """CMD52 and CMD53 with a response that has an error."""
    wrong_crc: int
    """Commands with data or a response that came to the host with a wrong CRC."""
    failed_transfers: int
    """CMD52 and CMD53 without an answer, refused, or with a wrong CRC."""
    unanswered_transfers: int | None = None
    """Those without an answer."""
    not_fetched: int
    """Commands with a status that the host never fetched."""
    took_us: Spread | None
    """From a command to the host's having its status."""
    cmd52_took_us: Spread | None
    """The same of CMD52."""
    cmd53_took_us: Spread | None
    """The same of CMD53."""
    turnaround_us: Spread | None
    """From the status of a command to the next command: the host's time."""
    busy_us: float | None
    """Time with a command under way."""
    span_us: float | None
    """From the first command to the end of the last."""
    interrupts: int
    """Times that the card's interrupt line rose."""
    interrupts_per_s: float | None
    """The same per second."""
    interrupt_response_us: Spread | None
    """From a rise to the first command that began after it, where the line was still up then."""
    pending_reads: int
    """CMD52 that read Interrupt Pending: how a host without interrupts polls, and how one with them asks which
    function it is from."""
    pending_reads_idle: int
    """Those that found nothing."""
    packets: SdioPackets | None
    """Packets of the network; null where the log does not show them."""
    registers: list[SdioRegister]
    """Registers and mailboxes by commands, the most frequent first, 64 at most."""
    other_commands: int
    """CMD52 and CMD53 that went elsewhere."""


class AgreedDirection(Model):
    """One direction of a data format."""

    asked: str | None
    """Aggregation that the host asked for: `no aggregation`, `QMAP`, `QMAPv4`, `QMAPv5`, ...; null: it did not say."""
    asked_datagrams: int | None
    """Datagrams of a transfer that the host asked for."""
    asked_bytes: int | None
    """Bytes of a transfer that the host asked for."""
    agreed: str | None
    """Aggregation that the modem answered."""
    datagrams: int | None
    """Datagrams of a transfer at most, by the modem's answer; null where it names no limit."""
    bytes: int | None
    """Bytes of a transfer at most."""
    transfers: int | None
    """Bulk transfers with data while this was in force; null when it never was."""
    cut_transfers: int | None
    """Those in QMAP that the capture cut off: their datagrams are those seen."""
    unread_transfers: int | None = None
    """Those of `transfers` in no framing of datagrams that is known; nothing is compared of them."""
    beyond: int | None
    """Those with more datagrams or bytes than agreed, as far as seen; null where nothing was agreed on."""
    first_beyond_record: int | None
    """Record number of the first of them."""
    most_datagrams: int | None
    """Most datagrams seen in a QMAP transfer; a lower bound where the capture cut transfers off."""
    most_bytes: int | None
    """Bytes of the largest."""
    other_framing: int | None
    """Transfers of another framing than agreed: IP without QMAP, or QMAP where it was switched off."""


class DataFormat(Model):
    """An answer of a modem to WDA Set Data Format or Get Data Format, and what was done from then on to the next."""

    device: str
    """Device, as in `Device.name`."""
    request: str
    """`set` or `get`."""
    record: int
    """Number of the record with the answer."""
    after_window: bool | None = None
    """It came at the end of the window or later: no transfer of the window was sent under it. null in older
    documents."""
    time_us: int | None
    """Its time; negative before the window. null without a clock."""
    refused: str | None
    """Why the modem refused; null when it did not."""
    asked_link: str | None
    """Link protocol that the host asked for."""
    link: str | None
    """Link protocol that the modem answered."""
    uplink: AgreedDirection
    """From the host to the modem."""
    downlink: AgreedDirection
    """From the modem to the host."""


class QmiMessage(Model):
    """QMI messages of one kind."""

    device: str
    """Device, as in `Device.name`."""
    service: str
    """Service, for example `WDA`; its number where the name is not known."""
    message: str | None
    """Name of the message, where it is known."""
    code: str
    """Its number, hexadecimal."""
    requests: int
    """Requests of the host."""
    answers: int
    """Answers of the modem, refusals included."""
    refused: int
    """Answers that refuse."""
    indications: int
    """Indications: what the modem sent unasked."""
    errors: list[str]
    """Why it refused, each reason once."""


class Request(Model):
    """Control requests with the same request type and number."""

    device: str
    """Device, as in `Device.name`."""
    code: str
    """bmRequestType and bRequest, hexadecimal: `80 06`."""
    direction: str
    """`in` or `out`."""
    kind: str
    """`standard`, `class`, `vendor` or `reserved`."""
    name: str | None
    """Its name, where the numbers alone give it."""
    count: int
    """How often it was submitted."""
    failed: int | None
    """Completions of it that failed; null where no status is recorded."""
    bytes: int
    """Bytes of its data stages, as far as they are known."""
    bytes_unknown: int | None = None
    """Completions of it with bytes that the capture does not show, or not all."""


class Bar(Model):
    """One bar of a histogram: `low` to below `high`."""

    low: int
    """Inclusive lower edge."""
    high: int
    """Exclusive upper edge."""
    count: int
    """Samples in it."""


class Traffic(Model):
    """What transfers of one endpoint carry, in one framing."""

    device: str
    """Device, as in `Device.name`."""
    endpoint: str
    """Endpoint address, hexadecimal."""
    direction: str
    """`in` (downlink, to the host) or `out` (uplink)."""
    framing: str
    """`qmap`, `raw-ip`, `ntb16`, `ntb32`, `rndis`, `ethernet`, `realtek`, `mass-storage` or `other`."""
    transfers: int
    """Transfers with data."""
    bytes: int
    """Their bytes."""
    per_s: float | None
    """Transfers completed per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within
    a second, and within 10 ms."""
    peak_per_s: float | None
    """Transfers completed in the busiest second."""
    handed_over_per_s: float | None = None
    """Transfers to the device handed over per second, as far as their submissions are in the capture; null to the
    host."""
    whole_transfers: int
    """Transfers with datagrams that are all known."""
    cut_transfers: int | None
    """Transfers with datagrams that the capture cut off; null when nothing is framed."""
    counted_by_table: int | None = None
    """Transfers that the capture cut and with all datagrams counted: by the length of a pointer table (NTB), or by
    the number of packets in the first descriptor (Realtek, to the host). null of other framings, and where a table
    of the endpoint ends before its length says, or a number is not that of the packets: then such transfers count as
    cut."""
    datagrams: int
    """Datagrams seen, in whole and cut transfers, with those known by number only (`counted_by_table`)."""
    datagrams_at_least: int
    """Datagrams there must be at least: those seen, and what the cut-off bytes take if none is larger than 1,514
    bytes or the largest seen. The cut-off bytes of a block (NTB) may be padding: it has one datagram where none is
    known."""
    datagrams_at_most: int | None = None
    """Datagrams there can be at most: those seen, and one for each 18 of the cut-off bytes."""
    datagrams_per_transfer: float | None
    """Datagrams per transfer, exactly; null when the datagrams of some transfers are not all known
    (`cut_transfers`), so that only bounds are (`at_least_per_transfer`), or nothing is framed."""
    at_least_per_transfer: float | None
    """`datagrams_at_least` per transfer."""
    at_most_per_transfer: float | None = None
    """`datagrams_at_most` per transfer."""
    most_datagrams: int
    """Most datagrams seen in one transfer."""
    datagram_histogram: list[Bar]
    """Datagrams per whole transfer, as a histogram."""
    payload_bytes: int
    """Bytes of the datagrams of whole transfers."""
    header_bytes: int
    """Bytes of headers and tables of whole transfers."""
    padding_bytes: int
    """Bytes that are neither, in whole transfers: padding."""
    padding_share: float | None
    """`padding_bytes` of all bytes of whole transfers."""
    pure_acks: int
    """Datagrams that are TCP acknowledgements without data."""
    judged_datagrams: int
    """Datagrams of which it is known whether they are such acknowledgements."""
    ack_only_transfers: int
    """Whole transfers that carry nothing but such acknowledgements."""
    judged_transfers: int
    """Whole transfers of which it is known whether they carry nothing else."""
    ack_only_share: float | None
    """`ack_only_transfers` of `judged_transfers`."""
    commands: int
    """Commands of the framing protocol (QMAP flow control, transmit reports of an RTL8188E)."""
    mux_ids: list[int]
    """Multiplexed connections or sessions seen."""
    sequence_gaps: int | None
    """Times the sequence number of blocks jumped."""
    missing_blocks: int | None
    """Blocks that those jumps leave out."""
    same_address_transfers: int
    """Ethernet frames with the same source and destination address: without a recipient."""
    first_transfer_bytes: int
    """Bytes of the first transfer."""
    faulty_transfers: int
    """Transfers that break the rules of their framing."""
    fault_examples: list[str]
    """The first few, with record number and offset in the transfer."""


class RateBin(Model):
    """Completions in a bin of time."""

    start_us: int
    """Its start."""
    completions: int
    """Completions."""
    bytes: int
    """Bytes they transferred."""


class Gap(Model):
    """A time without a completion."""

    start_us: int
    """When it began."""
    length_us: int
    """How long it was."""
    in_flight: int
    """Requests that were under way when it began."""


class StatusCount(Model):
    """How often requests ended like this."""

    code: str
    """As recorded: a negative error number (Linux) or a hexadecimal USBD_STATUS (Windows)."""
    name: str
    """Its name."""
    meaning: str
    """What it means."""
    count: int
    """Completions."""


class Endpoint(Model):
    """One endpoint in one direction."""

    device: str
    """Device, as in `Device.name`."""
    address: str
    """Address with the direction in bit 7, hexadecimal."""
    direction: str
    """`in` (to the host) or `out`."""
    transfer: str
    """`control`, `bulk`, `interrupt` or `isochronous`."""
    interface: int | None
    """Interface it belongs to."""
    max_packet_bytes: int | None
    """Largest packet by its descriptor."""
    submissions: int
    """Requests handed to the host controller."""
    completions: int
    """Requests that came back."""
    submission_errors: int
    """Requests refused."""
    unmatched_completions: int | None = None
    """Completions with a submission that is not in the capture."""
    lost_submissions: int | None = None
    """Submissions that are missing, as the order in which requests come back shows: of completions without
    submission after the completion of a request that was handed over in the capture, and of completions with the
    identifier of a request that had come back before."""
    lost_completions: int | None = None
    """Submissions with a missing completion: a later request of the endpoint succeeded, or their identifier was used
    again."""
    bytes: int | None
    """Bytes transferred, by the completions; a lower bound where it is not known of some (`bytes_unknown`), and null
    where of all."""
    bytes_unknown: int | None = None
    """Completions with bytes that the capture does not show, or not all: USBPcap has those to the device in the
    submission only, and of transfers to the device that failed nowhere; a UsbSnoop log may show their beginning
    only."""
    requested_bytes: int | None
    """Bytes that submissions asked for or carried; null where the layer does not record it."""
    requested_size_bytes: Spread | None
    """Sizes of the buffers that submissions offered."""
    size_bytes: Spread | None
    """Sizes of the completed transfers."""
    size_histogram: list[Bar]
    """Sizes of the completed transfers by powers of two."""
    turnaround_us: Spread | None
    """From submission to completion, of requests that succeeded."""
    interval_us: Spread | None
    """From one completion to the next."""
    in_flight_max: int | None
    """Requests under way at once, at most. A lower bound when the capture began in the middle; null where it lacks
    the submissions of most completions, or completions (`lost_completions`), or steps back in time
    (`steps_back_us`)."""
    in_flight_mean: float | None
    """Mean over time between the first and the last record of the endpoint; null of one request."""
    per_s: float | None
    """Completions per second, mean from the first to the last; null of fewer than 3, of fewer than 20 within a
    second, and within 10 ms."""
    peak_per_s: float | None
    """Completions in the busiest second, whenever it begins; null below a second, and where none has as many as the
    mean says."""
    mbit_s: float | None
    """Mean throughput in that time."""
    statuses: list[StatusCount]
    """Completions by status, the most frequent first."""
    errors: int | None
    """Completions that are neither success nor cancelled by the driver; null where no status is recorded."""
    iso_errors: int
    """Isochronous packets with an error."""
    gaps: list[Gap]
    """The longest times without a completion in all of which some request was under way."""
    are_gaps_known: bool | None = None
    """Whether gaps are known: not where completions are missing, which leave gaps in the capture, nor where time
    steps back."""
    bin_us: int
    """Width of the bins of `series`."""
    series: list[RateBin]
    """Completions over time."""


class Interface(Model):
    """An interface, or an alternate setting of one."""

    number: int
    """Its number."""
    alternate: int
    """Alternate setting."""
    class_codes: str
    """Class, subclass and protocol, hexadecimal: `02/0d/00`."""
    class_name: str
    """In words."""
    endpoints: list[str]
    """Its endpoints: address, type and largest packet."""


class Device(Model):
    """One device at one address."""

    name: str
    """Bus and address, `1.2`."""
    bus: int
    """Number of the bus."""
    address: int
    """Address on it."""
    vendor_id: str | None
    """Vendor, hexadecimal; null when its descriptor was not seen."""
    product_id: str | None
    """Product, hexadecimal."""
    manufacturer: str | None
    """Manufacturer by its string descriptor."""
    product: str | None
    """Product by its string descriptor."""
    usb_version: str | None
    """USB version it claims, for example `2.00`."""
    device_version: str | None
    """Version of the device, for example `3.18`."""
    speed: str | None
    """`low`, `full`, `high` or `super`, as far as packet sizes show."""
    kind: str
    """What it is: `qmi`, `ncm`, `mbim`, `ecm`, `rndis`, `raw-ip`, `realtek-wifi`, `atheros-wifi`, `mass-storage`,
    `hid`, `hub`, `bluetooth`, `serial`, `other` or `unknown`; `default-address` is not a device, but address 0,
    where devices are asked before they are given an address."""
    kind_name: str
    """The same in words."""
    kind_by: str
    """`descriptor`, `content`, `both` or `none`."""
    evidence: list[str]
    """Why."""
    interfaces: list[Interface]
    """Interfaces of its configuration; empty when it was not seen."""
    completions: int
    """Completed requests."""
    bytes_out: int | None
    """Bytes from the host, as far as they are known; null where they are of no request."""
    bytes_out_unknown: int | None = None
    """Completions from the host with bytes that are not known."""
    bytes_in: int
    """Bytes to the host; a lower bound where more may have come than is shown (`bytes_in_unknown`)."""
    bytes_in_unknown: int | None = None
    """Completions to the host of which more bytes may have come than a log shows (UsbSnoop)."""
    enumerations: int
    """Times it was given this address."""
    earlier_ids: list[str] = Field(default_factory=list)
    """Vendor and product of the devices that had this address before, as far as they are known and differ; its
    figures are of all."""


class Verdict(Model):
    """A conclusion."""

    code: str
    """Stable identifier: `uplink-not-aggregated`, `raw-ip-misuse`, `errors`, ..."""
    tone: str
    """`bad`, `good` or `neutral`."""
    device: str | None
    """Device it is about, as in `Device.name`; null for the whole capture."""
    text: str
    """In words."""
    evidence: list[str]
    """What it rests on, in words."""
    figures: list[Figure] = Field(default_factory=list)
    """The figures of the text, then those of the evidence, each with its n."""


class Limit(Model):
    """Something that the capture cannot show."""

    code: str
    """Stable identifier: `snap`, `text-32-bytes`, `dropped`, `no-clock`, `irp-layer`, `no-descriptors`, ..."""
    text: str
    """In words."""


class LinkTypeCount(Model):
    """A link type."""

    number: int
    """LINKTYPE number; 0 for text."""
    name: str
    """Its name."""
    records: int
    """Records."""


class Summary(Model):
    """What the capture is, and what it cannot show."""

    container: str
    """`pcap`, `pcapng`, `usbmon-text` or `usbsnoop-text`."""
    compression: str
    """`none`, `gzip` or `zstd`."""
    layer: str
    """Where the requests were seen: `urb` (Linux, between driver and host controller), `irp` (Windows, above the
    root hub), `urb-log` (a Windows driver log), `sdio` (commands of an SDIO bus, in its host controller), `mixed`,
    or `none`."""
    link_types: list[LinkTypeCount]
    """Link types with their record counts."""
    not_usb: int
    """Records of link types that are not USB requests."""
    unreadable: int
    """Records or lines that could not be read."""
    unreadable_examples: list[str]
    """The first few, with record or line number and cause."""
    snap_lengths: list[int]
    """Snap lengths of the interfaces; 0 is unlimited."""
    cut_transfers: int
    """Transfers with data that are not all in the capture."""
    data_transfers: int
    """Transfers with data that this layer records."""
    dropped_by_capture: int | None
    """Records dropped while capturing; null where the capture does not say."""
    first_time_unix_s: float | None
    """Time of the first record; null without an absolute clock."""
    span_us: int | None
    """From the first to the last record; null without a clock, and where time steps back by more than 1 % of it."""
    has_clock: bool | None = None
    """Whether records have times; null where there is none."""
    clock_step_us: int | None = None
    """The steps in which a coarse clock moves: times below it are not distinguished. null of a clock that is finer
    than 100 µs, and of few records."""
    clock_wraps: int
    """Times the clock of a usbmon text started over (every 4096 s)."""
    backward_steps: int
    """Records that are stamped earlier than the record before them."""
    backward_most_us: int | None = None
    """The most that one of them is earlier than the one before."""
    steps_back: int | None = None
    """Times a bus steps back by more than 10 ms, as where captures stand one behind the other. Requests are paired
    between these steps only."""
    steps_back_us: int | None = None
    """The sum of these steps. Where it is more than 1 % of the time span, that span, rates, series, gaps and
    requests under way are not available."""
    step_back_most_us: int | None = None
    """The largest such step."""
    copies: int | None = None
    """Records that repeat another, as where usbmon0 and a bus's own interface are captured together; they count
    once."""
    submissions: int
    """Requests handed to the host controller."""
    completions: int
    """Requests that came back."""
    submission_errors: int
    """Requests that the host controller refused."""
    unmatched_completions: int
    """Completions with a submission that is not in the capture (before it, or dropped)."""
    lost_submissions: int | None = None
    """Submissions that are missing, as the order in which requests come back shows; see the endpoints."""
    unfinished: int
    """Submissions without completion at the end of the capture or of its window."""
    lost_completions: int
    """Submissions with a missing completion: a later request of the endpoint succeeded, or their identifier was used
    again."""
    other_requests: int
    """Requests that move no data (Windows: abort a pipe, select a configuration...), both ways."""
    other_submissions: int | None = None
    """Those of them on their way down: what `other_requests` counts twice, once each way."""
    pipe_resets: int | None = None
    """Pipes that were reset, as after a stall; part of `other_submissions`."""
    pipe_aborts: int | None = None
    """Pipes with requests that were taken back; part of `other_submissions`."""
    injected_requests: int | None = None
    """Requests that USBPcap wrote down for itself when it started, for devices that were plugged in; they were not
    on the bus. Descriptors are taken from them, and nothing else counts them."""
    not_followed: int
    """Records of endpoints and devices beyond the number that is followed."""
    damage: DamageNote | None
    """Where reading stopped, if not at the end."""
    window: Window | None = None
    """The window that the figures are of; null when they are of the whole capture. Always taken from the whole
    capture are descriptors, what a device is and by which evidence, how transfers are framed, and which requests
    were under way when the window began."""
    limits: list[Limit]
    """What this capture cannot show."""


class Report(Model):
    """Everything `txop bus` knows about one capture."""

    format: str
    """Always `"txop-bus"`."""
    version: int
    """Layout version: 1. Raised when a field changes its meaning or goes."""
    tool: str
    """Program and version that wrote this."""
    origin: str
    """Where the figures come from: `emulated`, `simulated`, `guest-exact` or `guest-fast` for a capture that says
    that txop made it, `imported` for any other."""
    path: str
    """The file as named by the caller."""
    records: int
    """Records (or lines) that are USB transfer requests, or of a command log of an SDIO bus."""
    summary: Summary
    """What the capture is, and what it cannot show."""
    verdicts: list[Verdict]
    """What it means, in words; the most important first."""
    devices: list[Device]
    """Devices, the busiest first."""
    endpoints: list[Endpoint]
    """Per endpoint and direction, in the order of the devices."""
    traffic: list[Traffic]
    """What the transfers carry, per endpoint, direction and framing."""
    requests: list[Request]
    """Control requests, the most frequent first."""
    qmi_messages: list[QmiMessage]
    """QMI messages of modems, the most frequent first, of the whole capture."""
    data_formats: list[DataFormat]
    """Data formats that hosts and modems agreed on, in order, of the whole capture; counts of transfers are of the
    window."""
    sdio: Sdio | None = None
    """The commands of an SDIO bus; null: the capture is not a command log of one, or the document is an older one."""
