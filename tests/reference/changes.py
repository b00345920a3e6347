"""Slow oracle of the search of `understudy.perform.runtime.changes`."""

from __future__ import annotations

import numpy as np

from understudy.checks import Array


def search_changes(
    departures: Array,
    waits: Array,
    motion: Array,
    steps: Array,
    accelerations: Array,
    squares: Array,
    candidates: Array,
    shapes: Array,
    durations: Array,
    lengths: Array,
    budget: float,
    harshness: float,
    best: Array,
) -> None:
    """`particle_kernels.search_changes`, over all candidates."""
    found: dict[tuple[int, int], tuple[float, int, int, int, float]] = {}
    for s, ((pose, step), wait) in enumerate(zip(departures, waits)):
        for i in candidates[s]:
            x, v = pose - motion[i], step - steps[i]
            for t, seconds in enumerate(durations):
                own = accelerations[i : i + lengths[t]].copy()
                own[0] = 0.0  # the step that is left and the step that is entered are the same there
                a, b = shapes[t, :, : lengths[t], None]
                peak = float(np.linalg.norm(own + a * x + b * v, axis=1).max())
                cost = wait + seconds + harshness * max(0.0, peak / budget - 1) ** 2
                if (s, i) not in found or cost < found[s, i][0]:
                    found[s, i] = (cost, s, i, t, peak)
    chosen = sorted(found.values())[: len(best)]
    best[: len(chosen)] = chosen
