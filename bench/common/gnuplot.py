"""Plots, drawn by gnuplot where it is installed."""
import os
import shutil
import subprocess


def is_here():
    """Says so, once for all plots, if it is not."""
    if shutil.which("gnuplot") is None:
        print("plots are left out: apt-get install gnuplot-nox would bring gnuplot")
        return False
    return True


def draw(script, path):
    """Whether the script, which writes to this path, could be drawn."""
    os.makedirs(os.path.dirname(path), exist_ok=True)
    run = subprocess.run(["gnuplot"], input=script, text=True, capture_output=True, check=False)
    if run.returncode != 0:
        print(f"gnuplot could not draw {path}: {run.stderr.strip()}")
    return run.returncode == 0
