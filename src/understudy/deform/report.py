"""The comparison as one page: table, heat maps of one pose, plots. Nothing is fetched from the network.

The report is a folder with `index.html`, `report.json` (the same figures for programs) and `table.csv`. It is written
beside its location and then renamed, so that it is there whole or not at all. Plots are SVG in the page's colours,
readable without colour, with their numbers as text for screen readers. The page has a light and a dark style.
"""

from __future__ import annotations

import base64
import csv
import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from html import escape
from pathlib import Path
from typing import Any

import numpy as np

from understudy.checks import Array
from understudy.deform.comparison import Comparison
from understudy.errors import InvalidInput

PAGE_STYLE = """
:root{color-scheme:light dark;--paper:#faf5ee;--ink:#2e2422;--soft:#685450;--line:#d9ccbf;--card:#fff;--mark:#1f7a6f;
--bar:#8fb8b0;--c0:#1f7a6f;--c1:#b5541c;--c2:#5b4bb3;--c3:#a3247a;--c4:#3d6b1e;--c5:#87610b;--c6:#1c66a8;--c7:#b3261e}
@media (prefers-color-scheme:dark){:root{--paper:#16181c;--ink:#e3e6ea;--soft:#a3a9b3;--line:#343a44;--card:#1e2228;
--mark:#6fd0c1;--bar:#3f6f67;--c0:#6fd0c1;--c1:#f0a36b;--c2:#b3a6ff;--c3:#f08cc8;--c4:#a5d67c;--c5:#e6c35c;--c6:#86bdf2;
--c7:#ff9a91}}
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);
font:16px/1.5 system-ui,-apple-system,"Segoe UI",sans-serif}
main{max-width:1180px;margin:0 auto;padding:24px 20px 64px}h1{font-size:1.7rem;margin:.2em 0}
h2{font-size:1.2rem;margin:2em 0 .5em}p,li{color:var(--soft);max-width:75ch}
.wide{overflow-x:auto;border:1px solid var(--line);border-radius:8px;background:var(--card)}
.wide:focus-visible{outline:3px solid var(--mark)}
table{border-collapse:collapse;width:100%;font-variant-numeric:tabular-nums;font-size:.87rem}
th,td{padding:7px 8px;text-align:right;border-bottom:1px solid var(--line);white-space:nowrap}
th{font-weight:600}thead th{white-space:normal;vertical-align:bottom}
tbody th,thead th:first-child{text-align:left;position:sticky;left:0;background:var(--card)}
tbody tr:last-child>*{border-bottom:0}td.best{color:var(--mark);font-weight:700}
tr.worse>*{color:var(--c7)}
.scale{height:12px;width:260px;border-radius:6px;background:linear-gradient(90deg,#440154,#31688e,#35b779,#fde725)}
td.problem{text-align:left;color:var(--soft);white-space:normal}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(260px,1fr));gap:14px}
figure{margin:0;border:1px solid var(--line);border-radius:8px;overflow:hidden;background:var(--card)}
figure img{display:block;width:100%;height:auto}figcaption{padding:8px 10px;font-size:.85rem;color:var(--soft)}
svg{display:block;width:100%;max-width:900px;height:auto;background:var(--card);border:1px solid var(--line);
border-radius:8px;padding:8px}svg text{fill:var(--ink)}.bar{fill:var(--bar)}.bar.best{fill:var(--mark)}
.grid{stroke:var(--line);fill:none}.dot{fill:var(--mark)}.line{fill:none;stroke-width:2}
.c0{stroke:var(--c0)}.c1{stroke:var(--c1)}.c2{stroke:var(--c2)}.c3{stroke:var(--c3)}.c4{stroke:var(--c4)}
.c5{stroke:var(--c5)}.c6{stroke:var(--c6)}.c7{stroke:var(--c7)}.d1{stroke-dasharray:6 3}.d2{stroke-dasharray:2 3}
@media print{body{background:#fff}}
"""
PLOT_WIDTH_PIXELS, FONT_PIXELS = 760, 13
COLUMNS = (
    ("rms_mm", "RMS, mm", "How far vertices are from the truth: root mean square over all held-out poses"),
    ("rms_percent", "RMS, % of size", "The same, of the diagonal of the rest mesh"),
    ("train_rms_mm", "RMS of the fit, mm", "On the poses that the method was fitted to"),
    ("p95_mm", "95th percentile, mm", "Of all vertices in all held-out poses"),
    ("p99_mm", "99th percentile, mm", "Of all vertices in all held-out poses"),
    ("jitter_mm", "jitter, mm", "Second difference of the error from frame to frame, root mean square"),
    ("worst_mm", "worst, mm", "The one vertex in the one pose that is furthest off"),
    ("worst_percent", "worst, %", "The same, of the diagonal of the rest mesh"),
    ("volume_loss_percent", "volume lost, %", "Mean over the poses; negative is too much"),
    ("worst_volume_loss_percent", "volume, worst %", "In the pose where it differs most"),
    ("edge_stretch_percent", "edge stretch, %", "Root mean square change of the lengths of edges"),
    ("bytes_a_vertex", "bytes a vertex", "Data that is needed to play it"),
    ("fit_seconds", "fit, s", "Processor time"),
    ("frame_microseconds", "µs a frame", "Processor time on one core, in a batch of 64 poses"),
)
VISIBLE_ERROR_SIZE_RATIO = 1e-3  # of the size: less is below a pixel of a heat map


