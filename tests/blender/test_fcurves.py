"""Our F-curves in Blender: each evaluates to our curve, and bones stand where our joints stand."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from addons.blender import fcurves as f
from addons.blender.fcurves import channel_of_fcurve, from_fcurves
from tests.blender.blender import HERE, ensure_blender
from tests.edit.random_curves import random_curve, smooth_turn, walk

from understudy.character import Channel, Curve, Curves, Skeleton
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.edit.rotation_curves import sample_rotations
from understudy.maths import transform

FPS, FIRST = 24.0, 1.0
CLOSE = 1e-4  # Blender keeps keys and handles as float32: 1e-7 of frames in the hundreds and of values of a few metres
NAMES = ("hip", 'knee "L"', "foot\\end")


@dataclass
class Seen:
    """What Blender made of an action."""

    values: np.ndarray  # (N, M)
    poses: np.ndarray  # (M, B, 4, 4)
    stored: list[np.ndarray]  # each (K, 6)


def blender(action: f.Action, skeleton: Skeleton, frames: np.ndarray, folder: Path) -> Seen:
    output = folder / "seen.npz"
    rest = transform.compose(skeleton.translations, skeleton.rotations)
    for joint, parent in enumerate(skeleton.parents):
        rest[joint] = rest[parent] @ rest[joint] if parent >= 0 else rest[joint]
    bones: list[dict[str, Any]] = [
        {"name": name, "parent": skeleton.names[parent] if parent >= 0 else "", "matrix": matrix.tolist()}
        for name, parent, matrix in zip(skeleton.names, skeleton.parents, rest)
    ]
    parts = ("data_path", "array_index", "extrapolation", "cycles", "interpolation")
    arrays = ("co", "handle_left", "handle_right")
    curves = [
        {name: getattr(c, name) for name in parts} | {name: getattr(c, name).tolist() for name in arrays}
        for c in action.fcurves
    ]
    order = {"bones": bones, "modes": dict(action.rotation_modes), "fcurves": curves, "frames": frames.tolist()}
    (folder / "order.json").write_text(json.dumps(order | {"output": str(output)}))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    command = [str(ensure_blender()), str(HERE / "keys.py"), str(folder / "order.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=clean, timeout=600)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-4000:]}"
    with np.load(output) as found:
        return Seen(found["values"], found["poses"], [found[f"again_{i}"] for i in range(len(curves))])


def chain(rng: np.random.Generator, turned: bool) -> Skeleton:
    turns = walk(rng, 3, 2.0) if turned else np.tile([0.0, 0, 0, 1], (3, 1))
    return Skeleton(NAMES, [-1, 0, 1], rng.normal(size=(3, 3)), turns)


def animated(rng: np.random.Generator, segments: int | None) -> Curves:
    hip, knee, foot = NAMES
    return Curves(
        "take",
        [
            random_curve(rng, Channel(hip, "translation"), 6, segments),
            Curve(Channel(hip, "rotation"), np.arange(5) * 0.7, walk(rng, 5, 1.5), LINEAR),
            random_curve(rng, Channel(knee, "euler", ("z", "x", "y")), 5, segments),
            random_curve(rng, Channel(knee, "scale"), 4, segments, 0.2),
            Curve(Channel(foot, "rotation"), *_keys(smooth_turn(rng, 5, 1.0))),
            random_curve(rng, Channel(foot, "translation"), 4, STEP),
        ],
        rate=FPS,
    )


def _keys(curve: Curve) -> tuple[Any, ...]:
    return curve.times, curve.values, curve.segments, curve.before, curve.after


def local(curves: Curves, skeleton: Skeleton, times: np.ndarray) -> np.ndarray:
    """(M, J, 4, 4) parent_from_joint."""
    count = len(times)
    t, q = (np.repeat(rest[None], count, 0) for rest in (skeleton.translations, skeleton.rotations))
    s = np.ones((count, len(skeleton), 3))
    for curve in curves.curves:
        joint = skeleton.index(curve.channel.target)
        if curve.channel.kind in ("rotation", "euler"):
            q[:, joint] = sample_rotations(curve, times)
        else:
            (t if curve.channel.kind == "translation" else s)[:, joint] = curve.sample(times)
    return transform.compose(t, q, s)


def world(curves: Curves, skeleton: Skeleton, times: np.ndarray) -> np.ndarray:
    out = local(curves, skeleton, times)
    for joint, parent in enumerate(skeleton.parents):
        if parent >= 0:
            out[:, joint] = out[:, parent] @ out[:, joint]
    return out


@pytest.mark.parametrize("segments", [BEZIER, LINEAR, None], ids=["bezier", "linear", "mixed"])
def test_blender_evaluates_our_curves_and_poses_our_joints(segments: int | None, tmp_path: Path) -> None:
    rng = np.random.default_rng(8)
    curves, skeleton = animated(rng, segments), chain(rng, turned=False)
    # bones upright at rest, so that columns are not mixed; their places at rest are
    action = f.to_fcurves(curves, FPS, FIRST, skeleton)
    times = np.linspace(curves.start, curves.end, 200)
    jumps = np.concatenate([c.times[1:][c.segments == STEP] for c in curves.curves] + [np.zeros(0)])
    if jumps.size:  # on the very frame of a jump float32 may fall on either side
        times = times[np.abs(times[:, None] - jumps).min(axis=1) > 1e-3]
    seen = blender(action, skeleton, FIRST + times * FPS, tmp_path)
    back = from_fcurves(action, skeleton)
    basis = from_fcurves(action)
    for fcurve, values in zip(action.fcurves, seen.values):
        ours = _column(basis, fcurve).sample(times)[:, _index(basis, fcurve)]
        if "rotation_quaternion" not in fcurve.data_path:  # ours are normalised, an F-curve alone is not
            assert np.abs(ours - values).max() < CLOSE * max(1.0, np.abs(values).max()), fcurve.data_path
    wanted = world(curves, skeleton, times)
    assert np.abs(seen.poses - wanted).max() < 5 * CLOSE * max(1.0, np.abs(wanted).max())
    assert np.abs(world(back, skeleton, times) - wanted).max() < 1e-4


def _column(curves: Curves, fcurve: f.FCurve) -> Curve:
    target, kind, _ = channel_of_fcurve(fcurve)
    return next(c for c in curves.curves if (c.channel.target, c.channel.kind) == (target, kind))


def _index(curves: Curves, fcurve: f.FCurve) -> int:
    return _column(curves, fcurve).channel.columns.index(channel_of_fcurve(fcurve)[2])


def test_bones_that_are_turned_at_rest(tmp_path: Path) -> None:
    rng = np.random.default_rng(9)
    curves, skeleton = animated(rng, BEZIER), chain(rng, turned=True)
    action = f.to_fcurves(curves, FPS, FIRST, skeleton)
    times = np.linspace(curves.start, curves.end, 200)
    jumps = next(c for c in curves.curves if (c.segments == STEP).all()).times[1:]
    times = times[np.abs(times[:, None] - jumps).min(axis=1) > 1e-3]
    seen = blender(action, skeleton, FIRST + times * FPS, tmp_path)
    wanted = world(curves, skeleton, times)
    # Blender keeps a bone at rest as head, tail and roll in float32
    assert np.abs(seen.poses - wanted).max() < 5e-4 * max(1.0, np.abs(wanted).max())


def test_handles_are_stored_as_given_and_what_is_beyond_goes_on(tmp_path: Path) -> None:
    rng = np.random.default_rng(10)
    bones = Skeleton(("a", "b", "c", "d"), [-1, -1, -1, -1], np.zeros((4, 3)))
    curves = []
    for name, beyond in zip(
        "abcd", (("hold", "linear"), ("linear", "hold"), ("cycle", "cycle"), ("hold", "cycle_offset"))
    ):
        curve = random_curve(rng, Channel(name, "translation"), 4, BEZIER)
        curves.append(Curve(curve.channel, *_keys(curve), beyond))
    action = f.to_fcurves(Curves("beyond", curves, rate=FPS), FPS, FIRST)
    times = np.linspace(-2, 6, 200)
    seen = blender(action, bones, FIRST + times * FPS, tmp_path)
    for fcurve, stored in zip(action.fcurves, seen.stored):
        given = np.concatenate([fcurve.co, fcurve.handle_left, fcurve.handle_right], axis=1)
        np.testing.assert_allclose(stored, given, rtol=1e-6, atol=1e-5)
    for i, curve in enumerate(curves):
        ours = curve.sample(times)
        seam = np.abs(times[:, None] - curve.times[[0, -1]]).min(axis=1) < 1e-3
        span = curve.times[-1] - curve.times[0]
        seam |= np.abs((times - curve.times[0]) / span - np.round((times - curve.times[0]) / span)) < 1e-3
        found = seen.values[3 * i : 3 * i + 3].T
        assert np.abs(found - ours)[~seam].max() < 10 * CLOSE, curve.extrapolation
