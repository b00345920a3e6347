"""What everything that learns has in common.

Settings are given to `__init__` and kept under their own names; data is given to `fit`, which returns the estimator;
what was learnt ends in an underscore and is not there before.
"""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from understudy.errors import UnderstudyError


class NotFitted(UnderstudyError):
    """Something learnt was asked for before `fit`.

    Example:
        >>> try:
        ...     us.PoseModel().labels
        ... except us.NotFitted as error:
        ...     print(error)
        PoseModel has no 'model_' yet: call fit first
    """


class Estimator:
    """Base of the learners: settings that can be read back, and a clear word when `fit` was forgotten."""

    def settings(self) -> dict[str, Any]:
        """The arguments of `__init__` as plain values: numbers, words, dictionaries of these, None."""
        return {name: _plain(getattr(self, name)) for name in inspect.signature(type(self)).parameters}

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(f'{name}={getattr(self, name)!r}' for name in self.settings())})"

    def __getattr__(self, name: str) -> Any:
        if name.endswith("_") and not name.startswith("_"):
            raise NotFitted(f"{type(self).__name__} has no {name!r} yet: call fit first")
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}")


def _plain(value: Any) -> Any:
    return dataclasses.asdict(value) if dataclasses.is_dataclass(value) and not isinstance(value, type) else value
