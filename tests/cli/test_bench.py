"""`bench`: rows say whether their bar is met; a misspelt name lists what there is."""

from __future__ import annotations

import json

import pytest
from benchmarks.measure import Row, median_ms
from tests.data_folder import PROJECT


@pytest.mark.parametrize(
    ("ratio", "bar", "met"), [(4.2, 4.0, True), (3.9, 4.0, False), (4.0, None, None), (None, 1, None)]
)
def test_a_row_knows_whether_its_bar_is_met(ratio: float | None, bar: float | None, met: bool | None) -> None:
    row = Row("FK", 5.0, "ms", "pinocchio", ratio, bar).as_dict()
    assert list(row) == ["name", "value", "unit", "peer", "ratio", "bar", "met"]
    assert row["met"] is met


def test_median_of_calls_that_were_warmed_up() -> None:
    calls = []
    assert median_ms(lambda: calls.append(1), repeats=5) >= 0
    assert len(calls) == 6


def test_unknown_benchmarks_are_refused_by_name(understudy) -> None:
    code, _, err = understudy("bench", "speed")
    assert code == 1
    assert "'foundation'" in err or "make peers" in err


def test_results_are_kept_line_by_line() -> None:
    for path in (PROJECT / "benchmarks" / "results").glob("*.jsonl"):
        for line in path.read_text(encoding="utf-8").splitlines():
            run = json.loads(line)
            assert run["rows"] and all(row["unit"] for row in run["rows"])
