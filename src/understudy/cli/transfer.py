"""`understudy transfer`: an actor's motion onto another body, from a handful of pose pairs."""

from __future__ import annotations

import time
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any

import click

from understudy.cli import options
from understudy.cli.edit import check_target
from understudy.cli.jobs import Jobs, suffix
from understudy.cli.transfer_pose import pose_command
from understudy.cli.transfer_suggest import suggest_command
from understudy.cli.transfer_work import Target, Wish, open_motions, open_pairs, open_stage, pairs_beside, summary, work


class Transfers(click.Group):
    """Its commands, and the transfer itself where the first word is none of them."""

    def parse_args(self, context: click.Context, args: list[str]) -> list[str]:
        if args and args[0] not in self.commands and args[0] not in ("-h", "--help"):
            args = ["motion", *args]
        return super().parse_args(context, args)


class Dimension(click.ParamType):
    """A number of dimensions, or auto."""

    name = "N|auto"

    def convert(self, value: Any, param: click.Parameter | None, context: click.Context | None) -> int | str:
        if isinstance(value, int) or value == "auto":
            return value
        if not str(value).isdecimal() or not 1 <= int(value) <= 200:
            self.fail(f"{value!r} is neither auto nor a number from 1 to 200", param, context)
        return int(value)


@click.group(name="transfer", cls=Transfers, short_help="Put an actor's motion onto another body.")
def command() -> None:
    """An actor's motion onto a lamp, a penguin, a squirrel, anything, from a handful of pose pairs.

    understudy transfer MOTION --to CHARACTER --keys PAIRS.toml -o OUT

    `suggest` lists the frames to pose next, `pose` writes a pose to start from, `motion` (or nothing) transfers;
    `understudy transfer motion --help` lists its options.
    """


command.add_command(suggest_command)
command.add_command(pose_command)


@command.command(name="motion")
@click.argument("motion")
@click.option(
    "--to", "character", required=True, metavar="CHARACTER", help="Who shall move: a file, or a built-in name."
)
@click.option("--keys", metavar="PAIRS", help="The pose pairs, TOML; those of the built-in character by default.")
@options.output(required=False, help="The file to write; a folder for a folder of motions; - with --format.")
@click.option("--format", "ending", metavar="FORMAT", help="What to write into a folder or to standard output.")
@click.option("--clip", "clips", multiple=True, metavar="NAME", help="Only this clip of MOTION; all by default.")
@options.rate
@click.option("--units", metavar="UNIT", help="Of MOTION: m, cm, mm, in, ft or cmu; guessed by default.")
@click.option(
    "--dimension", type=Dimension(), metavar="N", default=30, show_default=True, help="Of the latent space, or auto."
)
@click.option(
    "--physics/--no-physics", default=True, help="Contacts that stand and weight that is felt; on by default."
)
@click.option("--collisions/--no-collisions", default=True, help="Keep the body out of itself; on by default.")
@click.option("--springs/--no-springs", default=True, help="Tails and ears swing; on by default.")
@click.option(
    "--limb", "limbs", multiple=True, metavar="JOINT", help="First joint of a limb on springs; told by names."
)
@click.option("--limb-keys", metavar="FILE", help="An animation that the limbs on springs swing about.")
@click.option("--contacts", metavar="TOML", help="When contact points are down, where what is found is wrong.")
@click.option("--report", type=click.Path(dir_okay=False), metavar="JSON", help="Write figures of every step.")
@click.option("--compare", is_flag=True, help="Add to the report how far each method is off when a pair is left out.")
@click.option(
    "--live",
    is_flag=False,
    flag_value="-",
    metavar="[HOST:PORT]",
    help="Frame by frame as MOTION (- is standard input) arrives: JSON lines, or bones by VMC to HOST:PORT.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes for a folder; all cores by default.")
@options.as_json
@options.quiet
def motion_command(
    motion: str,
    character: str,
    keys: str | None,
    output: str | None,
    ending: str | None,
    report: str | None,
    compare: bool,
    live: str | None,
    workers: int | None,
    as_json: bool,
    quiet: bool,
    **asked: Any,
) -> None:
    """Transfer MOTION, a file, a folder of files or a built-in name, to CHARACTER.

    A folder is one batch, in parallel: the mapping is learned once, from pairs of any of its motions.
    """
    if live is not None:
        from understudy.cli.transfer_live import live_command

        live_command(motion, character, keys, live, Wish(**asked), quiet)
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    jobs = Jobs.plan(motion, output, suffix(output, ending) if ending else (".glb" if Path(motion).is_dir() else None))
    check_target(output, suffix(jobs.pairs[0][1], ending), jobs.many)
    wish = Wish(**asked, ending=ending, report=report, many=jobs.many)
    began = time.perf_counter()
    target = Target.open(character)
    motions = _all_motions(jobs, wish)
    folder = Path(motion) if jobs.many else Path(motion).parent
    pairs = open_pairs(pairs_beside(target.keys(keys), character), motions, folder, target, wish)
    stage = open_stage(target, pairs, wish)
    learned = time.perf_counter() - began
    if compare:
        wish = replace(wish, compared=_compared(pairs, motions, wish))
    rows = _run(partial(work, stage, wish), jobs, workers, quiet or as_json)
    told = {"pairs": len(pairs), "read_and_learned_s": round(learned, 3), "inputs": rows}
    if wish.compared:
        told["leave_one_out_mm"] = wish.compared
    _tell(told, rows, jobs.many, as_json and output != "-", quiet)


def _all_motions(jobs: Jobs, wish: Wish) -> dict[str, Any]:
    """The motions of all inputs by name, for the pairs; files that cannot be read are told when their turn comes."""
    from understudy.errors import UnderstudyError

    found: dict[str, Any] = {}
    for path, _ in jobs.pairs:
        try:
            # pairs may name any clip, also one that is not asked for, and count frames at its own rate
            found |= open_motions(path, Wish(units=wish.units))[1]
        except UnderstudyError:
            if not jobs.many:
                raise
    return found


def _run(function: Any, jobs: Jobs, workers: int | None, quiet: bool) -> list[dict[str, Any]]:
    if not jobs.many:
        with options.progress("transferring", quiet) as progress:
            return [function(jobs.pairs[0], progress=progress)]
    from understudy import batch

    for _, target in jobs.pairs:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    with options.progress(f"transferring {len(jobs.pairs)} motions", quiet) as progress:
        return batch.run(function, jobs.pairs, workers, progress=progress)


def _compared(pairs: Any, motions: dict[str, Any], wish: Wish) -> dict[str, float]:
    from understudy.retarget.mapping import learn
    from understudy.retarget.report import comparison

    learner = partial(learn, dimension=wish.dimension, seed=wish.seed)
    return comparison(pairs, learner, "shared GPLVM", next(iter(motions.values())))


def _tell(told: dict[str, Any], rows: list[dict[str, Any]], many: bool, as_json: bool, quiet: bool) -> None:
    if as_json:
        options.echo_json(told if many else {**told, **rows[0]})
    else:
        for row in rows:
            if "error" in row:
                click.echo(f"error: {row['error']}", err=True)
                continue
            options.echo_notes(row["notes"], quiet)
        if not quiet:
            for line in summary(rows):
                click.echo(line, err=True)
            for name, value in told.get("leave_one_out_mm", {}).items():
                click.echo(f"  left out in turn, {name}: {value:.1f} mm", err=True)
            for row in rows:
                if "error" not in row:
                    click.echo(f"{row['input']} -> {row['output']}", err=True)
    if any("error" in row for row in rows):
        raise click.exceptions.Exit(1)
