"""`understudy transfer suggest`: which frames to pose next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli import options
from understudy.cli.transfer_work import Target, Wish, open_motions, open_pairs, pairs_beside

if TYPE_CHECKING:
    from understudy.retarget.source import Source
    from understudy.retarget.suggest import Suggestion


@click.command(name="suggest", short_help="List the frames to pose next.")
@click.argument("motion")
@click.option(
    "--to", "character", required=True, metavar="CHARACTER", help="Who shall move: a file, or a built-in name."
)
@click.option("--keys", metavar="PAIRS", help="The pose pairs that there are already.")
@click.option("--count", type=click.IntRange(1, 500), default=10, show_default=True, help="How many frames.")
@click.option("--clip", "clips", multiple=True, metavar="NAME", help="Only this clip of MOTION; all by default.")
@click.option("--units", metavar="UNIT", help="Of MOTION: m, cm, mm, in, ft or cmu; guessed by default.")
@options.as_json
@options.quiet
def suggest_command(
    motion: str,
    character: str,
    keys: str | None,
    count: int,
    clips: tuple[str, ...],
    units: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """List the frames of MOTION (a file, a folder, a built-in name) whose poses would tell most about all others."""
    from understudy.retarget.report import shown
    from understudy.retarget.suggest import suggest

    wish = Wish(clips=clips, units=units)
    motions: dict[str, Source] = {}
    for path in options.inputs(motion):
        motions |= open_motions(path, wish)[1]
    pairs = None
    if keys is not None:
        target = Target.open(character)
        folder = Path(motion) if Path(motion).is_dir() else Path(motion).parent
        pairs = open_pairs(pairs_beside(Path(keys), character), motions, folder, target, wish)
    found = suggest(motions, pairs, count)
    if as_json:
        options.echo_json([shown(each) for each in found])
        return
    for line in table(found):
        click.echo(line)
    if not quiet:
        click.echo(_word(found, pairs is not None), err=True)


def table(found: list[Suggestion]) -> list[str]:
    """A line a frame."""
    wide = max(len("motion"), *(len(each.motion) for each in found))
    measured = found[0].error_after == found[0].error_after  # not NaN: there were pairs
    head = f"{'motion':<{wide}}  {'frame':>6}  {'time':>8}  {'gain':>7}"
    lines = [head + (f"  {'uncertain':>10}  {'error after':>11}" if measured else "")]
    for each in found:
        line = f"{each.motion:<{wide}}  {each.frame:>6}  {each.time:>6.2f} s  {100 * each.gain:>5.1f} %"
        more = f"  {1000 * each.uncertainty:>7.1f} mm  {1000 * each.error_after:>8.1f} mm" if measured else ""
        lines.append(line + more)
    return lines


def _word(found: list[Suggestion], measured: bool) -> str:
    share = 100 * sum(each.gain for each in found)
    beyond = "what is uncertain now" if measured else "what could be known"
    return f"these {len(found)} poses would tell {share:.0f} % of {beyond}; `transfer pose` writes poses to start from"
