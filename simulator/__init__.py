"""The pocket cluster: a Kubernetes API small enough to start in a second.

For: showing and testing evencore without a cluster; `kubectl` and the official clients can use it.
Not for: production, and not for any address but this machine's own.
"""
