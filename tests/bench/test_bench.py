"""The benchmark measures what it says. No test here knows how fast anything is."""

import base64
import json
import math
import os

import pytest

from . import flask_yardstick
from .agree import cpus_of
from .compare import AIMS, aimed, comparisons
from .connection import answer_end, render
from .cores import cpu_seconds, process_tree
from .jobs import Job, Result
from .measure import Figures
from .plan import Plan
from .report import columns, data, text
from .reviews import EXPECTED_CPU, SIZES, base_review, bodies, padded_review
from .stats import paired_ratio, percentile

ROUNDS = 3


@pytest.mark.parametrize("size", SIZES.values(), ids=SIZES)
def test_reviews_have_the_size_they_are_called_by(size: int) -> None:
    assert {len(body) for _, body in bodies(size, variants=3)} == {size}


def test_bodies_differ_in_uid_name_and_volume() -> None:
    made = [json.loads(body)["request"] for _, body in bodies(6_000, variants=20)]

    assert len({request["uid"] for request in made}) == 20
    assert len({request["object"]["metadata"]["generateName"] for request in made}) == 20
    assert len({request["object"]["spec"]["volumes"][0]["name"] for request in made}) == 20


def test_padding_is_many_small_parts_and_leaves_resources_alone() -> None:
    pod = padded_review(200_000)["request"]["object"]

    assert cpus_of(pod) == cpus_of(base_review()["request"]["object"])
    assert len(pod["spec"]["volumes"]) > 50
    assert len(pod["metadata"]["annotations"]) > 50
    assert max(len(value) for value in pod["metadata"]["annotations"].values()) < 500


def test_a_review_smaller_than_the_recorded_one_is_refused() -> None:
    with pytest.raises(ValueError, match="a review of 1000 bytes: the recorded one has"):
        padded_review(1_000)


def test_the_flask_yardstick_does_the_job() -> None:
    [(uid, body)] = bodies(4_700, variants=1)
    client = flask_yardstick.app.test_client()

    answer = client.post("/mutate", data=body, content_type="application/json").get_json()
    patch = json.loads(base64.b64decode(answer["response"]["patch"]))

    assert answer["response"]["uid"] == uid
    assert [op["value"] for op in patch[:6:2]] == list(EXPECTED_CPU.values())
    assert len(patch) == 8


@pytest.mark.parametrize(
    ("values", "share", "want"),
    [
        ([3.0, 1.0, 2.0], 0.5, 2.0),
        ([float(n) for n in range(1, 101)], 0.99, 99.0),
        ([7.0], 0.99, 7.0),
    ],
)
def test_percentiles(values: list[float], share: float, want: float) -> None:
    assert percentile(values, share) == want


def test_ratios_are_paired_by_round_and_show_their_spread() -> None:
    ratio = paired_ratio([1.0, 4.0, 3.0], [2.0, 2.0, 3.0])  # of the medians it would be 1.5

    assert (ratio.median, ratio.low, ratio.high) == (1.0, 0.5, 2.0)


def test_a_round_without_a_figure_is_left_out() -> None:
    assert paired_ratio([math.nan, 2.0], [1.0, 1.0]).low == 2.0
    assert math.isnan(paired_ratio([], []).median)


@pytest.mark.parametrize(
    ("answer", "want"),
    [
        (b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", 40),
        (b"HTTP/1.1 200 OK\r\ncontent-length: 3\r\n\r\nok", -1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n0\r\n\r\n", 59),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n2\r\nok\r\n", -1),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 52),
        (b"HTTP/1.1 200", -1),
    ],
)
def test_the_end_of_an_answer_is_found(answer: bytes, want: int) -> None:
    assert answer_end(answer) == want


def test_an_answer_of_unknown_length_is_refused() -> None:
    with pytest.raises(ValueError, match="without length"):
        answer_end(b"HTTP/1.1 200 OK\r\n\r\n")


def test_requests_say_how_long_they_are() -> None:
    assert b"\r\nContent-Length: 4\r\n" in render("uid", b"body").data


def test_processor_time_is_counted() -> None:
    before = cpu_seconds([os.getpid()])
    while cpu_seconds([os.getpid()]) == before:
        sum(range(10_000))

    assert os.getpid() in process_tree(os.getppid())
    assert cpu_seconds([2**22 + 1]) == 0  # no such process


def test_a_job_survives_its_way_to_the_load_process() -> None:
    job = Job(shape="open", port=1, pids=[2], certificate="c", size=3, rate=4)

    assert Job(**json.loads(job.line())) == job


def _figures(cpu: dict[str, float]) -> Figures:
    """Return figures in which each server takes `cpu` seconds per admission at every point."""
    return {
        (point, name): [Result(100, 1.0, 100 * each, 0.001, 0.002)] * ROUNDS
        for point in Plan(rounds=ROUNDS).points()
        for name, each in cpu.items()
        if point.concerns(name)
    }


@pytest.mark.parametrize(("cpu", "met"), [(39e-6, 3), (50e-6, 2), (90e-6, 1), (101e-6, 0)], ids=str)
def test_the_aims_are_told_from_the_ratios_to_go(cpu: float, met: int) -> None:
    figures = _figures({"evencore": cpu, "go": 100e-6, "flask": 500e-6})

    told = text({"cores": "2 cores"}, figures)
    assert all(aim.words in told for aim in AIMS)
    assert told.count("NOT met") == 3 - met
    aims = json.loads(json.dumps(data({}, figures)))["aims"]
    assert [aim["met"] for aim in aims] == [cpu < 100e-6, cpu < 60e-6, cpu < 40e-6, True, True]


def test_without_the_subject_the_yardsticks_are_compared() -> None:
    figures = _figures({"go": 100e-6, "flask": 500e-6})

    assert {(found.of, found.to) for found in comparisons(figures)} == {("flask", "go")}
    assert aimed(figures) == []
    assert "not measured in this run" in text({}, figures)


def test_columns_are_aligned() -> None:
    assert columns(["a", "word"], [["10", "x"]], left={"word"}) == " a  word\n10  x"
