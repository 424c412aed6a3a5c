"""What would become of pods, before anyone applies them: who runs where, and who would loop.

The webhook's decision is `evencore.domain.decision`, the kubelets' `evencore.standing`; between
them the scheduler is approximated (`scheduling`). No I/O; the command is
`evencore.simulate_command`.
"""
