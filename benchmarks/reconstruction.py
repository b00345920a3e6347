"""How well a few numbers hold a pose of the dragon, in millimetres on its mesh.

Two questions of Bailey 2016. *Section 4.2*: is it worth scaling the controls by what they do to the mesh (eq. 3) before
principal components are taken? Frames of each label are compressed to a few components, with controls as they are, with
eq. 3, and with the balance of what is seen that understudy learns with (`features.balance`); the error is measured in
the world, in the frame of the head (the face alone, however the neck carries it), in the controls, and by how often the
lips pass through each other where they did not. *Section 4.3*: what does a latent space of three dimensions keep of
frames that it never saw? A clip of each label is held out, and then every fifth frame; the pose at the latent that is
found for each held-out frame is compared with principal components of equal number, and with as many as explain 85 %.
Frames between learned ones are asked for a second time from a space that keeps 98 % of the variance: what is lost there
is lost by the components, not by the latent space.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial

import numpy as np
from benchmarks.measure import Row

from understudy import cast
from understudy.checks import Array
from understudy.gp.gplvm import GPLVM
from understudy.maths import transform
from understudy.maths.jit import map_in_threads
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.features.reduction import FeaturePca
from understudy.perform.features.weights import carrier_joint, feature_influence, weigh_features
from understudy.perform.layers.eyes import gaze_columns
from understudy.perform.library import ClipLibrary
from understudy.perform.pose_space import PoseSpace, Segment

PEERS = False
COUNTS = (1, 2, 3, 5, 10, 20)
FRAMES = 40  # of each label, evenly spread, that are looked at
DENSE = 4  # every so many-th vertex is measured
LIPS = ((61, 67), (62, 66), (63, 65))  # landmarks of the inner edges, upper and lower
CROSSED = 5e-3  # metres that a lower lip is above the upper one more than it was: lips that press are below it
HOLD_OUTS = (("a clip", 0.85), ("every fifth frame", 0.85), ("every fifth frame", 0.98))  # and the variance kept


@dataclass(frozen=True)
class Errors:
    """Means over frames: millimetres of root mean square over the vertices, in the world and in the head's frame."""

    world: float
    face: float
    crossed: float  # share of frames whose lips pass through each other


class Dragon:
    """The dragon's clips as features, what each scaling gives them, and the eye for differences."""

    def __init__(self) -> None:
        library = ClipLibrary.from_asset(cast.load("dragon"))
        rig, rows = library.rig, [take.rows for take in library.takes]
        self.library = library
        self.encoder = PoseEncoder.fit(rig.channels, rows, library.rate, rig.rest, library.root, gaze_columns(rig))
        self.features = [self.encoder.encode(take) for take in rows]
        self.head = carrier_joint(library.character)

    @cached_property
    def scalings(self) -> dict[str, Array]:
        """(E,) by name."""
        every, rig = np.concatenate(self.features), self.library.rig
        return {
            "unscaled": self.encoder.learned.astype(float),
            "eq. 3": feature_influence(self.encoder, rig, every)[0],
            "balanced": weigh_features(self.encoder, rig, every).weights,
        }

    def of_label(self, label: str) -> list[Array]:
        """(F, E) of each take."""
        return [values for values, take in zip(self.features, self.library.takes) if take.label == label]

    def seen(self, features: Array) -> tuple[Array, Array, Array]:
        """Vertices (M, V, 3) in the world and in the head, and how far lower lips are above upper ones (M, 3)."""
        rows = self.encoder.decode(features)
        vertices = self.library.rig.vertices(rows)
        head_from_world = transform.invert(self.library.rig.joints(rows)[:, self.head])
        points = self.library.rig.character.layers.points
        lips = [[vertices[:, points[f"landmark_{i:02d}"]] for i in pair] for pair in LIPS]
        over = np.stack([((low - up) * head_from_world[:, 1, :3]).sum(axis=-1) for up, low in lips], axis=1)
        world = vertices[:, ::DENSE].astype(np.float64)
        return world, transform.apply(head_from_world[:, None], world), over

    def errors(self, truth: tuple[Array, Array, Array], frames: Array, found: Array) -> Errors:
        """Of features (M, E) that should be those of `frames`; what is not learned is taken as it was."""
        found = np.where(self.encoder.learned, found, frames)
        world, face, over = self.seen(found)

        def millimetres(a: Array, b: Array) -> float:
            return float(1e3 * np.sqrt(np.square(a - b).sum(axis=-1).mean(axis=-1)).mean())

        crossed = (over - np.maximum(truth[2], 0) > CROSSED).any(axis=1)
        return Errors(millimetres(world, truth[0]), millimetres(face, truth[1]), float(crossed.mean()))


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    dragon = Dragon()
    yield from scaling(dragon)
    yield from held_out(dragon)


def spread(frames: Array, count: int = FRAMES) -> Array:
    """(count,) rows of frames (F, E), evenly spread."""
    return frames[np.linspace(0, len(frames) - 1, min(count, len(frames))).astype(int)]


