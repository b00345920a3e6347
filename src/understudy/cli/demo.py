"""`understudy demo`: the built-in dragon is learned from its clips and acts a scene; nothing to download."""

from __future__ import annotations

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


@click.command(name="demo")
@click.argument("who", type=click.Choice(SCENES), default=SCENES[0])
@options.output(required=False, help="The folder to write into; demo by default.")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Another seed, another take."
)
@click.option("--size", type=Size(), default="800x600", show_default=True, help="Pixels of the video.")
@options.quiet
def command(who: str, output: str | None, seed: int, size: tuple[int, int], quiet: bool) -> None:
    """Learn a built-in character from its clips, let it act a scene, and write that as a video and as a GLB.

    WHO is dragon, by default, or lamp.
    """
    from understudy.cli.models import facts
    from understudy.live.script import parse
    from understudy.posespace.learning import Settings

    folder = Path(output or "demo")
    folder.mkdir(parents=True, exist_ok=True)
    model, scene, video, file = (folder / f"{who}{ending}" for ending in (ENDING, ".toml", ".mp4", ".glb"))
    began = time.perf_counter()
    text = (resources.files("understudy.cast") / "scenes" / f"{who}.toml").read_text(encoding="utf-8")
    scene.write_text(text, encoding="utf-8")

    with _timed("learned its clips", quiet) as say:
        library = open_library(who)
        found = learned(library, Settings(), str(model), None, None, quiet)
        found.save(model)
        say(f"{sum(map(len, found.spaces.values())):,} frames of {len(found.spaces)} labels")
    _lines(table(facts(found)), quiet)
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
