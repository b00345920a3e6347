"""Features: from clips to the numbers that a pose model is fitted to, and back."""

from __future__ import annotations

from understudy.perform.features.reduction import components_for, explained_variance
from understudy.perform.features.weights import influence

__all__ = ["components_for", "explained_variance", "influence"]
