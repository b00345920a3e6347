"""Forward kinematics, skinning, BVH parsing and the start of the command line, beside their peers."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks.measure import Row, assert_same, median_ms, peer
from tests.reference import character as reference

from understudy.character import Asset, Channel, Character, Clip, Skeleton, kinematics
from understudy.character.skinning import dual_quaternion, linear
from understudy.checks import Array
from understudy.formats import bvh, write
from understudy.maths import quaternion


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    with tempfile.TemporaryDirectory() as folder:
        yield from forward_kinematics(Path(folder))
        yield from skinning(Path(folder))
        yield from single_frame()
        yield from bvh_parsing(Path(folder))
        yield from start_up(Path(folder))


def random_tree(rng: np.random.Generator, joints: int) -> Array:
    """(J,) parents of a tree of limbs, about as deep as a character's."""
    return np.array([-1] + [int(rng.integers(max(0, j - 6), j)) for j in range(1, joints)])


def random_pose(rng: np.random.Generator, *shape: int) -> Array:
    """Unit quaternions (*shape, 4)."""
    return quaternion.normalise(rng.normal(size=(*shape, 4)))


def forward_kinematics(folder: Path, joints: int = 60, frames: int = 10_000) -> Iterator[Row]:
    rng = np.random.default_rng(0)
    parents, offsets = random_tree(rng, joints), rng.normal(size=(joints, 3))
    translations = np.tile(offsets, (frames, 1, 1))
    translations[:, 0] = rng.normal(size=(frames, 3))
    rotations = random_pose(rng, frames, joints)
    np.savez(folder / "fk.npz", parents=parents, offsets=offsets, root=translations[:, 0], rotations=rotations)
    theirs = peer("pinocchio_fk.py", folder / "fk.npz")
    out = np.empty((frames, joints, 4, 4))
    ours = median_ms(lambda: kinematics.world_transforms(parents, translations, rotations, out=out))
    assert_same(float(np.abs(out[..., :3, 3]).mean()), theirs["checksum"], "forward kinematics")
    name = f"FK, {joints} joints x {frames} frames"
    yield Row(name, ours, "ms", "pinocchio loop, results not read", theirs["ms"] / ours, 4.0)
    yield Row(name, ours, "ms", "pinocchio loop, results read", theirs["ms_read"] / ours, None)


def skin_problem(vertices: int, frames: int, bones: int = 60) -> dict[str, Array]:
    """Vertices with four neighbouring influences, and rigid transforms a frame."""
    rng = np.random.default_rng(1)
    first = np.sort(rng.integers(0, bones - 4, vertices))
    weights = rng.random((vertices, 4)).astype(np.float32)
    matrices = np.tile(np.eye(4), (frames, bones, 1, 1))
    matrices[..., :3, :3] = quaternion.to_matrix(random_pose(rng, frames, bones))
    matrices[..., :3, 3] = rng.normal(size=(frames, bones, 3))
    return {
        "vertices": rng.normal(size=(vertices, 3)).astype(np.float32),
        "influences": (first[:, None] + np.arange(4)).astype(np.int32),
        "weights": weights / weights.sum(axis=1, keepdims=True),
        "matrices": matrices,
    }


def skinning(folder: Path, vertices: int = 100_000, frames: int = 100) -> Iterator[Row]:
    problem = skin_problem(vertices, frames)
    np.savez(folder / "skin.npz", **problem)
    torch, igl = peer("torch_smplx_lbs.py", folder / "skin.npz"), peer("libigl_lbs.py", folder / "skin.npz")
    arguments: Any = tuple(problem.values())
    out = np.empty((frames, vertices, 3), np.float32)
    lbs = median_ms(lambda: linear.linear_blend(*arguments, out=out))
    checksum = float(np.abs(out).mean(dtype=np.float64))
    assert_same(checksum, torch["checksum"], "torch skinning")
    assert_same(checksum, igl["checksum"], "libigl skinning")
    dqs = median_ms(lambda: dual_quaternion.dual_blend(*arguments, out=out))
    name = f"LBS, {vertices // 1000}k vertices x {frames} frames"
    yield Row(name, lbs, "ms", f"torch {torch['version']}, smplx style", torch["ms"] / lbs, 8.0)
    yield Row(name, lbs, "ms", f"libigl {igl['version']}, per frame", igl["ms"] / lbs, 40.0)
    yield Row(name.replace("LBS", "DQS"), dqs, "ms", "our LBS (at most twice its time)", lbs / dqs, 0.5)


def single_frame(vertices: int = 10_000) -> Iterator[Row]:
    arguments: Any = tuple(skin_problem(vertices, 1).values())
    ours = median_ms(lambda: linear.linear_blend(*arguments), repeats=200)
    numpy = median_ms(lambda: reference.linear_blend(*arguments), repeats=50)
    yield Row(f"LBS, {vertices // 1000}k vertices, one frame", ours, "ms", "NumPy", numpy / ours, 3.0)


def bvh_parsing(folder: Path, joints: int = 31, megabytes: float = 2.0) -> Iterator[Row]:
    rng = np.random.default_rng(2)
    skeleton = Skeleton([f"joint{j}" for j in range(joints)], random_tree(rng, joints), rng.normal(0, 0.2, (joints, 3)))
    channels = [Channel("joint0", "translation"), *(Channel(name, "rotation") for name in skeleton.names)]
    frames = int(megabytes * 1e6 / (joints * 3 * 10))
    turns = random_pose(rng, frames, joints).reshape(frames, -1)
    clip = Clip("noise", channels, np.concatenate([rng.normal(size=(frames, 3)), turns], axis=1), 120)
    path = folder / "noise.bvh"
    write(Asset([Character("noise", skeleton)], [clip]), path)
    theirs = peer("bvh_package.py", path)
    if theirs["frames"] != frames:
        raise RuntimeError(f"the bvh package read {theirs['frames']} frames of {frames}")
    text = path.read_text()
    parsed = median_ms(lambda: bvh.parse(text))
    read = median_ms(lambda: bvh.read(path))
    size, package = path.stat().st_size / 1e6, f"bvh {theirs['version']}"
    yield Row(
        f"BVH of {size:.1f} MB, parsed", parsed, "ms", f"{package}, numbers left as text", theirs["ms"] / parsed, 20.0
    )
    yield Row(
        f"BVH of {size:.1f} MB, parsed", parsed, "ms", f"{package}, numbers too", theirs["ms_frames"] / parsed, None
    )
    yield Row(
        f"BVH of {size:.1f} MB, to a clip", read, "ms", f"{package}, numbers too", theirs["ms_frames"] / read, None
    )


def start_up(folder: Path) -> Iterator[Row]:
    """`--help` and `info` on a small file, as processes of their own; the limit is half a second."""
    skeleton = Skeleton(["a", "b"], [-1, 0], [[0, 0, 0], [0, 1, 0]])
    write(Asset([Character("two", skeleton)]), folder / "two.glb")
    for name, words in (("--help", ["--help"]), ("info on a small file", ["info", str(folder / "two.glb")])):
        command = [sys.executable, "-m", "understudy", *words]
        taken = median_ms(lambda command=command: subprocess.run(command, capture_output=True, check=True)) / 1e3
        yield Row(f"start of {name}", taken, "s", "limit of 0.5 s", 0.5 / taken, 1.0)
