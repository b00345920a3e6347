"""What the requests of the crowd do."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput
from understudy.studio.crowd.crowd import crowd_bounds, crowd_of
from understudy.studio.messages import crowd
from understudy.studio.perform.models import find_model, models_of
from understudy.studio.registry import Content, handles_request, serves_content

if TYPE_CHECKING:
    from understudy.studio.session import Session

MODE = "crowd"


@handles_request(crowd.StartCrowd)
async def gather(session: Session, request: crowd.StartCrowd) -> crowd.CrowdStarted:
    """Many of one model."""
    document, running = session.document, crowd_of(session)
    entry = find_model(document, request.model)
    async with running.lock:
        opened = await asyncio.to_thread(models_of(session).open_model, document, request.model)
        await running.gather(opened, entry.id, request.count, request.seed, request.vertices)
    assert running.troupe is not None  # it was just gathered
    low, high = crowd_bounds(request.count, running.troupe.box)
    return crowd.CrowdStarted("crowd", request.count, len(running.troupe.form.vertices), low, high)


@handles_request(crowd.CrowdLook)
async def look(session: Session, request: crowd.CrowdLook) -> None:
    """All look there."""
    crowd_of(session).look(request.point)


@handles_request(crowd.EndCrowd)
async def end(session: Session, request: crowd.EndCrowd) -> None:
    """They go."""
    await crowd_of(session).end()


@serves_content("/crowd")
async def crowd_description(session: Session) -> Content:
    """What the page draws of one of them."""
    running = crowd_of(session)
    if running.company is None:
        raise InvalidInput("there is no crowd on stage")
    return Content(await asyncio.to_thread(running.description))


@serves_content("/crowd/texture/{number:int}")
async def texture(session: Session, number: int) -> Content:
    """A picture of their materials."""
    troupe = crowd_of(session).troupe
    if troupe is None or not 0 <= number < len(troupe.images):
        raise InvalidInput("there is no such picture")
    image = troupe.images[number]
    return Content(image.data, image.mime)
