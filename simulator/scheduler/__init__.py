"""The scheduler: which pod is next, which node it gets, and what is told when there is none.

For: placing pods as kube-scheduler's default profile does, as far as CPU and memory, node
selection and taints go. Not for: preemption, pod affinity, topology spread, volumes.
"""
