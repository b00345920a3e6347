"""Handlers of the shell: files, stage, transport, selection, names, undo, export, jobs."""

from __future__ import annotations

import asyncio
import time
from dataclasses import replace
from typing import TYPE_CHECKING

from understudy.errors import FileError, InvalidInput
from understudy.studio import export
from understudy.studio.document import CharacterEntry, ClipEntry, StageState
from understudy.studio.history import FIELDS_OUTSIDE_UNDO, valid_stage
from understudy.studio.messages import shell
from understudy.studio.project import Origin, read_project, version_time
from understudy.studio.registry import Content, creates_source, handles_request, serves_content
from understudy.studio.shell import open_file
from understudy.studio.shell.open_file import open_origin, without_character
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.studio.session import Session

START_SECONDS = time.monotonic()
IMAGE_MEDIA_TYPES = ("image/png", "image/jpeg", "image/webp")


@handles_request(shell.Open)
async def open_requested_file(session: Session, request: shell.Open) -> shell.FileOpened:
    """Open a member of the cast by name, or a file below the allowed folders."""
    from understudy import cast

    if request.path in cast.names():
        return await open_origin(session, Origin(cast=request.path), request.path)
    path = session.folders.find(request.path)
    return await open_origin(session, Origin(path=str(path)), path.name)


@handles_request(shell.Close)
async def close(session: Session, request: shell.Close) -> None:
    """Close a character; undo opens it again."""
    entry = _character(session, request.character)
    session.change(without_character(session.document, entry.id), f"close {entry.name}")
    await open_file.restage_after_removal(session)


@handles_request(shell.Show)
async def show(session: Session, request: shell.Show) -> None:
    """Put a character on stage."""
    if request.take is not None:
        if session.document.take(request.take) is None:
            raise InvalidInput("there is no such take")
        await session.show(request.character, "take", request.take)
        return
    if request.clip is not None:
        _clip(session, request.character, request.clip)
    await session.show(request.character, "clip" if request.clip is not None else "rest", request.clip or "")


@handles_request(shell.SetPlaying)
async def play(session: Session, request: shell.SetPlaying) -> None:
    """Play or pause; a clip that has ended starts again."""
    await session.wait_until_staged()
    source, stage = session.source, session.document.stage
    if source is None:
        raise InvalidInput("nothing is on stage to play; open a character first")
    if request.playing and isinstance(source, ClipSource) and source.time >= source.stop and not source.loop:
        source.seek(source.start)
    session.adjust(
        session.document.with_stage(playing=request.playing, time=stage.time if source.live else source.time)
    )
    session.ticker.request_redraw()


@handles_request(shell.Seek)
async def seek(session: Session, request: shell.Seek) -> None:
    """Scrub: the frame is shown at once, during playback or not."""
    await session.wait_until_staged()
    source = session.source
    if source is None or source.live:
        raise InvalidInput("nothing on stage can be scrubbed; show a clip or a take first")
    source.seek(request.time)
    if not session.document.stage.playing:
        session.adjust(session.document.with_stage(time=source.time))
    session.ticker.request_redraw()


@handles_request(shell.Transport)
async def transport(session: Session, request: shell.Transport) -> None:
    """Set rate, loop and range."""
    await session.wait_until_staged()
    stage = session.document.stage
    start = stage.start if request.start is None else request.start
    stop = stage.stop if request.stop is None else request.stop
    if request.whole:
        start, stop = 0.0, None
    if stop is not None and stop <= start:
        raise InvalidInput(f"a range should end after it begins, but is {start:g} to {stop:g} s")
    loop = stage.loop if request.loop is None else request.loop
    rate = stage.rate if request.rate is None else request.rate
    if isinstance(session.source, ClipSource):
        session.source.bounds(loop, start, stop)
    session.adjust(session.document.with_stage(rate=rate, loop=loop, start=start, stop=stop))


@handles_request(shell.Select)
async def select(session: Session, request: shell.Select) -> None:
    """Set the selection, which all views share."""
    session.adjust(replace(session.document, selection=tuple(dict.fromkeys(request.names))))


@handles_request(shell.Rename)
async def rename(session: Session, request: shell.Rename) -> None:
    """Call something else."""
    name = " ".join(request.name.split())
    if not name:
        raise InvalidInput("a name should not be empty")
    if request.what == "project":
        session.change(replace(session.document, name=name), f"rename the project to {name}")
        return
    session.change(open_file.rename_entry(session.document, request.what, request.target, name), f"rename to {name}")


@handles_request(shell.Label)
async def label(session: Session, request: shell.Label) -> None:
    """Give a clip its labels."""
    _clip(session, request.character, request.clip)
    labels = tuple(dict.fromkeys(" ".join(each.split()) for each in request.labels if each.strip()))

    def labelled(clip: ClipEntry) -> ClipEntry:
        return replace(clip, labels=labels)

    document = open_file.with_clip(session.document, request.character, request.clip, labelled)
    session.change(document, f"label {request.clip}")


