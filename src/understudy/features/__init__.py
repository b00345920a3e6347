"""Features: from clips to the numbers that learners see, and back."""

from understudy.features.influence import influence
from understudy.features.variance import components_for, explained_variance

__all__ = ["components_for", "explained_variance", "influence"]
