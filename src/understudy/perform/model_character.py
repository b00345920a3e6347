"""Open a model together with its character, and fit a model that holds its character.

A model holds its character: the name of a member of the built-in cast, or a whole GLB. So a performance needs nothing
but the model file, from the command line as from the studio.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from understudy.errors import BadFile, FileError, InvalidInput

if TYPE_CHECKING:
    from understudy.character import Character, Clip
    from understudy.character.rig import PosedRig
    from understudy.checks import Array
    from understudy.perform.library import ClipLibrary
    from understudy.perform.model import PerformanceModel
    from understudy.perform.runtime.performer import Performer
    from understudy.perform.training import FitSettings, Mapper

MODEL_SUFFIX = ".understudy"
REST_TOLERANCE = 1e-9  # metres, radians or weights: a channel that stays this near to rest is left out of a clip


@dataclass(frozen=True)
class ModelWithCharacter:
    """A model, the rig of its character, and the file that both came from."""

    path: str
    model: PerformanceModel
    rig: PosedRig

    @property
    def character(self) -> Character:
        """The character that performs."""
        return self.rig.character

    def performer(self, rate: float, prepared: bool = True) -> Performer:
        """A performer with every layer (feet, eyes, blinks, breath) that the character has controls for.

        Without `prepared` it is returned sooner, and prepares what a command needs when the command comes.
        """
        from understudy.perform.layers import layers_of
        from understudy.perform.runtime.performer import Performer

        return Performer(self.model, self.rig, rate, layers=layers_of(self.rig, model=self.model), prepared=prepared)


def clip_of_rows(rig: PosedRig, name: str, rows: Array, rate: float, labels: Iterable[str] = ()) -> Clip:
    """Rows (F, C) of a performance as a clip of the rig's character; channels that stay at rest are left out."""
    import numpy as np

    from understudy.character import Channels, Clip

    channels = rig.channels
    moved = np.abs(rows - rig.rest.astype(rows.dtype)).max(axis=0) > REST_TOLERANCE
    kept = [i for i in range(len(channels)) if moved[channels.offsets[i] : channels.offsets[i + 1]].any()] or [0]
    columns = np.concatenate([np.arange(channels.offsets[i], channels.offsets[i + 1]) for i in kept])
    return Clip(name, Channels(channels[i] for i in kept), rows[:, columns], rate, labels=list(labels))


def is_model(path: str | Path) -> bool:
    """Whether a path has the suffix of a model file."""
    return Path(path).suffix.lower() == MODEL_SUFFIX


def open_model(path: str | Path) -> ModelWithCharacter:
    """The model of a file with its character; `BadFile` where the two do not fit."""
    from understudy.character import rig
    from understudy.perform.model import PerformanceModel, check_character

    if not is_model(path):
        make = f"`understudy learn {path} -o {Path(path).stem}{MODEL_SUFFIX}` makes one"
        raise BadFile(path, f"is not a model, which ends in {MODEL_SUFFIX}; {make}")
    model = PerformanceModel.load(path)
    try:
        posed = rig.rig_of(_character(model))
        check_character(model, posed.channels, posed.character.name)
    except FileError as error:  # the embedded file has no path that a user knows
        raise BadFile(path, f"its character cannot be used: {error.reason}") from error
    except InvalidInput as error:
        raise BadFile(path, str(error)) from error
    return ModelWithCharacter(str(path), model, posed)


def _character(model: PerformanceModel) -> Character:
    from understudy import cast, formats

    if model.cast:
        return cast.load(model.cast).character()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "character.glb")
        place.write_bytes(model.embedded)
        return formats.read(place).character()


def character_to_glb(character: Character) -> bytes:
    """A character as the bytes of a GLB, to be embedded in a model."""
    from understudy import formats
    from understudy.character import Asset

    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder, "character.glb")
        formats.write(Asset([character]), place)
        return place.read_bytes()


def prepare_library(library: ClipLibrary, labels: Sequence[str] = ()) -> ClipLibrary:
    """The library as it is fitted: only `labels` if any are given, without the eyes, with the cast's named poses."""
    if labels:
        takes = [take for label in dict.fromkeys(labels) for take in library.of_label(label)]
        library = replace(library, takes=tuple(takes))
    return _add_cast_poses(_exclude_eye_columns(library))


def _exclude_eye_columns(library: ClipLibrary) -> ClipLibrary:
    """The library without the controls of the eyes, where a gaze layer can turn them instead.

    Eyes follow what there is to see, which changes: learned, they look where something was [Bailey 2016, section 6].
    """
    from understudy.perform.layers.eyes import gaze_columns

    return replace(
        library, excluded_columns=tuple(dict.fromkeys((*library.excluded_columns, *gaze_columns(library.rig))))
    )


def _add_cast_poses(library: ClipLibrary) -> ClipLibrary:
    """The library with the named poses of a built-in character, besides its own."""
    from understudy import cast

    if library.origin not in cast.names():
        return library
    return replace(library, poses={**cast.poses(library.origin), **library.poses})


def fit_model(
    library: ClipLibrary,
    settings: FitSettings | None = None,
    progress: Callable[[int, int], None] | None = None,
    workers: int | None = None,
    mapper: Mapper | None = None,
    kept: Path | None = None,
) -> PerformanceModel:
    """The model of a prepared library, with its character; arguments as `training.fit_library`."""
    from understudy import cast
    from understudy.perform.training import fit_library

    name = library.origin if library.origin in cast.names() else ""
    embedded = b"" if name else character_to_glb(library.character)
    return fit_library(library, settings, progress, workers, mapper, kept, cast=name, embedded=embedded)
