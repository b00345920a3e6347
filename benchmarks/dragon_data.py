"""The dragon's animation in the numbers that Bailey 2016 gives for its own (section 6): controls, frames, components.

The paper: 742 face controls, 3,745 frames at 24 fps (156 s), eight labels of 100 to 800 frames, and as many principal
components a label as explain 85 % of its variance.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from benchmarks.measure import Row

from understudy import cast
from understudy.character import rig
from understudy.perform.features import components_for, explained_variance, weights

PEERS = False  # nothing here needs the peers' environment
PAPER = "Bailey 2016"
SHARES = (0.85, 0.95, 0.99)


def rows() -> Iterator[Row]:
    """Every row of this benchmark, as they are measured."""
    asset = cast.load("dragon")
    played = rig.rig_of(asset.characters[0])
    values = {clip.name: played.pose(clip) for clip in asset.animations}
    everything = np.concatenate(list(values.values()))
    moving = int((np.ptp(everything, axis=0) > 0).sum())
    yield Row("controls", played.channels.width, "n", f"{PAPER}: 742", played.channels.width / 742, None)
    yield Row("controls that the clips move", moving, "n", "", None, None)
    yield Row("frames at 24 fps", len(everything), "n", f"{PAPER}: 3745", len(everything) / 3745, 1.0)
    yield Row("clips", len(values), "n", "asked for: 45", len(values) / 45, 1.0)
    labels = dict.fromkeys(label for clip in asset.animations for label in clip.labels)
    for label in labels:
        chosen = [values[clip.name] for clip in asset.animations if label in clip.labels]
        yield from about(label, chosen, played)
    yield from about("all", list(values.values()), played)


def about(label: str, chosen: list[np.ndarray], played: rig.Rig) -> Iterator[Row]:
    """Clips, frames, and components for some shares of the variance, of controls as they are and scaled by eq. 3."""
    frames = np.concatenate(chosen)
    yield Row(f"{label}: clips", len(chosen), "n", "", None, None)
    theirs = "3745 frames" if label == "all" else "100 to 800 frames a label"
    yield Row(f"{label}: frames", len(frames), "n", f"{PAPER}: {theirs}", None, None)
    mean, deviation = frames.mean(axis=0), frames.std(axis=0)
    scaled = weights(played.vertices, mean, deviation) * (frames - mean)
    for share in SHARES:
        plain, ours = components_for(frames, share), components_for(scaled, share)
        yield Row(f"{label}: components for {share:.0%}", ours, "n", f"unscaled controls: {plain}", plain / ours, None)
    curve = explained_variance(scaled)[[0, 1, 2, 4, 9]]
    shown = ", ".join(f"{d}: {v:.0%}" for d, v in zip((1, 2, 3, 5, 10), curve))
    unscaled = explained_variance(frames)[[0, 1, 2, 4, 9]]
    other = ", ".join(f"{d}: {v:.0%}" for d, v in zip((1, 2, 3, 5, 10), unscaled))
    yield Row(f"{label}: explained by 10", float(curve[-1] * 100), "%", f"scaled {shown}; unscaled {other}", None, None)
