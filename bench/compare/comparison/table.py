"""The comparison as Markdown: where Strata is behind, how near it is to the limits, then every cell."""
import collections
import itertools
import statistics

from comparison.arms import LIMIT_PREFIX, MANY, MEASURED, POINT_TO_POINT
from comparison.cells import behind, cells_of

UNITS = ((1 << 30, "GiB"), (1 << 20, "MiB"), (1 << 10, "KiB"))


def size_text(size):
    for unit, name in UNITS:
        if size >= unit and size % unit == 0:
            return f"{size // unit} {name}"
    return f"{size} B"


def number(value):
    """Three digits."""
    if value is None:
        return ""
    return f"{value:.0f}" if value >= 99.95 else f"{value:.1f}" if value >= 9.995 else f"{value:.2f}"


def markdown(header, rows):
    lines = [header, ["---"] * len(header), *rows]
    return "".join("| " + " | ".join(map(str, line)) + " |\n" for line in lines)


def where(cell):
    return [cell.mode, cell.ranks, cell.collective, size_text(cell.size) if cell.bytes else "-"]


def behind_text(cells):
    found, compared = behind(cells), sum(1 for cell in cells if cell.peers)
    text = f"## Strata is behind in {len(found)} of {compared} cells\n\n"
    if not found:
        return text
    rows = [[*where(c), number(c.p50_us), number(c.peers[0].p50_us), c.peers[0].arm, f"{c.peers[0].ratio:.2f}",
             "yes" if c.is_within_noise() else ""] for c in found]
    return text + markdown(["mode", "ranks", "collective", "size", "Strata us", "peer us", "which", "peer / Strata",
                            "within noise"], rows) + "\n"


def cell_row(cell):
    best, limit = cell.best_peer(), cell.limit
    return [cell.collective, size_text(cell.size) if cell.bytes else "-", number(cell.p50_us), number(cell.p99_us),
            number(cell.busbw_gbs()) if cell.bytes else "", number(best and best.p50_us), number(best and best.p99_us),
            best.arm if best else "",
            f"{best.ratio:.2f}" if best else "", number(limit and limit.p50_us),
            f"{1 / limit.ratio:.2f}" if limit else "", f"{cell.noise:.2f}", f"{cell.cores} {cell.probe_ns:.0f}",
            f"{cell.others_pct:.0f}"]


CELL_HEADER = ["collective", "size", "Strata p50 us", "p99 us", "busbw GB/s", "best peer p50 us", "p99 us", "which",
               "peer / Strata", "limit us", "Strata / limit", "A/A", "cores, ns", "others %"]


def in_cell_tables(cells):
    """Those that have no section of their own."""
    return [cell for cell in cells if cell.collective not in POINT_TO_POINT and cell.ranks != MANY]


def cells_text(cells):
    text = ""
    for (mode, ranks), group in itertools.groupby(cells, key=lambda cell: (cell.mode, cell.ranks)):
        text += f"## {mode}, {ranks} ranks\n\n" + markdown(CELL_HEADER, [cell_row(cell) for cell in group]) + "\n"
    return text


def nearness_text(cells):
    """Strata / limit: a row for each collective, a column for each size."""
    limited = [cell for cell in cells if cell.limit]
    if not limited:
        return ""
    sizes = sorted({cell.size for cell in limited if cell.bytes}) or [0]
    rows = []
    for key, group in itertools.groupby(limited, key=lambda cell: (cell.mode, cell.ranks, cell.collective)):
        ratio = {cell.size if cell.bytes else sizes[0]: f"{1 / cell.limit.ratio:.2f}" for cell in group}
        rows.append([*key, *(ratio.get(size, "") for size in sizes)])
    return "## Strata / limit\n\n" + markdown(["mode", "ranks", "collective", *map(size_text, sizes)], rows) + "\n"


def parts_text(samples):
    """What the limits are composed of: the fastest way of each block, the median over all blocks."""
    fastest = collections.defaultdict(dict)
    for sample in samples:
        if sample.arm.startswith(LIMIT_PREFIX) and sample.collective not in MEASURED:
            block = sample.round, sample.mode, sample.ranks
            of_part = fastest[sample.collective, sample.size]
            of_part[block] = min(sample.p50_us, of_part.get(block, sample.p50_us))
    if not fastest:
        return ""
    sizes = sorted({size for _, size in fastest})
    rows = [[part, *(number(statistics.median(fastest[part, size].values())) if (part, size) in fastest else ""
                     for size in sizes)] for part in dict.fromkeys(part for part, _ in fastest)]
    return ("## What the limits are composed of\n\nMicroseconds, of one process while the other cores do the same.\n\n" +
            markdown(["part", *map(size_text, sizes)], rows) + "\n")


def wrong_text(cells):
    rows = [[*where(cell), ", ".join(cell.wrong)] for cell in cells if cell.wrong]
    if not rows:
        return ""
    return "## Wrong results\n\nThey do not count above.\n\n" + markdown(
        ["mode", "ranks", "collective", "size", "whose"], rows) + "\n"


def notes_text(notes):
    return "## Not measured, or not well\n\n" + "".join(f"- {note}\n" for note in notes) + "\n" if notes else ""


EXPLANATION = """Times are of one call on the slowest rank, medians over the rounds; `peer / Strata` and `Strata / limit`
are medians of the ratios within each round. Rounds count in which the two cores were near each other for both, if there
are any. A/A: the program measured twice a round, the slower figure over the faster one, the largest of the rounds.
others: what others used of a core meanwhile. limit: what the call takes at least, see README.md there.

"""


def report(title, conditions, samples, notes, sections=""):
    """conditions: the command and the machine. sections: those that other files make."""
    cells = cells_of(samples)
    shown = in_cell_tables(cells)
    return (f"# {title}\n\n{conditions}\n\n" + EXPLANATION + behind_text(cells) + wrong_text(cells) + nearness_text(shown) +
            cells_text(shown) + sections + parts_text(samples) + notes_text(notes))
