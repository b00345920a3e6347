"""The dragon's pictures in docs/images: its poses, its clips label by label, and the sheet without captions.

    .venv/bin/python tools/pictures.py            all of them
    .venv/bin/python tools/pictures.py quiz       only the sheet of 128-pixel faces without captions, and its key

They are kept as JPEG, so that the repository stays small.
"""

from __future__ import annotations

import io
import sys
import tempfile
from math import radians
from pathlib import Path

import numpy as np
from PIL import Image

from understudy import cast
from understudy.character import Asset, rig
from understudy.checks import Array
from understudy.files import write_atomically
from understudy.render import show

IMAGES = Path(__file__).resolve().parents[1] / "docs" / "images"
GROUPS = ("lids", "brows", "mouth", "ears")  # of which some poses are shown beside the full faces
SHOWN = {
    "lids": ("wide", "squint", "angry", "bored", "smile", "sad"),
    "brows": ("high", "angry", "worried", "skeptic", "knit", "sad"),
    "mouth": ("grin", "frown", "o", "purse", "snarl", "press"),
    "ears": ("perk", "back", "limp", "askew", "listen", "curled"),
}
FRAMES = 8  # of each clip on its label's sheet
QUIZ = {  # what is asked: a face of the library, and moments of three clips (clip, moment, seconds after it)
    "happy": (
        "happy",
        ("happy_greeting", "bob", 0.1),
        ("happy_laugh", "bursts", 0.15),
        ("happy_sunbath", "long_breath", 0.6),
    ),
    "grumpy": (
        "grumpy",
        ("grumpy_huff", "glower", 0.3),
        ("grumpy_woken", "glare", 0.1),
        ("grumpy_stare", "narrowed", 0.3),
    ),
    "bored": (
        "bored",
        ("bored_sigh", "sigh", 0.5),
        ("bored_eye_roll", "flat", 0.1),
        ("bored_doze", "first_drop", 0.15),
    ),
    "curious": (
        "curious",
        ("curious_peer", "weighs", 0.2),
        ("curious_tilt", "further", 0.3),
        ("curious_listen", "holds_breath", 0.2),
    ),
    "surprised": (
        "surprised",
        ("surprise_gasp", "gasp", 0.2),
        ("surprise_snap", "recoil", 0.2),
        ("surprise_double_take", "snaps_back", 0.2),
    ),
    "roaring": ("roar", ("roar_full", "roar", 0.3), ("roar_warning", "roar", 0.2), ("roar_small", "good_one", 0.2)),
}


def main(chosen: list[str]) -> None:
    asset = cast.load("dragon")
    for name, draw in (("poses", poses), ("labels", labels), ("quiz", quiz)):
        if not chosen or name in chosen:
            draw(asset)


def sheet(take: show.RenderTake, name: str, size: int, columns: int, captions: bool = True, **view: object) -> None:
    """Draw every frame of a take as a contact sheet docs/images/NAME.jpg."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "sheet.png"
        looked_at = show.ViewSettings(size=(size, size), supersample=2, **view)  # type: ignore[arg-type]
        show.contact_sheet(take, path, looked_at, captions=captions, columns=columns)
        picture = Image.open(path).convert("RGB")
    buffer = io.BytesIO()
    picture.save(buffer, "JPEG", quality=84, optimize=True)
    IMAGES.mkdir(exist_ok=True)
    with write_atomically(IMAGES / f"{name}.jpg") as temporary:
        Path(temporary).write_bytes(buffer.getvalue())
    print(f"{name}.jpg: {len(take)} pictures, {len(buffer.getvalue()) / 1e3:.0f} kB")  # noqa: T201


def poses(asset: Asset) -> None:
    """Every full face, and some poses of single groups, each on an otherwise resting face."""
    known = cast.poses("dragon", groups=True)
    names = [name for name in known if "." not in name] + [f"{g}.{p}" for g in GROUPS for p in SHOWN[g]]
    played = rig.rig_of(asset.characters[0])
    take = show.RenderTake.from_rows(played, np.stack([known[name] for name in names]), names)
    sheet(take, "dragon_poses", 132, 10, target="Head", zoom=1.1, centred=True)


def labels(asset: Asset) -> None:
    """A sheet a label, a row a clip."""
    played = rig.rig_of(asset.characters[0])
    for label in dict.fromkeys(label for clip in asset.animations for label in clip.labels):
        rows, captions = [], []
        for clip in asset.animations:
            if clip.labels[0] == label:
                times = np.linspace(0.04, 0.97, FRAMES) * clip.duration
                rows.append(played.pose(clip, times))
                captions += [f"{clip.name} {time:.1f} s" if i == 0 else f"{time:.1f} s" for i, time in enumerate(times)]
        take = show.RenderTake.from_rows(played, np.concatenate(rows), captions)
        sheet(take, f"dragon_{label.replace(' ', '_')}", 132, FRAMES, azimuth=radians(22), elevation=radians(5))


def quiz(asset: Asset) -> None:
    """Faces at 128 pixels in an order that tells nothing; the key is printed."""
    known = cast.poses("dragon", groups=True)
    played = rig.rig_of(asset.characters[0])

    def row(asked: str | tuple[str, str, float]) -> Array:
        if isinstance(asked, str):
            return known[asked]
        clip, moment, later = asked
        animation = asset.animation(clip)
        return played.pose(animation, [animation.moments[moment] + later])[0]

    questions = [(word, row(asked)) for word, all_asked in QUIZ.items() for asked in all_asked]
    order = np.random.default_rng(7).permutation(len(questions))
    take = show.RenderTake.from_rows(played, np.stack([questions[i][1] for i in order]))
    view = {"azimuth": radians(18), "elevation": radians(4), "zoom": 1.1, "centred": True}
    sheet(take, "dragon_128", 128, 6, captions=False, target="Head", **view)
    print("key:", ", ".join(f"{n} {questions[i][0]}" for n, i in enumerate(order, 1)))  # noqa: T201


if __name__ == "__main__":
    main(sys.argv[1:])
