"""`understudy skin`: fit deformers to examples, compare and export them, and bind meshes automatically."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options

if TYPE_CHECKING:
    from understudy.character import Asset, Character
    from understudy.deform.comparison import Comparison
    from understudy.deform.examples import Examples
    from understudy.deform.skin import AutomaticSkin

HEAT_MAP_PIXELS = (420, 320)  # width, height

DEFORMER_ENDINGS = (".understudy", ".npz")

frames = click.option(
    "--frames", type=click.IntRange(2, 400), metavar="N", help="Use at most N poses, evenly spread; 400 by default."
)
seed = click.option("--seed", type=click.IntRange(0), default=0, show_default=True, help="For methods that use chance.")


@click.group(name="skin", short_help="Fit and compare deformers, or bind a mesh by itself.")
def command() -> None:
    """Fit deformers to examples, compare them, or bind a mesh automatically.

    EXAMPLES is an .npz, a character with animations (.glb, .usda, or a built-in one by its name), a folder of OBJ
    files, one a frame, or built-in ground truth: arm or cylinder.
    """


@command.command(name="compare")
@click.argument("examples")
@options.output(help="The folder for the report: index.html, report.json, table.csv.")
@click.option("--method", "methods", multiple=True, metavar="NAME", help="Only this one; may be given several times.")
@click.option(
    "--hold-out",
    type=options.Finite(0.01, 0.9),
    default=0.25,
    show_default=True,
    metavar="SHARE",
    help="The share of the clips, or poses, that is kept for measuring.",
)
@click.option(
    "--by",
    type=click.Choice(["clip", "pose"]),
    default="clip",
    show_default=True,
    help="Hold out whole clips, or poses between the others.",
)
@click.option(
    "--truth",
    metavar="METHOD",
    help="Take this method without a fit, such as delta-mush, on the character's weights as the truth.",
)
@frames
@seed
@click.option(
    "--azimuth",
    type=options.Finite(),
    default=30.0,
    show_default=True,
    metavar="DEGREES",
    help="From where the heat maps are seen.",
)
@click.option("--pictures/--no-pictures", default=True, help="Draw heat maps.")
@options.as_json
@options.quiet
def compare_command(
    examples: str,
    output: str,
    methods: tuple[str, ...],
    hold_out: float,
    by: str,
    truth: str | None,
    frames: int | None,
    seed: int,
    azimuth: float,
    pictures: bool,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit every method to some clips of EXAMPLES, measure it on the others, and write a report.

    The first row is doing nothing: the weights that the character has, or automatic ones. Methods that are worse on
    clips that they were not fitted to are marked; four that are on some truth take part only when they are named.
    """
    from understudy.deform import report
    from understudy.deform.comparison import compare_skins
    from understudy.deform.deformer import method_class

    for name in (*methods, *([truth] if truth else [])):
        method_class(name)  # an unknown one is refused before anything is read
    report.check_place(Path(output))
    silent = quiet or as_json
    found, notes = read_examples(examples, frames, silent)
    if truth is not None:
        found = found.with_vertices(method_class(truth).fit(found, seed=seed).deform(found.transforms))
        notes.append(f"the truth is {truth} on the weights of the file; methods of its kind can only win")
    if by == "clip" and len(set(found.clips)) < 2:
        notes.append("these examples are no clips, so that poses between the others are held out")
    if not as_json:
        options.echo_notes(notes, quiet)
    with options.progress("comparing", silent) as progress:
        result = compare_skins(
            found, methods, hold_out, seed, report=lambda name, done, total: progress(done, total), by=by
        )
    drawn = heat_maps(result, math.radians(azimuth), silent) if pictures else {}
    report.write_report(result, output, Path(examples).stem, drawn, notes)
    if as_json:
        options.echo_json({"output": output, "examples": examples, "methods": result.rows(), "notes": notes})
    else:
        click.echo(result.table())
        if not quiet:
            click.echo(f"{Path(output) / 'index.html'}", err=True)


