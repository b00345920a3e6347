"""Contact phases: found with hysteresis, kept through a file, and refused in a sentence."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis.extra.numpy import arrays
from tests.data_folder import data_file

from understudy.character.body.contacts import (
    ContactPhases,
    find_contact_phases,
    hysteresis,
    phases_from_spans,
    read_phases,
    runs,
)
from understudy.character.body.mass import body_of
from understudy.errors import BadFile, InvalidInput, UnderstudyError
from understudy.formats import registry
from understudy.transfer.source import source_of


def hopping(height: float = 0.3, floor: float = 0.0) -> np.ndarray:
    """(90, 1, 3) at 30 fps: on the floor for a second, in the air for one, on the floor again a metre ahead."""
    t = np.clip(np.arange(90) / 30 - 1, 0, 1)
    return np.stack([np.zeros(90), floor + height * np.sin(np.pi * t), t * t * (3 - 2 * t)], axis=1)[:, None]


def test_a_hop_is_found() -> None:
    down = find_contact_phases(hopping(), 30.0, 1.0).down[:, 0]
    assert down[:29].all() and down[62:].all() and not down[33:57].any()
    assert len(runs(down)) == 2


def test_a_point_has_its_own_floor_unless_it_is_too_high() -> None:
    np.testing.assert_array_equal(
        find_contact_phases(hopping(floor=0.08), 30.0, 1.0).down, find_contact_phases(hopping(), 30.0, 1.0).down
    )
    assert not find_contact_phases(hopping(floor=0.5), 30.0, 1.0).down.any()


def test_phases_do_not_depend_on_the_size_of_things() -> None:
    np.testing.assert_array_equal(
        find_contact_phases(0.01 * hopping(), 30.0, 0.01).down, find_contact_phases(40 * hopping(), 30.0, 40.0).down
    )


def test_a_point_that_hovers_between_the_bounds_stays_as_it_was() -> None:
    on, off = np.array([[0, 1, 0, 0, 0, 0, 1, 0]], bool).T, np.array([[0, 0, 0, 0, 1, 0, 0, 0]], bool).T
    np.testing.assert_array_equal(hysteresis(on, off)[:, 0], [0, 1, 1, 1, 0, 0, 1, 1])


@settings(max_examples=25)
@given(arrays(bool, (37, 3)))
def test_spans_and_files_keep_every_frame(tmp_path_factory: pytest.TempPathFactory, down: np.ndarray) -> None:
    phases = ContactPhases(('a "toe"', "heel\\", "c"), down)
    np.testing.assert_array_equal(phases_from_spans(phases.names, phases.spans(24.0, 1.5), 37, 24.0, 1.5).down, down)
    path = tmp_path_factory.mktemp("phases") / "phases.toml"
    spans = phases.spans(24.0, 1.5).items()
    path.write_text("[contacts]\n" + "\n".join(f"{json.dumps(name)} = {[*map(list, own)]}" for name, own in spans))
    np.testing.assert_array_equal(read_phases(path, phases.names, 37, 24.0, 1.5).down, down)


@given(arrays(bool, 50))
def test_runs_are_the_mask(mask: np.ndarray) -> None:
    again = np.zeros(50, bool)
    for a, b in runs(mask):
        assert a < b and mask[a:b].all()
        again[a:b] = True
    np.testing.assert_array_equal(again, mask)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[contacts]\ntoes = [[0.0, 1.0]]", "no key 'toes'"),
        ("[contacts]\ntoe = [[1.0, 0.0]]", "ends before it begins"),
        ("[contacts]\ntoe = [0.0, 1.0]", "list of spans"),
        ("[contacts]\ntoe = [['a', 1.0]]", "a span's end"),
        ("[contact]\n", "no key 'contact'"),
        ("[contacts", "not TOML"),
    ],
)
def test_a_bad_file_is_refused(tmp_path: Path, text: str, message: str) -> None:
    path = tmp_path / "phases.toml"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(BadFile, match=message) as caught:
        read_phases(path, ["toe"], 10, 30.0)
    assert "phases.toml" in str(caught.value)


def test_bad_spans_are_refused() -> None:
    with pytest.raises(InvalidInput, match="first and last second"):
        phases_from_spans(["toe"], {"toe": [(2.0, 1.0)]}, 10, 30.0)
    with pytest.raises(UnderstudyError, match="available: 'toe'"):
        phases_from_spans(["toe"], {"toes": [(0.0, 1.0)]}, 10, 30.0)


def test_nobody_and_nothing() -> None:
    assert find_contact_phases(np.zeros((0, 2, 3)), 30.0, 1.0).down.shape == (0, 2)
    assert find_contact_phases(np.zeros((5, 0, 3)), 30.0, 1.0).down.shape == (5, 0)
    assert find_contact_phases(np.zeros((1, 2, 3)), 30.0, 1.0).down.all()


def test_a_walk_alternates_and_a_jump_leaves_the_floor() -> None:
    for name, flies in (("02_01", False), ("13_39", True)):
        asset = registry.read(data_file(f"bvh_cmu/{name}.bvh"))
        motion, body = source_of(asset, rate=30.0), body_of(asset.character())
        assert motion.poses is not None
        phases = find_contact_phases(body.contact_positions(motion.poses.world), 30.0, 1.7, body.names)
        feet = phases.down[:, :4]
        flight = max((b - a for a, b in runs(~feet.any(axis=1))), default=0)
        assert (flight > 8) == flies
        assert feet.any(axis=0).all() and not phases.down[:, 4:].any()  # all feet stand at some time, hands never
        if not flies:
            assert len(phases.runs(0)) >= 2 and (feet[:, :2].any(axis=1) | feet[:, 2:].any(axis=1)).mean() > 0.9
