"""PoseModel: a character's pose spaces, learnt from its labelled clips, with the character that they belong to.

The learner of the room. What it learns is a `PerformanceModel` (`model_`): a latent space a label and the bridges
between them. `Performer` and `run_script` perform it.

A file holds its character: the name of a member of the built-in cast, or a whole GLB. So a performance needs nothing
but the file, on the command line and in the studio. Heavy modules are imported where they are used, as the command
line asks here whether a path is a model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from understudy.errors import BadFile, FileError, InvalidInput
from understudy.schema import Estimator

if TYPE_CHECKING:
    from understudy.character import Asset, Character, Clip
    from understudy.character.rig import PosedRig
    from understudy.checks import Array
    from understudy.perform.library import ClipLibrary
    from understudy.perform.model import PerformanceModel
    from understudy.perform.runtime.performer import Performer
    from understudy.perform.training import FitSettings, Mapper

MODEL_SUFFIX = ".understudy"
REST_TOLERANCE = 1e-9  # metres, radians or weights: a channel that stays this near to rest is left out of a clip


class PoseModel(Estimator):
    """Learns what a character can do from its clips: a latent space of poses for each label, and bridges between them.

    Training is deterministic. After `fit`: `model_`, a `PerformanceModel`, and `rig_`, the rig of its character.

    Args:
        variance: Share of the variance of poses that the linear reduction keeps, 0 to 1.
        dimensions: Dimensions of the latent space of each label.
        iterations: Steps of the optimiser for each label; None: until it has converged, at most 200. 0: a draft with
            linear latent spaces, in seconds, that performs until the model is learnt (`Performer.take_over`).
        sparse: Whether to use inducing points; None: for labels of more than 1,000 frames.
        rate: Frames a second of the training data; None: that of most clips, at most 30.
        labels: The labels to learn, or clip names (or patterns such as `"happy_*"`) for each label. None: all, each
            clip under the labels that it carries, or under its own name.

    Raises:
        NotFitted: If `model_` or `rig_` is asked for before `fit`.

    Example:
        >>> model = us.PoseModel(rate=24, iterations=5, labels=["hop", "sad"]).fit(us.load("lamp"))
        >>> model.labels
        ('hop', 'sad')
        >>> rows = model.rig.pose(us.load("lamp").clip("sad", rate=24))
        >>> model.transform(rows, "sad").shape == (len(rows), 3)
        True

    Notes:
        [Bailey 2016, sections 3 and 4]. The eyes of a character that has controls for them are not learnt: a layer of
        the performance turns them. The built-in dragon brings its named poses.
    """

    model_: PerformanceModel
    rig_: PosedRig

    def __init__(
        self,
        *,
        variance: float = 0.98,
        dimensions: int = 3,
        iterations: int | None = None,
        sparse: bool | None = None,
        rate: float | None = None,
        labels: Sequence[str] | Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self.variance, self.dimensions, self.iterations, self.sparse = variance, dimensions, iterations, sparse
        self.rate, self.labels_to_learn = rate, labels

    def settings(self) -> dict[str, Any]:
        """The arguments of `__init__` as plain values."""
        given = self.labels_to_learn
        labels: Any = None if given is None else list(given)
        if isinstance(given, Mapping):
            labels = {label: list(names) for label, names in given.items()}
        names = ("variance", "dimensions", "iterations", "sparse", "rate")
        return {**{name: getattr(self, name) for name in names}, "labels": labels}

    def __repr__(self) -> str:
        return f"PoseModel({', '.join(f'{name}={value!r}' for name, value in self.settings().items())})"

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that were learnt, in the order of the clips."""
        return self.model_.labels

    @property
    def rig(self) -> PosedRig:
        """Rig of the character that the model was learnt from."""
        return self.rig_

    def fit(
        self, animations: Asset | ClipLibrary | str | Path, progress: Callable[[int, int], None] | None = None
    ) -> PoseModel:
        """Learn from the clips of a character.

        Args:
            animations: A character with its clips: an `Asset`, a `ClipLibrary`, a file, a LIBRARY.toml that groups
                clips of several files under labels, or the name of a built-in character.
            progress: Called with the steps done and their number.

        Returns:
            The model itself.

        Raises:
            InvalidInput: If there is no character or no clip of two frames or more, or a label is unknown.
            FileError: If a file cannot be read.
        """
        from understudy.perform.training import FitSettings

        settings = FitSettings(self.variance, self.dimensions, self.iterations, self.sparse)
        library = self._library(animations)
        self.model_, self.rig_ = fit_model(library, settings, progress), library.rig
        return self

    def _library(self, animations: Asset | ClipLibrary | str | Path) -> ClipLibrary:
        from understudy.cast import member_of_cast, open_asset
        from understudy.character import Asset
        from understudy.perform import library_file
        from understudy.perform.library import ClipLibrary

        labels = self.labels_to_learn
        chosen = [] if labels is None or isinstance(labels, Mapping) else list(labels)
        if isinstance(animations, str | Path) and Path(animations).suffix.lower() == ".toml":
            return prepare_library(library_file.read(animations, open_asset, self.rate), chosen)
        if not isinstance(animations, ClipLibrary):
            source = "" if isinstance(animations, Asset) else str(animations)
            asset = animations if isinstance(animations, Asset) else open_asset(animations)
            named = labels if isinstance(labels, Mapping) else None
            animations = ClipLibrary.from_asset(asset, self.rate, named, source=source)
        member = member_of_cast(animations.character)
        return prepare_library(replace(animations, origin=member or animations.origin), chosen)

    def transform(self, rows: Array, label: str) -> Array:
        """Latent points whose poses are most like given ones.

        Args:
            rows: Poses (F, C) of the rig, consecutive frames at the rate of the model.
            label: The label whose space is searched.

        Returns:
            Latent points (F, Q), Q being `dimensions`.

        Raises:
            InvalidInput: If the rows have another width than the rig, or the label is unknown.
            NotFitted: If the model was not fitted.
        """
        space = self.model_.space(label)
        return space.latent_of(self.model_.encoder.encode(rows))[0]

    def inverse_transform(self, latents: Array, label: str) -> Array:
        """The most likely poses at latent points.

        Args:
            latents: Latent points (F, Q), consecutive frames at the rate of the model.
            label: The label in whose space they lie.

        Returns:
            Poses (F, C) of the rig, the first of them over the origin of the floor.

        Raises:
            InvalidInput: If the points have another dimension, or the label is unknown.
            NotFitted: If the model was not fitted.
        """
        from understudy import checks

        space = self.model_.space(label)
        points = checks.array(latents, "latents", ("F", space.latents.shape[1]))
        return self.model_.encoder.decode(space.features_of(points))

    def save(self, path: str | Path) -> None:
        """Write the model with its character and its settings.

        Args:
            path: The file to write, whole or not at all; usually `NAME.understudy`.

        Raises:
            NotFitted: If the model was not fitted.
        """
        self.model_.save(path, self.settings())

    @classmethod
    def load(cls, path: str | Path) -> PoseModel:
        """Read a model that `save` or `understudy learn` wrote, or one that comes with the package.

        Args:
            path: The file, or `"dragon"`: the built-in dragon is learned already.

        Returns:
            The fitted model.

        Raises:
            BadFile: If the file is damaged or holds something else.

        Example:
            >>> us.PoseModel.load("dragon").labels[:3]
            ('happy', 'grumpy', 'bored')
        """
        from understudy import storage

        opened = open_model(path)
        given = storage.read_header(opened.path).get("settings") or {}
        model = cls(**{name: value for name, value in given.items() if name in cls().settings()})
        model.model_, model.rig_ = opened.model, opened.rig
        return model


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
        from understudy.perform.runtime.performer import Performer

        return Performer(self.model, self.rig, rate, prepared=prepared)


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
    """Whether a path has the suffix of a model file, and is not a character with a deformer, which has the same."""
    if Path(path).suffix.lower() != MODEL_SUFFIX:
        return False
    from understudy import storage

    return not storage.holds_character(path)


