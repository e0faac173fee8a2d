"""``coopcts export``: a finding as a folder that needs nothing of the suite."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from cts.cli.trouble import Trouble

if TYPE_CHECKING:
    from cts.device.protocol import Dispatch
    from cts.witness import Witness


@click.command(name="export")
@click.argument("identifier", metavar="ID")
@click.option(
    "--run",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Run folder with the finding.  [default: the latest]",
)
@click.option(
    "--out",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="New folder.  [default: reproducer-ID]",
)
def command(identifier: str, run: Path | None, out: Path | None) -> None:
    """Write a reproducer of finding ID: the SPIR-V module, the buffers before the dispatch, how
    to run them, and what is wrong with the answer."""
    from cts.cli.replay import find
    from cts.device.protocol import Dispatch

    found, _ = find(identifier, run)
    folder = out or Path(f"reproducer-{found.id}")
    if folder.exists():
        raise Trouble(f"{folder} is there already; give another folder with --out")
    folder.mkdir(parents=True)
    files = _dispatch(found.request, folder) if isinstance(found.request, Dispatch) else []
    request = plain_request(found.request)
    (folder / "request.json").write_text(json.dumps(request, indent=1) + "\n", encoding="utf-8")
    (folder / "README.md").write_text(readme(found, files), encoding="utf-8")
    click.echo(f"{folder}: {', '.join([*files, 'request.json', 'README.md'])}")


def _dispatch(request: Dispatch, folder: Path) -> list[str]:
    """Write module and buffers; the names of the files."""
    from cts.spirv.tools import disassemble

    (folder / "module.spv").write_bytes(request.words)
    files = ["module.spv"]
    text = disassemble(request.words)
    if text:
        (folder / "module.spvasm").write_text(text, encoding="utf-8")
        files.append("module.spvasm")
    for index, buffer in enumerate(request.buffers):
        (folder / buffer_file(index)).write_bytes(buffer.data)
        files.append(buffer_file(index))
    return files


def buffer_file(index: int) -> str:
    """The file that holds buffer ``index``."""
    return f"buffer-{index}.bin"


def plain_request(request: object) -> dict[str, Any]:
    """The request without its bytes: what an adopter's own program has to set."""
    from dataclasses import fields

    from cts.device.protocol import Dispatch
    from cts.events import plain

    if isinstance(request, Dispatch):
        program = request.program
        names = [buffer.name for buffer in program.buffers] if program is not None else []
        return {
            "module": "module.spv",
            "entry_point": "main",
            "stage": "compute",
            "workgroups": list(request.workgroups),
            "required_subgroup_size": request.required_subgroup_size,
            "full_subgroups": True,
            "features": list(request.features),
            "extensions": list(request.extensions),
            "specialization": [
                {"id": number, "bytes": size, "value": value}
                for number, size, value in request.specialization
            ],
            "buffers": [
                {
                    "name": names[index] if index < len(names) else "numbers",
                    "file": buffer_file(index),
                    "bytes": len(buffer.data),
                    "binding": None if buffer.physical else index,
                    "push_constant": buffer.physical,
                }
                for index, buffer in enumerate(request.buffers)
            ],
        }
    if request is None:
        return {}
    members = {it.name: plain(getattr(request, it.name)) for it in fields(request)}  # type: ignore[arg-type]
    return {"request": type(request).__name__, **members}


def readme(found: Witness, files: list[str]) -> str:
    """What the folder is and how to use it."""
    from cts.device.protocol import Dispatch
    from cts.program.text import describe

    device = found.device
    lines = [
        f"# {found.kind}: {found.case}",
        "",
        found.message,
        "",
        f"Seen on {device.get('name')}, driver {device.get('driver')} "
        f"{device.get('driver_version')}. Finding {found.id}, run seed {found.origin.seed}, "
        f"profile {found.origin.profile}.",
        "",
    ]
    if isinstance(found.request, Dispatch):
        lines += [
            "`request.json` has everything that must be set. Create a device with exactly these "
            "features and extensions, a compute pipeline of `module.spv` (entry point `main`) "
            "with full subgroups and, where it isn't null, the required subgroup size. Bind every "
            "buffer as a storage buffer of descriptor set 0 at its binding; put the device "
            "addresses of the others into the push constants, as 64-bit numbers in their order. "
            "Fill the buffers from the files, dispatch once, and compare what the message names.",
            "",
        ]
        if found.request.program is not None:
            lines += ["```", describe(found.request.program), "```", ""]
    elif found.request is None:
        lines += ["The case judges by itself and asked nothing that can be stored.", ""]
    else:
        lines += ["`request.json` has the call and its arguments.", ""]
    if files:
        lines += [f"Files: {', '.join(files)}.", ""]
    return "\n".join(lines)
