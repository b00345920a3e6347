"""Handlers of the perform mode: open and train models, commands, live settings, scripts and takes."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

from understudy.errors import FileError, InvalidInput, UnderstudyError
from understudy.perform.commands import COMMAND_KINDS
from understudy.studio.document import ModelEntry, ScriptEntry, StageState, TakeEntry
from understudy.studio.messages import perform
from understudy.studio.messages.shell import FileOpened, Notice
from understudy.studio.perform import learning, recording, script_runner
from understudy.studio.perform.live_source import LiveSource, PerformanceReporter
from understudy.studio.perform.models import copy_into_project, find_model, models_of, new_id, with_model
from understudy.studio.project import Origin
from understudy.studio.registry import Content, creates_source, handles_request, serves_content
from understudy.studio.source import ClipSource

if TYPE_CHECKING:
    from understudy.perform.model import PerformanceModel
    from understudy.studio.jobs import Job
    from understudy.studio.session import Session

MODE = "perform"
MAX_SCRIPTS = 500
_TASKS: set[asyncio.Task[None]] = set()
_LEARNING: WeakKeyDictionary[Session, set[str]] = WeakKeyDictionary()  # ids of the characters in training


@handles_request(perform.Learn)
async def learn(session: Session, request: perform.Learn) -> perform.LearningStarted:
    """Train in the background; then the model is in the project, and performs if its character is on stage.

    A draft, whose spaces are not learned yet, performs at once and is taken over from without a jump.
    """
    entry = session.document.character(request.character)
    if entry is None:
        raise InvalidInput(f"there is no character {request.character!r}")
    name = request.name.strip() or entry.name
    if entry.id in _LEARNING.setdefault(session, set()):
        raise InvalidInput(f"{entry.name} is being learned already; wait for it, or cancel it first")
    task = learning.learning_task(session, entry, request.labels)
    loop = asyncio.get_running_loop()

    def fit(progress: learning.Progress, cancelled: Callable[[], bool]) -> ModelEntry:
        draft = learning.fit_draft(task, f"{name} (draft)", cancelled)
        asyncio.run_coroutine_threadsafe(_show_model(session, draft), loop).result()
        return learning.fit_in_process(task, name, progress, cancelled)

    job = session.jobs.run(f"learn {name}", fit, "learn")
    _LEARNING[session].add(entry.id)
    after = loop.create_task(_adopt(session, job, entry.id))
    _TASKS.add(after)  # asyncio keeps only a weak reference
    after.add_done_callback(_TASKS.discard)
    return perform.LearningStarted(job.id)


async def _adopt(session: Session, job: Job, character: str) -> None:
    try:
        await _show_model(session, await job.result())
    except UnderstudyError as error:
        if job.state == "done":
            session.emit(Notice("error", str(error), "The model is in the project; perform it from the library."))
    finally:
        _LEARNING[session].discard(character)


async def _show_model(session: Session, model: ModelEntry) -> None:
    """Put a model into the document, for its draft where that is there, and on stage if its character is."""
    if session.document.character(model.character) is None:
        return
    models, running = models_of(session), session.source
    models.forget({entry.id for entry in session.document.models if entry.id != model.id})
    session.change(with_model(session.document, model), f"learn {model.name}")
    if isinstance(running, LiveSource) and session.document.stage.drives == model.id:
        performer = await asyncio.to_thread(models.performer, session.document, model.id)
        await asyncio.to_thread(running.take_over, models.open_model(session.document, model.id), performer)
    elif session.document.stage.character == model.character:
        await session.show(model.character, "model", model.id)


@handles_request(perform.Perform)
async def begin(session: Session, request: perform.Perform) -> None:
    """Put a model on stage."""
    entry = find_model(session.document, request.model)
    await session.show(entry.character, "model", entry.id)


@creates_source("model")
async def model_source(session: Session, stage: StageState) -> LiveSource:
    """The live source of a model; one that is on stage already continues."""
    models, document = models_of(session), session.document
    running = session.source
    if (
        isinstance(running, LiveSource)
        and isinstance(running.watch, PerformanceReporter)
        and running.watch.model == stage.drives
    ):
        return running
    models.forget({entry.id for entry in document.models})
    source = await asyncio.to_thread(models.live, document, stage.drives)
    source.watch = PerformanceReporter(session, stage.drives)
    return source


@creates_source("take")
async def take_source(session: Session, stage: StageState) -> ClipSource:
    """The source of a take, which can be scrubbed like a clip."""
    rig, clip = await asyncio.to_thread(recording.clip_of, session, session.document, stage.drives)
    return ClipSource(rig, clip, stage.loop, stage.start, stage.stop)


@handles_request(perform.GiveCommand)
async def tell(session: Session, request: perform.GiveCommand) -> None:
    """Give a command. For a named pose without a label, the label that shows it best is chosen."""
    source = await _current_live_source(session)
    given: dict[str, Any] = {
        name: value for name, value in vars(request).items() if name not in ("id", "command") and value is not None
    }
    kind = COMMAND_KINDS[request.command]
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
        raise InvalidInput(f"{request.command} lacks a required field") from None
    source.tell(command)
    _resume_playback(session)


@handles_request(perform.SetLiveSettings)
async def dial(session: Session, request: perform.SetLiveSettings) -> None:
    """Set liveliness, stillness and gaze."""
    (await _current_live_source(session)).set_live_settings(request.liveliness, request.stillness, request.gaze)


@handles_request(perform.CheckScript)
async def check_script(session: Session, request: perform.CheckScript) -> perform.ScriptCheck:
    """Check a script against a model."""
    document = session.document
    find_model(document, request.model)
    opened = await asyncio.to_thread(models_of(session).open_model, document, request.model)
    return script_runner.check_script_text(request.text, opened.model)


@handles_request(perform.RunScript)
async def run_script(session: Session, request: perform.RunScript) -> None:
    """Perform a script, starting now."""
    (await _current_live_source(session)).run_script(request.text, request.name)
    _resume_playback(session)


@handles_request(perform.StopScript)
async def stop_script(session: Session, request: perform.StopScript) -> None:
    """Stop the script; the running command continues to its end."""
    (await _current_live_source(session)).stop_script()


@handles_request(perform.KeepScript)
async def keep_script(session: Session, request: perform.KeepScript) -> perform.KeptScript:
    """Store a script in the project."""
    document, name = session.document, " ".join(request.name.split()) or "script"
    if request.script is None:
        if len(document.scripts) >= MAX_SCRIPTS:
            raise InvalidInput(f"a project should have at most {MAX_SCRIPTS} scripts; delete one first")
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


@handles_request(perform.Record)
async def record(session: Session, request: perform.Record) -> perform.TakeRecorded:
    """Begin a recording, or end it and store the take."""
    source = await _current_live_source(session)
    if request.recording:
        source.start_recording()
        _resume_playback(session)
        return perform.TakeRecorded("")
    recorded = source.stop_recording()
    if request.discard:
        return perform.TakeRecorded("")
    document, id = session.document, new_id()
    character = document.character(document.stage.character)
    recorded = replace(recorded, character=character.name if character else "")
    name = " ".join(request.name.split()) or recording.next_name(document)
    file = f"{id}{recording.TAKE_ENDING}"
    await asyncio.to_thread(recording.write_take, recorded, session.project.place("takes", file))
    stage = session.document.stage
    entry = TakeEntry(
        id, name, stage.character, file, recorded.seconds, len(recorded.rows), recorded.rate, stage.drives
    )
    session.change(replace(session.document, takes=(*session.document.takes, entry)), f"record {name}")
    return perform.TakeRecorded(id)


@serves_content("/map/{model}")
async def latent_map(session: Session, model: str) -> Content:
    """The latent map of a model, which never changes."""
    find_model(session.document, model)
    data = await asyncio.to_thread(models_of(session).map, session.document, model)
    return Content(data, kept=True)


async def open_model(session: Session, path: Path, name: str, show: bool = True) -> FileOpened:
    """Copy a model into the project, for an open character or for the model's own."""
    from understudy.studio.shell.open_file import open_origin

    model = await asyncio.to_thread(_load_model, path, name)
    character = await asyncio.to_thread(_matching_character, session, model)
    if character is None:
        origin, title = await asyncio.to_thread(_model_character_origin, session, model, name)
        character = (await open_origin(session, origin, title, show)).characters[0]
    entry = await asyncio.to_thread(copy_into_project, session, path, character, Path(name).stem)
    session.change(with_model(session.document, entry), f"open {name}")
    if show:
        await session.show(character, "model", entry.id)
    return FileOpened((character,), entry.notes[:200])


