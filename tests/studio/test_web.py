"""The page's own tests, types and lint, its size, and that nothing in it names a host."""

from __future__ import annotations

import gzip
import re

from tests.data_folder import PROJECT
from tests.studio import page

MAX_COLUMNS = 120
LARGEST = 1_000_000  # bytes, gzipped: what a first visit loads
LARGEST_VIEWER = 200_000  # bytes, gzipped: each notebook output carries it


def test_types() -> None:
    done = page.node("node_modules/typescript/bin/tsc", "--noEmit")
    assert done.returncode == 0, done.stdout + done.stderr


def test_lint() -> None:
    """Formatted as Biome formats it, and no finding of its linter (`npm run format` writes, `npm run lint` checks)."""
    done = page.node("node_modules/@biomejs/biome/bin/biome", "ci", "--error-on-warnings", "--colors=off")
    assert done.returncode == 0, done.stdout + done.stderr


def test_lines_are_short() -> None:
    """Biome breaks code, but neither comments nor strings; of the generated messages Python decides."""
    sources = [path for path in sorted((page.WEB / "src").rglob("*.*")) if path.name != "messages.ts"]
    long = [
        f"{path.relative_to(page.WEB)}:{number}: {len(line)} columns"
        for path in sources
        for number, line in enumerate(path.read_text().splitlines(), 1)
        if len(line) > MAX_COLUMNS
    ]
    assert sources and not long, "\n".join(long)


def test_units() -> None:
    done = page.node("node_modules/vitest/vitest.mjs", "run", "--reporter=dot")
    assert done.returncode == 0, done.stdout + done.stderr


def test_page_is_small_and_complete() -> None:
    static = page.built()
    text = (static / "index.html").read_text()
    named = re.findall(r'(?:src|href)="\./([^"]+)"', text)
    assert any(name.endswith(".js") for name in named) and any(name.endswith(".css") for name in named)
    assert all((static / name).is_file() for name in named)
    loaded = [path for path in static.rglob("*") if path.is_file() and path.name != "viewer.js"]
    size = sum(len(gzip.compress(path.read_bytes())) for path in loaded)
    assert size < LARGEST, f"the page is {size} bytes gzipped"


def test_viewer_is_one_small_script() -> None:
    """Python embeds it in HTML files and notebooks, so it may load nothing; URLs in it are names of namespaces."""
    script = (page.built() / "viewer.js").read_text()
    assert set(re.findall(r"https?://([\w.-]+)", script)) <= {"www.w3.org"}
    assert not re.search(r"\bimport\s*\(|\brequire\s*\(|</script", script)
    assert len(gzip.compress(script.encode())) < LARGEST_VIEWER


def test_lock_names_no_registry() -> None:
    text = (PROJECT / "web" / "package-lock.json").read_text()
    assert '"resolved"' not in text


def test_colours_can_be_read() -> None:
    """WCAG: text has at least 4.5 times the luminance of what it stands on."""
    theme = (PROJECT / "web" / "src" / "theme.css").read_text()
    colours = dict(re.findall(r"--([\w-]+): (#[0-9a-f]{6});", theme))
    for text in ("text", "muted", "accent", "future", "error-text"):
        for ground in ("background", "panel"):
            assert contrast(colours[text], colours[ground]) >= 4.5, (text, ground)
    for text in ("text", "accent", "future", "error-text"):
        assert contrast(colours[text], colours["raised"]) >= 4.5, text
    hues = re.findall(r'"(#[0-9a-f]{6})"', (PROJECT / "web" / "src" / "labels.ts").read_text())
    assert len(hues) == 8
    assert all(contrast(hue, colours["panel"]) >= 4.5 for hue in hues)
    light = [luminance(hue) for hue in hues]
    assert max(light) / min(light) < 1.25  # equal lightness


def luminance(colour: str) -> float:
    """Relative luminance of `#rrggbb`, as WCAG defines it."""
    channels = [int(colour[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    linear = [value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4 for value in channels]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def contrast(one: str, other: str) -> float:
    """The ratio of two colours' luminances, the lighter above."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)
