"""Two modules with the same code: a hundred changes that do nothing, compiled, and changes that do something."""

from __future__ import annotations

import random
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from txop.arms.module_code import code_digest
from txop.arms.module_file import sections_of

# The tables are those of the kernel's own macros (Linux arch/x86/include/asm/bug.h, include/linux/dynamic_debug.h).
SOURCE = r"""
struct debug { const char *module, *function, *file, *format; unsigned line:18, class_id:6, flags:8; long key[2]; };
#define WARN() asm volatile("1: ud2\n.pushsection __bug_table,\"aw\"\n.long 1b - .\n.long 0\n" \
    ".word %c0\n.word 0\n.popsection" : : "i" (__LINE__))
#define DEBUG(words) do { static struct debug __attribute__((aligned(8), section("__dyndbg"), used)) entry = \
    { "m", __func__, "f.c", words, __LINE__, 63, 0, { 0, 0 } }; note(&entry); } while (0)
extern void note(struct debug *);
extern int device(int);
__attribute__((section(".modinfo"), used)) static const char info[] = "name=radio";

static int queue(int frames)
{
	int sent = 0;

	while (frames > 0) {
		sent += device(frames);
		frames--;
	}
	if (sent < 0)
		WARN();
	return sent;
}

int transmit(int frames)
{
	int limit = 32;

	if (frames > limit) {
		DEBUG("too many frames");
		frames = limit;
	}
	DEBUG("sending");
	return queue(frames);
}
"""
BODY = SOURCE.index("static int queue")


def comment(text: str, draw: random.Random) -> str:
    at = draw.choice([match.end() for match in re.finditer(r";\n", text[BODY:])]) + BODY
    words = draw.choice(["why", "it waits", "see the manual"])
    return f"{text[:at]}\t/* {words}{' *' * draw.randrange(3)} */\n{text[at:]}"


def blank_lines(text: str, draw: random.Random) -> str:
    at = draw.choice([match.end() for match in re.finditer(r"\n", text[BODY:])]) + BODY
    return text[:at] + "\n" * draw.randrange(1, 40) + text[at:]


def never_compiled(text: str, draw: random.Random) -> str:
    at = draw.choice([match.end() for match in re.finditer(r"\n}\n", text)])
    return f"{text[:at]}\n#if 0\nint unused_{draw.randrange(1000)}(void);\n#endif\n{text[at:]}"


def renamed_variable(text: str, draw: random.Random) -> str:
    old = draw.choice(["sent", "limit"])
    return re.sub(rf"\b{old}\b", f"{old}_{draw.randrange(1000)}", text)


def joined_lines(text: str, draw: random.Random) -> str:
    del draw
    return text.replace("while (frames > 0) {\n\t\tsent", "while (frames > 0)\n\t{\n\n\t\tsent")


def same_expression(text: str, draw: random.Random) -> str:
    old, new = draw.choice([("sent < 0", "0 > sent"), ("frames > limit", "(frames) > (limit)"), ("= 32", "= 0x20")])
    return text.replace(old, new)


def dead_branch(text: str, draw: random.Random) -> str:
    return text.replace("return sent;", f"if (0)\n\t\tdevice({draw.randrange(1000)});\n\treturn sent;")


NO_OPS = (comment, blank_lines, never_compiled, renamed_variable, joined_lines, same_expression, dead_branch)


@pytest.fixture(scope="module")
def digest_of(tmp_path_factory):
    compiler = shutil.which("cc")
    if compiler is None:
        pytest.skip("no C compiler")
    folder = tmp_path_factory.mktemp("code")

    def digest(text: str) -> tuple[str, bytes]:
        source, module = folder / "radio.c", folder / "radio.o"
        source.write_text(text)
        command = [compiler, "-m64", "-O2", "-g0", "-c", "radio.c", "-o", "radio.o"]
        subprocess.run(command, cwd=folder, check=True, capture_output=True)
        data = Path(module).read_bytes()
        return code_digest(data), data

    return digest


@pytest.mark.slow
def test_a_hundred_generated_no_ops_have_the_code_of_their_base(digest_of):
    base, as_it_was = digest_of(SOURCE)
    draw = random.Random(22)  # noqa: S311 - tests are repeated
    moved = 0
    for number in range(100):
        text = SOURCE
        kinds = draw.sample(NO_OPS, draw.randrange(1, 4))
        for kind in kinds:
            text = kind(text, draw)
        assert text != SOURCE
        found, data = digest_of(text)
        assert found == base, f"number {number}: {[kind.__name__ for kind in kinds]}\n{text[BODY:]}"
        moved += data != as_it_was
    assert moved > 50, "most of them make another file, so the digest is what keeps them apart from changes"


@pytest.mark.parametrize(
    ("old", "new"),
    [
        ("limit = 32", "limit = 33"),
        ("frames > limit", "frames >= limit"),
        ("sent += device", "sent -= device"),
        ("\t\tWARN();\n", "\t\treturn 0;\n"),
        ('DEBUG("sending");', ""),
        ('"sending"', '"now"'),
        ("queue(int frames)\n{", "queue(int frames)\n{\n\tstatic int calls;\n\tcalls += frames; device(calls);"),
        ('"name=radio"', '"name=radia"'),
        ("extern int device(int);", "int spare[64]; extern int device(int);"),
    ],
)  # fmt: skip
def test_a_change_that_does_something_is_another_code(digest_of, old, new):
    assert SOURCE.count(old) >= 1
    assert digest_of(SOURCE)[0] != digest_of(SOURCE.replace(old, new))[0]


def test_the_flags_of_a_table_count(digest_of):
    """Only the line is left out of an entry."""
    flagged = SOURCE.replace("__LINE__, 63, 0,", "__LINE__, 63, 1,")
    assert digest_of(SOURCE)[0] != digest_of(flagged)[0]
    warned = SOURCE.replace(".word %c0\\n.word 0", ".word %c0\\n.word 1")
    assert warned != SOURCE != flagged
    assert digest_of(SOURCE)[0] != digest_of(warned)[0]
    names = {section.name for section in sections_of(digest_of(SOURCE)[1])}
    assert {"__bug_table", "__dyndbg"} <= names


def test_what_is_no_module_is_its_bytes():
    assert code_digest(b"not ELF") == code_digest(b"not ELF") != code_digest(b"not ELF.")
