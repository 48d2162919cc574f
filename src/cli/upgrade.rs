//! `walwise upgrade`: the changes by the next kernel, distribution and tools, and an exit code for the obstacles.
//!
//! It is `check --assume` with its own wording. Nothing is measured, and the present state of the machine has no
//! influence on the exit code.

use super::CliError;
use super::args::{PlainFormat, UpgradeArgs};
use super::host;
use super::out::{Delivery, ExitResult};
use crate::host::RememberingHost;
use crate::pipeline::upgrade::{self, ComponentVersions};
use crate::report::{self, json, text};

pub(super) fn run(args: &UpgradeArgs) -> ExitResult {
    let delivery = Delivery::find(&args.output, false)?;
    let next = ComponentVersions {
        kernel: args.kernel.clone(),
        os: args.os.clone(),
        e2fsprogs: args.e2fsprogs.clone(),
        xfsprogs: args.xfsprogs.clone(),
        btrfs_progs: args.btrfs_progs.clone(),
    };
    let rules = host::rules(args.from.rules.as_deref())?;
    let machine = host::open(args.from.host.as_deref())?;
    let machine = RememberingHost::new(machine.as_ref());
    let session = host::look_at(&machine, &args.from, None, rules)?;
    let mut texts = upgrade::assumptions(&next, &session.read).map_err(CliError::Usage)?;
    texts.extend(args.assume.iter().cloned());
    let hypothesis = host::supposed(&texts, &session, &machine, &args.from, None)?;
    let mut report = session.report();
    let (supposed, what_if) = session.what_if(&report, &hypothesis);
    let changes = report::Upgrade::between(&report, &supposed);
    let condition = args.fail_on.condition(args.fail_on_undecided);
    let code = condition.map_or(0, |condition| changes.exit_code(condition));
    let document = match args.format {
        PlainFormat::Text => text::upgrade(&report, &what_if, &changes),
        PlainFormat::Json => {
            (report.what_if, report.upgrade) = (Some(what_if), Some(changes));
            json::render(&report)
        }
    };
    delivery.deliver(&document)?;
    Ok(code)
}
