"""Draws time against size, for each collective, number of ranks and mode, with gnuplot."""
import collections
import os
import statistics

from common import gnuplot

PEERS_SHOWN = 3
STYLES = {"Strata": "lw 3 pt 7 lc rgb '#c03000'", "limit": "lw 2 dt 2 pt 0 lc rgb '#606060'"}
PEER_COLOURS = ("#0060ad", "#2e8b57", "#8060b0")


def curves_of(cells):
    """{name: [(bytes, us)]} of one plot: Strata, the peers that are best on the whole, the limit."""
    curves, ratios = collections.defaultdict(list), collections.defaultdict(list)
    for cell in cells:
        curves["Strata"].append((cell.size, cell.p50_us))
        for peer in cell.peers:
            curves[peer.arm].append((cell.size, peer.p50_us))
            ratios[peer.arm].append(peer.ratio)
        if cell.limit:
            curves["limit"].append((cell.size, cell.limit.p50_us))
    best = sorted(ratios, key=lambda arm: statistics.geometric_mean(ratios[arm]))[:PEERS_SHOWN]
    return {name: curves[name] for name in ("Strata", *best, "limit") if name in curves}


def script(title, curves, path):
    """What gnuplot reads."""
    colours = dict(zip((name for name in curves if name not in STYLES), PEER_COLOURS))
    lines = ["set terminal svg size 720,480 dynamic background rgb 'white'", f"set output '{path}'",
             f"set title '{title}'", "set logscale x 2", "set logscale y 10", "set xlabel 'size (bytes)'",
             "set ylabel 'time of a call (us)'", "set key top left", "set grid", "set format x '%.0b %B'"]
    for i, points in enumerate(curves.values()):
        lines += [f"$curve{i} << END", *(f"{size} {us}" for size, us in points), "END"]
    drawn = [f"$curve{i} with linespoints {STYLES.get(name, '') or 'lw 2 pt 6 lc rgb ' + repr(colours[name])} "
             f"title '{name}'" for i, name in enumerate(curves)]
    return "\n".join(lines) + "\nplot " + ", \\\n     ".join(drawn) + "\n"


def draw(cells, folder):
    """Paths of the plots; none, with a word, where gnuplot is not installed."""
    if not gnuplot.is_here():
        return []
    grouped = collections.defaultdict(list)
    for cell in cells:
        if cell.bytes:
            grouped[cell.collective, cell.ranks, cell.mode].append(cell)
    paths = []
    for (collective, ranks, mode), of_plot in grouped.items():
        path = os.path.join(folder, f"{collective}-{ranks}-{mode}.svg")
        title = f"{collective.replace('_', '-')}, {ranks} ranks, {mode}"
        if gnuplot.draw(script(title, curves_of(of_plot), path), path):
            paths.append(path)
    return paths
