"""The latent map: the page reads what the model holds; labels are apart, bridges short, dust is where poses are."""

from __future__ import annotations

import itertools
import json
import struct

import numpy as np
import pytest

from understudy.perform.pose_model import ModelWithCharacter
from understudy.perform.runtime.performer import Performer
from understudy.studio.perform.latent_map import layout_labels, map_bytes, map_parts


@pytest.fixture(scope="module")
def parts(lamp: ModelWithCharacter, lamp_performer: Performer):
    densities = {label: stage.density for label, stage in lamp_performer.planner.runtimes.items()}
    return densities, *map_parts(lamp.model, densities)


def test_the_bytes_are_the_header_and_the_arrays(lamp: ModelWithCharacter, parts) -> None:
    densities, header, arrays = parts
    data = map_bytes(lamp.model, densities)
    (length,) = struct.unpack_from("<I", data)
    assert (4 + length) % 4 == 0
    assert json.loads(data[4 : 4 + length]) == header
    numbers = np.frombuffer(data[4 + length :], "<f4")
    np.testing.assert_array_equal(numbers, np.concatenate([a.ravel() for a in arrays]).astype(np.float32))
    assert [len(a) for a in arrays] == [header["points"], header["bridges"], header["dust"]]


def test_every_frame_of_every_clip_is_a_point_that_the_matrix_leads_to(lamp: ModelWithCharacter, parts) -> None:
    _, header, (points, _, _) = parts
    for clip in header["clips"]:
        entry = header["labels"][clip["label"]]
        space = lamp.model.spaces[entry["label"]]
        own = space.latents[space.segment(clip["clip"]).start : space.segment(clip["clip"]).stop]
        found = own @ np.array(entry["matrix"]).T + entry["offset"]
        np.testing.assert_allclose(found, points[clip["first"] : clip["first"] + clip["count"]], atol=1e-4)
    assert sum(clip["count"] for clip in header["clips"]) == len(points)


def test_labels_stand_apart_and_keep_their_shape(lamp: ModelWithCharacter) -> None:
    placed = layout_labels(lamp.model)
    for (_, a), (_, b) in itertools.combinations(placed.items(), 2):
        assert np.linalg.norm((a.centre - b.centre)[:2]) > a.radius + b.radius  # seen from the front
    for label, place in placed.items():
        own = place.matrix.T @ place.matrix  # turned and scaled alike in every direction, never sheared
        np.testing.assert_allclose(own, own[0, 0] * np.eye(len(own)), atol=1e-9)
        far = np.linalg.norm(place(lamp.model.spaces[label].latents) - place.centre, axis=1)
        assert np.mean(far <= place.radius * 1.001) >= 0.94


def test_balls_are_turned_towards_their_neighbours(lamp: ModelWithCharacter, parts) -> None:
    """Bridges are shorter than they would be with the balls as learning has left them."""
    _, _, (_, bridges, _) = parts
    placed = layout_labels(lamp.model)
    unturned = 0.0
    for pair in lamp.model.bridges:
        ends = []
        for label, latents in ((pair.first, pair.first_latents), (pair.second, pair.second_latents)):
            middle, scale = lamp.model.spaces[label].latents.mean(axis=0), np.linalg.norm(placed[label].matrix, 2)
            ends.append((latents - middle) * scale + placed[label].centre)
        unturned += float(np.square(ends[0] - ends[1]).sum()) / len(pair)
    turned = sum(
        float(np.square(placed[p.first](p.first_latents) - placed[p.second](p.second_latents)).sum()) / len(p)
        for p in lamp.model.bridges
    )
    assert turned < unturned
    assert np.isfinite(bridges).all()


def test_dust_lies_where_the_model_finds_poses_likely(lamp: ModelWithCharacter, parts) -> None:
    densities, header, (_, _, dust) = parts
    first = 0
    for entry in header["labels"]:
        own = dust[first : first + entry["dust"]]
        first += entry["dust"]
        back = np.linalg.pinv(np.array(entry["matrix"]))
        x = (own[:, :3] - entry["offset"]) @ back.T
        level = densities[entry["label"]].log_density_and_gradient(x)[0]
        assert ((own[:, 3] > 0) & (own[:, 3] <= 1)).all()
        bright, dim = own[:, 3] > np.quantile(own[:, 3], 0.7), own[:, 3] < np.quantile(own[:, 3], 0.3)
        assert level[bright].min() >= level[dim].max() - 1e-3
    assert first == len(dust) > 100
