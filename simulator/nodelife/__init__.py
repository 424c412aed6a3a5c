"""What becomes of nodes that are cordoned or fall silent, and of the pods on them.

For: the node lifecycle and taint eviction controllers of kube-controller-manager.
Not for: nodes that never had a lease; nobody watches those here.
"""
