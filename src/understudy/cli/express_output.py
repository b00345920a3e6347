"""The output of `understudy express act`: an animation file, a video, a sheet or arrays, of one face or many."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from understudy.cli import options
from understudy.cli.options import flatten_layers, write_asset
from understudy.errors import BadFile, InvalidInput, Unsupported

if TYPE_CHECKING:
    from understudy.character import Character, Clip
    from understudy.checks import Array
    from understudy.express.acting import ExpressionTake
    from understudy.express.graph.expression_graph import ExpressionGraph
    from understudy.express.speech_audio import Speech

VIDEOS = (".mp4", ".webm", ".gif")
PICTURES = (".png", *VIDEOS)
SHEET_PICTURE_COUNT = 24  # of one face
# Stops (start, apexes, end) in a row of a crowd's sheet, which also shows the moments halfway between them.
MAX_STOPS_PER_ROW = 7
MAX_SHEET_ROWS = 24  # of a crowd's sheet


class OutputCharacter(NamedTuple):
    """A character, and the vertices (68,) of its landmarks if they are known."""

    character: Character
    landmarks: Array | None


def check_target(target: str, kind: str, crowd: int | None) -> None:
    """Raise before the work if the target cannot be written."""
    from understudy import formats

    endings = [*PICTURES, ".npz", *(ending for entry in formats.FORMATS if entry.writes for ending in entry.endings)]
    if kind not in endings:
        written = ", ".join(endings)
        raise Unsupported(target, f"a performance is not written as {kind or 'this'}; written are: {written}")
    if crowd is not None and (kind in VIDEOS or kind == ".csv"):
        shown = "a video shows" if kind in VIDEOS else "Live Link CSV holds"
        raise Unsupported(target, f"{shown} one face; a crowd goes into .npz, .glb, .gltf, .usd or a sheet (.png)")
    if crowd is not None and kind == ".png" and crowd > MAX_SHEET_ROWS:
        raise Unsupported(target, f"a sheet shows {MAX_SHEET_ROWS} faces at most, but the crowd has {crowd:,}")
    if target != "-" and not Path(target).parent.is_dir():
        raise InvalidInput(f"cannot write {target}: there is no folder {Path(target).parent}")


def character_of(graph: ExpressionGraph, given: str | None, landmarks: str | None) -> OutputCharacter:
    """The character that acts: the given one, or the member of the cast with the graph's channels."""
    from understudy.express.sequence import landmark_number
    from understudy.formats.arkit_names import canonical_name

    human = all(landmark_number(name) is not None or canonical_name(name) is not None for name in graph.names)
    return resolve_character(given or ("face" if human else "dragon"), landmarks)


def resolve_character(name: str, landmarks: str | None) -> OutputCharacter:
    """A character by file or name, with the landmarks of a file, or those of the built-in face."""
    from understudy import cast

    vertices = None if landmarks is None else _read_landmarks(landmarks)
    if name == "face" and vertices is None and name in cast.names():
        vertices = cast.FACE_LANDMARKS
    return OutputCharacter(options.open_input(name).character(), vertices)


def view_settings(given: dict[str, Any], kind: str) -> dict[str, Any]:
    """The settings of the camera and the picture."""
    size = given["size"] or ((240, 240) if kind == ".png" else (720, 720))
    return {"size": size, "azimuth": math.radians(given["azimuth"]), "target": given["target"]}


def write_performance(
    face: ExpressionTake,
    who: OutputCharacter | None,
    target: str,
    kind: str,
    name: str,
    view: dict[str, Any],
    sheet: int | None,
    extra: dict[str, Any],
    quiet: bool,
) -> tuple[str, ...]:
    """Write one performance; returns notes of what its format could not hold."""
    if who is None:
        return _write_arrays(target, _arrays(face))
    from understudy.character import Asset
    from understudy.express.acting.to_character import clip_and_notes

    clip, notes = clip_and_notes(face, who.character, name, who.landmarks, angles=kind == ".csv", **extra)
    if kind not in PICTURES:
        asset = flatten_layers(Asset([] if kind == ".csv" else [who.character], [clip]), kind, quiet)
        return (*notes, *asset.notes, *write_asset(asset, target, kind if target == "-" else None))
    from understudy.render import show

    take = _take(who, clip)
    with options.output_file(target, kind) as place, options.progress(f"rendering {name}", quiet) as progress:
        if kind == ".png":
            show.contact_sheet(
                take,
                place,
                show.ViewSettings(**view, supersample=_supersampling(view)),
                sheet or SHEET_PICTURE_COUNT,
                progress,
            )
        else:
            show.video(take, place, show.ViewSettings(**view), progress)
    return notes


def write_speech(speech: Speech, target: str, kind: str) -> tuple[str, ...]:
    """Write what is spoken into a video, or beside any other file as WAV; returns notes."""
    from understudy.express.speech_audio import write_wav
    from understudy.render.video import add_audio

    if target == "-":
        return (*speech.notes, "the audio was not written: standard output holds the animation alone")
    if kind in (".mp4", ".webm"):
        add_audio(target, speech.samples, speech.rate)
        return speech.notes
    beside = Path(target).with_suffix(".wav")
    write_wav(beside, speech.samples, speech.rate)
    return (*speech.notes, f"the audio was written to {beside}")


