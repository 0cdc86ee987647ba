"""What the library itself costs: its own benchmarks' words, with the commands that print them."""
import os
import tempfile

from comparison.segments import run_processes

TITLE = "## What the library costs\n\n"


def programs_beside(tools):
    """[(command as it is told, command)] of what is built; the folders are those of a build."""
    bench = os.path.join(os.path.dirname(os.path.abspath(tools)), "bench")
    overhead, footprint = (os.path.join(bench, name) for name in ("overhead", "footprint"))
    sizes = ["--communicators", "100", "--operations", "10000"]
    commands = (("build/release/bench/overhead", overhead, [overhead]),
                (f"strata-run -n 4 -- build/release/bench/footprint {' '.join(sizes)}", footprint,
                 [os.path.join(tools, "strata-run"), "-n", "4", "--no-prefix", "--", footprint, *sizes]))
    return [(told, command) for told, program, command in commands if os.access(program, os.X_OK)]


def measure(tools, limit_s):
    """(a section of the report, notes)."""
    text, notes = "", []
    for told, command in programs_beside(tools):
        with tempfile.TemporaryDirectory(prefix="strata-compare-") as folder:
            output, problem = run_processes([command], {}, folder, limit_s)
        text += section(told, output)
        if problem:
            notes.append(f"{told}: {problem}")
    if not text:
        notes.append("bench/overhead and bench/footprint are not built: cmake --build --preset release --target overhead "
                     "footprint")
    return TITLE + text if text else "", notes


def section(told, output):
    lines = "".join(f"    {line}\n" for line in output.splitlines())
    return f"`{told}` says\n\n{lines}\n"