def scaling(dragon: Dragon) -> Iterator[Row]:
    """Compression of what was learned from, by the number of components and by how features are scaled."""
    labels = [np.concatenate(dragon.of_label(label)) for label in dragon.library.labels]
    looked = [spread(frames) for frames in labels]
    truths = [dragon.seen(frames) for frames in looked]
    for count in (*COUNTS, None):
        table: dict[str, list[float]] = {}
        for name, weights in dragon.scalings.items():
            reductions = [FeaturePca.fit(f, weights, 0.85 if count is None else 1.0, count) for f in labels]
            found = [reduction.restore(reduction.reduce(f)) for reduction, f in zip(reductions, looked)]
            errors = [dragon.errors(*case) for case in zip(truths, looked, found)]
            learned = dragon.encoder.learned
            rig = [
                np.linalg.norm((a - b)[:, learned]) / np.linalg.norm((b - b.mean(axis=0))[:, learned])
                for a, b in zip(found, looked)
            ]
            number = [reduction.dimensions for reduction in reductions]
            means = [(e.world, e.face, e.crossed * 100, r * 100, n) for e, r, n in zip(errors, rig, number)]
            table[name] = np.mean(means, axis=0).tolist()
        yield from _scaling_rows("85 %" if count is None else f"{count}", table)


def _scaling_rows(count: str, table: dict[str, list[float]]) -> Iterator[Row]:
    plain = table["unscaled"]
    what = ("mm on the mesh", "mm on the face", "% of frames with crossed lips", "% of the controls' norm")
    for name in ("eq. 3", "balanced"):
        for i, measure in enumerate(what):
            used = f", {table[name][4]:.1f} components, unscaled {plain[4]:.1f}" if count == "85 %" else ""
            ratio = plain[i] / table[name][i] if table[name][i] > 0 else None
            unit, _, place = measure.partition(" ")
            title = f"{count} PC, {name}: {place}"
            yield Row(title, table[name][i], unit, f"unscaled: {plain[i]:.2f}{used}", ratio, None)


@dataclass(frozen=True, eq=False)
class Case:
    """One label with some of its frames held out."""

    label: str
    train: list[Array]  # (F, E) of each segment
    times: list[Array]  # (F,) seconds
    test: Array  # (M, E)


def case(dragon: Dragon, label: str, how: str) -> Case:
    """The frames to learn from and those held out: the clip in the middle of the label's, or every fifth of all."""
    takes, rate = dragon.of_label(label), dragon.library.rate
    if how == "a clip":
        out = len(takes) // 2
        kept = [take for number, take in enumerate(takes) if number != out]
        return Case(label, kept, [np.arange(len(take)) / rate for take in kept], spread(takes[out], 60))
    held = [np.arange(len(take)) % 5 == 2 for take in takes]
    kept = [take[~mask] for take, mask in zip(takes, held)]
    times = [np.flatnonzero(~mask) / rate for mask in held]
    return Case(label, kept, times, spread(np.concatenate([take[mask] for take, mask in zip(takes, held)]), 60))


def held_out(dragon: Dragon) -> Iterator[Row]:
    """What a latent space of three dimensions keeps of frames that it never saw."""
    weights = dragon.scalings["balanced"]
    for how, share in HOLD_OUTS:
        cases = [case(dragon, label, how) for label in dragon.library.labels]
        models = map_in_threads(partial(fitted, weights, share), cases)
        every = [_compared(dragon, one, space) for one, space in zip(cases, models)]
        title = f"{how} held out, {share:.0%} kept"
        for one, errors in zip(cases, every):
            yield from _held_out_rows(f"{title}, {one.label}", errors, None)
        means = {name: np.mean([errors[name] for errors in every], axis=0).tolist() for name in every[0]}
        yield from _held_out_rows(f"{title}, mean", means, 1.0)


def fitted(weights: Array, share: float, one: Case, progress: Callable[[int, int], None]) -> PoseSpace:
    """The pose space of the frames that were kept, as `posespace.learning` makes it."""
    features = np.concatenate(one.train)
    lengths = [len(part) for part in one.train]
    reduction = FeaturePca.fit(features, weights, share)
    numbers, times = np.repeat(np.arange(len(lengths)), lengths), np.concatenate(one.times)
    model = GPLVM().fit(reduction.reduce(features), numbers, times, progress)
    stops = np.cumsum(lengths)
    segments = tuple(Segment(str(i), int(stop - n), int(stop)) for i, (stop, n) in enumerate(zip(stops, lengths)))
    return PoseSpace(one.label, reduction, model.mapping_, model.latents_, features, segments, 24.0)


def _compared(dragon: Dragon, one: Case, space: PoseSpace) -> dict[str, Sequence[float]]:
    """(world, face) millimetres of each way to hold a pose, and of the most like frame that was learned from."""
    test, train = one.test, np.concatenate(one.train)
    truth, whole = dragon.seen(test), space.reduction
    three = FeaturePca.fit(train, dragon.scalings["balanced"], most=3)
    scaled = [(frames - whole.mean) * whole.scale for frames in (test, train)]
    apart = np.square(scaled[0][:, None] - scaled[1][None, :, :]).sum(axis=-1)
    found = {
        "GPLVM 3": space.features_of(space.latent_of(test)[0]),
        "PCA 3": three.restore(three.reduce(test)),
        "PCA all": whole.restore(whole.reduce(test)),
        "nearest frame": train[apart.argmin(axis=1)],
    }
    errors = {name: dragon.errors(truth, test, values) for name, values in found.items()}
    return {name: (error.world, error.face) for name, error in errors.items()}


def _held_out_rows(title: str, errors: dict[str, Sequence[float]], bar: float | None) -> Iterator[Row]:
    for i, place in enumerate(("mesh", "face")):
        ours, others = errors["GPLVM 3"][i], {name: error[i] for name, error in errors.items() if name != "GPLVM 3"}
        peer = ", ".join(f"{name}: {value:.2f}" for name, value in others.items())
        yield Row(f"{title}: {place}", ours, "mm", peer, others["PCA 3"] / ours, bar)
