"""Every metric object, once. Names follow the Prometheus conventions; units are in the names."""

from __future__ import annotations

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest

from evencore.admission_metrics import Admissions

# They would double every series, and nobody asked for them.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types here

# Our own registry: importing a library must not add to what we publish.
REGISTRY = CollectorRegistry()

ADMISSIONS = Admissions()
REGISTRY.register(ADMISSIONS)
REFUSED = Counter(
    "evencore_http_refused",
    "HTTP requests turned away unread, by status: too large, too many, wrong method.",
    ["status"],
    registry=REGISTRY,
)
SYNCED = Gauge(
    "evencore_snapshot_synced",
    "1 when the view of the cluster is complete, else 0.",
    registry=REGISTRY,
)

CERTIFICATE_EXPIRY = Gauge(
    "evencore_certificate_expiry_timestamp_seconds",
    "When a certificate ends, Unix time: the webhook's own, and its authority (the controller "
    "alone knows that); 0: there is none.",
    ["certificate"],
    registry=REGISTRY,
)

# Of the controller.
PODS_HELD = Counter(
    "evencore_pods_held",
    "Pods found held by our scheduling gate.",
    registry=REGISTRY,
)
PODS_RELEASED = Counter(
    "evencore_pods_released",
    "Held pods let go.",
    registry=REGISTRY,
)
PODS_REPLACED = Counter(
    "evencore_pods_replaced",
    "Waiting pods deleted because none of the nodes they keep off is excluded any more.",
    registry=REGISTRY,
)
PODS_DELETED = Counter(
    "evencore_rejected_pods_deleted",
    "Rejected pods cleaned up.",
    registry=REGISTRY,
)
PODS_MISSED = Counter(
    "evencore_pods_missed",
    "New pods that the webhook would have changed and did not: not asked, or not heard. A sample.",
    registry=REGISTRY,
)
QUEUED = Gauge(
    "evencore_queue_depth",
    "Keys of work that wait, due or not.",
    registry=REGISTRY,
)
LEADING = Gauge(
    "evencore_leading",
    "1 for the controller that holds the lease, else 0.",
    registry=REGISTRY,
)
RECONCILE_SECONDS = Histogram(
    "evencore_reconcile_duration_seconds",
    "Time for one key of work, writes included.",
    ["work"],
    registry=REGISTRY,
)
RECONCILE_FAILURES = Counter(
    "evencore_reconcile_failures",
    "Keys of work at which we made a mistake.",
    ["work"],
    registry=REGISTRY,
)


def page() -> tuple[bytes, str]:
    """Return the text of all metrics and its content type."""
    return generate_latest(REGISTRY), CONTENT_TYPE_LATEST
