"""What is measured: walwise as it is shipped (CONTRIBUTING.md), static and by the `dist` profile."""
import os, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WALWISE = os.path.join(ROOT, "target", "dist", "walwise")
BUILD = ". packaging/common; exec cargo rustc --profile dist --locked -q --bin walwise -- $static"


def build():
    subprocess.run(["sh", "-euc", BUILD, "packaging/binary"], cwd=ROOT, check=True)
