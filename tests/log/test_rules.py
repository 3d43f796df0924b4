"""The rule files: each sample is named by its rule alone; bad rules are refused."""

from __future__ import annotations

import time
from pathlib import Path

import pytest

from pattern_branches import texts_by_branch
from txop.log import RuleError, load_rules, name_faults, rule_files, shipped_rules
from txop.log.pattern_check import PatternError, check
from txop.log.rule_files import MATCHED, parse_rules

RULES = shipped_rules()
SAMPLES = [(rule.key, sample) for rule in RULES.rules.values() for sample in rule.samples]


@pytest.mark.parametrize(("key", "sample"), SAMPLES)
def test_a_sample_is_named_by_its_rule_alone(key, sample):
    rule = RULES.rules[key]
    report = name_faults(sample.strip().split("\n"), rules=RULES)
    assert {fault.key for fault in report.faults} == {key, *rule.also}


@pytest.mark.parametrize("key", RULES.rules)
def test_a_rule_tells_what_to_know(key):
    rule = RULES.rules[key]
    for text in (rule.title, rule.known, rule.do, rule.source):
        assert text
        assert "TODO" not in text
    assert len(rule.title) < 80, "titles stand in a table"
    assert not rule.title.endswith(".")


@pytest.mark.parametrize(
    "file", sorted((Path(rule_files.__file__).parent / "rules").glob("*.toml")), ids=lambda f: f.stem
)
def test_shipped_files_pass_the_checks_of_users_files(file):
    assert parse_rules(file.read_text(encoding="utf-8"), file.name)


def test_shipped_rules_name_only_rules_that_exist():
    for rule in RULES.rules.values():
        assert {*rule.absorbs, *rule.hides, *rule.also} <= set(RULES.rules)


@pytest.mark.parametrize("key", RULES.rules)
def test_each_branch_of_a_pattern_can_be_reached(key):
    """A message is compared with the pattern only when it has one of the texts of ``contains``."""
    rule = RULES.rules[key]
    for texts in texts_by_branch(rule.pattern):
        assert any(literal in text for text in texts for literal in rule.contains), texts[0]


@pytest.mark.parametrize("key", RULES.rules)
def test_no_pattern_takes_long_on_hostile_lines(key):
    rule = RULES.rules[key]
    worst = 0.0
    for literal in rule.contains:
        for filler in ("a", "a ", "a:", "1", "0:", "-", "usb 1-1: ", "rtw_a 1:", "ab_", "x [a"):
            filled = filler * MATCHED
            for line in (filled[: MATCHED - len(literal)] + literal, (literal + filled)[:MATCHED], literal * 300):
                started = time.process_time()
                rule.regex.search(line[:MATCHED])
                worst = max(worst, time.process_time() - started)
    assert worst < 0.5


@pytest.mark.parametrize(
    "pattern",
    [
        "(a+)+b",
        r"(\w+\s?)*x",
        "(?:a|ab)*c{3}(d+)*",
        r"(a)\1",
        "(?=a)b",
        "(?<!a)b",
        ".*a.*b",
        r"\w+\w+\w+\w+x",
        "(",
        "a{99999999999}",
        "x" * 2000,
        "(?P<a>.)(?(a)b|c)",
    ],
)
def test_dangerous_patterns_are_refused(pattern):
    with pytest.raises(PatternError):
        check(pattern)


@pytest.mark.parametrize(
    "pattern",
    ["abc", r"(?P<d>\w+): x (?P<e>-?\d+)", "(?:a|b)c?", r"[^:]+: .*", r"\S{1,40}: x", r"(?:\w+ )?x", "a*+b*+c"],
)
def test_harmless_patterns_are_taken(pattern):
    check(pattern)


RULE = """
[[rule]]
key = "my-driver-hang"
title = "My driver hangs"
severity = "error"
subsystem = "wifi"
contains = ["mydrv: hang"]
pattern = '(?P<driver>mydrv): hang (?P<errno>-\\d+) queue (?P<queue>\\d+)'
by = ["queue"]
known = "It hangs."
do = "Unplug."
source = "mydrv.c"
samples = ["mydrv: hang -5 queue 3"]
"""


