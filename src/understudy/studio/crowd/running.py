"""A running crowd: 24 frames a second while a page takes them, made in a thread so that nothing else waits."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from understudy.character import Image
from understudy.checks import Array
from understudy.errors import UnderstudyError
from understudy.gp.threads import one_thread
from understudy.live.particle import KERNELS
from understudy.maths import accelerate
from understudy.studio import frames
from understudy.studio.crowd.company import RATE, Company, room
from understudy.studio.crowd.plain import PlainForm, plain_form
from understudy.studio.messages.crowd import CrowdStats
from understudy.studio.messages.shell import Notice
from understudy.studio.pacing import Pace
from understudy.studio.stage.description import bounds, describe, images

if TYPE_CHECKING:
    from understudy.live.performer import Performer
    from understudy.opening import Opened
    from understudy.posespace import Model
    from understudy.studio.session import Session

LOG = logging.getLogger(__name__)
SAMPLES = 128  # poses of a model that are looked at, to know what a character may do
SHARE = 0.95  # of the time at most is spent on the crowd; a crowd that is too large gets fewer frames
LATE = 6 / RATE  # seconds that are caught up with after frames in which many began something else


@dataclass(frozen=True, eq=False)
class Troupe:
    """What all crowds of one model need, at one fineness."""

    performer: Performer
    form: PlainForm
    box: Array  # (2, 3) the room that one character takes
    images: tuple[Image, ...]

    @classmethod
    def of(cls, opened: Opened, vertices: int) -> Troupe:
        """Takes seconds: call it in a thread."""
        rows = typical_rows(opened.model)
        form = plain_form(opened.rig, rows, vertices)
        low, high = bounds(opened.rig)
        return cls(opened.performer(RATE), form, np.array([low, high]), images(form.packer.rig))


def typical_rows(model: Model) -> Array:
    """(F, C) poses that a model was learnt from, some of every label."""
    share = max(1, SAMPLES // len(model.spaces))
    found = [space.features[:: max(1, len(space) // share)].astype(np.float64) for space in model.spaces.values()]
    features = np.concatenate(found)
    return model.encoder.place(features, np.zeros((len(features), 3)))


class Crowd:
    """The crowd of one session."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self.model = ""
        self.seed = self.vertices = 0
        self.troupe: Troupe | None = None
        self.company: Company | None = None
        self._known: dict[tuple[str, int], Troupe] = {}
        self._task: asyncio.Task[None] | None = None
        self._wishes: list[Any] = []  # what is done to the company before its next frame
        self.lock = asyncio.Lock()

    async def gather(self, opened: Opened, model: str, count: int, seed: int, vertices: int) -> None:
        """The crowd that was asked for: the one of now, larger or smaller, or another."""
        same = self.company is not None and (self.model, self.seed, self.vertices) == (model, seed, vertices)
        if same and self.company is not None:
            company = self.company
            self._wishes.append(lambda: company.resize(count))
        else:
            key = model, vertices
            if key not in self._known:
                self._known = {key: await asyncio.to_thread(Troupe.of, opened, vertices)}
            self.troupe = troupe = self._known[key]
            self.company = await asyncio.to_thread(Company, troupe.performer, troupe.form, count, seed, troupe.box)
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
        corners = [list(corner) for corner in room(len(self.company), self.troupe.box)]
        return describe(self.troupe.form.packer.rig, packer=self.troupe.form.packer, box=corners)

    async def _run(self) -> None:
        session, stream = self._session, frames.CROWD_STREAM
        pace, reported, size = Pace(RATE, SHARE, LATE), time.monotonic(), 0
        costs: list[float] = []
        try:
            while session.clients and self.company is not None:
                began = time.perf_counter()
                if session.wanted(stream):
                    poses, cost = await asyncio.to_thread(self._step, self.company)
                    count, floats = poses.shape
                    payload = poses.reshape(-1).data.cast("B")
                    session.send_frame(frames.CROWD, self.company.frame / RATE, count, floats, payload, stream)
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

    def _step(self, company: Company) -> tuple[Array, float]:
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
    if accelerate.kernels(KERNELS) is None:
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

    def __init__(self, company: Company, point: tuple[float, float, float] | None) -> None:
        self._company, self._point = company, point

    def __call__(self) -> None:
        self._company.look(self._point)


_CROWDS: WeakKeyDictionary[Session, Crowd] = WeakKeyDictionary()


def crowd_of(session: Session) -> Crowd:
    """The crowd of a session; it may have nobody in it."""
    if session not in _CROWDS:
        _CROWDS[session] = Crowd(session)
    return _CROWDS[session]
