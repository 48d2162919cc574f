//! The two lists in which the kernel shows the options of an ext4: all that are in force, in /proc/fs/ext4; and among
//! the mounts, those that differ from the superblock's own defaults. One function prints both (`_ext4_show_options` in
//! fs/ext4/super.c), so words and order are the same in both.
//!
//! A word that is no longer printed has the superblock's own value: for a switch that is the opposite, for a number it
//! is unknown.

#[derive(Debug, PartialEq, Eq)]
pub struct MountOptionLists {
    pub listed: Vec<String>,
    /// The options printed among the mounts.
    pub printed: Vec<String>,
}

/// The words that the virtual file system and security modules print before ext4's own.
const BEFORE: &[&str] = &["rw", "ro", "sync", "dirsync", "mand", "lazytime", "seclabel"];

/// Options that journalled data disables (ext4(5), *data=journal*).
const NOT_WITH_JOURNALLED_DATA: &[&str] = &["dioread_nolock", "delalloc"];

/// Independent switches. They exist in older kernels too, which list only those that are on.
const SWITCHES: &[&str] =
    &["barrier", "delalloc", "discard", "auto_da_alloc", "journal_checksum", "block_validity"];

/// Options of which one enables several, or whose opposite is another word.
const SEVERAL: &[&str] = &["quota", "usrquota", "grpquota", "prjquota", "journal_async_commit"];

/// The lists when the mount shows `then` in place of `now`; the error names the unknown part.
pub fn in_force(listed: &[String], now: &[String], then: &[String]) -> Result<MountOptionLists, String> {
    let mut lists = MountOptionLists { listed: listed.to_vec(), printed: Vec::new() };
    let own = |word: &&String| !is_before(word);
    let access = then.iter().find(|word| ["rw", "ro"].contains(&word.as_str()));
    let access = access.ok_or("it begins with rw or ro")?;
    if let Some(place) = lists.listed.iter_mut().find(|word| ["rw", "ro"].contains(&word.as_str())) {
        place.clone_from(access);
    }
    let mut printed: Vec<String> = now.iter().filter(own).filter(|w| then.contains(*w)).cloned().collect();
    for gone in now.iter().filter(own).filter(|word| !then.contains(*word)) {
        if !then.iter().any(|word| family(word) == family(gone)) {
            let back = by_itself(gone).ok_or_else(|| left_out(gone))?;
            lists.replace(gone, &back)?;
        }
    }
    for new in then.iter().filter(own).filter(|word| !now.contains(*word)) {
        let before = now.iter().find(|word| family(word) == family(new));
        if lists.replace(new, new)? && before.is_none_or(|before| by_itself(before).as_ref() != Some(new)) {
            printed.push(new.clone());
        }
        match before {
            // Neither the old nor the new value may be the superblock's own.
            Some(before) if by_itself(before).is_none() => return Err(left_out(before)),
            Some(_) | None => {}
        }
    }
    if printed.iter().any(|word| word == "data=journal") {
        for word in NOT_WITH_JOURNALLED_DATA {
            let off = format!("no{word}");
            if lists.listed.iter().any(|listed| listed == word) {
                lists.replace(&off, &off)?;
                printed.push(off);
            }
        }
    }
    let before = then.iter().filter(|word| is_before(word)).cloned();
    let ordered = lists.listed.iter().filter(|word| printed.contains(word));
    let elsewhere = printed.iter().filter(|word| !lists.listed.contains(word));
    lists.printed = before.chain(ordered.chain(elsewhere).cloned()).collect();
    Ok(lists)
}

impl MountOptionLists {
    /// Replaces the word of the same family; returns whether it changed.
    fn replace(&mut self, of: &str, word: &str) -> Result<bool, String> {
        let is_switch = !word.contains('=');
        let place = self.listed.iter().position(|listed| {
            family(listed) == family(of)
                && listed.contains('=') != is_switch
                && !SEVERAL.contains(&family(of))
        });
        let lists_what_is_off =
            self.listed.iter().any(|listed| listed.starts_with("no") && !listed.contains('='));
        let is_simple = is_switch && SWITCHES.contains(&family(word)) && !lists_what_is_off;
        match place.and_then(|place| self.listed.get_mut(place)) {
            Some(listed) if listed == word => return Ok(false),
            // An older kernel lists only switches that are on.
            Some(_) if is_simple => self.listed.retain(|listed| family(listed) != family(word)),
            Some(listed) => word.clone_into(listed),
            None if is_simple && word.starts_with("no") => return Ok(false),
            None if is_simple => {
                let numbers = self.listed.iter().position(|listed| listed.contains('='));
                self.listed.insert(numbers.unwrap_or(self.listed.len()), word.to_owned());
            }
            None => {
                return Err(format!(
                    "what `{word}` does to the other options is not modelled: assume ext4.options too"
                ));
            }
        }
        Ok(true)
    }
}

