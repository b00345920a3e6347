"""Pose model: a character's pose spaces, one a label, and the bridges between them; saved as one `.understudy` file.

The file keeps its character in one of two ways: a member of the built-in cast by its name, any other as a GLB within
the file, so that a model can be performed without the character's own file.
"""

from __future__ import annotations

from collections.abc import Mapping as Dictionary
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, storage
from understudy.character import Channels
from understudy.checks import Array
from understudy.errors import BadFile, InvalidInput, UnderstudyError, join_names
from understudy.perform import behaviours, pose_space
from understudy.perform.behaviours import Behaviour
from understudy.perform.features.encoder import PoseEncoder
from understudy.perform.pose_space import Bridges, PoseSpace, Segment

FILE_KIND = "pose model"
BRIDGE_ARRAYS = ("first_latents", "second_latents", "gaps")


@dataclass(frozen=True, eq=False)
class PerformanceModel:
    """The pose spaces of one character, the bridges between them, and its named poses.

    `weights` say how much each feature counts, `metric` turns differences of features into metres of the surface.
    """

    encoder: PoseEncoder
    spaces: Dictionary[str, PoseSpace]  # by label
    bridges: tuple[Bridges, ...]  # one for each pair of labels that are hovered in
    weights: Array  # (E,) of `features.weights.FeatureWeights`
    metric: Array  # (E,) metres of root mean square over the vertices, for each unit of a feature
    poses: Dictionary[str, Array] = field(default_factory=dict)  # name -> features (E,)
    cast: str = ""  # the built-in character, or "" where the character is embedded
    embedded: bytes = b""  # its GLB
    notes: tuple[str, ...] = ()
    behaviours: Dictionary[str, Behaviour] = field(default_factory=dict)  # by clip; a clip without one is hovered in

    @property
    def labels(self) -> tuple[str, ...]:
        """In the order of the library."""
        return tuple(self.spaces)

    @property
    def rate(self) -> float:
        """Frames a second of the training clips."""
        return next(iter(self.spaces.values())).rate

    def __repr__(self) -> str:
        return f"PerformanceModel({join_names(self.labels)}, {sum(map(len, self.spaces.values()))} frames)"

    def space(self, label: str) -> PoseSpace:
        """The pose space of a label; `InvalidInput` lists the known labels."""
        return self.spaces[checks.one_of(label, "label", self.spaces)]

    def clip(self, name: str) -> tuple[str, Segment]:
        """The label and the segment of a clip. `Walk` finds Blender's `Armature|Walk` if that is unique."""
        matching = [(label, s) for label, space in self.spaces.items() for s in space.segments if s.clip == name]
        if not matching:
            every = [(label, s) for label, space in self.spaces.items() for s in space.segments]
            matching = [(label, s) for label, s in every if s.clip.rpartition("|")[2] == name]
            if len(matching) != 1:
                checks.one_of(name, "clip", (s.clip for _, s in every))
        return matching[0]

    def label_behaviour(self, label: str) -> tuple[Segment, Behaviour]:
        """The clip that a label plays while it is shown, and what that clip does."""
        segments = self.space(label).segments
        number, behaviour = behaviours.label_behaviour([segment.clip for segment in segments], self.behaviours)
        return segments[number], behaviour

    def route(self, start: str, goal: str) -> tuple[Bridges, ...]:
        """The bridges to cross from one label to another.

        They lead over labels that are hovered in. From or to a cycle or an act there is one direct bridge, found when
        it is first asked for: a route never plays an act on its way.
        """
        if start == goal:
            return ()
        if start not in self._routes:
            self._routes[start] = pose_space.routes_from(self._bridges_by_label, start, self._label_costs)
        if goal not in self._routes[start]:
            self._routes[start][goal] = (self._find_bridges(*sorted((start, goal), key=self.labels.index)),)
        return self._routes[start][goal]

    def _find_bridges(self, first: str, second: str) -> Bridges:
        pair = first, second
        if pair not in self._direct_bridges:
            self._direct_bridges[pair] = pose_space.find_bridges(self.space(first), self.space(second), self.weights)
        return self._direct_bridges[pair]

    @cached_property
    def _direct_bridges(self) -> dict[tuple[str, str], Bridges]:
        return {}

    @cached_property
    def _bridges_by_label(self) -> dict[str, list[tuple[Bridges, float]]]:
        return pose_space.bridges_by_label(self.bridges)

    @cached_property
    def _label_costs(self) -> dict[str, float]:
        return pose_space.label_costs({label: space.features * self.weights for label, space in self.spaces.items()})

    @cached_property
    def _routes(self) -> dict[str, dict[str, tuple[Bridges, ...]]]:
        """By start label, filled on demand: 70 labels have 5,000 routes, of which a performance needs a few."""
        return {}

    def difference(self, features: Array, others: Array) -> Array:
        """How different poses (..., E) look, by the weights: 1 is the average difference of a pose from the mean."""
        return np.asarray(np.linalg.norm((features - others) * self.weights, axis=-1))

    def distance(self, features: Array, others: Array) -> Array:
        """Metres between poses (..., E): the root mean square over the vertices, to first order."""
        return np.asarray(np.linalg.norm((features - others) * self.metric, axis=-1))

    def save(self, path: str | Path, settings: Dictionary[str, Any] | None = None) -> None:
        """Write the model, whole or not at all; `settings` are those that it was fitted with."""
        header: dict[str, Any] = {"kind": FILE_KIND, "settings": dict(settings or {}), "cast": self.cast}
        header |= {"notes": list(self.notes), "poses": list(self.poses), "spaces": []}
        header["behaviours"] = {clip: behaviour.header() for clip, behaviour in self.behaviours.items()}
        header["encoder"] = self.encoder.header()
        arrays: dict[str, Array] = {f"encoder.{name}": array for name, array in self.encoder.arrays().items()}
        arrays |= {"weights": self.weights, "metric": self.metric}
        arrays["poses"] = np.array(list(self.poses.values())).reshape(len(self.poses), len(self.metric))
        arrays["character"] = np.frombuffer(self.embedded, np.uint8)
        for number, space in enumerate(self.spaces.values()):
            part, space_arrays = space.parts()
            header["spaces"].append(part)
            arrays |= {f"space{number}.{name}": array for name, array in space_arrays.items()}
        header["bridges"] = [[b.first, b.second, b.threshold, b.wide] for b in self.bridges]
        for number, pair in enumerate(self.bridges):
            arrays |= {f"bridges{number}.{name}": getattr(pair, name) for name in BRIDGE_ARRAYS}
        storage.write(path, header, arrays, compressed=True)

    @classmethod
    def load(cls, path: str | Path) -> PerformanceModel:
        """Read a model; `BadFile` where the file is damaged or of another kind."""
        header, arrays = storage.read(path)
        if header.get("kind", FILE_KIND) != FILE_KIND:  # files of version 0.1 have no kind
            raise BadFile(path, f"holds a {header['kind']}, but a model that `understudy learn` has made was expected")
        parts: dict[str, dict[str, Array]] = {}
        for name, array in arrays.items():
            part, _, rest = name.partition(".")
            parts.setdefault(part, {})[rest] = array

        def below(part: str) -> dict[str, Array]:
            return parts.get(part, {})

        try:
            spaces = [
                PoseSpace.from_parts(part, below(f"space{number}")) for number, part in enumerate(header["spaces"])
            ]
            bridges = tuple(
                Bridges(str(first), str(second), threshold=float(limit), wide=bool(wide), **below(f"bridges{number}"))
                for number, (first, second, limit, wide) in enumerate(header["bridges"])
            )
            model = cls(
                PoseEncoder.from_parts(header["encoder"], below("encoder")),
                {space.label: space for space in spaces},
                bridges,
                arrays["weights"],
                arrays["metric"],
                dict(zip(map(str, header["poses"]), arrays["poses"], strict=True)),
                str(header["cast"]),
                arrays["character"].tobytes(),
                tuple(map(str, header["notes"])),
                # files of version 0.1 have no behaviours
                {str(clip): Behaviour(**fields) for clip, fields in header.get("behaviours", {}).items()},
            )
            model._check()
        except UnderstudyError as error:
            raise BadFile(path, f"is a damaged model: {error}") from None
        except (KeyError, TypeError, ValueError, IndexError, AttributeError) as error:
            raise BadFile(path, f"is a damaged model: {type(error).__name__} {error}") from None
        return model

    def _check(self) -> None:
        """Raise where the parts do not fit each other."""
        width = len(self.encoder.names)
        if not self.spaces:
            raise InvalidInput("a model should have at least one label, but has none")
        rows = {"weights": self.weights, "metric": self.metric, **{f"pose {n!r}": row for n, row in self.poses.items()}}
        for what, array in rows.items():
            checks.array(array, what, (width,))
        dimensions = {space.latents.shape[1] for space in self.spaces.values()}
        for space in self.spaces.values():
            checks.array(space.latents, f"latents of {space.label!r}", ("N", "Q"))
            checks.array(space.features, f"features of {space.label!r}", (len(space), width), np.float32)
        for pair in self.bridges:
            for label in (pair.first, pair.second):
                checks.one_of(label, "label", self.spaces)
            for name in BRIDGE_ARRAYS:
                value = getattr(pair, name)
                checks.array(value, name, (len(pair), max(dimensions)) if value.ndim == 2 else (len(pair),))


def check_character(model: PerformanceModel, channels: Channels, name: str) -> None:
    """Raise unless a character's rig has the columns that the model was fitted to."""
    expected = model.encoder.channels
    if expected == channels:
        return
    missing = [column for column in expected.names if column not in set(channels.names)]
    difference = f"lacks {join_names(missing, 3)}" if missing else "has other columns besides, or in another order"
    raise InvalidInput(f"the model was learned from another character: {name!r} {difference}")
