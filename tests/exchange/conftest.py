"""Archives made by rule, as the tests of comparisons have them."""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path
from types import ModuleType

import pytest

DATA = Path(__file__).parents[1] / "data"


@pytest.fixture(scope="session")
def golden() -> Path:
    return DATA / "archive-v1"


@pytest.fixture(scope="session")
def sample() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_archive_sample", DATA / "make_archive_sample.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules.setdefault(spec.name, module)
    spec.loader.exec_module(module)
    return module
