//! How walwise would make and mount a file system on a free device: the plan's own words, for a trial to follow.

use super::Session;
use crate::facts::Subject;
use crate::report::{chosen, mkfs_command};
use crate::settings::NewFilesystem;

/// The words of a file system that is to be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FilesystemRecipe {
    /// Options of mkfs, as words.
    pub mkfs: Vec<String>,
    /// Mount options, `defaults` for none.
    pub mount: String,
}

impl Session {
    /// The recipe of a file system on a free device; the error says why there is none.
    pub fn recipe(
        &mut self,
        target: &Subject,
        filesystem: NewFilesystem,
    ) -> Result<FilesystemRecipe, String> {
        self.want(target, Some(filesystem))?;
        let report = self.report();
        let plan = report.plan(target).ok_or_else(|| format!("there is no plan for {}", target.name()))?;
        let mount = chosen(&plan.steps)?.mount;
        let command = mkfs_command(&plan.steps, filesystem.word())?.to_string();
        // Every word is plain, so blanks part them.
        let mkfs = command.split_whitespace().skip(1).map(str::to_owned).collect();
        Ok(FilesystemRecipe { mkfs, mount })
    }
}
