"""Contact phases: when each contact point is in contact with the floor.

Found by height and speed with hysteresis: a point comes down when it is low and slow, and leaves when it is clearly
higher or faster than that. Heights are above the point's own floor, the height that it comes down to in this motion,
because markers and joints are above the sole. Users may edit phases: they are read and written as spans of seconds.

    [contacts]
    "LeftToeBase.toe" = [[0.0, 1.2], [1.9, 2.4]]   # from the first frame on the floor to the last, seconds
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from understudy import checks, schema
from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.files import read_text
from understudy.maths.resample import gaussian_smooth

# Heights over the height of the body, speeds in heights a second. Toes of people rise 3 % and heels 5 % before they
# leave the floor, and captured feet creep at up to 0.1; in a swing they rise by 6 % and more and move at 2 or faster.
CONTACT_HEIGHT_RATIO_ON, CONTACT_HEIGHT_RATIO_OFF = 0.025, 0.05
CONTACT_SPEED_ON, CONTACT_SPEED_OFF = 0.15, 0.35
MAX_FLOOR_HEIGHT_RATIO = 0.12  # of the height: a point that never comes lower does not touch the floor at all
SPEED_SMOOTHING_SECONDS = 0.02  # of positions, before speeds are computed
MIN_PHASE_SECONDS, MIN_GAP_SECONDS = 0.1, 0.07  # shorter phases are dropped, shorter gaps are closed
MAX_PHASE_FILE_CHARACTERS = 4_000_000


@dataclass(frozen=True, eq=False)
class ContactPhases:
    """Which contact points are down in which frame."""

    names: tuple[str, ...]  # (K,)
    down: Array  # (F, K) bool
    gliding: Array | None  # (F,) bool: frames in which what is down may slide; None: never

    def __init__(self, names: Iterable[str], down: Any, gliding: Any = None) -> None:
        names = checks.unique_names(names, "contact points")
        object.__setattr__(self, "names", names)
        object.__setattr__(self, "down", checks.array(down, "contact phases", ("F", len(names)), bool))
        glides = None if gliding is None else checks.array(gliding, "gliding frames", (len(self.down),), bool)
        object.__setattr__(self, "gliding", glides)

    def __len__(self) -> int:
        return len(self.down)

    def __repr__(self) -> str:
        return f"ContactPhases({len(self)} frames, {len(self.names)} contacts)"

    def runs(self, contact: int) -> list[tuple[int, int]]:
        """The phases of one contact, each from its first frame to the one after its last."""
        return runs(self.down[:, contact])

    def spans(self, rate: float, start: float = 0.0) -> dict[str, list[tuple[float, float]]]:
        """Seconds of the first and last frame of each phase, by contact."""
        return {
            name: [(start + a / rate, start + (b - 1) / rate) for a, b in self.runs(k)]
            for k, name in enumerate(self.names)
        }


def find_contact_phases(
    positions: Array, rate: float, height: float, names: Iterable[str] | None = None
) -> ContactPhases:
    """The phases of contact points at positions (F, K, 3), of a body as high as `height` metres."""
    positions = np.asarray(positions, np.float64)
    frames, count = positions.shape[:2]
    known = tuple(f"contact {k}" for k in range(count)) if names is None else tuple(names)
    if frames == 0 or count == 0:
        return ContactPhases(known, np.zeros((frames, count), bool))
    steady = gaussian_smooth(positions.reshape(frames, -1), SPEED_SMOOTHING_SECONDS * rate).reshape(positions.shape)
    speed = np.linalg.norm(np.gradient(steady, 1 / rate, axis=0), axis=2) if frames > 1 else np.zeros((1, count))
    floor = np.percentile(positions[..., 1], 5, axis=0)
    touches = np.abs(floor) < MAX_FLOOR_HEIGHT_RATIO * height
    above = (positions[..., 1] - floor) / height
    lands = (above < CONTACT_HEIGHT_RATIO_ON) & (speed < CONTACT_SPEED_ON * height) & touches
    leaves = (above > CONTACT_HEIGHT_RATIO_OFF) | (speed > CONTACT_SPEED_OFF * height) | ~touches
    down = hysteresis(lands, leaves)
    for k in range(count):
        _drop_short_runs(down[:, k], round(MIN_GAP_SECONDS * rate), False)
        _drop_short_runs(down[:, k], round(MIN_PHASE_SECONDS * rate), True)
    return ContactPhases(known, down)


def hysteresis(on: Array, off: Array) -> Array:
    """(F, K) a switch that goes on with `on`, off with `off`, and stays between; off at the start unless on."""
    frames = np.arange(len(on))[:, None]
    event = np.maximum.accumulate(np.where(on | off, frames, -1), axis=0)
    return np.where(event >= 0, np.take_along_axis(on & ~off, np.maximum(event, 0), axis=0), False)


def runs(mask: Array) -> list[tuple[int, int]]:
    """Where a mask (F,) is true: each run from its first frame to the one after its last."""
    edges = np.flatnonzero(np.diff(np.concatenate([[False], mask, [False]]).astype(np.int8)))
    return [(int(a), int(b)) for a, b in edges.reshape(-1, 2)]


def _drop_short_runs(mask: Array, shortest: int, value: bool) -> None:
    """Invert runs of `value` shorter than `shortest` frames, in place, except at the ends of the motion."""
    for a, b in runs(mask == value):
        if b - a < shortest and a > 0 and b < len(mask):
            mask[a:b] = not value


def phases_from_spans(
    names: Iterable[str],
    spans: Mapping[str, Iterable[tuple[float, float]]],
    frames: int,
    rate: float,
    start: float = 0.0,
) -> ContactPhases:
    """Phases from spans of seconds; a contact without spans is never down, an unknown one is refused."""
    known = tuple(names)
    down = np.zeros((frames, len(known)), bool)
    for name, pairs in spans.items():
        column = known.index(checks.one_of(name, "contact point", known))
        for first, last in pairs:
            if not np.isfinite([first, last]).all() or last < first:
                raise InvalidInput(
                    f"a span of contact {name!r} should be its first and last second, but is {first}, {last}"
                )
            a, b = np.clip(np.round((np.array([first, last]) - start) * rate), -1, frames).astype(int)
            down[max(a, 0) : b + 1, column] = True
    return ContactPhases(known, down)


def read_phases(path: str | Path, names: Iterable[str], frames: int, rate: float, start: float = 0.0) -> ContactPhases:
    """The phases of a TOML file, for the contacts of that name."""
    reader = schema.TableReader(str(path))
    whole = schema.parse_toml(read_text(path, MAX_PHASE_FILE_CHARACTERS), str(path), MAX_PHASE_FILE_CHARACTERS)
    reader.keys(whole, ("contacts",), "", "a file of contact phases")
    spans: dict[str, list[tuple[float, float]]] = {}
    known = tuple(names)
    table = reader.table(whole.get("contacts", {}), "contacts", "contacts")
    reader.keys(table, known, "contacts", "this character")
    for name, value in table.items():
        if not isinstance(value, list) or not all(isinstance(pair, list) and len(pair) == 2 for pair in value):
            reader.fail("should be a list of spans [first second, last second]", f"contacts.{name}")
        ends = [[reader.number(v, "a span's end", f"contacts.{name}") for v in pair] for pair in value]
        if any(last < first for first, last in ends):
            reader.fail("has a span that ends before it begins", f"contacts.{name}")
        spans[name] = [(first, last) for first, last in ends]
    return phases_from_spans(known, spans, frames, rate, start)
