"""A company: many performers of one model on one stage, each with its own place, mood and moment.

They stand in rows, the nearer ones in the gaps of those behind, and each does something else every few seconds: it
goes over to another label, or idles. Who looks where is one command for all, told to each in its own space.

A running crowd: 24 frames a second while a page takes them, made in a thread so that nothing else waits.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from understudy.character import Image
from understudy.checks import Array
from understudy.errors import UnderstudyError
from understudy.maths import jit, transform
from understudy.maths.threads import one_thread
from understudy.perform.commands import Command, Idle, LookAt, Transition
from understudy.perform.runtime.particle import PARTICLE_KERNELS
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState
from understudy.studio import source
from understudy.studio.clock import FramePacer
from understudy.studio.crowd.simplified import CrowdCharacter, make_crowd_character
from understudy.studio.messages.crowd import CrowdStats
from understudy.studio.messages.shell import Notice
from understudy.studio.viewport.description import bounds, describe, images

if TYPE_CHECKING:
    from understudy.perform import PoseModel
    from understudy.perform.model_character import ModelWithCharacter
    from understudy.studio.session import Session

CROWD_RATE_HZ = 24.0  # frames a second, as films have
SECONDS_BETWEEN_ACTIONS = (2.0, 9.0)  # seconds between two things that one character does
SPACING_WIDTHS = 1.08  # of the width of one
ROW_DEPTH_RATIO = (
    0.75  # rows count as this far apart: the half circle is seen from above its edge, and deeper than wide
)


class CrowdPerformers:
    """`count` characters. A seed makes the same company again."""

    def __init__(self, performer: Performer, form: CrowdCharacter, count: int, seed: int, box: Array) -> None:
        """`box` (2, 3) are the corners of the room that one character takes."""
        self.performer, self.form = performer, form
        self._random = np.random.default_rng(seed)
        self._seeds = itertools.count(1000 * seed)
        self._box = np.asarray(box, np.float64)
        self.states: list[PerformerState] = []
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
        due = self.frame + self._random.uniform(
            0, SECONDS_BETWEEN_ACTIONS[1] * CROWD_RATE_HZ, max(0, count - len(self._next))
        )
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
            self._told[number] = LookAt(at)  # type: ignore[arg-type]

    def step(self) -> Array:
        """(N, 12 B + W) float32: all of them, one frame on."""
        self.frame += 1
        commands, self._told = self._told, [None] * len(self)
        for number in np.flatnonzero(self._next <= self.frame):
            if commands[number] is None:
                commands[number] = self._random_command(self.states[number])
                self._next[number] = self.frame + self._random.uniform(*SECONDS_BETWEEN_ACTIONS) * CROWD_RATE_HZ
        self.states, rows = self.performer.step_all(self.states, commands)
        return self._place_poses(self.form.poses(rows))

    def _random_command(self, state: PerformerState) -> Command:
        others = [label for label in self.performer.model.labels if label != state.label]
        if not others or self._random.random() < 0.25:
            return Idle()
        return Transition(others[int(self._random.integers(len(others)))])

    def _place_poses(self, poses: Array) -> Array:
        """The poses, each moved to its place."""
        bones = 12 * len(self.form.packer.bones)
        matrices = poses[:, :bones].reshape(len(self), -1, 3, 4)
        turn, move = self.places[:, None, :3, :3], self.places[:, None, :3, 3]
        matrices[...] = turn @ matrices
        matrices[..., 3] += move
        return poses


def crowd_bounds(count: int, box: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The corners of the room that a company takes whose members take a `box` (2, 3) each."""
    corners = np.array(list(itertools.product(*np.asarray(box, np.float64).T)))
    points = np.concatenate([transform.apply(place, corners) for place in placements(count, box)])
    return tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist())


def placements(count: int, box: Array) -> Array:
    """(N, 4, 4) places in rows on the ground, in a half circle around the middle of the front row.

    The places of more are those of fewer and others behind them: who stays does not move when a crowd grows.
    """
    step = SPACING_WIDTHS * max(float(box[1, 0] - box[0, 0]), float(box[1, 2] - box[0, 2]), 1e-3)
    reach = int(np.ceil(np.sqrt(count))) + 2
    row, column = (each.reshape(-1) for each in np.mgrid[0:reach, -reach : reach + 1])
    x, z = column + 0.5 * (row % 2), -row.astype(np.float64)
    nearest = np.argsort(np.hypot(x, ROW_DEPTH_RATIO * z) + 1e-6 * x, kind="stable")[:count]
    shaken = np.random.default_rng(1).uniform(-0.12, 0.12, (count, 3))  # as nobody stands on a grid
    x, z = (x[nearest] + shaken[:, 0]) * step, (z[nearest] + shaken[:, 1]) * step
    # those at the sides turn a little to the middle, as an audience does
    angle = np.arctan2(-0.06 * x, step) + shaken[:, 2]
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, 0, 0] = result[:, 2, 2] = np.cos(angle)
    result[:, 0, 2], result[:, 2, 0] = np.sin(angle), -np.sin(angle)
    result[:, 0, 3], result[:, 2, 3] = x, z
    return result


LOG = logging.getLogger(__name__)
SAMPLE_POSE_COUNT = 128  # poses of a model that are looked at, to know what a character may do
MAX_CROWD_TIME_SHARE = 0.95  # of the time at most is spent on the crowd; a crowd that is too large gets fewer frames
MAX_CATCH_UP_SECONDS = (
    6 / CROWD_RATE_HZ
)  # seconds that are caught up with after frames in which many began something else


