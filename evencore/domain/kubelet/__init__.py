"""What a kubelet says to a pod, and which CPUs it gives: an exact model, as values.

For: Kubernetes v1.36.2 with the static CPU manager, any topology manager policy, the static
memory manager and the node predicates for cpu, memory and pods. One idea per file, in the words
of `pkg/kubelet/cm`; docs/kubelet.md follows one container through them. `node.Node` is the door.
Not for: devices, hugepages, resizes.
"""
