"""Look into an sdist and a wheel: they must hold all that belongs to them, and nothing that was built or tried here.

    python tests/packages/contents.py FOLDER

Run by ``make dist``; prints what is missing or too much, and ends with 1 where there is any.
"""

from __future__ import annotations

import subprocess
import sys
import tarfile
import zipfile
from collections.abc import Iterable
from pathlib import Path, PurePosixPath

ROOT = Path(__file__).parents[2]
# Of the repository alone: what runs on a forge, and what says what git leaves out.
NOT_IN_SDIST = (".github/", ".ci/", ".git")
FROM_THE_BUILD = {"PKG-INFO"}


def tracked() -> set[str]:
    """The files of the repository, new ones included."""
    command = ["git", "ls-files", "--cached", "--others", "--exclude-standard", "--deduplicate"]
    listed = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout.splitlines()
    return {name for name in listed if (ROOT / name).is_file()}


def of_sdist(archive: Path) -> list[str]:
    """What is wrong with an sdist."""
    with tarfile.open(archive) as tar:
        held = {PurePosixPath(*PurePosixPath(name).parts[1:]).as_posix() for name in tar.getnames()}
    wanted = {name for name in tracked() if not name.startswith(NOT_IN_SDIST)}
    return _differences(archive, wanted | FROM_THE_BUILD, held - {".gitignore", ".clang-format", "."})


def of_wheel(archive: Path) -> list[str]:
    """What is wrong with a wheel."""
    with zipfile.ZipFile(archive) as wheel:
        held = {name for name in wheel.namelist() if not name.endswith("/")}
    core = {name for name in held if PurePosixPath(name).match("baytree/_core.*") and name != "baytree/_core.pyi"}
    about = {name for name in held if ".dist-info/" in name}
    wrong = [] if len(core) == 1 else [f"{archive.name}: one extension is wanted, not {sorted(core)}"]
    if not any(name.endswith("/licenses/LICENSE") for name in about):
        wrong.append(f"{archive.name}: there is no LICENSE")
    wanted = {name.removeprefix("src/") for name in tracked() if name.startswith("src/baytree/")}
    return wrong + _differences(archive, wanted | {"baytree/_core.pyi"}, held - core - about)


def _differences(archive: Path, wanted: Iterable[str], held: Iterable[str]) -> list[str]:
    wanted, held = set(wanted), set(held)
    missing = [f"{archive.name}: {name} is missing" for name in sorted(wanted - held) if not name.startswith(".")]
    return missing + [f"{archive.name}: {name} does not belong there" for name in sorted(held - wanted)]


def main(folder: str) -> int:
    sdists, wheels = sorted(Path(folder).glob("*.tar.gz")), sorted(Path(folder).glob("*.whl"))
    wrong = [line for archive in sdists for line in of_sdist(archive)]
    wrong += [line for archive in wheels for line in of_wheel(archive)]
    if not (sdists and wheels):
        wrong.append(f"{folder}: an sdist and a wheel are wanted")
    for archive in (*sdists, *wheels):
        print(f"{archive.name}: {archive.stat().st_size / 1e6:.1f} MB")
    print(*wrong, sep="\n", end="\n" if wrong else "")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
