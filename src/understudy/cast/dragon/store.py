"""The dragon's file."""

from __future__ import annotations

from pathlib import Path

from understudy.cast.sculpting import store
from understudy.character import Character

PATH = Path(__file__).with_name("dragon.npz")


def write(character: Character, path: str | Path = PATH) -> None:
    """The dragon into its file."""
    store.write(character, path)


def read(path: str | Path = PATH) -> Character:
    """The dragon of its file."""
    return store.read(path)
