"""The one error that ends a benchmark."""


class BenchError(Exception):
    """The run cannot go on. Its text says what happened, to what, and what to do."""
