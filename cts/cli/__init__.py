"""The ``coopcts`` command. Every subcommand is loaded only when it is called or listed, and
imports what it needs only when it runs, so that ``--help`` and ``list`` answer at once."""

from __future__ import annotations

import importlib
import os
import sys
from typing import NoReturn

import click

import cts
from cts.cli.trouble import COULD_NOT_RUN, sentence

COMMANDS = {
    "doctor": "cts.cli.doctor",
    "info": "cts.cli.info",
    "list": "cts.cli.listing",
    "plan": "cts.cli.plan",
    "run": "cts.cli.run",
    "replay": "cts.cli.replay",
    "export": "cts.cli.export",
    "diff": "cts.cli.diff",
    "bench": "cts.cli.bench",
    "mutants": "cts.cli.mutants",
}
"""Name of each subcommand and the module whose ``command`` it is."""


class _Lazy(click.Group):
    def list_commands(self, ctx: click.Context) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(COMMANDS[cmd_name])
        command: click.Command = module.command
        return command


@click.group(
    cls=_Lazy,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
    epilog="Exit codes: 0 as expected, 1 findings, 2 could not run, 3 nothing selected.",
)
@click.version_option(cts.__version__, prog_name="coopcts")
def group() -> None:
    """Conformance tests for Vulkan cooperative matrices and cooperative vectors."""


def main(arguments: list[str] | None = None) -> NoReturn:
    """Run the command line and exit with its code. Trouble is one sentence, never a traceback."""
    try:
        code = group.main(arguments, prog_name="coopcts", standalone_mode=False)
        sys.stdout.flush()
    except click.exceptions.Exit as leaving:
        code = leaving.exit_code
    except click.ClickException as error:
        error.show()
        code = error.exit_code
    except (KeyboardInterrupt, click.Abort):
        click.echo("coopcts: stopped", err=True)
        code = COULD_NOT_RUN
    except BrokenPipeError:
        # Whoever read the output has gone; nothing more can be said to them.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 0
    except Exception as error:
        if os.environ.get("COOPCTS_TRACEBACK"):
            raise
        click.echo(f"coopcts: {sentence(error)}", err=True)
        code = COULD_NOT_RUN
    sys.exit(code if isinstance(code, int) else 0)
