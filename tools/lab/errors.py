"""What can go wrong, by whose fault; the text says what it was, and the cure."""


class Mistake(Exception):
    """What was asked for cannot be: exit code 2."""


class Failure(Exception):
    """The system did not do it: exit code 1."""
