"""Retargeter: an actor's motions on another character, learnt from pose pairs.

The learner of the room. What it learns is a `SharedMapping`; with the character made ready it is a `TransferTarget`
(`target_`). `transform` carries a whole motion over, `live` one frame at a time.

A retargeter in a file (kind "retargeter") holds the pairs, the learnt arrays of the mapping, the settings and the
character: a member of the cast by its name, any other as a GLB with the exact rest pose of its skeleton beside it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from understudy import cast, checks, storage
from understudy.cast import character_to_glb, member_of_cast, open_asset, restore_character
from understudy.character import Asset, Character, Clip, Curves, Skeleton
from understudy.character.body.joint_limits import Limits
from understudy.character.body.markers import Markers
from understudy.character.body.mass import Body, body_of
from understudy.character.body.poses import PoseSequence
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, UnderstudyError
from understudy.estimator import Estimator
from understudy.gp.shared_gplvm import SharedGPLVM
from understudy.storage import Field
from understudy.transfer.actor import perform_as
from understudy.transfer.by_bones import performer_of, transfer_by_bones
from understudy.transfer.live import LiveRetargeter
from understudy.transfer.mapping import MIN_NOISE_VARIANCE_RATIO, PairResidual, SharedMapping, fit_mapping
from understudy.transfer.pairs import PosePairs
from understudy.transfer.physics.spring_limbs import SpringLimb, limbs_by_name, limbs_from_joints
from understudy.transfer.pipeline import TransferResult, TransferTarget, prepare_target, transfer
from understudy.transfer.report import report_of
from understudy.transfer.source import SourceMotion, source_of

FILE_KIND = "retargeter"
FILE_FIELDS = {
    "pairs.source": Field("f", ("N", "P", 3)),
    "pairs.target": Field("f", ("N", "Q", 3)),
    "pairs.times": Field("f", ("N",)),
    "poses.translations": Field("f", ("N", "J", 3)),
    "poses.rotations": Field("f", ("N", "J", 4)),
    "skeleton.parents": Field("i", ("J",)),
    "skeleton.translations": Field("f", ("J", 3)),
    "skeleton.rotations": Field("f", ("J", 4)),
    "skeleton.scales": Field("f", ("J", 3)),
    "markers.joints": Field("i", ("Q",)),
    "markers.offsets": Field("f", ("Q", 3)),
    "markers.front": Field("f", (3,)),
    "markers.up": Field("f", (3,)),
    "mapping.latents": Field("f", ("N", "d")),
    "mapping.kernels": Field("f", (2, 4)),
    "mapping.correlations": Field("f", ("r",)),
    "mapping.objective": Field("f", (1,)),
    "residual.source": Field("f", ("N", "S")),
    "residual.weights": Field("f", ("N", "Q", 3)),
    "character": Field("u", ("B",)),
}
JointLimits = Mapping[str, Mapping[str, tuple[float, float]]]  # joint -> axis -> lowest and highest radians


class Retargeter(Estimator):
    """Learns from pose pairs how a character moves as an actor does, and carries motions over.

    After `fit`: `target_`, a `TransferTarget`.

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
        mapping = fit_mapping(pairs, dimension=self.dimension, iterations=self.iterations, seed=self.seed)
        self.target_ = self._prepare(pairs, mapping)
        return self

    def _prepare(self, pairs: PosePairs, mapping: SharedMapping) -> TransferTarget:
        if pairs.poses.skeleton.names != self.target.skeleton.names:
            raise InvalidInput(
                f"the pairs should be of {self.target.name!r}, but their poses are of another character: it has "
                f"{len(pairs.poses.skeleton)} joints, {self.target.name!r} has {len(self.target.skeleton)}"
            )
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
        limbs = limbs_by_name(skeleton)
        return tuple(limb for limb in limbs if not marked & {skeleton.index(joint) for joint in limb.joints})

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
        if "target_" not in self.__dict__:
            if isinstance(motion, SourceMotion):
                raise InvalidInput("without pairs, a motion should come with its character: give the asset or its file")
            asset = motion if isinstance(motion, Asset) else open_asset(motion)
            source = source_of(asset, clip, rate=rate)
            return transfer_by_bones(source, performer_of(asset, source), self.target, physics=self.physics)
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
        stage = self.target_
        mapping, pairs = stage.mapping, stage.pairs
        assert isinstance(mapping, SharedMapping) and mapping.pair_residual is not None  # as `fit` makes it
        skeleton, markers = self.target.skeleton, pairs.markers
        member = member_of_cast(self.target)
        header = {
            "kind": FILE_KIND,
            "settings": self.settings(),
            "cast": member,
            "name": self.target.name,
            "joints": list(skeleton.names),
            "pairs": [list(each) for each in zip(pairs.names, pairs.motions)],
            "markers": list(markers.names),
            "root": markers.root,
            "width": mapping.pair_residual.width,
            "rate": pairs.poses.rate,
        }
        glb = b"" if member else character_to_glb(self.target)
        arrays = {
            "pairs.source": pairs.source,
            "pairs.target": pairs.target,
            "pairs.times": pairs.times,
            "poses.translations": pairs.poses.translations,
            "poses.rotations": pairs.poses.rotations,
            "skeleton.parents": skeleton.parents,
            "skeleton.translations": skeleton.translations,
            "skeleton.rotations": skeleton.rotations,
            "skeleton.scales": skeleton.scales,
            "markers.joints": markers.joints,
            "markers.offsets": markers.offsets,
            "markers.front": markers.front,
            "markers.up": markers.up,
            **{f"mapping.{name}": array for name, array in mapping.model.arrays().items()},
            "residual.source": mapping.pair_residual.source,
            "residual.weights": mapping.pair_residual.weights,
            "character": np.frombuffer(glb, np.uint8),
        }
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
        arrays = storage.check_arrays(path, arrays, FILE_FIELDS)
        try:
            return cls._from_parts(header, arrays)
        except UnderstudyError as error:
            raise BadFile(path, f"is a damaged retargeter: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BadFile(path, f"is a damaged retargeter: {type(error).__name__} {error}") from None

    @classmethod
    def _from_parts(cls, header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Retargeter:
        def below(part: str) -> dict[str, Array]:
            return {name.removeprefix(part): value for name, value in arrays.items() if name.startswith(part)}

        rest: dict[str, Any] = below("skeleton.")
        skeleton = Skeleton(header["joints"], **rest)
        target = _with_skeleton(restore_character(str(header["cast"]), arrays["character"].tobytes()), skeleton)
        joints = arrays["markers.joints"]
        checks.indices(joints, "joints of markers", len(skeleton))
        checks.indices(np.array([int(header["root"])]), "root of the markers", len(skeleton))
        names = tuple(map(str, header["markers"]))
        offsets, front, up = (arrays[f"markers.{name}"] for name in ("offsets", "front", "up"))
        markers = Markers(names, joints, offsets, int(header["root"]), front, up)
        if len(names) != len(joints):
            raise InvalidInput(f"there are {len(joints)} markers, but {len(names)} names of them")
        count = len(arrays["pairs.source"])
        if len(header["pairs"]) != count:
            raise InvalidInput(f"there are {count} pairs, but {len(header['pairs'])} names of them")
        pairs = PosePairs(
            arrays["pairs.source"],
            arrays["pairs.target"],
            PoseSequence(skeleton, **below("poses."), rate=float(header["rate"])),
            tuple(str(name) for name, _ in header["pairs"]),
            tuple(str(motion) for _, motion in header["pairs"]),
            arrays["pairs.times"],
            markers,
        )
        retargeter = cls(target, **header["settings"])
        settings = {"dimension": retargeter.dimension, "iterations": retargeter.iterations, "seed": retargeter.seed}
        points = pairs.source.reshape(count, -1), pairs.target.reshape(count, -1)
        model = SharedGPLVM.from_arrays(*points, below("mapping."), noise=MIN_NOISE_VARIANCE_RATIO, **settings)
        width = checks.positive(header["width"], "width of the residual")
        residual = PairResidual(arrays["residual.source"], arrays["residual.weights"], width)
        if residual.source.shape != points[0].shape:
            raise InvalidInput(
                f"the residual should have {points[0].shape[1]} columns, but has {residual.source.shape}"
            )
        retargeter.target_ = retargeter._prepare(pairs, SharedMapping(model, pairs, residual))
        return retargeter


def _with_skeleton(character: Character, skeleton: Skeleton) -> Character:
    """The character of a GLB, whose numbers are float32, with the rest pose that it had before."""
    if character.skeleton.names != skeleton.names:
        raise InvalidInput(f"the character should have the joints of the pairs, but has {len(character.skeleton)}")
    return Character(character.name, skeleton, character.parts, character.bones, character.layers, character.avatar)


def source_body(asset: Asset, source: SourceMotion) -> Body | None:
    """The masses of the actor: those of the cast, or of round bones, in metres; None for bare markers."""
    if source.poses is None:
        return None
    member = member_of_cast(asset.character())
    return cast.body(member) if member else body_of(performer_of(asset, source))
