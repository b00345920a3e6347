"""The plain form of a character: joints and weights that put the kept vertices where the rig puts them."""

from __future__ import annotations

import numpy as np
import pytest
from tests.character.rig.layered_character import character as layered_character
from tests.render.viewport.puppets import puppet, random_rows
from tests.render.viewport.reading import Described

from understudy.character.rig import DirectRig, LayeredRig
from understudy.render.viewport.description import describe
from understudy.studio.crowd.simplified import make_crowd_character


def drawn(form, rows):
    """(F, V', 3) what a page draws, and the rig's own vertices there."""
    found = Described(describe(form.packer.rig, packer=form.packer))
    return np.array([found.skinned(pose) for pose in form.poses(rows)]), form.vertices[found["origins"]]


@pytest.mark.parametrize("method", ["linear", "dual"])
def test_of_joints(method: str) -> None:
    direct = DirectRig(puppet(method=method))
    form = make_crowd_character(direct, direct.rest[None], 60)
    rows = random_rows(direct, 3)
    placed, vertices = drawn(form, rows)
    np.testing.assert_allclose(placed, direct.vertices(rows)[:, vertices], atol=3e-6)


def test_of_layers_without_the_lattice() -> None:
    layered = LayeredRig(layered_character(vertices=300))
    rows = _rows(layered, 24, lattice=False)
    form = make_crowd_character(layered, rows, 10_000)
    placed, vertices = drawn(form, rows)
    height = np.ptp(layered.vertices(layered.rest[None])[0][:, 1])
    np.testing.assert_allclose(placed, layered.vertices(rows)[:, vertices], atol=2e-3 * height)


def test_the_lattice_is_followed() -> None:
    layered = LayeredRig(layered_character(vertices=300))
    rows = _rows(layered, 24, lattice=True)
    form = make_crowd_character(layered, rows, 10_000)
    placed, vertices = drawn(form, rows)
    true = layered.vertices(rows)[:, vertices]
    without = rows.copy()
    without[:, layered.layers.lattice.control] = layered.rest[layered.layers.lattice.control]
    moved = np.linalg.norm(true - layered.vertices(without)[:, vertices], axis=2)
    left = np.linalg.norm(true - placed, axis=2)
    assert np.sqrt(np.mean(left**2)) < 0.35 * np.sqrt(np.mean(moved**2))  # most of what it does


def _rows(layered: LayeredRig, count: int, lattice: bool) -> np.ndarray:
    random = np.random.default_rng(3)
    controls = layered.controls
    reach = np.minimum(controls.high - controls.rest, 0.3)
    rows = controls.rest + random.uniform(0, 1, (count, len(controls))) * reach
    chosen = layered.layers.lattice.control
    # few patterns, as acting has: not every point on its own
    patterns = random.normal(0, 0.15, (3, len(chosen)))
    rows[:, chosen] = controls.rest[chosen] + (random.normal(0, 1, (count, 3)) @ patterns if lattice else 0)
    return np.clip(rows, controls.low, controls.high)
