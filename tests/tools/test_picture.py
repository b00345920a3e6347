"""Pictures of latent spaces, on a small one: a figure of eight and a spiral, with the density of a Gaussian process."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import pytest
from PIL import Image
from tools.latent import picture
from tools.latent import picture as parts
from tools.latent.overview import draw_overview
from tools.latent.picture import LatentAxes

from understudy.errors import InvalidInput
from understudy.gp.covariance import Kernel
from understudy.gp.mapping import LatentMapping

SMALL = picture.LatentView(size=(120, 90), supersample=1, backend="software", density=False)


@dataclass(frozen=True)
class Segment:
    clip: str
    start: int
    stop: int


@dataclass(frozen=True, eq=False)
class Space:
    label: str
    latents: np.ndarray
    segments: tuple
    mapping: LatentMapping


@dataclass(frozen=True, eq=False)
class Bridges:
    first: str
    second: str
    first_latents: np.ndarray
    second_latents: np.ndarray
    wide: bool = False

    def __len__(self):
        return len(self.first_latents)

    def sides(self, label):
        pair = self.first_latents, self.second_latents
        return pair if label == self.first else pair[::-1]

    def other(self, label):
        return self.second if label == self.first else self.first


def space(label="calm", Q=3):
    t = np.linspace(0, 2 * np.pi, 30)
    eight = np.stack([3 * np.sin(t), np.sin(2 * t), 0.3 * np.cos(t)], axis=1)
    spiral = np.stack([np.cos(t), 0.2 * t, np.sin(t)], axis=1)
    latents = np.concatenate([eight, spiral])[:, :Q]
    if Q > 3:
        latents = np.concatenate([eight, spiral])[:, [0, 1, 2] + [0] * (Q - 3)]
    kernel = Kernel(1.0, 0.5, 0.01)
    K = kernel.cross_covariance(latents, latents) + 0.01 * np.eye(len(latents))
    mapping = LatentMapping(latents, kernel, np.zeros((len(latents), 4)), np.linalg.inv(K), 1.0)
    return Space(label, latents, (Segment("eight", 0, 30), Segment("spiral", 30, 60)), mapping)


def read(path):
    with Image.open(path) as image:
        return np.array(image.convert("RGB")).astype(int)


def test_axes_there_and_back():
    points = space().latents
    axes = LatentAxes.from_latents(points)
    np.testing.assert_allclose(axes.to_latents(axes.to_picture(points)), points, atol=1e-12)
    spread = np.ptp(axes.to_picture(points), axis=0)
    assert spread.max() == pytest.approx(1.0) and (np.diff(axes.to_picture(points).var(axis=0)) <= 0).all()


def test_the_shell_lies_at_one_density_and_faces_away_from_the_clips():
    one = space()
    axes = LatentAxes.from_latents(one.latents)
    shell = parts.density_shell(one, axes, "#D9502E")
    found = one.mapping.log_density(axes.to_latents(shell.shape.vertices))
    far, near = (
        one.mapping.log_density(np.full((1, 3), 99.0))[0],
        np.percentile(one.mapping.log_density(one.latents), 10),
    )
    # linear between the nodes of the grid, the density is off by a part of what it rises by within a cell
    assert abs(np.median(found) - (far + parts.SHELL_LEVEL_RATIO * (near - far))) < 0.02 * (near - far)
    corners = shell.shape.vertices[shell.shape.triangles]
    outwards = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    _, gradient = one.mapping.log_density_and_gradient(axes.to_latents(corners.mean(axis=1)))
    down = np.einsum("ti,ti->t", outwards, -gradient @ axes.basis)
    assert (down > 0).mean() > 0.97  # but for saddles that are smaller than a cell


@pytest.mark.parametrize("Q", [1, 2, 5])
def test_any_number_of_dimensions_can_be_drawn(tmp_path, Q):
    said = picture.draw_latent_space(
        space(Q=Q), tmp_path / "a.png", view=picture.LatentView(size=(120, 90), supersample=1)
    )
    assert said == "60 frames of 2 clips"
    assert parts.density_shell(space(Q=1), LatentAxes.from_latents(space(Q=1).latents), "#D9502E") is None


def test_each_thing_changes_the_picture_and_the_words(tmp_path):
    one = space()
    links = [
        Bridges("calm", "wild", one.latents[:5], one.latents[:5]),
        Bridges("wild", "sad", np.zeros((3, 3)), np.zeros((3, 3))),
    ]
    path = one.latents[:20] + 0.4
    given = {
        "plain": {},
        "bridges": {"bridges": links},
        "trail": {"trails": [path]},
        "trails": {"trails": {"a": path, "b": path[::-1]}},
        "title": {"title": "another"},
    }
    said = {
        name: picture.draw_latent_space(one, tmp_path / f"{name}.png", view=SMALL, **more)
        for name, more in given.items()
    }
    assert said["bridges"] == "60 frames of 2 clips, 5 bridges to 1 other label"
    assert said["trail"] == said["plain"] == "60 frames of 2 clips"
    pictures = [read(tmp_path / f"{name}.png") for name in given]
    for i, a in enumerate(pictures):
        for b in pictures[:i]:
            assert a.shape != b.shape or (a != b).any()


def test_the_same_picture_twice(tmp_path):
    for name in "ab":
        picture.draw_latent_space(space(), tmp_path / f"{name}.png", view=SMALL)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_a_bridge_has_the_colour_of_its_label(tmp_path):
    one = space()
    colours = picture.label_colours(["calm", "wild"])
    picture.draw_latent_space(one, tmp_path / "a.png", [Bridges("calm", "wild", one.latents, one.latents)], view=SMALL)
    assert (read(tmp_path / "a.png") == [int(colours["wild"][i : i + 2], 16) for i in (1, 3, 5)]).all(axis=2).any()
    assert len(set(picture.label_colours(map(str, range(10))).values())) == 10


def test_one_angle_or_several(tmp_path):
    for count in (1, 2, 4):
        view = picture.LatentView(
            size=(120, 90), angles=[(0.3 * i, 0.2) for i in range(count)], supersample=1, density=False
        )
        picture.draw_latent_space(space(), tmp_path / f"{count}.png", view=view)
    widths = [read(tmp_path / f"{count}.png").shape[1] for count in (1, 2, 4)]
    assert widths[0] < widths[2] < widths[1]


def test_shades_run_from_light_to_dark():
    found = [int(shade[1:], 16) for shade in picture.shades("#17807E", 5)]
    assert found == sorted(found, reverse=True) and len(set(found)) == 5
    assert picture.shades("#17807E", 1) and picture.shades("#17807E", 0) == []


def test_bad_input_is_one_sentence(tmp_path):
    with pytest.raises(InvalidInput, match=r"a\.jpg: a picture of a latent space should end in \.png"):
        picture.draw_latent_space(space(), tmp_path / "a.jpg")
    with pytest.raises(InvalidInput, match=r"trail 'here' should have shape \(F, 3\), but has shape \(4, 2\)"):
        picture.draw_latent_space(space(), tmp_path / "a.png", trails={"here": np.zeros((4, 2))}, view=SMALL)
    with pytest.raises(InvalidInput, match="at least one angle"):
        picture.draw_latent_space(space(), tmp_path / "a.png", view=picture.LatentView(angles=()))
    one = space()
    with pytest.raises(InvalidInput, match="at least two frames, but 'calm' has 1"):
        picture.draw_latent_space(Space("calm", one.latents[:1], (), one.mapping), tmp_path / "a.png")
    with pytest.raises(InvalidInput, match=r"a\.gif: a picture of latent spaces should end in \.png"):
        draw_overview({"calm": one}, [], tmp_path / "a.gif")
    with pytest.raises(InvalidInput, match="at least one pose space"):
        draw_overview({}, [], tmp_path / "a.png")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("count", [1, 2, 5])
def test_an_overview_counts_the_bridges(tmp_path, count):
    labels = [f"label {i}" for i in range(count)]
    spaces = {label: space(label) for label in labels}
    ends = space().latents
    links = [Bridges(a, b, ends[: i + 1], ends[: i + 1], wide=i == 0) for i, (a, b) in enumerate(pairwise(labels))]
    said = draw_overview(spaces, links, tmp_path / "a.png", view=SMALL)
    assert said == f"{count} labels, {60 * count} frames, {sum(map(len, links))} bridges"
    alone = draw_overview(spaces, [], tmp_path / "b.png", view=SMALL)
    assert alone.endswith(", 0 bridges")
    assert (count > 1) == (read(tmp_path / "a.png") != read(tmp_path / "b.png")).any()
