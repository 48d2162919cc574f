//! All facts of one run, with the relations between their subjects. Ordered, so that every output
//! is deterministic.
//!
//! Copies share everything that neither side changes, down to the single reading. The facts that
//! were read, their consequences and the report of both are three sets that differ in a few facts,
//! and a large host has half a million of them.

use super::{Area, area};
use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};
use std::mem;
use std::sync::Arc;

use foldhash::fast::FixedState;
use serde::{Serialize, Serializer};

use super::choice::checked;
use super::note::Note;
use super::row::{About, Row, not_collected};
use super::{
    FactId, FactValue, Key, KeyInfo, Reading, Scope, Source, Subject, Value, Why, catalog,
};
use crate::workers;

/// One fact as every output shows it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[cfg_attr(any(test, feature = "testing"), derive(schemars::JsonSchema))]
pub struct FactRow<'f> {
    /// What it is about.
    pub subject: &'f Subject,
    /// Its name.
    pub fact: &'static str,
    /// What is known of it.
    pub reading: &'f Reading<Value>,
}

/// Facts by subject and name; the stack as edges from what stands to what it stands on; and links
/// from a subject to the one other subject of a scope that facts about it are looked up in.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactSet {
    facts: Map<Subject, Arc<Row>>,
    /// The subjects of `facts`.
    order: BTreeSet<Subject>,
    below: Map<Subject, Vec<Subject>>,
    /// What stood below and holds nothing any more, but is held still.
    left: Map<Subject, Vec<Subject>>,
    links: Map<Subject, Vec<Subject>>,
    ruled_out: Map<Subject, Vec<Scope>>,
    units: Map<Subject, Subject>,
    areas: Map<Subject, Area>,
    /// What was assumed, of subjects that need not be there.
    assumed: Map<Subject, Row>,
    warnings: Vec<Note>,
}

/// Judgement looks up millions of facts on a large host; what is shown goes by `order`.
type Map<K, V> = HashMap<K, V, FixedState>;

/// Puts what is assumed over what is not.
fn hold(row: &mut Arc<Row>, assumed: Option<&Row>) {
    if let Some(assumed) = assumed {
        Arc::make_mut(row).put_all(assumed);
    }
}

