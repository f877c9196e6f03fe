# pytest                                    on the stand-in
# pytest --k210-firmware=maixpy.bin         on your own firmware too, within budgets
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).parent
MODELS = {0x300000: "one.kmodel", 0x400000: "two.kmodel"}
SIM = [sys.executable, "-m", "maixmem_cli", "sim", "main.py", "--board", "{board}"]
SIM += ["--unsafe"]  # main.py is ours: CPython may run it where there is no MicroPython


def test_on_the_stand_in():
    flash = [word for at, name in MODELS.items() for word in ("--flash", f"{name}@{at:#x}")]
    done = subprocess.run([*SIM, *flash], cwd=HERE, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "done"


def test_on_the_firmware(k210_firmware):
    """Within the budgets of project.toml; without a leak, but for those of baseline.json."""
    kept = "baseline.json" if (HERE / "baseline.json").exists() else None
    run = k210_firmware.run("main.py", frames=50, baseline=kept)
    assert run.error == "" and run.output.splitlines()[-1] == "done"
