"""FaceGraph: from labelled takes of a face to new performances of its labels.

The learner of the room. What it learns is an `ExpressionGraph` (`graph_`): a small graph of poses for each region of
the face [Serra 2018]. `act` walks through it, `crowd` does so many times.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, overload

from understudy import storage
from understudy.character import Asset, Character, Clip
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.graph import expression_graph, graph_builder
from understudy.express.graph.expression_graph import ExpressionGraph
from understudy.express.sequence import ExpressionSequence
from understudy.schema import Estimator

if TYPE_CHECKING:
    from understudy.express.acting import ExpressionTake
    from understudy.express.acting.cues import CueArgument


class FaceGraph(Estimator):
    """Learns a graph of facial poses from labelled takes, and acts lists of labels, never twice the same.

    After `fit`: `graph_`, an `ExpressionGraph`, and `notes_`, a line for each thing that preparing the takes changed.

    Args:
        compression: Share of the takes' bytes that the graph saves, 0 to 1.
        tolerance: How near to that share is near enough, 0 to 1.
        regions: Patterns of landmark or weight names for each region; None takes eyes, brows, nose, mouth and cheeks.
        align: Whether poses are aligned rigidly before they are merged, for landmarks that still move with the head.
        seed: Seed of the order in which takes are merged.

    Raises:
        NotFitted: If `graph_` is asked for before `fit`.

    Example:
        >>> graph = us.load("face.understudy")
        >>> graph.labels[:3]
        ('anger', 'contempt', 'disgust')
        >>> take = graph.act(["fear", {"happiness": 0.7, "surprise": 0.3}], seed=1)
        >>> take.cues
        ('fear', 'happiness:0.7+surprise:0.3')

    Notes:
        [Serra 2018, sections 4 and 5]; docs/express.md.
    """

    graph_: ExpressionGraph
    notes_: tuple[str, ...]

    def __init__(
        self,
        *,
        compression: float = 0.85,
        tolerance: float = 0.1,
        regions: Mapping[str, Sequence[str]] | None = None,
        align: bool = False,
        seed: int = 0,
    ) -> None:
        self.compression, self.tolerance, self.regions = compression, tolerance, regions
        self.align, self.seed = align, seed

    def settings(self) -> dict[str, Any]:
        """The arguments of `__init__` as plain values."""
        regions = None if self.regions is None else {name: list(members) for name, members in self.regions.items()}
        return super().settings() | {"regions": regions}

    @property
    def labels(self) -> tuple[str, ...]:
        """The labels that can be acted, sorted."""
        return self.graph_.labels

    def fit(self, takes: Iterable[ExpressionSequence] | Asset | str | Path) -> FaceGraph:
        """Build the graph of labelled takes.

        Args:
            takes: Prepared takes; an `Asset` or a file with a character whose clips carry labels; a MANIFEST.toml that
                names files, labels and peaks; or the name of a built-in character (`"face"`, `"dragon"`).

        Returns:
            The graph itself.

        Raises:
            InvalidInput: If there is no take, a clip has no label, or takes do not have the same points.
            FileError: If a file cannot be read.
        """
        found, regions, notes = read_takes(takes)
        self.graph_ = graph_builder.build(
            found,
            compression=self.compression,
            tolerance=self.tolerance,
            regions=regions if self.regions is None else self.regions,
            align=self.align,
            seed=self.seed,
        )
        self.notes_ = notes
        return self

    def add(self, take: ExpressionSequence) -> FaceGraph:
        """Merge one more take into the graph, without the takes that it was built from.

        Args:
            take: A prepared take with the points and the rate of the graph; its label may be new.

        Returns:
            The graph itself.

        Raises:
            InvalidInput: If the take has other points or another rate.
            NotFitted: If the graph was not fitted.
        """
        self.graph_ = graph_builder.add_take(self.graph_, take, align=self.align)
        return self

    @overload
    def act(
        self, labels: Sequence[CueArgument] | CueArgument, *, seed: int = 0, character: None = None, **settings: Any
    ) -> ExpressionTake: ...

    @overload
    def act(
        self, labels: Sequence[CueArgument] | CueArgument, *, seed: int = 0, character: Character, **settings: Any
    ) -> Clip: ...

    def act(
        self,
        labels: Sequence[CueArgument] | CueArgument,
        *,
        seed: int = 0,
        character: Character | None = None,
        landmarks: Sequence[int] | Array | None = None,
        face_map: str | Path | None = None,
        **settings: Any,
    ) -> ExpressionTake | Clip:
        """Act labels one after the other, from neutral.

        Args:
            labels: What to act: `"fear"`, `{"fear": 0.5}` for half of it, `{"fear": 0.5, "surprise": 0.5}` for both.
            seed: Another seed gives another performance.
            character: The character that acts; None gives the bare performance.
            landmarks: Vertices (68,) of the character that the landmarks stand for, for a graph of landmarks; those of
                the built-in face are known.
            face_map: A file of `understudy express map` that says which shapes of the character show what; None goes by
                the names of its shapes and expressions (ARKit, VRM, Ready Player Me, VRoid).
            settings: Fields of `understudy.express.acting.ActSettings`: `coupling` of the regions (0 to 1), `smoothing`
                (0 to 1), `path_noise`, `length_noise`, `intensity` (0 to 2), `hold` at an apex in seconds, `back` to
                neutral, `life` of blinks, gaze and head, `pace`, `direct` (0 to 1), and `rate` in frames a second.

        Returns:
            A clip of the character, or without one an `ExpressionTake` with `points` (F, L, D).

        Raises:
            InvalidInput: If a label is unknown, a setting out of its range, or the character has none of the shapes.
            NotFitted: If the graph was not fitted.

        Example:
            >>> face = us.load("face").character()
            >>> clip = us.load("face.understudy").act("surprise", character=face)
            >>> clip.moments["surprise"] > 0
            True
        """
        from understudy.express.acting import act, clip_of
        from understudy.express.face_map import read_face_map

        take = act(self.graph_, labels, seed=seed, **_known_settings(settings))
        if character is None:
            return take
        landmarks = _landmarks_of(character) if landmarks is None else landmarks
        return clip_of(
            take, character, "act", landmarks, face_map=None if face_map is None else read_face_map(face_map, character)
        )

    def crowd(
        self, labels: Sequence[CueArgument] | CueArgument, count: int, *, seed: int = 0, **settings: Any
    ) -> Iterator[ExpressionTake]:
        """Many performances of the same labels, each of them different.

        Args:
            labels: What to act, as in `act`.
            count: Number of faces, at most a million.
            seed: Seed of the crowd. Face i is what `act` gives for the seed `(seed, i)`.
            settings: Fields of `ActSettings`, as in `act`.

        Returns:
            The performances, one after the other as they are asked for.

        Raises:
            InvalidInput: If a label is unknown or a setting out of its range.
            NotFitted: If the graph was not fitted.
        """
        from understudy.express.acting import crowd

        return crowd(self.graph_, labels, count, seed=seed, **_known_settings(settings))

    def save(self, path: str | Path) -> None:
        """Write the graph and its settings.

        Args:
            path: The file to write, whole or not at all; usually `NAME.understudy`.

        Raises:
            NotFitted: If the graph was not fitted.
        """
        expression_graph.save(self.graph_, path, self.settings())

    @classmethod
    def load(cls, path: str | Path) -> FaceGraph:
        """Read a graph that `save` or `understudy express build` wrote.

        Args:
            path: The file.

        Returns:
            The fitted graph.

        Raises:
            BadFile: If the file is damaged or holds something else.
        """
        graph = expression_graph.load(path)
        given = storage.read_header(path).get("settings") or {}
        result = cls(**{name: value for name, value in given.items() if name in cls().settings()})
        result.graph_, result.notes_ = graph, ()
        return result


def read_takes(
    takes: Iterable[ExpressionSequence] | Asset | str | Path,
) -> tuple[list[ExpressionSequence], Mapping[str, Sequence[str]] | None, tuple[str, ...]]:
    """Prepared takes, the regions where a manifest names any, and notes."""
    from understudy.cast import open_asset

    if isinstance(takes, str | Path) and Path(takes).suffix.lower() == ".toml":
        return read_manifest_takes(takes)
    if isinstance(takes, str | Path):
        takes = open_asset(takes)
    if isinstance(takes, Asset):
        found, notes = takes_of_asset(takes)
        return found, None, notes
    return list(takes), None, ()


def read_manifest_takes(
    path: str | Path, rate: float | None = None
) -> tuple[list[ExpressionSequence], Mapping[str, Sequence[str]] | None, tuple[str, ...]]:
    """The prepared takes of a manifest, its regions, and notes."""
    from understudy.express.manifest import read_manifest
    from understudy.express.preprocessing import preprocess

    manifest = read_manifest(path)
    found = preprocess(manifest.sequences, rate=rate, regions=manifest.regions)
    return found, manifest.regions, tuple(dict.fromkeys(note for take in found for note in take.notes))


def takes_of_asset(
    asset: Asset, landmarks: Sequence[int] | Array | None = None, rate: float | None = None
) -> tuple[list[ExpressionSequence], tuple[str, ...]]:
    """The prepared takes of a character's labelled clips, of its weights or of the vertices `landmarks`, and notes."""
    from understudy.character.rig import rig_of
    from understudy.express.from_clips import sequences_of
    from understudy.express.preprocessing import preprocess

    if not asset.characters or not asset.animations:
        raise InvalidInput("a face graph is built of a character with labelled clips, but there is none here")
    takes = sequences_of(rig_of(asset.character()), asset.animations, landmarks, rate)
    notes = (*asset.notes, *(note for take in takes for note in take.notes))
    # hand animation neither trembles nor lacks its way back; landmarks still carry the head's movement
    moving = landmarks is not None
    return preprocess(takes, steady=moving, liken=moving, jitter=0.0, sigmoid=0.0), tuple(dict.fromkeys(notes))


def _known_settings(settings: dict[str, Any]) -> dict[str, Any]:
    from understudy import checks
    from understudy.express.acting import ActSettings

    for name in settings:
        checks.one_of(name, "setting", ActSettings._fields)
    return settings


def _landmarks_of(character: Character) -> Array | None:
    from understudy import cast
    from understudy.cast import member_of_cast

    return cast.FACE_LANDMARKS if member_of_cast(character) == "face" else None
