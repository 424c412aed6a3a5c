"""The pure core: values in, values out.

No I/O, clock, environment, threads or logging (import-linter checks it). What is decided here is
the same for the webhook, the controller and `evencore explain`.
"""
