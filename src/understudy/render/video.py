"""Videos, frame by frame: MP4 (H.264), WebM (VP9) and GIF, by the ending of the file's name.

    with open_video("walk.mp4", rate=24, total=240) as video:
        for picture in pictures:
            video.add(picture)

Files are written atomically: frames go to a temporary file, which is renamed after the last one.

A GIF has one palette, chosen from pictures all over the clip, so its frames wait in a temporary file until the last one
is known. Gradients are dithered with a fixed 8 x 8 pattern: unlike error diffusion it does not crawl from frame to
frame, and unchanged areas compress well. GIF delays are hundredths of a second, and browsers play delays below two of
them at a tenth of the speed. Delays are therefore distributed so that the total is right (24 a second becomes 4, 4, 4,
5, ...), and above 50 frames a second some frames are left out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from fractions import Fraction
from math import ceil
from pathlib import Path
from tempfile import TemporaryFile
from typing import Any, Protocol

import numpy as np

from understudy import checks, files
from understudy.checks import Array
from understudy.errors import InvalidInput, UnderstudyError
from understudy.render.picture import check_picture

PALETTE_SAMPLE_FRAMES, PALETTE_SAMPLE_PIXELS = 12, 320  # pictures, and their largest side, for the palette
MIN_DELAY_CENTISECONDS = 2
# Amplitude of the pattern in 8-bit steps: about the distance of neighbours in a palette of 255 colours.
DITHER_WIDTH_STEPS = 10.0
Progress = Callable[[int, int | None], None]
ENDINGS = (".mp4", ".webm", ".gif")
# Encoders in order of preference, and their settings for a picture without visible loss.
ENCODERS: dict[str, tuple[tuple[str, dict[str, str]], ...]] = {
    ".mp4": (
        ("libx264", {"crf": "17", "preset": "fast", "x264-params": "colorprim=bt709:transfer=bt709:colormatrix=bt709"}),
        ("libopenh264", {"b": "8M"}),
    ),
    ".webm": (("libvpx-vp9", {"crf": "24", "b": "0", "row-mt": "1", "deadline": "good", "cpu-used": "4"}),),
}


class VideoEncoder(Protocol):
    """Turns pictures into a file at a path."""

    def add(self, picture: Array) -> None:
        """Add one picture (H, W, 3) uint8."""

    def finish(self) -> None:
        """Write the remaining frames and close the file."""

    def abandon(self) -> None:
        """Release everything after an error."""


@contextmanager
def open_video(
    path: str | Path, rate: float | Fraction, total: int | None = None, progress: Progress | None = None
) -> Iterator[VideoWriter]:
    """A writer for .mp4, .webm or .gif at `rate` frames a second; `progress(done, total)` is called after each picture.

    If the block raises, no file is written, and an older one of that name stays.
    """
    check_ending(path)
    with files.write_atomically(path) as temporary:
        writer = VideoWriter(temporary, exact_rate(rate), total, progress)
        try:
            yield writer
            if writer.encoder is None:
                raise InvalidInput(f"{path}: a video needs at least one picture")
            writer.encoder.finish()
        except BaseException:
            if writer.encoder is not None:
                writer.encoder.abandon()
            raise


def check_ending(path: str | Path) -> str:
    """The ending of a video's name, in lower case; an unknown one raises."""
    ending = Path(path).suffix.lower()
    if ending not in ENDINGS:
        raise InvalidInput(f"{path}: cannot write a video that ends in {ending!r}; available: {', '.join(ENDINGS)}")
    return ending


def exact_rate(rate: float | Fraction) -> Fraction:
    """Frames a second as a fraction; 29.97 means 30000/1001."""
    if not isinstance(rate, Fraction):
        checks.positive(rate, "rate")
        if not 0.01 <= rate <= 1000:
            raise InvalidInput(f"rate should lie between 0.01 and 1000 frames a second, but is {rate}")
        whole = Fraction(round(rate))
        slowed = whole * Fraction(1000, 1001)
        # Files round their rates: a frame time of 0.0083333 s means 120 a second.
        if whole and abs(float(whole) - rate) < 5e-3:
            return whole
        if whole and abs(float(slowed) - rate) < 5e-3:
            return slowed
    return Fraction(rate).limit_denominator(10_000)


