"""``coopcts replay``: ask a device again what showed a finding."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from cts.cli.options import cases_option, device_option, run_folder, run_settings
from cts.cli.trouble import AS_EXPECTED, FINDINGS, Trouble

if TYPE_CHECKING:
    from cts.device.protocol import Device
    from cts.witness import Witness


@click.command(name="replay")
@click.argument("identifier", metavar="ID")
@click.option(
    "--run",
    type=click.Path(path_type=Path, file_okay=False),
    default=None,
    help="Run folder with the finding.  [default: the latest]",
)
@device_option(default=None)
@click.option(
    "--times", type=click.IntRange(min=1), default=1, show_default=True, help="How often."
)
@cases_option
def command(
    identifier: str, run: Path | None, device: str | None, times: int, cases: Path | None
) -> int:
    """Run the request of finding ID again, judge the answer, and say whether it is still wrong.

    ID is the six-digit name in the report, or the path of a witness file. Exit code 1: the
    finding shows; 0: it doesn't any more.
    """
    found, settings = find(identifier, run)
    from cts.opening import open_device

    spec = device or str(settings.get("device", "auto"))
    opened = open_device(spec)
    try:
        click.echo(f"{found.case} on {opened.info.name} ({opened.info.driver_version})")
        return _replay(found, opened, times, cases or _cases_of(settings))
    finally:
        opened.close()


def find(identifier: str, run: Path | None) -> tuple[Witness, dict[str, object]]:
    """The witness that ``identifier`` names, and the settings of its run."""
    from cts import witness

    path = Path(identifier)
    if path.suffix == ".json":
        return witness.load(path), run_settings(path.parent.parent)
    folder = run_folder(run)
    path = folder / "witness" / f"{identifier}.json"
    if not path.is_file():
        known = list(witness.names(folder))
        has = f"it has {', '.join(known[:8])}" if known else "it has no findings"
        raise Trouble(f"run {folder} has no finding {identifier!r}; {has}")
    return witness.load(path), run_settings(folder)


def _cases_of(settings: dict[str, object]) -> Path | None:
    folder = settings.get("cases")
    return Path(folder) if isinstance(folder, str) else None


def _replay(found: Witness, device: Device, times: int, cases: Path | None) -> int:
    seen, text = 0, ""
    for _ in range(times):
        shown = _judged(found, device) if found.judged else _by_case(found, device, cases)
        if shown:
            seen, text = seen + 1, shown
    if not seen:
        click.echo(f"FIXED: not seen in {times} of {times}. It was: {found.message}")
        return AS_EXPECTED
    click.echo(text)
    click.echo(f"seen in {seen} of {times}")
    return FINDINGS


def _judged(found: Witness, device: Device) -> str:
    """What the oracle says of the stored request now; nothing if all is well."""
    from cts.device.protocol import Dispatch
    from cts.program.text import describe
    from cts.run import judge_again

    try:
        finding = judge_again(found.evidence, device)
    except ValueError as error:
        raise Trouble(f"the witness of {found.id} can't be judged: {error}") from None
    if finding is None:
        return ""
    request = found.request
    assert isinstance(request, Dispatch) and request.program is not None
    lines = [describe(request.program), f"{type(finding).__name__}: {finding.message}"]
    lines += [
        f"{name}: {finding.detail[name]}"
        for name in ("pattern", "explanation", "stderr")
        if finding.detail.get(name)
    ]
    return "\n".join(lines)


def _by_case(found: Witness, device: Device, folder: Path | None) -> str:
    """Run the whole case with the seed it had, and see whether it finds the same kind."""
    from cts.collect import CASES, collect
    from cts.plugin import finding_lines
    from cts.profiles import PROFILES
    from cts.run import run_case
    from cts.witness import store

    case = next((it for it in collect(folder or CASES) if it.id == found.case), None)
    if case is None:
        raise Trouble(f"this version of the suite has no case {found.case}")
    profile = PROFILES.get(found.origin.profile)
    if profile is None:
        raise Trouble(f"this version of the suite has no profile {found.origin.profile!r}")
    result = run_case(case, device, profile, found.origin.seed)
    for one in result.found:
        if type(one.finding).__name__ == found.kind:
            report = store(one, case, device.info, found.origin, None)
            return "\n".join(finding_lines(report))
    if result.trace:
        raise Trouble(f"{found.case}: {result.reason}")
    return ""