def write_crowd(
    faces: Sequence[ExpressionTake],
    who: OutputCharacter | None,
    target: str,
    kind: str,
    name: str,
    view: dict[str, Any],
    extra: dict[str, Any],
    quiet: bool,
) -> tuple[str, ...]:
    """Write many performances to one file: arrays (N, F, L, D), a clip for each face, or a row of a sheet for each."""
    if who is None:
        return _write_arrays(target, _crowd_arrays(faces))
    from understudy.character import Asset
    from understudy.express.acting.to_character import clip_and_notes

    clips, notes = [], dict[str, None]()
    with options.progress(f"posing {who.character.name}, {len(faces)} faces", quiet) as progress:
        for number, face in enumerate(faces, 1):
            clip, said = clip_and_notes(face, who.character, f"{name} {number}", who.landmarks, **extra)
            clips.append(clip)
            notes |= dict.fromkeys(said)
            progress(number, len(faces))
    if kind == ".png":
        _write_rows(clips, who, target, view, quiet)
        return tuple(notes)
    asset = flatten_layers(Asset([who.character], clips), kind, quiet)
    return (*notes, *asset.notes, *write_asset(asset, target, kind if target == "-" else None))


def _take(who: OutputCharacter, clip: Clip) -> Any:
    from understudy.character import rig
    from understudy.render import show

    posed_rig = rig.rig_of(who.character)
    take = show.RenderTake.from_rows(posed_rig, posed_rig.pose(clip), rate=clip.rate)
    take.name = clip.name
    return take


def _supersampling(view: dict[str, Any]) -> int:
    return 2 if max(view["size"]) <= 480 else 1


def _write_rows(clips: Sequence[Clip], who: OutputCharacter, target: str, view: dict[str, Any], quiet: bool) -> None:
    """Write a sheet with a row for each face: start, apexes, end, and halfway between; one camera for all."""
    import numpy as np

    from understudy.character import rig
    from understudy.render import show

    posed_rig = rig.rig_of(who.character)
    rows, captions = [], []
    for number, clip in enumerate(clips, 1):
        posed = posed_rig.pose(clip)
        chosen = _moments(clip)
        rows.append(posed[chosen])
        captions += [f"{number}: {frame / clip.rate:.2f} s" for frame in chosen]
    take = show.RenderTake.from_rows(posed_rig, np.concatenate(rows), captions, rate=clips[0].rate)
    take.name = f"{len(clips)} faces"
    with options.output_file(target, ".png") as place, options.progress("rendering", quiet) as progress:
        look = show.ViewSettings(**view, supersample=_supersampling(view))
        show.contact_sheet(take, place, look, len(take), progress, columns=len(take) // len(clips))


def _moments(clip: Clip) -> list[int]:
    """The frames of a row: the stops and halfway between, or evenly spread if there are too many stops."""
    import numpy as np

    stops = np.array([0.0, *(time * clip.rate for time in clip.moments.values()), len(clip) - 1.0])
    if len(stops) > MAX_STOPS_PER_ROW:
        return [round(float(at)) for at in np.linspace(0, len(clip) - 1, 2 * MAX_STOPS_PER_ROW - 1)]
    halfway = (stops[:-1] + stops[1:]) / 2
    return [round(float(at)) for at in np.insert(stops, np.arange(1, len(stops)), halfway)]


def _arrays(face: ExpressionTake) -> dict[str, Any]:
    """The arrays that `understudy express build` reads, and blinks, gaze and head at the same frames."""
    import numpy as np

    return {
        "points": face.points,
        "rate": np.float64(face.rate),
        "names": np.array(face.names),
        "cues": np.array(face.cues),
        "peaks": face.peaks,
        "blink": face.blink,
        "gaze": face.gaze,
        "head": face.head,
    }


def _crowd_arrays(faces: Sequence[ExpressionTake]) -> dict[str, Any]:
    import numpy as np

    from understudy.express.acting.synthesis import pad_performances

    points, lengths = pad_performances(faces)
    return {
        "points": points,
        "lengths": lengths,
        "rate": np.float64(faces[0].rate),
        "names": np.array(faces[0].names),
        "cues": np.array(faces[0].cues),
        "peaks": np.stack([face.peaks for face in faces]),
    }


def _write_arrays(target: str, arrays: dict[str, Any]) -> tuple[str, ...]:
    import numpy as np

    from understudy import files

    with options.output_file(target, ".npz") as place, files.write_atomically(place) as part, part.open("wb") as file:
        np.savez(file, **arrays)
    return ()


def _read_landmarks(path: str) -> Array:
    """(68,) vertices in the order of the landmarks, from lines of name and vertex."""
    import numpy as np

    from understudy import files
    from understudy.express.sequence import landmark_number

    vertices: dict[int, int] = {}
    for number, line in enumerate(files.read_text(path, 1 << 20).splitlines(), 1):
        words = line.partition("#")[0].split()
        if not words:
            continue
        landmark = landmark_number(words[0])
        if len(words) != 2 or landmark is None or not words[1].isdigit():
            reason = f"a landmark and its vertex were expected, as `lm00 1234`, but {line.strip()!r} found"
            raise BadFile(path, reason, f"line {number}")
        vertices[landmark] = int(words[1])
    missing = [number for number in range(68) if number not in vertices]
    if missing:
        raise BadFile(path, f"all 68 landmarks were expected, but lm{missing[0]:02d} is missing")
    return np.array([vertices[number] for number in range(68)])
