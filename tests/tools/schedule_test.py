"""Tests of bench/schedule without measuring: its bounds against every order there is, its models, and its tables."""
import functools
import itertools
import os
import random
import sys
import unittest

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.dont_write_bytecode = True
sys.path[:0] = [os.path.join(ROOT, "bench", name) for name in ("schedule", "hierarchy", "compare")] + [os.path.join(ROOT, "bench")]
from iterations import bounds, models  # noqa: E402

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


if __name__ == "__main__":
    unittest.main()
