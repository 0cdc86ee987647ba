"""The figures as Markdown: each arm beside its bound, how two communicators share, what it is worth to the trainer."""
import os
import statistics

from comparison.table import markdown, notes_text, number
from iterations.cells import ARMS, NAMES
from iterations.trainer import ARMS as TRAINER_ARMS, BATCH, SEQUENCE

EXPLANATION = """Milliseconds of an iteration on the slowest rank, medians of all that count. Serial: all sums after backward, first come,
first served. FIFO: each sum begins when backward is through its layer. Priority: and front layers go first. Crossing: and the
next forward waits, layer by layer, for its own sum only. T_FIFO = F + max_j (sum_{i>=j} b_i + sum_{i<=j} c_i) bounds FIFO and
priority, T* = max_j (sum_{i>=j} (f_i + b_i) + sum_{i<=j} c_i) is the best that any order can do, with f, b and c the layers'
times forward, backward and on the network, and F = sum f; c_i = 1.5 bytes / the rate that TCP was measured to get through the
slowest link just before. A/A: crossing measured twice, the slower over the faster.

"""


def times(ratio):
    return f"{ratio:.3f}" if ratio else ""


def cell_row(cell, stalled_max):
    ms = {name: cell.ms(name, stalled_max) for name in NAMES}
    to_bound = {arm: times(cell.ratio_to_bound(arm, stalled_max)) for arm in ARMS}
    gain = ms["fifo"] and ms["crossing"] and ms["fifo"] / ms["crossing"]
    return [cell.model, f"{cell.ratio:g}", to_bound["serial"], number(ms["fifo"]), number(cell.bound_ms("fifo")), to_bound["fifo"],
            to_bound["priority"], number(ms["crossing"]), number(cell.bound_ms("crossing")), to_bound["crossing"], times(gain),
            times(cell.bound_ms("fifo") / cell.bound_ms("crossing")), times(cell.noise(stalled_max))]


HEADER = ["model", "network / computation", "serial / bound", "FIFO ms", "T_FIFO ms", "FIFO / T_FIFO", "priority / T_FIFO",
          "crossing ms", "T* ms", "crossing / T*", "FIFO / crossing", "T_FIFO / T*", "A/A"]


def cells_text(run):
    if not run.cells:
        return ""
    limit = run.options.max_pressure
    figures = [figure for cell in run.cells for figure in cell.figures]
    rejected = sum(figure.stalled_percent > limit for figure in figures)
    return (f"## Iterations\n\nFour hosts of one rank, links of {run.options.rate}; TCP gets {run.goodput_bit_s / 1e6:.1f} Mbit/s. "
            f"{rejected} of {len(figures)} figures are rejected: some process waited for a core more than {limit:g} % of the time.\n\n"
            + EXPLANATION + markdown(HEADER, [cell_row(cell, limit) for cell in run.cells]) + "\n")


def fairness_text(run):
    counted = [(first, second) for first, second, stalled in run.fairness if stalled <= run.options.max_pressure]
    if not counted:
        return ""
    first, second = (statistics.median(column) for column in zip(*counted))
    return ("## Two communicators of one priority\n\nEach has four all-reduces of 2 MiB; all are submitted at once, those of the first "
            "one before those of the second. Until each had its last sum, medians, on the slowest rank:\n\n"
            + markdown(["first ms", "second ms", "second / first"], [[number(first), number(second), times(second / first)]]) + "\n")


def trainer_text(run):
    if not run.trainer:
        return ""
    limit, rows = run.options.max_others, []
    rejected = sum(figure.others_percent > limit for figure in run.trainer)
    serial = tokens_of(run, "serial")
    for arm in TRAINER_ARMS:
        found = of_arm(run, arm.name)
        if found:
            tokens = tokens_of(run, arm.name)
            rows.append([arm.name, number(tokens), times(serial and tokens / serial), number(1e3 * statistics.median(f.seconds for f in found)),
                         number(statistics.median(f.exposed_ms for f in found)), len(found)])
    return (f"## The trainer\n\n`strata-gpt`, a GPT of 4 layers of width 192, {BATCH} sequences of {SEQUENCE} tokens a step, no "
            f"clipping, on four hosts of one rank at {run.options.trainer_rate}, all on these cores. Medians over runs of the medians over "
            f"their steps. {rejected} of {len(run.trainer)} runs are rejected: others used more than {limit:g} % of a core just before "
            "or after. Exposed: what computation waited for sums.\n\n"
            + markdown(["arm", "tokens/s", "to serial", "ms a step", "exposed ms", "runs"], rows) + "\n")


def of_arm(run, name):
    return [figure for figure in run.trainer if figure.name == name and figure.others_percent <= run.options.max_others]


def tokens_of(run, name):
    found = [figure.tokens_per_second() for figure in of_arm(run, name)]
    return statistics.median(found) if found else None


def report(head, run, pictures):
    """pictures: paths of plots, as a reader of the report would follow them."""
    shown = "".join(f"![{os.path.basename(path)[:-4]}]({path})\n" for path in pictures)
    return (f"# Training iterations on emulated hosts\n\n{head}\n\n" + cells_text(run) + shown + ("\n" if shown else "")
            + fairness_text(run) + trainer_text(run) + notes_text(run.notes))
