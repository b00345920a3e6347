"""`understudy demo`: the built-in dragon acts, as a video; nothing to download."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cli import options

CLIP = "curious_bug"


@click.command(name="demo")
@options.output(required=False, help="The video to write; out/demo.mp4 by default.")
@options.quiet
def command(output: str | None, quiet: bool) -> None:
    """Render the built-in dragon, with a bug on its nose, to a video and say where it is."""
    from understudy import cast
    from understudy.render import show

    if output is None:
        Path("out").mkdir(exist_ok=True)
        output = "out/demo.mp4"
    take = show.Take.of(cast.load("dragon"), CLIP)
    with options.progress("a bug lands on the dragon's nose", quiet) as report:
        how = show.video(take, output, show.View(size=(960, 720)), report)
    click.echo(f"{Path(output).resolve()}: {how}")
