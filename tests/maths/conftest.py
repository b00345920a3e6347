"""Property tests are judged by their answers, not by the speed of the machine that runs them."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("unhurried", deadline=None)
settings.load_profile("unhurried")
