"""`firstword`: the command line.

It is a thin layer: each command lives in `firstword/commands/` and imports what is heavy inside itself, so that
`firstword --help` answers at once. The one rule: what went wrong is a sentence and exit code 2, never a traceback.
"""

from __future__ import annotations

import importlib
import sys

import click

from firstword import __version__
from firstword.errors import FirstwordError

# Command → (module, what it does in a line). The line stands here so that `--help` imports no command.
COMMANDS = {
    "serve": ("serve", "Serve the page and the doors."),
    "talk": ("talk", "Hold a conversation with WAV files: the whole voice loop, no browser."),
    "say": ("speech", "Speak a text into a file."),
    "hear": ("hear", "Recognise a recording."),
    "models": ("models", "List, fetch and examine the weights."),
    "bots": ("bots", "Check and show the bots."),
    "runs": ("runs", "List, show and cancel answers; work off those that nobody holds."),
    "worker": ("worker", "Hold conversations in the rooms of a LiveKit server."),
    "grant": ("grant", "Mint a grant for a script."),
    "bench": ("bench", "Measure: how soon the first word is heard."),
}


class _Lazy(click.Group):
    """Knows the commands' names and lines without importing them."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"firstword.commands.{COMMANDS[cmd_name][0]}")
        command: click.Command = getattr(module, cmd_name)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        with formatter.section("Commands"):
            formatter.write_dl([(name, line) for name, (_, line) in COMMANDS.items()])


@click.group(cls=_Lazy, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="firstword")
def cli() -> None:
    """A realtime voice agent server whose speech models run where it runs."""


def main() -> None:
    """Run the command line and leave with its exit code."""
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Abort:
        code = 130
    except click.ClickException as refused:
        refused.show()
        code = refused.exit_code
    except FirstwordError as refused:
        _say(refused)
        code = 2
    except Exception as fault:
        if not _is_ours(fault):
            raise
        _say(fault)
        code = 2
    sys.exit(code if isinstance(code, int) else 0)


def _is_ours(fault: Exception) -> bool:
    """Every room's errors are written for people: theirs are shown as they are, anybody else's are faults of ours."""
    from firstword.rooms import ERRORS

    return isinstance(fault, ERRORS)


def _say(fault: Exception) -> None:
    for line in str(fault).splitlines():
        click.echo(f"firstword: {line}", err=True)


if __name__ == "__main__":
    main()
