"""Reducing for people: what is baked is found out, and fast captures are kept within the tolerance at all frames."""

from __future__ import annotations

import numpy as np
from tests.cli.acrobat import acrobat
from tests.studio.edit.robot import flight, robot

from understudy.character import Clip, rig
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
    off, _ = reduction.max_deviation(fast, few.curves, own)
    assert off == few.error <= 0.02
    assert few.curves.rate == 30.0 and few.keys < few.source_keys / 20
    jolted = fast.values.copy()
    height = fast.channels.names.index("body.translation.y")
    jolted[101:104, height] += (0.07, 0.1, 0.07)  # over before the next of 30 frames a second
    jolt = Clip("jolt", fast.channels, jolted, 120.0)
    few = reduction.reduce_animation(jolt, own, 0.02, None, silent)
    assert reduction.max_deviation(jolt, few.curves, own)[0] == few.error <= 0.02


def test_the_tolerance_holds_where_all_frames_are_looked_at() -> None:
    asset = acrobat()
    few = reduction.reduce_animation(asset.clips[1], rig.rig_of(asset.characters[0]), 0.01, 0.05, silent)
    assert few.error <= 0.01 and few.angle <= 0.05 and few.keys < few.source_keys


def test_shared_keys_are_poses() -> None:
    asset = acrobat()
    few = reduction.reduce_animation(asset.clips[0], rig.rig_of(asset.characters[0]), 0.02, None, silent, shared=True)
    moving = [curve.times.tolist() for curve in few.curves.curves if len(curve) > 2]
    assert moving and all(times == moving[0] for times in moving) and few.error <= 0.02
