"""`evencore rejections`: who loops, what was done, what comes next; in tables and for machines."""

from __future__ import annotations

import json
from datetime import timedelta

import pytest
from builders import Pod, container, namespace, pod
from cli.rejecting import Event, Fake, held, nodes, refused, takes_part

TWO = nodes("n1", "n2")


def test_nothing_to_tell() -> None:
    result = Fake(*TWO, takes_part()).run()
    assert (result.exit_code, result.stdout) == (0, "No rejected pods: nothing to do\n")


def test_one_rejection_excludes_its_node_and_the_next_pod_goes_elsewhere() -> None:
    one = Fake(*TWO, takes_part(), refused("n1")).only()
    assert (one["kind"], one["name"], one["namespace"]) == ("ReplicaSet", "app", "apps")
    assert (one["rejections"], one["nodes"], one["state"]) == (1, {"n1": 1}, "excluded")
    assert [(e["node"], e["until"]) for e in one["excluded"]] == [("n1", "2026-03-01T10:41:50Z")]
    assert one["next"] == "its next pod: not on n1 until 10:41Z: TopologyAffinityError, 1 rejection"
    assert one["nextAt"] == "2026-03-01T10:41:50Z"


def test_after_three_rejections_the_next_pod_will_be_held() -> None:
    fake = Fake(*TWO, takes_part(), *(refused("n1", number) for number in range(3)))
    assert fake.only()["next"].startswith(
        "its next pod: held, until 10:55Z at most: 3 rejections within 10m"
    )


def test_what_holds_is_told_as_the_controller_will_let_it_go() -> None:
    waiting = [held(1, timedelta(seconds=5)), held(2, timedelta(seconds=3))]
    one = Fake(*TWO, takes_part(), refused("n1").rejected("n1", ago=timedelta(0)), *waiting).only()
    assert (one["state"], one["held"]) == ("held", 2)
    assert one["next"] == "held until 10:40Z: 10s after the last rejection"
    assert one["nextAt"] == "2026-03-01T10:40:10Z"


def test_when_its_time_has_come_it_says_so() -> None:
    long_ago = refused("n1").rejected("n1", ago=timedelta(minutes=1))
    one = Fake(*TWO, takes_part(), long_ago, held(1), held(2)).only()
    assert one["next"] == "1 held pod to be let go now: 10s after the last rejection"


def test_a_pod_let_go_is_in_flight_until_its_kubelet_has_answered() -> None:
    flying = held().label("evencore.io/steering", "released").spec(schedulingGates=None)
    running = held(2).label("evencore.io/steering", "released").spec(schedulingGates=None)
    running.obj["status"] = {"phase": "Running", "startTime": "2026-03-01T10:40:00Z"}
    one = Fake(*TWO, takes_part(), flying, running, held(3)).only()
    assert (one["letGo"], one["running"], one["held"]) == (1, 1, 1)
    assert one["next"] == "1 pod let go before must start first"


def test_old_exclusions_on_a_rejected_pod_do_not_count_for_the_next() -> None:
    """Else a pod that was kept off n2 an hour ago would seem to have nowhere to go."""
    kept_off = {"key": "evencore.io/node", "operator": "NotIn", "values": ["n2"]}
    old = refused("n1").required({"matchExpressions": [kept_off]})
    one = Fake(*TWO, takes_part(), old).only()
    assert one["next"].startswith("its next pod: not on n1")
    assert "n2" not in one["next"]


def test_a_pod_too_large_for_every_node_is_stuck() -> None:
    one = Fake(*TWO, takes_part(), refused("n1").cpu("24")).only()
    assert one["state"] == "stuck"
    assert one["next"].startswith("no known node can ever admit this pod: 24 CPUs")


def test_a_namespace_that_takes_no_part_goes_on_and_how_to_change_that() -> None:
    assert Fake(*TWO, refused("n1")).only()["takesPart"] is None
    one = Fake(*TWO, namespace("apps"), refused("n1")).only()
    assert (one["takesPart"], one["state"], one["excluded"]) == (False, "stuck", [])
    assert one["next"] == (
        "it goes on: namespace apps takes no part: "
        "kubectl label namespace apps evencore.io/admission=enabled"
    )


def test_odd_requests_count_as_rejected_though_no_verdict_needs_them() -> None:
    text = "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2"
    odd = refused("n1").cpu("3").rejected("n1", "SMTAlignmentError", text)
    one = Fake(*TWO, takes_part(), odd).only()
    assert (one["rejections"], one["excluded"]) == (1, [])
    assert one["next"] == "its next pod: container app: cpu 3 → 4, whole cores of 2 threads"


