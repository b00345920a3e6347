"""The dragon: head and neck of a young dragon, moved by a film-like face rig, with its hand animation.

Its body is sculpted by `body`, its controls are made by `face`; both run when the file that is shipped is built
(`build`). Loading reads that file.
"""

from __future__ import annotations

import importlib.util

from understudy.character import Asset


def dragon() -> Asset:
    """The dragon and its animation."""
    from understudy.cast.dragon import store

    body = store.read()
    if importlib.util.find_spec("understudy.cast.dragon.clips") is None:
        return Asset([body], format="cast")
    from understudy.cast.dragon import clips

    return Asset([body], curves=clips.clips(body), format="cast")