def _load_model(path: Path, name: str) -> PerformanceModel:
    from understudy.perform.model import PerformanceModel

    try:
        return PerformanceModel.load(path)
    except FileError as error:
        raise type(error)(name, error.reason, error.place) from None


def _matching_character(session: Session, model: PerformanceModel) -> str | None:
    """An open character with the model's channels, preferably the same member of the cast."""
    from understudy.perform.model import check_character

    for entry in sorted(session.document.characters, key=lambda entry: entry.cast != model.cast):
        try:
            rig = session.assets.get(entry.id).rig
            check_character(model, rig.channels, entry.name)
            return entry.id
        except InvalidInput:
            continue
    return None


def _model_character_origin(session: Session, model: PerformanceModel, name: str) -> tuple[Origin, str]:
    """The origin of the model's own character: the cast, or a GLB that is stored in the project."""
    if model.cast:
        return Origin(cast=model.cast), model.cast
    folder = session.project.folder / "files" / secrets.token_hex(8)
    folder.mkdir()
    file = f"{Path(name).stem}.glb"
    (folder / file).write_bytes(model.embedded)
    return Origin(file=f"files/{folder.name}/{file}"), file


async def _current_live_source(session: Session) -> LiveSource:
    """The live source on stage; waits for one that is being made."""
    if not isinstance(session.source, LiveSource):
        await session.wait_until_staged()
    if not isinstance(session.source, LiveSource):
        raise InvalidInput("no model is performing; learn a character, or choose a model from the library")
    return session.source


def _resume_playback(session: Session) -> None:
    """Resume playback: a command also starts a paused performance."""
    if not session.document.stage.playing:
        session.adjust(session.document.with_stage(playing=True))
        session.ticker.request_redraw()
