"""`understudy transfer`: a motion onto another body, by its bones or from a handful of pose pairs.

`transfer suggest` lists the frames to pose next; `transfer pose` writes a starting pose as a file that Blender opens.
"""

from __future__ import annotations

import time
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.edit import check_target
from understudy.cli.options import InputJobs, target_ending, write_asset
from understudy.cli.transfer_work import (
    OutputTarget,
    TransferRequest,
    find_corrections,
    find_target_bones,
    open_motions,
    open_pairs,
    pairs_beside,
    prepare_transfer_target,
    summary,
    transfer_input,
    transfer_input_by_bones,
)
from understudy.errors import InvalidInput

if TYPE_CHECKING:
    from understudy.transfer.pose_suggestions import PoseSuggestion
    from understudy.transfer.source import SourceMotion


@click.command(name="pose", short_help="Write poses to start from, for one frame or all suggested ones.")
@click.argument("motion")
@click.option("--frame", type=click.IntRange(0), metavar="N", help="Which frame of MOTION.")
@click.option("--time", type=options.Finite(), metavar="S", help="Or which moment, seconds.")
@click.option(
    "--suggested", type=click.IntRange(1, 500), metavar="N", help="Or the N frames to pose next, in one file."
)
@click.option(
    "--to", "character", required=True, metavar="CHARACTER", help="The character to move: a file or a built-in name."
)
@click.option("--keys", metavar="PAIRS", help="Pose pairs to learn from; without them, the bones of both.")
@options.output(required=False, help="The file to write; MOTION_FRAME.glb or poses.glb by default.")
@click.option("--clip", metavar="NAME", help="Which clip, where MOTION has several.")
@click.option("--units", metavar="UNIT", help="Of MOTION: m, cm, mm, in, ft or cmu; guessed by default.")
@options.as_json
@options.quiet
def pose_command(
    motion: str,
    frame: int | None,
    time: float | None,
    suggested: int | None,
    character: str,
    keys: str | None,
    output: str | None,
    clip: str | None,
    units: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write poses of CHARACTER to edit for frames of MOTION: root and facing are matched already.

    With --suggested, all are one clip of one file, a second apart, with a marker for each. Edit them in Blender,
    export, and give the file as --keys.
    """
    from understudy.character import Asset
    from understudy.transfer.actor import perform_as
    from understudy.transfer.mapping import fit_mapping
    from understudy.transfer.pose_suggestions import find_starting_pose, poses_to_edit, suggest_poses

    if (frame is not None) + (time is not None) + (suggested is not None) != 1:
        raise click.UsageError("give one of --frame N, --time S and --suggested N")
    request = TransferRequest(clips=(clip,) if clip else (), units=units)
    _, motions = open_motions(motion, request)
    if len(motions) > 1 and suggested is None:
        raise InvalidInput(f"{motion} holds {len(motions)} clips: name one with --clip ({', '.join(motions)})")
    target = OutputTarget.open(character)
    pairs = mapping = corrections = None
    if keys is not None:
        everything = {**open_motions(motion, TransferRequest(units=units))[1], **motions}
        pairs = open_pairs(pairs_beside(Path(keys), character), everything, Path(motion).parent, target, request)
        motions = {name: perform_as(pairs.actor, source)[0] for name, source in motions.items()}
        corrections = find_corrections(target, pairs, request)
        mapping = fit_mapping(pairs) if corrections is None else None
    if suggested is not None:
        moments = [(each.motion, each.frame) for each in suggest_poses(motions, pairs, suggested)]
    else:
        name, source = next(iter(motions.items()))
        moments = [(name, source.frame_at(time) if time is not None else int(frame or 0))]
    name, first = moments[0]
    output = output or ("poses.glb" if suggested is not None else f"{name}_{first}.glb")
    check_target(output, target_ending(output, None), False)
    body = target.asset.character()
    more: dict[str, Any] = {"mapping": mapping, "corrections": corrections, "limits": target.limits()}
    poses = [find_starting_pose(motions[name], at, body, pairs=pairs, **more) for name, at in moments]
    animation = poses_to_edit(moments, poses, "poses" if suggested is not None else f"{name}_{first}")
    notes = [note for source in motions.values() for note in source.notes]
    notes = list(dict.fromkeys([*notes, *write_asset(Asset([body], [animation]), output, None)]))
    entries = "\n\n".join(
        f'[[pair]]\nmotion = "{name}"\nframe = {at}\n'
        f'pose = {{file = "{Path(output).name}", clip = "{animation.name}", time = {number}}}'
        for number, (name, at) in enumerate(moments)
    )
    if suggested is not None:
        Path(output).with_suffix(".toml").write_text(entries + "\n", encoding="utf-8")
    if as_json:
        rows = [{"motion": name, "frame": at} for name, at in moments]
        facts = {"output": output, "poses": rows, "pair": entries, "notes": notes}
        options.echo_json(facts if suggested is not None else {**facts, **rows[0]})
        return
    options.echo_notes(notes, quiet)
    click.echo(entries)
    if not quiet and suggested is None:
        click.echo(f"{output}: edit this pose, and put the lines above into PAIRS.toml", err=True)
    elif not quiet:
        click.echo(f"{output}: edit its {len(poses)} poses, a second apart, and give it as --keys {output}", err=True)


@click.command(name="suggest", short_help="List the frames to pose next.")
@click.argument("motion")
@click.option(
    "--to", "character", required=True, metavar="CHARACTER", help="The character to move: a file or a built-in name."
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
    from understudy.transfer.actor import perform_as
    from understudy.transfer.pipeline import suggestion_to_json
    from understudy.transfer.pose_suggestions import suggest_poses

    request = TransferRequest(clips=clips, units=units)
    motions: dict[str, SourceMotion] = {}
    for path in options.inputs(motion):
        motions |= open_motions(path, request)[1]
    pairs = None
    if keys is not None:
        target = OutputTarget.open(character)
        folder = Path(motion) if Path(motion).is_dir() else Path(motion).parent
        pairs = open_pairs(pairs_beside(Path(keys), character), motions, folder, target, request)
        motions = {name: perform_as(pairs.actor, source)[0] for name, source in motions.items()}
    suggestions = suggest_poses(motions, pairs, count)
    if as_json:
        options.echo_json([suggestion_to_json(each) for each in suggestions])
        return
    for line in suggestion_table(suggestions):
        click.echo(line)
    if not quiet:
        click.echo(_summary_line(suggestions, pairs is not None), err=True)


def suggestion_table(suggestions: list[PoseSuggestion]) -> list[str]:
    """The lines of the table of suggestions."""
    wide = max(len("motion"), *(len(each.motion) for each in suggestions))
    measured = suggestions[0].error_after == suggestions[0].error_after  # not NaN: there were pairs
    head = f"{'motion':<{wide}}  {'frame':>6}  {'time':>8}  {'gain':>7}"
    lines = [head + (f"  {'uncertain':>10}  {'error after':>11}" if measured else "")]
    for each in suggestions:
        line = f"{each.motion:<{wide}}  {each.frame:>6}  {each.time:>6.2f} s  {100 * each.gain:>5.1f} %"
        more = f"  {1000 * each.uncertainty:>7.1f} mm  {1000 * each.error_after:>8.1f} mm" if measured else ""
        lines.append(line + more)
    return lines


def _summary_line(suggestions: list[PoseSuggestion], measured: bool) -> str:
    share = 100 * sum(each.gain for each in suggestions)
    beyond = "what is uncertain now" if measured else "what could be known"
    start = "`transfer pose` writes poses to start from"
    return f"these {len(suggestions)} poses would tell {share:.0f} % of {beyond}; {start}"


class TransferGroup(click.Group):
    """The subcommands; without one, `motion` is meant."""

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


@click.group(name="transfer", cls=TransferGroup, short_help="Put an actor's motion onto another body.")
def command() -> None:
    """A motion onto another body: a human one as it is, a lamp or a penguin from a handful of pose pairs.

    understudy transfer MOTION --to CHARACTER -o OUT

    understudy transfer MOTION --to CREATURE --keys PAIRS.toml -o OUT

    `suggest` lists the frames to pose next, `pose` writes a pose to start from, `motion` (or nothing) transfers;
    `understudy transfer motion --help` lists its options.
    """


command.add_command(suggest_command)
command.add_command(pose_command)


@command.command(name="motion")
@click.argument("motion")
@click.option(
    "--to", "character", required=True, metavar="CHARACTER", help="The character to move: a file or a built-in name."
)
@click.option(
    "--keys", metavar="PAIRS", help="Pose pairs, TOML; by default those of the built-in character, or none: bones."
)
@click.option("--map", "bone_map", metavar="TOML", help="Which joint is which bone, where what is found is wrong.")
@click.option(
    "--size",
    type=options.Finite(min=0.0, min_open=True),
    metavar="RATIO",
    help="Of the character's size to the actor's, for steps, jumps and gravity; by the legs by default.",
)
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
    "--limb", "limbs", multiple=True, metavar="JOINT", help="First joint of a limb on springs; facts by names."
)
@click.option("--limb-keys", metavar="FILE", help="An animation that the limbs on springs swing about.")
@click.option(
    "--contact-points",
    multiple=True,
    metavar="JOINT",
    help="A joint that stands on the floor, where what is found is wrong.",
)
@click.option("--contacts", metavar="TOML", help="When contact points are down, where what is found is wrong.")
@click.option("--report", type=click.Path(dir_okay=False), metavar="JSON", help="Write figures of every step.")
@click.option(
    "--live",
    is_flag=False,
    flag_value="-",
    metavar="[HOST:PORT]",
    help="Frame by frame as MOTION (- is standard input) arrives: JSON lines, or bones by VMC to HOST:PORT.",
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True)
@click.option("--workers", type=click.IntRange(1), metavar="N", help="Processes for a folder; all cores by default.")
@options.placing
@options.as_json
@options.quiet
def motion_command(
    motion: str,
    character: str,
    keys: str | None,
    output: str | None,
    ending: str | None,
    report: str | None,
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
        from understudy.cli.transfer_work import live_command

        live_command(motion, character, keys, live, TransferRequest(**asked), quiet)
        return
    if output is None:
        raise click.UsageError("Missing option '-o' / '--output'.")
    jobs = InputJobs.plan(
        motion, output, target_ending(output, ending) if ending else (".glb" if Path(motion).is_dir() else None)
    )
    check_target(output, target_ending(jobs.pairs[0][1], ending), jobs.many)
    request = TransferRequest(**asked, ending=ending, report=report, many=jobs.many)
    began = time.perf_counter()
    target = OutputTarget.open(character, request.placing)
    if target.keys(keys) is None:
        bones = find_target_bones(target, request)
        rows = _run(partial(transfer_input_by_bones, bones, request), jobs, workers, quiet or as_json)
        _report({"pairs": 0, "inputs": rows}, rows, jobs.many, as_json and output != "-", quiet)
        return
    motions = _all_motions(jobs, request)
    folder = Path(motion) if jobs.many else Path(motion).parent
    pairs = open_pairs(pairs_beside(target.keys(keys), character), motions, folder, target, request)
    corrections = find_corrections(target, pairs, request)
    if corrections is not None:
        work = partial(transfer_input_by_bones, find_target_bones(target, request), request, corrections=corrections)
    else:
        work = partial(transfer_input, prepare_transfer_target(target, pairs, request), request)
    learned = time.perf_counter() - began
    rows = _run(work, jobs, workers, quiet or as_json)
    facts = {"pairs": len(pairs), "read_and_learned_s": round(learned, 3), "inputs": rows}
    _report(facts, rows, jobs.many, as_json and output != "-", quiet)


def _all_motions(jobs: InputJobs, request: TransferRequest) -> dict[str, Any]:
    """The motions of all inputs by name, for the pairs; unreadable files of a folder are reported later."""
    from understudy.errors import UnderstudyError

    motions: dict[str, Any] = {}
    for path, _ in jobs.pairs:
        try:
            # pairs may name any clip, also one that is not transferred, and count frames at its own rate
            motions |= open_motions(path, TransferRequest(units=request.units))[1]
        except UnderstudyError:
            if not jobs.many:
                raise
    return motions


def _run(function: Any, jobs: InputJobs, workers: int | None, quiet: bool) -> list[dict[str, Any]]:
    if not jobs.many:
        with options.progress("transferring", quiet) as progress:
            return [function(jobs.pairs[0], progress=progress)]
    from understudy import batch

    for _, target in jobs.pairs:
        Path(target).parent.mkdir(parents=True, exist_ok=True)
    with options.progress(f"transferring {len(jobs.pairs)} motions", quiet) as progress:
        return batch.run(function, jobs.pairs, workers, progress=progress)


def _report(facts: dict[str, Any], rows: list[dict[str, Any]], many: bool, as_json: bool, quiet: bool) -> None:
    if as_json:
        options.echo_json(facts if many else {**facts, **rows[0]})
    else:
        for row in rows:
            if "error" in row:
                click.echo(f"error: {row['error']}", err=True)
                continue
            options.echo_notes(row["notes"], quiet)
        if not quiet:
            for line in next((row["map"] for row in rows if "map" in row), []):
                click.echo(f"  {line}", err=True)
            for line in summary(rows):
                click.echo(line, err=True)
            for row in rows:
                if "error" not in row:
                    click.echo(f"{row['input']} -> {row['output']}", err=True)
    if any("error" in row for row in rows):
        raise click.exceptions.Exit(1)
