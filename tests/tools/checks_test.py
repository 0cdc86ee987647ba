"""Tests of tools/check_layers and tools/check_style: they accept what keeps the rules and report each planted violation."""
import os
import subprocess
import sys
import tempfile
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "tools")


def run_on(check, files):
    """Exit code and output of tools/<check> on a folder with these files {path: text}."""
    with tempfile.TemporaryDirectory() as root:
        for path, text in files.items():
            os.makedirs(os.path.join(root, os.path.dirname(path)), exist_ok=True)
            with open(os.path.join(root, path), "w", encoding="utf-8") as file:
                file.write(text)
        run = subprocess.run([sys.executable, os.path.join(TOOLS, check), root], capture_output=True, text=True)
        return run.returncode, run.stdout + run.stderr


class Layers(unittest.TestCase):
    def accepts(self, path, text):
        code, output = run_on("check_layers", {path: text})
        self.assertEqual((code, output), (0, "layers: all includes respect them\n"), path)

    def rejects(self, path, text, line=1):
        code, output = run_on("check_layers", {path: text})
        self.assertEqual(code, 1, f"{path}: accepted {text!r}")
        self.assertTrue(output.startswith(f"{path}:{line}: "), output)

    def test_every_pair_of_folders(self):
        order = [["base"], ["shm"], ["topology", "schedule", "transport", "compute"], ["local", "algorithms", "bootstrap"],
                 ["planner"], ["runtime"]]
        layer = {name: i for i, names in enumerate(order) for name in names}
        for mine in layer:
            for theirs in layer:
                text = f'// x\n#include "ccl/{theirs}/a.hpp"\n'
                if mine == theirs or layer[theirs] < layer[mine]:
                    self.accepts(f"ccl/{mine}/b.cpp", text)
                else:
                    self.rejects(f"ccl/{mine}/b.cpp", text, 2)

    def test_public_headers_are_open_to_all_and_closed_in_themselves(self):
        for folder in ("ccl/base", "ccl/runtime", "trainer", "tools", "bench", "tests"):
            self.accepts(f"{folder}/a.cpp", '#include "strata/types.hpp"\n')
        self.accepts("include/strata/a.hpp", '#include <vector>\n#include "strata/types.hpp"\n')
        self.accepts("include/strata/ccl.h", "#include <stdint.h>\n")
        self.rejects("include/strata/a.hpp", '#include "ccl/base/check.hpp"\n')
        self.rejects("include/strata/a.hpp", "#include <fmt/format.h>\n")
        self.rejects("include/strata/a.hpp", "#include <sys/uio.h>\n")

    def test_outside_the_library(self):
        self.accepts("trainer/a.cpp", '#include "trainer/b.hpp"\n')
        self.rejects("trainer/a.cpp", '#include "ccl/base/log.hpp"\n')
        self.accepts("tools/a.cpp", '#include "ccl/base/log.hpp"\n')
        self.rejects("tools/a.cpp", '#include "trainer/gpt.hpp"\n')
        self.accepts("tests/a.cpp", '#include "trainer/gpt.hpp"\n')
        self.rejects("ccl/runtime/a.cpp", '#include "tests/support/world.hpp"\n')
        self.rejects("ccl/runtime/a.cpp", '#include "communicator.hpp"\n')
        self.rejects("ccl/runtime/a.cpp", '#include "../base/log.hpp"\n')
        self.rejects("ccl/novelty/a.cpp", '#include "ccl/base/log.hpp"\n')

    def test_transports_do_not_see_each_other(self):
        self.accepts("ccl/transport/tcp/a.cpp", '#include "ccl/transport/pipe.hpp"\n')
        self.accepts("ccl/transport/tcp/a.cpp", '#include "ccl/transport/tcp/b.hpp"\n')
        self.rejects("ccl/transport/tcp/a.cpp", '#include "ccl/transport/shm/b.hpp"\n')

    def test_libraries_stay_where_they_are(self):
        self.accepts("ccl/transport/tcp/a.cpp", "#include <asio.hpp>\n")
        self.accepts("ccl/bootstrap/bootstrap.cpp", "#include <asio/awaitable.hpp>\n")
        self.accepts("ccl/bootstrap/rendezvous_server.cpp", "#include <asio.hpp>\n")
        self.rejects("ccl/runtime/engine.cpp", "#include <asio/post.hpp>\n")
        self.rejects("ccl/transport/shm/a.cpp", "#include <asio.hpp>\n")
        self.accepts("ccl/compute/a.cpp", '#include "hwy/highway.h"\n')
        self.rejects("ccl/runtime/a.cpp", '#include "hwy/highway.h"\n')
        self.accepts("ccl/base/log.cpp", "#include <spdlog/spdlog.h>\n")
        self.rejects("ccl/runtime/engine.cpp", "#include <spdlog/spdlog.h>\n")

    def test_the_environment_has_one_reader(self):
        self.accepts("ccl/base/environment.cpp", 'auto x = std::getenv("A");\n')
        self.rejects("ccl/runtime/engine.cpp", 'auto x = std::getenv("A");\n')
        self.rejects("trainer/main.cpp", 'auto x = secure_getenv("A");\n')

    def test_comments_and_strings_are_not_code(self):
        self.accepts("ccl/base/a.cpp", '// #include "ccl/runtime/x.hpp"\n/*\n#include "ccl/runtime/x.hpp"\n*/\n')
        self.accepts("ccl/base/a.cpp", '// getenv() is called elsewhere\n')
        self.rejects("ccl/base/a.cpp", 'auto url = "http://x"; auto y = getenv("A");\n')


class Style(unittest.TestCase):
    GOOD = "// Adds.\nint add(int a, int b) { return a + b; }\n"

    def reports(self, path, text, line, word):
        code, output = run_on("check_style", {path: text})
        self.assertEqual(code, 1, output)
        self.assertIn(f"{path}:{line}: ", output)
        self.assertIn(word, output)

    def test_accepts(self):
        for files in ({"a.cpp": self.GOOD}, {"a.sh": "#!/bin/sh\n# Adds.\n"}, {"a.cpp": "// Long.\n" + "int x();\n" * 499},
                      {"a/b.cpp": '#include "a/b.hpp"\n'}, {"data/english.txt": "no comment\n"}):
            code, output = run_on("check_style", files)
            self.assertEqual(code, 0, output)

    def test_first_line(self):
        self.reports("a.cpp", "int x();\n", 1, "responsibility")
        self.reports("a.cpp", "#include <vector>\n", 1, "responsibility")
        self.reports("a.sh", "#!/bin/sh\nset -e\n", 2, "responsibility")
        self.reports("CMakeLists.txt", "\n", 1, "responsibility")

    def test_lengths(self):
        self.reports("a.cpp", "// Long.\n" + "int x();\n" * 500, 501, "501 lines")
        body = "  int x;\n" * 69
        self.reports("a.cpp", "// Long.\nvoid f() {\n" + body + "}\n", 2, "71 lines")
        code, output = run_on("check_style", {"a.cpp": "// Fits.\nvoid f() {\n" + "  g();\n" * 68 + "}\n"})
        self.assertEqual(code, 0, output)

    def test_left_for_later(self):
        self.reports("a.cpp", self.GOOD + "// TO" + "DO: subtract\n", 3, "later")

    def test_blanks(self):
        self.reports("a.py", '"""Adds."""\nx = 1 \n', 2, "blanks")
        self.reports("a.py", '"""Adds."""\nx = 1', 2, "does not end")


if __name__ == "__main__":
    unittest.main()
