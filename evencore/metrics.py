"""Every metric object, once. Names follow the Prometheus conventions; units are in the names."""

from __future__ import annotations

from typing import TYPE_CHECKING

from prometheus_client import (
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    disable_created_metrics,
)
from prometheus_client.core import CounterMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_LATEST, generate_latest
from prometheus_client.registry import Collector

from evencore.admission_metrics import ADMISSIONS, SECONDS

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client import Metric

# They would double every series, and nobody asked for them.
disable_created_metrics()  # type: ignore[no-untyped-call]  # the library has no types here

# Our own registry: importing a library must not add to what we publish.
REGISTRY = CollectorRegistry()


class _Admissions(Collector):
    """What was counted of admissions, in the library's words."""

    def collect(self) -> Iterable[Metric]:
        """Tell all of it."""
        requests = CounterMetricFamily(
            "evencore_admission_requests",
            "Admission requests answered, by what became of them.",
            labels=["result"],
        )
        for result, number in ADMISSIONS.results.items():
            requests.add_metric([result], number)
        yield requests
        bounds = (*(str(bound) for bound in SECONDS), "+Inf")
        yield HistogramMetricFamily(
            "evencore_admission_duration_seconds",
            "Time from the whole body to the answer, without network and TLS.",
            buckets=list(zip(bounds, ADMISSIONS.within(), strict=True)),
            sum_value=ADMISSIONS.seconds,
        )
        yield CounterMetricFamily(
            "evencore_containers_aligned",
            "Containers whose CPU request was rounded up to whole cores.",
            value=ADMISSIONS.containers_aligned,
        )
        yield CounterMetricFamily(
            "evencore_cpus_added",
            "CPUs added to requests by rounding up: what alignment costs.",
            value=ADMISSIONS.millis_added / 1000,
        )
        yield CounterMetricFamily(
            "evencore_pods_steered",
            "Pods created with nodes excluded that had rejected pods of the same owner.",
            value=ADMISSIONS.pods_steered,
        )
        refused = CounterMetricFamily(
            "evencore_http_refused",
            "HTTP requests turned away unread, by status: too large, too many, wrong method.",
            labels=["status"],
        )
        # Of a copy: another thread counts.
        for status, number in dict(ADMISSIONS.refused).items():
            refused.add_metric([str(status)], number)
        yield refused


REGISTRY.register(_Admissions())
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
