#!/usr/bin/python
"""Runs `walwise check` and returns what it found. It never changes the host; it measures only when told to."""

from __future__ import absolute_import, division, print_function

__metaclass__ = type

DOCUMENTATION = r"""
---
module: walwise_check
short_description: Durability verdicts and findings of a host
version_added: 0.1.0
description:
  - Runs C(walwise check) and returns verdicts, findings and prices.
  - Nothing is changed. Nothing is measured unless O(probe=true).
options:
  target:
    description: A directory, mount point or block device; everything found when left out.
    type: path
  probe:
    description:
      - Measure in O(target), which writes a scratch directory of 16 MiB there for some seconds.
      - In check mode nothing is measured.
    type: bool
    default: false
  fail_on:
    description: The lowest level of a finding at which the task fails.
    type: str
    choices: [never, critical, warning]
    default: never
  full:
    description: Also return the whole report as RV(report).
    type: bool
    default: false
  executable:
    description: The program.
    type: path
    default: walwise
attributes:
  check_mode:
    description: Can run in check mode.
    support: full
author:
  - The authors of walwise
"""

EXAMPLES = r"""
- name: Refuse a volume that can lose commits
  walwise.host.walwise_check:
    target: /srv/pg/data
    fail_on: critical

- name: Measure, because somebody asked
  walwise.host.walwise_check:
    target: /srv/pg/data
    probe: true
  register: measured
"""

RETURN = r"""
verdicts:
  description: Each target with its standing and the sentence that says why.
  returned: success
  type: list
  elements: dict
findings:
  description: Critical findings and warnings that apply, with rule, subject, level and title.
  returned: success
  type: list
  elements: dict
prices:
  description: What a commit costs, with the time at which it was measured; empty where nobody measured.
  returned: success
  type: list
  elements: dict
pack:
  description: Version and fingerprint of the rules and tables.
  returned: success
  type: dict
report:
  description: The whole report.
  returned: when O(full=true)
  type: dict
"""

import json

from ansible.module_utils.basic import AnsibleModule

LEVELS = ["critical", "warning"]


def serious(report):
    """The standings that count like a finding of a level, and the findings, by level."""
    standings = {"at-risk": "critical", "contradictory": "critical", "unproven": "warning"}
    found = [(standings[v["standing"]], v["target"]) for v in report["verdicts"] if v["standing"] in standings]
    return found + [(f["level"], f["rule"]) for f in report["findings"] if f["level"] in LEVELS]


def main():
    module = AnsibleModule(
        argument_spec={
            "target": {"type": "path"},
            "probe": {"type": "bool", "default": False},
            "fail_on": {"type": "str", "default": "never", "choices": ["never", "critical", "warning"]},
            "full": {"type": "bool", "default": False},
            "executable": {"type": "path", "default": "walwise"},
        },
        required_if=[("probe", True, ["target"])],
        supports_check_mode=True,
    )
    wanted = module.params
    command = [module.get_bin_path(wanted["executable"], required=True), "check", "--format", "json", "--fail-on", "never"]
    if not wanted["probe"] or module.check_mode:
        command.append("--no-probe")
    if wanted["target"]:
        command += ["--", wanted["target"]]
    code, out, err = module.run_command(command)
    # 2 without a finding: rules that should be in force are not; the report is there all the same.
    try:
        report = json.loads(out)
    except ValueError:
        module.fail_json(msg="walwise ended with %d: %s" % (code, err.strip()), rc=code)
    result = {
        "changed": False,
        "verdicts": [{k: v[k] for k in ("target", "standing", "sentence")} for v in report["verdicts"]],
        "findings": [
            {k: f[k] for k in ("rule", "subject", "level", "title")} for f in report["findings"] if f["level"] in LEVELS
        ],
        "prices": report.get("prices", []),
        "pack": {"version": report["pack"]["version"], "sha256": report["pack"]["sha256"]},
    }
    if wanted["full"]:
        result["report"] = report
    reaching = LEVELS[: LEVELS.index(wanted["fail_on"]) + 1] if wanted["fail_on"] in LEVELS else []
    failed = ["%s: %s" % pair for pair in serious(report) if pair[0] in reaching]
    if failed:
        module.fail_json(msg="; ".join(failed[:10]), **result)
    module.exit_json(**result)


if __name__ == "__main__":
    main()
