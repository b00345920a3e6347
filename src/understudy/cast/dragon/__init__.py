"""The dragon: head and neck of a young dragon, moved by a film-like face rig, with its hand animation.

Its body is sculpted by `body`, its controls are made by `face`; both run when the file that is shipped is built
(`build`). Loading reads that file.
"""

from __future__ import annotations

from understudy.character import Asset
from understudy.checks import Array


def dragon() -> Asset:
    """The dragon and its animation."""
    from understudy.cast.dragon import clips, store

    body = store.read()
    curves = () if body.layers is None else clips.clips(body.layers.controls)
    return Asset([body], curves=curves, format="cast")


def poses() -> dict[str, Array]:
    """The pose library, name -> row (C,) of the controls: full faces (`happy`) and poses of a group (`lids.angry`)."""
    from understudy.cast.dragon import clips
    from understudy.cast.dragon.controls import dragon_controls

    return clips.poses(dragon_controls())
