"""The API server of the pocket cluster, put together and run in a thread of its own.

For: starting one, knowing its address, working in its thread, stopping it.
Not for: who else lives in the cluster; controllers and kubelets hang on `store` and `writes`.
"""

from __future__ import annotations

import asyncio
import base64
import threading
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any, Final, Self, TypeVar

import uvloop
import yaml

from simulator import namespaces, resources, tls
from simulator.admission.limits import LimitBounds, LimitDefaults
from simulator.admission.namespaces import NamespaceLifecycle
from simulator.admission.nodes import taint_new_nodes
from simulator.admission.pods import Priority, ServiceAccount, tolerate_for_a_while
from simulator.admission.quota import Counter, Quota
from simulator.admission.webhooks.checks import check_configuration
from simulator.admission.webhooks.plugin import MutatingWebhooks
from simulator.api.app import App
from simulator.api.http import LONGEST_HEAD, serve_connection
from simulator.api.verbs import Verbs
from simulator.api.writes import Writes
from simulator.auth import bootstrap
from simulator.auth.aggregation import Aggregation
from simulator.auth.authentication import Authentication
from simulator.auth.authorization import Everything, Rbac
from simulator.chance import Chance
from simulator.clock import Clock
from simulator.events import Expiry
from simulator.resources import PRIORITY_CLASSES
from simulator.store.collector import Collector
from simulator.store.store import HISTORY, Store
from simulator.switchboard import Switchboard
from simulator.ticking import tick

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

    from simulator.admission.chain import Plugin, User
    from simulator.admission.webhooks.client import Services

T = TypeVar("T")

CONTEXT: Final = "pocket"
"""How the kubeconfig calls cluster, user and context."""

_HOST: Final = "127.0.0.1"
_START_S: Final = 30.0
_FIRST_CLASSES: Final = {
    "system-cluster-critical": 2_000_000_000,
    "system-node-critical": 2_000_001_000,
}


@dataclass(frozen=True, slots=True)
class Options:
    """How an API server is to be."""

    clock: Clock = field(default_factory=Clock.real)
    seed: int = 1
    secure: bool = True  # HTTPS; kubectl sends no token without it
    port: int = 0  # 0: the kernel chooses
    history: int = HISTORY  # changes of a resource that watches can go back to
    tokens: Mapping[str, User] | None = None  # None: everybody is admin
    rbac: bool = False  # users may what roles and bindings say; False: everything
    mutating: Sequence[Plugin] = ()  # run after the built-in plug-ins, before the webhooks
    # Namespace and name of a Service → where it is on this machine; read at each dial.
    services: Services = field(default_factory=dict)
    validating: Sequence[Plugin] = ()  # run between LimitRanger and ResourceQuota


class ApiServer:
    """One API server; start it as a context manager.

    Store and clock belong to its thread: from outside, use `call` or the API.
    """

    def __init__(self, options: Options | None = None) -> None:
        self._options = options = options or Options()
        self._identity = tls.make() if options.secure else None
        self.ca = self._identity.ca if self._identity else ""
        self.store = store = Store(options.clock, Chance(options.seed), history=options.history)
        Collector(store, resources.ALL)
        Expiry(store)
        Counter(store)
        Aggregation(store)
        built_in: tuple[Plugin, ...] = (
            NamespaceLifecycle(store),
            LimitDefaults(store),
            ServiceAccount(store),
            taint_new_nodes,
            Priority(store),
            tolerate_for_a_while,
            *options.mutating,
        )
        self._webhooks = MutatingWebhooks(store, resources.ALL, options.services, before=built_in)
        validating: tuple[Plugin, ...] = (
            LimitBounds(store),
            check_configuration,
            *options.validating,
            Quota(store),
        )
        self.writes = Writes(store, (*built_in, self._webhooks), validating)
        authentication = Authentication(options.tokens, anonymous=options.rbac)
        authorizer = Rbac(store) if options.rbac else Everything()
        app = App(Verbs(store, self.writes), resources.ALL, authentication, authorizer)
        self.faults = Switchboard(app, options.clock, store.chance)
        self._furnish()
        self.port = 0
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._started = threading.Event()
        self._failure: BaseException | None = None
        self._thread = threading.Thread(target=self._run, name="pocket cluster", daemon=True)

    @property
    def url(self) -> str:
        """Where it is."""
        return f"{'https' if self._identity else 'http'}://{_HOST}:{self.port}"

    def __enter__(self) -> Self:
        self._thread.start()
        self._started.wait(_START_S)
        if self._failure is not None:
            raise self._failure
        return self

    def __exit__(self, *_: object) -> None:
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._stop.set)
        self._thread.join()

    def call(self, work: Callable[[], T]) -> T:
        """Do something in the server's thread, where store and clock are, and wait for it."""

        async def there() -> T:
            return work()

        return self.wait_for(there())

    def wait_for(self, work: Awaitable[T]) -> T:
        """Run a coroutine in the server's thread, `writes` for one, and wait for it."""
        if self._loop is None:
            raise RuntimeError("the API server is not running: enter it as a context first")

        async def there() -> T:
            return await work

        return asyncio.run_coroutine_threadsafe(there(), self._loop).result()

    def kubeconfig(self, token: str = "") -> str:
        """Write a kubeconfig for it, as YAML."""
        cluster: dict[str, Any] = {"server": self.url}
        if self.ca:
            cluster["certificate-authority-data"] = base64.b64encode(self.ca.encode()).decode()
        name = CONTEXT
        return yaml.safe_dump(
            {
                "apiVersion": "v1",
                "kind": "Config",
                "clusters": [{"name": name, "cluster": cluster}],
                # kubectl asks at the terminal for a user that has nothing at all.
                "users": [{"name": name, "user": {"token": token or "anybody"}}],
                "contexts": [{"name": name, "context": {"cluster": name, "user": name}}],
                "current-context": name,
            }
        )

    def _furnish(self) -> None:
        """Make what every cluster has."""
        namespaces.Namespaces(self.store, resources.ALL, self.ca).make_first()
        for name, value in _FIRST_CLASSES.items():
            made = {
                "apiVersion": PRIORITY_CLASSES.api_version,
                "kind": PRIORITY_CLASSES.kind,
                "metadata": {"name": name},
                "value": value,
                "preemptionPolicy": "PreemptLowerPriority",
            }
            self.store.create(PRIORITY_CLASSES, "", made)
        if self._options.rbac:
            bootstrap.furnish(self.store)

    def _run(self) -> None:
        try:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                runner.run(self._serve())
        except BaseException as error:  # noqa: BLE001  handed over to the thread that starts us
            self._failure = error
        finally:
            self._started.set()

    async def _serve(self) -> None:
        self._stop = asyncio.Event()
        server = await asyncio.start_server(
            partial(serve_connection, self.faults),
            _HOST,
            self._options.port,
            ssl=self._identity.context if self._identity else None,
            limit=LONGEST_HEAD,
            backlog=1024,
        )
        self.port = server.sockets[0].getsockname()[1]
        self._loop = asyncio.get_running_loop()
        ticking = asyncio.ensure_future(tick(self._options.clock))
        self._started.set()
        await self._stop.wait()
        ticking.cancel()
        server.close()
        self._webhooks.close()
