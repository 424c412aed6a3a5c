"""Nodes as they stand: what their kubelets would say now, next to the pods that run there.

From a dump of a cluster to `node.Standing`, which is asked. What nobody tells of a node is looked
at in every way it may be (`knowledge`); where the answers differ, the answer is that it is not
known. The rules are those of `evencore.domain.kubelet`. No I/O.
"""
