"""Runs one segment, which is one arm on one collective, and gathers its figures."""
import os
import signal
import subprocess
import tempfile
import time

from comparison import machine
from comparison.arms import LIMIT_PREFIX, bytes_of
from comparison.samples import Sample, rows_of_programs, rows_of_strata

POLL_S = 0.02
GRACE_S = 5
SHOWN_COMPLAINT = 400
NOT_PASSED_ON = ("STRATA_", "OMPI_", "RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_")


def environment_with(extra):
    return {**{k: v for k, v in os.environ.items() if not k.startswith(NOT_PASSED_ON)}, **extra}


def end_all(processes):
    """Asks those that are still there to end, so that launchers end their ranks; then leaves them no choice."""
    for signal_number, patience_s in ((signal.SIGTERM, GRACE_S), (signal.SIGKILL, GRACE_S)):
        give_up = time.monotonic() + patience_s
        for process in processes:
            if process.poll() is None:
                os.killpg(process.pid, signal_number)
        while any(process.poll() is None for process in processes) and time.monotonic() < give_up:
            time.sleep(POLL_S)


def shortened(text):
    """Its first words, which say what went wrong first, and its last ones."""
    if len(text) <= SHOWN_COMPLAINT:
        return text
    return f"{text[:SHOWN_COMPLAINT // 2]} ... {text[-SHOWN_COMPLAINT // 2:]}"


def run_processes(commands, environment, folder, limit_s):
    """Standard output of all, and what went wrong: "" if nothing did."""
    out_path, error_path = os.path.join(folder, "stdout"), os.path.join(folder, "stderr")
    processes, problem = [], ""
    with open(out_path, "wb") as out, open(error_path, "wb") as errors:
        try:
            for command in commands:
                processes.append(subprocess.Popen(command, stdout=out, stderr=errors, stdin=subprocess.DEVNULL,
                                                  env=environment_with(environment), start_new_session=True))
            give_up = time.monotonic() + limit_s
            while not problem and any(process.poll() is None for process in processes):
                if any(process.poll() not in (None, 0, 1) for process in processes):
                    problem = "a process failed"
                elif time.monotonic() > give_up:
                    problem = f"stopped after {limit_s:.0f} s"
                else:
                    time.sleep(POLL_S)
        finally:
            end_all(processes)
    codes = sorted({process.poll() for process in processes} - {0, None})
    with open(error_path, encoding="utf-8", errors="replace") as file:
        complaint = shortened(" ".join(file.read().split()))
    if problem or codes:
        problem = problem or "exit status " + " ".join(map(str, codes))
        problem += f": {complaint}" if complaint else ""
    with open(out_path, encoding="utf-8", errors="replace") as file:
        return file.read(), problem


def figures_in(folder, output):
    strata = os.path.join(folder, "strata.csv")
    return list(rows_of_strata(strata) if os.path.exists(strata) else rows_of_programs(output))


def measure_once(arm, make_job, sizes, round_number, settings):
    """(samples, problem) of one attempt. make_job(folder) gives the job."""
    with tempfile.TemporaryDirectory(prefix="strata-compare-") as folder:
        job = make_job(folder)
        prefix = settings.namespace.prefix if arm.namespace else []
        commands = [prefix + command for command in arm.command(job)]
        machine.wait_until_quiet(settings.patience_s)
        before = machine.core_to_core_ns(job.programs.get("core_probe"))
        others = settings.meter()
        output, problem = run_processes(commands, arm.environment, folder, settings.limit_s)
        others_pct = others.percent_of_a_core()
        after = machine.core_to_core_ns(job.programs.get("core_probe"))
        nominal = {bytes_of(job.collective, size, job.ranks): size for size in reversed(sizes)}
        samples = [Sample(round=round_number, arm=LIMIT_PREFIX + variant if variant else arm.name, mode=job.mode,
                          ranks=job.ranks, collective=collective, size=nominal.get(in_bytes, in_bytes),
                          bytes=in_bytes, probe_before_ns=before, probe_after_ns=after, others_pct=others_pct, **figures)
                   for variant, collective, in_bytes, figures in figures_in(folder, output)]
    if not samples and not problem:
        problem = "it has no such collective"
    return samples, problem


def measure(arm, make_job, sizes, round_number, settings):
    """The attempt that others disturbed least, of at most 1 + settings.retries."""
    best = None
    for _ in range(1 + settings.retries):
        samples, problem = measure_once(arm, make_job, sizes, round_number, settings)
        others = samples[0].others_pct if samples else 0.0
        if best is None or others < best[0]:
            best = others, samples, problem
        if others <= settings.others_pct_max:
            break
    return best[1], best[2]
