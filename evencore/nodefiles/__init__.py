"""Node files: machines and kubelets as people write them, with KubeletConfiguration's names.

For: the pocket cluster's nodes, and what nobody can see of real ones (`--machines`).
"""
