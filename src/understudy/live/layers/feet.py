"""Feet: a layer that lets them stand where the clips have them standing, and keeps them out of the floor.

A pose between two clips is a blend of both, and so are its feet: they slide from one stance to the other, though they
slide in neither. This layer knows from the training frames near the performance where each foot stands (`contacts`),
holds it there or makes a step of it (`footstep`), and lets the leg follow (`leg`). What slides in the clips themselves,
as a walk on the spot does, slides on.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import NamedTuple

import numpy as np

from understudy.checks import Array
from understudy.live.bounding import CUTS, SPARE, Bound
from understudy.live.layers import contacts, footstep
from understudy.live.layers.contacts import LabelContacts
from understudy.live.layers.feet_found import FoundFoot, find_feet
from understudy.live.layers.footstep import DOWN, Foot, Seen
from understudy.live.layers.layer import Moment
from understudy.live.layers.leg import Leg
from understudy.posespace import Model
from understudy.rig import DirectRig, PosedRig

# Heights a second squared: what it takes to make a step, in whose clips nothing ever does.
A_STEP = 20.0
UNEVEN = 1e-3  # of a scale: a leg whose joints are stretched along one axis is not turned by rotations alone


@dataclass(frozen=True, eq=False)
class Sole:
    """What of a foot is on the ground."""

    owners: Array  # (P,) int, joints
    points: Array  # (P, 3) in their frames
    stands_on: int  # the one of the points that keeps its place while the foot stands
    floor: float  # metres, how high the lowest of them is when it stands

    def places(self, worlds: Array) -> Array:
        """(..., P, 3) in the world, for world_from_joint (..., J, 4, 4)."""
        frames = worlds[..., self.owners, :3, :]
        return np.asarray((frames[..., :3] @ self.points[:, :, None])[..., 0] + frames[..., 3])


class Standing(NamedTuple):
    """The state of the layer: of each foot, and the last two rows (C,) that were shown."""

    feet: tuple[Foot, ...]
    before: tuple[Array, ...] = ()


@dataclass(frozen=True, eq=False)
class Feet:
    """The layer; made by `Feet.of`."""

    rig: DirectRig
    size: float  # metres that the character is high
    legs: tuple[Leg, ...]
    soles: tuple[Sole, ...]
    labels: dict[str, LabelContacts]
    fellows: tuple[int, ...]  # the other foot of each one's pair
    bound: Bound

    @classmethod
    def of(cls, rig: PosedRig, model: Model | None) -> Feet | None:
        """The feet of a character as its model's clips use them; None where it has none."""
        if model is None or not isinstance(rig, DirectRig):
            return None
        clips = [
            (label, segment.start, segment.stop) for label, space in model.spaces.items() for segment in space.segments
        ]
        rows = [model.encoder.decode(model.spaces[label].features[start:stop]) for label, start, stop in clips]
        if _uneven(rig, rows):
            return None
        worlds = [rig.joints(values) for values in rows]
        size = float(np.median([np.ptp(w[:, rig.character.joints, 1, 3], axis=1).max() for w in worlds]))
        found = find_feet(rig.character, worlds, size) if size > 0 else ()
        bound = Bound.of(model, rig)
        if not found or bound is None:
            return None
        bound = replace(bound, most=max(bound.most, A_STEP * size))
        every = np.concatenate(worlds)
        soles = tuple(_sole(foot, worlds, size, model.rate) for foot in found)
        legs = tuple(Leg.of(rig.character.skeleton, foot, every) for foot in found)
        labels: dict[str, LabelContacts] = {}
        for label, space in model.spaces.items():
            own = [i for i, clip in enumerate(clips) if clip[0] == label]
            known = np.concatenate([_known(soles, worlds[i], size, model.rate) for i in own])
            labels[label] = LabelContacts.of(space.latents, known, [clips[i][1:] for i in own])
        if not any(contact.known[:, : len(soles)].any() for contact in labels.values()):
            return None  # flippers, or a gait on the spot and nothing else: nothing ever stands
        hips = every[..., :3, 3][:, [leg.joints[0] for leg in legs]].mean(axis=0)
        return cls(rig, size, legs, soles, labels, _fellows(hips), bound)

    @cached_property
    def _soles(self) -> tuple[Sole, Array]:
        """The soles of all feet as one, and where those of each begin."""
        owners, points = (np.concatenate([getattr(sole, name) for sole in self.soles]) for name in ("owners", "points"))
        ends = np.cumsum([len(sole.owners) for sole in self.soles])
        return Sole(owners, points, 0, 0.0), np.concatenate([[0], ends[:-1]])

    def init(self, seed: int) -> Standing:
        """The state before the first frame; nothing happens by chance."""
        return Standing(tuple(Foot() for _ in self.legs))

    def step(self, standing: Standing, row: Array, moment: Moment) -> tuple[Standing, Array]:
        """The next state, and the row (C,) with its feet where they belong."""
        if not moment.places:
            return standing, row
        state = standing.feet
        worlds = self.rig.joints(row[None])[0]
        every, bounds = self._soles  # all at once: a foot by itself costs as much as four
        places = every.places(worlds)
        lowest = np.minimum.reduceat(places[:, 1], bounds).tolist()
        known = contacts.at(self.labels, moment.places).tolist()
        held = moment.blending or not moment.played
        count = len(self.legs)
        feet, moves = list(state), [(0.0, 0.0, 0.0)] * count
        # the foot that is furthest from where it should be goes first
        for i in sorted(range(count), key=lambda i: -state[i].error if state[i].mode == DOWN else 0.0):
            sole = self.soles[i]
            x, _, z = places[bounds[i] + sole.stands_on].tolist()
            stands, slides, height = known[i], known[count + i], known[2 * count + i]
            ground = contacts.ground(stands, known[3 * count + i], sole.floor)
            seen = Seen((x, z), lowest[i], stands, slides, height, ground, held)
            up = [feet[j].in_the_air(self.soles[j].floor, self.size) for j in range(count)]
            may_lift = not up[self.fellows[i]] and sum(up) - up[i] < max(1, count // 2)
            feet[i], moves[i] = footstep.step(feet[i], seen, sole.floor, self.size, may_lift, moment.time, moment.dt)
        changed = row.copy()
        for i, leg in enumerate(self.legs):
            feet[i] = feet[i]._replace(strain=leg.put(changed, worlds, moves[i]))
        if len(standing.before) == 2:
            self._bounded(standing.before, changed, 1 / moment.dt)
        return Standing(tuple(feet), (*standing.before[-1:], changed)), changed

    def _bounded(self, before: tuple[Array, ...], row: Array, rate: float) -> None:
        """Let the legs of a row (C,) go on as before, as far as they would else turn more suddenly than in any clip.

        A leg that is bent as no clip has it can have two ways to reach the ground, a frame here and a frame there.
        """
        past_and_last = np.stack(before)
        if self.bound.excess(past_and_last, row[None], rate)[0] <= 1:
            return
        count = 10 * len(self.rig.character.skeleton)
        past, last, now = (values[:count].reshape(-1, 10)[self._moved] for values in (*before, row))
        last, past = _alike(last, now), _alike(past, now)
        s, b = CUTS.T[..., None, None]
        ahead = last + b * (last - past)
        tried = ahead + s * (now - ahead)  # (cuts, n, 10)
        tried[..., 3:7] /= np.linalg.norm(tried[..., 3:7], axis=-1, keepdims=True)
        rows = np.tile(row, (len(tried), 1))
        rows[:, (10 * self._moved[:, None] + np.arange(10)).ravel()] = tried.reshape(len(tried), -1)
        excess = self.bound.excess(past_and_last, rows, rate)
        row[:] = rows[int((excess <= SPARE).argmax() if (excess <= SPARE).any() else excess.argmin())]

    @cached_property
    def _moved(self) -> Array:
        """The joints of the legs and the feet."""
        return np.unique([joint for leg in self.legs for joint in (*leg.joints, leg.foot)])


def _alike(joints: Array, others: Array) -> Array:
    """Joints (n, 10) with the signs of the others' quaternions."""
    signs = np.where((joints[:, 3:7] * others[:, 3:7]).sum(axis=1) < 0, -1.0, 1.0)
    return np.concatenate([joints[:, :3], signs[:, None] * joints[:, 3:7], joints[:, 7:]], axis=1)


def _fellows(hips: Array) -> tuple[int, ...]:
    """The foot whose hip is nearest to each one's (n, 3)."""
    apart = np.linalg.norm(hips[:, None] - hips, axis=-1)
    np.fill_diagonal(apart, np.inf)
    return tuple(apart.argmin(axis=1).tolist())


def _uneven(rig: DirectRig, rows: list[Array]) -> bool:
    """Whether any joint of rows (F, C) is ever mirrored, or larger along one axis than along another."""
    count = len(rig.character.skeleton)
    every = np.concatenate([values[:, : 10 * count].reshape(-1, 10)[:, 7:] for values in rows])
    return bool(((every.min(axis=1) <= 0) | (every.min(axis=1) < (1 - UNEVEN) * every.max(axis=1))).any())


def _sole(foot: FoundFoot, worlds: list[Array], size: float, rate: float) -> Sole:
    """The floor of a foot, and the point of it that keeps its place best while it is low."""
    sole = Sole(foot.owners, foot.points, 0, 0.0)
    places = [sole.places(world) for world in worlds]
    floor = float(np.median([np.quantile(p[..., 1].min(axis=1), 0.1) for p in places]))
    speeds = np.concatenate([_speeds(p) for p in places]) * rate / size
    low = np.concatenate([p[..., 1] for p in places]) < floor + contacts.LOW * size
    often = low.mean(axis=0)
    usual = np.where(low, np.minimum(speeds, 1.0), 0.0).sum(axis=0) / np.maximum(low.sum(axis=0), 1)
    usual = np.where(often > 0.5 * often.max(), usual, np.inf)  # a point that is seldom down says little
    return Sole(foot.owners, foot.points, int(usual.argmin()), floor)


def _speeds(places: Array) -> Array:
    """(F, P) over the ground, metres a frame, of points (F, P, 3)."""
    if len(places) < 2:
        return np.zeros(places.shape[:2])
    return np.asarray(np.linalg.norm(np.gradient(places[..., [0, 2]], axis=0), axis=-1))


def _known(soles: tuple[Sole, ...], world: Array, size: float, rate: float) -> Array:
    """(F, 4 n) of the frames of a clip: whether each foot stands, whether it slides, how high its lowest point is, and
    that again where it stands."""
    stands, slides, heights = [], [], []
    for sole in soles:
        places = sole.places(world)
        heights.append(places[..., 1].min(axis=1))
        uneven = contacts.UNEVEN * size
        floor = np.clip(np.quantile(heights[-1], 0.1), sole.floor - uneven, sole.floor + uneven)
        low = floor + contacts.LOW * size
        stands.append(contacts.standing(places[:, sole.stands_on], low, size, rate))
        slides.append((heights[-1] < low) & ~stands[-1])
    return np.stack([*stands, *slides, *heights, *(s * h for s, h in zip(stands, heights))], axis=1)
