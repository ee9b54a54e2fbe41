"""The command that completes all others: completion."""

from __future__ import annotations

from typing import Final

import click


@click.command("completion")
@click.argument("shell", type=click.Choice(["bash", "zsh", "fish"]))
def completion_command(shell: str) -> None:
    """Print the script that completes commands and options in a shell.

    bash: eval "$(cronshift completion bash)" in ~/.bashrc; zsh: the same with zsh in
    ~/.zshrc; fish: cronshift completion fish | source in config.fish.
    """
    from click.shell_completion import get_completion_class  # noqa: PLC0415 - rare

    kind = get_completion_class(shell)
    assert kind is not None  # noqa: S101 - the three that click knows
    cli = click.get_current_context().find_root().command
    click.echo(kind(cli, {}, "cronshift", "_CRONSHIFT_COMPLETE").source())


COMMANDS: Final = {"completion": completion_command}
