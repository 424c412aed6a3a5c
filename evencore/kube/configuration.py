"""Where the API server is and who we are to it.

For: finding a configuration (explicit path > KUBECONFIG > in-cluster > ~/.kube/config), and having
the official client read kubeconfigs, with all their plugins. Nothing else of it is used, so a pod,
which has no kubeconfig, never imports it.
Not for: making requests; that is `client`. Not for a pod's account; that is `account`.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from evencore.kube import account as service_account
from evencore.kube import proxies
from evencore.kube.access import Access
from evencore.kube.errors import NoConfiguration, shortened

if TYPE_CHECKING:
    from collections.abc import Mapping

    from kubernetes.client.configuration import Configuration

SERVICE_ACCOUNT = Path("/var/run/secrets/kubernetes.io/serviceaccount")
"""Where a kubelet mounts the token and the CA of the API server."""


def load(
    kubeconfig: str | None = None,
    context: str | None = None,
    *,
    environ: Mapping[str, str] = os.environ,
    account: Path | None = None,
) -> Access:
    """Find and load the configuration that applies.

    `kubeconfig`: a path, or several as in KUBECONFIG. A `context` can only be meant for a
    kubeconfig, so with one the in-cluster account is not looked at. `account`: what is mounted in
    a pod, None for SERVICE_ACCOUNT. Raises NoConfiguration, which names everything that was tried.
    """
    account = account or SERVICE_ACCOUNT
    tried: list[str] = []
    for name, value in (("the given path", kubeconfig), ("KUBECONFIG", environ.get("KUBECONFIG"))):
        if value:
            if not _existing(value):
                # Named on purpose, so going on would talk to another cluster than was meant.
                raise NoConfiguration(
                    f"no kubeconfig: {name} is {value}, which does not exist: correct or unset it"
                )
            return _from_file(value, context)
        tried.append(f"{name} (not set)")
    missing = _missing_account(environ, account)
    if context:
        tried.append(f"in-cluster (not tried, a context was asked for: {context})")
    elif missing:
        tried.append(f"in-cluster ({missing})")
    else:
        return _from_account(environ, account)
    default = Path(environ.get("HOME") or "~").expanduser() / ".kube" / "config"
    if default.is_file():
        return _from_file(str(default), context)
    tried.append(f"{default} (does not exist)")
    raise NoConfiguration(
        f"no API server is configured; tried {', '.join(tried)}: "
        "set KUBECONFIG, or run in a pod whose service account token is mounted"
    )


def _existing(paths: str) -> bool:
    return any(Path(path).expanduser().is_file() for path in paths.split(os.pathsep) if path)


def _missing_account(environ: Mapping[str, str], account: Path) -> str:
    """Say what is missing for an in-cluster configuration; empty if nothing is."""
    for name in ("KUBERNETES_SERVICE_HOST", "KUBERNETES_SERVICE_PORT"):
        if not environ.get(name):
            return f"{name} is not set"
    for name in ("token", "ca.crt"):
        if not (account / name).is_file():
            return f"{account / name} does not exist"
    return ""


def _from_file(paths: str, context: str | None) -> Access:
    import yaml  # noqa: PLC0415  only who has a kubeconfig pays for the imports, see client.py
    from kubernetes.client.configuration import Configuration  # noqa: PLC0415  same
    from kubernetes.config import ConfigException, load_kube_config  # noqa: PLC0415  same

    found = Configuration()
    try:
        load_kube_config(  # type: ignore[no-untyped-call]  # it has no types
            config_file=paths,
            context=context,
            client_configuration=found,
            persist_config=False,  # the file is the user's: we read it
        )
        return _access(found)
    except (
        # What the official loader raises for files of the wrong shape, besides its own.
        ConfigException,
        yaml.YAMLError,
        OSError,
        AttributeError,
        KeyError,
        TypeError,
        ValueError,
    ) as error:
        # The loader quotes the user entry that it stumbles over, with the token in it: nothing
        # from the first brace on is repeated, and such an original is not chained either.
        said, brace, _ = str(error).partition("{")
        named = f"kubeconfig {paths}" + (f", context {context}" if context else "")
        raise NoConfiguration(
            f"{named} cannot be used: {type(error).__name__} {shortened(said)}: "
            "compare it with the output of kubectl config view"
        ) from (None if brace else error)


def _access(found: Configuration) -> Access:
    """Take what the official loader found, with the hook that renews it.

    Raises as `proxies.on_the_way`.
    """
    # For each request the loader sets the host again, and a proxy that is not said to be set is
    # then looked for in the whole environment: more than a third of a request's cost.
    found.proxy = found.proxy
    return Access(
        found.host,
        # It calls the hook: exec plugins and OIDC, whose tokens end, are asked again.
        lambda: found.get_api_key_with_prefix("BearerToken"),
        ca_file=found.ssl_ca_cert,
        cert_file=found.cert_file,
        key_file=found.key_file,
        verify=found.verify_ssl,
        tls_server_name=found.tls_server_name,
        proxy=proxies.on_the_way(found.host, found.proxy, found.no_proxy),
    )


def _from_account(environ: Mapping[str, str], account: Path) -> Access:
    try:
        return service_account.access(environ, account)
    except (OSError, ValueError) as error:
        raise NoConfiguration(
            f"the service account in {account} cannot be used: {shortened(str(error))}: "
            "look at the volume that the kubelet mounts there"
        ) from error
