# SPDX-FileCopyrightText: 2026 The maixmem authors
# SPDX-License-Identifier: MIT
"""maixmem build, the table of modules, and the lists that are made from it."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import maixmem
import maixmem_report
import paths
import pytest
from commands import invoke
from maixmem_cli.library import bytecode, modules, packages, places, stub

LIBRARY = {p.stem for p in paths.LIB.glob("*.py")}
PACKAGES = {p.parent.name for p in paths.LIB.glob("*/__init__.py")}  # for Linux boards


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> tuple[Path, dict]:
    out = tmp_path_factory.mktemp("dist")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(places, "checkout", lambda: None)  # it would make what is stale anew
        done = invoke("build", "--out", str(out), "--index", "--json")
    assert done.exit_code == 0, done.stdout + done.stderr
    return out, json.loads(done.stdout)


def test_every_module_belongs_to_a_platform() -> None:
    assert set(modules.every()) == LIBRARY | PACKAGES, (
        "add the module to a row of tools/maixmem_cli/library/modules.py"
    )


def test_every_module_is_in_a_package_that_can_be_installed() -> None:
    """mip left five out, so every error was unknown on a MicroPython board."""
    linux = {"maixmem_known_linux"}  # pip's
    assert set(packages.every()) == LIBRARY - linux


@pytest.mark.parametrize("name", packages.PACKAGES)
def test_a_package_has_what_its_modules_import(name: str) -> None:
    found = set(packages.of_package(name))
    for module in found:
        assert modules.imports(module) - PACKAGES <= found, module


def test_a_board_gets_what_it_can_use(built) -> None:
    """A MicroPython board was given 234 KB of the K210's sources."""
    rows = built[1]["modules"]
    for name in set(packages.PLATFORMS) - {"k210", "canmv"}:
        chosen = packages.of_package(name)
        assert all(sum(rows[m][f"mpy{v}"] for m in chosen) <= 40 << 10 for v in (5, 6)), name
        assert not [m for m in chosen if "k210" in m or "kpu" in m]
        errors = {f"maixmem_known_{packages.PACKAGES[name]}", "maixmem_known_mpy"} & set(chosen)
        assert len(errors) == 1, "advise() has one table of errors: the port's own, or all boards'"
    assert sum(rows[m]["py"] for m in packages.of_package("micropython")) <= 100 << 10


def test_the_platforms_are_the_ports_of_the_device_s_table() -> None:
    ports = {row.split(":")[2] for row in maixmem_report.PORTS.split()}
    assert set(modules.PLATFORMS) == ports - {"k210_old"}
    assert modules.platform_of("k210_old") == "k210"
    on_linux = {f"maixmem_{p}" for p in modules.PLATFORMS if modules.on_linux(p)}
    assert on_linux == PACKAGES - {"maixmem_linux"}  # which is no port: all three have it


def _listed(key: str) -> set[str]:
    """The strings of a list in pyproject.toml (tomllib came with Python 3.11)."""
    found = re.search(
        rf"^{key} = \[(.*?)\]",
        (paths.ROOT / "pyproject.toml").read_text(),
        re.DOTALL | re.MULTILINE,
    )
    assert found
    return set(re.findall(r'"([\w.]+)"', found[1]))


def test_pyproject_installs_every_package() -> None:
    def packages(name: str, folder: Path) -> set[str]:
        parts = {p.parent.relative_to(folder).parts for p in folder.rglob("*.py")}
        return {".".join((name, *below)) for below in parts}

    assert _listed("packages") == {
        *packages("maixmem_cli", paths.TOOLS / "maixmem_cli"),
        *packages("maixmem_shims", paths.SHIMS),
        "maixmem_cli.device_tests",
        "maixmem_cli.k210board",
    }


def test_generated_files_are_up_to_date() -> None:
    done = invoke("build", "--check")
    assert done.exit_code == 0, done.stdout + done.stderr


def test_a_module_stands_on_what_is_selected_with_it() -> None:
    for platform in modules.PLATFORMS:
        for module in modules.modules(platform):
            chosen = modules.select(platform, (module,))
            assert module in chosen
            assert modules.closure(set(chosen)) == set(chosen)


@pytest.mark.parametrize("version", list(bytecode.VERSIONS))
def test_bytecode(built, version: int) -> None:
    folder = built[0] / f"mpy{version}"
    files = {p.stem: p.read_bytes() for p in folder.glob("*.mpy")}
    assert set(files) == set(packages.every())
    assert all(data.startswith(bytecode.MAGIC[version]) for data in files.values())
    assert all(len(files[m]) == built[1]["modules"][m][f"mpy{version}"] for m in files)
    assert bytecode.probe(version).startswith(bytecode.MAGIC[version])


