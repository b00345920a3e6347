"""Crowds: many faces from one graph, each with its own seed.

All faces share the graph and its routes. Face i of seed s is what `act` gives for the seed (s, i), so one face can be
made again without the others. A crowd is returned face by face, or frame by frame for a stream.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.errors import InvalidInput
from understudy.express.acting.cues import CueArgument, ExpressionTake, read_cues
from understudy.express.acting.graph_paths import prepare_actor
from understudy.express.acting.synthesis import ActSettings, perform_cues
from understudy.express.graph.expression_graph import ExpressionGraph

MAX_FACES = 1_000_000  # faces; more is a typing error


def crowd(
    graph: ExpressionGraph, labels: Sequence[CueArgument] | CueArgument, count: int, *, seed: int = 0, **settings: Any
) -> Iterator[ExpressionTake]:
    """`count` performances of the same labels, all different; `settings` are those of `act`."""
    return performances(graph, labels, count, seed=seed, settings=ActSettings(**settings))


def performances(
    graph: ExpressionGraph,
    labels: Sequence[CueArgument] | CueArgument,
    count: int,
    *,
    seed: int = 0,
    settings: ActSettings,
) -> Iterator[ExpressionTake]:
    """As `crowd`, with all settings in one; labels and settings are checked before the first face acts."""
    if not 1 <= count <= MAX_FACES:
        raise InvalidInput(f"a crowd should have 1 to {MAX_FACES:,} faces, but {count} were asked for")
    actor, cues, settings = prepare_actor(graph), read_cues(graph, labels), settings.validate()
    return (perform_cues(actor, cues, settings, (seed, face)) for face in range(count))


def crowd_frames(
    graph: ExpressionGraph,
    labels: Sequence[CueArgument] | CueArgument,
    count: int,
    *,
    seed: int = 0,
    spread: float = 0.0,
    again: bool = False,
    **settings: Any,
) -> Iterator[Array]:
    """Frame after frame (count, L, D) float32 of a whole crowd.

    Faces begin at random times within `spread` seconds, and keep their last pose after their end. With `again`
    a face that has ended acts again with another seed, and the stream never ends.
    """
    actor, cues, checked = prepare_actor(graph), read_cues(graph, labels), ActSettings(**settings).validate()
    rate = checked.rate or graph.rate
    waits = np.rint(np.random.default_rng((seed, count)).random(count) * spread * rate).astype(np.int64)
    acts = [perform_cues(actor, cues, checked, (seed, face)).points.astype(np.float32) for face in range(count)]
    ends = waits + [len(points) for points in acts]
    rounds = np.zeros(count, np.int64)
    frame = 0
    while again or frame < ends.max():
        now = np.empty((count, *graph.base.shape), np.float32)
        for face, points in enumerate(acts):
            if again and frame >= ends[face]:
                rounds[face] += 1
                seeds = (seed, face, int(rounds[face]))
                points = acts[face] = perform_cues(actor, cues, checked, seeds).points.astype(np.float32)
                waits[face], ends[face] = frame, frame + len(points)
            now[face] = points[min(max(frame - waits[face], 0), len(points) - 1)]
        yield now
        frame += 1


def pad_performances(faces: Sequence[ExpressionTake]) -> tuple[Array, Array]:
    """(N, F, L, D) float32 points of all faces, each held in its last pose after its end, and (N,) their lengths."""
    lengths = np.array([len(face) for face in faces])
    points = np.empty((len(faces), int(lengths.max()), *faces[0].base.shape), np.float32)
    for face, row in zip(faces, points):
        row[: len(face)] = face.points
        row[len(face) :] = face.points[-1]
    return points, lengths