def test_whoever_wants_a_warning_only_loops_on_and_hears_what_would_fit() -> None:
    text = "SMT Alignment Error: requested 3 cpus not multiple cpus per core = 2"
    odd = refused("n1").cpu("3").rejected("n1", "SMTAlignmentError", text)
    one = Fake(*TWO, takes_part(), odd.annotate("evencore.io/cpu", "warn")).only()
    assert (one["state"], one["next"]) == (
        "stuck",
        (
            "its next pod stays as it is; container app: cpu 3 → 2 or 4: kubelets with "
            "full-pcpus-only refuse it (2 threads per core)"
        ),
    )


def test_a_stateful_set_is_known_from_events_alone() -> None:
    event = Event("TopologyAffinityError", kind="Pod", name="db-0", uid="u1").by("kubelet", "n1")
    one = Fake(*TWO, takes_part(), event).only()
    assert (one["kind"], one["name"], one["fromEvents"]) == ("StatefulSet", "db", 1)
    assert one["next"].startswith("its next pod: not on n1 until")


def test_the_event_of_a_bare_pod_makes_no_stateful_set() -> None:
    event = Event("TopologyAffinityError", kind="Pod", name="db-0", uid="u1").by("kubelet", "n1")
    bare = pod("db-0").rejected("n1").metadata(uid="u1", namespace="apps")
    found = Fake(*TWO, takes_part(), event, bare).report()
    assert found["owners"] == []
    assert [one["name"] for one in found["manual"]] == ["db-0"]


def test_the_last_clean_up_is_told() -> None:
    told = Event("RejectedPodsDeleted", "7 rejected pods deleted, 3 left", kind="ReplicaSet")
    told.obj["involvedObject"]["name"] = "app"
    fake = Fake(*TWO, takes_part(), refused("n1"), told)
    assert fake.only()["cleaned"] == "7 rejected pods deleted, 3 left"
    assert "cleaned up" in fake.run().stdout


def solo(name: str, **metadata: object) -> Pod:
    return pod(name).rejected("n1").metadata(namespace="apps", uid=name, **metadata)


def test_case_38_who_needs_a_person() -> None:
    other = {"kind": "ConfigMap", "name": "c", "uid": "c1", "controller": False}
    custom = {
        "apiVersion": "example.io/v1",
        "kind": "Cluster",
        "name": "k",
        "uid": "k1",
        "controller": True,
    }
    static = {"kind": "Node", "name": "n1", "uid": "nn", "controller": True}
    mirror = {"kubernetes.io/config.mirror": "x"}
    fake = Fake(
        *TWO,
        takes_part(),
        solo("solo"),
        solo("owned-not-controller", ownerReferences=[other]),
        solo("custom", ownerReferences=[custom]),
        solo("static-like", ownerReferences=[static], annotations=mirror),
    )
    found = fake.report()
    assert {one["name"] for one in found["manual"]} == {"solo", "owned-not-controller", "custom"}
    (owner,) = found["owners"]
    assert (owner["kind"], owner["state"]) == ("Cluster", "excluded")
    assert "Needs manual action:" in fake.run().stdout
    assert "kubectl delete pod -n apps solo" in fake.run().stdout
    fake.run("--delete-rejected", "--yes")
    assert fake.deleted == []


def crowd() -> Fake:
    long = "n" * 40
    rejected = [refused(f"{long}-{number}", number, namespace="ns" * 10) for number in range(5)]
    return Fake(*rejected, solo("solo" * 8), takes_part("ns" * 10))


def test_tables_for_people_fit_120_columns() -> None:
    lines = crowd().run().stdout.splitlines()
    assert max(map(len, lines)) <= 120
    assert any("more" in line for line in lines)
    wide = crowd().run("-o", "wide").stdout
    assert max(map(len, wide.splitlines())) <= 120
    told = " ".join(wide.split())
    assert all(f"-{number} (1)" in told for number in range(5))
    assert "rejected: TopologyAffinityError (5)" in told
    assert told.count("TopologyAffinityError, 1 rejection each") == 1


def test_colour_is_for_terminals_and_names_cannot_steer_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake = Fake(*TWO, takes_part("\x1b[2J"), refused("n1", namespace="\x1b[2J"))
    assert "\x1b" not in fake.run(colour=True).stdout
    monkeypatch.setattr("evencore.rejections_command.colour_wanted", lambda: True)
    shown = fake.run(colour=True).stdout
    assert "\x1b[33mexcluded\x1b[0m" in shown
    assert "\x1b[2J" not in shown


def test_one_namespace_of_many() -> None:
    other = solo("elsewhere").metadata(namespace="other")
    fake = Fake(*TWO, takes_part(), refused("n1"), other)
    assert fake.report("-n", "apps")["manual"] == []
    assert fake.report("-n", "other")["owners"] == []


