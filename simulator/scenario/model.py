"""Scenario files: what happens to a cluster and when, as people write it (docs/pocket-cluster.md).

For: strict models. Not for: reading files, and mistakes that only show between two places
(`checks`).
"""

from __future__ import annotations

from typing import Annotated, Any, Final, Self, TypeVar

from pydantic import (
    AfterValidator,
    BeforeValidator,
    Field,
    ValidationInfo,
    field_validator,
    model_validator,
)

from evencore.domain.text import one_of
from evencore.nodefiles.files import Name, Nodes, NodesFile, Taint
from evencore.strict import Strict
from simulator.faults import Fault
from simulator.kubelet.presets import PRESETS
from simulator.scenario.values import Amount, Duration, Ref, ServiceMap, Speed

T = TypeVar("T")


def _listed(value: object) -> object:
    return value if isinstance(value, list) else [value]


def _manifest(value: object) -> object:
    if not isinstance(value, (str, dict)):
        raise ValueError("must be a manifest, or the name of a file with manifests")  # noqa: TRY004  pydantic wants ValueError
    return value


def _preset(value: str) -> str:
    if value not in PRESETS:
        raise ValueError(f"must be {one_of(map(repr, sorted(PRESETS)))}")
    return value


Some = Annotated[list[T], BeforeValidator(_listed), Field(min_length=1)]
"""A list; a single thing needs no dash."""
Manifest = Annotated[Any, BeforeValidator(_manifest)]
Marks = dict[str, str | None]
"""Labels or annotations; null takes one away."""
Replicas = Annotated[int, Field(ge=0, le=100_000)]


class Step(Strict):
    """One thing that is done at one moment; any number of objects."""

    at: Duration
    namespace: Name = "default"
    """Of objects that do not say theirs."""
    refused: bool = False
    """The cluster is to refuse it; if it does not, that is a disappointed expectation."""
    apply: Some[Manifest] | None = None
    delete: Some[Ref] | None = None
    scale: dict[Ref, Replicas] | None = None
    label: dict[Ref, Marks] | None = None
    annotate: dict[Ref, Marks] | None = None
    taint: dict[Name, list[Taint]] | None = None
    """All the taints of a node from now on; those of Kubernetes' own stay."""
    cordon: Some[Name] | None = None
    uncordon: Some[Name] | None = None
    drain: Some[Name] | None = None
    restart: Some[Name] | None = None
    """A new kubelet process: all pods of the node go through admission again."""
    stop: Some[Name] | None = None
    """The node falls silent, as one that is lost."""
    start: Some[Name] | None = None
    fault: Fault | None = None

    @model_validator(mode="after")
    def _does_one_thing(self) -> Self:
        said = [verb for verb in VERBS if getattr(self, verb) is not None]
        if not said:
            raise ValueError(f"does nothing: it needs {one_of(VERBS)}")
        if len(said) > 1:
            raise ValueError(f"does {one_of(said, 'and')}: make it {len(said)} steps")
        return self

    @property
    def verb(self) -> str:
        """What is done: the name of a field."""
        return next(verb for verb in VERBS if getattr(self, verb) is not None)


VERBS: Final = tuple(
    name for name in Step.model_fields if name not in ("at", "namespace", "refused")
)
"""What a step can do."""


class Expectation(Strict):
    """How many pods of a workload, or rejections of a node, there are to be at the end."""

    workload: Ref | None = None
    namespace: Name = "default"
    node: Name | None = None
    created: Amount | None = None
    rejected: Amount | None = None
    failed: Amount | None = None
    succeeded: Amount | None = None
    running: Amount | None = None
    pending: Amount | None = None

    @model_validator(mode="after")
    def _is_about_something(self) -> Self:
        if (self.workload is None) == (self.node is None):
            raise ValueError("is about a workload or about a node: give one of them")
        amounts = self.amounts()
        if not amounts:
            raise ValueError(f"expects nothing: it needs {one_of(AMOUNTS)}")
        if self.node is not None and list(amounts) != ["rejected"]:
            raise ValueError("of a node only what it rejected is known")
        return self

    def amounts(self) -> dict[str, Amount]:
        """Give the amounts that are expected, by what is counted."""
        return {name: wanted for name in AMOUNTS if (wanted := getattr(self, name)) is not None}


AMOUNTS: Final = tuple(
    name for name in Expectation.model_fields if name not in ("workload", "namespace", "node")
)
"""What is counted of workloads."""


class ScenarioFile(Strict):
    """A whole scenario."""

    preset: Annotated[str, AfterValidator(_preset)] | None = None
    nodes: Nodes | None = None
    clock: Speed = None
    seed: int = 1
    lasts: Annotated[Duration, Field(gt=0, le=604_800)] = Field(alias="for")
    every: Annotated[Duration, Field(ge=1)] = 30.0
    """How often it is told what became of the pods."""
    services: ServiceMap = Field(default_factory=dict)
    steps: list[Step]
    expect: list[Expectation] = Field(default_factory=list)

    @field_validator("nodes")
    @classmethod
    def _from_one_place(cls, nodes: Nodes | None, info: ValidationInfo) -> Nodes | None:
        if nodes is not None and info.data.get("preset") is not None:
            raise ValueError("preset and nodes exclude each other")
        return nodes

    def machines(self) -> NodesFile:
        """Give the nodes."""
        if self.nodes is None:
            return PRESETS[self.preset or "autokh"]
        return NodesFile(nodes=self.nodes)
