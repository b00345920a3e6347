"""Build the dragon and write the file that the package ships: `python -m understudy.cast.dragon.build`.

Needs the `sculpt` extra. Nothing is random: the same libraries give the same file.
"""

from __future__ import annotations

from pathlib import Path

from understudy.cast.dragon import body, face, store
from understudy.character import Character


def character() -> Character:
    """The dragon with its layers."""
    made = body.build()
    plain = made.character
    return Character(plain.name, plain.skeleton, plain.parts, layers=face.layers(made))


def main(path: Path = store.PATH) -> None:
    """Build and write."""
    store.write(character(), path)


if __name__ == "__main__":
    main()
