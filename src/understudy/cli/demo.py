"""`understudy demo`: the built-in dragon is learned from its clips and acts a scene; nothing to download.

With a terminal attached, or --serve, it then waits in the studio to play with whoever opens the page.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib import resources
from pathlib import Path

import click

from understudy.cli import options
from understudy.cli.learn import learned, open_library
from understudy.cli.models import table
from understudy.cli.perform import lines, performed, write
from understudy.cli.render import Size
from understudy.opening import ENDING, open_model

SCENES = ("dragon", "lamp")
FRAMED = {"dragon": "Head"}  # what the camera is for; the neck comes along


@click.command(name="demo", short_help="Watch the dragon learn, act a scene, and play with you.")
@click.argument("who", type=click.Choice(SCENES), default=SCENES[0])
@options.output(required=False, help="The folder to write into; demo by default.")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Another seed, another take."
)
@click.option("--size", type=Size(), default="800x600", show_default=True, help="Pixels of the video.")
@click.option("--serve/--no-serve", default=None, help="Open the studio as well; by default where a terminal is.")
@click.option("--port", type=click.IntRange(0, 65535), help="Of the studio; 7860 by default, or the next free one.")
@click.option("--browser/--no-browser", default=None, help="Open the page; by default where a terminal is attached.")
@click.option("--learned", "learned_already", is_flag=True, hidden=True, help="The model is in the folder already.")
@options.quiet
def command(
    who: str,
    output: str | None,
    seed: int,
    size: tuple[int, int],
    serve: bool | None,
    port: int | None,
    browser: bool | None,
    learned_already: bool,
    quiet: bool,
) -> None:
    """Learn a built-in character from its clips, let it act a scene, and write that as a video and as a GLB.

    WHO is dragon, by default, or lamp. Where a terminal is attached, the studio is open meanwhile and afterwards: its
    address is printed, the character moves there at once, and plays tic-tac-toe when it has learned; Ctrl+C ends it.
    """
    folder = Path(output or "demo")
    folder.mkdir(parents=True, exist_ok=True)
    if serve or (serve is None and sys.stdout.isatty()):
        from understudy.cli.showing import show

        show(who, folder, ["--seed", str(seed), "--size", f"{size[0]}x{size[1]}"], port, browser, quiet)
        return
    write_files(who, folder, seed, size, learned_already, quiet)


def write_files(who: str, folder: Path, seed: int, size: tuple[int, int], learned_already: bool, quiet: bool) -> None:
    """The model, the scene, and the two files that come of them."""
    from understudy.live.script import parse

    model, scene, video, file = (folder / f"{who}{ending}" for ending in (ENDING, ".toml", ".mp4", ".glb"))
    began = time.perf_counter()
    text = (resources.files("understudy.cast") / "scenes" / f"{who}.toml").read_text(encoding="utf-8")
    scene.write_text(text, encoding="utf-8")
    if not learned_already:
        _learn(who, model, quiet)
    with _timed("performed the scene", quiet) as say:
        opened = open_model(model)
        done = performed(parse(text, str(scene)).check(opened.model), opened, seed, quiet)
        cost = done.report["milliseconds_a_frame"]["median"]
        say(f"{len(done.rows)} frames, {done.seconds:.1f} s, {cost:.2f} ms a frame")
    _lines(lines(done), quiet)
    for path in (video, file):
        with _timed(f"wrote {path}", quiet) as say:
            view = {"size": size, "azimuth": 0.35, "target": FRAMED.get(who)}
            write(done, opened, str(path), path.suffix, str(scene), view, 0, quiet)
            say(f"{path.stat().st_size / 1e6:.1f} MB")
    if not quiet:
        click.echo(f"all in {time.perf_counter() - began:.0f} s. Change {scene} and see what it does:", err=True)
        click.echo(f"  understudy perform {model} {scene} -o {folder / 'mine.mp4'}", err=True)
    click.echo(str(video.resolve()))


def _learn(who: str, model: Path, quiet: bool) -> None:
    from understudy.cli.models import facts
    from understudy.posespace.learning import Settings

    with _timed("learned its clips", quiet) as say:
        library = open_library(who)
        found = learned(library, Settings(), str(model), None, None, quiet)
        found.save(model)
        say(f"{sum(map(len, found.spaces.values())):,} frames of {len(found.spaces)} labels")
    _lines(table(facts(found)), quiet)


@contextmanager
def _timed(what: str, quiet: bool) -> Iterator[Callable[[str], None]]:
    """Says what was done and how long it took; call it with the figures."""
    figures: list[str] = []
    began = time.perf_counter()
    yield figures.append
    if not quiet:
        click.echo(f"{what}: {', '.join(figures)} in {time.perf_counter() - began:.1f} s", err=True)


def _lines(found: list[str], quiet: bool) -> None:
    for line in found if not quiet else ():
        click.echo(line, err=True)