def write_report(
    comparison: Comparison, folder: str | Path, title: str, pictures: Mapping[str, bytes], notes: Iterable[str] = ()
) -> None:
    """The report in a folder that does not exist, is empty, or holds an older report; `pictures` are PNG by method."""
    place = Path(folder)
    check_place(place)
    rows = comparison.rows()
    page = report_html(comparison, rows, title, pictures, list(notes))
    figures = {
        "examples": title,
        "vertices": len(comparison.held.rest),
        "joints": list(comparison.held.names),
        "held_out_clips": list(dict.fromkeys(comparison.held.clips)),
        "trained_poses": len(comparison.trained),
        "held_out_poses": [int(number) for number in comparison.held_numbers],
        "size_m": comparison.held.size,
        "methods": rows,
        "notes": list(notes),
    }
    try:
        work = Path(tempfile.mkdtemp(prefix=f".{place.name}-", dir=place.parent))
    except OSError as error:
        raise InvalidInput(f"cannot write {place}: {error.strerror or error}") from None
    try:
        (work / "index.html").write_text(page, encoding="utf-8")
        (work / "report.json").write_text(json.dumps(figures, indent=2) + "\n", encoding="utf-8")
        (work / "table.csv").write_text(_csv(rows), encoding="utf-8")
        work.chmod(0o755)
        if place.exists():
            shutil.rmtree(place)
        work.replace(place)
    except OSError as error:
        raise InvalidInput(f"cannot write {place}: {error.strerror or error}") from None
    finally:
        shutil.rmtree(work, ignore_errors=True)


def check_place(place: Path) -> None:
    """Raise unless a report may be written there; other files are never overwritten."""
    if place.is_file():
        raise InvalidInput(f"{place} is a file, but the name of a folder for the report was expected")
    if not place.resolve().parent.is_dir():
        raise InvalidInput(f"cannot write {place}: there is no folder {place.parent}")
    if place.is_dir():
        strange = {file.name for file in place.iterdir()} - {"index.html", "report.json", "table.csv"}
        if strange:
            raise InvalidInput(f"{place} holds {sorted(strange)[0]!r} and is no report; name a new folder")


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    names = ["method", *(key for key, _, _ in COLUMNS), "gltf", "problem"]
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def report_html(
    comparison: Comparison,
    rows: Sequence[Mapping[str, Any]],
    title: str,
    pictures: Mapping[str, bytes],
    notes: Sequence[str],
) -> str:
    """The page as HTML."""
    held, trained = comparison.held, comparison.trained
    about = (
        f"{len(held.rest):,} vertices, {len(held.inverse_binds)} joints, {1000 * held.size:,.0f} mm across. Each "
        f"method was fitted to {len(trained)} poses and measured on {len(held)} others that it had not seen."
    )
    names = list(dict.fromkeys(held.clips))
    if names and not set(names) & set(trained.clips):
        shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
        about += f" These are whole clips: {shown}."
    items = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: deformers compared</title><style>{PAGE_STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}: deformers compared</h1><p>{escape(about)}</p>"
        + (f"<ul>{items}</ul>" if items else "")
        + f"<h2 id=table>Table</h2>{_table(rows)}"
        + _figures(comparison, pictures)
        + _joint_table(comparison)
        + _plots(comparison, rows)
        + "</main></body></html>\n"
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    best = {}
    for key, _, _ in COLUMNS:
        values = [abs(row[key]) for row in rows if row.get(key) is not None]
        best[key] = min(values) if values else None
    head = "".join(f'<th scope="col" title="{escape(about)}">{escape(name)}</th>' for _, name, about in COLUMNS)
    body = []
    for row in rows:
        cells = f'<th scope="row" title="{escape(str(row["paper"]))}">{escape(str(row["method"]))}</th>'
        if "problem" in row:
            cells += f'<td colspan="{len(COLUMNS) + 1}" class="problem">{escape(str(row["problem"]))}</td>'
        else:
            for key, _, _ in COLUMNS:
                value = row[key]
                if value is None:
                    cells += "<td>-</td>"
                    continue
                mark = ' class="best"' if abs(value) == best[key] else ""
                cells += f"<td{mark}>{format_figure(value)}{'<span aria-label=best> ★</span>' if mark else ''}</td>"
            cells += f"<td>{'yes' if row['gltf'] else 'with shapes'}</td>"
        worse = ' class="worse" title="worse than doing nothing"' if row.get("worse") else ""
        body.append(f"<tr{worse}>{cells}</tr>")
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Table of all methods"><table><thead><tr>'
        f'<th scope="col">method</th>{head}<th scope="col" title="As it is, or as linear blend with corrective shapes">'
        f"glTF</th></tr></thead><tbody>{''.join(body)}</tbody></table></div><p>★ the best of a column. Red rows "
        "are worse than doing nothing: the character's own weights, or automatic ones, without a fit.</p>"
    )


