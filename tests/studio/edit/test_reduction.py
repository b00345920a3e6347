"""Reducing for people: what is baked is found out, and fast captures are kept within the tolerance at all frames."""

from __future__ import annotations

import numpy as np
import pytest
from tests.cli.acrobat import acrobat
from tests.studio.edit.robot import flight, robot

from understudy.character import Clip, Curves, rig
from understudy.edit import keys
from understudy.studio.edit import reduction


def silent(done: float, total: float) -> None:
    """Nobody listens."""


def test_a_key_on_every_frame_is_baked_whatever_the_rate_seems_to_be() -> None:
    assert not reduction.is_baked(flight())
    clip = flight().clip()
    assert reduction.is_baked(clip) and reduction.is_baked(reduction.original_keys(clip))
    dense = flight()
    for time in np.arange(1, 72) / 24:
        dense = keys.insert_key(dense, float(time))
    assert reduction.is_baked(dense)
    assert reduction.count_keys(clip) == reduction.original_keys(clip).key_count == 73 * 7


def test_an_unreduced_clip_is_the_clip() -> None:
    clip = acrobat().clips[0]
    times = clip.start + np.linspace(0, clip.duration, 50)
    assert np.allclose(reduction.original_keys(clip).sample(times), clip.sample(times), atol=1e-12)


def test_a_fast_capture_is_kept_at_all_of_its_frames() -> None:
    own = rig.rig_of(robot().characters[0])
    slow = flight()
    fast = Clip("fast", slow.channels, slow.sample(np.arange(361) / 120), 120.0)
    few = reduction.reduce_animation(fast, own, 0.02, None, silent)
    assert error(fast, few.curves, own) == pytest.approx(few.error, rel=1e-6) and few.error <= 0.02
    assert few.curves.rate == 30.0 and few.keys < few.source_keys / 20
    jolted = fast.values.copy()
    height = fast.channels.names.index("body.translation.y")
    jolted[101:104, height] += (0.07, 0.1, 0.07)  # over before the next of 30 frames a second
    jolt = Clip("jolt", fast.channels, jolted, 120.0)
    few = reduction.reduce_animation(jolt, own, 0.02, None, silent)
    assert error(jolt, few.curves, own) == pytest.approx(few.error, rel=1e-6) and few.error <= 0.02


def error(clip: Clip, curves: Curves, own: rig.PosedRig) -> float:
    """Metres that joints are off at most, at eight times a frame."""
    times = clip.start + np.arange(8 * (len(clip) - 1) + 1) / (8 * clip.rate)
    one, other = (own.joints(own.pose(animation, times))[..., :3, 3] for animation in (clip, curves))
    return float(np.linalg.norm(one - other, axis=-1).max())


def test_keys_are_at_poses_by_default() -> None:
    """All moving channels have common keys, a second apart at most."""
    asset = acrobat()
    few = reduction.reduce_animation(asset.clips[0], rig.rig_of(asset.characters[0]), 0.02, None, silent)
    moving = [curve for curve in few.curves.curves if len(curve) > 1]
    common = set.intersection(*(set(curve.times.tolist()) for curve in moving))
    assert len(common) >= max(few.curves.duration, 3)
    assert max(np.diff(curve.times).max() for curve in moving) <= 1.0


def test_the_tolerance_holds_where_all_frames_are_looked_at() -> None:
    asset = acrobat()
    few = reduction.reduce_animation(asset.clips[1], rig.rig_of(asset.characters[0]), 0.01, 0.05, silent)
    assert few.error <= 0.01 and few.angle <= 0.05 and few.keys < few.source_keys


def test_shared_keys_are_whole_poses() -> None:
    asset = acrobat()
    few = reduction.reduce_animation(asset.clips[0], rig.rig_of(asset.characters[0]), 0.02, None, silent, "shared")
    moving = [curve.times.tolist() for curve in few.curves.curves if len(curve) > 2]
    assert moving and all(times == moving[0] for times in moving) and few.error <= 0.02
