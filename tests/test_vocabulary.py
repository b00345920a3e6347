"""The house rules that a machine can count: `tools/house_report.py` counts them, here its bars are kept.

Files in the wheel and modules in a folder, public class names that occur twice, functions named by a participle,
arguments of the front door without a word, import cycles, long lines in Markdown.
"""

from __future__ import annotations

from tests.data_folder import PROJECT
from tools.house_report import static_figures


def test_the_bars_of_the_report_are_met() -> None:
    figures = {figure.name.strip(): figure for figure in static_figures(PROJECT)}
    assert {name: figure.details[:20] for name, figure in figures.items() if figure.met is False} == {}
    assert figures["of them of one word"].value <= 10, "a constant names the quantity and its unit"
    assert figures["who, whoever, somebody, nobody"].details == [], "a character or a caller is named"
