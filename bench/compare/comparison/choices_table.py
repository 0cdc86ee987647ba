"""The choices as Markdown: those far from the best first, then what was predicted of each chosen algorithm."""
from comparison.choices import choices_of
from comparison.table import markdown, number, size_text


def predicted_text(candidate):
    return number(candidate.predicted_us) if candidate.predicted_us >= 0 else ""


def cell_words(candidate):
    return [candidate.mode, candidate.ranks, candidate.collective, size_text(candidate.size) if candidate.size else "-"]


def defect_row(choice):
    chosen, best = choice.chosen, choice.best
    return [*cell_words(chosen), chosen.algorithm, predicted_text(chosen), number(chosen.measured_us), best.algorithm,
            predicted_text(best), number(best.measured_us), f"{choice.ratio():.2f}"]


def row(choice):
    chosen = choice.chosen
    off = f"{chosen.measured_us / chosen.predicted_us:.2f}" if chosen.predicted_us > 0 else ""
    return [*cell_words(chosen), chosen.algorithm, predicted_text(chosen), number(chosen.measured_us), off,
            choice.best.algorithm, f"{choice.ratio():.2f}"]


def choices_text(candidates):
    choices = choices_of(candidates)
    if not choices:
        return ""
    defects = sorted((choice for choice in choices if choice.is_defect()), key=lambda choice: -choice.ratio())
    text = (f"## Choices\n\n{len(defects)} of {len(choices)} algorithms that Strata chose took over 10 % more time than "
            "the fastest one, each forced by its name and measured twice, the better median:\n\n")
    if defects:
        text += markdown(["mode", "ranks", "collective", "size", "chosen", "predicted us", "measured us", "fastest",
                          "predicted us", "measured us", "chosen / fastest"], map(defect_row, defects)) + "\n"
    return (text + "All choices. Collectives on common memory are no messages and have no prediction.\n\n" +
            markdown(["mode", "ranks", "collective", "size", "chosen", "predicted us", "measured us",
                      "measured / predicted", "fastest", "chosen / fastest"], map(row, choices)) + "\n")
