"""Curves as plain text, exactly: keys, free handles, Euler angles, controls, and extrapolation beyond the keys.

The format is described in docs/formats.md. Numbers are written so that reading gives the same bits. It holds no
characters; dense clips are written as linear keys on every frame.

    {"format": "understudy curves", "version": 1, "animations": [{"name": "walk", "rate": 30.0, "curves": [
      {"target": "Hips", "kind": "translation", "columns": ["x", "y", "z"], "times": [0.0, 0.5],
       "values": [[0.0, 1.0, 0.0], [0.0, 1.1, 0.2]], "segments": "bezier",
       "before": [[[0.0, 0.0], ...], ...], "after": ..., "extrapolation": ["hold", "hold"]}]}]}
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

from understudy import files
from understudy.character import Asset, Channel, Clip, Curve, Curves
from understudy.character.curve import BEZIER, LINEAR, STEP
from understudy.checks import LARGEST_NUMBER, Array
from understudy.errors import BadFile, InvalidInput, Unsupported
from understudy.formats.gltf.json_object import JsonObject, format_value, printable

FORMAT_NAME, FORMAT_VERSION = "understudy curves", 1
SEGMENTS = {"step": STEP, "linear": LINEAR, "bezier": BEZIER}
SEGMENT_NAMES = {number: name for name, number in SEGMENTS.items()}
# Bytes. Parsed JSON takes up to sixteen times the memory of its text, so this stays below a gigabyte. A minute of sixty
# joints with a key on every second frame has a third of it.
MAX_FILE_BYTES = 64 << 20
KNOWN_KEYS = {
    "animation": {"name", "rate", "labels", "about", "moments", "curves"},
    "curve": {"target", "kind", "columns", "times", "values", "segments", "before", "after", "extrapolation", "fitted"},
}


def read(path: str | Path) -> Asset:
    """The animations of a file."""
    path = Path(path)
    root = JsonObject(path, _parse(path), ())
    if root.value.get("format") != FORMAT_NAME:
        other = format_value(root.value.get("format"))
        raise BadFile(path, f"should hold curves of understudy (format {FORMAT_NAME!r}), but format is {other}")
    version = root.integer("version", low=1)
    if version > FORMAT_VERSION:
        raise Unsupported(
            path, f"is version {version} of the format, but only version {FORMAT_VERSION} is read", "version"
        )
    unknown: set[str] = set()
    animations = [_animation(entry, unknown) for entry in root.children("animations")]
    notes = [f"fields that understudy does not know were left out: {', '.join(sorted(unknown))}"] if unknown else []
    return Asset(curves=animations, notes=notes)


def _parse(path: Path) -> Any:
    def refuse(constant: str) -> Any:
        raise ValueError(f"{constant} is not a number in JSON")

    text = files.read_text(path, MAX_FILE_BYTES)
    try:
        return json.loads(text, parse_constant=refuse)
    except json.JSONDecodeError as error:
        raise BadFile(path, f"is not valid JSON: {error.msg}", f"line {error.lineno} column {error.colno}") from None
    except (ValueError, RecursionError) as error:
        reason = "it is nested too deeply" if isinstance(error, RecursionError) else str(error).partition(";")[0]
        raise BadFile(path, f"is not valid JSON: {reason}") from None


def _animation(entry: JsonObject, unknown: set[str]) -> Curves:
    unknown |= {f"{name!r}" for name in entry.value.keys() - KNOWN_KEYS["animation"]}
    curves = [_curve(child, unknown) for child in entry.children("curves")]
    moments = entry.child("moments")
    times = {printable(name): moments.number(name) for name in moments.value}
    labels = [printable(label) for label in entry.names("labels")]
    name, about, rate = entry.text("name", "animation"), entry.text("about"), entry.number("rate", None)
    try:
        return Curves(name, curves, labels, rate, about, times)
    except InvalidInput as error:
        raise entry.bad("", str(error)) from None


def _curve(entry: JsonObject, unknown: set[str]) -> Curve:
    unknown |= {f"{name!r}" for name in entry.value.keys() - KNOWN_KEYS["curve"]}
    target, kind = entry.text("target"), entry.text("kind", default=None)
    if kind is None:
        raise entry.bad("kind", "is missing, but should say what the curve moves, for example 'rotation'")
    columns = tuple(printable(column) for column in entry.names("columns"))
    times = _numbers(entry, "times", 1)
    if times is None:
        raise entry.bad("times", "is missing, but should be a list of seconds")
    values = _numbers(entry, "values", 2)
    if values is None:
        raise entry.bad("values", "is missing, but should hold a list of numbers for each key")
    beyond = entry.names("extrapolation") or ["hold", "hold"]
    if len(beyond) != 2:
        raise entry.bad("extrapolation", f"should be two words, before and after the keys, but has {len(beyond)}")
    segments = _segments(entry)
    try:
        channel = Channel(target, kind, columns)
        before, after = (_numbers(entry, key, 3) for key in ("before", "after"))
        fitted = _fitted(entry, len(times))
        return Curve(channel, times, values, segments, before, after, (beyond[0], beyond[1]), fitted)
    except (InvalidInput, ValueError) as error:  # NumPy's own where the number of segments does not fit
        reason = str(error) if isinstance(error, InvalidInput) else "should have one segment fewer than keys"
        raise entry.bad("" if isinstance(error, InvalidInput) else "segments", reason) from None


def _fitted(entry: JsonObject, keys: int) -> Any:
    """Which keys were placed by a fitter: true for all, or a list with true or false for each key."""
    given = entry.value.get("fitted", False)
    flags = given if isinstance(given, list) else [given] * keys
    if len(flags) != keys or not all(isinstance(flag, bool) for flag in flags):
        raise entry.bad("fitted", f"should be true, false, or a list of {keys} of them, one for each key")
    return flags


def _segments(entry: JsonObject) -> Any:
    given = entry.value.get("segments", "linear")
    words = [given] if isinstance(given, str) else entry.names("segments")
    for word in words:
        if word not in SEGMENTS:
            raise entry.bad("segments", f"should be step, linear or bezier, but one is {format_value(word)}")
    return SEGMENTS[given] if isinstance(given, str) else np.array([SEGMENTS[word] for word in words], np.uint8)


def _numbers(entry: JsonObject, key: str, depth: int) -> Array | None:
    """Numbers nested `depth` deep; None where there are none. `Curve` checks the shape."""
    given = entry.value.get(key)
    if given is None:
        return None
    what = ("a list of numbers", "lists of numbers", "lists of lists of pairs of numbers")[depth - 1]
    try:
        values = np.array(given)
    except (ValueError, OverflowError):  # lists of different lengths
        values = np.array(None)
    if values.ndim != depth or (values.size and values.dtype.kind not in "iuf"):
        raise entry.bad(key, f"should be {what}, all of one length")
    values = values.astype(np.float64)
    if not (np.abs(values) <= LARGEST_NUMBER).all():
        raise entry.bad(key, "should hold finite numbers (and none above 1e30)")
    return values


def write(asset: Asset, path: str | Path) -> list[str]:
    """Write the animations of an asset; returns notes on what was lost."""
    if not asset.animations:
        raise Unsupported(path, "the format holds curves, but there is no animation here")
    notes = []
    if asset.characters:
        notes.append("the format holds curves only: characters were left out")
    keyed = [_key_every_frame(clip, notes) for clip in asset.clips]
    animations = [*asset.curves, *(curves for curves in keyed if curves is not None)]
    if not animations:
        raise Unsupported(path, "the format holds curves, but every marker here has gaps")
    pieces = [_animation_text(animation) for animation in animations]
    head = f'{{"format": {json.dumps(FORMAT_NAME)}, "version": {FORMAT_VERSION}, "animations": ['
    text = head + ",".join(pieces) + "\n]}\n"
    try:
        data = text.encode()
    except UnicodeEncodeError:  # half a surrogate pair in a name: JSON can spell it, UTF-8 cannot
        data = json.dumps(json.loads(text)).encode()
    Path(path).write_bytes(data)
    return notes


def _key_every_frame(clip: Clip, notes: list[str]) -> Curves | None:
    """A dense clip as curves with a linear key on every frame; markers with gaps are left out."""
    curves, gaps = [], 0
    bounds = clip.channels.offsets.tolist()
    for channel, start, stop in zip(clip.channels, bounds, bounds[1:]):
        values = clip.values[:, start:stop]
        if not np.isfinite(values).all():
            gaps += 1
        else:
            curves.append(Curve(channel, clip.times, values))
    if gaps:
        notes.append(f"{clip.name}: markers that were not seen all the time were left out ({gaps})")
    if not curves:
        return None
    return Curves(clip.name, curves, clip.labels, clip.rate, clip.about, clip.moments)


def _animation_text(animation: Curves) -> str:
    head: dict[str, Any] = {"name": animation.name, "rate": animation.rate, "labels": list(animation.labels)}
    head |= {"about": animation.about, "moments": dict(animation.moments)}
    fields = [f"{json.dumps(key)}: {_text(value)}" for key, value in head.items() if value or key in ("name", "rate")]
    curves = ",".join(_curve_text(curve) for curve in animation.curves)
    return "\n {" + ", ".join(fields) + ', "curves": [' + curves + "\n ]}"


def _curve_text(curve: Curve) -> str:
    channel = curve.channel
    kinds = [SEGMENT_NAMES[int(segment)] for segment in curve.segments]
    head: dict[str, Any] = {
        "target": channel.target,
        "kind": channel.kind,
        "columns": channel.columns,
        "extrapolation": curve.extrapolation,
        "segments": kinds[0] if len(set(kinds)) == 1 else kinds,
    }
    if curve.fitted.any():
        head["fitted"] = True if curve.fitted.all() else curve.fitted.tolist()
    arrays = {"times": curve.times, "values": curve.values}
    arrays |= {name: handles for name in ("before", "after") if (handles := getattr(curve, name)).any()}
    first = ", ".join(f"{json.dumps(key)}: {_text(value)}" for key, value in head.items())
    lines = [f"{json.dumps(key)}: {_text(value.tolist())}" for key, value in arrays.items()]
    return "\n  {" + ",\n   ".join([first, *lines]) + "}"


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)
