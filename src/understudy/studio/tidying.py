"""When Python looks for garbage: while something is opened, which takes long anyway, and not while somebody drags.

A character and what is prepared for it are a hundred thousand objects, and to look through all of them takes 60 to 130
ms: a gesture that met with that would stand still. What is open is set aside, until the next is opened.
"""

from __future__ import annotations

import gc


def tidy() -> None:
    """Collect all garbage now, and look no more at what is left."""
    gc.unfreeze()
    gc.collect()
    gc.freeze()
