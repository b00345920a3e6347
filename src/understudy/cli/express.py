"""`understudy express`: from labelled takes to a face graph (`build`), from labels to a face that acts (`act`), from a
video to weights (`capture`), the shapes of a character (`map`), and a graph as a drawing (`picture`).
"""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.cli.express_capture import capture_command
from understudy.cli.express_output import (
    character_of,
    check_target,
    view_settings,
    write_crowd,
    write_performance,
    write_speech,
)
from understudy.cli.options import size_option, target_ending
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.perform.pose_model import MODEL_SUFFIX

if TYPE_CHECKING:
    from understudy.express.acting.speech import Viseme
    from understudy.express.graph.expression_graph import ExpressionGraph
    from understudy.express.sequence import ExpressionSequence
    from understudy.express.speech_audio import Speech

share = options.Finite(0.0, 1.0)  # type of options between 0 and 1


@click.group(name="express", short_help="Turn words (fear, happiness) into a face that acts them.")
def command() -> None:
    """From a word (fear, surprise, happiness) to a face that acts it, never twice the same.

    `build` makes a small graph of labelled takes, `act` makes new animation of a list of labels, `capture` takes
    weights from a video, `map` proposes which shapes of a character show what, `picture` draws a graph.
    """


command.add_command(capture_command)


