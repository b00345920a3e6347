"""`understudy demo`: a built-in character acts a scene; nothing to download.

The dragon comes learned, so it performs at once; the lamp, or the dragon with --learn, is trained on its clips first.
With a terminal attached, or --serve, the demo also runs in the studio, where the character moves within seconds: while
it is being trained it plays a clip. The video and the GLB are written by another process.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli import options
from understudy.cli.info import model_table
from understudy.cli.learn import fit_with_progress, open_library
from understudy.cli.options import Size
from understudy.cli.perform import command_lines, perform_script, write_performance
from understudy.cli.studio import announce
from understudy.errors import UnderstudyError
from understudy.perform.pose_model import MODEL_SUFFIX, open_model

if TYPE_CHECKING:
    from understudy.studio.document import CharacterEntry, ModelEntry
    from understudy.studio.session import Session

SCENES = ("dragon", "lamp")
CAMERA_TARGETS = {"dragon": "Head"}  # framed in the video
START_MODE = "play"  # of the page


@click.command(name="demo", short_help="Watch the dragon act a scene, and play with you.")
@click.argument("character", type=click.Choice(SCENES), default=SCENES[0])
@options.output(required=False, help="The folder to write into; demo by default.")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Another seed, another take."
)
@click.option("--size", type=Size(), default="800x600", show_default=True, help="Pixels of the video.")
@click.option("--serve/--no-serve", default=None, help="Open the studio as well; by default where a terminal is.")
@click.option("--port", type=click.IntRange(0, 65535), help="Of the studio; 7860 by default, or the next free one.")
@click.option("--browser/--no-browser", default=None, help="Open the page; by default where a terminal is attached.")
@click.option("--learn", "learns", is_flag=True, help="Learn from the clips first, also where a model is shipped.")
@click.option("--learned", "learned_already", is_flag=True, hidden=True, help="The model is in the folder already.")
@options.quiet
def command(
    character: str,
    output: str | None,
    seed: int,
    size: tuple[int, int],
    serve: bool | None,
    port: int | None,
    browser: bool | None,
    learns: bool,
    learned_already: bool,
    quiet: bool,
) -> None:
    """Let a built-in character act a scene, and write that as a video and as a GLB.

    CHARACTER is dragon, by default, whose model comes with the package, or lamp, which is learned first. Where a
    terminal is attached, the studio is open meanwhile and afterwards: its address is printed, the character performs
    there and plays tic-tac-toe; Ctrl+C ends it.
    """
    folder = Path(output or "demo")
    folder.mkdir(parents=True, exist_ok=True)
    if serve or (serve is None and sys.stdout.isatty()):
        settings = ["--seed", str(seed), "--size", f"{size[0]}x{size[1]}"]
        serve_demo(character, folder, settings, learns, port, browser, quiet)
        return
    write_files(character, folder, seed, size, learns, learned_already, quiet)


def write_files(
    character: str, folder: Path, seed: int, size: tuple[int, int], learns: bool, learned_already: bool, quiet: bool
) -> None:
    """Write the model, the scene, the video and the GLB."""
    from understudy.perform.script import parse_script

    model, scene, video, file = (folder / f"{character}{ending}" for ending in (MODEL_SUFFIX, ".toml", ".mp4", ".glb"))
    began = time.perf_counter()
    text = (resources.files("understudy.cast") / "scenes" / f"{character}.toml").read_text(encoding="utf-8")
    scene.write_text(text, encoding="utf-8")
    if not learned_already:
        _make_model(character, model, learns, quiet)
    with _report_duration("performed the scene", quiet) as say:
        opened = open_model(model)
        done = perform_script(parse_script(text, str(scene)).check(opened.model), opened, seed, quiet)
        cost = done.report["milliseconds_a_frame"]["median"]
        say(f"{len(done.rows)} frames, {done.seconds:.1f} s, {cost:.2f} ms a frame")
    _print_lines(command_lines(done), quiet)
    for path in (video, file):
        with _report_duration(f"wrote {path}", quiet) as say:
            view = {"size": size, "azimuth": 0.35, "target": CAMERA_TARGETS.get(character)}
            write_performance(done, str(path), path.suffix, view, 0, quiet)
            say(f"{path.stat().st_size / 1e6:.1f} MB")
    if not quiet:
        click.echo(f"all in {time.perf_counter() - began:.0f} s. Change {scene} and see what it does:", err=True)
        click.echo(f"  understudy perform {model} {scene} -o {folder / 'mine.mp4'}", err=True)
    click.echo(str(video.resolve()))


def _make_model(character: str, model: Path, learns: bool, quiet: bool) -> None:
    """Copy the model that the package ships, or learn it from the clips."""
    from understudy.cast import MEMBERS_WITH_MODELS, model_file
    from understudy.cli.info import model_facts
    from understudy.perform.training import FitSettings

    if character in MEMBERS_WITH_MODELS and not learns:
        with _report_duration("copied the model that comes with the package", quiet) as say:
            shutil.copyfile(model_file(character), model)
            say(f"{model.stat().st_size / 1e6:.1f} MB, learned before; --learn learns it here")
        return
    with _report_duration("learned its clips", quiet) as say:
        library = open_library(character)
        fitted = fit_with_progress(library, FitSettings(), str(model), None, None, quiet)
        fitted.save(model)
        say(f"{sum(map(len, fitted.spaces.values())):,} frames of {len(fitted.spaces)} labels")
    _print_lines(model_table(model_facts(fitted)), quiet)


@contextmanager
def _report_duration(what: str, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Print a step, its figures and its duration; the yielded function takes the figures."""
    figures: list[str] = []
    began = time.perf_counter()
    yield figures.append
    if not quiet:
        click.echo(f"{what}: {', '.join(figures)} in {time.perf_counter() - began:.1f} s", err=True)


