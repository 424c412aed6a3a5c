"""What evencore would do to pods, and why: as values, as text, as JSON.

The decision is `evencore.domain.decision.decide`, the same that the webhook makes; here it is only
told. No I/O; the command is `evencore.explain_command`.
"""

from evencore.explain.inputs import Prepared, prepare
from evencore.explain.machine import to_dict
from evencore.explain.now import Kubelets, kubelets
from evencore.explain.report import Outcome, PodReport, Report, explain
from evencore.explain.text import render_text

__all__ = [
    "Kubelets",
    "Outcome",
    "PodReport",
    "Prepared",
    "Report",
    "explain",
    "kubelets",
    "prepare",
    "render_text",
    "to_dict",
]
