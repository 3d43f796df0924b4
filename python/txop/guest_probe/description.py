"""A probed device in syzkaller's language of descriptions (syzlang): its descriptors, and what it may answer.

Facts of the language: syzkaller docs/syscall_descriptions_syntax.md; of the calls: sys/linux/vusb.txt.
"""

from __future__ import annotations

from collections.abc import Iterable

from txop.guest_probe.fields import Descriptor, configuration_descriptors, device_descriptor
from txop.guest_probe.names import WIDTHS, Names, endpoint_name
from txop.guest_probe.probe import CLASS, STANDARD, VENDOR, Endpoint, Probe
from txop.guest_probe.responses import MOST_TEXTS, MOST_VALUES, Response, descriptors, responses

_TYPES = {STANDARD: "USB_TYPE_STANDARD", CLASS: "USB_TYPE_CLASS", VENDOR: "USB_TYPE_VENDOR"}
_ANY_BYTES = 256
_TAB = 8
_REGISTERS_A_LINE = 12
MOST_REGISTERS = 1_024
"""Registers that a description lists as a comment."""


def description(probe: Probe, device: str, heading: str) -> str:
    """The description, a file for syzkaller's ``sys/linux``. ``heading``: where it comes from, lines of text.

    Raises:
        FormatError: The descriptors of the configuration do not follow each other.
    """
    names = Names(device)
    parts = [_comment(heading), _calls(probe, names), *_device(probe, names), *_strings(probe, names)]
    parts += _answers(names, "descriptors", descriptors(probe))
    parts += _answers(names, "responses", responses(probe))
    for endpoint in recorded(probe):
        seen = list(dict.fromkeys(reply.data for reply in endpoint.replies if reply.status == 0))
        parts += _union(names, (endpoint_name(endpoint.address),), seen)
    return "\n\n".join(parts) + "\n"


def recorded(probe: Probe) -> tuple[Endpoint, ...]:
    """The endpoints from which data came, of which a device has a call to send such data."""
    return tuple(one for one in probe.endpoints if any(reply.data and reply.status == 0 for reply in one.replies))


def _comment(text: str) -> str:
    return "\n".join(f"# {row}".rstrip() for row in text.splitlines())


def _calls(probe: Probe, names: Names) -> str:
    resource = f"fd_usb_{names.base}"
    connect = (
        f"{names.call('syz_usb_connect')}(speed const[USB_SPEED_HIGH], dev_len len[dev], "
        f"dev ptr[in, {names.type('device')}], conn_descs ptr[in, {names.type('connect')}]) {resource} "
        "(timeout[3000], prog_timeout[3000], remote_cover)"
    )
    control = (
        f"{names.call('syz_usb_control_io')}(fd {resource}, descs ptr[in, {names.type('descriptors')}], "
        f"resps ptr[in, {names.type('responses')}]) (timeout[300], remote_cover)"
    )
    writes = [
        f"{names.call('syz_usb_ep_write', endpoint_name(one.address))}(fd {resource}, ep const[{one.address:#x}], "
        f"len bytesize[data], data ptr[in, {names.type(endpoint_name(one.address))}]) (timeout[300], remote_cover)"
        for one in recorded(probe)
    ]
    return "\n".join([f"resource {resource}[fd_usb]", "", connect, control, *writes])


def _device(probe: Probe, names: Names) -> list[str]:
    configuration, *others = configuration_descriptors(probe)
    fields = [*_fields(configuration), *((one.name, names.type(one.name)) for one in others)]
    device = [*_fields(device_descriptor(probe)), ("configuration", names.type("configuration"))]
    return [
        _struct(names.type("device"), device),
        _struct(names.type("configuration"), fields),
        *(_struct(names.type(one.name), _fields(one)) for one in others),
    ]


def _fields(descriptor: Descriptor) -> list[tuple[str, str]]:
    return [
        (
            field.name,
            f"const[{int.from_bytes(field.data, 'little'):#x}, {WIDTHS[len(field.data)]}]"
            if field.is_number
            else f"stringnoz[`{field.data.hex()}`]",
        )
        for field in descriptor.fields
    ]


def string_slots(probe: Probe) -> list[bytes]:
    """The strings that are sent while the device is connected, by index; one that was not asked for is empty."""
    return [probe.strings.get(index, b"") for index in range(max(probe.strings, default=-1) + 1)]


