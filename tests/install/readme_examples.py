"""Writes the programs in README.md's code blocks to files: example-1.c, example-2.cpp, ...

Usage: readme_examples.py README OUTPUT_DIRECTORY
A program is a block marked ```c or ```cpp that has a main().
"""
import os
import re
import sys


def main():
    readme, output = sys.argv[1:]
    with open(readme, encoding="utf-8") as file:
        blocks = re.findall(r"^```(c|cpp)\n(.*?)^```$", file.read(), flags=re.DOTALL | re.MULTILINE)
    programs = [(language, text) for language, text in blocks if re.search(r"\bmain\s*\(", text)]
    for number, (language, text) in enumerate(programs, 1):
        with open(os.path.join(output, f"example-{number}.{language}"), "w", encoding="utf-8") as file:
            file.write(text)
    missing = {"c", "cpp"} - {language for language, _ in programs}
    if missing:
        sys.exit(f"{readme} has no example in {', '.join(sorted(missing))}")


if __name__ == "__main__":
    main()
