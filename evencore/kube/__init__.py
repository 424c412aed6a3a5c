"""The only door to the API server, and the only importer of `kubernetes`.

For: configuration, authentication, raw requests, lists and watches into memory.
Not for: deciding anything about pods or nodes; nothing here knows what its objects mean.

Importing this package is cheap; `connect` pays for the official client (figures in client.py).
"""
