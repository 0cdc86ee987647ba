"""The figures as Markdown: how near Strata is to the bound, and to its peers, in each lab."""
import dataclasses
import itertools
import os
import statistics

from comparison.arms import LIMIT_PREFIX, STRATA, STRATA_AGAIN
from comparison.cells import cells_of
from comparison.table import markdown, notes_text, number, size_text
from levels import bounds, rails, unequal
from levels.arms import COLLECTIVES, STRATA_FLAT
from levels.setting import parse

EXPLANATION = """Milliseconds of a call on the slowest rank, medians over the rounds; ratios are medians of those within each
round. Bound: what must leave or enter the busiest host, at the rate that TCP was measured to get through the lab's links
just before. Flat: Strata's best algorithm that knows nothing of hosts. A/A: Strata measured twice a round, the slower over
the faster, the largest of the rounds. Others: what others used of a core just before or after.

"""
UNEQUAL = """## Unequal links

All-reduce of M = 16 MiB between n hosts of one rank each. T* = max(M / min B, 2 (n - 1) M / sum B) of the measured rates B,
which Strata is told by a topology file. A ring is expected to take 2 (n - 1) / n M / min B.

"""


def counted(samples, others_pct_max):
    """Without those that others disturbed."""
    return [sample for sample in samples if sample.others_pct <= others_pct_max]


def rejects_text(samples, others_pct_max):
    measured = [sample for sample in samples if not sample.arm.startswith(LIMIT_PREFIX)]
    rejected = [sample for sample in measured if sample.others_pct > others_pct_max]
    return (f"{len(rejected)} of {len(measured)} figures are rejected: others used more than {others_pct_max:g} % of a core just "
            "before or after.\n\n")


def ms(figure):
    return number(figure.p50_us / 1e3) if figure else ""


def times(ratio):
    return f"{ratio:.2f}" if ratio else ""


def flat_of(cell):
    return next((peer for peer in cell.peers if peer.arm == STRATA_FLAT), None)


def best_of(cell):
    """The fastest of the other libraries."""
    return next((peer for peer in cell.peers if peer.arm != STRATA_FLAT), None)


def row(cell):
    flat, best = flat_of(cell), best_of(cell)
    return [cell.collective, size_text(cell.size), ms(cell.limit), ms(cell), times(cell.limit and 1 / cell.limit.ratio),
            ms(best), best.arm if best else "", times(best and best.ratio), ms(flat), times(flat and flat.ratio),
            f"{cell.noise:.2f}", f"{cell.others_pct:.0f}"]


HEADER = ["collective", "size", "bound ms", "Strata ms", "Strata / bound", "best peer ms", "which", "peer / Strata", "flat ms",
          "flat / Strata", "A/A", "others %"]


def shapes_text(cells, goodputs):
    text = ""
    for name, group in itertools.groupby(cells, key=lambda cell: cell.mode):
        setting = parse(name)
        found = [f"{min(links) / 1e6:.0f}" for links in goodputs.get(setting.lab(), ())]
        text += f"## {setting.text()}\n\nTCP: {', '.join(found)} Mbit/s.\n\n"
        text += markdown(HEADER, [row(cell) for cell in group]) + "\n"
    return text


def summary_text(cells):
    """The worst and the middle of each collective."""
    rows = []
    for collective in COLLECTIVES:
        of_it = [cell for cell in cells if cell.collective == collective]
        near = sorted(1 / cell.limit.ratio for cell in of_it if cell.limit)
        peers = sorted(best_of(cell).ratio for cell in of_it if best_of(cell))
        if of_it:
            rows.append([collective, len(of_it), times(near and statistics.median(near)), times(near and near[-1]),
                         times(peers and statistics.median(peers)), times(peers and peers[0]),
                         sum(ratio < 1 for ratio in peers)])
    header = ["collective", "cells", "Strata / bound, median", "worst", "best peer / Strata, median", "worst",
              "cells where a peer is ahead"]
    return "## In short\n\n" + markdown(header, rows) + "\n" if rows else ""


