from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from understudy.deform import comparison, report
from understudy.deform.comparison import (
    NOTHING,
    Comparison,
    compare_skins,
    hold_out_clips,
    hold_out_indices,
    result_row,
)
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


def test_doing_nothing_is_the_first_row(result: Comparison, bending: Examples) -> None:
    """It is the linear blend with the weights that there are; without any, with automatic ones."""
    first = result.entries[0]
    assert first.method == NOTHING and first.measures is not None and first.deformer is not None
    np.testing.assert_allclose(first.deformer.weights.sum(axis=1), 1, atol=1e-6)
    e = bending
    bare = Examples(e.rest, e.triangles, e.inverse_binds, e.transforms, e.vertices, e.parents, names=e.names)
    found = compare_skins(bare, ["linear"]).entries[0]
    assert found.measures is not None and found.measures.rms > 0


def test_worse_than_doing_nothing_is_marked(result: Comparison) -> None:
    for row in result.rows():
        assert row["worse"] == (row["rms_mm"] > 1000 * result.nothing)
    last = result.entries[-1]
    assert last.measures is not None
    spoilt = replace(last, measures=replace(last.measures, rms=2 * result.nothing))
    rows = replace(result, entries=(*result.entries[:-1], spoilt)).rows()
    assert rows[-1]["worse"] and not rows[0]["worse"]


def test_methods_that_lose_are_compared_by_name_only(monkeypatch: pytest.MonkeyPatch, bending: Examples) -> None:
    asked: list[str] = []
    monkeypatch.setattr(comparison, "_evaluate_method", lambda name, *_: asked.append(name) or result_of(name))
    compare_skins(bending)
    assert asked and not set(asked) & set(comparison.METHODS_ON_REQUEST)


def result_of(name: str) -> comparison.MethodResult:
    return comparison.MethodResult(name, "", False, None, None, "not fitted")


def test_whole_clips_are_held_out(bending: Examples) -> None:
    clips = [f"clip {number // 3}" for number in range(len(bending))]
    e = bending
    cut = Examples(
        e.rest, e.triangles, e.inverse_binds, e.transforms, e.vertices, e.parents, e.weights, e.joints, e.names,
        clips=clips,
    )  # fmt: skip
    found = compare_skins(cut, ["linear"])
    assert found.held.clips and not set(found.held.clips) & set(found.trained.clips)
    assert set(compare_skins(cut, ["linear"], by="pose").held.clips) & set(found.trained.clips)
    measures = found.entries[1].measures
    assert measures is not None and np.isfinite(measures.jitter) and measures.train_rms > 0
    numbers = hold_out_clips(["a"] * 5 + ["b"] * 2 + ["c"] * 9, 0.3)
    assert numbers.tolist() == [5, 6] or numbers.tolist() == list(range(7, 16))


def test_jitter_is_the_trembling_and_not_the_size_of_the_error() -> None:
    offset = np.tile([0.0, 0.3, 0.4], (6, 4, 1))
    trembling = offset * np.array([1, -1, 1, -1, 1, -1])[:, None, None]
    assert comparison.jitter(offset, ["a"] * 6) == pytest.approx(0)
    assert comparison.jitter(trembling, ["a"] * 6) == pytest.approx(4 * 0.5)
    assert np.isnan(comparison.jitter(trembling, ["a", "b"] * 3)) and np.isnan(comparison.jitter(trembling, []))


def test_percentiles_and_joints_add_up(result: Comparison) -> None:
    for entry in result.valid_results:
        m = entry.measures
        assert m is not None and m.percentiles[0] <= m.percentiles[1] <= m.percentiles[2] <= m.worst
        assert np.nanmin(m.joint_rms) <= m.rms <= np.nanmax(m.joint_rms)


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
    assert [each["method"] for each in told["methods"]] == [NOTHING, "linear", "dual", "pose-space"]
    assert told["held_out_poses"] == result.held_numbers.tolist()
    lines = (tmp_path / "r/table.csv").read_text().splitlines()
    assert len(lines) == 5 and lines[0].startswith("method,rms_mm")


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
