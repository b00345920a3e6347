"""The comparison as one page: table, heat maps at the worst pose, plots. Nothing is fetched from anywhere.

A folder with `index.html`, `report.json` (the same figures for machines) and `table.csv`, written beside its place and
then renamed, so that it is there whole or not at all.
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

from understudy import files
from understudy.errors import InvalidInput
from understudy.skinning import plots
from understudy.skinning.comparison import Comparison, row
from understudy.skinning.page_style import STYLE

COLUMNS = (
    ("rms_mm", "RMS, mm", "How far vertices are from the truth: root mean square over all held-out poses"),
    ("rms_percent", "RMS, % of size", "The same, of the diagonal of the rest mesh"),
    ("worst_mm", "worst, mm", "The one vertex in the one pose that is furthest off"),
    ("worst_percent", "worst, %", "The same, of the diagonal of the rest mesh"),
    ("volume_loss_percent", "volume lost, %", "Mean over the poses; negative is too much"),
    ("worst_volume_loss_percent", "volume, worst %", "In the pose where it differs most"),
    ("edge_stretch_percent", "edge stretch, %", "Root mean square change of the lengths of edges"),
    ("bytes_a_vertex", "bytes a vertex", "Data that is needed to play it"),
    ("fit_seconds", "fit, s", "Processor time"),
    ("frame_microseconds", "µs a frame", "Processor time on one core, in a batch of 64 poses"),
)
SEEN = 1e-3  # of the size: less is less than a pixel of a heat map
SIGNED = ("volume_loss_percent", "worst_volume_loss_percent")


def write_report(
    comparison: Comparison, folder: str | Path, title: str, pictures: Mapping[str, bytes], notes: Iterable[str] = ()
) -> None:
    """The report in a folder that does not exist, is empty, or holds an older report; `pictures` are PNG by method."""
    place = Path(folder)
    check_place(place)
    rows = [row(entry) for entry in comparison.entries]
    page = html(comparison, rows, title, pictures, list(notes))
    told = {
        "examples": title,
        "vertices": len(comparison.held.rest),
        "joints": len(comparison.held.inverse_binds),
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
        (work / "report.json").write_text(json.dumps(told, indent=2) + "\n", encoding="utf-8")
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
    """Raise unless a report may be written there: nothing of the user's is ever overwritten."""
    if place.is_file():
        raise InvalidInput(f"{place} is a file, but the name of a folder for the report was expected")
    if not place.resolve().parent.is_dir():
        raise InvalidInput(f"cannot write {place}: there is no folder {place.parent}")
    if place.is_dir():
        strange = {each.name for each in place.iterdir()} - {"index.html", "report.json", "table.csv"}
        if strange:
            raise InvalidInput(f"{place} holds {sorted(strange)[0]!r} and is no report; name a new folder")