@command.command(name="build")
@click.argument("input")
@options.output(help=f"GRAPH{MODEL_SUFFIX}, for `express act`.")
@click.option(
    "--compression",
    type=share,
    default=0.85,
    show_default=True,
    metavar="SHARE",
    help="Fraction of the takes' bytes that the graph saves.",
)
@click.option("--tolerance", type=share, default=0.1, show_default=True, metavar="SHARE", help="How near to that.")
@click.option(
    "--as",
    "kind",
    type=click.Choice(["weights", "landmarks"]),
    default="weights",
    show_default=True,
    help="What takes of a character hold: its weights and controls, or its 68 landmarks.",
)
@options.rate
@click.option("--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="The order of merging.")
@options.as_json
@options.quiet
def build_command(
    input: str,
    output: str,
    compression: float,
    tolerance: float,
    kind: str,
    rate: float | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Build the graph of labelled takes.

    INPUT is a MANIFEST.toml that names files, labels and peaks, a file with a character and labelled clips, or the name
    of a built-in character: face or dragon.
    """
    from understudy.express.graph import expression_graph, graph_builder

    if output != "-" and not Path(output).parent.is_dir():
        raise InvalidInput(f"cannot write {output}: there is no folder {Path(output).parent}")
    takes, regions, notes = open_takes(input, kind, rate)
    began = time.perf_counter()
    with options.progress(f"building a graph of {len(takes)} takes", quiet or as_json):
        graph = graph_builder.build(takes, compression=compression, tolerance=tolerance, regions=regions, seed=seed)
    with options.output_file(output, MODEL_SUFFIX) as place:
        expression_graph.save(graph, place)
    row = graph_facts(graph) | {"output": output, "built_in": round(time.perf_counter() - began, 3), "notes": notes}
    row["data_compression"] = round(1.0 - graph.bytes / graph_builder.raw_bytes(takes), 4)
    if as_json and output != "-":
        options.echo_json(row)
    elif not as_json:
        options.echo_notes(_first_notes(notes), quiet)
        if not quiet:
            size, saved = (
                f"{row['bytes'] / 1024:.0f} KB",
                f"{100 * row['data_compression']:.1f} % smaller than the takes",
            )
            for line in graph_table(row):
                click.echo(line, err=True)
            click.echo(f"{output}: {row['takes']} takes, {size}, {saved}, in {row['built_in']:.1f} s", err=True)


@command.command(name="act")
@click.argument("graph")
@click.argument("labels", nargs=-1)
@options.output(
    help="A file (.glb, .gltf, .usd, .csv, .npz), a video (.mp4, .webm, .gif) or a contact sheet (.png); "
    "- for standard output, with --to."
)
@click.option("--to", "ending", metavar="FORMAT", help="The format of standard output, as in: -o - --to glb")
@click.option(
    "--seed", type=click.IntRange(0, 2**31 - 1), default=0, show_default=True, help="Another seed, another take."
)
@click.option("--crowd", type=click.IntRange(1, 100_000), metavar="N", help="N faces, each its own take, in one file.")
@click.option(
    "--noise",
    type=share,
    default=0.2,
    show_default=True,
    metavar="SHARE",
    help="Fraction of path nodes that are replaced by neighbours.",
)
@click.option(
    "--hops",
    type=click.IntRange(1, 8),
    default=1,
    show_default=True,
    help="Largest distance of those neighbours, in edges.",
)
@click.option(
    "--length-noise",
    type=options.Finite(0, 5),
    default=1.0,
    show_default=True,
    metavar="FACTOR",
    help="Multiple of the spread of durations in the takes.",
)
@click.option(
    "--coupling",
    type=share,
    default=0.5,
    show_default=True,
    help="From regions that go their own ways (0) to regions that move as in one take (1).",
)
@click.option("--smoothing", type=share, default=0.5, show_default=True, help="From the raw motion to sigmoids.")
@click.option("--intensity", type=options.Finite(0, 2), default=1.0, show_default=True, help="Of all expressions.")
@click.option("--hold", type=options.Finite(0, 60), default=0.2, show_default=True, metavar="S", help="At each apex.")
@click.option("--pace", type=options.Finite(0.1, 5), default=1.0, show_default=True, help="2 is twice as quick.")
@click.option(
    "--direct",
    type=share,
    default=0.6,
    show_default=True,
    help="From the graph's own way between expressions, often over neutral (0), to a straight one (1).",
)
@click.option("--back/--no-back", default=True, help="End in neutral, or in the last expression.")
@click.option(
    "--life", type=options.Finite(0, 2), default=1.0, show_default=True, help="Of blinks, gaze and head; 0 is none."
)
@options.rate
@click.option("--character", metavar="FILE|NAME", help="Whose face; by default face or dragon, whichever fits.")
@click.option(
    "--landmarks",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="For a graph of landmarks on a character of your own: a line a landmark, as `lm00 1234`, its vertex.",
)
@click.option(
    "--map",
    "map_file",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Which shapes of the character show what: a file of `express map`. By default their names say it.",
)
@click.option(
    "--visemes",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Speech over the mouth: a line a sound, as `0.25 PP`, seconds and viseme.",
)
@click.option("--say", metavar="TEXT", help="Speak this text; needs the extra `speech`.")
@click.option(
    "--audio",
    type=click.Path(dir_okay=False),
    metavar="FILE",
    help="Speak this recording. With --text its sounds are aligned, without they are guessed.",
)
@click.option("--text", metavar="TEXT", help="What is said in --audio, in English.")
@click.option("--language", default="en-us", show_default=True, help="Of --say, as eSpeak names it: de, fr, en-gb, ...")
@click.option("--priority", type=share, default=0.85, show_default=True, help="Of speech over the expression.")
@size_option("720x720", "240x240")
@click.option("--azimuth", type=options.Finite(), metavar="DEGREES", default=12.0, show_default=True)
@click.option("--target", metavar="NAME", help="Frame only this: a named point, a region, a part or a joint.")
@click.option("--sheet", type=click.IntRange(1, 400), metavar="N", help="Pictures of a contact sheet; 24 by default.")
@options.as_json
@options.quiet
def act_command(graph: str, labels: tuple[str, ...], output: str, **given: Any) -> None:
    """Act LABELS one after the other with the graph GRAPH, from neutral.

    A label may be faint, as fear:0.5, or several at once, as fear:0.5+surprise:0.5. GRAPH is a file that `express
    build` has made, or face or dragon, whose graph is then built first.
    """
    from understudy.express.acting import ActSettings, cues
    from understudy.express.acting.synthesis import cover_speech, performances

    if output == "-" and not given["ending"]:
        raise click.UsageError("writing to standard output needs --to FORMAT, for example --to glb")
    kind = target_ending(output, given["ending"])
    check_target(output, kind, given["crowd"])
    speech = _speech(given)
    if not labels and speech is None:
        raise click.UsageError("there should be at least one label to act, or a text to --say")
    labels = labels or ("neutral",)
    expression_graph = open_graph(graph)
    names = ("coupling", "smoothing", "length_noise", "intensity", "hold", "back", "life", "pace", "direct", "rate")
    settings = ActSettings(**{name: given[name] for name in names}, path_noise=(given["noise"], given["hops"]))
    cue_list = [cues.parse(label) for label in labels]
    if speech is not None:
        settings = cover_speech(expression_graph, cue_list, given["seed"], settings, speech.duration)
    count, quiet = given["crowd"] or 1, given["quiet"] or given["as_json"]
    began, faces = time.perf_counter(), []
    with options.progress("acting", quiet) as report:
        for face in performances(expression_graph, cue_list, count, seed=given["seed"], settings=settings):
            faces.append(face)
            report(len(faces), count)
    seconds = time.perf_counter() - began
    character = None if kind == ".npz" else character_of(expression_graph, given["character"], given["landmarks"])
    view = view_settings(given, kind)
    sounds = read_sounds(given["visemes"]) if given["visemes"] else []
    extra: dict[str, Any] = {"sounds": sounds, "priority": given["priority"]}
    if speech is not None:
        extra |= {"sounds": [*sounds, *speech.sounds], "accents": speech.accents}
    if given["map_file"] and character is not None:
        from understudy.express.face_map import read_face_map

        extra["face_map"] = read_face_map(given["map_file"], character.character)
    name = "_".join(labels)
    if given["crowd"] is None:
        notes = write_performance(faces[0], character, output, kind, name, view, given["sheet"], extra, quiet)
        notes = (*notes, *(() if speech is None else write_speech(speech, output, kind)))
    else:
        notes = write_crowd(faces, character, output, kind, name, view, extra, quiet)
    row = {
        "output": output,
        "faces": count,
        "labels": list(faces[0].cues),
        "frames": len(faces[0]),
        "seconds": round(faces[0].duration, 4),
        "rate": faces[0].rate,
        "moments": {cue: round(at, 4) for cue, at in faces[0].moments.items()},
        "seed": given["seed"],
        "acted_in": round(seconds, 4),
        "notes": list(notes),
    }
    if given["as_json"] and output != "-":
        options.echo_json(row)
    elif not given["as_json"]:
        options.echo_notes(notes, given["quiet"])
        if not given["quiet"]:
            many = f"{count:,} faces, " if count > 1 else ""
            click.echo(f"{output}: {many}{row['frames']} frames, {row['seconds']:.1f} s, in {seconds:.2f} s", err=True)


@command.command(name="map", short_help="Propose which shapes of a character show an expression.")
@click.argument("character")
@options.output(required=False, help="MAP.toml, for `express act --map`; standard output by default.")
@options.as_json
@options.quiet
def map_command(character: str, output: str | None, as_json: bool, quiet: bool) -> None:
    """Propose a face map of CHARACTER, to look at and to edit.

    Shapes are recognised by their names (ARKit, VRM, Ready Player Me, VRoid, words such as Angry), then by where they
    move the mesh, compared with the built-in face. `express act --map` reads the file.
    """
    from understudy import cast, files
    from understudy.express.face_map import find_face_map
    from understudy.express.shape_places import match_by_place

    body = options.open_input(character).character()
    if not body.shapes:
        raise InvalidInput(f"character {body.name!r} has no blend shapes to map")
    with options.progress(f"comparing the shapes of {body.name}", quiet or as_json):
        found = match_by_place(body, cast.load("face").characters[0], find_face_map(body))
    text, output = found.text(body), output or "-"
    if output == "-" and not as_json:
        click.echo(text, nl=False)
    elif output != "-":
        with files.write_atomically(Path(output)) as part:
            part.write_text(text, encoding="utf-8")
    if as_json:
        shapes = {
            source: {f"{bind.part}/{bind.shape}".lstrip("/"): bind.weight for bind in binds}
            for source, binds in found.targets.items()
        }
        options.echo_json({"character": body.name, "output": output, "map": shapes, "by": dict(found.reasons)})
    elif output != "-" and not quiet:
        click.echo(f"{output}: {len(found.targets)} sources; edit it and give it to `express act --map`", err=True)


@command.command(name="picture", short_help="Draw a graph.")
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
    from understudy.express import graph_picture
    from understudy.express.acting import cues
    from understudy.express.acting.synthesis import nodes_of_walk

    if Path(output).suffix.lower() not in (".svg", ".png"):
        raise Unsupported(output, "a picture of a graph is an .svg or a .png")
    if not Path(output).parent.is_dir():
        raise InvalidInput(f"cannot write {output}: there is no folder {Path(output).parent}")
    expression_graph = open_graph(graph)
    paths = nodes_of_walk(expression_graph, [cues.parse(label) for label in labels], seed=seed) if labels else None
    graph_picture.draw(expression_graph, output, paths=paths, regions=regions or None)
    if as_json:
        ways = {} if paths is None else {region: nodes.tolist() for region, nodes in paths.items()}
        options.echo_json(graph_facts(expression_graph) | {"output": output, "ways": ways})
    elif not quiet:
        click.echo(f"{output}: {expression_graph.nodes} nodes in {len(expression_graph.regions)} regions", err=True)


def open_takes(name: str, kind: str, rate: float | None) -> tuple[list[ExpressionSequence], Any, list[str]]:
    """The prepared takes of a manifest or of a character's clips, regions where a manifest names any, and notes."""
    from understudy import cast
    from understudy.express.face_graph import read_manifest_takes, takes_of_asset

    if Path(name).suffix.lower() == ".toml":
        takes, regions, notes = read_manifest_takes(name, rate)
        return takes, regions, list(notes)
    asset = options.open_input(name)
    if not asset.characters or not asset.animations:
        raise BadFile(name, "a character with labelled clips, or a manifest (.toml), was expected")
    if all(not animation.labels for animation in asset.animations):
        raise BadFile(name, "its clips carry no labels; name them in a manifest (.toml) instead")
    if kind == "landmarks" and (name != "face" or name not in cast.names()):
        raise InvalidInput(f"landmarks are known of the built-in face only, not of {name!r}; build it as weights")
    takes, notes = takes_of_asset(asset, cast.FACE_LANDMARKS if kind == "landmarks" else None, rate)
    return takes, None, list(notes)


def open_graph(path: str) -> ExpressionGraph:
    """The graph of a file, or of a built-in character, built now."""
    from understudy import cast
    from understudy.express.graph import expression_graph, graph_builder

    if path in cast.names() and not Path(path).exists():
        return graph_builder.build(open_takes(path, "weights", None)[0], compression=0.6, merge_compression=0.6)
    if Path(path).suffix.lower() != MODEL_SUFFIX:
        raise BadFile(path, f"is not a face graph: files of `understudy express build` end in {MODEL_SUFFIX}")
    return expression_graph.load(path)


def _speech(given: dict[str, Any]) -> Speech | None:
    """What the options --say, --audio and --text ask to be spoken."""
    if given["say"] and given["audio"]:
        raise click.UsageError("--say makes the audio itself; give --audio and --text for a recording")
    if given["text"] and not given["audio"]:
        raise click.UsageError("--text is what is said in --audio; to speak a text, use --say")
    if not given["say"] and not given["audio"]:
        return None
    from understudy.express import speech_audio

    if given["say"]:
        return speech_audio.speak(given["say"], given["language"])
    return speech_audio.listen(given["audio"], given["text"])


def read_sounds(path: str) -> list[Viseme]:
    """The visemes of a text file: seconds and a name on each line; `#` begins a comment."""
    from understudy import files
    from understudy.express.acting.speech import Viseme
    from understudy.formats.arkit_names import VISEMES

    sounds = []
    for number, line in enumerate(files.read_text(path, 1 << 22).splitlines(), 1):
        words = line.partition("#")[0].replace(",", " ").split()
        if not words:
            continue
        try:
            sound = Viseme(float(words[0]), words[1], float(words[2]) if len(words) > 2 else 1.0)
        except (ValueError, IndexError):
            reason = f"seconds and a viseme were expected, but {line.strip()!r} found"
            raise BadFile(path, reason, f"line {number}") from None
        if sound.viseme not in VISEMES:
            known = ", ".join(VISEMES)
            raise BadFile(path, f"there is no viseme {sound.viseme!r}; available: {known}", f"line {number}")
        sounds.append(sound)
    if not sounds:
        raise BadFile(path, "it contains no viseme")
    return sounds


def graph_facts(graph: ExpressionGraph) -> dict[str, Any]:
    """The facts of a graph, ready for JSON."""
    return {
        "labels": list(graph.labels),
        "takes": graph.takes,
        "points": len(graph.names),
        "dimensions": int(graph.base.shape[1]),
        "rate": graph.rate,
        "bytes": graph.bytes,
        "nodes": graph.nodes,
        "regions": [
            {"name": r.name, "points": len(r.members), "nodes": r.nodes, "edges": len(r.sources)} for r in graph.regions
        ],
    }


def graph_table(row: dict[str, Any]) -> list[str]:
    """The table that `build` and `info` print."""
    lines = ["  region       points  nodes  edges"]
    lines += [f"  {r['name']:<12} {r['points']:6d} {r['nodes']:6d} {r['edges']:6d}" for r in row["regions"]]
    return [*lines, f"  labels: {', '.join(row['labels'])}"]


def _first_notes(notes: list[str], most: int = 3) -> list[str]:
    return (
        [*notes[:most], f"and {len(notes) - most} more like these (--json tells all)"] if len(notes) > most else notes
    )