def test_what_could_not_be_read_is_noted() -> None:
    fake = Fake(*TWO, takes_part())
    fake.notes = ("which of them take part is not known: forbidden",)
    assert fake.report()["notes"] == list(fake.notes)
    assert "not known: forbidden" in fake.run().stdout


def test_pods_of_the_scheduler_are_only_counted() -> None:
    fake = Fake(*TWO, takes_part(), refused("n1").rejected("n1", "OutOfcpu", "cpu"))
    assert fake.report()["notes"] == ["1 failed pod of reason OutOf…: counted only"]


def test_a_dump_stands_still() -> None:
    objects = [*TWO, takes_part(), refused("n1")]
    with open("dump.json", "w") as file:  # noqa: PTH123  shorter
        json.dump({"kind": "List", "items": [o.obj for o in objects]}, file)
    found = Fake().report("-f", "dump.json")
    assert found["asOf"] == "2026-03-01T10:39:50Z"
    assert found["owners"][0]["rejections"] == 1


def test_the_policy_file_counts() -> None:
    with open("policy.yaml", "w") as file:  # noqa: PTH123  shorter
        file.write("exclusions: {initial: 5m}")
    one = Fake(*TWO, takes_part(), refused("n1")).only("--policy", "policy.yaml")
    assert one["excluded"][0]["until"] == "2026-03-01T10:44:50Z"


def test_watching_prints_what_is_new_until_ctrl_c() -> None:
    first = [*TWO, takes_part(), refused("n1"), solo("solo")]
    fake = Fake(pictures=[first, first, [*first, refused("n2", 2)]])
    result = fake.run("--watch")
    assert result.exit_code == 0
    lines = result.stdout.splitlines()
    assert [line.partition(";")[0] for line in lines] == [
        "apps ReplicaSet/app excluded: 1 rejected, 1 excluded to 10:41Z",
        (
            "apps Pod/solo rejected by n1: no controller makes another one: "
            "kubectl delete pod -n apps solo, and create it again"
        ),
        "apps ReplicaSet/app excluded: 2 rejected, 2 excluded to 10:41Z",
    ]


def test_watching_redraws_a_terminal_only_when_something_changed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("evencore.rejections_command.is_terminal", lambda: True)
    first = [*TWO, takes_part(), refused("n1")]
    fake = Fake(pictures=[first, first, [*first, refused("n2", 2)]])
    assert fake.run("--watch", colour=True).stdout.count("\x1b[2J") == 2


MISTAKES = [
    (("-f", "x", "--watch"), "-f excludes"),
    (("-f", "x", "--delete-rejected", "--yes"), "a dump has nothing to delete"),
    (("--watch", "-o", "json"), "--watch shows tables"),
    (("--node", "n1"), "add --pods or --delete-rejected"),
    (("--yes",), "--yes goes with --delete-rejected"),
    (("--pods", "--older-than", "soon"), "'soon' is no age"),
    (("-f", "nowhere.json"), "there is no such file"),
    (("--policy", "nowhere.yaml"), "there is no such file"),
]


@pytest.mark.parametrize(("args", "words"), MISTAKES)
def test_a_mistake_ends_it_with_2_and_a_sentence(args: tuple[str, ...], words: str) -> None:
    result = Fake().run(*args)
    assert (result.exit_code, words in result.output) == (2, True), result.output


def test_a_pod_of_several_containers_is_told_whole() -> None:
    two = refused("n1").containers(container("a", "3"), container("b", "5"))
    one = Fake(*TWO, takes_part(), two).only()
    assert "container a: cpu 3 → 4" in one["next"]
    assert "container b: cpu 5 → 6" in one["next"]


def test_a_held_pod_whose_owner_is_gone_is_let_go_all_the_same() -> None:
    orphan = held().metadata(ownerReferences=None)
    one = Fake(*TWO, takes_part(), orphan).only()
    assert (one["kind"], one["name"], one["state"]) == ("Pod", "held-1", "held")
    assert one["next"] == "1 held pod to be let go now: no rejection is known any more"


def test_pods_that_are_held_in_a_namespace_that_left_are_let_go_too() -> None:
    one = Fake(*TWO, namespace("apps"), held()).only()
    assert (one["takesPart"], one["state"], one["held"]) == (False, "held", 1)


def test_pods_that_were_kept_off_nodes_long_ago_and_run_are_nobody_s_business() -> None:
    kept_off = pod("web").owner().label("evencore.io/steering", "excluded")
    kept_off.metadata(namespace="apps", uid="web")
    kept_off.obj["status"] = {"phase": "Pending"}
    assert Fake(*TWO, takes_part(), kept_off).only()["waiting"] == 1
    kept_off.spec(nodeName="n1")
    assert Fake(*TWO, takes_part(), kept_off).report()["owners"] == []
