"""Tests that README.md, ARCHITECTURE.md, data/README.md and the lists of packages say what is so."""
import hashlib
import os
import re
import unittest

ROOT = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..")


def read(path):
    with open(os.path.join(ROOT, path), encoding="utf-8") as file:
        return file.read()


class Documents(unittest.TestCase):
    def test_environment_variables(self):
        known = set(re.findall(r'\{"(STRATA_[A-Z_]+)"', read("ccl/base/environment_variables.cpp")))
        named = set(re.findall(r"^\| `(STRATA_[A-Z_]+)` \|", read("README.md"), flags=re.MULTILINE))
        self.assertEqual(known, named, "README.md's table and ccl/base/environment_variables.cpp differ")

    def test_links_and_paths(self):
        for document in ("README.md", "ARCHITECTURE.md", "bench/README.md", "data/README.md",
                         "trainer/README.md"):
            text = read(document)
            paths = re.findall(r"\]\(([^)#:]+)\)", text)
            for path in paths:
                self.assertTrue(os.path.exists(os.path.join(ROOT, os.path.dirname(document), path)),
                                f"{document} links to {path}, which does not exist")
            for path in re.findall(r"`((?:ccl|include|tests|tools|trainer|bench|cmake|data)/[\w./-]*)`", text):
                self.assertTrue(os.path.exists(os.path.join(ROOT, path)),
                                f"{document} names {path}, which does not exist")

    def test_the_text_is_the_one_described(self):
        with open(os.path.join(ROOT, "data/english.txt"), "rb") as file:
            text = file.read()
        self.assertIn(hashlib.sha256(text).hexdigest(), read("data/README.md"))
        self.assertGreater(len(text), 1 << 20)
        text.decode("ascii")

    def test_cmake_names_packages_that_the_scripts_install(self):
        named = set(re.findall(r"^\s*strata_need\(([\w+.-]+) ", read("cmake/dependencies.cmake"),
                               flags=re.MULTILINE))
        listed = {line.split()[1] for line in read("tools/lib/packages.txt").splitlines() if not line.startswith("#")}
        self.assertTrue(named)
        self.assertEqual(named - listed, set())


if __name__ == "__main__":
    unittest.main()