def test_maixpy_bytecode_has_the_flags_that_it_wants(built) -> None:
    for file in (built[0] / "mpy4").glob("*.mpy"):
        assert file.read_bytes()[:4] == b"M\x04\x02\x1f"  # measured on the firmware (v0.6.2_84)


_PLACES = {
    "package.json": "k210",
    **{f"lib/{n}.json": n for n in packages.PACKAGES if n != "k210"},
    **{f"mpy{v}/{n}.json": n for v in bytecode.VERSIONS for n in packages.PACKAGES},
    **{f"mpy{v}/package.json": n for v, n in packages.USUAL.items()},
}


@pytest.mark.parametrize("place", _PLACES)
def test_a_package_is_flat_relative_and_whole(built, place: str) -> None:
    path = (built[0] if place.startswith("mpy") else paths.ROOT) / place
    package = json.loads(path.read_text())
    assert package["version"] == maixmem.__version__
    wanted = set(packages.of_package(_PLACES[place]))
    assert {Path(name).stem for name, _ in package["urls"]} == wanted
    for name, url in package["urls"]:
        assert "/" not in name  # /flash has no folders
        assert (path.parent / url).is_file()


@pytest.mark.parametrize("kind", ["py", "4", "5", "6"])
def test_index_holds_what_it_promises(built, kind: str) -> None:
    index = built[0] / "index"
    usual = packages.USUAL.get(int(kind), "") if kind.isdigit() else "k210"
    for name in ("", *packages.PACKAGES):
        folder = index / "package" / kind / f"maixmem-{name}".rstrip("-")
        package = json.loads((folder / "latest.json").read_text())
        wanted = set(packages.of_package(name or usual))
        assert {Path(file).stem for file, _ in package["hashes"]} == wanted
        assert all(
            (index / "file" / digest[:2] / digest).is_file() for _, digest in package["hashes"]
        )


def test_manifest_freezes_files_that_are_there() -> None:
    said = {}
    frozen = []
    names = {
        "metadata": lambda **kw: said.update(kw),
        "module": lambda name, base_path, opt: frozen.append((base_path, name)),
    }
    exec((paths.ROOT / "manifest.py").read_text(), names)
    assert said["version"] == maixmem.__version__
    assert all((paths.ROOT / base / name).is_file() for base, name in frozen)
    assert {Path(name).stem for _, name in frozen} == set(packages.of_package("micropython"))


def test_a_module_that_does_not_compile_is_named(tmp_path: Path) -> None:
    source = tmp_path / "bad.py"
    source.write_text("x = f'{1}'\n")
    with pytest.raises(bytecode.CompileError, match=r"bad.py: bytecode 4"):
        bytecode.compile_file(source, 4, tmp_path / "bad.mpy")


def test_stale_package_json_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(packages.PACKAGES, "k210", "canmv")
    done = invoke("build", "--check", "--json")
    assert done.exit_code == 1
    assert json.loads(done.stdout)["stale"] == ["package.json"]


@pytest.mark.parametrize(
    ("line", "error"),
    [
        ("run_once('reprot', 'show')", "maixmem_x.py:2: there is no maixmem_reprot"),
        ("run_once('report', 'shwo')", "maixmem_x.py:2: maixmem_report has no shwo()"),
        ("resident('ent').Net", "maixmem_x.py:2: there is no maixmem_ent"),
    ],
)
def test_a_part_that_is_not_there_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, line: str, error: str
) -> None:
    lib = tmp_path / "lib"
    shutil.copytree(paths.LIB, lib, ignore=shutil.ignore_patterns("__pycache__"))
    monkeypatch.setattr(places, "lib", lambda: lib)
    assert stub.text() == (lib / "maixmem.pyi").read_text(encoding="utf-8")
    (lib / "maixmem_x.py").write_text(f"from maixmem import resident, run_once\n{line}\n")
    with pytest.raises(stub.StubError, match=re.escape(error)):
        stub.text()


def test_a_folder_that_cannot_be_written_is_one_line() -> None:
    done = invoke("build", "--out", "/dev/null/x")
    assert (done.exit_code, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert "--out" in line and "/dev/null/x cannot be written" in line and "Next: " in line
