"""Dense animations become keys: the poses at these times are the source's, and constant channels have no tangents."""

from __future__ import annotations

import numpy as np
import pytest
from tests.edit import puppets

from understudy.character import Channel, Clip, Curve, Curves
from understudy.edit.edit_list_actions import apply_action, describe_distance, is_dense, key_at_times, key_dense_clip
from understudy.edit.edit_list_steps import PoseStep, Preparation
from understudy.edit.goals import MovePoint
from understudy.errors import InvalidInput


@pytest.mark.parametrize("method", ["smooth", "clamped", "flat", "linear"])
def test_keys_are_the_poses_of_the_source(method: str) -> None:
    clip = puppets.wave().clip(24.0)
    times = [0.0, 0.25, 0.5, 1.0]
    curves = key_at_times(clip, times, method)
    np.testing.assert_allclose(np.abs(curves.sample(times)), np.abs(clip.sample(times)), atol=1e-9)
    assert all(len(curve) == 4 for curve in curves.curves)
    assert (curves.name, curves.labels, curves.rate) == (clip.name, clip.labels, 24.0)


def test_what_stands_still_has_a_single_key_and_markers_none() -> None:
    values = np.column_stack([np.tile([0.1, 0, 0], (9, 1)), np.linspace(0, 1, 9), np.zeros((9, 2)), np.zeros((9, 3))])
    clip = Clip("c", [Channel("a", "scale"), Channel("b", "translation"), Channel("m", "marker")], values, 24)
    curves = key_at_times(clip, [0, 1 / 6, 1 / 3])
    assert {curve.channel.target: len(curve) for curve in curves.curves} == {"a": 1, "b": 3}


def test_extrapolation_is_kept() -> None:
    circling = Curve(
        Channel("a", "translation"),
        np.arange(9) / 8,
        np.random.default_rng(0).normal(size=(9, 3)),
        extrapolation=("cycle",) * 2,
    )
    assert key_at_times(Curves("c", [circling]), [0, 0.5, 1]).curves[0].extrapolation == ("cycle", "cycle")


def test_keys_outside_are_refused() -> None:
    with pytest.raises(InvalidInput, match="within 'wave', 0 to 1 s, but is at 2"):
        key_at_times(puppets.wave().clip(), [0, 2])


def test_more_keys_are_nearer() -> None:
    rig, clip = puppets.rig(), puppets.wave().clip(24.0)
    off = [
        float(describe_distance(rig, clip, key_at_times(clip, np.linspace(0, 1, n))).split()[0]) for n in (2, 4, 13, 25)
    ]
    assert off[0] > off[1] > off[2] > off[3] and off[3] < 1e-6


def test_preparation_says_what_it_did() -> None:
    rig, curves = puppets.rig(), puppets.wave()
    clip = curves.clip(24.0)
    made, notes = key_dense_clip(rig, clip, Preparation(keys=(0, 0.5, 1), orders={"": "XYZ"}))
    assert "3 keys of 'wave'" in notes[0] and "mm off" in notes[0]
    assert {curve.channel.kind for curve in made.curves} == {"euler", "weights"}
    assert key_dense_clip(rig, curves, Preparation()) == (curves, ())


def test_a_dense_clip_is_edited_as_it_is() -> None:
    rig, clip = puppets.rig(), puppets.wave().clip(24.0)
    dense, notes = key_dense_clip(rig, clip, Preparation())
    np.testing.assert_allclose(dense.sample(clip.times), clip.values, atol=1e-12)
    assert dense.key_count == len(clip) * len(clip.channels) and "key on every frame" in notes[0]
    with pytest.raises(InvalidInput, match="would last one frame"):
        apply_action(rig, dense, PoseStep(0.5, (MovePoint("hand", 0.5, by=(0, 0.1, 0)),)))


def test_a_bake_is_noted() -> None:
    clip = puppets.wave().clip(24.0)
    baked = key_at_times(clip, clip.times, "linear")
    assert is_dense(baked) and not is_dense(puppets.wave())
    assert "key on every frame" in key_dense_clip(puppets.rig(), baked, Preparation())[1][0]
