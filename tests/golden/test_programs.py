"""The five jobs give what version 0.1 gave: `outputs.json` was recorded by it, before the package was rearranged.

Those of all jobs but `edit` and `deform` are of version 0.2, which has other methods.
"""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from tests.golden.programs import PROGRAMS, run

RECORD = json.loads(Path(__file__).with_name("outputs.json").read_text(encoding="utf-8"))


@pytest.mark.long
@pytest.mark.parametrize("job", PROGRAMS)
def test_a_job_gives_what_it_gave(job: str, tmp_path: Path) -> None:
    """Shapes are equal; mean, spread, first and last number to a millimetre, as other processors round differently."""
    numbers, expected = run(job, tmp_path)["numbers"], RECORD[job]["numbers"]
    assert {name: row[0] for name, row in numbers.items()} == {name: row[0] for name, row in expected.items()}
    for name, row in expected.items():
        np.testing.assert_allclose(numbers[name][1:], row[1:], rtol=1e-3, atol=1e-3, err_msg=f"{job}: {name}")
