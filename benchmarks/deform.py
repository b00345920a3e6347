"""Deformers: automatic weights beside Blender's, every method's speed at 10,000 vertices, and their errors.

Automatic weights: every skinned glTF character of the real data, its weights hidden. Ours and Blender's ("Automatic
Weights": vertices at one place merged as an artist would, the bones as either of its two importers' heuristics has
them) move the mesh through up to 60 frames of the character's own clips; the error is the root mean square distance to
where the artist's weights put it, in per cent of the size. The medians are of those on which our constants were chosen;
MakeHuman's body was not among them. Vertices that Blender leaves empty are given to the root.

Rigs: the kind of creature that each character is taken for, its skeleton forgotten.

Methods: fitted to the cylinder's training poses on its mesh with every triangle cut in four; the time is that of a
frame on one core, in a batch and alone. Skins without a skeleton: all 400 frames of a sequence, and a morph sequence,
beside a plain decomposition of the same number of bones.
"""

from __future__ import annotations

import json
import os
import subprocess
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from benchmarks.measure import HERE, Row
from benchmarks.real.makehuman import makehuman
from tests.deform import ssdr_reference

from understudy import formats
from understudy.character import Asset, Character, kinematics
from understudy.character.rig import rig_of
from understudy.character.skinning.linear import linear_blend
from understudy.checks import Array
from understudy.deform import deformer
from understudy.deform.comparison import compare_skins, hold_out_indices, speed
from understudy.deform.deformer import Deformer
from understudy.deform.example_files import BindSpace, bind_space, read
from understudy.deform.examples import Examples
from understudy.deform.ground_truth.arm import Resolution
from understudy.deform.ground_truth.cylinder import solve_cylinder
from understudy.deform.methods.mesh_animation import skin_animation
from understudy.deform.rigging import automatic_rig, automatic_weights
from understudy.deform.skin import rest_geometry
from understudy.maths import jit, quaternion
from understudy.maths.jit import one_blas_thread

DATA = Path(os.environ.get("UNDERSTUDY_TEST_DATA", HERE.parents[1] / "shared" / "data"))
BLENDER = Path(os.environ.get("UNDERSTUDY_BLENDER_VENV", HERE.parent / ".venv-blender")) / "bin" / "python"
PEERS = False  # Blender has an environment of its own: python tests/blender/blender.py makes it
HEURISTICS = ("BLENDER", "TEMPERANCE")
FRAMES = 60
LEAST_VERTICES = 13  # the two smallest files are a strip of ten vertices
COARSE = Resolution(stations=29, steps=4, long=60)  # 10,000 vertices when cut
SLOWEST = 2000.0  # microseconds a frame
SEQUENCE = DATA / "meshseq_dembones" / "bone_meshseq.npz"
LONGEST = 10.0  # seconds for a skin without a skeleton
KINDS = {
    "Knight": "biped",
    "manny_med_mod": "biped",
    "character": "biped",
    "RiggedFigure": "biped",
    "platformer_game_pack_Character": "biped",
    "RobotExpressive": "biped",
    "Fox": "quadruped",
    "animals_pack_Fox": "quadruped",
    "animals_pack_Horse": "quadruped",
    "animals_pack_Husky": "quadruped",
    "dinosaurs_pack_Stegosaurus": "quadruped",
    "easy_enemies_pack_Rat": "quadruped",
    "easy_enemies_pack_Frog": "quadruped",
    "dinosaurs_pack_Trex": "bird",
    "fish_pack_Dolphin": "fish",
}
"""What the real characters are."""


@dataclass(frozen=True, eq=False)
class Case:
    """A character of which the weights are hidden, and the poses that judge them."""

    path: Path
    whole: BindSpace
    matrices: Array  # (F, B, 4, 4) world from the bound space
    truth: Array  # (F, V, 3)

    def error(self, joints: Array, weights: Array) -> float:
        """Root mean square distance to the artist's, in per cent of the size."""
        moved = linear_blend(self.whole.vertices, joints, weights, self.matrices)
        size = np.linalg.norm(np.ptp(self.truth[0], axis=0))
        return 100 * float(np.sqrt(((moved - self.truth) ** 2).sum(axis=-1).mean()) / size)

    def dense_error(self, weights: Array) -> float:
        """The same, of weights (V, B)."""
        joints = np.broadcast_to(np.arange(weights.shape[1]), weights.shape)
        return self.error(joints, weights)


def rows() -> Iterator[Row]:
    """All of it: five minutes on a quiet machine."""
    yield from speeds()
    yield from sequences()
    yield from rigs()
    yield from automatic()
    for name in ("cylinder", "arm", str(SEQUENCE)):
        yield from errors(name)


