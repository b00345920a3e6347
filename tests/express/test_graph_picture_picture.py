from __future__ import annotations

from xml.etree import ElementTree

import numpy as np
import pytest
from PIL import Image
from tests.express.graph.made_takes import takes

from understudy.errors import InvalidInput
from understudy.express.graph import build
from understudy.express.graph_picture import PANEL_PIXELS, PATH_COLOUR, SvgDisc, SvgLine, SvgText, draw, draw_region

NAME = "{http://www.w3.org/2000/svg}"


@pytest.fixture(scope="module")
def graph():
    return build(takes(1, ("a<b", "joy")), compression=0.7, merge_compression=0.5)


def way_of(region):
    """Some steps along edges from node 0."""
    way = [0]
    for _ in range(2):
        way.append(int(region.targets[region.sources == way[-1]][0]))
    return np.array(way)


def test_every_node_edge_label_and_step_is_drawn(graph):
    region = graph.region("mouth")
    plain, marked = draw_region(region, graph.labels), draw_region(region, graph.labels, path=way_of(region))
    assert sum(isinstance(mark, SvgLine) for mark in plain) == len(region.sources)
    assert sum(isinstance(mark, SvgDisc) and not mark.line for mark in plain) == region.nodes
    assert sum(isinstance(mark, SvgDisc) and mark.line > 0 for mark in plain) == region.peaks.any(axis=1).sum()
    assert {mark.text for mark in plain if isinstance(mark, SvgText)} >= {"a<b", "joy"}
    assert sum(isinstance(mark, SvgLine) and mark.colour == PATH_COLOUR for mark in marked) == 2


def test_svg_is_sound_and_the_same_each_time(graph, tmp_path):
    for name in ("one.svg", "two.svg"):
        draw(graph, tmp_path / name, paths={"mouth": way_of(graph.region("mouth"))})
    assert (tmp_path / "one.svg").read_bytes() == (tmp_path / "two.svg").read_bytes()
    root = ElementTree.parse(tmp_path / "one.svg").getroot()
    assert root.get("width") == str(3 * PANEL_PIXELS)
    assert "a<b" in {each.text for each in root.iter(f"{NAME}text")}
    assert len(list(root.iter(f"{NAME}line"))) == sum(len(region.sources) for region in graph.regions) + 2


def test_png_shows_the_path(graph, tmp_path):
    region = graph.region("mouth")
    draw(graph, tmp_path / "plain.png", regions=["mouth"])
    draw(graph, tmp_path / "way.png", regions=["mouth"], paths={"mouth": way_of(region)})
    plain, way = (np.asarray(Image.open(tmp_path / name), float) for name in ("plain.png", "way.png"))
    assert plain.shape == (PANEL_PIXELS, PANEL_PIXELS, 3)
    assert plain.std() > 5  # something is drawn
    assert (way.mean(axis=2) < 60).sum() > (plain.mean(axis=2) < 60).sum() + 30


def test_refusals(graph, tmp_path):
    with pytest.raises(InvalidInput, match=r"'graph.pdf' is neither"):
        draw(graph, tmp_path / "graph.pdf")
    with pytest.raises(InvalidInput, match="no region 'ears'"):
        draw(graph, tmp_path / "graph.svg", regions=["ears"])
    with pytest.raises(InvalidInput, match="at least one region"):
        draw(graph, tmp_path / "graph.svg", regions=[])
    with pytest.raises(InvalidInput, match="the path of region 'mouth' should lie between"):
        draw(graph, tmp_path / "graph.svg", paths={"mouth": [0, 10**6]})
