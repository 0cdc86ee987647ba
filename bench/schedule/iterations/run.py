"""One run: the cells, then how two communicators share a link, then the real trainer."""
import os
import statistics
import tempfile
import time

from common.brackets import Brackets
from common.lab import Lab
from comparison import machine
from comparison.segments import run_processes
from iterations import models
from iterations.cells import TURNS, Cell, figures_in
from iterations.trainer import ARMS as TRAINER_ARMS, TrainerFigure, command as trainer_command, steps_in

RANKS = 4


class Run:
    """options: the command line. programs: {name: path}."""

    def __init__(self, options, programs):
        self.options, self.programs = options, programs
        self.cells, self.fairness, self.trainer = [], [], []  # [Cell], [(first ms, second ms, stalled %)], [TrainerFigure]
        self.goodput_bit_s = None
        self.notes = []
        self.failed = False

    def run(self):
        o = self.options
        self.goodput_bit_s = self.calibrate(o.trainer_rate if o.parts == ["trainer"] else o.rate)
        for model in o.models if "cells" in o.parts else ():
            for ratio in o.ratios:
                self.cell(model, ratio)
        if "fairness" in o.parts:
            self.share()
        for number in range(1, o.rounds + 1) if "trainer" in o.parts else ():
            turn = (number - 1) % len(TRAINER_ARMS)
            for arm in TRAINER_ARMS[turn:] + TRAINER_ARMS[:turn]:
                self.train(arm, number)

    def calibrate(self, rate):
        """Bits a second that TCP gets through the slowest of the links. LabError if it cannot be told."""
        o = self.options
        with Lab(self.programs["strata-lab"], RANKS, [rate]) as lab:
            found = min(lab.goodputs(o.calibration_seconds, o.max_pressure, 1 + o.retries))
        self.say("TCP", f"{found / 1e6:.1f} Mbit/s")
        return found

    def job(self, rate, *command):
        """What rank 0 prints, and what went wrong."""
        launcher = [self.programs["strata-run"], "--lab", f"{RANKS}x1@{rate}", "--no-prefix", "--only-rank", "0", "--"]
        with tempfile.TemporaryDirectory(prefix="strata-schedule-") as folder:
            return run_processes([[*launcher, *command]], {}, folder, self.options.limit)

    def cell(self, model, ratio):
        o = self.options
        summed = self.goodput_bit_s / 8 / models.sum_factor(RANKS)
        layers = models.layers_of(model, ratio, o.seconds, summed)
        text = ",".join(f"{size}:{backward * 1e6:.1f}:{forward * 1e6:.1f}" for size, backward, forward in layers)
        output, problem = self.job(o.rate, self.programs["iteration"], "--layers", text, "--arms", ",".join(TURNS), "--rounds",
                                   str(o.rounds), "--iterations", str(o.iterations))
        cell = Cell(model, ratio, models.times_of(layers, summed), figures_in(output))
        if cell.figures:
            self.cells.append(cell)
            self.keep([[model, ratio, figure.name, figure.ms, figure.waited_ms, figure.stalled_percent] for figure in cell.figures])
        shown = [f"{arm} {cell.ratio_to_bound(arm, o.max_pressure) or 0:.3f}" for arm in TURNS[:-1]]
        self.say(f"{model}, network/computation {ratio:g}", ", ".join(shown), problem)

    def share(self):
        output, problem = self.job(self.options.rate, self.programs["fairness"], "--rounds", str(self.options.rounds))
        rows = [line.split(",") for line in output.splitlines() if line[:1].isdigit()]
        self.fairness = [tuple(map(float, row[1:])) for row in rows]
        self.keep([["fairness", *figures] for figures in self.fairness])
        self.say("two communicators", f"{len(rows)} figures", problem)

    def train(self, arm, number):
        """Again, if others disturbed it; then the one that they disturbed least."""
        tries = []
        while len(tries) <= self.options.retries and all(t[0].others_percent > self.options.max_others for t in tries):
            tries.append(self.train_once(arm))
        figure, problem = min(tries, key=lambda found: found[0].others_percent)
        if figure.seconds:
            self.trainer.append(figure)
            self.keep([["trainer", arm.name, figure.seconds, figure.exposed_ms, figure.others_percent]])
        self.say(f"trainer, round {number}, {arm.name}",
                 f"{1e3 * figure.seconds:.0f} ms a step, others {figure.others_percent:.0f} %", problem)

    def train_once(self, arm):
        """(Figure, of 0 seconds if it failed; what went wrong)."""
        o = self.options
        with tempfile.TemporaryDirectory(prefix="strata-schedule-") as folder:
            metrics = os.path.join(folder, "metrics.jsonl")
            machine.wait_until_quiet(o.patience)
            brackets = Brackets()
            _, problem = self.job(o.trainer_rate, *trainer_command(self.programs["strata-gpt"], arm, o.trainer_steps, metrics))
            others = brackets.percent_of_a_core()
            steps = steps_in(metrics)
        middle = lambda key: statistics.median(step[key] for step in steps) if steps else 0.0  # noqa: E731
        return TrainerFigure(arm.name, middle("seconds"), middle("exposed_ms"), others), problem

    def keep(self, rows):
        if self.options.csv:
            with open(self.options.csv, "a", encoding="utf-8") as file:
                file.writelines(",".join(map(str, row)) + "\n" for row in rows)

    def say(self, what, state, problem=""):
        print(f"{time.strftime('%T')} {what}: {state}" + (f"; {problem}" if problem else ""), flush=True)
        if problem:
            self.failed = True
            self.notes.append(f"{what}: {problem}")
