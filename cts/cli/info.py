"""``coopcts info``: what a device says of itself."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import click

from cts.cli.options import device_option

if TYPE_CHECKING:
    from rich.console import Console


_WORDS = (
    "cooperative",
    "subgroup",
    "computework",
    "sharedmemory",
    "float16",
    "float8",
    "int8",
    "memorymodel",
    "bufferdeviceaddress",
    "tensor",
)


@click.command(name="info")
@device_option()
@click.option("--json", "as_json", is_flag=True, help="Everything, as JSON.")
def command(device: str, as_json: bool) -> None:
    """Print every advertised record, and the limits and features that concern them.

    Values that this suite has no name for stay numbers.
    """
    from cts.opening import resolve
    from cts.result import device_record

    found = resolve(device, say=lambda line: click.echo(line, err=True))
    record = device_record(found.info) | {"device": found.spec, "notes": list(found.notes)}
    if as_json:
        click.echo(json.dumps(record, indent=1))
        return
    from rich.console import Console

    show(record, Console())


def show(record: dict[str, Any], console: Console) -> None:
    """Print the device as tables, as wide as the console is; wider where the output is no
    terminal, so that nothing is cut."""
    from rich.table import Table

    from reports.render.device import queues, record_tables

    if not console.is_terminal:
        console.width = 200
    facts = Table(box=None, show_header=False, pad_edge=False)
    for title, value in (
        ("device", record["name"]),
        ("driver", f"{record['driver']} {record['driver_version']}"),
        ("Vulkan", record["api_version"]),
        ("UUID", record["uuid"]),
        ("chosen as", record["device"]),
        ("subgroup size", record["subgroup_size"]),
        ("queue families", "; ".join(queues(record))),
    ):
        facts.add_row(title, str(value))
    for note in record["notes"]:
        facts.add_row("note", note)
    console.print(facts)
    for listed in record_tables(record):
        table = Table(title=f"\n{listed.command}: {len(listed.rows)} records", title_justify="left")
        table.add_column("#", justify="right")
        for member in listed.members:
            table.add_column(member)
        for index, row in enumerate(listed.rows):
            table.add_row(str(index), *row)
        console.print(table)
    _show_group(console, "Extensions", record["extensions"])
    _show_group(console, "Properties and limits", record["properties"])
    _show_group(console, "Features", dict.fromkeys(record["features"], "yes"))


def _show_group(console: Console, title: str, values: dict[str, Any]) -> None:
    from rich.table import Table

    from reports.render.device import show_property

    shown = {name: value for name, value in values.items() if _concerns(name)}
    if not shown:
        return
    table = Table(
        title=f"\n{title}", title_justify="left", box=None, show_header=False, pad_edge=False
    )
    for name in sorted(shown):
        table.add_row(name, show_property(shown[name]))
    console.print(table)


def _concerns(name: str) -> bool:
    """Whether a name is about cooperative types or what they are used with."""
    plain = name.lower().replace("_", "")
    return any(word in plain for word in _WORDS)