@dataclass(frozen=True, eq=False)
class CrowdModel:
    """What all crowds of one model need, at one fineness."""

    performer: Performer
    form: CrowdCharacter
    box: Array  # (2, 3) the room that one character takes
    images: tuple[Image, ...]

    @classmethod
    def build(cls, opened: ModelWithCharacter, vertices: int) -> CrowdModel:
        """Takes seconds: call it in a thread."""
        rows = typical_rows(opened.model)
        form = make_crowd_character(opened.rig, rows, vertices)
        low, high = bounds(opened.rig)
        return cls(opened.performer(CROWD_RATE_HZ), form, np.array([low, high]), images(form.packer.rig))


def typical_rows(model: PoseModel) -> Array:
    """(F, C) poses that a model was learnt from, some of every label."""
    share = max(1, SAMPLE_POSE_COUNT // len(model.spaces))
    found = [space.features[:: max(1, len(space) // share)].astype(np.float64) for space in model.spaces.values()]
    features = np.concatenate(found)
    return model.encoder.place(features, np.zeros((len(features), 3)))


class Crowd:
    """The crowd of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.model = ""
        self.seed = self.vertices = 0
        self.troupe: CrowdModel | None = None
        self.company: CrowdPerformers | None = None
        self._known: dict[tuple[str, int], CrowdModel] = {}
        self._task: asyncio.Task[None] | None = None
        self._wishes: list[Any] = []  # what is done to the company before its next frame
        self.lock = asyncio.Lock()

    async def gather(self, opened: ModelWithCharacter, model: str, count: int, seed: int, vertices: int) -> None:
        """The crowd that was asked for: the one of now, larger or smaller, or another."""
        same = self.company is not None and (self.model, self.seed, self.vertices) == (model, seed, vertices)
        if same and self.company is not None:
            company = self.company
            self._wishes.append(lambda: company.resize(count))
        else:
            key = model, vertices
            if key not in self._known:
                self._known = {key: await asyncio.to_thread(CrowdModel.build, opened, vertices)}
            self.troupe = troupe = self._known[key]
            self.company = await asyncio.to_thread(
                CrowdPerformers, troupe.performer, troupe.form, count, seed, troupe.box
            )
            self.model, self.seed, self.vertices = model, seed, vertices
            self._wishes.clear()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def look(self, point: tuple[float, float, float] | None) -> None:
        """All look there."""
        if self.company is not None:
            company = self.company
            self._wishes = [wish for wish in self._wishes if getattr(wish, "what", "") != "look"]
            wish = _Look(company, point)
            self._wishes.append(wish)

    async def end(self) -> None:
        """Nobody is left."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._task = self.company = None

    def description(self) -> bytes:
        """What the page draws of one of them, in the room that all take."""
        assert self.troupe is not None and self.company is not None  # or there is nothing to fetch
        corners = [list(corner) for corner in crowd_bounds(len(self.company), self.troupe.box)]
        return describe(self.troupe.form.packer.rig, packer=self.troupe.form.packer, box=corners)

    async def _run(self) -> None:
        session, stream = self._session, source.CROWD_STREAM
        pace, reported, size = (
            FramePacer(CROWD_RATE_HZ, MAX_CROWD_TIME_SHARE, MAX_CATCH_UP_SECONDS),
            time.monotonic(),
            0,
        )
        costs: list[float] = []
        try:
            while session.clients and self.company is not None:
                began = time.perf_counter()
                if session.wants_frame(stream):
                    poses, cost = await asyncio.to_thread(self._step, self.company)
                    count, floats = poses.shape
                    payload = poses.reshape(-1).data.cast("B")
                    session.send_frame(
                        source.CROWD_FORM, self.company.frame / CROWD_RATE_HZ, count, floats, payload, stream
                    )
                    costs.append(cost)
                    size = poses.nbytes
                pace.next(time.perf_counter() - began)
                await asyncio.sleep(pace.wait)
                seconds = time.monotonic() - reported
                if seconds >= 1.0 and costs:
                    mean, fps = sum(costs) / len(costs), len(costs) / seconds
                    told = (len(self.company), round(fps, 1), round(1e3 * mean, 2), round(mean * fps, 3), size)
                    session.emit(CrowdStats(*told))
                    costs, reported = [], time.monotonic()
        except UnderstudyError as error:
            session.emit(Notice("error", str(error), "The crowd has stopped; ask for it again."))
        except Exception:
            LOG.exception("the crowd could not go on")
            session.emit(Notice("error", "The crowd could not go on for a reason that was not foreseen.", ""))
        finally:
            self._task = None

    def _step(self, company: CrowdPerformers) -> tuple[Array, float]:
        """The next frame, and the processor time that it took."""
        began = time.thread_time()
        wishes, self._wishes = self._wishes, []
        with one_thread(), _one_core():  # a second thread would mostly wait, and burn a quarter of a core at that
            for wish in wishes:
                wish()
            poses = company.step()
        return poses, time.thread_time() - began


@contextmanager
def _one_core() -> Iterator[None]:
    """Compiled code on this thread alone: a page is being drawn on the others."""
    if jit.kernels(PARTICLE_KERNELS) is None:
        yield
        return
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(1)
    try:
        yield
    finally:
        numba.set_num_threads(before)


class _Look:
    """A wish that a newer one of its kind replaces."""

    what = "look"

    def __init__(self, company: CrowdPerformers, point: tuple[float, float, float] | None) -> None:
        self._company, self._point = company, point

    def __call__(self) -> None:
        self._company.look(self._point)


_CROWDS: WeakKeyDictionary[Session, Crowd] = WeakKeyDictionary()


def crowd_of(session: Session) -> Crowd:
    """The crowd of a session; it may have nobody in it."""
    if session not in _CROWDS:
        _CROWDS[session] = Crowd(session)
    return _CROWDS[session]