def automatic() -> Iterator[Row]:
    """Ours, then the medians, ours beside Blender's."""
    seen = cases()
    with tempfile.TemporaryDirectory() as folder:
        found = [*seen, *unseen(Path(folder))]
        theirs = blender(found, Path(folder))
    ours: list[float] = []
    for case, peer in zip(found, theirs):
        whole = case.whole
        weights = automatic_weights(whole.vertices, whole.triangles, whole.binds, whole.parents, whole.names)
        ours.append(case.error(weights.joints, weights.weights))
        told = ", ".join(f"{name} {value:.3f}" for name, value in zip(HEURISTICS, peer))
        yield Row(f"weights of {case.path.stem}"[:36], ours[-1], "%", f"Blender: {told}", None, None)
    median = float(np.median(ours[: len(seen)]))
    peers = theirs[: len(seen)]
    for name, values in [*zip(HEURISTICS, np.transpose(peers)), ("the better for each", np.min(peers, axis=1))]:
        other = float(np.median(values))
        yield Row("weights, median", median, "%", f"Blender, {name}: {other:.3f} %", other / median, 1.0)


def cases() -> list[Case]:
    """The skinned glTF characters of the real data."""
    found = []
    for path in sorted(DATA.glob("gltf_*/*.gl*")):
        asset = formats.read(path)
        for character in asset.characters:
            skinned = [part for part in character.parts if not part.skin.is_rigid]
            if sum(len(part.mesh.vertices) for part in skinned) >= LEAST_VERTICES:
                found.append(_case(path, asset, character))
    return found


def unseen(folder: Path) -> list[Case]:
    """MakeHuman's body, which played no part when anything was chosen; its poses are random."""
    home = DATA / "makehuman"
    if not home.is_dir():
        return []
    path = folder / "MakeHuman.glb"
    formats.write(makehuman(home), path)
    asset = formats.read(path)
    return [_case(path, asset, asset.character())]


def _case(path: Path, asset: Asset, character: Character) -> Case:
    whole = bind_space(character)
    rig = rig_of(character)
    poses = [rig.pose(asset.clip(a.name)) for a in asset.animations if rig.is_moved_by(a)]
    if poses:
        rows = np.concatenate([pose[np.unique(np.linspace(0, len(pose) - 1, 6).astype(int))] for pose in poses])
        rows = rows[np.unique(np.linspace(0, len(rows) - 1, FRAMES).astype(int))]
        world = rig.joints(rows)[:, whole.joints]
    else:
        world = _any_poses(character)[:, whole.joints]
    matrices = world @ np.linalg.inv(whole.binds)
    return Case(path, whole, matrices, linear_blend(whole.vertices, *whole.artist_weights(), matrices))


def _any_poses(character: Character) -> Array:
    """(F, J, 4, 4) for a character without clips: every joint turned at random by 20 degrees or so."""
    skeleton = character.skeleton
    turns = np.random.default_rng(0).normal(scale=0.35, size=(40, len(skeleton), 3))
    rotations = quaternion.multiply(skeleton.rotations, quaternion.exp(turns))
    return kinematics.world_transforms(skeleton.parents, skeleton.translations, rotations, skeleton.scales)


def blender(found: list[Case], folder: Path) -> Array:
    """(cases, heuristics) errors of Blender's automatic weights."""
    orders = [
        {
            "file": str(case.path),
            "output": str(folder / f"{i}.{heuristic}.npz"),
            "joints": list(case.whole.names),
            "heuristic": heuristic,
        }
        for i, case in enumerate(found)
        for heuristic in HEURISTICS
    ]
    (folder / "order.json").write_text(json.dumps(orders))
    clean = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    script = HERE.parent / "tests" / "blender" / "automatic.py"
    command = [str(BLENDER), str(script), str(folder / "order.json")]
    done = subprocess.run(command, capture_output=True, text=True, env=clean, check=False)
    if done.returncode:
        raise RuntimeError(f"Blender failed: {done.stderr.strip().splitlines()[-1:]}")
    weights = [[_stored(case, folder / f"{i}.{h}.npz") for h in HEURISTICS] for i, case in enumerate(found)]
    return np.array([[case.dense_error(each) for each in both] for case, both in zip(found, weights)])


def _stored(case: Case, path: Path) -> Array:
    """(V, B) of what Blender wrote, vertex by vertex of the parts of each object's name; rows sum to 1."""
    whole = case.whole
    number = {name: i for i, name in enumerate(whole.names)}
    result = np.zeros((len(whole.vertices), len(whole.names)))
    counts = np.diff(whole.starts)
    owner = np.repeat([part.name for part in whole.parts], counts)
    with np.load(path) as stored:
        for i, name in enumerate(stored["names"]):
            mine = np.flatnonzero((owner == name) | (owner == f"{name}_1"))  # distinct names of ours end in _1
            weights = stored[f"weights_{i}"]
            if len(mine) != len(weights):
                raise RuntimeError(f"{case.path.name}: Blender has {len(weights)} vertices in {name}, we {len(mine)}")
            for column, bone in enumerate(stored[f"bones_{i}"]):
                if bone in number:
                    result[mine, number[bone]] = weights[:, column]
    total = result.sum(axis=1, keepdims=True)
    root = np.zeros(len(number))
    root[int(np.argmin(whole.parents))] = 1
    return np.where(total > 0, result / np.where(total > 0, total, 1), root)


