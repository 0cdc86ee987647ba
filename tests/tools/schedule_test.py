"""Tests of bench/schedule without measuring: its bounds against every order there is, its models, and its tables."""
import functools
import importlib.machinery
import importlib.util
import itertools
import os
import random
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "bench", name) for name in ("schedule", "hierarchy", "compare")] + [os.path.join(ROOT, "bench")]
from iterations import bounds, models, plots, report, trainer  # noqa: E402
from iterations.cells import AGAIN, ARMS, TURNS, Cell, figures_in  # noqa: E402
from iterations.command_line import PARTS, parse_command_line  # noqa: E402

SEED = 20261201


def by_all_schedules(layers, crossing):
    """The least time of an iteration over everything that the link could send in each unit of time, idleness included."""
    backward_ends = [sum(b for _, b, _ in layers[i:]) for i in range(len(layers))]

    @functools.cache
    def rest(now, left, forward, busy):
        """From `now` on. left: of each sum. forward: layers whose forward has begun. busy: until when it computes."""
        if forward == len(layers) and now >= busy:
            return 0
        begun = forward
        until = busy
        while begun < len(layers) and now >= until and now >= backward_ends[0] and not any(left[:begun + 1] if crossing else left):
            until = now + layers[begun][0]
            begun += 1
        if begun == len(layers) and now >= until:
            return 0
        ways = [left] + [left[:i] + (left[i] - 1,) + left[i + 1:] for i in range(len(left)) if left[i] and now >= backward_ends[i]]
        return 1 + min(rest(now + 1, way, begun, until) for way in ways[1:] or ways)

    return rest(0, tuple(c for _, _, c in layers), 0, 0)


def by_order(layers, order, crossing):
    """The time of an iteration whose sums go in this order of priority, each interrupted as soon as a better one can go."""
    ends = [sum(b for _, b, _ in layers[i:]) for i in range(len(layers))]
    left, ended, now = [c for _, _, c in layers], [0] * len(layers), 0
    for i, (_, _, network) in enumerate(layers):
        ended[i] = ends[i] if network == 0 else None
    while any(left):
        ready = [i for i in order if left[i] and ends[i] <= now]
        following = min((e for e in ends if e > now), default=None)
        if not ready:
            now = following
            continue
        step = left[ready[0]] if following is None else min(left[ready[0]], following - now)
        now += step
        left[ready[0]] -= step
        if left[ready[0]] == 0:
            ended[ready[0]] = now
    clock = ends[0]
    for i, (forward, _, _) in enumerate(layers):
        clock = max(clock, ended[i] if crossing else max(ended)) + forward
    return clock


def random_layers(dice, count, longest):
    return [tuple(dice.randint(0, longest) for _ in range(3)) for _ in range(count)]


class Bounds(unittest.TestCase):
    def test_no_schedule_is_faster_and_one_is_as_fast(self):
        dice = random.Random(SEED)
        for number in range(300):
            layers = random_layers(dice, dice.randint(1, 4), 4)
            with self.subTest(seed=SEED, number=number, layers=layers):
                self.assertEqual(bounds.optimum(layers), by_all_schedules(layers, crossing=True))
                self.assertEqual(bounds.first_come(layers), by_all_schedules(layers, crossing=False))

    def test_the_front_layer_first_is_the_best_of_all_orders(self):
        dice = random.Random(SEED + 1)
        for number in range(500):
            layers = random_layers(dice, dice.randint(1, 6), 100)
            with self.subTest(seed=SEED + 1, number=number, layers=layers):
                orders = list(itertools.permutations(range(len(layers))))
                times = [by_order(layers, order, crossing=True) for order in orders]
                self.assertEqual(bounds.optimum(layers), min(times))
                self.assertEqual(bounds.optimum(layers), times[0])  # 0, 1, 2, ...
                self.assertEqual({bounds.first_come(layers)}, {by_order(layers, order, crossing=False) for order in orders})

    def test_order_and_crossing_are_worth_less_than_a_forward_pass(self):
        dice = random.Random(SEED + 2)
        for _ in range(1000):
            layers = random_layers(dice, dice.randint(1, 20), 100)
            best, barrier, serial = bounds.optimum(layers), bounds.first_come(layers), bounds.serial(layers)
            self.assertLessEqual(best, barrier)
            self.assertLessEqual(barrier, serial)
            self.assertLessEqual(barrier - best, sum(f for f, _, _ in layers))


