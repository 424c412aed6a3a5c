"""One worker of the webhook, put together: imported and run after the fork.

Not for: where its picture of the cluster comes from (`webhook_wiring`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evencore import logs
from evencore.admission_metrics import ADMISSIONS
from webhook.application import Dependencies, create_asgi
from webhook.gunicorn_conf import Served
from webhook.mutate import Mutator
from webhook.probes import Readiness
from webhook.record import Recorder

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from datetime import datetime

    from evencore.domain.policy import Policy
    from evencore.webhook_wiring import Source
    from webhook.probes import Check


def serve(
    policy: Policy,
    source: Source,
    checks: Mapping[str, Check],
    certificate_ends: Callable[[], datetime | None],
) -> Served:
    """Put one worker together around its picture of the cluster."""
    readiness = Readiness({**checks, "snapshot": source.missing})

    def page() -> tuple[bytes, str]:
        from evencore import metrics  # noqa: PLC0415  its library is a thirtieth of a start

        metrics.SYNCED.set(0 if source.missing() else 1)
        if end := certificate_ends():
            metrics.CERTIFICATE_EXPIRY.labels("serving").set(end.timestamp())
        return metrics.page()

    answer = Mutator(policy, source.snapshot, source.now, Recorder(logs.logger()))
    app = create_asgi(
        Dependencies(
            answer=answer,
            readiness=readiness.reasons,
            metrics=page,
            refused=ADMISSIONS.refuse,
        )
    )
    return Served(app=app, serving=source.start, draining=readiness.drain, stopped=source.stop)
