"""Twenty thousand damaged files: only our own errors come out, nothing hangs, crashes or takes a gigabyte.

`make test-fuzz` tries all of them, `make test` every fifth.
"""

from __future__ import annotations

import os

import pytest
from tests.data_folder import data_files
from tests.fuzz.runner import fuzz
from tests.fuzz.seeds import make_seeds
from tests.fuzz.worker import MEMORY

from understudy.errors import MissingExtra, UnderstudyError
from understudy.formats import FORMATS, read

# Shares by how much can go wrong inside, and by how long one file takes: binary USD is tried in a child process first.
COUNTS = {
    **{".glb": 4500, ".gltf": 4500, ".bvh": 3000, ".asf": 1500, ".amc": 1500, ".obj": 2000, ".csv": 1500, ".npz": 1500},
    **{".vrm": 2500, ".vrma": 1500, ".fbx": 6000, ".understudy": 1000},
    **{".c3d": 1000, ".usda": 1200, ".usdc": 20, ".usdz": 10, ".usd": 10, ".curves.json": 1500},
}
ALL = os.environ.get("UNDERSTUDY_FUZZ") == "all"
SMALL = 45_000  # bytes: real files above this take so long that their share would be the whole time


def test_every_format_has_its_share():
    assert set(COUNTS) == {ending for entry in FORMATS for ending in entry.endings}
    assert sum(COUNTS.values()) >= 20_000


def add_real_seeds(ending, seeds, cases):
    """Small real files as well, where they can be read alone, without what lies beside them in the data."""
    for number, real in enumerate(path for path in data_files(f"*/*{ending}") if path.stat().st_size < SMALL):
        for companion in real.parent.glob("*.bin"):
            (cases / companion.name).write_bytes(companion.read_bytes())
        case = cases / f"case{ending}"
        case.write_bytes(real.read_bytes())
        try:
            read(case)
        except UnderstudyError:
            continue
        case.replace(seeds / f"real_{number}{ending}")


@pytest.mark.parametrize("ending", COUNTS)
def test_damaged_files_do_no_harm(ending, tmp_path, record_property):
    seeds, cases = tmp_path / "seeds", tmp_path / "cases"
    seeds.mkdir()
    cases.mkdir()
    try:
        made = make_seeds(seeds, ending)
        for seed in made:
            read(seed)
    except MissingExtra as missing:
        pytest.skip(str(missing))
    for companion in seeds.glob("*.asf"):
        (cases / f"case{companion.suffix}").write_bytes(companion.read_bytes())
    add_real_seeds(ending, seeds, cases)
    count = COUNTS[ending] if ALL or COUNTS[ending] < 100 else COUNTS[ending] // 5
    findings = fuzz(seeds, cases, ending, count)
    record_property("fuzz", findings.report())
    assert not findings.wrongs, findings.report()
    assert findings.total == count
    assert findings.grown < MEMORY, findings.report()
    assert findings.read and findings.refused, f"one-sided damage: {findings.report()}"
