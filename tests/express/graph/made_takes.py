"""Takes made up for tests: 68 landmarks in pixels, seven labels, ten people each, sigmoid onsets and offsets."""

from __future__ import annotations

import numpy as np

from understudy.express.sequence import ExpressionSequence, landmark_names, regions_of

LABELS = ("anger", "contempt", "disgust", "fear", "happiness", "sadness", "surprise")
POSES = 1792  # of the 70 takes of the paper


def neutral_face() -> np.ndarray:
    """(68, 2) a face of 270 x 380 pixels: jaw, brows, nose, eyes and mouth of the 68 landmarks."""
    jaw = np.pi * np.linspace(1.0, 2.0, 17)
    points = [np.stack([135 * np.cos(jaw), 190 * np.sin(jaw)], axis=1)]
    for side in (-1, 1):
        x = np.sort(side * np.linspace(25, 105, 5))
        points.append(np.stack([x, 165 + 25 * np.sin(np.pi * (np.abs(x) - 25) / 80)], axis=1))
    points.append(np.stack([np.zeros(4), np.linspace(110, 30, 4)], axis=1))
    points.append(np.stack([np.linspace(-25, 25, 5), np.full(5, 15.0)], axis=1))
    for side in (-1, 1):
        angle = np.pi - np.linspace(0, 2 * np.pi, 7)[:6]
        points.append(np.stack([side * 65 + 25 * np.cos(angle), 115 + 10 * np.sin(angle)], axis=1))
    for width, height, count in ((55, 20, 12), (40, 8, 8)):
        angle = np.pi - np.linspace(0, 2 * np.pi, count + 1)[:count]
        points.append(np.stack([width * np.cos(angle), -60 + height * np.sin(angle)], axis=1))
    return np.concatenate(points)


def smooth_field(rng: np.random.Generator, points: np.ndarray, size: float) -> np.ndarray:
    """(L, D) displacements that vary slowly over the points (L, D), `size` pixels long on average."""
    dimensions = points.shape[1]
    u = (points - points.mean(axis=0)) / np.ptp(points, axis=0).max()
    features = np.concatenate([np.ones((len(u), 1)), u, u**2, np.sin(3 * u)], axis=1)
    field = features @ rng.normal(size=(features.shape[1], dimensions))
    return field * size / np.linalg.norm(field, axis=1).mean()


def rise(times: np.ndarray, start: float, end: float) -> np.ndarray:
    """(F,) from exactly 0 at `start` to exactly 1 at `end`, slow at both."""
    u = np.clip((times - start) / max(end - start, 1e-9), 0.0, 1.0)
    bend = 1.0 / (1.0 + np.exp(-10.0 * (u - 0.5)))
    low = 1.0 / (1.0 + np.exp(5.0))
    return (bend - low) / (1.0 - 2.0 * low)


def takes(
    people: int = 10, labels: tuple[str, ...] = LABELS, dimensions: int = 2, seed: int = 0
) -> list[ExpressionSequence]:
    """`people` takes of each label: their own amplitudes, directions, lengths, lags of regions, and offsets."""
    rng = np.random.default_rng(seed)
    face = neutral_face()
    if dimensions == 3:
        face = np.column_stack([face, 60.0 * np.cos(face[:, 0] / 90.0)])
    regions = regions_of(landmark_names())
    size = {"eyes": 4.0, "brows": 9.0, "nose": 3.0, "mouth": 14.0, "cheeks_jaw": 8.0}
    looks = {
        label: {
            name: smooth_field(rng, face[members], size[name] * rng.uniform(0.4, 1.2))
            for name, members in regions.items()
        }
        for label in labels
    }
    lengths = rng.integers(10, 17, size=(people * len(labels), 2))
    if people * len(labels) == 70:
        _fit_total(lengths, POSES - 70)
    result = []
    for number, (onset, offset) in enumerate(lengths):
        label = labels[number % len(labels)]
        times = np.arange(onset + offset + 1.0)
        moved = np.zeros((len(times), *face.shape))
        for name, members in regions.items():
            look = looks[label][name] * rng.uniform(0.75, 1.25)
            look = look + smooth_field(rng, face[members], 0.15 * np.linalg.norm(look, axis=1).mean())
            lag, bend = rng.uniform(0.0, 0.2), rng.uniform(0.8, 1.25)
            up = rise(times, lag * onset, onset) ** bend
            down = rise(times, onset + rng.uniform(0.0, 0.2) * offset, onset + offset)
            arc = smooth_field(rng, face[members], 0.08 * np.linalg.norm(look, axis=1).mean())
            moved[:, members] = (up * (1 - down))[:, None, None] * look + (4 * up * (1 - up))[:, None, None] * arc
        own = face + rng.normal(scale=3.0, size=face.shape[1]) + smooth_field(rng, face, 4.0)
        result.append(
            ExpressionSequence(f"{label}-{number:02d}", label, own + moved, 30.0, int(onset), landmark_names())
        )
    return result


def _fit_total(lengths: np.ndarray, total: int) -> None:
    """Lengthen or shorten takes one after another until they have `total` steps together."""
    flat = lengths.reshape(-1)
    i = 0
    while flat.sum() != total:
        flat[i % len(flat)] += np.sign(total - flat.sum())
        i += 1
