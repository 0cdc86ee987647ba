"""PyTorch's gloo backend, measured as method.hpp says. One process a rank:

torch_gloo_bench.py --rank R --ranks N --store EMPTY_FOLDER --collective all_reduce --sizes 8,1024
A collective that the backend lacks prints no row.
"""
import argparse
import math
import os
import sys
import time

os.environ.setdefault("GLOO_SOCKET_IFNAME", "lo")
os.environ.setdefault("OMP_NUM_THREADS", "1")
import torch
import torch.distributed as dist

CALLS = ((1024, 32), (16384, 8), (262144, 2))  # up to so many bytes, so many calls in a sample; else 1
SAMPLE_S_MAX = 0.02
SAMPLES_MAX = 400
WARMUP_SHARE, WARMUPS_MAX = 0.15, 50
FLOAT_BYTES = 4
SHARED_OUT = ("all_gather", "reduce_scatter", "all_to_all")


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--rank", type=int, required=True)
    parser.add_argument("--ranks", type=int, required=True)
    parser.add_argument("--store", required=True)
    parser.add_argument("--collective", required=True)
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], required=True)
    parser.add_argument("--seconds", type=float, default=0.15)
    parser.add_argument("--samples-min", type=int, default=9)
    parser.add_argument("--touched", type=int, default=0)
    return parser.parse_args()


def input_of(rank, count):
    return torch.arange(count, dtype=torch.int64).remainder(7).add(rank + 1).float()


class Operation:
    """One collective at one size: its tensors, its call, what must come out."""

    def __init__(self, options, size):
        self.rank, self.ranks, self.name = options.rank, options.ranks, options.collective
        self.count = size // FLOAT_BYTES
        self.part = self.count // self.ranks
        self.input, self.output = torch.zeros(max(1, self.count)), torch.zeros(max(1, self.count))
        self.root = 0
        self.call = getattr(self, self.name)

    def mine(self, tensor):
        return tensor[self.rank * self.part:(self.rank + 1) * self.part]

    def all_reduce(self):
        dist.all_reduce(self.output)

    def all_gather(self):
        dist.all_gather(list(self.output.chunk(self.ranks)), self.input[:self.part])

    def reduce_scatter(self):
        dist.reduce_scatter(self.output[:self.part], list(self.input.chunk(self.ranks)))

    def broadcast(self):
        dist.broadcast(self.output, self.root)

    def reduce(self):
        dist.reduce(self.output, self.root)

    def all_to_all(self):
        dist.all_to_all_single(self.output, self.input)

    def barrier(self):
        dist.barrier()

    def run(self):
        self.call()
        self.root = (self.root + 1) % self.ranks

    def expected(self):
        inputs = [input_of(rank, self.count) for rank in range(self.ranks)]
        if self.name == "all_reduce" or self.name == "reduce" and self.rank == 0:
            return sum(inputs)
        if self.name == "all_gather":
            return torch.cat([one[:self.part] for one in inputs])
        if self.name == "reduce_scatter":
            return self.mine(sum(inputs))
        if self.name == "all_to_all":
            return torch.cat([self.mine(one) for one in inputs])
        return inputs[0] if self.name == "broadcast" else None

    def is_right(self):
        self.input[:self.count] = input_of(self.rank, self.count)
        self.output[:self.count] = self.input[:self.count] if self.name not in SHARED_OUT else -1
        self.run()
        expected = self.expected()
        right = expected is None or not self.count or torch.equal(self.output[:len(expected)], expected)
        self.input.zero_()
        self.output.zero_()
        self.root = 0
        return slowest([0.0 if right else 1.0])[0] == 0

    def sample_s(self, calls, touched):
        if touched:
            self.output[::16].sum().item()
            (self.input if self.name in SHARED_OUT else self.output).zero_()
        dist.barrier()
        begin = time.perf_counter()
        for _ in range(calls):
            self.run()
        return (time.perf_counter() - begin) / calls


def slowest(numbers):
    tensor = torch.tensor(numbers, dtype=torch.float64)
    dist.all_reduce(tensor, op=dist.ReduceOp.MAX)
    return tensor.tolist()


def percentile(ordered, percent):
    return ordered[max(0, math.ceil(percent / 100 * len(ordered)) - 1)]


def measure(options, size):
    operation = Operation(options, size)
    right = operation.is_right()
    call_s = min(slowest([operation.sample_s(2, False) for _ in range(2)]))
    calls = next((calls for most, calls in CALLS if size <= most), 1)
    calls = 1 if options.touched else max(1, min(calls, int(SAMPLE_S_MAX / call_s)))
    fit = options.seconds / (call_s * calls)
    samples = int(min(SAMPLES_MAX, max(options.samples_min, fit)))
    warmups = int(min(WARMUPS_MAX, max(1, WARMUP_SHARE * fit)))
    times = [operation.sample_s(calls, options.touched) for _ in range(warmups + samples)][warmups:]
    ordered = sorted(time_s * 1e6 for time_s in slowest(times))
    if options.rank == 0:
        print(f"compare,,{options.collective},{options.ranks},{size},{percentile(ordered, 50):.4f},"
              f"{percentile(ordered, 99):.4f},{ordered[0]:.4f},{samples},{calls},{int(right)}", flush=True)
    return right


def main():
    options = parse_arguments()
    torch.set_num_threads(1)
    dist.init_process_group("gloo", init_method=f"file://{options.store}/torch", rank=options.rank,
                            world_size=options.ranks)
    right = True
    try:
        for size in options.sizes:
            right = measure(options, size) and right
    except RuntimeError as error:
        if options.rank == 0:
            print(f"torch has no {options.collective}: {str(error).splitlines()[0]}", file=sys.stderr)
        return 0
    dist.barrier()
    dist.destroy_process_group()
    return 0 if right else 1


if __name__ == "__main__":
    sys.exit(main())
