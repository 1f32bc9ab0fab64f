"""A root file system of Debian's packages: what an image without Python starts from."""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

import pytest

from tests.e2e.broker_process import ROOT

SUITE = "trixie"
#: Of all checkouts on this machine; delete it for newer packages.
CACHED = ROOT / f".cache/debian/{SUITE}.tar"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


def unpack(root: Path) -> Path:
    """Skips the test where it cannot be had."""
    if os.getuid() != 0 or shutil.which("mmdebstrap") is None:
        pytest.skip("needs root and mmdebstrap")
    if subprocess.call(["unshare", "--mount", "--net", "true"], stderr=subprocess.DEVNULL):
        pytest.skip("needs namespaces, which this container forbids")
    CACHED.parent.mkdir(parents=True, exist_ok=True)
    with CACHED.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not CACHED.exists():
            made = CACHED.with_suffix(".new.tar")
            subprocess.check_call(
                ["mmdebstrap", "--quiet", "--variant=minbase", SUITE, str(made)],
                stderr=subprocess.DEVNULL,
            )
            made.rename(CACHED)
    root.mkdir(parents=True)
    subprocess.check_call(["tar", "-C", str(root), "-xf", str(CACHED)])
    return root


def inside(
    root: Path, folder: Path | None = None, user: str = "root", own_network: bool = False
) -> list[str]:
    """The start of a command that runs in `root`; `folder` is there as it is here."""
    steps = [f"mount --make-rprivate / && mount -t proc proc {root}/proc"]
    if own_network:
        steps.append(f"{shutil.which('ip')} link set lo up")
    if folder is not None:
        there = f"{root}{folder}"
        steps.append(f"mkdir -p {there} && mount --bind {folder} {there}")
    change = f'exec {shutil.which("chroot")} --userspec={user}:{user} {root} "$@"'
    namespaces = ["--mount", *(["--net"] if own_network else [])]
    return ["unshare", *namespaces, "sh", "-c", " && ".join([*steps, change]), "sh"]


def run(root: Path, command: str, variables: Mapping[str, str], user: str = "root") -> None:
    """A step that may use the network, as apt-get and pip of this machine do."""
    shutil.copy("/etc/resolv.conf", root / "etc/resolv.conf")
    more = {"DEBIAN_FRONTEND": "noninteractive"}
    if CERTIFICATES.exists():
        shutil.copy(CERTIFICATES, root / "tmp")
        more["PIP_CERT"] = f"/tmp/{CERTIFICATES.name}"
    done = subprocess.run(
        [*inside(root, user=user), "sh", "-c", command],
        env={"PATH": "/usr/sbin:/usr/bin:/sbin:/bin", **more, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    assert done.returncode == 0, f"{command}\n{done.stdout[-3000:]}"
