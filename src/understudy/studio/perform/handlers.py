"""What the perform mode's requests do."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from understudy.errors import InvalidInput, UnderstudyError
from understudy.live.commands import KINDS
from understudy.studio.document import ModelEntry, ScriptEntry, StageState, TakeEntry
from understudy.studio.handling import Content, drives, handles, serves
from understudy.studio.messages import perform
from understudy.studio.messages.shell import Notice
from understudy.studio.perform import learning_job, script_lines, takes
from understudy.studio.perform.live_source import LiveSource
from understudy.studio.perform.models import found, models_of, new_id, with_model
from understudy.studio.perform.report import Reporter
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.studio.jobs import Job
    from understudy.studio.session import Session

MODE = "perform"
MOST_SCRIPTS = 500
_TASKS: set[asyncio.Task[None]] = set()
_LEARNING: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()  # ids of characters that are being learned


@handles(perform.Learn)
async def learn(session: Session, request: perform.Learn) -> perform.Learned:
    """Learn beside the stage; when it is done the model is in the project, and performs if its character is shown."""
    entry = session.document.character(request.character)
    if entry is None:
        raise InvalidInput(f"there is no character {request.character!r}")
    name = request.name.strip() or entry.name
    if entry.id in _LEARNING.setdefault(session, set()):
        raise InvalidInput(f"{entry.name} is being learned already; wait for it, or cancel it first")
    task = learning_job.task_of(session, entry, request.labels)
    job = session.jobs.run(
        f"learn {name}", lambda progress, cancelled: learning_job.learned(task, name, progress, cancelled)
    )
    _LEARNING[session].add(entry.id)
    after = asyncio.get_running_loop().create_task(_adopt(session, job, entry.id))
    _TASKS.add(after)  # the loop itself keeps no hold of it
    after.add_done_callback(_TASKS.discard)
    return perform.Learned(job.id)


async def _adopt(session: Session, job: Job, character: str) -> None:
    try:
        model: ModelEntry = await job.result()
        if session.document.character(character) is None:
            return
        session.change(with_model(session.document, model), f"learn {model.name}")
        if session.document.stage.character == character:
            await session.show(character, "model", model.id)
    except UnderstudyError as error:
        if job.state == "done":
            session.emit(Notice("error", str(error), "The model is in the project; perform it from the library."))
    finally:
        _LEARNING[session].discard(character)


@handles(perform.Perform)
async def begin(session: Session, request: perform.Perform) -> None:
    """Live on stage."""
    entry = found(session.document, request.model)
    await session.show(entry.character, "model", entry.id)


@drives("model")
async def performing(session: Session, stage: StageState) -> LiveSource:
    """A performance; one that is on stage already goes on."""
    models, document = models_of(session), session.document
    running = session.source
    if isinstance(running, LiveSource) and isinstance(running.watch, Reporter) and running.watch.model == stage.drives:
        return running
    models.forget({entry.id for entry in document.models})
    source = await asyncio.to_thread(models.live, document, stage.drives)
    source.watch = Reporter(session, stage.drives)
    return source


@drives("take")
async def taken(session: Session, stage: StageState) -> ClipSource:
    """A take, which is scrubbed like any clip."""
    rig, clip = await asyncio.to_thread(takes.clip_of, session, session.document, stage.drives)
    return ClipSource(rig, clip, stage.loop, stage.start, stage.stop)


@handles(perform.Tell)
async def tell(session: Session, request: perform.Tell) -> None:
    """A command, made of what was given. A named pose without a label is had in the label that shows it best."""
    source = await _live(session)
    given: dict[str, Any] = {
        name: value for name, value in vars(request).items() if name not in ("id", "command") and value is not None
    }
    kind = KINDS[request.command]
    if request.pose is not None and request.label is None and request.command in ("move", "idle"):
        document, models = session.document, models_of(session)
        where = document, document.stage.drives, request.pose, source.label
        label = await asyncio.to_thread(models.label_of_pose, *where)
        given |= {} if label is None else {"label": label}
    if request.command == "idle" and "pose" in given:
        given["poses"] = (given.pop("pose"),)
    unknown = [name for name in given if name not in kind.__dataclass_fields__]
    if unknown:
        raise InvalidInput(f"{request.command} has no {unknown[0]!r}")
    try:
        command = kind(**given)
    except TypeError:
        raise InvalidInput(f"{request.command} was told too little") from None
    source.tell(command)
    _go_on(session)


@handles(perform.Dial)
async def dial(session: Session, request: perform.Dial) -> None:
    """Turn the dials."""
    (await _live(session)).dial(request.liveliness, request.stillness, request.gaze)


@handles(perform.CheckScript)
async def check_script(session: Session, request: perform.CheckScript) -> perform.Checked:
    """What is wrong with a script, and where."""
    document = session.document
    found(document, request.model)
    opened = await asyncio.to_thread(models_of(session).opened, document, request.model)
    return script_lines.checked(request.text, opened.model)


@handles(perform.RunScript)
async def run_script(session: Session, request: perform.RunScript) -> None:
    """Perform it from here on."""
    (await _live(session)).run_script(request.text, request.name)
    _go_on(session)


@handles(perform.StopScript)
async def stop_script(session: Session, request: perform.StopScript) -> None:
    """The command that runs goes on to its end."""
    (await _live(session)).stop_script()


@handles(perform.KeepScript)
async def keep_script(session: Session, request: perform.KeepScript) -> perform.KeptScript:
    """Keep a script in the project."""
    document, name = session.document, " ".join(request.name.split()) or "script"
    if request.script is None:
        if len(document.scripts) >= MOST_SCRIPTS:
            raise InvalidInput(f"a project should have at most {MOST_SCRIPTS} scripts; delete one first")
        entry = ScriptEntry(new_id(), name, request.text, request.model)
        session.change(replace(document, scripts=(*document.scripts, entry)), f"keep {name}")
        return perform.KeptScript(entry.id)
    if document.script(request.script) is None:
        raise InvalidInput("there is no such script")
    scripts = tuple(
        replace(each, name=name, text=request.text) if each.id == request.script else each for each in document.scripts
    )
    if scripts != document.scripts:
        session.change(replace(document, scripts=scripts), f"write {name}")
    return perform.KeptScript(request.script)


@handles(perform.Record)
async def record(session: Session, request: perform.Record) -> perform.Taken:
    """Begin a take, or end it and keep it."""
    source = await _live(session)
    if request.recording:
        source.start_recording()
        _go_on(session)
        return perform.Taken("")
    recorded = source.stop_recording()
    if request.discard:
        return perform.Taken("")
    document, id = session.document, new_id()
    name = " ".join(request.name.split()) or takes.next_name(document)
    file = f"{id}{takes.ENDING}"
    await asyncio.to_thread(takes.write, recorded, session.project.place("takes", file))
    stage = session.document.stage
    entry = TakeEntry(
        id, name, stage.character, file, recorded.seconds, len(recorded.rows), recorded.rate, stage.drives
    )
    session.change(replace(session.document, takes=(*session.document.takes, entry)), f"record {name}")
    return perform.Taken(id)


@serves("/map/{model}")
async def latent_map(session: Session, model: str) -> Content:
    """The latent map of a model; it never changes, since a model does not."""
    found(session.document, model)
    data = await asyncio.to_thread(models_of(session).map, session.document, model)
    return Content(data, kept=True)


async def _live(session: Session) -> LiveSource:
    """Who performs; somebody who is just coming on stage is waited for."""
    if not isinstance(session.source, LiveSource):
        await session.staged()
    if not isinstance(session.source, LiveSource):
        raise InvalidInput("nobody performs; learn a character, or choose a model from the library")
    return session.source


def _go_on(session: Session) -> None:
    """Who is told something moves, even if it was paused."""
    if not session.document.stage.playing:
        session.adjust(session.document.staged(playing=True))
        session.ticker.changed()
