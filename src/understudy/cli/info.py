"""`understudy info`: the content of a file, and what its reader dropped or changed; also the facts of a model."""

from __future__ import annotations

from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from understudy.cli import options
from understudy.errors import UnderstudyError
from understudy.perform.pose_model import is_model, open_model

if TYPE_CHECKING:
    from understudy.character import Asset, Character, Clip, Controls, Curves
    from understudy.character.asset import Avatar
    from understudy.perform.model import PerformanceModel


MIN_HUMAN_JOINTS = 10  # hips, and two of each limb: a body with fewer is not looked at for human bones


@click.command(name="info", short_help="Say what is in a file, and what was dropped.")
@click.argument("input")
@click.option("--controls", is_flag=True, help="List each control of a layered character: range, rest, what it does.")
@options.as_json
@options.quiet
@options.placing
@options.skeleton
@options.source_format
def command(
    input: str,
    controls: bool,
    as_json: bool,
    quiet: bool,
    placing: dict[str, Any],
    skeleton: str | None,
    source_format: str | None,
) -> None:
    """What is in INPUT: characters, clips, and what was dropped; of a model its labels with kinds, bridges, poses."""
    if is_model(input):
        _model(input, as_json, quiet)
        return
    paths = options.inputs(input)
    if paths == [input]:
        asset = options.open_input(input, source_format, skeleton=skeleton, **placing)
        if as_json:
            options.echo_json(summary(asset, controls))
        else:
            _show(input, summary(asset, controls), quiet)
        return
    rows, failures = [], 0
    for path in paths:
        try:
            asset = options.open_input(path, many=True, skeleton=skeleton, **placing)
            row = {"file": path, **summary(asset, controls)}
        except UnderstudyError as error:
            failures += 1
            row = {"file": path, "error": str(error)}
            click.echo(f"error: {error}", err=True)
        rows.append(row)
        if not as_json and "error" not in row:
            _show(path, row, quiet)
    if as_json:
        options.echo_json(rows)
    if failures:
        raise click.exceptions.Exit(1)


def _face_graph(path: str, as_json: bool) -> None:
    from understudy.cli import express

    facts = {"format": "face graph"} | express.graph_facts(express.open_graph(path))
    if as_json:
        options.echo_json(facts)
        return
    click.echo(f"{path} (face graph of {facts['takes']} takes, {facts['bytes'] / 1024:.0f} KB, {facts['rate']:g} fps)")
    for line in express.graph_table(facts):
        click.echo(line)


def _other_learnt(path: str, header: dict[str, Any], as_json: bool) -> None:
    """A retargeter or a skin, from the header of its file."""
    told = {"format": header["kind"], "bytes": Path(path).stat().st_size, "settings": header.get("settings", {})}
    if header["kind"] == "skin":
        told["method"] = header["method"]
        about = f"{header['method']} skin"
    else:
        body = header["target"]
        told |= {"character": body["name"], "pairs": len(header["pairs"]), "markers": len(body["markers"])}
        about = f"retargeter to {body['name']}, {told['pairs']} pose pairs"
    if as_json:
        options.echo_json(told)
        return
    click.echo(f"{path} ({about}, {told['bytes'] / 1024:.0f} KB)")


def _model(path: str, as_json: bool, quiet: bool) -> None:
    from understudy import storage

    header = storage.read_header(path)
    if header.get("kind") == "face graph":
        _face_graph(path, as_json)
        return
    if header.get("kind") in ("retargeter", "skin"):
        _other_learnt(path, header, as_json)
        return
    opened = open_model(path)
    facts: dict[str, Any] = {"format": "model", "character": opened.character.name, "bytes": Path(path).stat().st_size}
    facts |= model_facts(opened.model)
    if as_json:
        options.echo_json(facts)
        return
    size = f"{facts['bytes'] / 1e6:.1f} MB"
    click.echo(f"{path} (model of {facts['character']}, {facts['features']} features, {size})")
    for line in model_table(facts):
        click.echo(line)
    for row in facts["labels"]:
        if row["clips"] != [row["label"]]:
            click.echo(f"  clips of {row['label']}: {_shorten_names(row['clips'])}")
    if facts["poses"]:
        click.echo(f"  poses ({len(facts['poses'])}): {_shorten_names(facts['poses'], 40)}")
    if not quiet:
        for note in facts["notes"]:
            click.echo(f"  note: {note}")