class Models(unittest.TestCase):
    def test_layers_have_the_time_and_the_ratio_that_are_asked_for(self):
        for model, ratio in itertools.product(models.MODELS, (0.5, 1, 1.5)):
            with self.subTest(model=model, ratio=ratio):
                times = models.times_of(models.layers_of(model, ratio, 0.9, 16e6), 16e6)
                forward, backward, network = map(sum, zip(*times))
                self.assertAlmostEqual(bounds.serial(times), 0.9, 4)
                self.assertAlmostEqual(network / (forward + backward), ratio, 4)
                self.assertAlmostEqual(backward, 2 * forward)

    def test_they_are_what_they_are_called(self):
        sizes = {model: [size for size, _, _ in models.layers_of(model, 1, 0.9, 16e6)] for model in models.MODELS}
        self.assertEqual(len(set(sizes["equal"])), 1)
        self.assertGreater(sum(sizes["vgg"][-3:]), 0.85 * sum(sizes["vgg"]))
        self.assertAlmostEqual(sizes["embedding"][0] / sum(sizes["embedding"]), models.EMBEDDING_SHARE, 3)


OUTPUT = """round,arm,place,iteration,ms,waited_ms,stalled_percent
1,serial,0,1,900.5,450,2.0
1,fifo,1,1,630,170,3.0
1,fifo,1,2,650,170,50.0
1,priority,2,1,620,170,3.0
1,crossing,3,1,500,40,3.0
1,crossing,4,1,510,50,3.0
"""
EQUAL = models.times_of(models.layers_of("equal", 1, 0.9, 16e6), 16e6)


class Run:
    """What report() reads of a run."""
    options = parse_command_line([])
    goodput_bit_s = 191e6
    cells = [Cell("equal", 1.0, EQUAL, figures_in(OUTPUT))]
    fairness = [(4000.0, 4200.0, 2.0), (1.0, 9000.0, 60.0)]
    trainer = [trainer.TrainerFigure("serial", 0.4, 200.0, 5.0), trainer.TrainerFigure("crossing", 0.25, 20.0, 5.0),
               trainer.TrainerFigure("crossing", 9.0, 20.0, 90.0)]
    notes = ["a note"]


class Tables(unittest.TestCase):
    def test_figures_are_told_apart_by_their_place(self):
        cell = Run.cells[0]
        self.assertEqual(len(TURNS), len({figure.name for figure in cell.figures}))
        self.assertEqual([cell.ms(name, 20) for name in (*ARMS, AGAIN)], [900.5, 630, 620, 500, 510])
        self.assertAlmostEqual(cell.noise(20), 1.02)
        self.assertIsNone(cell.ms("fifo", 1))
        self.assertEqual(figures_in("iteration: it failed\n"), [])

    def test_the_report_has_bounds_and_leaves_out_what_was_disturbed(self):
        text = report.report("head", Run, ["plots/equal.svg"])
        row = next(line for line in text.splitlines() if line.startswith("| equal |"))
        columns = [column.strip() for column in row.strip("|").split("|")]
        self.assertEqual(columns[3:6], ["630", "625", "1.008"])  # the one at 50 % does not count
        self.assertEqual(columns[7:10], ["500", f"{1e3 * bounds.optimum(EQUAL):.0f}", f"{0.5 / bounds.optimum(EQUAL):.3f}"])
        self.assertIn("1 of 6 figures are rejected", text)
        self.assertIn("| 4000 | 4200 | 1.050 |", text)
        self.assertIn("| crossing | 16384 | 1.600 | 250 | 20.0 | 1 |", text)
        self.assertIn("plots/equal.svg", text)
        self.assertIn("- a note", text)

    def test_a_plot_has_a_curve_for_each_arm_and_bound(self):
        text = plots.script("equal", Run.cells, "x.svg")
        for name in (*ARMS, "T_FIFO", "T*"):
            self.assertIn(f"title '{name}'", text)


def load_command():
    loader = importlib.machinery.SourceFileLoader("schedule_command", os.path.join(ROOT, "bench", "schedule", "schedule"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("schedule_command", loader))
    loader.exec_module(module)
    return module


class CommandLine(unittest.TestCase):
    def test_each_part_has_its_programs(self):
        self.assertEqual(set(load_command().PROGRAMS), set(PARTS))

    def test_quick_gives_way_to_what_is_told(self):
        self.assertEqual(parse_command_line(["--quick"]).ratios, [1.0])
        self.assertEqual(parse_command_line(["--quick", "--ratios", "0.5,2"]).ratios, [0.5, 2.0])
        self.assertEqual(parse_command_line(["--trainer"]).parts, ["trainer"])

    def test_every_arm_of_the_trainer_switches_off_what_it_is_called_after(self):
        switches = {arm.name: [word for word in arm.switches if word.startswith("--")] for arm in trainer.ARMS}
        self.assertEqual(switches["serial"], ["--overlap", "--priority", "--crossing"])
        self.assertEqual(switches["crossing"], [])


if __name__ == "__main__":
    unittest.main()
