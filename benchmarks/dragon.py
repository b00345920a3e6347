"""The dragon's rig on one core: frames a second, one frame, and the share of each layer.

The frames are those of its clips, evenly spread, and beside them the worst that can be asked: every control of every
layer away from its rest in every frame. The floor is linear blend skinning of the same mesh alone. Times are
medians of some rounds, in batches of a second.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from benchmarks.measure import Row
from tests.reference import character as reference

from understudy import cast
from understudy.character import Asset, Character
from understudy.character.rig import DirectRig, LayeredRig
from understudy.character.rig.flatten import coarse_shapes
from understudy.character.skinning import layered
from understudy.checks import Array
from understudy.maths import jit

PEERS = False  # nothing here needs the peers' environment
FRAMES = 240  # ten seconds
SECOND = 24  # frames of one batch
BATCH_MS, SINGLE_MS = 1000 / 500, 3.0  # what was asked for: 500 frames a second in a batch, 3 ms for one


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    asset = cast.load("dragon")
    rig = LayeredRig(asset.characters[0])
    with jit.one_kernel_thread():
        acted, worst = acted_rows(rig, asset), every_control(rig)
        yield from speed(rig, "clips", acted)
        yield from speed(rig, "every control", worst)
        yield from peers(rig, acted)
        yield from shares(rig, "clips", acted)
        yield from shares(rig, "every control", worst)


def acted_rows(rig: LayeredRig, asset: Asset) -> Array:
    """(F, C) frames from all clips, evenly spread."""
    every = np.concatenate([rig.pose(animation) for animation in asset.animations])
    return every[np.linspace(0, len(every) - 1, FRAMES).astype(int)]


def every_control(rig: LayeredRig) -> Array:
    """(F, C) frames in which nothing rests."""
    return np.random.default_rng(0).uniform(rig.controls.low, rig.controls.high, (FRAMES, len(rig.controls)))


def speed(rig: LayeredRig, what: str, frames: Array) -> Iterator[Row]:
    batch = in_batches(rig.vertices, frames)
    yield Row(f"dragon, {what}, batch", 1000 / batch, "fps", "asked for: 500 fps", BATCH_MS / batch, 1.0)
    single = median_each_ms([partial(rig.vertices, frames[f : f + 1]) for f in range(0, FRAMES, 8)], 30)
    single = float(np.mean(single))
    yield Row(f"dragon, {what}, one frame", single, "ms", "asked for: 3 ms", SINGLE_MS / single, 1.0)


def peers(rig: LayeredRig, frames: Array) -> Iterator[Row]:
    plain = rig.character
    direct = DirectRig(Character(plain.name, plain.skeleton, plain.parts))
    poses = np.concatenate(rig.local_transforms(frames), axis=-1).reshape(len(frames), -1)
    ours, floor = in_batches(rig.vertices, frames), in_batches(direct.vertices, poses)
    some = frames[:: FRAMES // 8]
    slow = median_each_ms([lambda: reference.deform(rig.blocks, rig.frames(some))], rounds=3)[0] / len(some)
    name = "dragon, clips, a frame of a batch"
    yield Row(name, ours, "ms", "NumPy", slow / ours, 3.0)
    yield Row(name, ours, "ms", "linear blend skinning alone", floor / ours, None)


def shares(rig: LayeredRig, what: str, rows: Array) -> Iterator[Row]:
    """What each layer adds to the time of a frame: the layers are switched on one after the other."""
    times: dict[str, float] = {}
    for first in range(0, len(rows), SECOND):
        for name, spent in layer_times(rig, rows[first : first + SECOND]).items():
            times[name] = times.get(name, 0.0) + spent
    total = sum(times.values())
    for name, spent in times.items():
        yield Row(f"dragon, {what}: {name}", 100 * spent / total, "%", f"{1000 * spent / len(rows):.0f} us", None, None)


def layer_times(rig: LayeredRig, rows: Array) -> dict[str, float]:
    """Milliseconds of each layer for a batch of rows."""
    frames, coarse = rig.frames(rows), coarse_shapes(rig.layers)
    still = frames._replace(weights=np.zeros_like(frames.weights), moved=np.zeros_like(frames.moved), bend=None)
    skinned = still._replace(moved=frames.moved)
    shaped = skinned._replace(weights=np.where(coarse, frames.weights, 0))
    finer = skinned._replace(weights=frames.weights)
    steps = {"output": still, "skinning": skinned, "coarse shapes": shaped, "fine shapes": finer, "lattice": frames}
    ends = median_each_ms(
        [*(partial(layered.deform, rig.blocks, step) for step in steps.values()), partial(rig.frames, rows)]
    )
    return {"controls and joints": ends[-1], **dict(zip(steps, np.diff([0.0, *ends[:-1]]).tolist()))}


def in_batches(vertices: Callable[[Array], Array], rows: Array) -> float:
    """Milliseconds a frame, of rows in batches of a second."""
    return sum(median_each_ms([partial(vertices, rows[f : f + SECOND]) for f in range(0, len(rows), SECOND)])) / len(
        rows
    )


def median_each_ms(calls: list[Callable[[], object]], rounds: int = 15) -> list[float]:
    """The median time of each call, taken in turns: what others do on the machine meets all of them alike."""
    for call in calls:
        call()
    times = np.empty((rounds, len(calls)))
    for round in range(rounds):
        for i, call in enumerate(calls):
            start = time.perf_counter()
            call()
            times[round, i] = time.perf_counter() - start
    return (1e3 * np.median(times, axis=0)).tolist()
