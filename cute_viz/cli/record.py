"""`cute-viz record`: run a script of the CuTe DSL, and report on every kernel that it compiles."""

from __future__ import annotations

import click

from cute_viz.cli import output
from cute_viz.cli.words import FILE, Command, complete_files
from cute_viz.engine.kernel_ci import failures
from cute_viz.engine.kernel_text import text_of
from cute_viz.errors import CuteVizError
from cute_viz.recording import run


@click.command(cls=Command, context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False})
@click.option("--arch", metavar="SM", help="Compile for this machine, where there is no GPU: sm_90a")
@click.option("-o", "--output", "path", **FILE, help="Write the reports as .html")
@click.option("--json", "as_json", is_flag=True, help="Print JSON")
@click.option("--max-ways", type=click.FloatRange(1), metavar="N", help="Exit 1 above N ways, on a mistake, or where not counted")
@click.argument("script", metavar="SCRIPT", shell_complete=complete_files)
@click.argument("args", nargs=-1, metavar="[ARGS]...", type=click.UNPROCESSED)
def command(arch: str | None, path: str | None, as_json: bool, max_ways: float | None, script: str, args: tuple[str, ...]) -> None:
    """Run SCRIPT with this Python, keep the IR of every kernel that the CuTe DSL compiles, and report on its copies and MMAs.

    This executes SCRIPT. No other command of cute-viz does. Without a GPU, --arch names the machine; the script may then fail
    where it launches, after it has compiled.
    """
    output.say(f"running {script}")
    recorded, status = run(script, args, arch)
    if status:
        output.say(f"{script} ended with exit status {status}")
    reports = recorded.reports
    if not reports:
        said = (
            "with --arch sm_90a the DSL compiles without a GPU" if arch is None else "does it call cute.compile, or a jit function?"
        )
        raise CuteVizError("no kernel with copies was compiled", name=script, hint=said)
    if path is not None:
        for one in recorded.save(path):
            output.say(f"wrote {one}")
        output.look(str([found.as_dict() for found in reports.values()]).encode())
    elif as_json:
        output.echo(output.data({name: found.as_dict() for name, found in reports.items()}))
    else:
        for name, found in reports.items():
            output.say(f"{name}:", err=False)
            for line in text_of(found, name):
                output.say(line, err=False)
    wrong = [] if max_ways is None else [line for found in reports.values() for line in failures(found, max_ways, (), None)]
    if wrong:
        raise CuteVizError(wrong[0] + (f"; {len(wrong) - 1} more" if len(wrong) > 1 else ""))
