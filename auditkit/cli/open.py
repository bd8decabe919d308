"""`auditkit open`: the page on this machine."""

from __future__ import annotations

from pathlib import Path

import click

from auditkit.cli.options import DONE


@click.command("open")
@click.argument("files", type=click.Path(path_type=Path), metavar="[FILE]...", nargs=-1)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="AUDIT.toml",
    help="settings to start from, and the history to show (default: the history of audit.toml here)",
)
@click.option("--port", type=click.IntRange(0, 65535), default=0, metavar="N", help="the port to use (0: any)")
@click.option("--no-browser", is_flag=True, help="only print the address")
def open_page(files: tuple[Path, ...], config: Path | None, port: int, no_browser: bool) -> int:
    """Open the audit in your browser: choose a file, check how it is read, read the report.

    Several files are read as one: stacked, or joined by an id.

    This machine serves the page to itself only. Its address, with a secret token, is the first line on stdout.
    Uploads are kept in a private folder until Ctrl-C. Nothing is sent anywhere.
    """
    from auditkit.config import Config, read
    from auditkit.data.source import expanded
    from auditkit.page.server import serve
    from auditkit.scheduled.audit_history import AuditHistory

    def announce(address: str) -> None:
        click.echo(address)
        click.echo("The page runs on this machine only. Ctrl-C ends it and removes its copies of your files.", err=True)

    try:
        chosen = Config() if config is None else read(config)
        kept = config or Path("audit.toml")
        history = AuditHistory(kept.resolve()) if kept.is_file() else None
        data = expanded(files)
        paths = data if isinstance(data, tuple) else () if data is None else (Path(data),)
        serve(paths, chosen, port, not no_browser, announce, history)
    except KeyboardInterrupt:
        click.echo("ended", err=True)
    return DONE