@command.command(name="fit")
@click.argument("source", metavar="[CHARACTER] EXAMPLES")
@click.argument("examples", required=False, metavar="")
@options.output(help="skinned.understudy for the character with its deformer; x.glb, x.fbx for corrective shapes.")
@click.option("--method", required=True, metavar="NAME", help="Which deformer; `skin methods` lists them.")
@click.option(
    "--set", "changes", multiple=True, metavar="KEY=VALUE", help="A setting of the method; may be given several times."
)
@click.option(
    "--shapes", type=click.IntRange(0, 256), default=32, show_default=True, help="At most so many corrective shapes."
)
@frames
@seed
@options.as_json
@options.quiet
def fit_command(
    source: str,
    examples: str | None,
    output: str,
    method: str,
    changes: tuple[str, ...],
    shapes: int,
    frames: int | None,
    seed: int,
    as_json: bool,
    quiet: bool,
) -> None:
    """Fit one method to all poses of EXAMPLES, as a part of CHARACTER.

    CHARACTER is a file with the joints and vertices of EXAMPLES; without it EXAMPLES is the character itself, where it
    has one. Everything that plays the character then plays the deformer: render, bake, perform, the studio. Other
    formats get the character with all its clips, and the deformer as corrective shapes keyed on every frame.
    """
    from understudy import formats
    from understudy.character import Asset
    from understudy.deform.playable import FORMATS_WITH_SHAPES, asset_of_examples, make_playable
    from understudy.deform.skin import Skin
    from understudy.errors import Unsupported

    ending = formats.ending_of(output)
    if ending not in (*DEFORMER_ENDINGS, *FORMATS_WITH_SHAPES):
        able = ", ".join((*DEFORMER_ENDINGS, *FORMATS_WITH_SHAPES))
        raise Unsupported(output, f"a deformer is not written as {ending or 'this'}; written are: {able}")
    skin = Skin(method, seed=seed)
    skin = Skin(method, seed=seed, **(settings_from(type(skin.method_settings), changes) or {}))
    silent = quiet or as_json
    asset = options.open_input(source) if examples is not None or is_character(source) else None
    character = _with_mesh(asset, None) if asset is not None and ending != ".npz" else None
    still = character.shapes if character is not None else {}
    found, notes = read_examples(examples or source, frames, silent, still)
    if still:
        notes.append("the shapes of the character are at rest in the examples, and play on top of the deformer")
    with options.progress(f"fitting {method}", silent, counted=False) as progress:
        skin.fit(found, progress)
    facts: dict[str, Any] = {"output": output, "method": method, "poses": len(found)}
    facts |= fit_errors(skin.deformer_, found)
    if character is not None and asset is not None:
        skinned = skin.attach_to(character)
        characters = [skinned if one is character else one for one in asset.characters]
        asset = Asset(characters, asset.clips, asset.curves, (), asset.format)
    elif ending in FORMATS_WITH_SHAPES:
        asset, more = asset_of_examples(skin.deformer_, found, Path(output).stem)
        notes += more
    if ending in FORMATS_WITH_SHAPES:
        assert asset is not None
        with options.progress("keying corrective shapes", silent) as progress:
            played = make_playable(asset, shapes, progress=progress)
        notes = [*notes, *played.notes, *formats.write(played.asset, output)]
        facts |= {"shapes": played.shapes, "frames": played.frames}
        facts |= {"shapes_rms_mm": 1000 * played.rms, "shapes_worst_mm": 1000 * played.worst, "loss": played.loss}
    elif character is not None and asset is not None:
        notes += formats.write(asset, output)
    else:
        skin.save(output)
    if as_json:
        options.echo_json({**facts, "notes": notes})
        return
    options.echo_notes(notes, quiet)
    click.echo(
        f"{method}: rms {facts['rms_mm']:.4g} mm, worst {facts['worst_mm']:.4g} mm over the {len(found)} poses that it "
        "was fitted to; `skin compare` measures others"
    )
    if "loss" in facts:
        click.echo(f"{output}: {facts['loss']}")


def is_character(source: str) -> bool:
    """Whether examples are a character in a file or of the cast, and not arrays, a folder or built-in truth."""
    from understudy.deform.example_files import BUILT_IN_SOURCES

    path = Path(source)
    return not path.is_dir() and path.suffix.lower() != ".npz" and (path.exists() or source not in BUILT_IN_SOURCES)