def finer(examples: Examples) -> Examples:
    """The same poses with every triangle cut in four."""
    t = examples.triangles
    edges = np.sort(np.concatenate([t[:, [0, 1]], t[:, [1, 2]], t[:, [2, 0]]]), axis=1)
    pairs, number = np.unique(edges, axis=0, return_inverse=True)
    ab, bc, ca = len(examples.rest) + number.reshape(3, -1)
    corners = np.concatenate(
        [np.stack(c, 1) for c in ((t[:, 0], ab, ca), (ab, t[:, 1], bc), (ca, bc, t[:, 2]), (ab, bc, ca))]
    )

    def cut(points: Array) -> Array:
        return np.concatenate([points, 0.5 * (points[..., pairs[:, 0], :] + points[..., pairs[:, 1], :])], axis=-2)

    moved = (examples.inverse_binds, examples.transforms, cut(examples.vertices), examples.parents)
    return Examples(cut(examples.rest), corners, *moved, names=examples.names)


def speeds() -> Iterator[Row]:
    """Microseconds a frame of every method, in a batch and alone."""
    fine = finer(solve_cylinder(fineness=COARSE))
    trained, held = fine.split(hold_out_indices(len(fine)))
    told = f"{len(fine.rest):,} vertices; at most {SLOWEST:g} us"
    for name in deformer.METHODS:
        made = deformer.method_class(name).fit(trained)
        for way, value in (("batch", speed(made, held.transforms)), ("alone", alone(made, held.transforms))):
            yield Row(f"{name}, {way}", value, "us", told, SLOWEST / value, 1.0)


def alone(made: Deformer, transforms: Array, repeats: int = 41) -> float:
    """Microseconds of processor time of a frame by itself, the median."""
    with one_blas_thread(), jit.one_kernel_thread():
        made.deform(transforms[0])
        runs = []
        for k in range(repeats):
            began = time.process_time()
            made.deform(transforms[k % len(transforms)])
            runs.append(time.process_time() - began)
    return 1e6 * float(np.median(runs))


def sequences() -> Iterator[Row]:
    """Skins without a skeleton: the error beside the plain decomposition's, and the time."""
    with np.load(SEQUENCE) as file:
        rest, frames, quads = (file[name].astype(float) for name in ("rest", "frames", "quads"))
    bone = (rest, np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]]).astype(int), frames)
    for name, (p, t, x), bones in (("bone_meshseq", bone, 6), ("morph sequence", morphing(), 8)):
        began = time.perf_counter()
        ours = skin_animation(p, t, x, {"bones": bones})
        seconds = time.perf_counter() - began
        plain = ssdr_reference.decompose(p, x, bones, 4, 10)
        size = float(np.linalg.norm(np.ptp(p, axis=0)))
        told = f"{len(x)} frames, {bones} bones; plain {100 * plain / size:.4f} %"
        yield Row(f"{name}, no skeleton", 100 * ours.rms / size, "%", told, plain / ours.rms, 1.0)
        yield Row(f"{name}, no skeleton", seconds, "s", f"at most {LONGEST:g} s", LONGEST / seconds, 1.0)


def morphing() -> tuple[Array, Array, Array]:
    """Rest, triangles and 24 frames of a mesh whose eight shapes come and go one after the other."""
    character = formats.read(DATA / "gltf_khronos" / "MorphStressTest.glb").characters[0]
    mesh = max((part.mesh for part in character.parts if part.mesh.shapes), key=lambda m: len(m.vertices))
    assert mesh.shapes is not None
    turn = np.arange(24)[:, None] / 24 + np.arange(len(mesh.shapes.deltas)) / 8
    rest = mesh.vertices.astype(float)
    frames = rest + np.einsum("fs,svc->fvc", 0.5 - 0.5 * np.cos(2 * np.pi * turn), mesh.shapes.deltas)
    return rest, mesh.triangles, frames


def rigs() -> Iterator[Row]:
    """Which kind each character is taken for, and the confidence in it."""
    right = 0
    for path in sorted(DATA.glob("gltf_*/*.gl*")):
        if path.stem not in KINDS:
            continue
        character = max(formats.read(path).characters, key=lambda each: each.vertex_count)
        _, vertices, triangles = rest_geometry(character)
        rig = automatic_rig(vertices, triangles)
        right += rig.template == KINDS[path.stem]
        told = f"taken for {rig.template} facing {rig.facing}; is {KINDS[path.stem]}"
        yield Row(f"rig of {path.stem}"[:36], rig.confidence.overall, "of 1", told, None, None)
    yield Row("kinds that are right", right, f"of {len(KINDS)}", "templates chosen by themselves", None, None)


def errors(name: str) -> Iterator[Row]:
    """Errors on held-out poses, beside linear blending."""
    result = compare_skins(read(name)[0])
    name = Path(name).stem
    plain = next(entry.measures.rms for entry in result.valid_results if entry.method == "linear" and entry.measures)
    for entry in result.valid_results:
        assert entry.measures is not None  # `measured` has only these
        rms = entry.measures.rms
        yield Row(f"{name}, {entry.method}"[:36], 1000 * rms, "mm", f"linear {1000 * plain:.3f} mm", plain / rms, None)
