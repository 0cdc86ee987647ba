#!/usr/bin/env python3
"""Runs strata-gpt as a user does: help, mistakes, a run and its files, signals, a rank that dies.

usage: command_test.py STRATA_GPT TEXT
"""
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import unittest

PROGRAM, TEXT = (os.path.abspath(path) for path in sys.argv[1:3])
SMALL = ["--text", TEXT, "--layers", "1", "--heads", "2", "--width", "16", "--sequence", "16", "--batch", "4",
         "--threads", "1", "--warmup-steps", "2", "--validation-samples", "8", "--sample-tokens", "20", "--log-every", "1"]
LAUNCHERS = ("RANK", "WORLD_SIZE", "LOCAL_RANK", "MASTER_ADDR", "MASTER_PORT", "STRATA_RENDEZVOUS", "SLURM_PROCID",
             "PMI_RANK", "OMPI_COMM_WORLD_RANK")
DEADLINE_S = 120  # only a hang reaches it
ALONE = {name: value for name, value in os.environ.items() if name not in LAUNCHERS}


def run(*arguments):
    done = subprocess.run([PROGRAM, *arguments], capture_output=True, env=ALONE, timeout=DEADLINE_S)
    return done.returncode, done.stdout.decode(errors="replace"), done.stderr.decode(errors="replace")


