"""`python -m understudy`."""

from __future__ import annotations

from understudy.cli import main

main()