def model_facts(model: PerformanceModel) -> dict[str, Any]:
    """The facts of a model, ready for JSON."""
    from understudy.perform.behaviours import ACT, CYCLE, MIN_SURE

    rows = []
    for label, space in model.spaces.items():
        segment, behaviour = model.label_behaviour(label)
        bridges = [pair for pair in model.bridges if label in (pair.first, pair.second)]
        row: dict[str, Any] = {"label": label, "kind": behaviour.kind, "certainty": round(behaviour.certainty, 2)}
        if behaviour.kind == CYCLE:
            row |= {"period": round(behaviour.period, 3)}
        elif behaviour.kind == ACT:
            row |= {"returns": behaviour.returns, "stays": behaviour.stays}
        if behaviour.kind in (CYCLE, ACT):
            row |= {"plays": segment.clip, "speed": behaviour.speed}
        row |= {
            "clips": [segment.clip for segment in space.segments],
            "frames": len(space),
            "seconds": round(len(space) / space.rate, 3),
            "dimensions": int(space.mapping.outputs),
            "bridges": sum(len(pair) for pair in bridges if not pair.wide),
            "nearest_gap": round(min(float(pair.gaps.min()) for pair in bridges), 6) if bridges else None,
        }
        rows.append(row)
    return {
        "labels": rows,
        "rate": model.rate,
        "latent_dimensions": int(next(iter(model.spaces.values())).mapping.dimensions),
        "features": len(model.encoder.names),
        "poses": list(model.poses),
        "unsure": [row["label"] for row in rows if row["certainty"] < MIN_SURE],
        "routes": _routes(model),
        "notes": list(model.notes),
    }


def model_table(row: dict[str, Any]) -> list[str]:
    """The lines of a model's table: its labels with their kinds, then those that are not sure, then the routes."""
    width = max([5, *(len(each["label"]) for each in row["labels"])])
    lines = [f"  {'label':<{width}}  kind   frames  clips  seconds  dims  bridges"]
    for each in row["labels"]:
        lines.append(
            f"  {each['label']:<{width}}  {each['kind']:<5}  {each['frames']:6d}  {len(each['clips']):5d}"
            f"  {each['seconds']:7.1f}  {each['dimensions']:4d}  {each['bridges']:7d}{_after(each)}"
        )
    if row["unsure"]:
        doubts = [each for each in row["labels"] if each["label"] in row["unsure"]]
        listed = ", ".join(f"{each['label']} ({each['kind']}, {each['certainty']:.0%})" for each in doubts)
        lines.append(f"  not sure of the kind of {listed}; a library file can tell it under [behaviours]")
    routes = row["routes"]
    direct, over, wide = routes["direct"], routes["over_others"], len(routes["wide"])
    if direct + over + wide:
        lines.append(f"  ways between moods: {direct} direct, {over} over other labels, {wide} without a near pose")
    if routes["wide"]:
        pairs = ", ".join(f"{a}-{b}" for a, b in routes["wide"][:6])
        more = f" and {wide - 6} more" if wide > 6 else ""
        lines.append(f"  without a near pose, so that the change is seen: {pairs}{more}")
    return lines


def _after(row: dict[str, Any]) -> str:
    """What follows the act of a label, where it does not return to where it came from."""
    if row.get("stays"):
        return "  stays"
    return f"  then {row['returns']}" if row.get("returns") else ""


def _routes(model: PerformanceModel) -> dict[str, Any]:
    """Pairs of labels that are hovered in: with a direct bridge, with a route over others, and with a wide bridge."""
    routes = {(pair.first, pair.second): model.route(pair.first, pair.second) for pair in model.bridges}
    wide = [list(pair) for pair, route in routes.items() if any(bridges.wide for bridges in route)]
    direct = sum(len(route) == 1 and not route[0].wide for route in routes.values())
    return {"direct": direct, "over_others": len(routes) - direct - len(wide), "wide": wide}


