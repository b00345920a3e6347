"""Build the face and write what the package ships: `python -m understudy.cast.face.build`.

Needs the `sculpt` extra. Nothing is random: the same libraries give the same files.
"""

from __future__ import annotations

from pathlib import Path

from understudy.cast.face import FILE, body, landmarks
from understudy.cast.sculpting import store


def main(path: Path = FILE, marks: Path = landmarks.PATH) -> None:
    """Build and write."""
    made = body.build()
    store.write(made.character, path)
    landmarks.write(made.landmarks, marks)


if __name__ == "__main__":
    main()
