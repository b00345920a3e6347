"""What the requests of the crowd do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput
from understudy.studio.crowd.company import room
from understudy.studio.crowd.running import crowd_of
from understudy.studio.handling import Content, handles, serves
from understudy.studio.messages import crowd as messages
from understudy.studio.perform.models import found, models_of

if TYPE_CHECKING:
    from understudy.studio.session import Session

MODE = "crowd"


@handles(messages.Crowd)
async def gather(session: Session, request: messages.Crowd) -> messages.Crowded:
    """Many of one model."""
    document, running = session.document, crowd_of(session)
    entry = found(document, request.model)
    async with running.lock:
        opened = await asyncio.to_thread(models_of(session).opened, document, request.model)
        await running.gather(opened, entry.id, request.count, request.seed, request.vertices)
    assert running.troupe is not None  # it was just gathered
    low, high = room(request.count, running.troupe.box)
    return messages.Crowded("crowd", request.count, len(running.troupe.form.vertices), low, high)


@handles(messages.CrowdLook)
async def look(session: Session, request: messages.CrowdLook) -> None:
    """All look there."""
    crowd_of(session).look(request.point)


@handles(messages.EndCrowd)
async def end(session: Session, request: messages.EndCrowd) -> None:
    """They go."""
    await crowd_of(session).end()


@serves("/crowd")
async def described(session: Session) -> Content:
    """What the page draws of one of them."""
    running = crowd_of(session)
    if running.company is None:
        raise InvalidInput("there is no crowd on stage")
    return Content(await asyncio.to_thread(running.description))


@serves("/crowd/texture/{number:int}")
async def texture(session: Session, number: int) -> Content:
    """A picture of their materials."""
    troupe = crowd_of(session).troupe
    if troupe is None or not 0 <= number < len(troupe.images):
        raise InvalidInput("there is no such picture")
    image = troupe.images[number]
    return Content(image.data, image.mime)
