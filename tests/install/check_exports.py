"""Checks that the shared library exports the public interface, all of it, and nothing else.

Usage: check_exports.py LIBRARY INCLUDE_DIRECTORY

Public are the functions of strata/ccl.h and what STRATA_API marks in strata/*.hpp. Anything else in the dynamic
symbol table (instances of std templates, of fmt, of Asio; internal classes) would clash with other libraries' copies.
"""
import glob
import os
import re
import subprocess
import sys

C_FUNCTION = re.compile(r"\b(strata_\w+)\s*\(")
CLASS = re.compile(r"\b(?:class|struct)\s+STRATA_API\s+(\w+)")
FUNCTION = re.compile(r"\bSTRATA_API\b[^;{]*?\b(\w+)\s*\(")
SYMBOL = re.compile(r"^\s*[0-9a-f]+ (\w) (.*)$")


def without_comments(text):
    return re.sub(r"//[^\n]*|/\*.*?\*/", "", text, flags=re.DOTALL)


def without_directives(text):
    return re.sub(r"^\s*#.*?(?<!\\)$", "", text, flags=re.DOTALL | re.MULTILINE)


def public_names(include):
    """C functions, C++ classes, C++ functions that the headers promise."""
    c, classes, functions = set(), set(), set()
    for path in glob.glob(os.path.join(include, "strata", "*")):
        with open(path, encoding="utf-8") as file:
            text = without_directives(without_comments(file.read()))
        if path.endswith(".h"):
            text = re.sub(r"\(\s*\*\s*\w+\s*\)\s*\(", "(", text)  # pointers to functions are types
            c |= set(C_FUNCTION.findall(text))
        else:
            classes |= set(CLASS.findall(text))
            functions |= set(FUNCTION.findall(text))
    return c, classes, functions


def exported(library):
    """(letter, demangled name) of each defined dynamic symbol, without its version."""
    run = subprocess.run(["nm", "--dynamic", "--defined-only", "--demangle", library], check=True,
                         capture_output=True, text=True)
    for line in run.stdout.splitlines():
        letter, name = SYMBOL.match(line).groups()
        if letter != "A":  # the name of the version itself
            yield letter, re.sub(r"@@?STRATA_\w+$", "", name)


def path_of(name):
    """strata::Work::wait() const -> [strata, Work, wait]."""
    name = re.sub(r"^(?:typeinfo(?: name)?|vtable|guard variable) for ", "", name)
    return re.split(r"[(<\[]", name)[0].split("::")


def is_public(name, classes, functions):
    """Is the demangled C++ symbol a member of a public class, or a public function?"""
    path = path_of(name)
    return path[0] == "strata" and len(path) > 1 and "Impl" not in path and (
        path[1] in classes or path[-1] in functions)


def main():
    library, include = sys.argv[1:]
    c, classes, functions = public_names(include)
    names = [name for _, name in exported(library)]
    paths = [path_of(name) for name in names]
    wrong = [f"exported, but not public: {n}" for n in names if n not in c and not is_public(n, classes, functions)]
    missing = sorted(c - set(names)) + sorted(f for f in functions if not any(f == path[-1] for path in paths))
    missing += [f"class {k}" for k in sorted(classes) if not any(path[:2] == ["strata", k] for path in paths)]
    wrong += [f"promised by a public header, but not exported: {m}" for m in missing]
    print("\n".join(wrong) if wrong else f"exports: {len(names)} symbols, all of them public")
    return 1 if wrong or not names else 0


if __name__ == "__main__":
    sys.exit(main())
