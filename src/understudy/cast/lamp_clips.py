"""The lamp's animation, from the dope sheets beside this file."""

from __future__ import annotations

from importlib import resources

from understudy.cast import keying, reading, vocabulary
from understudy.cast.keys import Sheet
from understudy.character import Curves, Skeleton

CLIPS = ("hop", "curious", "sad", "happy")


def sheets(skeleton: Skeleton) -> tuple[Sheet, ...]:
    """The dope sheets, with the poses that they share."""
    folder = resources.files("understudy.cast") / "sheets" / "lamp"
    joints = vocabulary.of_joints(skeleton.names)

    def text(name: str) -> str:
        return (folder / f"{name}.txt").read_text(encoding="utf-8")

    poses = reading.parse(text("poses"), "lamp/poses.txt", joints).poses
    return tuple(reading.parse(text(name), f"lamp/{name}.txt", joints, poses) for name in CLIPS)


def clips(skeleton: Skeleton) -> tuple[Curves, ...]:
    """The animation, one set of curves a sheet."""
    return tuple(keying.curves(sheet, skeleton) for sheet in sheets(skeleton))
