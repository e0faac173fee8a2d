"""``python -m cts.cli``: the ``coopcts`` command."""

from cts.cli import main

main()
