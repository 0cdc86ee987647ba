"""Tests of tests/install/check_exports.py on small libraries: one that keeps its promise and ones that do not."""
import os
import subprocess
import sys
import tempfile
import unittest

CHECK = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "install", "check_exports.py")
API = '#define STRATA_API __attribute__((visibility("default")))\n'
C_HEADER = API + "STRATA_API int strata_add(int (*f)(void), int b); /* strata_old() is gone */\n"
CPP_HEADER = API + "namespace strata { class STRATA_API Work { public: int wait(); class Impl; }; STRATA_API void start(); }\n"
SOURCE = """#include "strata/ccl.h"
#include "strata/work.hpp"
extern "C" int strata_add(int (*)(void), int b) { return b; }
int strata::Work::wait() { return 1; }
void strata::start() {}
"""


def check(source):
    """Output of the check on a library made of this source."""
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(f"{root}/strata")
        for name, text in (("strata/ccl.h", 'extern "C" {\n' + C_HEADER + "}\n"), ("strata/work.hpp", CPP_HEADER),
                           ("a.cpp", source)):
            with open(f"{root}/{name}", "w", encoding="utf-8") as file:
                file.write(text)
        subprocess.run(["g++", "-w", "-fvisibility=hidden", "-fPIC", "-shared", f"-I{root}", f"{root}/a.cpp", "-o",
                        f"{root}/liba.so"], check=True)
        return subprocess.run([sys.executable, CHECK, f"{root}/liba.so", root], capture_output=True, text=True).stdout


class Exports(unittest.TestCase):
    def test_a_library_that_keeps_its_promise(self):
        self.assertEqual(check(SOURCE), "exports: 3 symbols, all of them public\n")

    def test_what_is_not_public(self):
        for planted, name in (
                ("STRATA_API void fmt_like() {}", "fmt_like()"),
                ('extern "C" STRATA_API void strata_internal() {}', "strata_internal"),
                ("namespace strata { struct STRATA_API Engine { void turn(); }; void Engine::turn() {} }",
                 "strata::Engine::turn()"),
                ("namespace strata { struct STRATA_API Work::Impl { void f(); }; void Work::Impl::f() {} }",
                 "strata::Work::Impl::f()"),
                ("#include <vector>\ntemplate class STRATA_API std::vector<int>;", "std::vector<int")):
            self.assertIn(f"exported, but not public: {name}", check(SOURCE + planted + "\n"))

    def test_what_is_missing(self):
        self.assertIn("promised by a public header, but not exported: start",
                      check(SOURCE.replace("void strata::start() {}", "")))
        self.assertIn("promised by a public header, but not exported: class Work",
                      check(SOURCE.replace("int strata::Work::wait() { return 1; }", "")))
        self.assertIn("promised by a public header, but not exported: strata_add",
                      check(SOURCE.replace("strata_add", "strata_added")))


if __name__ == "__main__":
    unittest.main()