def _figures(comparison: Comparison, pictures: Mapping[str, bytes]) -> str:
    cards = []
    for entry in comparison.valid_results:
        if entry.method not in pictures or entry.measures is None:
            continue
        m = entry.measures
        words = f"{entry.method}: rms {format_figure(1000 * m.pose_rms[pose_of_pictures(comparison)])} mm in this pose"
        data = base64.b64encode(pictures[entry.method]).decode()
        cards.append(
            f'<figure><img alt="Error of {escape(words)}, as colour on the mesh" src="data:image/png;base64,{data}">'
            f"<figcaption>{escape(words)}</figcaption></figure>"
        )
    if not cards:
        return ""
    return (
        f"<h2 id=worst>All methods in pose {int(comparison.held_numbers[pose_of_pictures(comparison)])}</h2><p>It is "
        f"the held-out pose that doing nothing is furthest from. The first picture is the truth.</p>"
        f'<div class="scale"></div><p>0 to {1000 * heat_scale(comparison):.3g} mm or more: the largest error of the '
        "best two thirds of the methods.</p>"
        f'<div class="cards">{_truth(comparison, pictures)}{"".join(cards)}</div>'
    )


def heat_scale(comparison: Comparison) -> float:
    """The error in metres that is yellow: the worst of the best two thirds of the methods, at least a visible one."""
    worst = sorted(entry.measures.worst for entry in comparison.valid_results if entry.measures is not None)
    return max(worst[(2 * (len(worst) - 1)) // 3], VISIBLE_ERROR_SIZE_RATIO * comparison.held.size)


def pose_of_pictures(comparison: Comparison) -> int:
    """The held-out pose that is drawn of every method: that in which the first one, doing nothing, is furthest off."""
    first = comparison.valid_results[0].measures
    assert first is not None  # valid results have measures
    return int(first.pose_rms.argmax())


def _joint_table(comparison: Comparison) -> str:
    """The error near each joint, of every method; the largest of a method is marked."""
    entries = [(entry.method, entry.measures) for entry in comparison.valid_results if entry.measures is not None]
    if not entries:
        return ""
    used = [b for b in range(len(comparison.held.names)) if np.isfinite(entries[0][1].joint_rms[b])]
    head = "".join(f'<th scope="col">{escape(comparison.held.names[b])}</th>' for b in used)
    body = []
    for name, measures in entries:
        errors = 1000 * measures.joint_rms
        most = np.nanmax(errors)
        cells = "".join(f"<td{' class=best' * bool(e == most)}>{format_figure(e)}</td>" for e in errors[used])
        body.append(f'<tr><th scope="row">{escape(name)}</th>{cells}</tr>')
    return (
        '<h2 id=joints>Error near each joint, RMS in mm</h2><div class="wide" tabindex="0" role="region" '
        f'aria-label="Error by joint"><table><thead><tr><th scope="col">method</th>{head}</tr></thead>'
        f"<tbody>{''.join(body)}</tbody></table></div><p>The largest of each method is marked.</p>"
    )


def _truth(comparison: Comparison, pictures: Mapping[str, bytes]) -> str:
    """The true mesh in the pose that is drawn."""
    if "" not in pictures:
        return ""
    words = f"truth, pose {int(comparison.held_numbers[pose_of_pictures(comparison)])}"
    data = base64.b64encode(pictures[""]).decode()
    image = f'<img alt="The true mesh, {words}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def _plots(comparison: Comparison, rows: Sequence[Mapping[str, Any]]) -> str:
    good = [row for row in rows if "problem" not in row]
    if not good:
        return ""
    names = [str(row["method"]) for row in good]
    column = lambda key: [float(row[key]) for row in good]  # noqa: E731
    series = [1000 * entry.measures.pose_rms for entry in comparison.valid_results if entry.measures is not None]
    poses = ", ".join(map(str, comparison.held_numbers[:20])) + (", ..." if len(comparison.held_numbers) > 20 else "")
    drawn = (
        ("Error", bar_plot("RMS error in mm", names, column("rms_mm"), "mm")),
        (
            "Error of each held-out pose, mm",
            line_plot("RMS error of each held-out pose", names, series, "mm", f"held-out poses {poses}"),
        ),
        (
            "What accuracy costs to store",
            scatter_plot(
                "RMS error against bytes a vertex",
                names,
                column("bytes_a_vertex"),
                column("rms_mm"),
                ("bytes a vertex, logarithmic", "RMS, mm, logarithmic"),
            ),
        ),
        (
            "What accuracy costs to play",
            scatter_plot(
                "RMS error against time a frame",
                names,
                column("frame_microseconds"),
                column("rms_mm"),
                ("µs a frame, logarithmic", "RMS, mm, logarithmic"),
            ),
        ),
        (
            "Volume lost at worst, %",
            bar_plot("Largest loss of volume", names, column("worst_volume_loss_percent"), "%"),
        ),
        (
            "Edge stretch, %",
            bar_plot("Root mean square stretch of edges", names, column("edge_stretch_percent"), "%"),
        ),
    )
    return "".join(f"<h2>{escape(title)}</h2>{svg}" for title, svg in drawn)


def bar_plot(title: str, names: Sequence[str], values: Sequence[float], unit: str, digits: int = 3) -> str:
    """Horizontal bars on a common scale from zero, each with its number; the smallest is marked."""
    rows = len(names)
    height = 24 * rows + 12
    highest = max([abs(value) for value in values if np.isfinite(value)], default=1.0) or 1.0
    best = int(np.nanargmin(np.abs(values))) if rows else -1
    parts = []
    for i, (name, value) in enumerate(zip(names, values)):
        y = 24 * i + 6
        length = max((PLOT_WIDTH_PIXELS - 330) * abs(value) / highest, 1.0)
        kind, star = ("bar best", " ★") if i == best else ("bar", "")
        figure = format_figure(value, digits)
        parts.append(
            f'<text class="name" x="190" y="{y + 15}" text-anchor="end">{escape(name)}</text>'
            f'<rect class="{kind}" x="200" y="{y + 3}" width="{length:.1f}" height="15" rx="2"/>'
            f'<text x="{206 + length:.1f}" y="{y + 15}">{figure} {escape(unit)}{star}</text>'
        )
    words = "; ".join(f"{name} {format_figure(value, digits)} {unit}" for name, value in zip(names, values))
    return _svg(title, words, height, parts)


def line_plot(title: str, names: Sequence[str], series: Sequence[Array], unit: str, across: str) -> str:
    """Lines over the same numbers 0, 1, ..., with a legend beside them."""
    height, left, right, top, bottom = 320, 60, 210, 14, 40
    edge = PLOT_WIDTH_PIXELS - right
    count = max((len(values) for values in series), default=1)
    highest = max((float(np.nanmax(values)) for values in series if len(values)), default=1.0) or 1.0
    x = lambda i: left + (PLOT_WIDTH_PIXELS - left - right) * i / max(count - 1, 1)  # noqa: E731
    y = lambda v: top + (height - top - bottom) * (1 - v / highest)  # noqa: E731
    parts = []
    for share in (0.0, 0.5, 1.0):
        value = share * highest
        parts.append(
            f'<line class="grid" x1="{left}" x2="{PLOT_WIDTH_PIXELS - right}" y1="{y(value):.1f}" y2="{y(value):.1f}"/>'
            f'<text x="{left - 8}" y="{y(value) + 4:.1f}" text-anchor="end">{format_figure(value)}</text>'
        )
    for number, (name, values) in enumerate(zip(names, series)):
        points = " ".join(f"{x(i):.1f},{y(float(value)):.1f}" for i, value in enumerate(values))
        row = top + 8 + number * min(18, (height - 20) / max(len(names), 1))
        parts.append(
            f'<polyline class="line c{number % 8} d{number // 8 % 3}" points="{points}"/>'
            f'<line class="line c{number % 8} d{number // 8 % 3}" x1="{edge + 14}" x2="{edge + 44}" '
            f'y1="{row:.1f}" y2="{row:.1f}"/><text x="{edge + 50}" y="{row + 4:.1f}">{escape(name)}</text>'
        )
    middle = (left + PLOT_WIDTH_PIXELS - right) / 2
    parts.append(f'<text x="{middle:.0f}" y="{height - 10}" text-anchor="middle">{escape(across)}</text>')
    words = "; ".join(
        f"{name} up to {format_figure(float(np.nanmax(v)))} {unit}" for name, v in zip(names, series) if len(v)
    )
    return _svg(title, words, height, parts)


def scatter_plot(
    title: str, names: Sequence[str], across: Sequence[float], up: Sequence[float], words: tuple[str, str]
) -> str:
    """Points on logarithmic axes, each with its name; the lower left is the cheapest and nearest."""
    height, left, right, top, bottom = 340, 70, 150, 14, 44
    horizontal, vertical = (np.log10(np.maximum(values, 1e-9)) for values in (across, up))
    low = np.array([horizontal.min(initial=99.0), vertical.min(initial=99.0)]) - 0.1
    high = np.array([horizontal.max(initial=-99.0), vertical.max(initial=-99.0)]) + 0.1
    span = np.maximum(high - low, 0.2)
    parts: list[str] = []
    used: list[tuple[float, float]] = []
    for name, h, v in sorted(zip(names, horizontal, vertical), key=lambda point: point[2]):
        x = left + (PLOT_WIDTH_PIXELS - left - right) * (h - low[0]) / span[0]
        y = top + (height - top - bottom) * (1 - (v - low[1]) / span[1])
        text = y + 4
        while any(abs(text - other) < 13 and abs(x - place) < 150 for place, other in used):
            text -= 13
        used.append((x, text))
        parts.append(f'<circle class="dot" cx="{x:.1f}" cy="{y:.1f}" r="5"/>')
        parts.append(f'<text x="{x + 9:.1f}" y="{text:.1f}">{escape(name)}</text>')
    middle = (left + PLOT_WIDTH_PIXELS - right) / 2
    parts.append(f'<text x="{middle:.0f}" y="{height - 8}" text-anchor="middle">{escape(words[0])} →</text>')
    parts.append(
        f'<text transform="translate(18 {height / 2:.0f}) rotate(-90)" text-anchor="middle">{escape(words[1])} →</text>'
    )
    parts.append(f'<path class="grid" d="M{left} {top}V{height - bottom}H{PLOT_WIDTH_PIXELS - right}"/>')
    description = "; ".join(f"{name}: {format_figure(a)}, {format_figure(b)}" for name, a, b in zip(names, across, up))
    return _svg(title, description, height, parts)


def format_figure(value: float, digits: int = 3) -> str:
    """A number as text with `digits` significant digits and no exponent."""
    if not np.isfinite(value):
        return "-"
    if value == 0:
        return "0"
    places = max(0, digits - 1 - int(np.floor(np.log10(abs(value)))))
    return f"{value:,.{min(places, 6)}f}"


def _svg(title: str, words: str, height: int, parts: Sequence[str]) -> str:
    return (
        f'<svg role="img" viewBox="0 0 {PLOT_WIDTH_PIXELS} {height}" font-size="{FONT_PIXELS}" '
        f'aria-label="{escape(title)}: {escape(words)}">'
        f"<title>{escape(title)}</title>{''.join(parts)}</svg>"
    )
