"""`understudy perform`: a trained character acts a script, as a file, as a video, or live (`--live`) for other
programs.
"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.options import flatten_layers, size_option, target_ending, write_asset
from understudy.perform.pose_model import ModelWithCharacter, open_model

if TYPE_CHECKING:
    from understudy.perform.script import Script
    from understudy.perform.script_run import Performance

VIDEOS = (".mp4", ".webm", ".gif")
SHEET_FRAME_COUNT = 24  # of a contact sheet


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
@click.option("--in-place", is_flag=True, help="Leave the way over the ground out, for programs that add it.")
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
    "--sheet",
    type=click.IntRange(1, 400),
    metavar="N",
    help=f"Pictures of a contact sheet; {SHEET_FRAME_COUNT} by default.",
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
    in_place: bool,
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
        raise click.UsageError("give an output: -o OUT, or --live HOST:PORT")
    if output == "-" and not ending:
        raise click.UsageError("writing to standard output needs --to FORMAT, for example --to glb")
    kind = "" if output is None else target_ending(output, ending)
    if output is not None:
        _check_target(output, kind)
    opened = open_model(model)
    read = read_script(script).check(opened.model)
    if live is not None:
        done = stream_performance(read, opened, seed, live, quiet or as_json)
    else:
        done = perform_script(read, opened, seed, quiet or as_json)
    done = done.in_place() if in_place else done
    notes: tuple[str, ...] = ()
    if output is not None:
        pixels = size or ((320, 240) if kind == ".png" else (960, 720))
        view = {"size": pixels, "azimuth": math.radians(azimuth), "target": target}
        notes = write_performance(done, output, kind, view, sheet or SHEET_FRAME_COUNT, quiet or as_json)
    facts = done.report | {"model": model, "output": output, "notes": list(notes)}
    if report is not None:
        _write_report(facts, report)
    if as_json and output != "-":
        options.echo_json(facts)
    elif not as_json:
        options.echo_notes(notes, quiet)
        if not quiet:
            print_events(done, output or str(live))


def _check_target(target: str, kind: str) -> None:
    """Raise before the work if the target cannot be written."""
    from understudy import formats
    from understudy.errors import InvalidInput, Unsupported

    endings = [
        *VIDEOS,
        ".png",
        ".npz",
        *(ending for entry in formats.FORMATS if entry.writes for ending in entry.endings),
    ]
    if kind not in endings:
        written = ", ".join(endings)
        raise Unsupported(target, f"a performance is not written as {kind or 'this'}; written are: {written}")
    if target != "-" and not Path(target).parent.is_dir():
        raise InvalidInput(f"cannot write {target}: there is no folder {Path(target).parent}")


def read_script(path: str) -> Script:
    """The script of a file, or of standard input."""
    import sys

    from understudy import files
    from understudy.perform.script import MAX_SCRIPT_BYTES, parse_script

    if path == "-":
        return parse_script(sys.stdin.buffer.read(MAX_SCRIPT_BYTES + 1).decode("utf-8", "replace"), "standard input")
    return parse_script(files.read_text(path, 4 * MAX_SCRIPT_BYTES), path)


def perform_script(script: Script, opened: ModelWithCharacter, seed: int, quiet: bool) -> Performance:
    """Perform the script, with all layers that the character has controls for."""
    from understudy.perform.script_run import run

    with options.progress(f"performing {Path(script.path).stem}", quiet) as progress:
        return run(script, opened.performer(script.rate), progress, seed)


def write_performance(
    done: Performance,
    target: str,
    kind: str,
    view: dict[str, Any],
    sheet: int,
    quiet: bool,
) -> tuple[str, ...]:
    """Write the performance in the format of an ending; returns notes of what it could not hold."""
    if kind not in (*VIDEOS, ".png"):
        asset = flatten_layers(done.asset, kind, quiet)
        return (*asset.notes, *write_asset(asset, target, kind if target == "-" else None))
    from understudy.render import show

    take = show.RenderTake.from_rows(done.rig, done.rows, rate=done.rate)
    take.name = done.name
    with options.output_file(target, kind) as place, options.progress(f"rendering {done.name}", quiet) as progress:
        if kind == ".png":
            fine = 2 if max(view["size"]) <= 480 else 1
            show.contact_sheet(take, place, show.ViewSettings(**view, supersample=fine), sheet, progress)
        else:
            show.video(take, place, show.ViewSettings(**view), progress)
    return ()


def _write_report(facts: dict[str, Any], path: str) -> None:
    from understudy import files

    with files.write_atomically(path) as temporary:
        temporary.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")


def print_events(done: Performance, target: str) -> None:
    """Print a line for each command, and a summary."""
    for line in command_lines(done):
        click.echo(line, err=True)
    cost = done.report["milliseconds_a_frame"]
    click.echo(
        f"{target}: {len(done.rows)} frames, {done.seconds:.1f} s, {cost['median']:.2f} ms a frame "
        f"({cost['worst']:.1f} at worst)",
        err=True,
    )


def command_lines(done: Performance) -> list[str]:
    """A line for each command, with the labels that its route crossed."""
    lines = []
    for beat in done.events:
        if not beat.place:
            continue
        over = f" over {', '.join(beat.route[1:-1])}" if len(beat.route) > 2 else ""
        label = f" [{beat.label}{over}]" if beat.route or beat.what not in ("look", "one_of") else ""
        lines.append(f"  {beat.seconds:6.2f} s  {beat.what:<10} {beat.about}{label}")
    return lines


def parse_address(text: str) -> tuple[str, int]:
    """Host and port of HOST:PORT; a host alone gets VMC's default port, an IPv6 address is in brackets."""
    from understudy.perform.vmc import VMC_PORT

    host, colon, port = text.rpartition(":")
    if not colon or text.endswith("]"):
        return text.strip("[]"), VMC_PORT
    if not port.isdecimal() or not 1 <= int(port) <= 65535 or not host:
        raise click.UsageError(f"--live {text!r} should be HOST:PORT, as in --live 127.0.0.1:{VMC_PORT}")
    return host.strip("[]"), int(port)


def stream_performance(script: Script, opened: ModelWithCharacter, seed: int, where: str, quiet: bool) -> Performance:
    """Perform in real time, and send every frame as bones and blend values (VMC protocol)."""
    from understudy.perform.script_run import run
    from understudy.perform.vmc import VmcStream

    host, port = parse_address(where)
    performer = opened.performer(script.rate)
    with VmcStream(host, port, opened.rig) as out, options.progress(f"streaming to {host}:{port}", quiet) as progress:
        return run(
            script,
            performer,
            progress,
            seed,
            watch=lambda frame: out.send(frame.row, (frame.state.frame - 1) / script.rate),
        )