fn is_before(word: &str) -> bool {
    BEFORE.contains(&word) || word.ends_with("context") || word.contains("context=")
}

/// The family of a word: a number's name, a switch's name without `no`.
fn family(word: &str) -> &str {
    match word.split_once('=') {
        Some((name, _)) => name,
        None => word.strip_prefix("no").unwrap_or(word),
    }
}

/// The superblock's own value where the kernel prints a word because it differs.
fn by_itself(printed: &str) -> Option<String> {
    if printed.contains('=') {
        // JBD2_DEFAULT_MAX_COMMIT_AGE; no superblock has another.
        return printed.starts_with("commit=").then(|| "commit=5".to_owned());
    }
    Some(printed.strip_prefix("no").map_or_else(|| format!("no{printed}"), str::to_owned))
}

fn left_out(word: &str) -> String {
    format!("without `{word}` what the superblock says holds, which is not known: assume ext4.options too")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<String> {
        text.split(',').map(str::to_owned).collect()
    }

    const LISTED: &str =
        "rw,dioread_nolock,nodiscard,delalloc,barrier,noquota,errors=continue,commit=5,stripe=0,data=ordered";

    /// Each pair was printed by Linux 6.18, except for the words that were left out here.
    #[test]
    fn both_lists_change_as_the_kernel_prints_them() {
        for (now, then, changed, printed) in [
            ("rw", "rw,nobarrier", "nobarrier", "rw,nobarrier"),
            ("rw", "ro", "ro", "ro"),
            ("rw", "rw,lazytime", "", "rw,lazytime"),
            ("rw", "rw,commit=60,discard", "discard commit=60", "rw,discard,commit=60"),
            ("rw", "rw,errors=remount-ro", "errors=remount-ro", "rw,errors=remount-ro"),
            ("rw", "rw,barrier,commit=5", "", "rw"),
            (
                "rw",
                "rw,data=journal",
                "nodioread_nolock nodelalloc data=journal",
                "rw,nodioread_nolock,nodelalloc,data=journal",
            ),
        ] {
            let lists = in_force(&words(LISTED), &words(now), &words(then)).unwrap();
            let new: Vec<&String> = lists.listed.iter().filter(|w| !words(LISTED).contains(w)).collect();
            let shown = new.iter().map(|word| word.as_str()).collect::<Vec<_>>().join(" ");
            assert_eq!((shown.as_str(), lists.printed), (changed, words(printed)), "{then}");
        }
    }

    #[test]
    fn a_way_there_leads_back() {
        for there in ["rw,nobarrier", "rw,discard", "rw,commit=60", "ro", "rw,nodelalloc,commit=9"] {
            let out = in_force(&words(LISTED), &words("rw"), &words(there)).unwrap();
            let back = in_force(&out.listed, &out.printed, &words("rw")).unwrap();
            assert_eq!(back, MountOptionLists { listed: words(LISTED), printed: words("rw") }, "{there}");
        }
    }

    /// Older kernels list only the switches that are on.
    #[test]
    fn a_kernel_that_lists_what_is_on_goes_on_to() {
        let listed = words("rw,delalloc,barrier,commit=5,data=ordered");
        for (then, new) in [
            ("rw,nobarrier", "rw,delalloc,commit=5,data=ordered"),
            ("rw,discard", "rw,delalloc,barrier,discard,commit=5,data=ordered"),
        ] {
            let there = in_force(&listed, &words("rw"), &words(then)).unwrap();
            assert_eq!((&there.listed, &there.printed), (&words(new), &words(then)));
        }
        assert!(in_force(&listed, &words("rw"), &words("rw,nombcache")).is_err());
    }

    #[test]
    fn what_is_not_known_is_refused_with_the_fact_to_assume() {
        for (now, then) in [
            ("rw", "rw,data_err=abort"),
            ("rw", "rw,usrquota"),
            ("rw", "rw,quota"),
            ("rw", "ro,norecovery"),
            ("rw", "rw,barrier=0"),
            ("rw,errors=remount-ro", "rw"),
            ("rw,errors=remount-ro", "rw,errors=continue"),
            ("rw,data=journal", "rw,data=ordered"),
            ("rw,nobarrier", "nobarrier"),
        ] {
            let told = in_force(&words(&LISTED.replace("continue", "remount-ro")), &words(now), &words(then));
            assert!(told.is_err(), "{now} {then}: {told:?}");
        }
    }
}
