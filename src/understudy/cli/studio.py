"""`understudy studio`: serve the web studio on this machine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from understudy.cli import options

if TYPE_CHECKING:
    from understudy.studio.server import Server
    from understudy.studio.session import Session


@click.command(name="studio", short_help="Open files or built-in characters in the web studio.")
@click.argument("inputs", nargs=-1, metavar="[FILES]...")
@click.option(
    "--project",
    type=click.Path(file_okay=False),
    metavar="FOLDER",
    help="Where it is saved; a folder of the user by default.",
)
@click.option(
    "--host", default="127.0.0.1", show_default=True, help="The address to listen at; 0.0.0.0 for the network."
)
@click.option("--port", type=click.IntRange(0, 65535), help="7860 by default, or the next that is free.")
@click.option("--browser/--no-browser", default=None, help="Open the page; by default where a terminal is attached.")
@options.quiet
def command(
    inputs: tuple[str, ...], project: str | None, host: str, port: int | None, browser: bool | None, quiet: bool
) -> None:
    """Open FILES, folders of them or built-in characters in the web studio. Without any, the project as it was left.

    The address is printed on standard output; Ctrl+C ends it. Everything is saved all the time.
    """
    from understudy import cast
    from understudy.errors import BadFile
    from understudy.studio.security import AllowedFolders
    from understudy.studio.session import Session

    folders = AllowedFolders()
    names = [name for given in inputs for name in options.inputs(given)]
    for name in names:
        if not Path(name).exists() and name not in cast.names():
            raise BadFile(
                name, f"there is no such file, and no built-in character of that name ({', '.join(cast.names())})"
            )
    folders.allow(given for given in inputs if Path(given).exists())
    session = Session(Path(project) if project else _default_folder(), folders)
    serve(session, host, port, names, browser, quiet)


def serve(
    session: Session, host: str, port: int | None, names: list[str], browser: bool | None = None, quiet: bool = False
) -> None:
    """Serve a session until Ctrl+C; the files are opened as soon as the page can be opened."""
    from understudy.studio.server import Server, open_all

    server = Server(session, host, port, begin=lambda session: open_all(session, names))
    server.run(lambda: announce(server, browser, quiet))


def announce(server: Server, browser: bool | None, quiet: bool, mode: str = "") -> None:
    """Print the address, and open it in a browser if asked for or if a terminal is attached."""
    address = server.address + (f"#{mode}" if mode else "")
    click.echo(address)
    sys.stdout.flush()
    if not quiet:
        click.echo("Ctrl+C ends it; everything is saved.", err=True)
    if browser or (browser is None and sys.stdout.isatty()):
        import webbrowser

        webbrowser.open(address)


def _default_folder() -> Path:
    """The default project, below the user's data folder."""
    import os

    root = os.environ.get("XDG_DATA_HOME") or Path.home() / ".local" / "share"
    return Path(root, "understudy", "studio")