def summary(asset: Asset, each_control: bool = False) -> dict[str, Any]:
    """The facts of an asset, ready for JSON. If one character has controls, their number is also at the top level."""
    layered = [character.layers.controls for character in asset.characters if character.layers is not None]
    return {
        "format": asset.format,
        **({"controls": len(layered[0])} if len(layered) == 1 else {}),
        "characters": [_character(character, each_control) for character in asset.characters],
        "clips": [_clip(animation) for animation in asset.animations],
        "notes": list(asset.notes),
    }


def _character(character: Character, each_control: bool) -> dict[str, Any]:
    shapes = dict.fromkeys(name for names in character.shapes.values() for name in names)
    facts = {
        "name": character.name,
        "joints": len(character.joints),
        "vertices": character.vertex_count,
        "triangles": len(character.triangles),
        **({"height": height(character)} if character.vertex_count else {}),
        "shapes": list(shapes),
        **_surface_facts(character),
        **_facing_facts(character),
        **_bone_facts(character),
        **({} if character.deformer is None else {"deformer": getattr(character.deformer.deformer, "name", "other")}),
        **({"avatar": _avatar_facts(character.avatar)} if character.avatar is not None else {}),
    }
    if character.layers is None:
        return facts
    controls = character.layers.controls
    return {
        **facts,
        "shapes": list(character.layers.shapes.names),
        "controls": len(controls),
        "controls_by_region": dict(Counter(controls.regions)),
        "controls_by_layer": dict(Counter(controls.layers)),
        **({"control_list": _control_facts(controls)} if each_control else {}),
    }


def _surface_facts(character: Character) -> dict[str, Any]:
    """Names of materials, and of the pictures on them with their kind."""
    materials = [material for part in character.parts for material in part.mesh.materials]
    images = [texture.image for material in materials for texture in material.textures.values()]
    pictures = dict.fromkeys(f"{image.name} ({image.mime.rpartition('/')[2]})" for image in images)
    return {"materials": list(dict.fromkeys(material.name for material in materials)), "textures": list(pictures)}


def _facing_facts(character: Character) -> dict[str, Any]:
    """Which way the character stands and looks at rest, and what told it."""
    from understudy.character.body.bone_names import find_facing
    from understudy.character.rig import rig_of

    facing = find_facing(rig_of(character))
    return {"up": facing.up, "facing": facing.forward, "facing_by": list(facing.evidence)}


def _bone_facts(character: Character) -> dict[str, Any]:
    """Which joints are which bones of a human body, where it has some; `transfer` needs no pose pairs then."""
    from understudy.transfer.bone_map import bone_map
    from understudy.transfer.by_bones import map_report

    if character.layers is not None or len(character.joints) < MIN_HUMAN_JOINTS:
        return {}
    found = bone_map(character)
    return {"bone_map": {**map_report(found), "lines": found.lines() if not found.missing else []}}


def _avatar_facts(avatar: Avatar) -> dict[str, Any]:
    """What VRM says of a character."""
    return {
        "version": avatar.version,
        "title": avatar.title,
        "bones": dict(avatar.bones),
        "expressions": [expression.name for expression in avatar.expressions],
        "look_at": avatar.look_at,
        "springs": [[link.joint for link in spring.joints] for spring in avatar.springs],
        "constraints": {joint: constraint.source for joint, constraint in avatar.constraints.items()},
    }


def height(character: Character) -> float:
    """Metres from the lowest vertex to the highest, at rest."""
    import numpy as np

    from understudy.character.rig import DirectRig

    if character.layers is not None:  # its meshes are in world space
        return round(float(np.ptp(np.concatenate([part.mesh.vertices[:, 1] for part in character.parts]))), 4)
    rig = DirectRig(character)
    return round(float(np.ptp(rig.vertices(rig.rest[None])[0, :, 1])), 4)


def _control_facts(controls: Controls) -> list[dict[str, Any]]:
    columns = zip(
        *(controls.names, controls.regions, controls.layers, controls.units),
        *(controls.low.tolist(), controls.rest.tolist(), controls.high.tolist(), controls.about),
    )
    keys = ("name", "region", "layer", "unit", "low", "rest", "high", "about")
    return [dict(zip(keys, row)) for row in columns]


