"""Weights or markers of any animation file: Live Link's CSV, glTF, USD, C3D and whatever else holds clips."""

from __future__ import annotations

import numpy as np

from understudy.character import Asset, Clip
from understudy.errors import InvalidInput, listed
from understudy.expression.reading.recording import Recording
from understudy.formats import arkit_names


def of_asset(asset: Asset, clip: str | None = None) -> Recording:
    """The recording in an asset's clip of that name, or in its only one."""
    found = {animation.name: animation for animation in asset.animations}
    if clip is None and len(found) != 1:
        raise InvalidInput(f"one clip was expected, but there are {len(found)}: {listed(found) or 'none'}")
    if clip is not None and clip not in found:
        raise InvalidInput(f"there is no clip {clip!r}; available: {listed(found, 40) or 'none'}")
    chosen = found[clip] if clip is not None else next(iter(found.values()))
    return of_clip(chosen if isinstance(chosen, Clip) else chosen.clip(), asset.notes)


def of_clip(clip: Clip, notes: tuple[str, ...] | list[str] = ()) -> Recording:
    """The shape weights of a clip (D = 1), by their ARKit names where they have one; without weights its markers."""
    names: list[str] = []
    for channel in clip.channels:
        if channel.kind == "weights":
            names += [arkit_names.canonical(column) or column for column in channel.columns]
    columns = clip.channels.columns_of("weights")
    if columns.size:
        first = dict(zip(reversed(names), reversed(columns)))  # parts may share shapes: the first one's stay
        kept = list(dict.fromkeys(names))
        return Recording(clip.name, clip.values[:, [first[name] for name in kept]][..., None], clip.rate, kept, notes)
    markers = [channel.target for channel in clip.channels if channel.kind == "marker"]
    if not markers:
        raise InvalidInput(f"clip {clip.name!r} should have shape weights or markers, but has neither")
    values = clip.values[:, clip.channels.columns_of("marker")]
    return Recording(clip.name, np.reshape(values, (len(values), len(markers), 3)), clip.rate, markers, notes)
