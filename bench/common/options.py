"""Types of options, for argparse."""
import argparse


def listed(check):
    """A list, separated by commas, whose entries become what check() gives for them."""
    def parse(text):
        try:
            return [check(entry) for entry in text.split(",")]
        except ValueError as error:
            raise argparse.ArgumentTypeError(str(error)) from error
    return parse


def one_of(*names):
    def check(entry):
        if entry not in names:
            raise ValueError(f"'{entry}' is not one of {', '.join(names)}")
        return entry
    return check


def at_least(least, kind=int):
    def parse(text):
        value = kind(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{text} is less than {least}")
        return value
    parse.__name__ = kind.__name__
    return parse


def parse_with_quick(parser, arguments, quick):
    """What --quick stands for, {option: value}, counts where nothing else is given."""
    if parser.parse_known_args(arguments)[0].quick:
        parser.set_defaults(**quick)
    return parser.parse_args(arguments)
