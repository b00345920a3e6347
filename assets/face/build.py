"""Build the face and write what the package ships: `python -m assets.face.build`.

Needs the `sculpt` extra. Nothing is random: the same libraries give the same files.
"""

from __future__ import annotations

from pathlib import Path

from assets.face.body import build, write_landmarks
from understudy import cast
from understudy.cast import archive
from understudy.character import Asset


def main(path: Path | None = None, landmarks: Path = cast.LANDMARKS_FILE) -> None:
    """Build and write."""
    body = build()
    archive.write(Asset([body.character]), path or cast.arrays_file("face"))
    write_landmarks(body.landmarks, landmarks)


if __name__ == "__main__":
    main()
