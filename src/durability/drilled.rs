//! The drill layer: the losses recorded when the power of this very stack was cut, from a record that the user named.
//!
//! A recorded loss always counts. A record without one turns *unproven* into *proven by drill*, but only where
//! everything about the database is known: the drill writes past the server. It overrides no other layer. Where a layer
//! is *at risk*, or layers disagree, twenty clean cuts change nothing, because a cache may have been empty by chance.

use super::ask::Ask;
use super::{Bears, Evidence, Layer, Mend, Path, Standing};
use crate::facts::Subject;
use crate::facts::catalog::drill;
use crate::text::grouped;

/// The content of a record for a target.
pub struct Drilled {
    target: Subject,
    on: String,
    cuts: u64,
    acknowledged: u64,
    lost: u64,
    source: String,
}

/// The content of a record for a target, if one was named and is about the stack below the target.
pub fn ask(ask: &mut Ask, target: &Subject) -> Option<Drilled> {
    // Read without the questioner: the verdict names the drill itself, and counts as observed nevertheless.
    let facts = ask.facts;
    let cuts = facts.value(target, &drill::CUTS).filter(|cuts| *cuts > 0)?;
    ask.asked.used.insert(drill::CUTS.name());
    Some(Drilled {
        target: target.clone(),
        on: facts.value(target, &drill::ON)?,
        cuts,
        acknowledged: facts.value(target, &drill::ACKNOWLEDGED).filter(|count| *count > 0)?,
        lost: facts.value(target, &drill::LOST)?,
        source: ask.origin(target, &drill::CUTS),
    })
}

impl Drilled {
    /// The record as a piece of evidence.
    pub fn evidence(&self) -> Evidence {
        let bears = match self.lost {
            0 => Bears::Durable,
            _ => Bears::AtRisk(Mend::LostBelow(self.target.clone())),
        };
        Evidence::new(Layer::Measurement, &self.target, bears, self.says(), self.source.clone())
    }

    /// Raises *unproven* to *proven by drill*, unless the database's part of any path is unproven, or a rule caps it.
    pub fn settle(&self, paths: &mut [Path]) {
        let open = |path: &Path| {
            let stays = |one: &Evidence| {
                (one.layer.is_database() || one.layer.is_rule()) && one.standing.is_unproven()
            };
            path.standing < Standing::Unproven || path.evidence.iter().any(stays)
        };
        if self.lost > 0 || paths.iter().any(open) {
            return;
        }
        for path in paths.iter_mut().filter(|path| path.standing.is_unproven()) {
            path.standing = Standing::ProvenByDrill;
        }
    }

    /// The verdict as a sentence.
    pub fn sentence(&self) -> String {
        let share = self.least_share_found() * 100.0;
        format!(
            "Proven by drill on {}: {}. The facts alone do not show it, for the reasons below; and a cause that strikes in \
             less than {share:.0} % of power cuts may have been missed.",
            self.on,
            self.counts()
        )
    }

    fn says(&self) -> String {
        format!("a drill, the last on {}: {}", self.on, self.counts())
    }

    fn counts(&self) -> String {
        let Self { cuts, acknowledged, lost, .. } = self;
        let acknowledged = grouped(*acknowledged);
        let lost = if *lost == 0 { "none".to_owned() } else { grouped(*lost) };
        let cuts = if *cuts == 1 { "1 power cut".to_owned() } else { format!("{cuts} power cuts") };
        format!("of {acknowledged} acknowledged commits {lost} lost in {cuts} of this stack")
    }

    /// The smallest share of cuts with a loss that would have shown with 95 % probability: 1 − 0.05^(1/cuts).
    fn least_share_found(&self) -> f64 {
        1.0 - 0.05_f64.powf(1.0 / f64::from(u32::try_from(self.cuts).unwrap_or(u32::MAX)))
    }
}
