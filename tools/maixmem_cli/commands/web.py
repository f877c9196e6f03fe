# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""`maixmem web`: the page with a board in it, from this machine."""

from __future__ import annotations

import webbrowser
from pathlib import Path

import click

from maixmem_cli.library import places
from maixmem_cli.page import server
from maixmem_cli.text.needs import WrongUse
from maixmem_cli.text.output import unreadable


def _page() -> Path:
    page = places.page()
    if not page.exists():
        bring = "python3 tools/dev.py web" if places.checkout() else "pip install maixmem"
        raise WrongUse(f"this copy of maixmem was built without its page. Next: {bring}")
    return page


def _write(page: Path, to: Path) -> int:
    """Writes the page; its bytes. WrongUse where something is already in the folder."""
    try:
        if to.is_dir() and any(to.iterdir()):
            raise WrongUse(f"{to} is not empty. Next: a new folder, or delete what is in it")
        return server.write(page, to)
    except OSError as e:
        raise WrongUse(unreadable(e, to)) from e


@click.command(name="web", epilog="Example: maixmem web --out site")
@click.option(
    "--port",
    type=click.IntRange(1, 65535),
    help=f"The port on this machine.  [default: {server.PORT}, or a free one where it is taken]",
)
@click.option("--no-open", is_flag=True, help="Open no browser; print the address alone.")
@click.option(
    "--out",
    type=click.Path(file_okay=False, path_type=Path),
    metavar="FOLDER",
    help="Write the page as a folder that any web server can hand out, and end.",
)
def command(*, port: int | None, no_open: bool, out: Path | None) -> None:
    """Open the page with a K210 in it: runs, heaps and answers in a browser.

    Served from this machine to this machine; needs no network. Ctrl-C ends it.

    Exit status: 0 after Ctrl-C or when the folder is written, 2 when it cannot be.
    """
    page = _page()
    if out:
        size = _write(page, out)
        click.echo(f"{out}: the page, {size >> 20} MiB. Next: give the folder to a web server")
        return
    try:
        serving = server.serve(server.files(page), port)
    except OSError as e:
        raise WrongUse(f"port {port}: {e.strerror}. Next: another --port, or none") from e
    with serving:
        click.echo(f"{serving.address}  (Ctrl-C ends it)")
        if not no_open:
            webbrowser.open(serving.address)
        try:
            serving.serve_forever()
        except KeyboardInterrupt:
            click.echo("")