@command.command(name="decompose")
@click.argument("sequence")
@options.output(help="The skinned character with its animation: rig.glb, rig.fbx.")
@click.option("--bones", type=click.IntRange(1, 256), metavar="N", help="Number of bones; found by default.")
@click.option("--influences", type=click.IntRange(1, 16), default=4, show_default=True, help="Bones a vertex.")
@click.option("--hierarchy/--flat", default=True, show_default=True, help="Tie the bones into a skeleton, or not.")
@click.option(
    "--rate",
    type=options.Finite(0.1, 1000),
    default=24.0,
    show_default=True,
    metavar="FPS",
    help="Frames a second of the sequence.",
)
@frames
@options.as_json
@options.quiet
def decompose_command(
    sequence: str,
    output: str,
    bones: int | None,
    influences: int,
    hierarchy: bool,
    rate: float,
    frames: int | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Find bones, weights and motion of a mesh SEQUENCE (.npz, a folder of OBJ files, or a file with animations)."""
    from dataclasses import replace

    import numpy as np

    from understudy import formats
    from understudy.character import Asset
    from understudy.deform import example_files
    from understudy.deform.methods.linear import LinearSkin
    from understudy.deform.playable import asset_of_examples

    settings: dict[str, object] = {"influences": influences, **({} if bones is None else {"bones": bones})}
    with options.progress(f"decomposing {sequence}", quiet or as_json, counted=False) as progress:
        rest, triangles, meshes, notes = example_files.read_sequence(sequence, frames, progress)
        found, more = example_files.examples_from_meshes(rest, triangles, meshes, progress, settings, hierarchy)
    skin = LinearSkin.from_artist_weights(found)
    made, lost = asset_of_examples(skin, found, Path(output).stem, "sequence", rate)
    plain = Asset([replace(made.character(), deformer=None)], made.clips)
    notes = [*notes, *more, *lost, *formats.write(plain, output)]
    error = np.linalg.norm(skin.deform(found.transforms) - found.vertices, axis=-1)
    facts = {
        "output": output,
        "bones": len(found.names),
        "frames": len(found),
        "rms_mm": 1000 * float(np.sqrt((error**2).mean())),
        "worst_mm": 1000 * float(error.max()),
        "rms_percent": 100 * float(np.sqrt((error**2).mean())) / found.size,
    }
    if as_json:
        options.echo_json({**facts, "notes": notes})
        return
    options.echo_notes(notes, quiet)
    click.echo(
        f"{facts['bones']} bones, {facts['frames']} frames: rms {facts['rms_mm']:.4g} mm "
        f"({facts['rms_percent']:.2g} %), worst {facts['worst_mm']:.4g} mm from the sequence -> {output}"
    )


@command.command(name="auto")
@click.argument("mesh")
@options.output(help="The rigged character, as in rigged.glb.")
@click.option(
    "--template",
    metavar="NAME",
    help="Make a new skeleton: biped, quadruped, bird, fish or lamp; the best of them for a mesh without one.",
)
@options.placing
@click.option("--influences", type=click.IntRange(1, 16), default=4, show_default=True, help="Joints a vertex.")
@click.option("--all-parts", is_flag=True, help="Bind parts that hang rigidly on a joint as well.")
@options.character
@options.as_json
@options.quiet
def auto_command(
    mesh: str,
    output: str,
    template: str | None,
    placing: dict[str, Any],
    influences: int,
    all_parts: bool,
    character: str | None,
    as_json: bool,
    quiet: bool,
) -> None:
    """Give MESH weights for the skeleton that it has, or a skeleton and weights where it has none."""
    from understudy import formats
    from understudy.deform.skin import automatic_asset, skin_automatically

    asset = options.open_input(mesh, **placing)
    facing = "+z" if placing["facing"] else None  # which is where it was turned to
    source = _with_mesh(asset, character)
    with options.progress("binding", quiet or as_json, counted=False) as progress:
        found = skin_automatically(source, template, facing, influences, all_parts, progress)
    notes = [*asset.notes, *found.notes, *formats.write(automatic_asset(asset, found, source), output)]
    facts = {"output": output, **binding_facts(found), "notes": notes}
    if as_json:
        options.echo_json(facts)
        return
    options.echo_notes(notes, quiet)
    click.echo(binding_sentence(facts))


@command.command(name="methods")
@options.as_json
def methods_command(as_json: bool) -> None:
    """List the deformers."""
    from understudy.deform import deformer
    from understudy.deform.comparison import METHODS_ON_REQUEST

    known = {name: deformer.method_class(name) for name in deformer.METHODS}
    if as_json:
        options.echo_json([{"method": name, "paper": kind.paper} for name, kind in known.items()])
        return
    for name, kind in known.items():
        asked = (
            "  (worse than doing nothing on some new clips; compared by name only)"
            if name in METHODS_ON_REQUEST
            else ""
        )
        click.echo(f"{name:<22} {kind.paper}{asked}")


def read_examples(
    source: str, frames: int | None, quiet: bool, still: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> tuple[Examples, list[str]]:
    """Examples and notes, with a bar while they are read or solved; shapes of `still` are at rest in them."""
    from understudy.deform import example_files

    with options.progress(f"reading {source}", quiet, counted=False) as progress:
        return example_files.read(source, frames, progress, still)


def heat_maps(result: Comparison, azimuth: float, quiet: bool) -> dict[str, bytes]:
    """A PNG of each method in one pose, and of the truth under ""."""
    import io

    import numpy as np
    from PIL import Image

    from understudy.deform.report import heat_scale, pose_of_pictures
    from understudy.render import open_renderer
    from understudy.render.overlay import comparison_view, heat_picture

    measured = [(entry, entry.deformer) for entry in result.valid_results]
    if not measured:
        return {}
    most = heat_scale(result)
    pictures: dict[str, bytes] = {}
    with (
        open_renderer(*HEAT_MAP_PIXELS, "warm", supersample=2) as renderer,
        options.progress("drawing", quiet) as progress,
    ):

        def draw(name: str, vertices: Any, errors: Any, camera: Any, stage: Any) -> None:
            picture = heat_picture(renderer, camera, stage, vertices, result.held.triangles, errors, most)
            stream = io.BytesIO()
            Image.fromarray(picture).save(stream, format="PNG", optimize=True)
            pictures[name] = stream.getvalue()

        pose = pose_of_pictures(result)
        truth = result.held.vertices[pose]
        camera, stage = comparison_view([truth], HEAT_MAP_PIXELS[0] / HEAT_MAP_PIXELS[1], azimuth, math.radians(14.0))
        draw("", truth, np.zeros(len(truth)), camera, stage)
        for done, (entry, deformer) in enumerate(measured):
            assert deformer is not None  # `measured` has only these
            found = deformer.deform(result.held.transforms[pose])
            draw(entry.method, found, np.linalg.norm(found - truth, axis=1), camera, stage)
            progress(done + 1, len(measured))
    return pictures


def settings_from(kind: type, changes: tuple[str, ...]) -> dict[str, Any] | None:
    """The settings of KEY=VALUE arguments: numbers, yes and no, or text, checked against the method's settings."""
    import dataclasses

    from understudy import checks

    known = {field.name: field for field in dataclasses.fields(kind)}
    result: dict[str, Any] = {}
    for change in changes:
        key, sign, value = change.partition("=")
        if not sign:
            raise click.UsageError(f"--set takes KEY=VALUE, but was given {change!r}")
        checks.one_of(key, "setting", known)
        result[key] = _value(key, value, known[key].default)
    return result or None


def _value(key: str, text: str, like: Any) -> Any:
    words = {"yes": True, "true": True, "no": False, "false": False, "none": None}
    if text.lower() in words:
        return words[text.lower()]
    try:
        number = float(text)
    except ValueError:
        if isinstance(like, str) or like is None:
            return text
        raise click.UsageError(f"setting {key} should be like {like}, but is {text!r}") from None
    if not math.isfinite(number):
        raise click.UsageError(f"setting {key} should be finite, but is {text}")
    return int(number) if number == int(number) and not isinstance(like, float) else number


def fit_errors(deformer: Any, examples: Examples) -> dict[str, float]:
    """The error of a deformer on its training examples, mm."""
    import numpy as np

    distance = np.linalg.norm(deformer.deform(examples.transforms) - examples.vertices, axis=-1)
    return {"rms_mm": 1000 * float(np.sqrt((distance**2).mean())), "worst_mm": 1000 * float(distance.max())}


def _with_mesh(asset: Asset, name: str | None) -> Character:
    if name is not None:
        return asset.character(name)
    return next((each for each in asset.characters if each.vertex_count), asset.character())


def binding_facts(found: AutomaticSkin) -> dict[str, Any]:
    """The facts of an automatic binding, for --json."""
    import numpy as np

    from understudy.deform.rigging.heat_weights import WEIGHT_SOURCES

    ways = {way: int((found.weights.way == i).sum()) for i, way in enumerate(WEIGHT_SOURCES)}
    fallback = {
        way: np.flatnonzero(found.weights.way == i).tolist() for i, way in enumerate(WEIGHT_SOURCES) if i and ways[way]
    }
    facts: dict[str, Any] = {"vertices": ways, "fallback_vertices": fallback, "idle_joints": found.weights.idle}
    if found.rig is not None:
        trust = found.rig.confidence
        facts["rig"] = {
            "template": found.rig.template,
            "facing": found.rig.facing,
            "confidence": round(trust.overall, 3),
            "inside": round(trust.inside, 3),
            "covered": round(trust.covered, 3),
            "likeness": round(trust.likeness, 3),
            "distinct": round(trust.distinct, 3),
            "standing": round(trust.standing, 3),
            "joints": {name: round(float(value), 3) for name, value in zip(found.rig.names, trust.joints)},
        }
    return facts


def binding_sentence(facts: dict[str, Any]) -> str:
    """An automatic binding in one sentence."""
    ways = facts["vertices"]
    rig = facts.get("rig")
    lead = f"{rig['template']} facing {rig['facing']}, confidence {rig['confidence']:.2f}; " if rig else ""
    others = ", ".join(f"{count} {way}" for way, count in ways.items() if count and way != "heat")
    return f"{lead}{sum(ways.values())} vertices weighted{f' ({others})' if others else ''} -> {facts['output']}"