class VideoWriter:
    """Writes a video to a temporary path; `open_video` makes one and renames the finished file."""

    def __init__(self, path: Path, rate: Fraction, total: int | None, progress: Progress | None) -> None:
        self.path, self.rate, self.total, self.progress = path, rate, total, progress
        self.encoder: VideoEncoder | None = None
        self.shape: tuple[int, ...] = ()
        self.count = 0

    def add(self, picture: Array) -> None:
        """Append one picture (H, W, 3) uint8, of the same size as the first."""
        check_picture(picture, (3,))
        if self.encoder is None:
            self.shape = picture.shape
            self.encoder = self._open(picture)
        if picture.shape != self.shape:
            raise InvalidInput(
                f"the pictures of a video should have one size, but some are {self.shape}, {picture.shape}"
            )
        self.encoder.add(picture)
        self.count += 1
        if self.progress is not None:
            self.progress(self.count, self.total)

    def _open(self, picture: Array) -> VideoEncoder:
        height, width = picture.shape[:2]
        ending = self.path.suffix.lower()
        if ending == ".gif":
            return GifEncoder(self.path, self.rate)
        return AvEncoder(self.path, ending, self.rate, width, height)


class AvEncoder:
    """H.264 or VP9 through PyAV. Both need even sizes: an odd edge is repeated once."""

    def __init__(self, path: Path, ending: str, rate: Fraction, width: int, height: int) -> None:
        import av

        known = [(name, options) for name, options in ENCODERS[ending] if name in av.codecs_available]
        if not known:
            wanted = ", ".join(name for name, _ in ENCODERS[ending])
            raise UnderstudyError(f"this installation of PyAV cannot write {ending}: it has none of {wanted}")
        name, options = known[0]
        self.pad = ((0, height % 2), (0, width % 2), (0, 0))
        self.count, self.time_base = 0, 1 / rate
        container_options = {"movflags": "+faststart"} if ending == ".mp4" else {}
        self.container: Any = av.open(str(path), "w", options=container_options)
        stream: Any = self.container.add_stream(name, rate=rate, options=options)
        stream.width, stream.height = width + width % 2, height + height % 2
        stream.pix_fmt = "yuv420p"
        stream.codec_context.time_base = self.time_base
        # Players guess the colour matrix of untagged video from its size, so it is stated.
        stream.codec_context.colorspace = av.video.reformatter.Colorspace.ITU709
        stream.codec_context.color_range = av.video.reformatter.ColorRange.MPEG
        self.stream = stream

    def add(self, picture: Array) -> None:
        """Encode one picture (H, W, 3) uint8."""
        import av

        padded = np.pad(picture, self.pad, mode="edge") if any(after for _, after in self.pad) else picture
        rgb = av.VideoFrame.from_ndarray(np.ascontiguousarray(padded), format="rgb24")
        frame = rgb.reformat(format="yuv420p", dst_colorspace="ITU709", dst_color_range="MPEG")
        frame.pts, frame.time_base = self.count, self.time_base
        self.count += 1
        for packet in self.stream.encode(frame):
            self.container.mux(packet)

    def finish(self) -> None:
        """Flush the encoder and write the index."""
        for packet in self.stream.encode():
            self.container.mux(packet)
        self.container.close()

    def abandon(self) -> None:
        """Close the file as it is."""
        self.container.close()


