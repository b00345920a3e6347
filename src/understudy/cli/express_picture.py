"""`understudy express picture`: a graph as a drawing, with a way through it."""

from __future__ import annotations

from pathlib import Path

import click

from understudy.cli import options
from understudy.errors import InvalidInput, Unsupported


@click.command(name="picture", short_help="Draw a graph.")
@click.argument("graph")
@options.output(help="x.svg or x.png.")
@click.option(
    "--region", "regions", multiple=True, metavar="NAME", help="Only this region; may be given several times."
)
@click.option(
    "--way", "labels", multiple=True, metavar="LABEL", help="Draw the way over this label; may be given several times."
)
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Of the way's peaks.")
@options.as_json
@options.quiet
def picture_command(
    graph: str,
    output: str,
    regions: tuple[str, ...],
    labels: tuple[str, ...],
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Draw the graph GRAPH: a wheel a region, neutral in the middle, each label in a direction of its own."""
    from understudy.cli.express import facts, open_graph
    from understudy.expression import picture
    from understudy.expression.acting import cues
    from understudy.expression.acting.walk import walked

    if Path(output).suffix.lower() not in (".svg", ".png"):
        raise Unsupported(output, "a picture of a graph is an .svg or a .png")
    if not Path(output).parent.is_dir():
        raise InvalidInput(f"cannot write {output}: there is no folder {Path(output).parent}")
    found = open_graph(graph)
    paths = walked(found, [cues.parse(label) for label in labels], seed=seed) if labels else None
    picture.draw(found, output, paths=paths, regions=regions or None)
    if as_json:
        ways = {} if paths is None else {region: nodes.tolist() for region, nodes in paths.items()}
        options.echo_json(facts(found) | {"output": output, "ways": ways})
    elif not quiet:
        click.echo(f"{output}: {found.nodes} nodes in {len(found.regions)} regions", err=True)