impl FactSet {
    /// Records a reading. A later reading of the same fact replaces the earlier one.
    pub fn put<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>, reading: Reading<T>) {
        self.put_checked(subject, &key.info, reading.map(FactValue::into_value));
    }

    /// Records a known value.
    pub fn know<T: FactValue>(
        &mut self,
        subject: &Subject,
        key: &Key<T>,
        value: T,
        source: Source,
    ) {
        self.put(subject, key, Reading::known(value, source));
    }

    /// Records a reading by its declaration. A word that a choice does not have is malformed.
    pub fn put_value(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        self.put_checked(subject, key, checked(key.kind, reading));
    }

    fn put_checked(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        let is_assumed = self.is_assumed(subject, key.id);
        let row = self.row(subject);
        if !is_assumed {
            row.put(key, Arc::new(reading.escaped()));
        }
    }

    /// Records the very reading that another subject has; what nobody asked of it stays so here
    /// too.
    pub fn put_same(&mut self, subject: &Subject, key: &KeyInfo, of: &Subject) {
        let Some(reading) = self
            .facts
            .get(of)
            .and_then(|row| row.get(key.id))
            .map(Arc::clone)
        else {
            return;
        };
        if !self.is_assumed(subject, key.id) {
            self.row(subject).put(key, reading);
        }
    }

    /// Holds a reading fast: from the moment its subject is mentioned it stands there, whatever is
    /// read or concluded.
    pub fn assume(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        let reading = Arc::new(checked(key.kind, reading).escaped());
        self.assumed
            .entry(subject.clone())
            .or_default()
            .put(key, Arc::clone(&reading));
        if self.contains(subject) {
            self.row(subject).put(key, reading);
        }
    }

    /// Whether this reading is held fast.
    pub fn is_assumed(&self, subject: &Subject, fact: FactId) -> bool {
        self.assumed
            .get(subject)
            .is_some_and(|row| row.get(fact).is_some())
    }

    fn row(&mut self, subject: &Subject) -> &mut Row {
        if !self.contains(subject) {
            self.order.insert(subject.clone());
            if let Some(assumed) = self.assumed.get(subject) {
                self.facts
                    .insert(subject.clone(), Arc::new(assumed.clone()));
            }
        }
        Arc::make_mut(self.facts.entry(subject.clone()).or_default())
    }

    /// Mentions a subject, so that it exists even before a fact about it is known.
    pub fn mention(&mut self, subject: &Subject) {
        self.row(subject);
    }

    /// Forgets the facts about a subject; what stands on it, and on what, stays.
    pub fn forget(&mut self, subject: &Subject) {
        self.facts.remove(subject);
        self.order.remove(subject);
    }

    /// Whether the subject has been mentioned or has facts.
    pub fn contains(&self, subject: &Subject) -> bool {
        self.facts.contains_key(subject)
    }

    /// The reading of a fact; *not collected* when there is none.
    pub fn get<T: FactValue>(&self, subject: &Subject, key: &Key<T>) -> Reading<T> {
        self.reading(subject, key.id()).as_ref().and_then(|value| {
            T::from_value(value).ok_or_else(|| format!("{} is {}", key.name(), value.shape()))
        })
    }

    /// The value of a fact, when known.
    pub fn value<T: FactValue>(&self, subject: &Subject, key: &Key<T>) -> Option<T> {
        self.reading(subject, key.id())
            .value()
            .and_then(T::from_value)
    }

    /// The reading of a fact, whatever its type; *not collected* when there is none.
    pub fn reading(&self, subject: &Subject, fact: FactId) -> &Reading<Value> {
        self.shared(subject, fact)
    }

    /// The same, to keep.
    pub fn shared(&self, subject: &Subject, fact: FactId) -> &Arc<Reading<Value>> {
        self.about(subject).shared(fact)
    }

    /// The reading of the fact of this name; *not collected* when there is none.
    pub fn named(&self, subject: &Subject, name: &str) -> &Reading<Value> {
        catalog::find(name).map_or_else(not_collected, |info| self.shared(subject, info.id))
    }

    /// Everything known of a subject, for many questions about it.
    pub fn about(&self, subject: &Subject) -> About<'_> {
        About(self.facts.get(subject).map(Arc::as_ref))
    }

    /// The reading of a fact for a subject: its own, or that of the subject it is linked to in the
    /// fact's scope (the host for host facts). Unknown when there is no such subject.
    pub fn lookup(&self, subject: &Subject, info: &KeyInfo) -> Arc<Reading<Value>> {
        match self.resolve(subject, info.scope) {
            Some(of) => Arc::clone(self.shared(&of, info.id)),
            None => Arc::new(Reading::unknown(
                Why::Absent,
                format!("{subject} has no {}", info.scope),
            )),
        }
    }

    /// The subject in which a fact of this scope is looked up for the given one.
    pub fn resolve(&self, subject: &Subject, scope: Scope) -> Option<Subject> {
        match scope {
            Scope::Host => Some(Subject::host()),
            scope if scope == subject.scope() => Some(subject.clone()),
            scope => self
                .links
                .get(subject)?
                .iter()
                .find(|to| to.scope() == scope)
                .cloned(),
        }
    }

    /// Says in which subject facts of the other's scope are looked up for this one.
    pub fn link(&mut self, from: &Subject, to: &Subject) {
        let links = self.links.entry(from.clone()).or_default();
        links.retain(|other| other.scope() != to.scope());
        links.push(to.clone());
    }

    /// Says that a subject is known to have none of a scope: a free disk has no mount. Facts of
    /// that scope are then no question of it, which is something else than not knowing them.
    pub fn rule_out(&mut self, subject: &Subject, scope: Scope) {
        self.ruled_out
            .entry(subject.clone())
            .or_default()
            .push(scope);
    }

    /// Whether a subject is known to have none of a scope.
    pub fn lacks(&self, subject: &Subject, scope: Scope) -> bool {
        self.lacking(subject).contains(&scope)
    }

    /// The scopes of which a subject is known to have none.
    pub fn lacking(&self, subject: &Subject) -> &[Scope] {
        self.ruled_out.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Says of which area a subject is, the word before the dot of its facts: those of all others
    /// are no question of it, as a MySQL server has no `pg` settings.
    pub fn is_of(&mut self, subject: &Subject, area: Area) {
        self.areas.insert(subject.clone(), area);
    }

    /// The area that a subject, or the one its facts would be looked up in, is of.
    pub fn area_of(&self, subject: &Subject) -> Option<Area> {
        if self.areas.is_empty() {
            return None;
        }
        let own = || self.areas.get(subject).copied();
        own().or_else(|| {
            self.areas
                .get(&self.resolve(subject, Scope::Cluster)?)
                .copied()
        })
    }

    /// Whether the facts of an area are no question of a subject, or of the one they would be
    /// looked up in.
    pub fn lacks_area(&self, subject: &Subject, area: Area) -> bool {
        self.area_of(subject).is_some_and(|known| known != area)
    }

    /// Whether a fact is no question of a subject for its area.
    pub fn lacks_fact(&self, subject: &Subject, fact: &KeyInfo) -> bool {
        area(fact.name).is_some_and(|area| self.lacks_area(subject, area))
    }

    /// Says that one subject stands on another: target on mount, mount on device, array on disk,
    /// loop on mount.
    pub fn stand(&mut self, top: &Subject, base: &Subject) {
        let below = self.below.entry(top.clone()).or_default();
        if !below.contains(base) {
            below.push(base.clone());
        }
    }

    /// `top` stands on `base` no more, as on a member that failed, and holds it still: nobody else
    /// may have it.
    pub fn leave(&mut self, top: &Subject, base: &Subject) {
        if let Some(below) = self.below.get_mut(top) {
            below.retain(|other| other != base);
        }
        let left = self.left.entry(top.clone()).or_default();
        if !left.contains(base) {
            left.push(base.clone());
        }
    }

    /// The subjects directly below a subject.
    pub fn below(&self, top: &Subject) -> &[Subject] {
        self.below.get(top).map_or(&[], Vec::as_slice)
    }

    /// Everything beneath a subject, each once, itself not included, nearest first. Cycles in
    /// hostile input end.
    pub fn stack(&self, top: &Subject) -> Vec<Subject> {
        let mut seen = BTreeSet::from([top.clone()]);
        let mut order: Vec<Subject> = Vec::new();
        let mut row = vec![top.clone()];
        while !row.is_empty() {
            let mut next = Vec::new();
            for subject in row.iter().flat_map(|s| self.below(s)) {
                if seen.insert(subject.clone()) {
                    order.push(subject.clone());
                    next.push(subject.clone());
                }
            }
            row = next;
        }
        order
    }

    /// The block devices at the bottom of a subject's stack: where a flush must arrive.
    pub fn leaves(&self, top: &Subject) -> Vec<Subject> {
        let ends = |s: &Subject| s.scope() == Scope::Device && self.below(s).is_empty();
        let below = self.stack(top).into_iter().filter(|s| ends(s));
        let itself = Some(top).filter(|top| ends(top)).cloned();
        below.chain(itself).collect()
    }

    /// Says that a device is one more path to the unit that another one shows.
    pub fn same_unit(&mut self, path: &Subject, first: &Subject) {
        let first = self.unit(first).clone();
        if *path != first {
            self.units.insert(path.clone(), first);
        }
    }

    /// The device that a unit with several paths counts as: the first of its paths; any other
    /// device is itself.
    pub fn unit<'s>(&'s self, device: &'s Subject) -> &'s Subject {
        self.units.get(device).unwrap_or(device)
    }

    /// The leaves, where several paths to one unit count as one: how many disks there really are,
    /// and which. Every path has a queue of its own, so whatever is judged hop by hop goes by
    /// [`Self::leaves`].
    pub fn disks(&self, top: &Subject) -> Vec<Subject> {
        let mut seen = BTreeSet::new();
        let units = self
            .leaves(top)
            .into_iter()
            .map(|leaf| self.unit(&leaf).clone());
        units.filter(|unit| seen.insert(unit.clone())).collect()
    }

    /// All subjects of a scope, in order.
    pub fn subjects(&self, scope: Scope) -> impl Iterator<Item = &Subject> {
        self.order
            .range(Subject::first_of(scope)..)
            .take_while(move |subject| subject.scope() == scope)
    }

    /// The subjects of which this is known, in order, with what it is. On a large host it takes all
    /// processors.
    pub fn known<T: FactValue + Send>(&self, key: &Key<T>) -> Vec<(&Subject, T)> {
        let subjects: Vec<&Subject> = self.subjects(key.info.scope).collect();
        let values = workers::each(&subjects, |subject| self.value(subject, key));
        subjects
            .into_iter()
            .zip(values)
            .filter_map(|(subject, value)| Some((subject, value?)))
            .collect()
    }

    /// The subjects of which this is known and so, in order.
    pub fn which<T: FactValue + Send>(
        &self,
        key: &Key<T>,
        so: impl Fn(&T) -> bool,
    ) -> Vec<Subject> {
        self.known(key)
            .into_iter()
            .filter(|(_, value)| so(value))
            .map(|(subject, _)| subject.clone())
            .collect()
    }

    /// Every fact, in order.
    pub fn rows(&self) -> impl Iterator<Item = FactRow<'_>> {
        self.order.iter().flat_map(|subject| self.rows_of(subject))
    }

    /// Every fact about a subject, in order.
    pub fn rows_of<'s>(&'s self, subject: &'s Subject) -> impl Iterator<Item = FactRow<'s>> {
        let row = self
            .facts
            .get(subject)
            .into_iter()
            .flat_map(|row| row.iter());
        row.map(move |fact| FactRow {
            subject,
            fact: fact.name,
            reading: &fact.reading,
        })
    }

    /// Every subject, in order.
    pub fn all_subjects(&self) -> impl Iterator<Item = &Subject> {
        self.order.iter()
    }

    /// Every edge of the stack, and what holds what it no longer stands on.
    pub fn edges(&self) -> impl Iterator<Item = (&Subject, &Subject)> {
        let mut below: Vec<_> = self.below.iter().chain(&self.left).collect();
        below.sort_unstable_by_key(|(top, _)| *top);
        below
            .into_iter()
            .flat_map(|(top, below)| below.iter().map(move |base| (top, base)))
    }

    /// Adds what another set knows: facts, edges, links and warnings. What is assumed here stays
    /// so.
    pub fn merge(&mut self, other: Self) {
        for (subject, facts) in other.facts {
            let assumed = self.assumed.get(&subject);
            match self.facts.entry(subject) {
                Entry::Vacant(place) => {
                    self.order.insert(place.key().clone());
                    let row = place.insert(facts);
                    hold(row, assumed);
                }
                Entry::Occupied(mut place) => {
                    Arc::make_mut(place.get_mut()).put_all(&facts);
                    hold(place.get_mut(), assumed);
                }
            }
        }
        for (top, below) in other.below {
            for base in below {
                self.stand(&top, &base);
            }
        }
        for (top, left) in other.left {
            for base in left {
                self.leave(&top, &base);
            }
        }
        for (from, links) in other.links {
            for to in &links {
                self.link(&from, to);
            }
        }
        for (subject, scopes) in other.ruled_out {
            self.ruled_out.entry(subject).or_default().extend(scopes);
        }
        for (path, first) in other.units {
            self.same_unit(&path, &first);
        }
        self.areas.extend(other.areas);
        self.warnings.extend(other.warnings);
    }

    /// The facts of these subjects, of everything directly below them, and of the host, as a
    /// separate set to work on.
    #[must_use]
    pub fn part<'s>(&self, subjects: impl IntoIterator<Item = &'s Subject>) -> Self {
        let mut part = Self {
            assumed: self.assumed.clone(),
            ..Self::default()
        };
        let mut copy = |subject: &Subject| {
            if let Some(row) = self.facts.get(subject) {
                part.order.insert(subject.clone());
                part.facts.insert(subject.clone(), Arc::clone(row));
            }
        };
        copy(&Subject::host());
        for subject in subjects {
            copy(subject);
            self.below(subject).iter().for_each(&mut copy);
            if let Some(below) = self.below.get(subject) {
                part.below.insert(subject.clone(), below.clone());
            }
        }
        part
    }

    /// Takes back a part with what is new about these subjects, which nobody else may have changed
    /// meanwhile; what the part says of the others is not looked at.
    pub fn put_back<'s>(
        &mut self,
        mut part: Self,
        subjects: impl IntoIterator<Item = &'s Subject>,
    ) {
        let rows = mem::take(&mut part.facts);
        for subject in subjects {
            if let Some(row) = rows.get(subject) {
                if !self.contains(subject) {
                    self.order.insert(subject.clone());
                }
                self.facts.insert(subject.clone(), Arc::clone(row));
            }
        }
        self.merge(part);
    }

    /// Notes something that concerns the run rather than one fact, such as an abandoned read or a
    /// malformed line.
    pub fn warn(&mut self, note: impl Into<Note>) {
        let note = note.into();
        if !self.warnings.contains(&note) {
            self.warnings.push(note);
        }
    }

    /// The notes about the run.
    pub fn warnings(&self) -> &[Note] {
        &self.warnings
    }
}

/// Every fact in order; edges and links show in other parts of the outputs.
impl Serialize for FactSet {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.rows())
    }
}

#[cfg(any(test, feature = "testing"))]
impl schemars::JsonSchema for FactSet {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        <Vec<FactRow<'_>>>::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        <Vec<FactRow<'_>>>::json_schema(generator)
    }

    fn inline_schema() -> bool {
        true
    }
}

#[cfg(test)]
mod tests;
