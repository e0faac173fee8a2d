"""What can go wrong for a user, as one sentence and an exit code."""

from __future__ import annotations

import click

AS_EXPECTED, FINDINGS, COULD_NOT_RUN, NOTHING_SELECTED = 0, 1, 2, 3


class Trouble(click.ClickException):
    """One sentence that says what is wrong and what to do, and an exit code."""

    exit_code = COULD_NOT_RUN

    def __init__(self, message: str, code: int = COULD_NOT_RUN) -> None:
        super().__init__(message)
        vars(self)["exit_code"] = code

    def show(self, file: object = None) -> None:
        """Print the sentence to the standard error output."""
        click.echo(f"coopcts: {self.message}", err=True)


def sentence(error: BaseException) -> str:
    """An exception as one sentence for a person."""
    if isinstance(error, OSError) and error.strerror:
        where = f"{error.filename}: " if error.filename else ""
        return f"{where}{error.strerror}"
    text = " ".join(str(error).split())
    if type(error).__module__.split(".")[0] in ("cts", "reports", "reference"):
        return text
    hint = "set COOPCTS_TRACEBACK=1 to see where, and please report it"
    return f"internal error: {type(error).__name__}: {text} ({hint})"