def test_users_add_rules(tmp_path, values):
    (tmp_path / "mine.toml").write_text(RULE)
    rules = load_rules([tmp_path], user_folder=False)
    assert len(rules) == len(RULES) + 1
    report = name_faults(["[ 1.0] mydrv: hang -5 queue 3", "[ 2.0] mydrv: hang -5 queue 4"], rules=rules)
    assert [(fault.key, fault.driver, values(fault)["queue"]) for fault in report.faults] == [
        ("my-driver-hang", "mydrv", [("3", None)]),
        ("my-driver-hang", "mydrv", [("4", None)]),
    ]
    assert values(report.faults[0])["errno"] == [("-5", "EIO")]


def test_rules_in_the_configuration_folder_are_used(tmp_path, monkeypatch):
    folder = tmp_path / "txop" / "log-rules"
    folder.mkdir(parents=True)
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    assert len(load_rules()) == len(RULES), "an empty folder is not an error"
    (folder / "a.toml").write_text(RULE)
    assert "my-driver-hang" in load_rules().rules
    assert "my-driver-hang" not in load_rules(user_folder=False).rules


def test_a_later_rule_replaces_one_of_the_same_key(tmp_path):
    file = tmp_path / "mine.toml"
    file.write_text(RULE.replace("my-driver-hang", "probe-failed"))
    rules = load_rules([file], user_folder=False)
    assert len(rules) == len(RULES)
    assert rules.rules["probe-failed"].title == "My driver hangs"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('samples = ["mydrv: hang -5 queue 3"]', "", "samples"),
        ('samples = ["mydrv: hang -5 queue 3"]', "samples = []", "samples"),
        ('"mydrv: hang -5 queue 3"', '"something else"', "sample"),
        ("(?P<driver>mydrv)", "(?:(?:m+y?)+drv)", "endless"),
        ("(?P<driver>mydrv)", "(mydrv", "not a regular expression"),
        ('contains = ["mydrv: hang"]', "contains = []", "contains"),
        ('contains = ["mydrv: hang"]', 'contains = ["x"]', "contains"),
        ('"error"', '"terrible"', "severity"),
        ("my-driver-hang", "My Driver", "key"),
        ('by = ["queue"]', 'by = ["nothing"]', "no group nothing"),
        ('by = ["queue"]', 'hides = ["nothing"]', "unknown rule"),
        ('by = ["queue"]', 'detector = "magic"', "detector"),
        ('by = ["queue"]', "extra = 1", "extra"),
        ("[[rule]]", "[[rules]]", "[[rule]]"),
        ("title", "title = title", "not TOML"),
        (RULE, RULE + RULE, "two rules of this key"),
    ],
)
def test_bad_rules_are_refused_with_file_and_reason(tmp_path, old, new, says):
    file = tmp_path / "mine.toml"
    assert old in RULE
    file.write_text(RULE.replace(old, new))
    with pytest.raises(RuleError) as refused:
        load_rules([file], user_folder=False)
    assert says in str(refused.value)
    if new != 'hides = ["nothing"]':
        assert str(file) in str(refused.value)


def test_unreadable_rule_files(tmp_path):
    with pytest.raises(RuleError, match="No such file"):
        load_rules([tmp_path / "none.toml"], user_folder=False)
    with pytest.raises(RuleError, match=r"no \*\.toml file"):
        load_rules([tmp_path], user_folder=False)
    (tmp_path / "binary.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(RuleError, match="not UTF-8"):
        load_rules([tmp_path], user_folder=False)
    (tmp_path / "binary.toml").write_bytes(b"#" * (2 << 20))
    with pytest.raises(RuleError, match="larger"):
        load_rules([tmp_path], user_folder=False)
    with pytest.raises(RuleError, match="nothing else"):
        parse_rules("a = 1", "x")


def test_the_quick_look_finds_what_each_rule_would():
    """The shared pieces only save time: asking every rule gives the same."""
    for _, sample in SAMPLES:
        for line in sample.strip().split("\n"):
            slow = {rule.key for rule in RULES.rules.values() if rule.names(line)}
            hidden = {hidden for key in slow for hidden in RULES.rules[key].hides}
            if not all(RULES.rules[key].otherwise for key in slow):
                hidden |= {key for key in slow if RULES.rules[key].otherwise}
            assert {rule.key for rule, _ in RULES.naming(line, anyone=True)} == slow - hidden
