"""Retargeter: an actor's motions on another character, learnt from pose pairs.

The learner of the room. What it learns is a `SharedMapping`; with the character made ready it is a `TransferTarget`
(`target_`). `transform` carries a whole motion over, `live` one frame at a time.

A retargeter in a file (kind "retargeter") holds the settings, the pairs, and both bodies: a member of the cast by its
name, any other as a GLB with the exact rest pose of its skeleton beside it. Reading it learns again, in a fraction of a
second.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import cast, checks, storage
from understudy.cast import character_to_bytes, member_of_cast, open_asset, restore_character
from understudy.character import Asset, Character, Clip, Curves, Skeleton
from understudy.character.body.joint_limits import Limits
from understudy.character.body.markers import Markers
from understudy.character.body.mass import Body, body_of
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, UnderstudyError
from understudy.schema import Estimator
from understudy.storage import Field
from understudy.transfer.actor import Actor, perform_as
from understudy.transfer.bone_map import bone_map
from understudy.transfer.by_bones import performer_of, transfer_by_bones, with_bones
from understudy.transfer.corrections import PoseCorrections, fit_corrections
from understudy.transfer.live import LiveRetargeter
from understudy.transfer.mapping import MIN_PAIRS_ALONE, PoseMapping, fit_mapping
from understudy.transfer.pairs import PosePairs
from understudy.transfer.physics.spring_limbs import SpringLimb, drag_limbs, limbs_by_name, limbs_from_joints
from understudy.transfer.pipeline import TransferResult, TransferTarget, prepare_target, report_of, transfer
from understudy.transfer.source import SourceMotion, source_of

FILE_KIND = "retargeter"
FILE_FIELDS = {
    "pairs.source": Field("f", ("N", "P", 3)),
    "pairs.target": Field("f", ("N", "Q", 3)),
    "pairs.times": Field("f", ("N",)),
}
# Of the target and of the actor: N poses, the exact rest pose of the skeleton, the markers, and a GLB.
BODY_FIELDS = {
    "poses.translations": Field("f", ("N", "J", 3)),
    "poses.rotations": Field("f", ("N", "J", 4)),
    "skeleton.parents": Field("i", ("J",)),
    "skeleton.translations": Field("f", ("J", 3)),
    "skeleton.rotations": Field("f", ("J", 4)),
    "skeleton.scales": Field("f", ("J", 3)),
    "markers.joints": Field("i", ("M",)),
    "markers.offsets": Field("f", ("M", 3)),
    "markers.front": Field("f", (3,)),
    "markers.up": Field("f", (3,)),
    "character": Field("u", ("B",)),
}
JointLimits = Mapping[str, Mapping[str, tuple[float, float]]]  # joint -> axis -> lowest and highest radians


class Retargeter(Estimator):
    """Learns from pose pairs how a character moves as an actor does, and carries motions over.

    After `fit`: `pairs_`; `corrections_`, where pairs correct what the bones of both bodies say, else None; and
    `target_`, a `TransferTarget`, where the pairs alone are used.

    Args:
        target: The character that is to move.
        dimension: Dimension of the latent space that both bodies share, or `"auto"`.
        iterations: Steps of the optimiser.
        limits: Lowest and highest angle in radians of joints about their axes, as `{"Head": {"x": (-0.5, 0.8)}}`; an
            axis that is not named does not turn, a joint that is not named turns freely. None takes those of a member
            of the cast, and none for other characters.
        springs: First joints of limbs that swing on springs; None: those found by name (tails, ears) that have no
            markers in the pairs.
        collisions: Whether the body is kept out of itself and out of the floor.
        physics: Whether feet are kept where they stand, and motions are corrected to what gravity allows.
        seed: Seed of the choice of the dimension.

    Raises:
        NotFitted: If `target_` is asked for before `fit`.

    Example:
        >>> actor, lamp = us.load("actor"), us.load("lamp")
        >>> pairs = us.PosePairs.read("lamp", actor, lamp).subset(range(0, 40, 4))
        >>> retargeter = us.Retargeter(lamp, iterations=10, physics=False).fit(pairs)
        >>> result = retargeter.transform(actor, "surprise", rate=12)
        >>> len(result.clip) == len(result.uncertainty)
        True
        >>> squirrel = us.load("squirrel")  # has arms and legs: no pairs are needed
        >>> us.Retargeter(squirrel).transform(actor, "surprise", rate=12).report["mapping"]
        'bones'

    Notes:
        [Yamane 2010]; docs/transfer.md.
    """

    target_: TransferTarget
    pairs_: PosePairs
    corrections_: PoseCorrections | None

    def __init__(
        self,
        target: Asset | Character,
        *,
        dimension: int | str = 30,
        iterations: int = 70,
        limits: JointLimits | None = None,
        springs: Sequence[str] | None = None,
        collisions: bool = True,
        physics: bool = True,
        seed: int = 0,
    ) -> None:
        self.target = target.character() if isinstance(target, Asset) else target
        self.dimension, self.iterations, self.limits, self.springs = dimension, iterations, limits, springs
        self.collisions, self.physics, self.seed = collisions, physics, seed

    def settings(self) -> dict[str, Any]:
        """The arguments of `__init__` as plain values, without the target."""
        names = ("dimension", "iterations", "collisions", "physics", "seed")
        limits: Any = None
        if self.limits is not None:
            limits = {joint: {axis: list(span) for axis, span in axes.items()} for joint, axes in self.limits.items()}
        springs = None if self.springs is None else list(self.springs)
        return {**{name: getattr(self, name) for name in names}, "limits": limits, "springs": springs}

    def __repr__(self) -> str:
        settings = ", ".join(f"{name}={value!r}" for name, value in self.settings().items())
        return f"Retargeter({self.target!r}, {settings})"

    def fit(self, pairs: PosePairs) -> Retargeter:
        """Learn the mapping from the actor's poses to those of the character.

        Args:
            pairs: The pose pairs, of the character that the retargeter was made for.

        Returns:
            The retargeter itself.

        Raises:
            InvalidInput: If the pairs are of another character.
        """
        self._check_pairs(pairs)
        self.pairs_, self.corrections_ = pairs, None
        if not member_of_cast(self.target):
            self.corrections_ = fit_corrections(pairs, bone_map(self.target))
        if self.corrections_ is None or len(pairs) >= MIN_PAIRS_ALONE:
            self.target_ = self._prepare(pairs, self._fit_mapping(pairs))
        return self

    def _check_pairs(self, pairs: PosePairs) -> None:
        if pairs.poses.skeleton.names != self.target.skeleton.names:
            raise InvalidInput(
                f"the pairs should be of {self.target.name!r}, but their poses are of another character: it has "
                f"{len(pairs.poses.skeleton)} joints, {self.target.name!r} has {len(self.target.skeleton)}"
            )

    def _fit_mapping(self, pairs: PosePairs) -> PoseMapping:
        settings: dict[str, Any] = {"dimension": self.dimension, "iterations": self.iterations, "seed": self.seed}
        return fit_mapping(pairs, **settings)

    def _prepare(self, pairs: PosePairs, mapping: PoseMapping) -> TransferTarget:
        member = member_of_cast(self.target)
        limits: Limits | None = cast.limits(member) if member else None
        if self.limits is not None:
            limits = {
                joint: {axis: (float(np.degrees(low)), float(np.degrees(high))) for axis, (low, high) in axes.items()}
                for joint, axes in self.limits.items()
            }
        return prepare_target(
            self.target,
            pairs,
            mapping,
            body=cast.body(member) if member else None,
            limits=limits,
            springs=self._limbs(pairs),
            collisions=self.collisions,
        )

    def _limbs(self, pairs: PosePairs) -> tuple[SpringLimb, ...]:
        skeleton = self.target.skeleton
        if self.springs is not None:
            return limbs_from_joints(skeleton, self.springs)
        marked = set(pairs.markers.joints.tolist())
        limbs = [limb for limb in limbs_by_name(skeleton) if not marked & {skeleton.index(j) for j in limb.joints}]
        return (*limbs, *drag_limbs(self.target))

    def transform(
        self,
        motion: Asset | SourceMotion | str | Path,
        clip: str | None = None,
        *,
        rate: float | None = None,
        keys: Clip | Curves | None = None,
    ) -> TransferResult:
        """Carry a motion over to the character: by its bones, or, after `fit`, by the pairs.

        Without `fit`, the motion may be of any body with arms and legs, and the character has to have them as well.

        Args:
            motion: A character with its animations, a file of one, the name of a built-in character, or, after `fit`,
                a `SourceMotion`. After `fit` it may be of any body with human bones, or markers with the usual names:
                what is not of the actor of the pairs is carried over to the actor first.
            clip: Name of the animation; None takes the first.
            rate: Frames a second of the result; None takes that of the motion.
            keys: An animation of limbs on springs: they swing about it.

        Returns:
            The `clip` of the character, the `uncertainty` (F,) in metres, the `poses` of every step, and a `report`.

        Raises:
            InvalidInput: If the motion cannot be carried over to the actor of the pairs, the character does not stand
                on the floor, or, without pairs, one of the two bodies lacks arms or legs.
        """
        corrections = self.__dict__.get("corrections_")
        if "pairs_" not in self.__dict__ or corrections is not None:
            if isinstance(motion, SourceMotion):
                raise InvalidInput("a motion should come with its character here: give the asset or its file")
            asset = motion if isinstance(motion, Asset) else open_asset(motion)
            source = with_bones(source_of(asset, clip, rate=rate))
            performer = performer_of(source)
            return transfer_by_bones(source, performer, self.target, physics=self.physics, corrections=corrections)
        body = None
        if isinstance(motion, SourceMotion):
            source = motion
        else:
            asset = motion if isinstance(motion, Asset) else open_asset(motion)
            source = source_of(asset, clip, rate=rate)
            body = source_body(asset, source)
        source, body = perform_as(self.target_.pairs.actor, source, body)
        result = transfer(source, self.target_, source_body=body, physics=self.physics, keys=keys)
        return replace(result, report=report_of(source, self.target_, result, body))

    def live(self) -> LiveRetargeter:
        """A retargeter for live input, without physics: `init() -> state`, `step(state, ...) -> state, pose`.

        Returns:
            A `LiveRetargeter` of the same mapping.

        Raises:
            NotFitted: If the retargeter was not fitted.
        """
        return LiveRetargeter.from_target(self.target_)

    def save(self, path: str | Path) -> None:
        """Write the retargeter: pairs, mapping, settings and character.

        Args:
            path: The file to write, whole or not at all; usually `NAME.understudy`.

        Raises:
            NotFitted: If the retargeter was not fitted.
        """
        pairs = self.pairs_
        bodies = {"target": (self.target, pairs.markers, pairs.poses)}
        if pairs.actor is not None and pairs.performed is not None:
            bodies["actor"] = (pairs.actor.character, pairs.actor.markers, pairs.performed)
        parts = {part: _body_to_file(*body) for part, body in bodies.items()}
        header = {
            "kind": FILE_KIND,
            "settings": self.settings(),
            "pairs": [list(each) for each in zip(pairs.names, pairs.motions)],
            **{part: head for part, (head, _) in parts.items()},
        }
        arrays = {"pairs.source": pairs.source, "pairs.target": pairs.target, "pairs.times": pairs.times}
        for part, (_, values) in parts.items():
            arrays |= {f"{part}.{name}": value for name, value in values.items()}
        storage.write(path, header, arrays)

    @classmethod
    def load(cls, path: str | Path) -> Retargeter:
        """Read a retargeter that `save` wrote.

        Args:
            path: The file.

        Returns:
            The fitted retargeter.

        Raises:
            BadFile: If the file is damaged or holds something else.
        """
        header, arrays = storage.read(path)
        if header.get("kind") != FILE_KIND:
            raise BadFile(path, f"should hold a retargeter, but holds a {header.get('kind', 'pose model')}")
        known = storage.check_arrays(path, arrays, FILE_FIELDS)
        for part in ("target", "actor") if "actor" in header else ("target",):
            below = {
                name.removeprefix(f"{part}."): value for name, value in arrays.items() if name.startswith(f"{part}.")
            }
            checked = storage.check_arrays(path, below, BODY_FIELDS, {"N": len(known["pairs.source"])})
            known |= {f"{part}.{name}": value for name, value in checked.items()}
        try:
            return cls._from_parts(header, known)
        except UnderstudyError as error:
            raise BadFile(path, f"is a damaged retargeter: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BadFile(path, f"is a damaged retargeter: {type(error).__name__} {error}") from None

    @classmethod
    def _from_parts(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Retargeter:
        target, markers, poses = _body_from_file(header["target"], arrays, "target.")
        count = len(arrays["pairs.source"])
        if len(header["pairs"]) != count:
            raise InvalidInput(f"there are {count} pairs, but {len(header['pairs'])} names of them")
        actor, performed = None, None
        if "actor" in header:
            character, points, performed = _body_from_file(header["actor"], arrays, "actor.")
            actor = Actor(character, points)
        pairs = PosePairs(
            arrays["pairs.source"],
            arrays["pairs.target"],
            poses,
            tuple(str(name) for name, _ in header["pairs"]),
            tuple(str(motion) for _, motion in header["pairs"]),
            arrays["pairs.times"],
            markers,
            actor,
            performed,
        )
        return cls(target, **header["settings"]).fit(pairs)


def _body_to_file(
    character: Character, markers: Markers, poses: PoseSequence
) -> tuple[dict[str, Any], dict[str, Array]]:
    """Header and arrays of a body: a member of the cast by name, any other as a GLB."""
    member, skeleton = member_of_cast(character), character.skeleton
    head = {
        "name": character.name,
        "cast": member,
        "joints": list(skeleton.names),
        "markers": list(markers.names),
        "root": markers.root,
        "rate": poses.rate,
    }
    arrays = {
        "poses.translations": poses.translations,
        "poses.rotations": poses.rotations,
        **{f"skeleton.{name}": getattr(skeleton, name) for name in ("parents", "translations", "rotations", "scales")},
        **{f"markers.{name}": getattr(markers, name) for name in ("joints", "offsets", "front", "up")},
        "character": np.frombuffer(b"" if member else character_to_bytes(character), np.uint8),
    }
    return head, arrays


def _body_from_file(
    head: Mapping[str, Any], arrays: Mapping[str, Array], part: str
) -> tuple[Character, Markers, PoseSequence]:
    def below(group: str) -> dict[str, Any]:
        start = f"{part}{group}."
        return {name.removeprefix(start): value for name, value in arrays.items() if name.startswith(start)}

    skeleton = Skeleton(head["joints"], **below("skeleton"))
    character = _with_skeleton(restore_character(str(head["cast"]), arrays[f"{part}character"].tobytes()), skeleton)
    names, given = tuple(map(str, head["markers"])), below("markers")
    checks.indices(given["joints"], "joints of markers", len(skeleton))
    checks.indices(np.array([int(head["root"])]), "root of the markers", len(skeleton))
    if len(names) != len(given["joints"]):
        raise InvalidInput(f"there are {len(given['joints'])} markers, but {len(names)} names of them")
    markers = Markers(names, given["joints"], given["offsets"], int(head["root"]), given["front"], given["up"])
    return character, markers, PoseSequence(skeleton, **below("poses"), rate=float(head["rate"]))


def _with_skeleton(character: Character, skeleton: Skeleton) -> Character:
    """The character of a GLB, whose numbers are float32, with the rest pose that it had before."""
    if character.skeleton.names != skeleton.names:
        raise InvalidInput(f"the character should have the joints of the pairs, but has {len(character.skeleton)}")
    return replace(character, skeleton=skeleton)


def source_body(asset: Asset, source: SourceMotion) -> Body | None:
    """The masses of the actor: those of the cast, or of round bones, in metres; None for bare markers."""
    if source.poses is None:
        return None
    member = member_of_cast(asset.character())
    return cast.body(member) if member else body_of(performer_of(source))
