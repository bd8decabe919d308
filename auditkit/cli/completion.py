"""`auditkit completion`: a script that makes a shell complete commands, options and file names."""

from __future__ import annotations

import click

from auditkit.cli.options import DONE

SHELLS = ("bash", "zsh", "fish")


@click.command("completion")
@click.argument("shell", type=click.Choice(SHELLS))
@click.pass_context
def completion(context: click.Context, shell: str) -> int:
    """Print the script that completes commands and options in your shell.

    \b
    bash:  eval "$(auditkit completion bash)"    in ~/.bashrc
    zsh:   eval "$(auditkit completion zsh)"    in ~/.zshrc
    fish:  auditkit completion fish | source    in ~/.config/fish/config.fish
    """
    from click.shell_completion import get_completion_class

    made = get_completion_class(shell)
    assert made is not None
    # not .source(), which starts bash to ask for its version
    template = made(context.find_root().command, {}, "auditkit", "_AUDITKIT_COMPLETE")
    click.echo(template.source_template % template.source_vars())
    return DONE
