"""C3D markers: three processors, two kinds of numbers, faults of real files, and damage."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from tests.data_folder import data_file, data_files

from understudy.errors import BadFile, UnderstudyError, Unsupported
from understudy.formats import c3d
from understudy.formats.c3d import BLOCK_BYTES, parse

PROCESSORS = {"Intel": 84, "DEC": 85, "MIPS": 86}


def number_bytes(processor, values, kind):
    """The bytes of numbers as a processor writes them: kind "i2" or "f4"."""
    values = np.asarray(values, dtype=kind)
    if kind == "i2":
        return values.astype(">i2" if processor == "MIPS" else "<i2").tobytes()
    if processor != "DEC":
        return values.astype(">f4" if processor == "MIPS" else "<f4").tobytes()
    words = (values.astype(np.float32) * 4).view(np.uint32)
    return np.stack([words >> 16, words & 0xFFFF], axis=-1).astype("<u2").tobytes()


class Maker:
    """A C3D file made by hand; change a field to make another."""

    def __init__(self, processor="Intel", real=False):
        rng = np.random.default_rng(8)
        self.processor, self.real = processor, real
        self.values = rng.integers(-2000, 2000, (5, 3, 3)).astype(float)  # F, P, 3 in units of the scale
        self.residual = np.zeros((5, 3))
        self.residual[2, 1] = -1
        self.scale, self.rate, self.first, self.analog = 0.25, 50.0, 11, 4
        self.labels = ["LASI", "RASI", "RASI"]
        self.texts = {"UNITS": "mm", "X_SCREEN": "+Y", "Y_SCREEN": "+Z"}
        self.header = {}  # words to overwrite, by number as in the manual
        self.header_scale = True
        self.integers = {"USED": 3, "FRAMES": 5}
        self.lists = {}

    def parameter(self, group, name, kind, sizes, content):
        body = struct.pack("bB", kind, len(sizes)) + bytes(sizes) + content + b"\0"
        offset = number_bytes(self.processor, [len(body) + 2], "i2")
        return struct.pack("bb", len(name), group) + name.encode() + offset + body

    def parameters(self):
        parts = [b"\x01P\x02" + bytes([PROCESSORS[self.processor]])]
        parts.append(struct.pack("bb", 5, -1) + b"POINT" + number_bytes(self.processor, [3], "i2") + b"\0")
        for name, value in self.integers.items():
            parts.append(self.parameter(1, name, 2, [], number_bytes(self.processor, [value], "i2")))
        parts.append(self.parameter(1, "RATE", 4, [], number_bytes(self.processor, [self.rate], "f4")))
        scale = -self.scale if self.real else self.scale
        parts.append(self.parameter(1, "SCALE", 4, [], number_bytes(self.processor, [scale], "f4")))
        for name, text in self.texts.items():
            parts.append(self.parameter(1, name, -1, [len(text)], text.encode()))
        for name, texts in {"LABELS": self.labels, **self.lists}.items():
            width = max(map(len, texts), default=0) + 2
            joined = "".join(text.ljust(width) for text in texts).encode()
            parts.append(self.parameter(1, name, -1, [width, len(texts)], joined))
        return b"".join(parts) + b"\0\0"

    def bytes(self):
        frames, points, _ = self.values.shape
        kind = "f4" if self.real else "i2"
        header = np.zeros(256, np.int64)
        header[[1, 2, 3, 4, 8, 9]] = points, self.analog, self.first, self.first + frames - 1, 4, 1
        for word, value in self.header.items():
            header[word - 1] = value
        block = bytearray(number_bytes(self.processor, header.astype(np.uint16).view(np.int16), "i2"))
        block[:2] = b"\x02P"
        if self.header_scale:
            block[12:16] = number_bytes(self.processor, [-self.scale if self.real else self.scale], "f4")
        block[20:24] = number_bytes(self.processor, [self.rate], "f4")
        shown = self.values * (self.scale if self.real else 1.0)
        quads = np.concatenate([shown, self.residual[..., None]], axis=2).reshape(frames, -1)
        rows = np.concatenate([quads, np.full((frames, self.analog), 7.0)], axis=1)
        return bytes(block) + self.parameters().ljust(2 * BLOCK_BYTES, b"\0") + number_bytes(self.processor, rows, kind)

    def read(self, tmp_path):
        (tmp_path / "take.c3d").write_bytes(self.bytes())
        return c3d.read(tmp_path / "take.c3d")

    def metres(self):
        """What should come out: screen right is X, screen up is Y."""
        seen = np.where(self.residual[..., None] < 0, np.nan, self.values) * self.scale / 1000
        return seen[..., [1, 2, 0]]


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("real", [False, True])
def test_every_processor_and_kind_of_number(tmp_path, processor, real):
    maker = Maker(processor, real)
    asset = maker.read(tmp_path)
    clip = asset.clips[0]
    assert [channel.target for channel in clip.channels] == ["LASI", "RASI", "RASI_2"]
    assert {channel.kind for channel in clip.channels} == {"marker"}
    np.testing.assert_allclose(clip.values.reshape(5, 3, 3), maker.metres(), rtol=1e-6)
    assert clip.rate == 50 and clip.start == pytest.approx(10 / 50)
    for word in ("Y up", "analog", "not seen", "RASI_2"):
        assert any(word in note for note in asset.notes), word


@pytest.mark.parametrize(
    ("screen", "axes", "signs"),
    [
        (("+X", "+Y"), (0, 1, 2), (1, 1, 1)),
        (("+X", "+Z"), (0, 2, 1), (1, 1, -1)),
        (("-X", "+Z"), (0, 2, 1), (-1, 1, 1)),
        (("+Z", "+Y"), (2, 1, 0), (1, 1, -1)),
        (("", "+Z"), (0, 2, 1), (1, 1, -1)),
        (("", ""), (0, 1, 2), (1, 1, 1)),
        (("?", "up"), (0, 1, 2), (1, 1, 1)),
    ],
)
def test_axes_of_the_screen(tmp_path, screen, axes, signs):
    maker = Maker()
    maker.residual[:] = 0
    maker.texts.update(X_SCREEN=screen[0], Y_SCREEN=screen[1])
    values = maker.read(tmp_path).clips[0].values.reshape(5, 3, 3)
    np.testing.assert_allclose(values, (maker.values * maker.scale / 1000)[..., list(axes)] * signs)


@pytest.mark.parametrize(
    ("unit", "metres"), [("m", 1.0), ("cm", 0.01), ("MM", 0.001), ("in", 0.0254), ("parsec", 0.001)]
)
def test_units(tmp_path, unit, metres):
    maker = Maker()
    maker.texts["UNITS"] = unit
    asset = maker.read(tmp_path)
    np.testing.assert_allclose(asset.clips[0].values.reshape(5, 3, 3), 1000 * metres * maker.metres())
    assert any("assumed" in note for note in asset.notes) == (unit == "parsec")


def test_faults_are_noted(tmp_path):
    maker = Maker()
    maker.header = {9: 0}  # no data start, neither in the parameters: right behind them
    assert len(maker.read(tmp_path).clips[0]) == 5
    maker.header, maker.integers["FRAMES"] = {5: 500}, 5
    asset = maker.read(tmp_path)
    assert len(asset.clips[0]) == 5 and any("claimed" in note for note in asset.notes)
    maker.integers["FRAMES"] = 500
    asset = maker.read(tmp_path)
    assert len(asset.clips[0]) == 5 and any("holds 5" in note for note in asset.notes)


@pytest.mark.parametrize("real", [False, True])
def test_scale_of_the_parameters(tmp_path, real):
    maker = Maker(real=real)
    maker.header_scale = False
    asset = maker.read(tmp_path)
    np.testing.assert_allclose(asset.clips[0].values.reshape(5, 3, 3), maker.metres(), rtol=1e-6)
    assert any("no scale" in note for note in asset.notes)
    maker.scale = 0.0
    with pytest.raises(BadFile, match="scale should be"):
        maker.read(tmp_path)


def test_model_results_and_subjects(tmp_path):
    maker = Maker()
    maker.labels, maker.lists = ["Ann:LASI", "Ann:LKneeAngles", "Ann:RASI"], {"ANGLES": ["Ann:LKneeAngles"]}
    asset = maker.read(tmp_path)
    assert [channel.target for channel in asset.clips[0].channels] == ["LASI", "RASI"]
    maker.lists = {"ANGLES": maker.labels}
    with pytest.raises(Unsupported, match="results of a model"):
        maker.read(tmp_path)


def test_unnamed_markers(tmp_path):
    maker = Maker()
    maker.labels = ["LASI"]
    names = [channel.target for channel in maker.read(tmp_path).clips[0].channels]
    assert names == ["LASI", "marker_1", "marker_2"]


def test_infinite_positions_are_not_seen(tmp_path):
    maker = Maker(real=True)
    maker.values[0, 0, 0], maker.values[1, 2, 1] = np.inf, np.nan
    values = maker.read(tmp_path).clips[0].values.reshape(5, 3, 3)
    assert np.isnan(values[0, 0]).all() and np.isnan(values[1, 2]).any()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        (lambda data: b"", "not a C3D"),
        (lambda data: b"hello" * 300, "not a C3D"),
        (lambda data: b"\xffP" + data[2:], "parameters should begin"),
        (lambda data: data[:1500], "ends before the first"),
        (lambda data: data[:2] + b"\0\0" + data[4:], "no markers"),
        (lambda data: data[:16] + b"\xff\x7f" + data[18:], "ends before the first"),
        (lambda data: data.replace(b"RATE", b"RITE").replace(b"\0\0HB", b"\0\0\xc0\xff"), "rate should be"),
        (lambda data: data[:8] + b"\xff\xff" + data[10:].replace(b"FRAMES", b"FREMES"), "claims 65,525 frames"),
    ],
)
def test_damage(tmp_path, change, reason):
    (tmp_path / "bad.c3d").write_bytes(change(Maker().bytes()))
    with pytest.raises(BadFile, match=reason) as caught:
        c3d.read(tmp_path / "bad.c3d")
    assert "bad.c3d" in str(caught.value) and "\n" not in str(caught.value)


@pytest.mark.parametrize("processor", PROCESSORS)
def test_scrambled_files_raise_our_errors_only(tmp_path, processor):
    whole = Maker(processor, real=processor == "MIPS").bytes()
    rng = np.random.default_rng(5)
    for trial in range(400):
        content = bytearray(whole)
        for at in rng.integers(0, 600 if trial % 2 else len(content), 4):
            content[at] = rng.integers(0, 256)
        if trial % 10 == 0:
            content = content[: rng.integers(0, len(content))]
        (tmp_path / "x.c3d").write_bytes(bytes(content))
        try:
            c3d.read(tmp_path / "x.c3d")
        except UnderstudyError as error:
            assert str(error)


def test_dance_has_a_faulty_header():
    asset = c3d.read(data_file("c3d_btk/Dance.c3d"))
    assert len(asset.clips[0]) == 499 and len(asset.clips[0].channels) == 40
    assert any("DATA_START" in note for note in asset.notes)


def test_the_same_trial_as_integers_and_as_floats():
    a, b = (c3d.read(data_file(f"c3d_btk/Eb015p{kind}.c3d")).clips[0] for kind in "ir")
    assert a.channels == b.channels
    np.testing.assert_allclose(a.values, b.values, atol=1e-6)
    dec, pc = (c3d.read(data_file(f"c3d_btk/{name}")).clips[0] for name in ("DEC_INT.C3D", "pc_real.c3d"))
    np.testing.assert_allclose(dec.values, pc.values, atol=1e-6)


@pytest.mark.parametrize("path", data_files("**/*.[cC]3[dD]"), ids=lambda path: path.stem)
def test_ezc3d_agrees(path):
    ezc3d = pytest.importorskip("ezc3d")
    if path.stem == "Dance":
        pytest.skip("ezc3d refuses it")
    theirs = ezc3d.c3d(str(path))["data"]["points"][:3].transpose(2, 1, 0)
    ours = parse(path.read_bytes(), path)
    np.testing.assert_allclose(ours.points, theirs, rtol=1e-7)
    assert c3d.read(path).clips[0].values.shape == (len(theirs), 3 * theirs.shape[1])


@pytest.mark.parametrize("real", [False, True])
def test_ezc3d_agrees_on_files_made_by_hand(tmp_path, real):
    ezc3d = pytest.importorskip("ezc3d")
    maker = Maker("Intel", real)
    maker.analog = 0
    maker.integers["DATA_START"] = 4
    maker.labels[2] = "HEAD"
    (tmp_path / "x.c3d").write_bytes(maker.bytes())
    theirs = ezc3d.c3d(str(tmp_path / "x.c3d"))["data"]["points"][:3].transpose(2, 1, 0)
    np.testing.assert_allclose(parse(maker.bytes(), "x").points, theirs, rtol=1e-7)
