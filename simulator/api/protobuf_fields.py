"""Field numbers of the objects that kubectl sends as protobuf.

Facts from generated.proto of k8s.io/api and apimachinery. Per message, number → name and type:
`s` text, `b` truth, `i` number, `o` number or text, `m` map of texts, `d` map of bytes, `q` map
of quantities, `-` not read (status and timestamps, which a client does not set; what nobody here
asks for), else another message; `*` many of them; `?` a value that means something even when it is
zero.
"""

from __future__ import annotations

from typing import Final

_TABLE: Final = """
ObjectMeta: 1 name s, 2 generateName s, 3 namespace s, 4 selfLink s, 5 uid s, 6 resourceVersion s,
  7 generation i, 8 creationTimestamp -, 11 labels m, 12 annotations m, 13 ownerReferences
  OwnerReference*, 14 finalizers s*
OwnerReference: 1 kind s, 3 name s, 4 uid s, 5 apiVersion s, 6 controller b, 7 blockOwnerDeletion
  b
Namespace: 1 metadata ObjectMeta, 2 spec -, 3 status -
ConfigMap: 1 metadata ObjectMeta, 2 data m, 3 binaryData d, 4 immutable b
Secret: 1 metadata ObjectMeta, 2 data d, 3 type s, 4 stringData m, 5 immutable b
ServiceAccount: 1 metadata ObjectMeta, 2 secrets ObjectReference*, 3 imagePullSecrets Named*, 4
  automountServiceAccountToken b?
ObjectReference: 1 kind s, 2 namespace s, 3 name s, 4 uid s, 5 apiVersion s, 6 resourceVersion s,
  7 fieldPath s
Named: 1 name s
ResourceQuota: 1 metadata ObjectMeta, 2 spec QuotaSpec, 3 status -
QuotaSpec: 1 hard q, 2 scopes s*
Binding: 1 metadata ObjectMeta, 2 target ObjectReference
Eviction: 1 metadata ObjectMeta, 2 deleteOptions DeleteOptions
DeleteOptions: 1 gracePeriodSeconds i?, 2 preconditions Preconditions, 3 orphanDependents b?, 4
  propagationPolicy s, 5 dryRun s*
Preconditions: 1 uid s, 2 resourceVersion s
Deployment: 1 metadata ObjectMeta, 2 spec DeploymentSpec, 3 status -
DeploymentSpec: 1 replicas i?, 2 selector LabelSelector, 3 template PodTemplate, 4 strategy
  Strategy, 5 minReadySeconds i, 6 revisionHistoryLimit i?, 7 paused b, 9 progressDeadlineSeconds
  i?
Strategy: 1 type s
LabelSelector: 1 matchLabels m, 2 matchExpressions Expression*
Expression: 1 key s, 2 operator s, 3 values s*
PodTemplate: 1 metadata ObjectMeta, 2 spec PodSpec
PodSpec: 2 containers Container*, 3 restartPolicy s, 4 terminationGracePeriodSeconds i?, 5
  activeDeadlineSeconds i?, 6 dnsPolicy s, 7 nodeSelector m, 8 serviceAccountName s, 9
  serviceAccount s, 10 nodeName s, 11 hostNetwork b, 12 hostPID b, 13 hostIPC b, 15
  imagePullSecrets Named*, 16 hostname s, 17 subdomain s, 19 schedulerName s, 20 initContainers
  Container*, 24 priorityClassName s
Container: 1 name s, 2 image s, 3 command s*, 4 args s*, 5 workingDir s, 6 ports Port*, 7 env
  Env*, 8 resources Resources, 13 terminationMessagePath s, 14 imagePullPolicy s, 16 stdin b, 17
  stdinOnce b, 18 tty b, 20 terminationMessagePolicy s
Port: 1 name s, 2 hostPort i, 3 containerPort i, 4 protocol s, 5 hostIP s
Env: 1 name s, 2 value s
Resources: 1 limits q, 2 requests q
Job: 1 metadata ObjectMeta, 2 spec JobSpec, 3 status -
JobSpec: 1 parallelism i?, 2 completions i?, 3 activeDeadlineSeconds i?, 4 selector LabelSelector,
  5 manualSelector b, 6 template PodTemplate, 7 backoffLimit i?, 8 ttlSecondsAfterFinished i?, 9
  completionMode s, 10 suspend b?
PriorityClass: 1 metadata ObjectMeta, 2 value i, 3 globalDefault b, 4 description s, 5
  preemptionPolicy s
Service: 1 metadata ObjectMeta, 2 spec ServiceSpec, 3 status -
ServiceSpec: 1 ports ServicePort*, 2 selector m, 3 clusterIP s, 4 type s, 5 externalIPs s*, 7
  sessionAffinity s, 8 loadBalancerIP s, 9 loadBalancerSourceRanges s*, 10 externalName s, 11
  externalTrafficPolicy s, 12 healthCheckNodePort i, 13 publishNotReadyAddresses b, 18 clusterIPs
  s*
ServicePort: 1 name s, 2 protocol s, 3 port i, 4 targetPort o, 5 nodePort i, 6 appProtocol s
Role: 1 metadata ObjectMeta, 2 rules Rule*
ClusterRole: 1 metadata ObjectMeta, 2 rules Rule*
Rule: 1 verbs s*, 2 apiGroups s*, 3 resources s*, 4 resourceNames s*, 5 nonResourceURLs s*
RoleBinding: 1 metadata ObjectMeta, 2 subjects Subject*, 3 roleRef RoleRef
ClusterRoleBinding: 1 metadata ObjectMeta, 2 subjects Subject*, 3 roleRef RoleRef
Subject: 1 kind s, 2 apiGroup s, 3 name s, 4 namespace s
RoleRef: 1 apiGroup s, 2 kind s, 3 name s
SelfSubjectAccessReview: 1 metadata ObjectMeta, 2 spec AccessSpec, 3 status -
AccessSpec: 1 resourceAttributes Attributes, 2 nonResourceAttributes PathAttributes
Attributes: 1 namespace s, 2 verb s, 3 group s, 4 version s, 5 resource s, 6 subresource s, 7 name
  s
PathAttributes: 1 path s, 2 verb s
SubjectAccessReview: 1 metadata ObjectMeta, 2 spec TheirSpec, 3 status -
LocalSubjectAccessReview: 1 metadata ObjectMeta, 2 spec TheirSpec, 3 status -
TheirSpec: 1 resourceAttributes Attributes, 2 nonResourceAttributes PathAttributes, 3 user s, 4
  groups s*, 5 extra -, 6 uid s
SelfSubjectRulesReview: 1 metadata ObjectMeta, 2 spec RulesSpec, 3 status -
RulesSpec: 1 namespace s
SelfSubjectReview: 1 metadata ObjectMeta, 2 status -
"""

Field = tuple[str, str]
"""Name and type, as in the table."""


def _read() -> dict[str, dict[int, Field]]:
    messages: dict[str, dict[int, Field]] = {}
    for line in _TABLE.replace("\n  ", " ").strip().splitlines():
        name, _, listed = line.partition(":")
        fields = messages[name] = {}
        for part in listed.split(","):
            number, field, type_ = part.split()
            fields[int(number)] = (field, type_)
    return messages


MESSAGES: Final = _read()
"""Message → field number → field. The kinds among them are what can be sent."""
