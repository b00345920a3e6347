"""Access control: which requests are allowed, and which files may be opened.

By default the server listens on this machine only. A page of another site can still reach it through the user's
browser, so a request must name one of our hosts, and a WebSocket must come from one of our pages. If the server listens
to the network, every address also carries a random token.
"""

from __future__ import annotations

import hmac
import ipaddress
import secrets
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from urllib.parse import urlsplit

from understudy.errors import InvalidInput

COOKIE = "understudy"  # prefix of the cookie's name; the port follows


def is_loopback(host: str) -> bool:
    """Whether a host is this machine's loopback address."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return host.lower() == "localhost"


@dataclass(frozen=True)
class AccessPolicy:
    """Allows requests that name one of our hosts and, if there is a token, carry it."""

    host: str = "127.0.0.1"
    token: str = ""

    @classmethod
    def for_host(cls, host: str) -> AccessPolicy:
        """The policy of a server that listens at a host; it has a token unless the host is the loopback."""
        return cls(host, "" if is_loopback(host) else secrets.token_urlsafe(24))

    def refuses(self, headers: dict[str, str], acts: bool, given: str) -> str:
        """Why a request is refused; empty if it is allowed. `acts`: it may change something; `given`: its token."""
        host = headers.get("host", "")
        if not self.token and not is_loopback(_name(host)):
            return "This server answers to localhost only."
        if self.token and not hmac.compare_digest(given.encode(errors="replace"), self.token.encode()):
            return "This address needs the token that the server printed when it started."
        origin = headers.get("origin", "")
        if origin and origin.lower() not in (f"http://{host}".lower(), f"https://{host}".lower()):
            return "This page is of another site."
        if acts and headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
            return "This page is of another site."
        return ""


def _name(host: str) -> str:
    """The name in a Host header without the port; empty if it cannot be parsed."""
    try:
        return urlsplit(f"//{host}").hostname or ""
    except ValueError:  # a bracket that is not closed
        return ""


@dataclass
class AllowedFolders:
    """The folders below which files may be opened: those of the files given at the start."""

    roots: list[Path] = field(default_factory=list)

    def allow(self, places: Iterable[str | Path]) -> None:
        """Allow folders, or the folders of files."""
        for place in places:
            path = Path(place).resolve()
            root = path if path.is_dir() else path.parent
            if root not in self.roots:
                self.roots.append(root)

    def find(self, name: str) -> Path:
        """The file of that name below one of the folders; links that lead out of them are not followed."""
        if not name or "\0" in name:
            raise InvalidInput("the request should name a file to open, but its name is empty")
        file = next((path for root in self.roots if (path := _inside(root, name)) is not None), None)
        if file is None:
            raise InvalidInput(f"there is no file {Path(name).name[:100]!r} below the opened folders")
        return file


def _inside(root: Path, name: str) -> Path | None:
    try:
        path = (root / name).resolve()
        return path if path.is_relative_to(root) and path.is_file() else None
    except (OSError, ValueError, RuntimeError):  # a name that is too long, a loop of links
        return None