def _clip(animation: Clip | Curves) -> dict[str, Any]:
    return {
        "name": animation.name,
        "duration": round(animation.duration, 6),
        "rate": animation.rate,
        "frames": animation.frame_count,
        "channels": len(animation.channels),
        "labels": list(animation.labels),
        "about": animation.about,
        "moments": {name: round(time, 6) for name, time in animation.moments.items()},
    }


def _show(name: str, facts: dict[str, Any], quiet: bool) -> None:
    click.echo(f"{name} ({facts['format']})")
    for character in facts["characters"]:
        joints = f"{character['joints']} joint{'s' * (character['joints'] != 1)}"
        tall = f", {character['height']:.3g} m tall" if "height" in character else ""
        line = f"{joints}, {character['vertices']:,} vertices, {character['triangles']:,} triangles{tall}"
        click.echo(f"  character {character['name']}: {line}")
        if "deformer" in character:
            click.echo(f"    moved by the deformer {character['deformer']}")
        told = ", ".join(character["facing_by"]) or "assumed"
        click.echo(f"    stands along {character['up']}, looks along {character['facing']} ({told})")
        if "bone_map" in character:
            missing = character["bone_map"]["missing"]
            click.echo("    human bones:" if not missing else f"    no human body: it lacks {', '.join(missing)}")
            for line in character["bone_map"]["lines"]:
                click.echo(f"      {line}")
        if character["shapes"]:
            click.echo(f"    shapes ({len(character['shapes'])}): {_shorten_names(character['shapes'])}")
        for what in ("materials", "textures"):
            if character[what]:
                click.echo(f"    {what} ({len(character[what])}): {_shorten_names(character[what])}")
        if "avatar" in character:
            _show_avatar(character["avatar"])
        if "controls" in character:
            _show_controls(character)
    width = max((len(clip["name"]) for clip in facts["clips"]), default=0)
    for clip in facts["clips"]:
        labels = f"  [{', '.join(clip['labels'])}]" if clip["labels"] else ""
        timing = f"{clip['duration']:8.3f} s  {clip['frames']:5d} frames at {clip['rate']:g} fps"
        about = f"  {clip['about']}" if clip["about"] else ""
        click.echo(f"  clip {clip['name']:<{width}}  {timing}  {clip['channels']} channels{labels}{about}")
    if not quiet:
        for note in facts["notes"]:
            click.echo(f"  note: {note}")


def _show_avatar(avatar: dict[str, Any]) -> None:
    title = f" {avatar['title']!r}" if avatar["title"] else ""
    click.echo(f"    VRM {avatar['version']}{title}: {len(avatar['bones'])} humanoid bones")
    if avatar["expressions"]:
        click.echo(f"    expressions ({len(avatar['expressions'])}): {_shorten_names(avatar['expressions'], 20)}")
    facts = [f"looks by {avatar['look_at']}"] if avatar["look_at"] else []
    facts += [f"{len(avatar['springs'])} spring chains"] if avatar["springs"] else []
    facts += [f"{len(avatar['constraints'])} constraints"] if avatar["constraints"] else []
    if facts:
        click.echo(f"    {', '.join(facts)}")


def _show_controls(character: dict[str, Any]) -> None:
    for what in ("layer", "region"):
        counts = ", ".join(f"{name} {count}" for name, count in character[f"controls_by_{what}"].items())
        click.echo(f"    controls ({character['controls']}) by {what}: {counts}")
    rows = character.get("control_list", [])
    width = max((len(row["name"]) for row in rows), default=0)
    for row in rows:
        limits = f"{row['low']:6g} .. {row['rest']:g} .. {row['high']:<6g}"
        click.echo(f"      {row['name']:<{width}}  {limits:<22} {row['unit']:<8} {row['region']:<8} {row['about']}")


def _shorten_names(names: list[str], most: int = 12) -> str:
    more = f", and {len(names) - most} more" if len(names) > most else ""
    return ", ".join(names[:most]) + more
