"""Draws, for each model, the times of the arms and their bounds against the ratio of network to computation."""
import os

from common import gnuplot
from iterations.cells import ARMS

COLOURS = {"serial": "#808080", "fifo": "#0060ad", "priority": "#2e8b57", "crossing": "#c03000"}
BOUNDS = {"fifo": "T_FIFO", "crossing": "T*"}


def script(model, cells, path, stalled_max=100):
    """What gnuplot reads. cells: of this model."""
    cells = sorted(cells, key=lambda cell: cell.ratio)
    curves = {arm: [(cell.ratio, cell.ms(arm, stalled_max)) for cell in cells if cell.ms(arm, stalled_max)] for arm in ARMS}
    curves |= {name: [(cell.ratio, cell.bound_ms(arm)) for cell in cells] for arm, name in BOUNDS.items()}
    styles = {arm: f"linespoints lw 2 pt 7 lc rgb '{COLOURS[arm]}'" for arm in ARMS}
    styles |= {name: f"lines lw 2 dt 2 lc rgb '{COLOURS[arm]}'" for arm, name in BOUNDS.items()}
    lines = ["set terminal svg size 640,420 dynamic background rgb 'white' noenhanced", f"set output '{path}'", f"set title '{model}'",
             "set xlabel 'network / computation'", "set ylabel 'ms of an iteration'", "set yrange [0:*]", "set key bottom left",
             "set grid"]
    for i, points in enumerate(curves.values()):
        lines += [f"$curve{i} << END", *(f"{ratio} {ms}" for ratio, ms in points), "END"]
    drawn = [f"$curve{i} with {styles[name]} title '{name}'" for i, (name, points) in enumerate(curves.items()) if points]
    return "\n".join(lines) + "\nplot " + ", \\\n     ".join(drawn) + "\n"


def draw(cells, folder):
    """Paths of the plots; none where gnuplot is not installed, or where there is only one ratio."""
    models = list(dict.fromkeys(cell.model for cell in cells))
    if len({cell.ratio for cell in cells}) < 2 or not gnuplot.is_here():
        return []
    paths = [(model, os.path.join(folder, f"{model}.svg")) for model in models]
    return [path for model, path in paths if gnuplot.draw(script(model, [c for c in cells if c.model == model], path), path)]
