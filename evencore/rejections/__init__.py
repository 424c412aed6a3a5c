"""Whose pods kubelets reject, what was done about it and what comes next: as values and as text.

What comes next is told by the functions that webhook and controller decide with. No I/O; the
command is `evencore.rejections_command`.
"""
