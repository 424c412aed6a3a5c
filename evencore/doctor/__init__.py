"""Is everything as it must be for evencore to work: checks, each a pure function of what was read.

No I/O; the command is `evencore.doctor_command`, reading and probing is `evencore.kube.examining`.
"""