def _print_lines(lines: list[str], quiet: bool) -> None:
    for line in lines if not quiet else ():
        click.echo(line, err=True)


def serve_demo(
    character: str,
    folder: Path,
    settings: list[str],
    learns: bool,
    port: int | None,
    browser: bool | None,
    quiet: bool,
) -> None:
    """Serve the demo until Ctrl+C."""
    from understudy.studio.server import Server
    from understudy.studio.session import Session

    async def begin(session: Session) -> None:
        await prepare_demo(session, character, folder, settings, learns, quiet)

    server = Server(Session(folder / "studio"), port=port, begin=begin)
    server.run(lambda: announce(server, browser, quiet, START_MODE))


async def prepare_demo(
    session: Session, character: str, folder: Path, settings: list[str], learns: bool, quiet: bool
) -> None:
    """Open the character, show its model, which is trained where there is none, then write the files."""
    from understudy.studio.server import open_all

    await open_all(session, [character])
    entry = next((each for each in session.document.characters if each.cast == character), None)
    if entry is None:
        return
    try:
        model = await _model(session, entry, folder, learns)
    except UnderstudyError as error:
        click.echo(f"not learned: {error}", err=True)
        return
    await session.show(entry.id, "model", model.id)
    shutil.copyfile(session.project.place("models", model.file), folder / f"{character}.understudy")
    await _write_files_in_process(character, folder, settings, quiet)


async def _model(session: Session, entry: CharacterEntry, folder: Path, learns: bool) -> ModelEntry:
    """The model in the project, where the dragon comes with one, or that of an earlier demo, or a new one."""
    from understudy.studio.perform import learning
    from understudy.studio.perform.models import copy_into_project, with_model

    known = next((each for each in session.document.models if each.character == entry.id), None)
    if known is not None and not learns:
        return known
    earlier = folder / f"{entry.cast}.understudy"
    import asyncio

    try:
        if learns:
            raise UnderstudyError("to be learned anew")
        model = await asyncio.to_thread(copy_into_project, session, earlier, entry.id, entry.name)
    except UnderstudyError:  # it is missing, or of another version
        task = learning.learning_task(session, entry, ())
        job = session.jobs.run(
            f"learn {entry.name}",
            lambda progress, cancelled: learning.fit_in_process(task, entry.name, progress, cancelled),
            "learn",
        )
        model = await job.result()
    session.change(with_model(session.document, model), f"learn {model.name}")
    return model


async def _write_files_in_process(character: str, folder: Path, settings: list[str], quiet: bool) -> None:
    """Write the video and the GLB in a process that ends with this one."""
    command = [
        sys.executable,
        "-m",
        "understudy",
        "demo",
        character,
        "-o",
        str(folder),
        "--no-serve",
        "--learned",
        *settings,
    ]
    import asyncio

    child = subprocess.Popen([*command, *settings, *(["-q"] if quiet else [])])
    try:
        while child.poll() is None:
            await asyncio.sleep(0.2)
    finally:
        if child.poll() is None:
            child.terminate()
