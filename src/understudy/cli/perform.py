"""`understudy perform`: a learned character acts a script, as a file, as a video, or live for other programs."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.convert import plain, written
from understudy.cli.jobs import suffix
from understudy.cli.render import size_option
from understudy.opening import Opened, clip_of_rows, open_model

if TYPE_CHECKING:
    from understudy.character import Asset
    from understudy.live.script import Performance, Script

VIDEOS = (".mp4", ".webm", ".gif")
SHEET = 24  # frames of a contact sheet: a little more than one a second of a usual scene


@click.command(name="perform", short_help="Let a learned character act a script.")
@click.argument("model")
@click.argument("script")
@options.output(
    required=False,
    help="A file (.glb, .gltf, .usd, .bvh, .npz), a video (.mp4, .webm, .gif) or a contact sheet (.png); "
    "- for standard output, with --to. May be left out with --live.",
)
@click.option("--to", "ending", metavar="FORMAT", help="The format of standard output, as in: -o - --to glb")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Another seed, another take."
)
@click.option("--report", type=click.Path(dir_okay=False), metavar="JSON", help="Write what was done, and its cost.")
@click.option("--live", metavar="HOST:PORT", help="Stream it to another program as it is performed, by VMC (OSC).")
@size_option("960x720", "320x240")
@click.option(
    "--azimuth",
    type=options.Finite(),
    metavar="DEGREES",
    default=20.0,
    show_default=True,
    help="Around the character from its front, towards its left.",
)
@click.option("--target", metavar="NAME", help="Frame only this: a named point, a region, a part or a joint.")
@click.option(
    "--sheet", type=click.IntRange(1, 400), metavar="N", help=f"Pictures of a contact sheet; {SHEET} by default."
)
@options.as_json
@options.quiet
def command(
    model: str,
    script: str,
    output: str | None,
    ending: str | None,
    seed: int,
    report: str | None,
    live: str | None,
    size: tuple[int, int] | None,
    azimuth: float,
    target: str | None,
    sheet: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Let the character of MODEL perform SCRIPT (TOML; - for standard input)."""
    if output is None and live is None:
        raise click.UsageError("say where it should go: -o OUT, or --live HOST:PORT")
    if output == "-" and not ending:
        raise click.UsageError("writing to standard output needs --to FORMAT, for example --to glb")
    kind = "" if output is None else suffix(output, ending)
    if output is not None:
        _check_target(output, kind)
    opened = open_model(model)
    read = read_script(script).check(opened.model)
    if live is not None:
        from understudy.cli.streaming import stream

        done = stream(read, opened, seed, live, quiet or as_json)
    else:
        done = performed(read, opened, seed, quiet or as_json)
    notes: tuple[str, ...] = ()
    if output is not None:
        pixels = size or ((320, 240) if kind == ".png" else (960, 720))
        view = {"size": pixels, "azimuth": math.radians(azimuth), "target": target}
        notes = write(done, opened, output, kind, read.path, view, sheet or SHEET, quiet or as_json)
    told = done.report | {"model": model, "output": output, "notes": list(notes)}
    if report is not None:
        _write_report(told, report)
    if as_json and output != "-":
        options.echo_json(told)
    elif not as_json:
        options.echo_notes(notes, quiet)
        if not quiet:
            show(done, output or str(live))


def _check_target(target: str, kind: str) -> None:
    """Refuse what cannot be written before the work is done, not after."""
    from understudy import formats
    from understudy.errors import InvalidInput, Unsupported

    written_too = (*VIDEOS, ".png", ".npz")
    able = [*written_too, *(ending for entry in formats.FORMATS if entry.writes for ending in entry.endings)]
    if kind not in able:
        raise Unsupported(target, f"a performance is not written as {kind or 'this'}; written are: {', '.join(able)}")
    if target != "-" and not Path(target).parent.is_dir():
        raise InvalidInput(f"cannot write {target}: there is no folder {Path(target).parent}")


def read_script(path: str) -> Script:
    """The script of a file, or of standard input."""
    import sys

    from understudy import files
    from understudy.live.script_parser import LARGEST, parse

    if path == "-":
        return parse(sys.stdin.buffer.read(LARGEST + 1).decode("utf-8", "replace"), "standard input")
    return parse(files.read_text(path, 4 * LARGEST), path)


def performed(script: Script, opened: Opened, seed: int, quiet: bool) -> Performance:
    """The script, performed with all layers that the character has controls for."""
    from understudy.live.script import run

    with options.progress(f"performing {Path(script.path).stem}", quiet) as progress:
        return run(script, opened.performer(script.rate), progress, seed)


def as_asset(done: Performance, opened: Opened, name: str) -> Asset:
    """The performance as a clip of the character; channels that stay at rest are left out."""
    from understudy.character import Asset

    labels = dict.fromkeys(beat.label for beat in done.events)
    return Asset([opened.character], [clip_of_rows(opened.rig, name, done.rows, done.rate, labels)])


def write(
    done: Performance,
    opened: Opened,
    target: str,
    kind: str,
    path: str,
    view: dict[str, Any],
    sheet: int,
    quiet: bool,
) -> tuple[str, ...]:
    """Write the performance in the format of an ending; returns what that could not hold."""
    name = Path(path).stem if path != "standard input" else opened.character.name
    if kind not in (*VIDEOS, ".png"):
        asset = plain(as_asset(done, opened, name), kind, quiet)
        return (*asset.notes, *written(asset, target, kind if target == "-" else None))
    from understudy.render import show

    take = show.Take.of_rows(opened.rig, done.rows, rate=done.rate)
    take.name = name
    with options.output_file(target, kind) as place, options.progress(f"rendering {name}", quiet) as progress:
        if kind == ".png":
            fine = 2 if max(view["size"]) <= 480 else 1
            show.contact_sheet(take, place, show.View(**view, supersample=fine), sheet, progress)
        else:
            show.video(take, place, show.View(**view), progress)
    return ()


def _write_report(told: dict[str, Any], path: str) -> None:
    from understudy import files

    with files.written_whole(path) as temporary:
        temporary.write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")


def show(done: Performance, target: str) -> None:
    """What happened, a line an event, and the whole in one."""
    for line in lines(done):
        click.echo(line, err=True)
    cost = done.report["milliseconds_a_frame"]
    click.echo(
        f"{target}: {len(done.rows)} frames, {done.seconds:.1f} s, {cost['median']:.2f} ms a frame "
        f"({cost['worst']:.1f} at worst)",
        err=True,
    )


def lines(done: Performance) -> list[str]:
    """One line for each command, with the bridges that it crossed."""
    found = []
    for beat in done.events:
        if not beat.place:
            continue
        way = f" over {', '.join(beat.route[1:-1])}" if len(beat.route) > 2 else ""
        label = f" [{beat.label}{way}]" if beat.route or beat.what not in ("look", "one_of") else ""
        found.append(f"  {beat.seconds:6.2f} s  {beat.what:<10} {beat.about}{label}")
    return found
