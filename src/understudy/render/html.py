"""Interactive viewers: a character and one clip as an HTML file that needs no server and no network.

The page carries everything: the studio's stage as one script (`viewer.js`, built by `tools/build_page.py`), the
character as the studio's page receives it (`render.viewport.description`), its images, and the frames of the clip. All
of it is compressed (zlib) and written as base64, so that a notebook with a viewer stays small and a script inside
cannot end the page. The page forbids itself every request (Content-Security-Policy).

A character that the page skins itself has frames of float32 matrices and weights. A character with layers is sent as
vertices instead. Their positions p are stored as 16-bit steps of the range that the clip takes,

    q = round(65535 (p - low) / (high - low)),

which is 0.03 mm for a character of 2 m, as differences between frames modulo 65536: all low bytes, then all high bytes.
"""

from __future__ import annotations

import base64
import json
import zlib
from dataclasses import dataclass, field
from html import escape
from importlib import resources
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, files
from understudy.character import Asset, Character, Clip, Curves
from understudy.character.rig import PosedRig, rig_of
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.render.viewport.description import describe, images
from understudy.render.viewport.surface import VERTICES_FORM, FramePacker

MAX_RATE_HZ = 30.0  # frames per second of a viewer; a display shows little more of a motion
MAX_VIEWER_BYTES = 60_000_000  # of the frames before they are compressed, and of the page
DEFAULT_HEIGHT_PX = 480  # of a viewer in a notebook
MAX_STEP = 65535  # of a quantised position
VERTICES_PER_BLOCK = 2_000_000  # computed at once: 24 MB

PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'unsafe-inline'; \
style-src 'unsafe-inline'">
<title>{title}</title>
<style>html {{ background: #16181c; color: #d9dce1; }}</style>
</head>
<body>
<noscript>This viewer needs JavaScript.</noscript>
<script type="application/json" id="understudy-data">{data}</script>
<script>
(async () => {{
  const bytes = Uint8Array.from(atob("{code}"), (letter) => letter.charCodeAt(0));
  const script = document.createElement("script");
  script.textContent = await new Response(
    new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"))).text();
  document.body.append(script);
}})().catch((reason) => document.body.append(`This browser cannot show the viewer: ${{reason}}`));
</script>
</body>
</html>
"""


def viewer_html(
    thing: Asset | Character,
    animation: Clip | Curves | str | None = None,
    *,
    character: str | None = None,
    rate: float = MAX_RATE_HZ,
    play: bool = False,
) -> str:
    """A page with an interactive viewer: orbit, play, step and scrub.

    Parameters
    ----------
    thing
        What is shown: a character, or a file with characters and animations.
    animation
        The clip, or its name in the file. Without one the first animation of the file that moves the character is
        shown, and the rest pose where there is none.
    character
        The name of the character in the file; the first by default.
    rate
        Frames per second at most. Clips with fewer frames per second keep theirs.
    play
        Whether the clip plays as soon as the viewer is seen.

    Returns
    -------
    str
        The page, complete in itself. The same input gives the same text.

    Raises
    ------
    InvalidInput
        The file has no such character or clip, the clip moves another character, or the page would be too large.

    Examples
    --------
    >>> from understudy import cast
    >>> page = viewer_html(cast.load("lamp"), "hop")
    >>> page.startswith("<!doctype html>"), "://" in page
    (True, False)
    """
    shown, note = _character_of(thing, character)
    rig = rig_of(shown)
    clip = _animation_of(thing, animation, rig)
    packer = FramePacker(rig)
    data = {
        "character": shown.name,
        "clip": "" if clip is None else clip.name,
        "note": note,
        "play": play,
        **_frames(packer, clip, checks.positive(rate, "rate")),
        "description": _pack(describe(rig, clip, packer)),
        "images": [{"mime": image.mime, "data": _pack(image.data)} for image in images(rig)],
    }
    # no text of the data may end its element: names come from files
    text = json.dumps(data, separators=(",", ":")).replace("<", "\\u003c")
    title = escape(" · ".join(name for name in (shown.name, data["clip"]) if name))
    page = PAGE.format(title=title, data=text, code=_pack(_script()))
    if len(page) > MAX_VIEWER_BYTES:
        raise InvalidInput(
            f"the viewer of {shown.name!r} would have {len(page) / 1e6:.0f} MB, but at most "
            f"{MAX_VIEWER_BYTES / 1e6:.0f} MB are written; show a shorter clip or smaller textures"
        )
    return page


def write_viewer(
    path: str | Path,
    thing: Asset | Character,
    animation: Clip | Curves | str | None = None,
    *,
    character: str | None = None,
    rate: float = MAX_RATE_HZ,
    play: bool = False,
) -> None:
    """Write a viewer as an HTML file, whole or not at all; the arguments are those of `viewer_html`."""
    page = viewer_html(thing, animation, character=character, rate=rate, play=play)
    with files.write_atomically(path) as temporary:
        temporary.write_text(page, encoding="utf-8")


@dataclass(frozen=True)
class NotebookViewer:
    """A page of `viewer_html` as the output of a notebook's cell, `height` pixels high.

    The page stands inside an element of its own (`srcdoc`): a saved notebook shows it without a server, and its styles
    and keys stay apart from those of the notebook.
    """

    page: str = field(repr=False)
    height: int = DEFAULT_HEIGHT_PX

    def _repr_html_(self) -> str:
        style = f"display:block;width:100%;height:{int(self.height)}px;border:0;border-radius:6px"
        return f'<iframe title="understudy viewer" style="{style}" srcdoc="{escape(self.page)}"></iframe>'


def _character_of(thing: Asset | Character, name: str | None) -> tuple[Character, str]:
    """The character to show, and a note about those that are not shown."""
    if isinstance(thing, Character):
        return thing, ""
    found = thing.character(name)
    others = [other.name for other in thing.characters if other is not found]
    return found, f"Of this file only {found.name} is shown, without {', '.join(others)}." if others else ""


def _animation_of(
    thing: Asset | Character, animation: Clip | Curves | str | None, rig: PosedRig
) -> Clip | Curves | None:
    if isinstance(animation, str):
        if isinstance(thing, Character):
            raise InvalidInput(f"a character has no clips: give the clip {animation!r} itself, or the file it is in")
        return thing.animation(animation)
    if animation is None and isinstance(thing, Asset):
        return next((each for each in thing.animations if rig.is_moved_by(each)), None)
    return animation


def _frames(packer: FramePacker, clip: Clip | Curves | None, rate: float) -> dict[str, Any]:
    """The frames of a clip, or of the rest pose, as the viewer's script reads them."""
    rig = packer.rig
    rate = min(rate, 24.0 if clip is None else float(clip.rate))
    times = np.zeros(1) if clip is None else clip.frame_times(rate)
    streams_vertices = packer.form == VERTICES_FORM
    vertex_count = rig.character.vertex_count
    a, b = (vertex_count, 0) if streams_vertices else (len(packer.bones), packer.weight_count)
    frame_bytes = 6 * a if streams_vertices else 4 * (12 * a + b)
    size = len(times) * frame_bytes
    if clip is not None and size > MAX_VIEWER_BYTES:
        seconds = MAX_VIEWER_BYTES / frame_bytes / rate
        raise InvalidInput(
            f"the {len(times)} frames of clip {clip.name!r} take {size / 1e6:.0f} MB, but a viewer holds at most "
            f"{MAX_VIEWER_BYTES / 1e6:.0f} MB; show at most {seconds:.0f} s of it, lower the rate, or write a video"
        )
    rows = rig.rest[None] if clip is None else rig.pose(clip, times)
    scale: dict[str, Any] = {"range": None}
    if streams_vertices:
        block = max(1, VERTICES_PER_BLOCK // max(1, vertex_count))
        blocks = [np.asarray(rig.vertices(rows[i : i + block]), np.float32) for i in range(0, len(rows), block)]
        low = np.min([points.min(axis=(0, 1)) for points in blocks], axis=0).astype(np.float64)
        high = np.max([points.max(axis=(0, 1)) for points in blocks], axis=0).astype(np.float64)
        scale["range"] = {"low": low.tolist(), "high": high.tolist()}
        poses = _differences(np.concatenate([_quantise(points, low, high) for points in blocks]))
    else:
        poses = np.ascontiguousarray(packer.poses(rows), "<f4").tobytes()
    return {"rate": rate, "frames": len(times), "form": packer.form, "a": a, "b": b, **scale, "poses": _pack(poses)}


def _quantise(points: Array, low: Array, high: Array) -> Array:
    """(F, 3 V) uint16 steps of the range from low (3,) to high (3,), for points (F, V, 3)."""
    span = np.where(high > low, high - low, 1.0)
    return np.rint((points - low) * (MAX_STEP / span)).clip(0, MAX_STEP).astype(np.uint16).reshape(len(points), -1)


def _differences(steps: Array) -> bytes:
    """Differences of steps (F, N) from frame to frame: all low bytes, then all high bytes."""
    differences = steps.copy()
    differences[1:] -= steps[:-1]  # modulo 65536
    return (differences & 0xFF).astype(np.uint8).tobytes() + (differences >> 8).astype(np.uint8).tobytes()


def _pack(data: bytes) -> str:
    return base64.b64encode(zlib.compress(data, 6)).decode("ascii")


def _script() -> bytes:
    """The viewer's script, which the installation of the package builds."""
    script = resources.files("understudy") / "studio" / "static" / "viewer.js"
    if not script.is_file():
        raise InvalidInput("the viewer is not built; in a checkout, run `make setup`")
    return script.read_bytes()
