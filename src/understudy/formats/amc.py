"""AMC (Acclaim motion capture): the motion that belongs to an ASF skeleton.

A frame is a line with its number, then a line for each bone: its name and the values of its freedoms. With M_j the
rotation that the values make in the bone's own axes C_j (see `asf`), the local rotation is C_p^-1 C_j M_j. The file
names neither its skeleton nor its frame rate.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from understudy import files
from understudy.character import Asset, Channel, Channels, Character, Clip, Skeleton
from understudy.checks import Array
from understudy.errors import BadFile
from understudy.formats import asf, numbers
from understudy.formats.asf_parser import AsfText
from understudy.maths import quaternion

RATE = 120.0  # frames a second, at CMU and wherever else this format is in use
LARGEST_AMC = 256 << 20  # bytes: five hours at CMU's rate


def read(path: str | Path, scale: float | None = None, skeleton: str | Path | None = None) -> Asset:
    """The motion and its skeleton: `skeleton` is the path of the .asf, otherwise looked for beside the file."""
    path = Path(path)
    content = files.read_text(path, LARGEST_AMC)
    asf_path = find_skeleton(path) if skeleton is None else Path(skeleton)
    text, rest, metres, notes = asf.read_skeleton(asf_path, scale)
    if skeleton is None and asf_path.stem != path.stem:
        notes.append(f"the skeleton was taken from {asf_path.name}")
    bones, values, radians = _frames(content, text, path, notes)
    clip = _clip(path.stem, text, rest, metres, bones, values, radians)
    if any("l" in text.bones[bone].freedoms for bone in bones):
        notes.append("changes of a bone's length were left out")
    notes.append(f"AMC names no frame rate: {RATE:g} frames a second were taken")
    return Asset([Character(asf_path.stem, rest)], [clip], notes=notes)


def find_skeleton(path: Path) -> Path:
    """The .asf of the same name, else the only one in the folder, else the one whose name begins most alike."""
    try:
        candidates = sorted(p for p in path.parent.iterdir() if p.suffix.lower() == ".asf" and p.is_file())
    except OSError as error:
        raise BadFile(path, f"the folder cannot be searched for its .asf: {error.strerror}") from None
    same = [p for p in candidates if p.stem.lower() == path.stem.lower()]
    if same or len(candidates) == 1:
        return (same or candidates)[0]
    if not candidates:
        raise BadFile(path, "needs the skeleton's .asf file beside it, or given as `skeleton`; there is none")
    likeness = [_common(p.stem.lower(), path.stem.lower()) for p in candidates]
    best = max(likeness)
    if best == 0 or likeness.count(best) > 1:
        names = ", ".join(p.name for p in candidates[:8])
        raise BadFile(path, f"it is not clear which .asf beside it is its skeleton ({names}): give it as `skeleton`")
    return candidates[likeness.index(best)]


def _common(a: str, b: str) -> int:
    return next((i for i, (x, y) in enumerate(zip(a, b)) if x != y), min(len(a), len(b)))


def _frames(content: str, text: AsfText, path: Path, notes: list[str]) -> tuple[list[int], Array, bool]:
    """The bones of a frame in the file's order, their values (F, n) as in the file, and whether angles are radians."""
    index = {bone.name: number for number, bone in enumerate(text.bones)}
    radians, place_in_frame = False, -1
    sequence: list[int] = []
    listed: set[int] = set()
    frame_numbers: list[int] = []
    rows: list[str] = []  # the file's lines without names and comments; an error in a number then has its line
    frame_start = 0
    for number, line in enumerate(content.replace("\r\n", "\n").replace("\r", "\n").split("\n"), 1):
        words = line.split()
        rows.append("")
        if not words or words[0][0] == "#":
            continue
        if words[0][0] == ":":
            radians = radians or words[0].lower() == ":radians"
        elif len(words) == 1 and words[0].isdecimal():
            if place_in_frame >= 0 and place_in_frame != len(sequence):
                raise BadFile(path, f"the frame has {place_in_frame} of {len(sequence)} bones", f"line {number}")
            frame_numbers.append(int(words[0][:18]))
            place_in_frame, frame_start = 0, len(rows) - 1
        elif place_in_frame < 0:
            raise BadFile(path, f"a frame number was expected, but {words[0][:40]!r} was found", f"line {number}")
        else:
            bone = index.get(words[0])
            if bone is None:
                raise BadFile(path, f"the bone {words[0][:40]!r} is not in the skeleton", f"line {number}")
            if len(frame_numbers) == 1 and bone not in listed:
                sequence.append(bone)
                listed.add(bone)
            if place_in_frame >= len(sequence) or sequence[place_in_frame] != bone:
                raise BadFile(path, f"the bone {words[0]!r} is out of its order", f"line {number}")
            _check_count(words, text.bones[bone].freedoms, path, number)
            rows[-1] = " ".join(words[1:])
            place_in_frame += 1
    if not sequence:
        raise BadFile(path, "an AMC file should have at least one frame, but has none")
    if place_in_frame != len(sequence):
        notes.append(f"the last frame has {place_in_frame} of {len(sequence)} bones and was left out")
        frame_numbers.pop()
        del rows[frame_start:]
    values = numbers.parse("\n".join(rows).encode("utf-8", "replace"), path)
    if not frame_numbers or values.size == 0:
        raise BadFile(path, "an AMC file should have at least one whole frame, but has none")
    expected = len(frame_numbers) * sum(len(text.bones[bone].freedoms) for bone in sequence)
    if values.size != expected:  # signs that are white space here but not there, such as a no-break space
        raise BadFile(path, f"{expected} numbers were expected, but {values.size} were found")
    if np.any(np.diff(frame_numbers) != 1):
        notes.append("frame numbers are not in steps of one: the frames were read as they come")
    return sequence, values.reshape(len(frame_numbers), -1), radians


def _check_count(words: list[str], freedoms: tuple[str, ...], path: Path, line: int) -> None:
    if len(words) - 1 != len(freedoms):
        expected = f"{len(freedoms)} values ({' '.join(freedoms)})"
        raise BadFile(path, f"{words[0]!r} should have {expected}, but has {len(words) - 1}", f"line {line}")


def _clip(
    name: str, text: AsfText, rest: Skeleton, metres: float, bones: list[int], values: Array, radians: bool
) -> Clip:
    channels, blocks = [], []
    starts = np.cumsum([0, *(len(text.bones[bone].freedoms) for bone in bones)])
    still = np.zeros(len(values))
    for bone, start in sorted(zip(bones, starts)):
        places = {freedom: values[:, start + i] for i, freedom in enumerate(text.bones[bone].freedoms)}
        moves = np.stack([places.get(freedom, still) for freedom in ("tx", "ty", "tz")], axis=1) * metres
        angles = np.stack([places.get(freedom, still) for freedom in ("rx", "ry", "rz")], axis=1)
        if places.keys() & {"tx", "ty", "tz"}:
            channels.append(Channel(text.bones[bone].name, "translation"))
            # the root's values say where it is; those of any other bone lie in its own axes, on top of its rest
            own = moves if bone == 0 else rest.translations[bone] + quaternion.rotate(rest.rotations[bone], moves)
            blocks.append(own)
        if places.keys() & {"rx", "ry", "rz"}:
            channels.append(Channel(text.bones[bone].name, "rotation"))
            m = asf.turned(angles if radians else np.radians(angles), text.bones[bone].order)
            blocks.append(quaternion.multiply(rest.rotations[bone], m))
    return Clip(name, Channels(channels), np.concatenate(blocks, axis=1), RATE)