def _strings(probe: Probe, names: Names) -> list[str]:
    slots = string_slots(probe)
    entries = [(f"string{index}", names.type("string", str(index))) for index in range(len(slots))]
    fields = [
        ("qual_len", "len[qual, int32]"),
        ("qual", "ptr[in, usb_qualifier_descriptor]"),
        ("bos_len", "len[bos, int32]"),
        ("bos", "ptr[in, usb_bos_descriptor]"),
        ("strs_len", f"const[{len(slots):#x}, int32]"),
        *entries,
    ]
    structs = [
        _struct(
            name,
            [
                ("len", "len[str, int32]"),
                ("str", f"ptr[in, stringnoz[`{data.hex()}`]]" if data else "const[0, intptr]"),
            ],
        )
        for (_, name), data in zip(entries, slots, strict=True)
    ]
    return [_struct(names.type("connect"), fields), *structs]


def _answers(names: Names, what: str, found: tuple[Response, ...]) -> list[str]:
    generic, template = (
        ("vusb_descriptor_generic", "vusb_descriptor_t")
        if what == "descriptors"
        else ("vusb_response_generic", "vusb_response_t")
    )
    fields = [("len", "len[parent, int32]"), ("generic", f"ptr[in, {generic}]")]
    parts = []
    for one in found:
        name = response_name(names, what, one)
        kind = _TYPES.get(one.request_type, f"{one.request_type:#x}")
        fields.append((name, f"ptr[in, {template}[{kind}, {one.request:#x}, {names.type(name)}]]"))
        union, *lists = _union(names, (name,), one.replies)
        parts += [(_registers(one) if what == "responses" else "") + union, *lists]
    return [_struct(names.type(what), fields), *parts]


def response_name(names: Names, what: str, response: Response) -> str:
    """The field of a response, or of the response to a request for a descriptor."""
    name = names.response(response.request_type, response.request)
    return name if what == "responses" else f"get_{name}"


def _registers(response: Response) -> str:
    """As a comment: what was asked for. The fuzzer does not see it, and a reader does."""
    words = [f"{value:04x}.{index:04x}" for value, index in sorted(response.registers)[:MOST_REGISTERS]]
    rows = [f"# Asked for by wValue.wIndex ({len(response.registers)}):"]
    rows += [f"#   {' '.join(words[at : at + _REGISTERS_A_LINE])}" for at in range(0, len(words), _REGISTERS_A_LINE)]
    return "\n".join(rows) + "\n"


def _union(names: Names, parts: tuple[str, ...], replies: Iterable[bytes]) -> list[str]:
    """The type of what may be answered, and the lists of recorded values that it stands on."""
    name = names.type(*parts)
    kept = [data for data in replies if data]
    options, lists = [], []
    for width, integer in WIDTHS.items():
        values = [f"{int.from_bytes(data, 'little'):#x}" for data in kept if len(data) == width][:MOST_VALUES]
        if values:
            options.append((option_of(bytes(width)), f"flags[{name}_{width}, {integer}]"))
            lists.append(f"{name}_{width} = {', '.join(values)}")
    texts = [f"`{data.hex()}`" for data in kept if len(data) not in WIDTHS][:MOST_TEXTS]
    if texts:
        options.append((option_of(b"long "), f"stringnoz[{name}_recorded]"))
        lists.append(f"{name}_recorded = {', '.join(texts)}")
    longest = max([_ANY_BYTES, *map(len, kept)])
    options.append(("any", f"array[int8, 0:{longest}]"))
    return [f"{name} [\n{_rows(options)}\n] [varlen]", *lists]


def option_of(data: bytes) -> str:
    """The option of the type of replies that a recorded one is.

    >>> option_of(b"1234"), option_of(b"12345"), option_of(b"")
    ('number4', 'recorded', 'any')
    """
    if not data:
        return "any"
    return f"number{len(data)}" if len(data) in WIDTHS else "recorded"


def _struct(name: str, fields: Iterable[tuple[str, str]]) -> str:
    return f"{name} {{\n{_rows(fields)}\n}} [packed]"


def _rows(fields: Iterable[tuple[str, str]]) -> str:
    rows = list(fields)
    stops = max(len(name) // _TAB for name, _ in rows) + 1
    return "\n".join(f"\t{name}{_tabs(name, stops)}{kind}" for name, kind in rows)


def _tabs(name: str, stops: int) -> str:
    """Up to the column of the types, as syz-fmt aligns them."""
    return "\t" * (stops - len(name) // _TAB)
