"""A crowd: many performers of one model on stage, each with its own position, label and timing.

The characters stand in rows, each row in the gaps of the one behind. Every few seconds each does something else: it
goes to another label, or idles. A look is one command for all, transformed into the space of each character. While a
page takes frames, the crowd makes 24 a second, in a thread so that nothing else waits.
"""

from __future__ import annotations

import asyncio
import itertools
import logging
import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from understudy.character import Image
from understudy.checks import Array
from understudy.errors import UnderstudyError
from understudy.maths import jit, transform
from understudy.maths.jit import one_blas_thread
from understudy.perform.commands import Command, Idle, LookAt, Transition
from understudy.perform.runtime.performer import Performer
from understudy.perform.runtime.state import PerformerState
from understudy.render.viewport.description import bounds, describe, images
from understudy.studio import source
from understudy.studio.clock import FramePacer
from understudy.studio.crowd.simplified import CrowdCharacter, make_crowd_character
from understudy.studio.messages.perform import CrowdStats
from understudy.studio.messages.shell import Notice

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel
    from understudy.perform.pose_model import ModelWithCharacter
    from understudy.studio.session import Session

CROWD_RATE_HZ = 24.0
SECONDS_BETWEEN_ACTIONS = (2.0, 9.0)  # seconds between two commands for one character, least and most
SPACING_WIDTHS = 1.08  # distance between neighbours, in widths of a character
# Weight of the depth in the distance that orders the positions: below 1 the half circle is deeper than wide.
ROW_DEPTH_RATIO = 0.75
LOG = logging.getLogger(__name__)
SAMPLE_POSE_COUNT = 128  # poses of a model from which the simplified character is made
MAX_CROWD_TIME_SHARE = 0.95  # of the time that the crowd may take; a large crowd gets fewer frames
# Seconds of delay that are caught up with, after frames in which many characters got a command.
MAX_CATCH_UP_SECONDS = 6 / CROWD_RATE_HZ
_CROWDS: WeakKeyDictionary[Session, Crowd] = WeakKeyDictionary()


class CrowdPerformers:
    """The performers of `count` characters. The same seed gives the same crowd."""

    def __init__(self, performer: Performer, form: CrowdCharacter, count: int, seed: int, box: Array) -> None:
        """`box` (2, 3) are the corners of the bounding box of one character, metres."""
        self.performer, self.form = performer, form
        self._random = np.random.default_rng(seed)
        self._seeds = itertools.count(1000 * seed)
        self._box = np.asarray(box, np.float64)
        self.states: list[PerformerState] = []
        self._next = np.zeros(0)  # frame of the next command of each character
        self._commands: list[Command | None] = []
        self.frame = 0
        self.resize(count)

    def __len__(self) -> int:
        return len(self.states)

    def resize(self, count: int) -> None:
        """Set the number of characters; those that stay continue."""
        labels = self.performer.model.labels
        while len(self.states) < count:
            label = labels[int(self._random.integers(len(labels)))]
            self.states.append(self.performer.init(label, seed=next(self._seeds)))
        del self.states[count:]
        due = self.frame + self._random.uniform(
            0, SECONDS_BETWEEN_ACTIONS[1] * CROWD_RATE_HZ, max(0, count - len(self._next))
        )
        self._next = np.concatenate([self._next[:count], due])
        self._commands = [None] * count
        self.places = placements(count, self._box)

    def look(self, point: Sequence[float] | None) -> None:
        """All look at a point of the world, metres, or straight ahead."""
        for number, place in enumerate(self.places):
            at: str | tuple[float, ...] = "forward"
            if point is not None:
                local = transform.apply(transform.invert(place), np.asarray(point, np.float64)[None])[0]
                at = tuple(float(x) for x in local)
            self._commands[number] = LookAt(at)  # type: ignore[arg-type]

    def step(self) -> Array:
        """(N, 12 B + W) float32: the next frame of all characters."""
        self.frame += 1
        commands, self._commands = self._commands, [None] * len(self)
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
        """The poses in the world."""
        bones = 12 * len(self.form.packer.bones)
        matrices = poses[:, :bones].reshape(len(self), -1, 3, 4)
        turn, move = self.places[:, None, :3, :3], self.places[:, None, :3, 3]
        matrices[...] = turn @ matrices
        matrices[..., 3] += move
        return poses


