"""How well the findings of ``txop air`` hold: precision, recall and F1 by kind.

    .venv/bin/python bench/evidence.py [--captures 1000] [--seed 77] [--write] [--dataset FOLDER]

Captures made by rule have their faults, and what their sniffer misses, by construction
(crates/air/examples/evidence.rs). Real captures are labelled by hand in bench/evidence/labels.json, by the SHA-256 of
the file: what is true of them, and what no finding may say. They are not in the repository: TXOP_CAPTURES names the
folder with them; a folder ``cases`` beside it is searched, too.

``--write`` writes docs/air-evidence.md; ``--dataset`` the made captures with their labels, to be published. Exit code 1
when the precision is below 0.99, or a finding contradicts a label.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

from txop import air

ROOT = Path(__file__).parents[1]
LABELS = ROOT / "bench/evidence/labels.json"
PAGE = ROOT / "docs/air-evidence.md"
PRECISION = 0.99
LATE = {"late", "probably-late", "mixed"}

Json = dict[str, Any]


def made(captures: int, seed: int, folder: Path | None) -> Json:
    """Scores of captures made by rule."""
    command = ["cargo", "run", "--release", "--quiet", "-p", "txop-air", "--example", "evidence", "--"]
    command += [str(captures), str(seed), *([str(folder)] if folder else [])]
    done = subprocess.run(command, cwd=ROOT, check=True, stdout=subprocess.PIPE)
    result: Json = json.loads(done.stdout)
    return result


def findings(report: air.AirReport) -> set[str]:
    """Kinds of findings that a report has."""
    found = {"rate-dependent" for verdict in report.ack_verdicts if verdict.answer == "rate-dependent"}
    found |= {"late" for v in report.ack_verdicts if v.question == "block-ack" and v.answer in LATE}
    found |= {spot.code for spot in report.hearing.blind_spots}
    for happening in report.happenings:
        if happening.code == "join-failed":
            found.add(f"join-failed/{happening.step}/{happening.cause}")
        elif happening.kind != "event":
            found.add(happening.code)
    return found


def labelled(folder: Path) -> list[tuple[str, Json, set[str]]]:
    """The captures that have a label: name, label, findings."""
    labels: dict[str, Json] = json.loads(LABELS.read_text())["captures"]
    names = {label["name"] for label in labels.values()}
    found = []
    for path in sorted(file for place in (folder, folder.parent / "cases") for file in place.rglob("*")):
        if path.name not in names or not path.is_file():
            continue
        label = labels.get(hashlib.sha256(path.read_bytes()).hexdigest())
        if label is not None:
            found.append((path.name, label, findings(air.analyze(path))))
    return found


def row(kind: str, score: Json) -> str:
    """A row of the table of made captures."""

    def shown(value: float | None) -> str:
        return "-" if value is None else f"{value:.3f}"

    return (
        f"| {kind} | {score['found']} | {score['wrong']} | {score['evidence_in_capture']} | "
        f"{score['missed_although_in_capture']} | {score['missed']} | {shown(score['precision'])} | "
        f"{shown(score['recall_where_in_capture'])} | {shown(score['f1'])} |"
    )


ABOVE = """# How well the findings hold

Made by `bench/evidence.py --write`: {captures:,} captures made by rule (seed {seed}), the faults of which are known:
late Block Acks, losses, rates without ACK, stations that fail to join, each with a sniffer that misses nothing, up to
40 % of the frames, PPDUs or responses, all ACKs or Block Acks, time stamps, or their meaning. *Wrong*: findings that
are not true. *In the capture*: true ones, the evidence of which the sniffer can have captured (less than 10 % lost, for
joins less than 2 %, and the kinds of frames and stamps that the finding needs); recall is of these. Origin: simulated.

| finding | found | wrong | in the capture | missed of these | missed of all | precision | recall | F1 |
|---|---|---|---|---|---|---|---|---|
{rows}

## Real captures

Labelled by hand, with tshark beside, in bench/evidence/labels.json (name and SHA-256; the captures are not in the
repository): what is true, and what no finding may say. Origin: imported.

| captures | labels that are true | found | labels that must not be found | found |
|---|---|---|---|---|
| {real} | {true} | {hit} | {never} | {false} |

`make dataset` writes the made captures with their labels, a README and a CITATION.cff.
"""


def page(scores: Json, seed: int, real: list[tuple[str, Json, set[str]]]) -> str:
    """docs/air-evidence.md."""
    rows = [*(row(kind, score) for kind, score in scores["kinds"].items()), row("**all**", scores["all"])]
    return ABOVE.format(
        captures=scores["captures"],
        seed=seed,
        rows="\n".join(rows),
        real=len(real),
        true=sum(len(label["true"]) for _, label, _ in real),
        hit=sum(len(found & set(label["true"])) for _, label, found in real),
        never=sum(len(label["never"]) for _, label, _ in real),
        false=sum(len(found & set(label["never"])) for _, label, found in real),
    )


README = """# Captures of 802.11 faults, labelled by construction

Each NNNN.pcap has NNNN.json: `true` (what is wrong on the air, or with the sniffer), `evidence_in_capture`,
`sniffer_misses`, `seed`, `found` (what txop found). Made by txop (bench/evidence.py --dataset) from rules:
no captured traffic, no personal data. scores.json has precision, recall and F1 by kind.
"""
CITATION = """cff-version: 1.2.0
message: If you use these captures, please cite them.
title: Captures of 802.11 faults, labelled by construction
type: dataset
authors:
  - name: The txop authors
license: CC0-1.0
"""


def main() -> int:
    """Score, and write what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--captures", type=int, default=1000)
    parser.add_argument("--seed", type=int, default=77)
    parser.add_argument("--write", action="store_true")
    parser.add_argument("--dataset", type=Path)
    options = parser.parse_args()
    captures = None if options.dataset is None else options.dataset / "captures"
    scores = made(options.captures, options.seed, captures)
    real = labelled(Path(os.environ.get("TXOP_CAPTURES", ROOT.parent / "shared/captures")))
    if not real:
        print("SKIPPED: no labelled capture is on this machine (set TXOP_CAPTURES)", file=sys.stderr)
    for name, label, found in real:
        for kind in sorted(found & set(label["never"])):
            print(f"{name}: {kind} is not true")
        for kind in sorted(set(label["true"]) - found):
            print(f"{name}: {kind} is missed")
    print(json.dumps(scores["all"], indent=1))
    if options.write:
        PAGE.write_text(page(scores, options.seed, real))
    if options.dataset is not None:
        for file, text in (
            ("README.md", README),
            ("CITATION.cff", CITATION),
            ("scores.json", json.dumps(scores, indent=1)),
        ):
            (options.dataset / file).write_text(text)
    contradicted = any(found & set(label["never"]) for _, label, found in real)
    return int(scores["all"]["precision"] < PRECISION or contradicted)


if __name__ == "__main__":
    sys.exit(main())
