"""What a cluster of 5,000 nodes and 100,000 pods costs: `python -m tests.bench.scale`.

The controller's and the webhook's real processes, over TLS; the API server is a process of its own
that knows how to say such a cluster and nothing else (recorded.py). docs/scale.md has the figures.
"""
