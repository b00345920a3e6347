"""Saved deformers: what a file from elsewhere may not do."""

from __future__ import annotations

import numpy as np
import pytest
from tests.deform import tubes

from understudy import storage
from understudy.deform import deformer
from understudy.deform.methods.linear import LinearSkin
from understudy.errors import BadFile, InvalidInput


@pytest.fixture
def saved(tmp_path):
    path = tmp_path / "skin.understudy"
    deformer.save(LinearSkin.from_artist_weights(tubes.standard()), path)
    return path


def rewritten(path, change):
    """The file with its header, and perhaps its arrays, changed."""
    header, content = storage.read(path)
    content = dict(content)
    change(header, content)
    storage.write(path, header, content)
    return path


def test_arrays_come_back_frozen(saved):
    made = deformer.load(saved)
    assert not made.weights.flags.writeable
    assert made.settings == LinearSkin.from_artist_weights(tubes.standard()).settings


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda h, c: h.update(kind="face graph"), "it holds a face graph"),
        (lambda h, c: h.update(method="nothing"), "no deformer 'nothing'"),
        (lambda h, c: h.update(method="dual"), "which is not 'dual'"),
        (lambda h, c: h["fields"].update({"class": "subprocess:Popen"}), "there is no deformer's class"),
        (
            lambda h, c: h["fields"].update({"class": "understudy.deform.fitting.simplex:minimise"}),
            "there is no deformer's class",
        ),
        (lambda h, c: h["fields"]["fields"].pop("rest"), "should have the fields"),
        (lambda h, c: c.pop("weights"), "weights"),
    ],
)
def test_a_file_that_was_meddled_with_is_refused(saved, change, words):
    with pytest.raises(BadFile, match=words):
        deformer.load(rewritten(saved, change))


def test_what_is_no_deformer_is_refused(tmp_path):
    path = tmp_path / "x.npz"
    with pytest.raises(BadFile, match="no such file"):
        deformer.load(path)
    path.write_bytes(b"not a zip")
    with pytest.raises(BadFile, match="not a saved deformer"):
        deformer.load(path)
    np.savez(path, header=np.array(["x"], object))
    with pytest.raises(BadFile, match="plain numbers or text"):
        deformer.load(path)


def test_objects_are_not_saved(tmp_path):
    with pytest.raises(InvalidInput, match="array, a number or a word"):
        deformer._pack({"a": 1}, "field", {})
    with pytest.raises(InvalidInput, match="should hold numbers"):
        deformer._pack(np.array(["a"]), "field", {})