def start_ranks(size, *arguments):
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{probe.getsockname()[1]}"
    return [subprocess.Popen([PROGRAM, "train", *SMALL, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                             env=dict(ALONE, RANK=str(rank), WORLD_SIZE=str(size), LOCAL_RANK=str(rank),
                                      STRATA_RENDEZVOUS=address))
            for rank in range(size)]


def wait_for(process, text):
    """Reads the process's output until a line contains the text."""
    for line in process.stdout:
        if text in line.decode():
            return
    raise AssertionError(f"ended before it said '{text}': {process.stderr.read().decode()}")


def finish(processes):
    """Each process's exit code and what it said to stderr."""
    results = []
    for process in processes:
        _, errors = process.communicate(timeout=DEADLINE_S)
        results.append((process.returncode, errors.decode()))
    return results


class CommandTest(unittest.TestCase):
    def setUp(self):
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.directory = directory.name

    def path(self, name):
        return os.path.join(self.directory, name)

    def write(self, name, text):
        with open(self.path(name), "w", encoding="utf-8") as file:
            file.write(text)
        return self.path(name)

    def test_help_shows_settings_and_examples(self):
        code, out, _ = run("train", "--help")
        self.assertEqual(code, 0)
        for word in ("--learning-rate", "[model]", "EXAMPLES", "EXIT STATUS", "strata-run -n 4"):
            self.assertIn(word, out)
        for command in ("sample", "evaluate"):
            self.assertIn("EXAMPLES", run(command, "--help")[1])

    def test_mistakes_exit_with_2_and_name_the_cure(self):
        wrong_key = self.write("wrong_key.toml", "[model]\nwidht = 64\n")
        cases = [
            ([], "subcommand"),
            (["train"], "--text"),
            (["train", "--layer", "3"], "did you mean --layers?"),
            (["train", "--layers", "none"], "--layers: model.layers = none: must be a whole number"),
            (["train", "--crossing", "maybe"], "--crossing: communication.crossing = maybe: must be true or false"),
            (["train", wrong_key], "wrong_key.toml:2: unknown key in [model] 'widht'; did you mean 'width'?"),
            (["train", "--config", wrong_key, "--text", TEXT], "did you mean 'width'?"),
            (["train", "--text", TEXT, "--heads", "7"], "model.heads = 7 does not divide model.width = 128"),
            (["evaluate", self.write("x.safetensors", "no checkpoint"), "--text", TEXT], "not a safetensors file"),
        ]
        for arguments, message in cases:
            with self.subTest(arguments=arguments):
                code, out, errors = run(*arguments)
                self.assertIn(message, errors)
                self.assertEqual(code, 2, errors)
                self.assertEqual(out, "")

    def test_files_that_cannot_be_read_exit_with_1(self):
        for arguments in (["train", "--text", "/no/such/text"], ["sample", "/no/such/model"], ["train", "/no/such.toml"]):
            code, _, errors = run(*arguments)
            self.assertEqual(code, 1, errors)
            self.assertIn("/no/such", errors)

    def test_flags_win_over_the_file(self):
        config = self.write("run.toml", f"[training]\nsteps = 9\n[data]\ntext = '{TEXT}'\n")
        code, out, errors = run("train", config, *SMALL[2:], "--steps", "3")
        self.assertEqual(code, 0, errors)
        self.assertIn("step 3/3", out)

    def test_a_run_shows_its_progress_and_leaves_its_files(self):
        metrics, checkpoint = self.path("run.jsonl"), self.path("model.safetensors")
        code, out, errors = run("train", *SMALL, "--steps", "6", "--validate-every", "3", "--metrics", metrics,
                                "--checkpoint", checkpoint, "--reference-loss", "1.5", "--prompt", "It is")
        self.assertEqual(code, 0, errors)
        for word in ("step 1/6", "step 3: validation loss", "training", "validation loss: ", "at the start",
                     "reaches 1.5000", "% of the way", "a sample of its text", "It is", "tokens/s"):
            self.assertIn(word, out)
        with open(metrics, encoding="utf-8") as file:
            lines = [json.loads(line) for line in file]
        self.assertEqual([line["step"] for line in lines if "loss" in line], [1, 2, 3, 4, 5, 6])
        validation = [line["validation_loss"] for line in lines if "validation_loss" in line]
        self.assertEqual(len(validation), 3)
        self.assertLess(validation[-1], validation[0])
        self.assertEqual(sorted(os.listdir(self.directory)), ["model.safetensors", "run.jsonl"])

        code, out, errors = run("evaluate", checkpoint, "--text", TEXT, "--validation-samples", "8", "--threads", "1")
        self.assertEqual(code, 0, errors)
        self.assertAlmostEqual(float(out.split()[2]), validation[-1], places=4)
        samples = [run("sample", checkpoint, "--prompt", "It", "--tokens", "10", "--seed", seed)[1] for seed in "112"]
        self.assertEqual(samples[0], samples[1])
        self.assertNotEqual(samples[0], samples[2])

    def test_a_signal_ends_all_ranks_after_a_step_and_saves(self):
        for number, clip in ((signal.SIGTERM, "1"), (signal.SIGINT, "1"), (signal.SIGTERM, "0")):  # 0: steps cross
            checkpoint = self.path(f"{number}.safetensors")
            ranks = start_ranks(2, "--steps", "100000000", "--checkpoint", checkpoint, "--clip-norm", clip)
            wait_for(ranks[0], "step         2/")
            ranks[1].send_signal(number)  # one rank is enough
            for code, errors in finish(ranks):
                self.assertEqual(code, 0, errors)
            self.assertEqual(run("sample", checkpoint, "--tokens", "1")[0], 0)

    def test_a_killed_rank_ends_the_others_with_an_error(self):
        for clip in ("1", "0"):
            ranks = start_ranks(3, "--steps", "100000000", "--clip-norm", clip)
            wait_for(ranks[0], "step         2/")
            ranks[2].kill()
            results = finish(ranks)
            for code, errors in results[:2]:
                self.assertEqual(code, 1)
                self.assertIn("rank 2", errors)

    def test_ranks_say_once_in_which_order_they_sum(self):
        for switches, text in ((("--clip-norm", "0"), "front layers first; forward waits for each layer's own"),
                               ((), "crossing has no effect, since clip_norm = 1"),
                               (("--crossing", "false"), "front layers first; forward waits for all\n"),
                               (("--overlap", "false", "--priority", "false"), "sums: after backward, first come, first served")):
            ranks = start_ranks(2, "--steps", "3", *switches)
            out = ranks[0].communicate(timeout=DEADLINE_S)[0].decode(errors="replace")
            self.assertEqual(finish(ranks[1:])[0][0], 0)
            self.assertEqual(out.count(text), 1, out)
            self.assertEqual([f"step {step}/3" in out for step in (1, 2, 3)], [True] * 3)  # the last one too

    def test_a_mistake_all_ranks_make_is_told_in_full_once(self):
        results = finish(start_ranks(2, "--steps", "2"))  # fewer than the warm-up needs
        self.assertEqual([code for code, _ in results], [2, 2])
        self.assertIn("warmup_steps = 2", results[0][1])
        self.assertIn("rank 0 could not go on", results[1][1])

    def test_a_checkpoint_that_cannot_be_written_fails_the_run(self):
        results = finish(start_ranks(2, "--steps", "3", "--checkpoint", "/no/such/dir/model.safetensors"))
        self.assertEqual([code for code, _ in results], [1, 1])
        self.assertIn("/no/such/dir/model.safetensors", results[0][1])


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
