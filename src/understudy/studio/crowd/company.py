"""A company: many performers of one model on one stage, each with its own place, mood and moment.

They stand in rows, the nearer ones in the gaps of those behind, and each does something else every few seconds: it
goes over to another label, or idles. Who looks where is one command for all, told to each in its own space.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence

import numpy as np

from understudy.checks import Array
from understudy.live.commands import Command, Idle, Look, Transition
from understudy.live.performer import Performer
from understudy.live.state import State
from understudy.maths import transform
from understudy.studio.crowd.plain import PlainForm

RATE = 24.0  # frames a second, as films have
MOMENTS = (2.0, 9.0)  # seconds between two things that one character does
SPACING = 1.08  # of the width of one
DEEPER = 0.75  # rows count as this far apart: the half circle is seen from above its edge, and deeper than wide


class Company:
    """`count` characters. A seed makes the same company again."""

    def __init__(self, performer: Performer, form: PlainForm, count: int, seed: int, box: Array) -> None:
        """`box` (2, 3) are the corners of the room that one character takes."""
        self.performer, self.form = performer, form
        self._random = np.random.default_rng(seed)
        self._seeds = itertools.count(1000 * seed)
        self._box = np.asarray(box, np.float64)
        self.states: list[State] = []
        self._next = np.zeros(0)  # the frame at which each does something else
        self._told: list[Command | None] = []
        self.frame = 0
        self.resize(count)

    def __len__(self) -> int:
        return len(self.states)

    def resize(self, count: int) -> None:
        """More characters, or fewer; those who stay go on with what they do."""
        labels = self.performer.model.labels
        while len(self.states) < count:
            label = labels[int(self._random.integers(len(labels)))]
            self.states.append(self.performer.init(label, seed=next(self._seeds)))
        del self.states[count:]
        due = self.frame + self._random.uniform(0, MOMENTS[1] * RATE, max(0, count - len(self._next)))
        self._next = np.concatenate([self._next[:count], due])
        self._told = [None] * count
        self.places = placements(count, self._box)

    def look(self, point: Sequence[float] | None) -> None:
        """All look at a point of the world, metres, or straight ahead."""
        for number, place in enumerate(self.places):
            at: str | tuple[float, ...] = "forward"
            if point is not None:
                own = transform.apply(transform.invert(place), np.asarray(point, np.float64)[None])[0]
                at = tuple(float(x) for x in own)
            self._told[number] = Look(at)  # type: ignore[arg-type]

    def step(self) -> Array:
        """(N, 12 B + W) float32: all of them, one frame on."""
        self.frame += 1
        commands, self._told = self._told, [None] * len(self)
        for number in np.flatnonzero(self._next <= self.frame):
            if commands[number] is None:
                commands[number] = self._something(self.states[number])
                self._next[number] = self.frame + self._random.uniform(*MOMENTS) * RATE
        self.states, rows = self.performer.step_all(self.states, commands)
        return self._placed(self.form.poses(rows))

    def _something(self, state: State) -> Command:
        others = [label for label in self.performer.model.labels if label != state.label]
        if not others or self._random.random() < 0.25:
            return Idle()
        return Transition(others[int(self._random.integers(len(others)))])

    def _placed(self, poses: Array) -> Array:
        """The poses, each moved to its place."""
        bones = 12 * len(self.form.packer.bones)
        matrices = poses[:, :bones].reshape(len(self), -1, 3, 4)
        turn, move = self.places[:, None, :3, :3], self.places[:, None, :3, 3]
        matrices[...] = turn @ matrices
        matrices[..., 3] += move
        return poses


def room(count: int, box: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The corners of the room that a company takes whose members take a `box` (2, 3) each."""
    corners = np.array(list(itertools.product(*np.asarray(box, np.float64).T)))
    points = np.concatenate([transform.apply(place, corners) for place in placements(count, box)])
    return tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist())


def placements(count: int, box: Array) -> Array:
    """(N, 4, 4) places in rows on the ground, in a half circle around the middle of the front row.

    The places of more are those of fewer and others behind them: who stays does not move when a crowd grows.
    """
    step = SPACING * max(float(box[1, 0] - box[0, 0]), float(box[1, 2] - box[0, 2]), 1e-3)
    reach = int(np.ceil(np.sqrt(count))) + 2
    row, column = (each.reshape(-1) for each in np.mgrid[0:reach, -reach : reach + 1])
    x, z = column + 0.5 * (row % 2), -row.astype(np.float64)
    nearest = np.argsort(np.hypot(x, DEEPER * z) + 1e-6 * x, kind="stable")[:count]
    shaken = np.random.default_rng(1).uniform(-0.12, 0.12, (count, 3))  # as nobody stands on a grid
    x, z = (x[nearest] + shaken[:, 0]) * step, (z[nearest] + shaken[:, 1]) * step
    # those at the sides turn a little to the middle, as an audience does
    angle = np.arctan2(-0.06 * x, step) + shaken[:, 2]
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, 0, 0] = result[:, 2, 2] = np.cos(angle)
    result[:, 0, 2], result[:, 2, 0] = np.sin(angle), -np.sin(angle)
    result[:, 0, 3], result[:, 2, 3] = x, z
    return result
