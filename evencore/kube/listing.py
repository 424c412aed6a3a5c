"""The layer that lists: one page after the other, resumable.

For: a complete and consistent list in pages, whose pages can be asked for again after an error.
Not for: waiting or deciding what an error means; that is `reflector`.

Kubernetes' rules: a list without resourceVersion is a consistent read; all of its pages show the
same moment, which is the version to watch from. A `continue` token that has expired is answered
410 and the list has to be started again. resourceVersion=0 would ignore the limit.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

from evencore.kube.crowds import Growing
from evencore.kube.errors import Unreadable

if TYPE_CHECKING:
    from threading import Lock

    from evencore.kube.client import Client
    from evencore.kube.crowds import Crowd
    from evencore.kube.decoding import Decoder
    from evencore.kube.lifeline import Lifeline
    from evencore.kube.resource import Resource

T = TypeVar("T")


class Listing(Generic[T]):
    """One list of `resource` in pages of `page_size`. Throw it away when it is complete or 410.

    A page is decoded when it is our `turn`.
    """

    def __init__(  # noqa: PLR0913, PLR0917  what a list is made of
        self,
        client: Client,
        resource: Resource,
        decoder: Decoder[T],
        page_size: int,
        turn: Lock,
        crowd: Crowd | None = None,
    ) -> None:
        self._client = client
        self._resource = resource
        self._decoder = decoder
        self._page_size = page_size
        self._turn = turn
        self._token = ""
        self._objects: Growing[T] = Growing(crowd)
        self.version = ""
        """The version of the first page. Were a later one to differ, to watch from the first
        would still miss nothing."""

    @property
    def objects(self) -> dict[str, T]:
        """What is kept of the pages so far."""
        return self._objects.done()

    def step(self, lifeline: Lifeline) -> bool:
        """Fetch one page; True if it was the last. After an error the same page can be tried again.

        Raises Gone if the token has expired: start a new Listing. Other KubeErrors may pass.
        """
        query = [*self._resource.query(), ("limit", str(self._page_size))]
        if self._token:
            query.append(("continue", self._token))
        reply = self._client.get(self._resource.path, query, accept=self._resource.list_accept)
        with lifeline.holding(reply):
            body = reply.read()
        with self._turn:
            page = self._decoder.page(body, reply.call)
        if page.token and page.token == self._token:
            raise Unreadable(
                f"{reply.call} was answered with the same page twice: {Unreadable.advice}"
            )
        self.version = self.version or page.version
        if not self.version:
            raise Unreadable(
                f"{reply.call} was answered with a list without a version, which cannot be "
                f"watched: {Unreadable.advice}"
            )
        self._objects.add(page.objects)
        self._token = page.token
        return not page.token