def unequal_text(samples, vectors, goodputs):
    rows = []
    for vector in vectors:
        setting = unequal.setting_of(vector)
        links = [unequal.goodputs_of(paths) for paths in goodputs.get(setting.lab(), ())]
        time = lambda *arms: median_us(samples, setting, unequal.COLLECTIVE, unequal.SIZE, arms)  # noqa: E731
        strata, ring = time(STRATA, STRATA_AGAIN), time(unequal.RING)
        if not links or not strata:
            continue
        rates = [statistics.median(of_host) / 8 for of_host in zip(*links)]
        least = bounds.unequal_all_reduce(unequal.SIZE, rates) * 1e6
        expected = bounds.ring_all_reduce(unequal.SIZE, rates) * 1e6
        pair = sorted(filter(None, (time(STRATA), time(STRATA_AGAIN))))
        rows.append([" ".join(map(str, vector)), " ".join(f"{rate * 8 / 1e6:.0f}" for rate in rates), number(least / 1e3),
                     number(strata / 1e3), times(strata / least), times(pair[-1] / pair[0]),
                     number(ring / 1e3) if ring else "", times(ring and ring / least), times(expected / least)])
    header = ["Mbit/s", "TCP gets", "T* ms", "Strata ms", "Strata / T*", "A/A", "ring ms", "ring / T*", "expected"]
    return UNEQUAL + markdown(header, rows) + "\n" if rows else ""


def rails_text(samples):
    rows = []
    for collective, size in ((collective, size) for collective, sizes in rails.SIZES.items() for size in sizes):
        found = [median_us(samples, rails.SETTING, collective, size, (name,)) for name in rails.INTERFACES]
        if all(found):
            first, second, both = (size / us for us in found)  # MB/s
            rows.append([collective, size_text(size), *map(number, (first, second, both)), times(both / (first + second))])
    head = f"## Two rails\n\nTwo hosts of one rank each, rails of {rails.SETTING.rate.replace(':', ' and ')}: size / time.\n\n"
    header = ["collective", "size", "rail0 MB/s", "rail1 MB/s", "both MB/s", "both / sum"]
    return head + markdown(header, rows) + "\n" if rows else ""


def median_us(samples, setting, collective, size, arms):
    """0.0: there is none."""
    found = [s.p50_us for s in samples if s.mode == setting.name() and s.collective == collective and s.size == size
             and s.arm in arms and s.right]
    return statistics.median(found) if found else 0.0


def shape_cells(samples, settings):
    """Cells of these settings, in their order."""
    position = {setting.name(): i for i, setting in enumerate(settings)}
    cells = cells_of([sample for sample in samples if sample.mode in position])
    return sorted(cells, key=lambda cell: (position[cell.mode], COLLECTIVES.index(cell.collective), cell.size))


@dataclasses.dataclass
class Measured:
    """What a report is made of. settings: in the order of the report. goodputs: see run.py."""
    samples: list
    settings: list
    vectors: list
    goodputs: dict
    notes: list
    others_pct_max: float

    def cells(self):
        return shape_cells(counted(self.samples, self.others_pct_max), self.settings)


def report(head, measured, pictures):
    """pictures: paths of plots, as a reader of the report would follow them."""
    samples = counted(measured.samples, measured.others_pct_max)
    cells = measured.cells()
    wrong = [f"{sample.mode}, {sample.collective}, {sample.arm}: wrong results, which do not count" for sample in samples
             if not sample.right]
    shown = "".join(f"![{os.path.basename(path)[:-4]}]({path})\n" for path in pictures)
    return (f"# Collectives between emulated hosts\n\n{head}\n\n" +
            rejects_text(measured.samples, measured.others_pct_max) + EXPLANATION + summary_text(cells) + shown +
            ("\n" if shown else "") + shapes_text(cells, measured.goodputs) +
            unequal_text(samples, measured.vectors, measured.goodputs) + rails_text(samples) +
            notes_text(list(dict.fromkeys(measured.notes + wrong))))
