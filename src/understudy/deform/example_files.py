"""Examples from files, and a character's parts in one bind space.

    arm, cylinder     built-in ground truth, solved on request
    lamp, ...         a member of the cast with its animations
    x.npz             our own examples; a bake (`understudy bake`); a mesh sequence with hand-painted weights
    x.glb, x.usda     a character with its animations: skin, shapes and all as its file has them
    folder            OBJ files, one a frame in the order of their names; the first is the rest

A sequence without a skeleton is given one: bones, weights and motion are found (`methods.mesh_animation`). One with
weights and no motion is given the motion that comes closest to it with these weights.

Bind space. Each skin of a file has its own inverse binds, from its own mesh's space. Two meshes bound to one skeleton
in one pose differ by a fixed transform, bind_j @ inverse_bind_j of any joint j that both know; so all can be brought
into the space of the first. A part that hangs rigidly on a joint is placed by that joint's bind.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Asset, Character, Mesh, Part, SkinBinding, kinematics
from understudy.character.rig import PosedRig, rig_of
from understudy.character.skeleton import depth_first
from understudy.checks import Array
from understudy.deform.examples import Examples, sound_triangles
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.maths import transform
from understudy.storage import Archive

BUILT_IN_SOURCES = ("arm", "cylinder")
EXAMPLE_ARRAYS = ("rest", "triangles", "inverse_binds", "transforms", "vertices", "parents")
SEQUENCE_ARRAYS = ("rest", "frames")
MAX_POSES = 400  # poses that are read by default
MAX_VERTICES_TIMES_POSES = 60_000_000  # 1.4 GB as float64
SEQUENCE_PIECES = 8  # that a sequence without clips is cut into
MAX_FILES = 5_000  # OBJ files in a folder
Progress = Callable[[int, int], None]
Shaped = Mapping[str, Sequence[str]]  # names of shapes by part


@dataclass(frozen=True, eq=False)
class BindSpace:
    """Parts of a character and the B joints that move them, all in one space."""

    parts: tuple[Part, ...]
    joints: Array  # (B,) indexes into the skeleton
    names: tuple[str, ...]  # B
    parents: Array  # (B,) into joints, -1 for a root
    binds: Array  # (B, 4, 4) bound_from_joint
    spaces: tuple[Array, ...]  # bound_from_mesh (4, 4) of each part
    vertices: Array  # (V, 3) of all parts
    triangles: Array  # (T, 3)

    @property
    def starts(self) -> Array:
        """(parts + 1,) first vertex of each part, and the number of vertices."""
        return np.concatenate([[0], np.cumsum([len(part.mesh.vertices) for part in self.parts])]).astype(int)

    def skins(self, influences: Array, weights: Array, method: str = "linear") -> list[SkinBinding]:
        """A skin for each part, from influences (V, K) and weights (V, K) of all vertices."""
        starts = self.starts
        back = transform.invert(self.binds)
        return [
            SkinBinding(self.joints, back @ space, influences[first:last], weights[first:last], method)
            for space, first, last in zip(self.spaces, starts[:-1], starts[1:])
        ]

    def artist_weights(self) -> tuple[Array, Array]:
        """(V, K) joints and weights as the file has them."""
        number = {int(joint): i for i, joint in enumerate(self.joints)}
        most = max(part.skin.weights.shape[1] for part in self.parts)
        joints = np.zeros((len(self.vertices), most), np.int64)
        weights = np.zeros((len(self.vertices), most))
        for part, first in zip(self.parts, self.starts):
            skin = part.skin
            into = np.array([number[int(joint)] for joint in skin.joints])
            rows = slice(first, first + len(skin.weights))
            joints[rows, : skin.weights.shape[1]] = into[skin.influences]
            weights[rows, : skin.weights.shape[1]] = skin.weights
        return joints, weights / weights.sum(axis=1, keepdims=True)


def read(
    source: str, frames: int | None = None, progress: Progress | None = None, still: Shaped = MappingProxyType({})
) -> tuple[Examples, list[str]]:
    """The examples of a built-in name, a file or a folder, at most `frames` of them evenly spread, and notes.

    `still` names shapes by part, as `Character.shapes`: they are at rest in the examples of a character.
    """
    path = Path(source)
    notes: list[str] = []
    if source in BUILT_IN_SOURCES and not path.exists():
        examples = _solve_ground_truth(source)
    elif path.is_dir():
        examples, notes = examples_from_meshes(*_obj_meshes(path, frames, progress), progress)
    elif path.suffix.lower() == ".npz":
        examples, notes = _read_npz(path, frames, progress)
    else:
        from understudy.cast import open_asset

        examples, notes = examples_from_asset(open_asset(path), path, frames, progress, still)
    most = min(frames or MAX_POSES, max(MAX_VERTICES_TIMES_POSES // max(len(examples.rest), 1), 2))
    if len(examples) > most:
        notes.append(f"{most} of {len(examples)} poses are used, evenly spread")
        examples = examples.subset(pick_evenly(len(examples), most))
    return examples, notes


def write(examples: Examples, path: str | Path) -> None:
    """Write examples as one npz that `read` reads, whole or not at all."""
    arrays = {name: getattr(examples, name) for name in (*EXAMPLE_ARRAYS, "weights", "joints")}
    arrays = {name: value for name, value in arrays.items() if value is not None}
    if examples.clips:
        arrays["clips"] = np.array(examples.clips, dtype=np.str_)
    with files.write_atomically(path) as temporary, temporary.open("wb") as stream:
        np.savez(stream, **arrays, names=np.array(examples.names, dtype=np.str_))


def pieces_of(count: int) -> list[str]:
    """The names of the clips that a long sequence is cut into, so that a comparison can hold out whole ones."""
    pieces = np.minimum(np.arange(count) * SEQUENCE_PIECES // max(count, 1), SEQUENCE_PIECES - 1)
    return [f"piece {piece + 1}" for piece in pieces]


def pick_evenly(count: int, most: int) -> Array:
    """At most `most` numbers below `count`, evenly spread, first and last among them."""
    return np.unique(np.linspace(0, count - 1, min(most, count)).round().astype(int))


def _solve_ground_truth(name: str) -> Examples:
    from understudy.deform.ground_truth import arm, cylinder

    return arm.solve_arm() if name == "arm" else cylinder.solve_cylinder()


def _read_npz(path: Path, frames: int | None, progress: Progress | None) -> tuple[Examples, list[str]]:
    with Archive(path) as archive:
        names = set(archive.names)
        if set(EXAMPLE_ARRAYS) <= names:
            kept = {
                name: archive.read(name)
                for name in (*EXAMPLE_ARRAYS, "weights", "joints", "names", "clips")
                if name in names
            }
        elif set(SEQUENCE_ARRAYS) <= names:
            kept = {name: archive.read(name) for name in archive.names if archive.names.index(name) < 100}
        elif {"joints", "vertices", "joint_names"} <= names:
            return _examples_from_bake(path)
        else:
            held = ", ".join(archive.names[:12]) or "none"
            wanted = f"examples have {', '.join(EXAMPLE_ARRAYS)}, a sequence {', '.join(SEQUENCE_ARRAYS)}"
            raise Unsupported(path, f"holds the arrays {held}; {wanted}")
    try:
        if "frames" not in kept:
            words = {key: [str(name) for name in kept.get(key, ())] for key in ("names", "clips")}
            arrays: dict[str, Any] = {**kept, **words}
            return Examples(**arrays), []
        return _examples_from_sequence(path, kept, frames, progress)
    except InvalidInput as error:
        raise BadFile(path, str(error)) from error


def _examples_from_sequence(
    path: Path, kept: dict[str, Array], frames: int | None, progress: Progress | None
) -> tuple[Examples, list[str]]:
    """From the arrays `rest`, `frames`, `triangles` or `quads`, and optionally `hand_weights` with joints."""
    meshes, triangles, notes = _sequence_arrays(path, kept, frames)
    if "hand_weights" not in kept:
        examples, more = examples_from_meshes(kept["rest"], triangles, meshes, progress)
        return examples, [*notes, *more]
    return _examples_from_painted_sequence(path, kept, triangles, meshes, notes)


def _sequence_arrays(path: Path, kept: dict[str, Array], frames: int | None) -> tuple[Array, Array, list[str]]:
    """The meshes (F, V, 3) and triangles of a sequence, at most `frames` of them, and notes."""
    triangles = kept.get("triangles")
    if triangles is None and "quads" in kept and kept["quads"].ndim == 2 and kept["quads"].shape[1:] == (4,):
        quads = kept["quads"]
        triangles = np.concatenate([quads[:, [0, 1, 2]], quads[:, [0, 2, 3]]])
    if triangles is None:
        raise BadFile(path, "a mesh sequence should have triangles (T, 3) or quads (T, 4), but has neither")
    meshes = kept["frames"]
    if meshes.ndim != 3 or not len(meshes):
        raise BadFile(path, f"frames should have shape (F, V, 3), but have shape {meshes.shape}")
    meshes = meshes[pick_evenly(len(meshes), frames or MAX_POSES)]
    notes = [] if len(meshes) == len(kept["frames"]) else [f"{len(meshes)} of {len(kept['frames'])} frames are used"]
    return meshes, triangles, notes


def _examples_from_painted_sequence(
    path: Path, kept: dict[str, Array], triangles: Array, meshes: Array, notes: list[str]
) -> tuple[Examples, list[str]]:
    """From a sequence with `hand_weights`, optionally `bind_world`, `joint_parent` and `joint_names`.

    The motion of its joints is the one that comes closest to it with these weights.
    """
    from understudy.deform.methods.mesh_animation import follow

    weights, rest = kept["hand_weights"].astype(float), kept["rest"].astype(float)
    if weights.ndim != 2 or len(weights) != len(rest) or meshes.shape[1:] != rest.shape:
        raise BadFile(path, f"weights {weights.shape}, rest {rest.shape} and frames {meshes.shape} do not fit together")
    total = weights.sum(axis=1, keepdims=True)
    if (total <= 0).any():
        raise BadFile(path, f"vertex {int((total[:, 0] <= 0).argmax())} has no weight")
    uneven = int((np.abs(total - 1) > 1e-4).sum())
    if uneven:
        notes.append(f"the weights of {uneven} vertices did not sum to 1 and were normalised")
    weights = weights / total
    bones = weights.shape[1]
    binds = kept.get("bind_world")
    binds = np.tile(np.eye(4), (bones, 1, 1)) if binds is None else binds.astype(float)
    if binds.shape != (bones, 4, 4):
        raise BadFile(path, f"bind_world should have shape ({bones}, 4, 4), but has shape {binds.shape}")
    moves = follow(rest, weights, meshes.astype(float))
    notes.append("the motion of the joints is the one that comes closest to the sequence with the painted weights")
    parents = np.asarray(kept.get("joint_parent", np.full(bones, -1)), np.int64)
    names = [str(name) for name in kept.get("joint_names", range(bones))]
    if parents.shape != (bones,) or len(names) != bones:
        raise BadFile(
            path, f"weights are of {bones} joints, but there are {parents.size} parents and {len(names)} names"
        )
    order = depth_first(parents)  # files may have a child before its parent
    rank = np.argsort(order)
    parents = np.where(parents[order] < 0, -1, rank[parents[order]])
    weights, binds, moves, names = weights[:, order], binds[order], moves[:, order], [names[j] for j in order]
    most = int((weights > 0).sum(axis=1).max())
    joints = np.argsort(-weights, axis=1, kind="stable")[:, :most]
    return (
        Examples(
            rest,
            sound_triangles(triangles)[0],
            np.linalg.inv(binds),
            moves @ binds,
            meshes,
            parents,
            np.take_along_axis(weights, joints, axis=1),
            joints,
            names,
            clips=pieces_of(len(meshes)),
        ),
        notes,
    )


def read_sequence(
    source: str, frames: int | None = None, progress: Progress | None = None
) -> tuple[Array, Array, Array, list[str]]:
    """The rest mesh (V, 3), triangles (T, 3), meshes (F, V, 3) of a sequence, and notes.

    A sequence is an .npz (`rest`, `frames`, `triangles` or `quads`), a folder of OBJ files, or a file of a character,
    of which the meshes of all animations are taken and the skeleton is not.
    """
    path = Path(source)
    if path.is_dir():
        return (*_obj_meshes(path, frames, progress), [])
    if path.suffix.lower() == ".npz":
        with Archive(path) as archive:
            kept = {name: archive.read(name) for name in ("rest", "frames", "triangles", "quads") if name in archive}
        if not set(SEQUENCE_ARRAYS) <= set(kept):
            raise Unsupported(path, f"a sequence has the arrays {', '.join(SEQUENCE_ARRAYS)} and triangles")
        meshes, triangles, notes = _sequence_arrays(path, kept, frames)
        return kept["rest"], triangles, meshes, notes
    from understudy.cast import open_asset

    character, rig, rows, _, notes = _posed_character(open_asset(path), path, frames)
    return rig.vertices(rig.rest[None])[0], character.triangles, rig.vertices(rows), notes


def examples_from_meshes(
    rest: Any,
    triangles: Any,
    meshes: Any,
    progress: Progress | None = None,
    settings: dict[str, object] | None = None,
    hierarchy: bool = False,
) -> tuple[Examples, list[str]]:
    """Examples of a sequence of meshes without a skeleton: its bones are found.

    `settings` are those of `methods.mesh_animation`; with `hierarchy` the bones are tied into a skeleton.
    """
    from understudy.deform.methods.mesh_animation import bone_tree, skin_animation

    sound, folded = sound_triangles(triangles)
    skinned = skin_animation(rest, sound, meshes, settings, progress)
    total = np.maximum(skinned.dense.sum(axis=0), 1e-9)[:, None]
    middle = (skinned.dense[..., None] * skinned.rest[:, None]).sum(axis=0) / total
    binds = np.tile(np.eye(4), (skinned.bones, 1, 1))
    binds[:, :3, 3] = middle
    notes = [f"the sequence has no skeleton: {skinned.bones} bones were found, rms {1000 * skinned.rms:.3g} mm"]
    if folded:
        notes.append(f"{folded} triangles without area were left out")
    moves = skinned.matrices @ binds
    parents, order = np.full(skinned.bones, -1), np.arange(skinned.bones)
    if hierarchy:
        parents, binds[:, :3, 3] = bone_tree(skinned)
        order = depth_first(parents)
        rank = np.argsort(order)
        parents = np.where(parents[order] < 0, -1, rank[parents[order]])
        moves = skinned.matrices @ binds
    binds, moves, joints = binds[order], moves[:, order], np.argsort(order)[skinned.joints]
    common = (skinned.rest, sound, np.linalg.inv(binds), moves, meshes, parents, skinned.weights, joints)
    return Examples(*common, clips=pieces_of(len(moves))), notes


def _examples_from_bake(path: Path) -> tuple[Examples, list[str]]:
    """Examples of a bake, whose first frame is the rest."""
    from understudy.formats.npz import read_bake

    bake = read_bake(path)
    parents = np.full(len(bake.joint_names), -1) if bake.parents is None else bake.parents
    try:
        binds = np.linalg.inv(bake.joints[0])
    except np.linalg.LinAlgError:
        raise BadFile(path, "a joint of the first frame is scaled to nothing, which leaves no rest pose") from None
    sound = sound_triangles(bake.triangles)[0]
    common = (bake.vertices[0], sound, binds, bake.joints, bake.vertices, parents)
    examples = Examples(*common, names=bake.joint_names, clips=pieces_of(len(bake.joints)))
    return examples, ["the first frame of the bake is taken as the rest"]


def _obj_meshes(path: Path, frames: int | None, progress: Progress | None) -> tuple[Array, Array, Array]:
    """The rest mesh, triangles and meshes (F, V, 3) of a folder of OBJ files, the first of which is the rest."""
    from understudy import formats

    paths = sorted(file for file in path.iterdir() if file.suffix.lower() == ".obj")
    if len(paths) < 3:
        raise BadFile(path, f"a folder of examples should hold 3 OBJ files or more, but holds {len(paths)}")
    if len(paths) > MAX_FILES:
        raise BadFile(path, f"holds {len(paths):,} OBJ files, but at most {MAX_FILES:,} are read")
    chosen = [paths[0], *(paths[1:][i] for i in pick_evenly(len(paths) - 1, frames or MAX_POSES))]
    meshes: list[Mesh] = []
    for done, file in enumerate(chosen):
        mesh = formats.read(file).character().parts[0].mesh
        if meshes and len(mesh.vertices) != len(meshes[0].vertices):
            raise BadFile(
                file, f"has {len(mesh.vertices)} vertices, but {chosen[0].name} has {len(meshes[0].vertices)}"
            )
        meshes.append(mesh)
        if progress:
            progress(done, 2 * len(chosen))
    return meshes[0].vertices, meshes[0].triangles, np.stack([mesh.vertices for mesh in meshes[1:]])


def _posed_character(
    asset: Asset, path: str | Path, frames: int | None
) -> tuple[Character, PosedRig, Array, list[str], list[str]]:
    """The first character with animations, its rig, rows of all its clips, the clip of each row, and notes."""
    notes = list(asset.notes)
    moved = [(c, [a for a in asset.animations if rig_of(c).is_moved_by(a)]) for c in asset.characters if c.vertex_count]
    moved = [(character, animations) for character, animations in moved if animations]
    if not moved:
        raise BadFile(path, "examples need a character with a mesh and an animation, but there is none here")
    character, animations = moved[0]
    if len(moved) > 1:
        notes.append(f"{len(moved)} characters move here; {character.name!r} is used")
    rig = rig_of(character)
    clips = [asset.clip(animation.name) for animation in animations]
    blocks = [rig.pose(clip) for clip in clips]
    rows = np.concatenate(blocks)
    clip_of = [clip.name for clip, block in zip(clips, blocks) for _ in block]
    most = min(frames or MAX_POSES, max(MAX_VERTICES_TIMES_POSES // max(character.vertex_count, 1), 2))
    if len(rows) > most:
        notes.append(f"{most} of {len(rows)} frames of {len(clips)} animations are used, evenly spread")
        chosen = pick_evenly(len(rows), most)
        rows, clip_of = rows[chosen], [clip_of[row] for row in chosen]
    return character, rig, rows, clip_of, notes


def examples_from_asset(
    asset: Asset,
    path: str | Path,
    frames: int | None = None,
    progress: Progress | None = None,
    still: Shaped = MappingProxyType({}),
) -> tuple[Examples, list[str]]:
    """Examples of the first character with animations, all of them, posed by its own rig; `path` is its file.

    Shapes that `still` names stay at rest.
    """
    character, rig, rows, clip_of, notes = _posed_character(asset, path, frames)
    for part, names in character.shapes.items() if character.layers is None else ():
        columns = rig.channels.slice(part, "weights")
        assert columns is not None  # every part with shapes has its channel
        held = columns.start + np.flatnonzero([name in still.get(part, ()) for name in names])
        rows[:, held] = rig.rest[held]
    vertices = rig.vertices(rows)
    if len(character.joints) < 2:
        rest = rig.vertices(rig.rest[None])[0]
        examples, more = examples_from_meshes(rest, character.triangles, vertices, progress)
        object.__setattr__(examples, "clips", tuple(clip_of))
        return examples, [*notes, *more]
    whole = bind_space(character, rigid=True)
    joints, weights = whole.artist_weights()
    sound = sound_triangles(whole.triangles)[0]
    binds = np.linalg.inv(whole.binds)
    moves = rig.joints(rows)[:, whole.joints]
    common = (whole.vertices, sound, binds, moves, vertices, whole.parents, weights, joints, whole.names)
    examples = Examples(*common, clips=clip_of)
    if not character.shapes and all(part.skin.method == "linear" for part in character.parts):
        notes.append("the mesh of this file is linear blend skinning itself: the linear method can only win")
    return examples, notes


def bind_space(character: Character, rigid: bool = False) -> BindSpace:
    """The skinned parts of a character; with `rigid`, or where there are no others, those that hang on a joint too."""
    skeleton = character.skeleton
    skinned = [part for part in character.parts if not part.skin.is_rigid]
    parts = list(character.parts) if rigid or not skinned else skinned
    joints = np.unique(np.concatenate([character.joints, *(part.skin.joints for part in parts)]).astype(np.int64))
    rest = kinematics.world_transforms(skeleton.parents, skeleton.translations, skeleton.rotations, skeleton.scales)
    known: dict[int, Array] = {}
    spaces = []
    for part in sorted(parts, key=lambda part: part.skin.is_rigid):  # skins first: they give the binds of joints
        skin = part.skin
        if skin.is_rigid:
            spaces.append((part, _bind(int(skin.joints[0]), known, rest, skeleton.parents)))
            continue
        shared = [b for b, joint in enumerate(skin.joints) if int(joint) in known]
        space = known[int(skin.joints[shared[0]])] @ skin.inverse_binds[shared[0]] if shared else np.eye(4)
        for b, joint in enumerate(skin.joints):
            known.setdefault(int(joint), space @ transform.invert(skin.inverse_binds[b]))
        spaces.append((part, space))
    by_part = {id(part): space for part, space in spaces}
    ordered = tuple(by_part[id(part)] for part in parts)
    vertices = [transform.apply(space, part.mesh.vertices.astype(float)) for part, space in zip(parts, ordered)]
    offset = np.cumsum([0, *(len(v) for v in vertices)])
    triangles = [part.mesh.triangles.astype(np.int64) + first for part, first in zip(parts, offset)]
    number = {int(joint): i for i, joint in enumerate(joints)}
    return BindSpace(
        tuple(parts),
        joints,
        tuple(skeleton.names[j] for j in joints),
        np.array([_parent_in_bind_space(int(j), skeleton.parents, number) for j in joints], np.int64),
        np.stack([_bind(int(j), known, rest, skeleton.parents) for j in joints]),
        ordered,
        np.concatenate([np.zeros((0, 3)), *vertices]),
        np.concatenate([np.zeros((0, 3), np.int64), *triangles]),
    )


def _bind(joint: int, known: dict[int, Array], rest: Array, parents: Array) -> Array:
    """bound_from_joint (4, 4): from a skin, else by the rest pose from the nearest ancestor that a skin has."""
    above = joint
    while above >= 0 and above not in known:
        above = int(parents[above])
    if above < 0:
        return np.asarray(rest[joint])
    return np.asarray(known[above] @ transform.invert(rest[above]) @ rest[joint])


def _parent_in_bind_space(joint: int, parents: Array, number: dict[int, int]) -> int:
    above = int(parents[joint])
    while above >= 0 and above not in number:
        above = int(parents[above])
    return number.get(above, -1)
