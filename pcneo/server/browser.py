"""Neo4j Browser on the local server: its jar, its settings, and how our own labels look in it.

The jar is separate GPL software. Like Neo4j's jars, it is fetched when first needed and never shipped with pcneo.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from importlib.resources import files
from pathlib import Path

from pcneo.server.configuration import HOST
from pcneo.server.folders import cache_folder, make_private
from pcneo.server.jars import Jar, all_there, fetch_jars, parse_lock

BROWSER_VERSION = "5.24.0"

POLICY = (
    "default-src 'self'; img-src 'self' data:; style-src 'self' 'unsafe-inline'; base-uri 'none'; object-src 'none'; "
    "frame-ancestors 'none'; connect-src 'self' ws://{bolt} http://{bolt}"
)
"""Neo4j's own policy, without the foreign hosts that it lets the page contact."""
RULE = re.compile(r"(\S+)\s*\{\n(.*?)\n\}", re.DOTALL)
DECLARATION = re.compile(r"([\w-]+):\s*(.+);")


def ensure_browser(progress: Callable[[int, int], None] | None = None) -> Path:
    """Return the folder with Neo4j Browser's checked jar, fetching it if it is missing."""
    folder = make_private(cache_folder() / f"browser-{BROWSER_VERSION}", "PCNEO_CACHE_DIR")
    fetch_jars(_jars(), folder, progress=progress)
    return folder


def browser_is_fetched() -> bool:
    """Whether Neo4j Browser's jar is in the cache."""
    return all_there(_jars(), cache_folder() / f"browser-{BROWSER_VERSION}")


def _jars() -> list[Jar]:
    return parse_lock((files("pcneo.server") / f"browser-{BROWSER_VERSION}.lock").read_text(encoding="utf-8"))


def style_file() -> Path:
    """Return the style file for our labels; drag it into any Neo4j Browser."""
    return Path(str(files("pcneo.server") / "pcneo.grass"))


def browser_settings(http_port: int, port: int) -> dict[str, str]:
    """Return the settings for Browser on the loopback address, with nothing else over HTTP.

    Browser applies the style at login, and clears its text away. Its page would load fonts and scripts from several
    companies; the policy lets it contact only this server, on the HTTP and the Bolt port.
    """
    return {
        "server.http.enabled": "true",
        "server.http.listen_address": f"{HOST}:{http_port}",
        "server.http.advertised_address": f"{HOST}:{http_port}",
        "server.http_enabled_modules": "BROWSER",
        "client.allow_telemetry": "false",
        "dbms.security.http_static_content_security_policy_header": POLICY.format(bolt=f"{HOST}:{port}"),
        "browser.post_connect_cmd": f"style {_style()}; clear",
    }


def _style() -> str:
    """The style as JSON on one line, which Browser accepts too; a semicolon would end the command."""
    rules = RULE.findall(style_file().read_text(encoding="utf-8"))
    return json.dumps({name: dict(DECLARATION.findall(body)) for name, body in rules})
