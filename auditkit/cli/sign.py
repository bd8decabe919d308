"""`auditkit sign`: detached signatures over the files of a report."""

from __future__ import annotations

from pathlib import Path

import click

from auditkit.cli.options import DONE


@click.command()
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path), metavar="FILE...")
@click.option(
    "--key",
    required=True,
    type=click.Path(path_type=Path),
    help="ssh-keygen private key, or the public key of one held by ssh-agent",
)
def sign(files: tuple[Path, ...], key: Path) -> int:
    """Sign the files of a report.

    For people.audit.html this writes people.audit.sha256, a list of all files of that report with their SHA-256, and
    people.audit.sha256.sig, a signature of the list in OpenSSH's format. Anyone can check them with ssh-keygen and
    sha256sum, or with auditkit verify --signer.
    """
    from auditkit.verification.signatures import sign_files

    for path in sign_files(files, key.expanduser()):
        click.echo(f"written: {path}")
    return DONE
