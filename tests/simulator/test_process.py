"""`python -m simulator` as a process."""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import TYPE_CHECKING

import urllib3
import yaml

if TYPE_CHECKING:
    from pathlib import Path


def test_it_tells_where_it_is_writes_a_kubeconfig_and_ends_when_asked(tmp_path: Path) -> None:
    config = tmp_path / "config"
    command = [sys.executable, "-m", "simulator", "--plain", "--kubeconfig", str(config)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        url = process.stdout.readline().split()[0]
        assert yaml.safe_load(config.read_text())["clusters"][0]["cluster"]["server"] == url
        answer = urllib3.request("GET", f"{url}/version", retries=False)
        assert answer.json()["gitVersion"].startswith("v1.")
        process.send_signal(signal.SIGINT)
        assert process.wait(30) == 0
