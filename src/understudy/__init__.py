"""understudy makes new character animation out of animation that already exists."""

from __future__ import annotations

__version__ = "0.1.0"
