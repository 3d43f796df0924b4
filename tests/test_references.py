"""What pages say of keys, metrics, fields and columns is what the models say."""

from __future__ import annotations

import runpy
import subprocess
import sys
from pathlib import Path

from txop.plan.schema import schema

SCRIPTS = Path(__file__).parents[1] / "scripts"


def test_the_references_are_up_to_date():
    ran = subprocess.run(
        [sys.executable, SCRIPTS / "references.py", "--check"], capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr


def test_the_reference_of_plans_has_every_table():
    named = {name for name, _ in runpy.run_path(str(SCRIPTS / "plan_reference.py"))["TABLES"]}
    assert named == {"Plan", *schema()["$defs"]}
