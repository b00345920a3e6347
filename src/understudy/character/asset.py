"""Asset: what one file holds."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from understudy import checks
from understudy.character.character import Character
from understudy.character.clip import Clip
from understudy.character.curves import Curves
from understudy.errors import InvalidInput


@dataclass(frozen=True, eq=False)
class Asset:
    """Characters, clips, curves, and `notes`: one line for each thing that reading had to drop or change."""

    characters: tuple[Character, ...] = ()
    clips: tuple[Clip, ...] = ()
    curves: tuple[Curves, ...] = ()
    notes: tuple[str, ...] = ()
    format: str = ""

    def __init__(
        self,
        characters: Iterable[Character] = (),
        clips: Iterable[Clip] = (),
        curves: Iterable[Curves] = (),
        notes: Iterable[str] = (),
        format: str = "",
    ) -> None:
        object.__setattr__(self, "characters", tuple(characters))
        object.__setattr__(self, "clips", tuple(clips))
        object.__setattr__(self, "curves", tuple(curves))
        object.__setattr__(self, "notes", tuple(notes))
        object.__setattr__(self, "format", format)
        checks.unique_names((animation.name for animation in self.animations), "names of clips and curves")

    @property
    def animations(self) -> tuple[Curves | Clip, ...]:
        """Everything that moves: the keyframed ones, then the dense ones."""
        return (*self.curves, *self.clips)

    def animation(self, name: str | None = None) -> Curves | Clip:
        """The animation of that name, or the first. `Walk` finds Blender's `Armature|Walk` if that is unique."""
        if not self.animations:
            raise InvalidInput("there is no animation here")
        if name is None:
            return self.animations[0]
        short = [animation for animation in self.animations if animation.name.rpartition("|")[2] == name]
        exact = [animation for animation in self.animations if animation.name == name]
        if not exact and len(short) == 1:
            return short[0]
        checks.one_of(name, "clip", (animation.name for animation in self.animations))
        return exact[0]

    def clip(self, name: str | None = None, rate: float | None = None) -> Clip:
        """The animation of that name (or the first) as a dense clip, at its own rate or another."""
        animation = self.animation(name)
        if isinstance(animation, Curves):
            return animation.clip(rate)
        return animation if rate is None or rate == animation.rate else animation.resampled(rate)

    def character(self, name: str | None = None) -> Character:
        """The character of that name, or the first."""
        if not self.characters:
            raise InvalidInput("there is no character here")
        if name is None:
            return self.characters[0]
        checks.one_of(name, "character", (character.name for character in self.characters))
        return next(character for character in self.characters if character.name == name)
