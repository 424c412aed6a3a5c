"""Why a kubelet does not admit a pod, in its own words, and why it does not even start.

Kubernetes: cm/admission/errors.go, cm/cpumanager/policy_static.go: SMTAlignmentError,
cm/topologymanager/topology_manager.go. The messages are those of the Event; status.message has
"Pod was rejected: " before it. Words that end up there are the kubelet's, spelling included.
"""

from __future__ import annotations


class StartError(Exception):
    """The kubelet does not start. The text is what it says."""


class Refusal(Exception):  # noqa: N818  no error: a verdict on its way out
    """A pod is not admitted."""

    def __init__(self, reason: str, message: str) -> None:
        super().__init__(message)
        self.reason, self.message = reason, message


class AllocateFailed(Refusal):
    """A manager could not allocate what it had promised, or was never asked about."""

    def __init__(self, why: str) -> None:
        message = f"Allocate failed due to {why}, which is unexpected"
        super().__init__("UnexpectedAdmissionError", message)


class NotEnoughCPUs(AllocateFailed):
    """`requested`: what is still missing after the part inside the hint's NUMA nodes."""

    def __init__(self, requested: int, available: int) -> None:
        super().__init__(
            "not enough cpus available to satisfy request: "
            f"requested={requested}, available={available}"
        )


class SMTAlignment(Refusal):
    """full-pcpus-only is not kept."""

    def __init__(self, why: str) -> None:
        super().__init__("SMTAlignmentError", f"SMT Alignment Error: {why}")


class EmptyPodSharedPool(Refusal):
    """Nothing of a pod's own CPUs or memory is left for its containers that share them."""

    def __init__(self, message: str) -> None:
        super().__init__("EmptyPodSharedPoolError", message)


class TopologyAffinity(Refusal):
    """The topology policy takes none of the hints."""

    def __init__(
        self, message: str = "Resources cannot be allocated with Topology locality"
    ) -> None:
        super().__init__("TopologyAffinityError", message)
