"""The only door to the API server, and the only importer of `kubernetes`.

For: configuration, authentication, raw requests, lists and watches into memory, the writes of the
controller, leadership. docs/api-server.md has the map.
Not for: deciding anything about pods or nodes; nothing here knows what its objects mean.

The official client reads kubeconfigs and is imported for that alone (figures in client.py).
"""
