"""iperf3 over loopback, in one direction: what it sends a second with a buffer of each size, of at most 1 MiB.

iperf3_bench.py --collective send --sizes 8,1024 --streams 1 [--port P]
Its client and its server are on a core each, as the ranks of the others are. The time printed is that of so many bytes.
"""
import argparse
import json
import subprocess
import sys
import time

BUFFER_BYTES_MAX = 1 << 20  # iperf3's own limit
SECONDS = "1"
STARTED_S = 5


def parse_arguments():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=lambda text: [int(size) for size in text.split(",")], required=True)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--port", type=int, default=15201)
    return parser.parse_known_args()[0]


def bytes_a_second(options, size):
    """Of one run; an error that says what iperf3 said."""
    where = ["-p", str(options.port)]
    server = subprocess.Popen(["taskset", "-c", "1", "iperf3", "-s", "-1", "-B", "127.0.0.1", *where],
                              stdout=subprocess.PIPE, text=True)
    try:
        command = ["taskset", "-c", "0", "iperf3", "-c", "127.0.0.1", *where, "-J", "-t", SECONDS, "-P",
                   str(options.streams), "-l", str(min(size, BUFFER_BYTES_MAX))]
        give_up = time.monotonic() + STARTED_S
        while True:
            result = json.loads(subprocess.run(command, capture_output=True, text=True, check=False).stdout)
            if "error" not in result:
                return result["end"]["sum_received"]["bits_per_second"] / 8
            if time.monotonic() > give_up:
                raise RuntimeError(f"iperf3 of {size} bytes on port {options.port}: {result['error']}")
            time.sleep(0.05)  # the server has not begun to listen
    finally:
        server.kill()
        server.communicate()


def main():
    options = parse_arguments()
    for size in options.sizes:
        try:
            us = size / bytes_a_second(options, size) * 1e6
        except RuntimeError as error:
            print(error, file=sys.stderr)
            return 2
        print(f"compare,,send,2,{size},{us:.4f},{us:.4f},{us:.4f},1,1,1", flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
