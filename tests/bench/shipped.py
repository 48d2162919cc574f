"""What is measured: walwise as it is shipped (CONTRIBUTING.md), static and by the `dist` profile, and copied as an installation
copies it. The pages that a linker wrote lie in the page cache one by one, and every start maps them so: an eighth of a look.
"""
import os, shutil, subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = os.path.join(ROOT, os.environ.get("CARGO_TARGET_DIR", "target"))
BUILT = os.path.join(TARGET, "dist", "walwise")
WALWISE = os.path.join(TARGET, "installed", "walwise")
BUILD = ". packaging/common; exec cargo rustc --profile dist --locked -q --bin walwise -- $static"


def build():
    subprocess.run(["sh", "-euc", BUILD, "packaging/binary"], cwd=ROOT, check=True)
    os.makedirs(os.path.dirname(WALWISE), exist_ok=True)
    draft = f"{WALWISE}.new"
    shutil.copy(BUILT, draft)
    os.replace(draft, WALWISE)