@handles_request(shell.Delete)
async def delete(session: Session, request: shell.Delete) -> None:
    """Delete an entry of the project; undo restores it."""
    document, name = open_file.without_entry(session.document, request.what, request.target)
    session.change(document, f"delete {name}")
    await open_file.restage_after_removal(session)


@handles_request(shell.Undo)
async def undo(session: Session, request: shell.Undo) -> None:
    """Undo the last change."""
    if await session.undo() is None:
        raise InvalidInput("there is nothing to undo")


@handles_request(shell.Redo)
async def redo(session: Session, request: shell.Redo) -> None:
    """Redo the next change."""
    if await session.redo() is None:
        raise InvalidInput("there is nothing to redo")


@handles_request(shell.ListVersions)
async def list_versions(session: Session, request: shell.ListVersions) -> shell.ProjectVersions:
    """The earlier versions of the project; those that cannot be read are left out."""
    return await asyncio.to_thread(_version_entries, session)


def _version_entries(session: Session) -> shell.ProjectVersions:
    entries = []
    for place in session.project.versions():
        try:
            document = read_project(place).document
        except FileError:
            continue
        counts = (len(each) for each in (document.characters, document.models, document.takes, document.edits))
        entries.append(shell.VersionEntry(place.name, version_time(place), *counts))
    return shell.ProjectVersions(tuple(entries))


@handles_request(shell.OpenVersion)
async def open_version(session: Session, request: shell.OpenVersion) -> None:
    """Go back to an earlier version, as one undo step."""
    session.project.keep_version()
    document = await asyncio.to_thread(session.project.open_version, request.version)
    kept = {name: getattr(session.document, name) for name in FIELDS_OUTSIDE_UNDO}
    stage = valid_stage(session.document.stage, document)
    session.change(replace(document, **kept | {"stage": stage}), "go back to an earlier version")
    await session.restage()


@handles_request(shell.Export)
async def export_file(session: Session, request: shell.Export) -> shell.Exported:
    """Write a file for the browser to fetch."""
    return await export.export_entry(session, request.what, request.target, request.format, request.keys)


@handles_request(shell.Cancel)
async def cancel(session: Session, request: shell.Cancel) -> None:
    """Stop a job."""
    session.jobs.cancel(request.job)


@handles_request(shell.SetPointer)
async def look(session: Session, request: shell.SetPointer) -> None:
    """Let a source with gaze look at the pointer."""
    look_at = getattr(session.source, "look", None)
    if look_at is not None:
        look_at(request.point)


@handles_request(shell.Ping)
async def ping(session: Session, request: shell.Ping) -> shell.Pong:
    """Answer with the server's clock."""
    return shell.Pong(time.monotonic() - START_SECONDS)


@creates_source("rest")
async def rest_source(session: Session, stage: StageState) -> ClipSource:
    """The rest pose."""
    return ClipSource(session.assets.get(stage.character).rig, None)


@creates_source("clip")
async def clip_source(session: Session, stage: StageState) -> ClipSource:
    """A clip of the character."""
    entry, clip = _character(session, stage.character), _clip(session, stage.character, stage.drives)

    def make_source() -> ClipSource:
        rig = session.assets.get(stage.character).rig
        return ClipSource(rig, session.assets.animation(entry, clip), stage.loop, stage.start, stage.stop)

    return await asyncio.to_thread(make_source)


@serves_content("/stage/{character}")
async def character_description(session: Session, character: str) -> Content:
    """The description from which the page draws a character."""
    from understudy.render.viewport.description import describe

    entry = _character(session, character)

    def make_description() -> bytes:
        first = session.assets.animation(entry, entry.clips[0]) if entry.clips else None
        return describe(session.assets.get(character).rig, first)

    return Content(await asyncio.to_thread(make_description))


@serves_content("/stage/{character}/sketch")
async def character_sketch(session: Session, character: str) -> Content:
    """A description with fewer vertices, for a page that draws too slowly."""
    from understudy.render.viewport.decimate import describe_sketch

    _character(session, character)
    return Content(await asyncio.to_thread(lambda: describe_sketch(session.assets.get(character).rig)))


@serves_content("/stage/{character}/texture/{number:int}")
async def texture(session: Session, character: str, number: int) -> Content:
    """A texture of a character."""
    from understudy.render.viewport.description import images

    _character(session, character)
    pictures = await asyncio.to_thread(lambda: images(session.assets.get(character).rig))
    if number >= len(pictures) or pictures[number].mime not in IMAGE_MEDIA_TYPES:
        raise InvalidInput("there is no such picture")
    return Content(pictures[number].data, pictures[number].mime, kept=True)


@serves_content("/export/{name}")
async def download_export(session: Session, name: str) -> Content:
    """An exported file."""
    return export.export_content(session, name)


def _character(session: Session, id: str) -> CharacterEntry:
    entry = session.document.character(id)
    if entry is None:
        raise InvalidInput(f"there is no character {id[:64]!r}")
    return entry


def _clip(session: Session, character: str, name: str) -> ClipEntry:
    entry = _character(session, character)
    clip = session.document.clip(character, name)
    if clip is None:
        raise InvalidInput(f"{entry.name} has no clip {name!r}")
    return clip