class GifEncoder:
    """Collects pictures in a temporary file and writes the GIF at the end."""

    def __init__(self, path: Path, rate: Fraction) -> None:
        self.path, self.rate = path, rate
        self.store: Any = TemporaryFile()  # noqa: SIM115 - closed by finish or abandon
        self.shape: tuple[int, ...] = ()
        self.count = 0

    def add(self, picture: Array) -> None:
        """Store one picture (H, W, 3) uint8."""
        self.shape = picture.shape
        self.store.write(np.ascontiguousarray(picture).tobytes())
        self.count += 1

    def finish(self) -> None:
        """Choose the palette and write all frames."""
        try:
            shown, delays = gif_timing(self.count, self.rate)
            palette = self._palette()
            frames = self._quantise(shown, palette)
            next(frames).save(
                self.path,
                format="GIF",
                save_all=True,
                append_images=frames,
                duration=[10 * delay for delay in delays],
                loop=0,
                disposal=1,
                optimize=False,
            )
        finally:
            self.store.close()

    def abandon(self) -> None:
        """Discard the pictures."""
        self.store.close()

    def _picture(self, index: int) -> Array:
        size = int(np.prod(self.shape))
        self.store.seek(index * size)
        return np.frombuffer(self.store.read(size), dtype=np.uint8).reshape(self.shape)

    def _palette(self) -> Any:
        from PIL import Image

        picks = np.unique(np.linspace(0, self.count - 1, PALETTE_SAMPLE_FRAMES).round().astype(int))
        step = max(1, ceil(max(self.shape[:2]) / PALETTE_SAMPLE_PIXELS))
        mosaic = np.concatenate([self._picture(i)[::step, ::step] for i in picks])
        return Image.fromarray(np.ascontiguousarray(mosaic)).quantize(255, method=Image.Quantize.MEDIANCUT, kmeans=1)

    def _quantise(self, shown: list[int], palette: Any) -> Iterator[Any]:
        from PIL import Image

        pattern = np.tile(_bayer() * DITHER_WIDTH_STEPS, [ceil(n / 8) for n in self.shape[:2]])[
            : self.shape[0], : self.shape[1], None
        ]
        for index in shown:
            dithered = np.clip(self._picture(index) + pattern, 0, 255).astype(np.uint8)
            yield Image.fromarray(dithered).quantize(palette=palette, dither=Image.Dither.NONE)


def gif_timing(count: int, rate: Fraction) -> tuple[list[int], list[int]]:
    """The frames to show of `count`, and their delays in hundredths of a second; the sum is right within one."""
    starts: list[int] = []
    shown: list[int] = []
    for index in range(count):
        start = round(100 * index / rate)
        if not starts or start - starts[-1] >= MIN_DELAY_CENTISECONDS:
            starts.append(start)
            shown.append(index)
    end = max(round(100 * count / rate), starts[-1] + MIN_DELAY_CENTISECONDS)
    return shown, [after - before for before, after in zip(starts, [*starts[1:], end])]


def _bayer() -> Array:
    """The 8 x 8 ordered dither pattern, in (-0.5, 0.5)."""
    pattern = np.zeros((1, 1))
    for _ in range(3):
        pattern = np.block([[4 * pattern, 4 * pattern + 2], [4 * pattern + 3, 4 * pattern + 1]])
    return (pattern + 0.5) / 64.0 - 0.5


def add_audio(path: str | Path, samples: Array, rate: int) -> None:
    """Give a video (.mp4 or .webm) a sound track: samples (n,) int16 of one channel, `rate` of them a second.

    The pictures are copied as they are. Sound that is longer than the pictures is cut off.
    """
    import av

    from understudy import files

    target = Path(path)
    codec = "aac" if target.suffix.lower() == ".mp4" else "libopus"
    heard = 48_000
    with files.write_atomically(target) as part, av.open(str(target)) as source:
        pictures: Any = source.streams.video[0]
        seconds = float((source.duration or 0) / av.time_base)
        with av.open(str(part), "w", format=target.suffix[1:].lower()) as output:
            copied = output.add_stream_from_template(pictures)
            track: Any = output.add_stream(codec, rate=heard)
            track.layout = "mono"
            for packet in source.demux(pictures):
                if packet.dts is not None:
                    packet.stream = copied
                    output.mux(packet)
            frame = av.AudioFrame.from_ndarray(
                np.ascontiguousarray(samples[: int(seconds * rate)], np.int16)[None], format="s16", layout="mono"
            )
            frame.sample_rate, frame.pts = rate, 0
            resampler = av.AudioResampler(format=track.format, layout="mono", rate=heard, frame_size=track.frame_size)
            for piece in (*resampler.resample(frame), *resampler.resample(None)):
                output.mux(track.encode(piece))
            output.mux(track.encode(None))