def open_model(path: str | Path) -> ModelWithCharacter:
    """The model of a file, or of a built-in character that has one, with its character.

    `BadFile` where the two do not fit.
    """
    from understudy.cast import MEMBERS_WITH_MODELS, model_file, restore_character
    from understudy.character import rig
    from understudy.perform.model import PerformanceModel, check_character

    if str(path) in MEMBERS_WITH_MODELS and not Path(path).exists():
        path = model_file(str(path))
    if not is_model(path):
        make = f"`understudy learn {path} -o {Path(path).stem}{MODEL_SUFFIX}` makes one"
        raise BadFile(path, f"is not a model, which ends in {MODEL_SUFFIX}; {make}")
    model = PerformanceModel.load(path)
    try:
        posed = rig.rig_of(restore_character(model.cast, model.embedded))
        check_character(model, posed.channels, posed.character.name)
    except FileError as error:  # the embedded file has no path that a user knows
        raise BadFile(path, f"its character cannot be used: {error.reason}") from error
    except InvalidInput as error:
        raise BadFile(path, str(error)) from error
    return ModelWithCharacter(str(path), model, posed)


def prepare_library(library: ClipLibrary, labels: Sequence[str] = ()) -> ClipLibrary:
    """The library as it is fitted: only `labels` if any are given, without the eyes, with the cast's named poses."""
    if labels:
        takes = [take for label in dict.fromkeys(labels) for take in library.of_label(label)]
        library = replace(library, takes=tuple(takes))
    return _add_cast_poses(_exclude_eye_columns(library))


def _exclude_eye_columns(library: ClipLibrary) -> ClipLibrary:
    """The library without the controls of eyes and lids, where layers of the performance move them instead.

    Eyes follow what there is to see, which changes: learned, they look where something was [Bailey 2016, section 6].
    """
    from understudy.perform.layers.eyes import gaze_columns, lid_columns

    columns = (*library.excluded_columns, *gaze_columns(library.rig), *lid_columns(library.rig))
    return replace(library, excluded_columns=tuple(dict.fromkeys(columns)))


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
    from understudy.cast import character_to_bytes
    from understudy.perform.training import fit_library

    name = library.origin if library.origin in cast.names() else ""
    embedded = b"" if name else character_to_bytes(library.character)
    return fit_library(library, settings, progress, workers, mapper, kept, cast=name, embedded=embedded)
