"""Handlers of the crowd mode."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from understudy.errors import InvalidInput
from understudy.studio.crowd.crowd import crowd_bounds, crowd_of
from understudy.studio.messages import perform
from understudy.studio.perform.models import find_model, models_of
from understudy.studio.registry import Content, handles_request, serves_content

if TYPE_CHECKING:
    from understudy.studio.session import Session

MODE = "crowd"


@handles_request(perform.StartCrowd)
async def start(session: Session, request: perform.StartCrowd) -> perform.CrowdStarted:
    """Start or resize the crowd of a model."""
    document, running = session.document, crowd_of(session)
    entry = find_model(document, request.model)
    async with running.lock:
        opened = await asyncio.to_thread(models_of(session).open_model, document, request.model)
        await running.start(opened, entry.id, request.count, request.seed, request.vertices)
    assert running.crowd_model is not None  # it was just started
    low, high = crowd_bounds(request.count, running.crowd_model.box)
    return perform.CrowdStarted("crowd", request.count, len(running.crowd_model.form.vertices), low, high)


@handles_request(perform.CrowdLook)
async def look(session: Session, request: perform.CrowdLook) -> None:
    """Let all characters look at a point."""
    crowd_of(session).look(request.point)


@handles_request(perform.EndCrowd)
async def end(session: Session, request: perform.EndCrowd) -> None:
    """Remove the crowd."""
    await crowd_of(session).end()


@serves_content("/crowd")
async def crowd_description(session: Session) -> Content:
    """The description of one character of the crowd."""
    running = crowd_of(session)
    if running.performers is None:
        raise InvalidInput("there is no crowd on stage")
    return Content(await asyncio.to_thread(running.description))


@serves_content("/crowd/texture/{number:int}")
async def texture(session: Session, number: int) -> Content:
    """A texture of the crowd's character."""
    crowd_model = crowd_of(session).crowd_model
    if crowd_model is None or not 0 <= number < len(crowd_model.images):
        raise InvalidInput("there is no such picture")
    image = crowd_model.images[number]
    return Content(image.data, image.mime)
