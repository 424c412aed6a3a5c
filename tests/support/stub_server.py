"""A whole webhook server, as a script of its own, around any answer function.

Tests start it through `servers.py`. `--answer module:name` chooses the function; the default below
knows nothing of pods. Logs go to standard error.
"""

import argparse
import asyncio
import importlib
import json
import logging
from pathlib import Path

from webhook.application import Dependencies, create_asgi
from webhook.asgi import Answer, Limits
from webhook.gunicorn_conf import Served, Server, Serving
from webhook.probes import Readiness

logger = logging.getLogger("stub")


def allow(body: bytes) -> tuple[int, bytes]:
    """Allow every review, unchanged."""
    try:
        uid = json.loads(body)["request"]["uid"]
    except (ValueError, KeyError, TypeError):
        return 400, b'{"message":"not an AdmissionReview"}'
    review = {
        "apiVersion": "admission.k8s.io/v1",
        "kind": "AdmissionReview",
        "response": {"uid": uid, "allowed": True},
    }
    return 200, json.dumps(review).encode()


def length(body: bytes) -> tuple[int, bytes]:
    """Tell how many bytes came."""
    return 200, b"%d" % len(body)


def way(_body: bytes) -> tuple[int, bytes]:
    """Tell by which way a call came: the short one needs no task."""
    return 200, b"long" if asyncio.current_task() else b"short"


def main() -> None:
    """Serve until a signal."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--bind", required=True)
    parser.add_argument("--answer", default="stub_server:allow")
    parser.add_argument("--certificate", type=Path)
    parser.add_argument("--key", type=Path)
    parser.add_argument("--loop", default="auto")
    parser.add_argument("--drain", type=float, default=0.0)
    parser.add_argument("--closing", type=float, default=0.0)
    parser.add_argument("--keepalive", type=int, default=120)
    parser.add_argument("--certificate-poll", type=float, default=0.01)
    parser.add_argument("--body-bytes", type=int, default=Limits().body_bytes)
    parser.add_argument("--reading-bytes", type=int, default=Limits().reading_bytes)
    parser.add_argument("--reading-requests", type=int, default=Limits().reading_requests)
    parser.add_argument("--body-seconds", type=float, default=Limits().body_seconds)
    given = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(process)d %(levelname)s %(name)s %(message)s")
    module, name = given.answer.split(":")

    def factory() -> Served:
        answer: Answer = getattr(importlib.import_module(module), name)
        readiness = Readiness()
        dependencies = Dependencies(
            answer=answer,
            readiness=readiness.reasons,
            metrics=lambda: (b"up 1\n", "text/plain; version=0.0.4"),
            limits=Limits(
                body_bytes=given.body_bytes,
                reading_bytes=given.reading_bytes,
                reading_requests=given.reading_requests,
                body_seconds=given.body_seconds,
            ),
        )
        return Served(
            app=create_asgi(dependencies),
            serving=lambda: logger.info("told that connections are accepted"),
            draining=readiness.drain,
            stopped=lambda: logger.info("told to end background work"),
        )

    serving = Serving(
        bind=(given.bind,),
        certificate=given.certificate,
        key=given.key,
        loop=given.loop,
        drain_seconds=given.drain,
        closing_seconds=given.closing,
        keepalive_seconds=given.keepalive,
        certificate_poll_seconds=given.certificate_poll,
    )
    Server(serving, factory).run()


if __name__ == "__main__":
    main()