def crowd_bounds(count: int, box: Array) -> tuple[tuple[float, ...], tuple[float, ...]]:
    """The corners of the bounding box of a crowd whose characters have a `box` (2, 3) each."""
    corners = np.array(list(itertools.product(*np.asarray(box, np.float64).T)))
    points = np.concatenate([transform.apply(place, corners) for place in placements(count, box)])
    return tuple(points.min(axis=0).tolist()), tuple(points.max(axis=0).tolist())


def placements(count: int, box: Array) -> Array:
    """(N, 4, 4) positions in rows on the ground, in a half circle around the middle of the front row.

    A larger crowd has the positions of a smaller one and others behind: characters do not move when it grows.
    """
    step = SPACING_WIDTHS * max(float(box[1, 0] - box[0, 0]), float(box[1, 2] - box[0, 2]), 1e-3)
    reach = int(np.ceil(np.sqrt(count))) + 2
    row, column = (each.reshape(-1) for each in np.mgrid[0:reach, -reach : reach + 1])
    x, z = column + 0.5 * (row % 2), -row.astype(np.float64)
    nearest = np.argsort(np.hypot(x, ROW_DEPTH_RATIO * z) + 1e-6 * x, kind="stable")[:count]
    jitter = np.random.default_rng(1).uniform(-0.12, 0.12, (count, 3))  # so that the crowd is no regular grid
    x, z = (x[nearest] + jitter[:, 0]) * step, (z[nearest] + jitter[:, 1]) * step
    # characters at the sides turn a little towards the middle
    angle = np.arctan2(-0.06 * x, step) + jitter[:, 2]
    result = np.tile(np.eye(4), (count, 1, 1))
    result[:, 0, 0] = result[:, 2, 2] = np.cos(angle)
    result[:, 0, 2], result[:, 2, 0] = np.sin(angle), -np.sin(angle)
    result[:, 0, 3], result[:, 2, 3] = x, z
    return result


@dataclass(frozen=True, eq=False)
class CrowdModel:
    """The data that all crowds of one model share, at one level of detail."""

    performer: Performer
    form: CrowdCharacter
    box: Array  # (2, 3) bounding box of one character, metres
    images: tuple[Image, ...]

    @classmethod
    def build(cls, opened: ModelWithCharacter, vertices: int) -> CrowdModel:
        """Make the data of a model. It takes seconds: call it in a thread."""
        rows = typical_rows(opened.model)
        form = make_crowd_character(opened.rig, rows, vertices)
        low, high = bounds(opened.rig)
        return cls(opened.performer(CROWD_RATE_HZ), form, np.array([low, high]), images(form.packer.rig))


