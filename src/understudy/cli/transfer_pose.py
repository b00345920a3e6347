"""`understudy transfer pose`: a pose to start from, as a file that Blender opens."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cli import options
from understudy.cli.convert import written
from understudy.cli.edit import check_target
from understudy.cli.jobs import suffix
from understudy.cli.transfer_work import Target, Wish, open_motions, open_pairs, pairs_beside
from understudy.errors import InvalidInput


@click.command(name="pose", short_help="Write a pose to start from, for one frame.")
@click.argument("motion")
@click.option("--frame", type=click.IntRange(0), metavar="N", help="Which frame of MOTION.")
@click.option("--time", type=options.Finite(), metavar="S", help="Or which moment, seconds.")
@click.option(
    "--to", "character", required=True, metavar="CHARACTER", help="Who shall move: a file, or a built-in name."
)
@click.option("--keys", metavar="PAIRS", help="Pose pairs to learn from; without them, the names of bones.")
@options.output(required=False, help="The file to write; MOTION_FRAME.glb by default.")
@click.option("--clip", metavar="NAME", help="Which clip, where MOTION has several.")
@click.option("--units", metavar="UNIT", help="Of MOTION: m, cm, mm, in, ft or cmu; guessed by default.")
@options.as_json
@options.quiet
def pose_command(
    motion: str,
    frame: int | None,
    time: float | None,
    character: str,
    keys: str | None,
    output: str | None,
    clip: str | None,
    units: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Write a pose of CHARACTER to edit for one frame of MOTION: root and facing are matched already."""
    from understudy.character import Asset
    from understudy.retarget.mapping import learn
    from understudy.retarget.poses import clip_of
    from understudy.retarget.starting_pose import starting_pose

    if (frame is None) == (time is None):
        raise click.UsageError("give either --frame N or --time S")
    wish = Wish(clips=(clip,) if clip else (), units=units)
    _, motions = open_motions(motion, wish)
    if len(motions) > 1:
        raise InvalidInput(f"{motion} holds {len(motions)} clips: name one with --clip ({', '.join(motions)})")
    name, source = next(iter(motions.items()))
    if time is not None:
        frame = source.frame_at(time)
    assert frame is not None  # one of the two was given
    target = Target.open(character)
    output = output or f"{name}_{frame}.glb"
    check_target(output, suffix(output, None), False)
    pairs = mapping = None
    if keys is not None:
        everything = {**open_motions(motion, Wish(units=units))[1], **motions}
        pairs = open_pairs(pairs_beside(Path(keys), character), everything, Path(motion).parent, target, wish)
        mapping = learn(pairs)
    who = target.asset.character()
    pose = starting_pose(source, frame, who, pairs=pairs, mapping=mapping, limits=target.limits())
    label = f"{name}_{frame}"
    notes = [*source.notes, *written(Asset([who], [clip_of(pose, label)]), output, None)]
    entry = (
        f'[[pair]]\nmotion = "{name}"\nframe = {frame}\n'
        f'pose = {{file = "{Path(output).name}", clip = "{label}", time = 0}}'
    )
    if as_json:
        options.echo_json({"output": output, "motion": name, "frame": frame, "pair": entry, "notes": notes})
        return
    options.echo_notes(notes, quiet)
    click.echo(entry)
    if not quiet:
        click.echo(f"{output}: edit this pose, and put the lines above into PAIRS.toml", err=True)
