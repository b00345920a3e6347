from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from understudy.deform import report
from understudy.deform.comparison import PAINTED_METHOD_NAME, Comparison, compare_skins, hold_out_indices, result_row
from understudy.deform.examples import Examples
from understudy.errors import InvalidInput


@pytest.fixture(scope="module")
def result(bending: Examples) -> Comparison:
    return compare_skins(bending, ["linear", "dual", "pose-space"])


@pytest.mark.parametrize(("count", "share"), [(2, 0.25), (3, 0.5), (12, 0.25), (400, 0.25), (7, 0.9), (5, 0.01)])
def test_poses_held_out_are_spread_and_never_the_first(count: int, share: float) -> None:
    numbers = hold_out_indices(count, share)
    assert 1 <= len(numbers) < count and numbers.min() >= 1 and numbers.max() < count
    assert len(set(numbers.tolist())) == len(numbers) and abs(len(numbers) - max(share * count, 1)) <= 1
    if len(numbers) > 2:
        assert np.ptp(np.diff(numbers)) <= 1


def test_what_is_measured_was_not_trained_on(result: Comparison, bending: Examples) -> None:
    assert len(result.trained) + len(result.held) == len(bending)
    np.testing.assert_array_equal(result.held.vertices, bending.vertices[result.held_numbers])
    for entry in result.valid_results:
        assert entry.deformer is not None and entry.measures is not None
        again = np.linalg.norm(entry.deformer.deform(result.held.transforms) - result.held.vertices, axis=-1)
        assert entry.measures.worst == pytest.approx(again.max())


def test_corrections_beat_the_skin_below_them(result: Comparison) -> None:
    rms = {entry.method: entry.measures.rms for entry in result.valid_results if entry.measures}
    assert rms["pose-space"] < rms["linear"]


def test_a_method_that_cannot_be_fitted_says_why(bending: Examples) -> None:
    few = compare_skins(bending.subset([0, 5]), ["linear", "added-joints"])
    problems = {entry.method: entry.problem for entry in few.entries}
    for entry in few.entries:
        assert (entry.measures is None) == bool(problems[entry.method])
        assert ("problem" in result_row(entry)) == bool(problems[entry.method])


def test_painted_weights_stand_beside_the_fitted(bending: Examples, monkeypatch: pytest.MonkeyPatch) -> None:
    from understudy.deform import deformer

    monkeypatch.setattr(deformer, "METHODS", {"linear": deformer.METHODS["linear"]})
    assert [entry.method for entry in compare_skins(bending).entries] == [PAINTED_METHOD_NAME, "linear"]


def test_bad_wishes_are_refused(bending: Examples) -> None:
    with pytest.raises(InvalidInput, match="there is no deformer 'magic'"):
        compare_skins(bending, ["magic"])
    with pytest.raises(InvalidInput, match="2 poses or more"):
        compare_skins(bending.subset([0]))
    with pytest.raises(InvalidInput, match="between 0 and 1"):
        compare_skins(bending, ["linear"], held_out=1.5)


def test_the_report_is_whole_and_needs_nothing_else(result: Comparison, tmp_path: Path) -> None:
    pixel = bytes.fromhex("89504e470d0a1a0a")
    report.write_report(result, tmp_path / "r", "a <tube>", {"": pixel, "linear": pixel}, ["a note & more"])
    page = (tmp_path / "r/index.html").read_text()
    assert sorted(each.name for each in (tmp_path / "r").iterdir()) == ["index.html", "report.json", "table.csv"]
    assert "http" not in page and "<script" not in page and 'src="data:image/png;base64,' in page
    assert "a &lt;tube&gt;" in page and "a note &amp; more" in page and "<tube>" not in page
    assert "prefers-color-scheme:dark" in page and '<html lang="en">' in page and page.count('<svg role="img"') == 6
    told = json.loads((tmp_path / "r/report.json").read_text())
    assert [each["method"] for each in told["methods"]] == ["linear", "dual", "pose-space"]
    assert told["held_out_poses"] == result.held_numbers.tolist()
    lines = (tmp_path / "r/table.csv").read_text().splitlines()
    assert len(lines) == 4 and lines[0].startswith("method,rms_mm")


def test_a_report_replaces_only_a_report(result: Comparison, tmp_path: Path) -> None:
    report.write_report(result, tmp_path / "r", "one", {})
    report.write_report(result, tmp_path / "r", "two", {})
    assert "two" in (tmp_path / "r/report.json").read_text()
    (tmp_path / "mine").mkdir()
    (tmp_path / "mine/thesis.txt").write_text("years")
    with pytest.raises(InvalidInput, match=r"holds 'thesis.txt' and is no report"):
        report.write_report(result, tmp_path / "mine", "three", {})
    with pytest.raises(InvalidInput, match="there is no folder"):
        report.write_report(result, tmp_path / "no/where", "three", {})
    with pytest.raises(InvalidInput, match="is a file"):
        report.write_report(result, tmp_path / "mine/thesis.txt", "three", {})
    assert sorted(each.name for each in tmp_path.iterdir()) == ["mine", "r"]