def typical_rows(model: PerformanceModel) -> Array:
    """(F, C) training poses of a model, some of every label."""
    share = max(1, SAMPLE_POSE_COUNT // len(model.spaces))
    features = [space.features[:: max(1, len(space) // share)].astype(np.float64) for space in model.spaces.values()]
    rows = np.concatenate(features)
    return model.encoder.place(rows, np.zeros((len(rows), 3)))


class Crowd:
    """The crowd of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.model = ""
        self.seed = self.vertices = 0
        self.crowd_model: CrowdModel | None = None
        self.performers: CrowdPerformers | None = None
        self._known: dict[tuple[str, int], CrowdModel] = {}
        self._task: asyncio.Task[None] | None = None
        self._pending: list[Any] = []  # changes of the performers before the next frame
        self.lock = asyncio.Lock()

    async def start(self, opened: ModelWithCharacter, model: str, count: int, seed: int, vertices: int) -> None:
        """Start a crowd, or resize the running one if it has the same model, seed and vertices."""
        same = self.performers is not None and (self.model, self.seed, self.vertices) == (model, seed, vertices)
        if same and self.performers is not None:
            performers = self.performers
            self._pending.append(lambda: performers.resize(count))
        else:
            key = model, vertices
            if key not in self._known:
                self._known = {key: await asyncio.to_thread(CrowdModel.build, opened, vertices)}
            self.crowd_model = crowd_model = self._known[key]
            self.performers = await asyncio.to_thread(
                CrowdPerformers, crowd_model.performer, crowd_model.form, count, seed, crowd_model.box
            )
            self.model, self.seed, self.vertices = model, seed, vertices
            self._pending.clear()
        if self._task is None:
            self._task = asyncio.get_running_loop().create_task(self._run())

    def look(self, point: tuple[float, float, float] | None) -> None:
        """Let all characters look at a point, or straight ahead."""
        if self.performers is not None:
            performers = self.performers
            self._pending = [change for change in self._pending if not isinstance(change, _Look)]
            self._pending.append(_Look(performers, point))

    async def end(self) -> None:
        """Stop and remove the crowd."""
        if self._task is not None:
            self._task.cancel()
            await asyncio.gather(self._task, return_exceptions=True)
        self._task = self.performers = None

    def description(self) -> bytes:
        """The description of one character, with the bounding box of the crowd."""
        assert self.crowd_model is not None and self.performers is not None  # the handler has checked it
        corners = [list(corner) for corner in crowd_bounds(len(self.performers), self.crowd_model.box)]
        return describe(self.crowd_model.form.packer.rig, packer=self.crowd_model.form.packer, box=corners)

    async def _run(self) -> None:
        session, stream = self._session, source.CROWD_STREAM
        pace, reported, size = (
            FramePacer(CROWD_RATE_HZ, MAX_CROWD_TIME_SHARE, MAX_CATCH_UP_SECONDS),
            time.monotonic(),
            0,
        )
        costs: list[float] = []
        try:
            while session.clients and self.performers is not None:
                began = time.perf_counter()
                if session.wants_frame(stream):
                    poses, cost = await asyncio.to_thread(self._step, self.performers)
                    count, floats = poses.shape
                    payload = poses.reshape(-1).data.cast("B")
                    session.send_frame(
                        source.CROWD_FORM, self.performers.frame / CROWD_RATE_HZ, count, floats, payload, stream
                    )
                    costs.append(cost)
                    size = poses.nbytes
                pace.next(time.perf_counter() - began)
                await asyncio.sleep(pace.wait)
                seconds = time.monotonic() - reported
                if seconds >= 1.0 and costs:
                    mean, fps = sum(costs) / len(costs), len(costs) / seconds
                    count, ms, share = len(self.performers), round(1e3 * mean, 2), round(mean * fps, 3)
                    session.emit(CrowdStats(count, round(fps, 1), ms, share, size))
                    costs, reported = [], time.monotonic()
        except UnderstudyError as error:
            session.emit(Notice("error", str(error), "The crowd has stopped; start it again."))
        except Exception:
            LOG.exception("the crowd failed")
            session.emit(Notice("error", "The crowd stopped for a reason that was not foreseen.", ""))
        finally:
            self._task = None

    def _step(self, performers: CrowdPerformers) -> tuple[Array, float]:
        """The next frame, and the processor time that it took."""
        began = time.thread_time()
        pending, self._pending = self._pending, []
        with (
            one_blas_thread(),
            jit.one_kernel_thread(),
        ):  # a second thread would mostly wait, and use a quarter of a core
            for change in pending:
                change()
            poses = performers.step()
        return poses, time.thread_time() - began


class _Look:
    """A pending look, which a newer one replaces."""

    def __init__(self, performers: CrowdPerformers, point: tuple[float, float, float] | None) -> None:
        self._company, self._point = performers, point

    def __call__(self) -> None:
        self._company.look(self._point)


def crowd_of(session: Session) -> Crowd:
    """The crowd of a session, which may be empty."""
    if session not in _CROWDS:
        _CROWDS[session] = Crowd(session)
    return _CROWDS[session]
