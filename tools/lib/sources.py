"""Which files the checks look at, and C++ text without its comments and strings."""
import os
import re
import subprocess

SOURCE_SUFFIXES = (".hpp", ".h", ".cpp", ".c")


def tracked_files(root):
    """Files of the repository, relative to root: what git tracks, or, in an unpacked archive, all but build/."""
    inside = subprocess.run(["git", "-C", root, "ls-files", "-z"], capture_output=True, text=True)
    if inside.returncode == 0 and inside.stdout:
        return sorted(p for p in inside.stdout.split("\0") if p and os.path.exists(os.path.join(root, p)))
    found = []
    for folder, folders, names in os.walk(root):
        folders[:] = [f for f in folders if f != ".git" and not f.startswith("build")]
        found += [os.path.relpath(os.path.join(folder, name), root) for name in names]
    return sorted(found)


def read(root, path):
    with open(os.path.join(root, path), encoding="utf-8") as file:
        return file.read()


_TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'', re.DOTALL)


def without_comments(text):
    """The text with comments blanked; lines keep their numbers."""
    return _TOKEN.sub(lambda m: re.sub(r"[^\n]", " ", m[0]) if m[0].startswith("/") else m[0], text)
