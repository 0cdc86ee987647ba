"""Tests of strata-topo as it is started: what it writes it reads again, and how it fails.

    command_test.py STRATA_TOPO DATA
"""
import os
import subprocess
import sys
import tempfile
import unittest

COMMAND, DATA = sys.argv[1:3]


def run(*arguments, code=0):
    """Standard output; standard error if the exit code is another."""
    done = subprocess.run([COMMAND, *arguments], capture_output=True, text=True, timeout=60)
    assert done.returncode == code, (arguments, done)
    return done.stdout if code == 0 else done.stderr


class Command(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = folder.name

    def written(self, name, text):
        path = os.path.join(self.folder, name)
        with open(path, "w", encoding="utf-8") as file:
            file.write(text)
        return path

    def test_dump_is_read_as_it_was_written(self):
        text = run("dump")
        self.assertEqual(run("dump", "--topology", self.written("host.toml", text)), text)

    def test_probe_belongs_into_a_job(self):
        alone = {name: value for name, value in os.environ.items() if not name.endswith("RANK")}
        done = subprocess.run([COMMAND, "probe"], capture_output=True, text=True, timeout=60, env=alone)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertIn("start it as in: strata-run -n 4 -- strata-topo probe", done.stderr)
        done = subprocess.run([COMMAND, "probe"], capture_output=True, text=True, timeout=60,
                              env={**alone, "RANK": "0", "WORLD_SIZE": "1"})
        self.assertEqual(done.returncode, 2)
        self.assertIn("a job of one rank has no links", done.stderr)
        self.assertIn("--output", run("probe", "--help"))

    def test_import_is_read_as_it_was_written(self):
        for name in sorted(os.listdir(DATA)):
            path = os.path.join(DATA, name)
            text = run("import", path)
            self.assertEqual(run("dump", "--topology", self.written("x.toml", text)), text)
            self.assertEqual(run("dump", "--topology", path), text)

    def test_show_and_its_picture(self):
        self.assertIn("core", run("show"))
        picture = os.path.join(self.folder, "host.svg")
        self.assertEqual(run("show", "--svg", picture), "")
        with open(picture, encoding="utf-8") as file:
            self.assertEqual(file.read(), run("show", "--svg", "-"))
        self.assertIn("cannot write", run("show", "--svg", os.path.join(self.folder, "no", "host.svg"), code=1))

    def test_levels(self):
        mesh = os.path.join(DATA, "nccl_v100_cube_mesh.xml")
        self.assertIn("0-1 | 2-3 | 4-5 | 6-7", run("levels", "--topology", mesh))
        self.assertIn("0-3 | 4-7", run("levels", "--topology", mesh, "--levels", "2x4"))
        self.assertIn("must be 8", run("levels", "--topology", mesh, "--levels", "2x3", code=2))

    def test_failures_name_what_and_where(self):
        self.assertIn("cannot read /no/such", run("show", "--topology", "/no/such", code=1))
        wrong = self.written("t.toml", "[[host]]\nname = \"a\"\nslot = 3\n")
        self.assertIn("t.toml:3: there is no key 'slot' in [[host]]; did you mean 'slots'?",
                      run("show", "--topology", wrong, code=2))
        self.assertIn("did you mean 'show'", run("shw", code=2))

    def test_help_of_all_commands(self):
        self.assertIn("EXAMPLES", run("--help"))
        for command in ("show", "dump", "levels", "import"):
            self.assertIn("strata-topo " + command, run(command, "--help"))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
