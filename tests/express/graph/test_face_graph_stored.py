from __future__ import annotations

from dataclasses import fields, replace

import numpy as np
import pytest
from tests.express.graph.made_takes import takes

from understudy import storage
from understudy.errors import BadFile
from understudy.express.graph import build, load, save


@pytest.fixture(scope="module")
def graph():
    return build(takes(1), compression=0.7, merge_compression=0.5)


def test_a_graph_comes_back_as_it_was(graph, tmp_path):
    path = tmp_path / "face.understudy"
    save(graph, path)
    again = load(path)
    assert (again.names, again.labels, again.rate, again.takes) == (graph.names, graph.labels, graph.rate, graph.takes)
    assert again.asked == graph.asked
    assert again.bytes == graph.bytes
    np.testing.assert_array_equal(again.base, graph.base)
    for one, two in zip(graph.regions, again.regions):
        for field in fields(one):
            np.testing.assert_array_equal(getattr(one, field.name), getattr(two, field.name))
    for name, value in graph.coupling.to_arrays().items():
        np.testing.assert_array_equal(again.coupling.to_arrays()[name], value)
    save(again, tmp_path / "twice.understudy")
    assert (tmp_path / "twice.understudy").read_bytes() == path.read_bytes()


def test_arrays_are_frozen(graph, tmp_path):
    with pytest.raises(ValueError, match="read-only"):
        graph.regions[0].displacements[0] = 1.0


def damaged(change, graph, path):
    save(graph, path)
    header, arrays = storage.read(path)
    arrays = {name: np.array(value) for name, value in arrays.items()}
    change(header, arrays)
    storage.write(path, header, arrays)
    return path


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h, a: h.update(kind="pose"), "something else"),
        (lambda h, a: h.pop("labels"), "damaged"),
        (lambda h, a: h.update(rate=-1.0), "damaged"),
        (lambda h, a: h.update(asked=[0.5]), "damaged"),
        (lambda h, a: a.pop("region1.peaks"), "should have the array 'peaks'"),
        (lambda h, a: a.pop("region1.onset"), "damaged"),
        (lambda h, a: a["region0.displacements"].fill(np.nan), "finite"),
        (lambda h, a: a["region0.targets"].fill(10**6), "lie between 0 and"),
        (lambda h, a: a["region2.members"].fill(-4), "lie between 0 and 67"),
        (lambda h, a: a["region0.onset"].fill(np.nan), "should have a duration"),
        (lambda h, a: a["region0.sources"].fill(0), "cannot be reached"),
        (lambda h, a: a.update({"region0.runs": a["region0.runs"][:-1]}), "shape"),
        (lambda h, a: a.pop("coupling.codes"), "'codes'"),
    ],
)
def test_what_is_damaged_is_refused_in_a_sentence(change, words, graph, tmp_path):
    with pytest.raises(BadFile, match=words):
        load(damaged(change, graph, tmp_path / "bad.understudy"))


def test_a_file_of_something_else(tmp_path):
    (tmp_path / "no.understudy").write_bytes(b"PK not really")
    with pytest.raises(BadFile, match="not an understudy file"):
        load(tmp_path / "no.understudy")
    with pytest.raises(BadFile, match="no such file"):
        load(tmp_path / "absent.understudy")


def test_a_graph_without_coupling(graph, tmp_path):
    save(replace(graph, coupling=None), tmp_path / "plain.understudy")
    assert load(tmp_path / "plain.understudy").coupling is None
