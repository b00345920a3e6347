"""Legs: what a voice does next, one after the other. A command is planned into legs; a step of time follows the first.

`Follow` and `Hold` take time and are led by the particle, `Replay` takes time and shows training frames; `Cross`,
`Choose` and `Join` happen between two frames.
"""

from __future__ import annotations

from dataclasses import dataclass

from understudy.checks import Array


@dataclass(frozen=True, eq=False)
class Follow:
    """Go along a path, a point a frame."""

    points: Array  # (n + 1, Q)
    radius: float


@dataclass(frozen=True, eq=False)
class Hold:
    """Stay near a point, for some frames or until told otherwise."""

    point: Array  # (Q,)
    radius: float
    frames: int | None = None


@dataclass(frozen=True, eq=False)
class Cross:
    """Change the label over a bridge, and go on at a latent of the other space."""

    label: str
    latent: Array  # (Q,)
    gap: float  # what the bridge leaves, as `Bridges.gaps`


@dataclass(frozen=True, eq=False)
class Replay:
    """Show frames of a clip as they are, while the particle is carried along their embedding."""

    clip: str
    latents: Array  # (n, Q)
    features: Array  # (n, E)


@dataclass(frozen=True, eq=False)
class Choose:
    """Go to another of several points, stay near it for a while, and choose again."""

    points: Array  # (P, Q)
    radius: float
    hover: float  # seconds


@dataclass(frozen=True, eq=False)
class Join:
    """Let a second voice of another label in, at a latent near the pose that is shown, heading for a point."""

    label: str
    point: Array  # (Q,)
    weight: float


Leg = Follow | Hold | Cross | Replay | Choose | Join