def _csv(rows: Sequence[Mapping[str, Any]]) -> str:
    text = io.StringIO()
    names = ["method", *(key for key, _, _ in COLUMNS), "gltf", "problem"]
    writer = csv.DictWriter(text, names, extrasaction="ignore", lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def html(
    comparison: Comparison,
    rows: Sequence[Mapping[str, Any]],
    title: str,
    pictures: Mapping[str, bytes],
    notes: Sequence[str],
) -> str:
    """The page."""
    held, trained = comparison.held, comparison.trained
    about = (
        f"{len(held.rest):,} vertices, {len(held.inverse_binds)} joints, {1000 * held.size:,.0f} mm across. Each "
        f"method was fitted to {len(trained)} poses and measured on {len(held)} others that it had not seen."
    )
    told = "".join(f"<li>{escape(note)}</li>" for note in notes)
    return (
        '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width, initial-scale=1">'
        f"<title>{escape(title)}: deformers compared</title><style>{STYLE}</style></head><body><main>"
        f"<h1>{escape(title)}: deformers compared</h1><p>{escape(about)}</p>"
        + (f"<ul>{told}</ul>" if told else "")
        + f"<h2 id=table>Table</h2>{_table(rows)}"
        + _figures(comparison, pictures)
        + _plots(comparison, rows)
        + "</main></body></html>\n"
    )


def _table(rows: Sequence[Mapping[str, Any]]) -> str:
    best = {}
    for key, _, _ in COLUMNS:
        found = [abs(each[key]) for each in rows if key in each]
        best[key] = min(found) if found else None
    head = "".join(f'<th scope="col" title="{escape(about)}">{escape(name)}</th>' for _, name, about in COLUMNS)
    body = []
    for each in rows:
        cells = f'<th scope="row" title="{escape(str(each["paper"]))}">{escape(str(each["method"]))}</th>'
        if "problem" in each:
            cells += f'<td colspan="{len(COLUMNS) + 1}" class="problem">{escape(str(each["problem"]))}</td>'
        else:
            for key, _, _ in COLUMNS:
                value = each[key]
                mark = ' class="best"' if abs(value) == best[key] else ""
                cells += f"<td{mark}>{plots.figure(value)}{'<span aria-label=best> ★</span>' if mark else ''}</td>"
            cells += f"<td>{'yes' if each['gltf'] else 'with shapes'}</td>"
        body.append(f"<tr>{cells}</tr>")
    return (
        '<div class="wide" tabindex="0" role="region" aria-label="Table of all methods"><table><thead><tr>'
        f'<th scope="col">method</th>{head}<th scope="col" title="As it is, or as linear blend with corrective shapes">'
        f"glTF</th></tr></thead><tbody>{''.join(body)}</tbody></table></div><p>★ the best of a column.</p>"
    )


def _figures(comparison: Comparison, pictures: Mapping[str, bytes]) -> str:
    cards = []
    for entry in comparison.measured:
        if entry.method not in pictures or entry.measures is None:
            continue
        m = entry.measures
        words = (
            f"{entry.method}, pose {int(comparison.held_numbers[m.worst_pose])}: rms "
            f"{plots.figure(1000 * m.pose_rms[m.worst_pose])} mm, worst {plots.figure(1000 * m.worst)} mm"
        )
        data = base64.b64encode(pictures[entry.method]).decode()
        cards.append(
            f'<figure><img alt="Error of {escape(words)}, as colour on the mesh" src="data:image/png;base64,{data}">'
            f"<figcaption>{escape(words)}</figcaption></figure>"
        )
    if not cards:
        return ""
    return (
        "<h2 id=worst>Each method at its worst pose</h2><p>Dark violet is no error, yellow "
        f"{1000 * heat_scale(comparison):.3g} mm or more: the largest error of the best two thirds of the methods. "
        "The first picture is the truth.</p>"
        f'<div class="cards">{_truth(comparison, pictures)}{"".join(cards)}</div>'
    )


def heat_scale(comparison: Comparison) -> float:
    """Metres of error that are yellow: the worst of the best two thirds of the methods, and what an eye could see."""
    worst = sorted(entry.measures.worst for entry in comparison.measured if entry.measures is not None)
    return max(worst[(2 * (len(worst) - 1)) // 3], SEEN * comparison.held.size)


def _truth(comparison: Comparison, pictures: Mapping[str, bytes]) -> str:
    """The true mesh in the pose that the first method has most trouble with."""
    first = comparison.measured[0].measures
    if "" not in pictures or first is None:
        return ""
    words = f"truth, pose {int(comparison.held_numbers[first.worst_pose])}"
    data = base64.b64encode(pictures[""]).decode()
    image = f'<img alt="The true mesh, {words}" src="data:image/png;base64,{data}">'
    return f"<figure>{image}<figcaption>{words}</figcaption></figure>"


def _plots(comparison: Comparison, rows: Sequence[Mapping[str, Any]]) -> str:
    good = [each for each in rows if "problem" not in each]
    if not good:
        return ""
    names = [str(each["method"]) for each in good]
    column = lambda key: [float(each[key]) for each in good]  # noqa: E731
    series = [1000 * entry.measures.pose_rms for entry in comparison.measured if entry.measures is not None]
    poses = ", ".join(map(str, comparison.held_numbers[:20])) + (", ..." if len(comparison.held_numbers) > 20 else "")
    drawn = (
        ("Error", plots.bars("RMS error in mm", names, column("rms_mm"), "mm")),
        (
            "Error of each held-out pose, mm",
            plots.lines("RMS error of each held-out pose", names, series, "mm", f"held-out poses {poses}"),
        ),
        (
            "What accuracy costs to store",
            plots.scatter(
                "RMS error against bytes a vertex",
                names,
                column("bytes_a_vertex"),
                column("rms_mm"),
                ("bytes a vertex, logarithmic", "RMS, mm, logarithmic"),
            ),
        ),
        (
            "What accuracy costs to play",
            plots.scatter(
                "RMS error against time a frame",
                names,
                column("frame_microseconds"),
                column("rms_mm"),
                ("µs a frame, logarithmic", "RMS, mm, logarithmic"),
            ),
        ),
        (
            "Volume lost at worst, %",
            plots.bars("Largest loss of volume", names, column("worst_volume_loss_percent"), "%"),
        ),
        (
            "Edge stretch, %",
            plots.bars("Root mean square stretch of edges", names, column("edge_stretch_percent"), "%"),
        ),
    )
    return "".join(f"<h2>{escape(title)}</h2>{svg}" for title, svg in drawn)


def write_table(comparison: Comparison, path: str | Path) -> None:
    """The table alone, as CSV."""
    with files.written_whole(path) as temporary:
        temporary.write_text(_csv([row(entry) for entry in comparison.entries]), encoding="utf-8")
