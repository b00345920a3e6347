"""Every method on the same training poses, measured on the same held-out ones."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from understudy import checks
from understudy.checks import Array
from understudy.deform import registry
from understudy.deform.deformer import Deformer
from understudy.deform.examples import Examples
from understudy.errors import InvalidInput, UnderstudyError
from understudy.skinning.measures import Measures, measure

HELD_OUT = 0.25
PAINTED = "linear, painted"  # the weights that came with the examples, for comparison
Report = Callable[[str, int, int], None]
"""Called with the method at work, what is done and how much there is."""


@dataclass(frozen=True, eq=False)
class Entry:
    """One method: its figures, or the sentence that says why it has none."""

    method: str
    paper: str
    gltf: bool
    measures: Measures | None
    deformer: Deformer | None = None
    problem: str = ""


@dataclass(frozen=True, eq=False)
class Comparison:
    """Entries in the order of the registry, and the poses that they were fitted to and measured on."""

    entries: tuple[Entry, ...]
    trained: Examples
    held: Examples
    held_numbers: Array  # (P,) of the poses held out

    @property
    def measured(self) -> tuple[Entry, ...]:
        """The entries with figures."""
        return tuple(entry for entry in self.entries if entry.measures is not None)


def held_out(count: int, share: float = HELD_OUT) -> Array:
    """The numbers of the poses to hold out: evenly spread between others, never the first, at least one of two."""
    if count < 2:
        raise InvalidInput(f"a comparison needs 2 poses or more, one of them to be held out, but there is {count}")
    if not 0 < share < 1:
        raise InvalidInput(f"the share of poses held out should lie between 0 and 1, but is {share}")
    wanted = min(max(round(share * count), 1), count - 1)
    return 1 + np.floor((np.arange(wanted) + 0.5) * (count - 1) / wanted).astype(int)


def compare(
    examples: Examples,
    methods: Iterable[str] = (),
    share: float = HELD_OUT,
    seed: int = 0,
    settings: dict[str, Any] | None = None,
    report: Report | None = None,
) -> Comparison:
    """Fit each method (all of them by default) and measure it. One that cannot be fitted says why in its entry."""
    methods = tuple(methods)
    chosen = [checks.one_of(name, "deformer", registry.METHODS) for name in methods] or list(registry.METHODS)
    numbers = held_out(len(examples), share)
    trained, held = examples.split(numbers)
    entries = []
    if examples.weights is not None and not methods:
        painted = _entry("linear", trained, held, seed, {"weights": "artist"})
        entries.append(replace(painted, method=PAINTED))
    for done, name in enumerate(dict.fromkeys(chosen)):
        if report:
            report(name, done, len(chosen))
        entries.append(_entry(name, trained, held, seed, (settings or {}).get(name)))
    return Comparison(tuple(entries), trained, held, checks.freeze(numbers))


def _entry(name: str, trained: Examples, held: Examples, seed: int, settings: Any) -> Entry:
    kind = registry.method(name)
    began = time.process_time()
    try:
        deformer = kind.fit(trained, settings, seed)
        seconds = time.process_time() - began
        measures = measure(deformer, held, seconds)
    except (UnderstudyError, np.linalg.LinAlgError, MemoryError) as error:
        problem = str(error) or type(error).__name__
        return Entry(name, kind.paper, False, None, None, problem)
    if not np.isfinite(measures.rms):
        return Entry(name, kind.paper, bool(deformer.gltf), None, deformer, "its vertices are not finite")
    return Entry(name, kind.paper, bool(deformer.gltf), measures, deformer)


def row(entry: Entry) -> dict[str, Any]:
    """The figures of an entry under plain names, for JSON and tables."""
    told: dict[str, Any] = {"method": entry.method, "paper": entry.paper, "gltf": entry.gltf}
    m = entry.measures
    if m is None:
        return told | {"problem": entry.problem}
    return told | {
        "rms_mm": 1000 * m.rms,
        "rms_percent": 100 * m.rms / m.size,
        "worst_mm": 1000 * m.worst,
        "worst_percent": 100 * m.worst / m.size,
        "volume_loss_percent": 100 * m.volume_loss,
        "worst_volume_loss_percent": 100 * m.worst_volume_loss,
        "edge_stretch_percent": 100 * m.edge_stretch,
        "bytes_a_vertex": m.bytes_a_vertex,
        "fit_seconds": m.fit_seconds,
        "frame_microseconds": m.frame_microseconds,
    }
