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

use super::choice::validate_choice;
use super::fact_list::{FactList, SubjectFacts, not_collected_reading};
use super::note::Note;
use super::{
    FactId, FactValue, Key, KeyInfo, Reading, Scope, Source, Subject, UnknownReason, Value, catalog,
};
use crate::parallel;

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

/// Facts by subject and name; the stack as edges from a subject to what it stands on; and links
/// from a subject to the subject of another scope whose facts apply to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactSet {
    facts: Map<Subject, Arc<FactList>>,
    /// The subjects of `facts`.
    order: BTreeSet<Subject>,
    below: Map<Subject, Vec<Subject>>,
    /// Former lower devices that are still held, such as failed members: nothing else may use them.
    detached: Map<Subject, Vec<Subject>>,
    links: Map<Subject, Vec<Subject>>,
    inapplicable: Map<Subject, Vec<Scope>>,
    units: Map<Subject, Subject>,
    areas: Map<Subject, Area>,
    /// Assumed facts, also of subjects that do not exist.
    assumed: Map<Subject, FactList>,
    notes: Vec<Note>,
}

/// A fast hash: judgement looks up millions of facts on a large host. Output order comes from
/// `order`.
type Map<K, V> = HashMap<K, V, FixedState>;

/// Assumed facts override read ones.
fn apply_assumed(row: &mut Arc<FactList>, assumed: Option<&FactList>) {
    if let Some(assumed) = assumed {
        Arc::make_mut(row).insert_all(assumed);
    }
}

impl FactSet {
    /// Records a reading. A later reading of the same fact replaces the earlier one.
    pub fn insert<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>, reading: Reading<T>) {
        self.insert_checked(subject, &key.info, reading.map(FactValue::into_value));
    }

    /// Records a known value.
    pub fn insert_known<T: FactValue>(
        &mut self,
        subject: &Subject,
        key: &Key<T>,
        value: T,
        source: Source,
    ) {
        self.insert(subject, key, Reading::known(value, source));
    }

    /// Records a reading by its declaration; a word that a choice does not have makes it malformed.
    pub fn insert_value(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        self.insert_checked(subject, key, validate_choice(key.kind, reading));
    }

    fn insert_checked(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        let is_assumed = self.is_assumed(subject, key.id);
        let row = self.facts_mut(subject);
        if !is_assumed {
            row.insert(key, Arc::new(reading.escaped()));
        }
    }

    /// Records the reading of another subject; one that was never collected stays *not collected*.
    pub fn copy_reading(&mut self, subject: &Subject, key: &KeyInfo, of: &Subject) {
        let Some(reading) = self
            .facts
            .get(of)
            .and_then(|row| row.get(key.id))
            .map(Arc::clone)
        else {
            return;
        };
        if !self.is_assumed(subject, key.id) {
            self.facts_mut(subject).insert(key, reading);
        }
    }

    /// Fixes a reading: from the first mention of its subject it stands, whatever is read or
    /// concluded.
    pub fn assume(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        let reading = Arc::new(validate_choice(key.kind, reading).escaped());
        self.assumed
            .entry(subject.clone())
            .or_default()
            .insert(key, Arc::clone(&reading));
        if self.contains(subject) {
            self.facts_mut(subject).insert(key, reading);
        }
    }

    pub fn is_assumed(&self, subject: &Subject, fact: FactId) -> bool {
        self.assumed
            .get(subject)
            .is_some_and(|row| row.get(fact).is_some())
    }

    fn facts_mut(&mut self, subject: &Subject) -> &mut FactList {
        if !self.contains(subject) {
            self.order.insert(subject.clone());
            if let Some(assumed) = self.assumed.get(subject) {
                self.facts
                    .insert(subject.clone(), Arc::new(assumed.clone()));
            }
        }
        Arc::make_mut(self.facts.entry(subject.clone()).or_default())
    }

    /// Adds a subject without facts.
    pub fn add_subject(&mut self, subject: &Subject) {
        self.facts_mut(subject);
    }

    /// Removes the facts of a subject; its edges stay.
    pub fn remove_facts(&mut self, subject: &Subject) {
        self.facts.remove(subject);
        self.order.remove(subject);
    }

    /// Whether the subject was added or has facts.
    pub fn contains(&self, subject: &Subject) -> bool {
        self.facts.contains_key(subject)
    }

    /// The reading of a fact; *not collected* when there is none.
    pub fn get<T: FactValue>(&self, subject: &Subject, key: &Key<T>) -> Reading<T> {
        self.reading(subject, key.id()).as_ref().and_then(|value| {
            T::from_value(value).ok_or_else(|| format!("{} is {}", key.name(), value.shape()))
        })
    }

    pub fn value<T: FactValue>(&self, subject: &Subject, key: &Key<T>) -> Option<T> {
        self.reading(subject, key.id())
            .value()
            .and_then(T::from_value)
    }

    /// The reading of a fact, whatever its type; *not collected* when there is none.
    pub fn reading(&self, subject: &Subject, fact: FactId) -> &Reading<Value> {
        self.shared_reading(subject, fact)
    }

    /// The same as a shared pointer, to keep.
    pub fn shared_reading(&self, subject: &Subject, fact: FactId) -> &Arc<Reading<Value>> {
        self.subject_facts(subject).shared_reading(fact)
    }

    /// The reading of the fact of this name; *not collected* when there is none.
    pub fn reading_by_name(&self, subject: &Subject, name: &str) -> &Reading<Value> {
        catalog::find(name).map_or_else(not_collected_reading, |info| {
            self.shared_reading(subject, info.id)
        })
    }

    /// All facts of a subject, for many lookups.
    pub fn subject_facts(&self, subject: &Subject) -> SubjectFacts<'_> {
        SubjectFacts(self.facts.get(subject).map(Arc::as_ref))
    }

    /// The reading of a fact for a subject: its own, or that of the subject it is linked to in the
    /// fact's scope (the host for host facts). Unknown when there is no such subject.
    pub fn lookup(&self, subject: &Subject, info: &KeyInfo) -> Arc<Reading<Value>> {
        match self.resolve(subject, info.scope) {
            Some(of) => Arc::clone(self.shared_reading(&of, info.id)),
            None => Arc::new(Reading::unknown(
                UnknownReason::Absent,
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

    /// Sets the subject in which facts of its scope are looked up for `from`.
    pub fn link(&mut self, from: &Subject, to: &Subject) {
        let links = self.links.entry(from.clone()).or_default();
        links.retain(|other| other.scope() != to.scope());
        links.push(to.clone());
    }

    /// Marks a scope as not applicable to a subject: a free disk has no mount. Facts of that scope
    /// are then not applicable, rather than unknown.
    pub fn mark_inapplicable(&mut self, subject: &Subject, scope: Scope) {
        self.inapplicable
            .entry(subject.clone())
            .or_default()
            .push(scope);
    }

    pub fn lacks_scope(&self, subject: &Subject, scope: Scope) -> bool {
        self.inapplicable_scopes(subject).contains(&scope)
    }

    /// The scopes that do not apply to a subject.
    pub fn inapplicable_scopes(&self, subject: &Subject) -> &[Scope] {
        self.inapplicable.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Sets the area of a subject, the word before the dot of its facts. Those of other areas do
    /// not apply: a MySQL server has no `pg` settings.
    pub fn set_area(&mut self, subject: &Subject, area: Area) {
        self.areas.insert(subject.clone(), area);
    }

    /// The area of a subject, or of the one its facts are looked up in.
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

    /// Whether an area's facts do not apply to a subject, or to the one they would be looked up in.
    pub fn lacks_area(&self, subject: &Subject, area: Area) -> bool {
        self.area_of(subject).is_some_and(|known| known != area)
    }

    /// Whether a fact does not apply to a subject because of its area.
    pub fn lacks_fact(&self, subject: &Subject, fact: &KeyInfo) -> bool {
        area(fact.name).is_some_and(|area| self.lacks_area(subject, area))
    }

    /// Adds an edge of the stack: target on mount, mount on device, array on disk, loop on mount.
    pub fn add_edge(&mut self, top: &Subject, base: &Subject) {
        let below = self.below.entry(top.clone()).or_default();
        if !below.contains(base) {
            below.push(base.clone());
        }
    }

    /// `top` no longer stands on `base`, as with a failed member, but still holds it: nothing else
    /// may use it.
    pub fn detach(&mut self, top: &Subject, base: &Subject) {
        if let Some(below) = self.below.get_mut(top) {
            below.retain(|other| other != base);
        }
        let left = self.detached.entry(top.clone()).or_default();
        if !left.contains(base) {
            left.push(base.clone());
        }
    }

    /// The subjects directly below a subject.
    pub fn below(&self, top: &Subject) -> &[Subject] {
        self.below.get(top).map_or(&[], Vec::as_slice)
    }

    /// Everything below a subject, once each, nearest first, without itself. Cycles in hostile
    /// input end.
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
    pub fn bottom_devices(&self, top: &Subject) -> Vec<Subject> {
        let ends = |s: &Subject| s.scope() == Scope::Device && self.below(s).is_empty();
        let below = self.stack(top).into_iter().filter(|s| ends(s));
        let itself = Some(top).filter(|top| ends(top)).cloned();
        below.chain(itself).collect()
    }

    /// Records that a device is another path to the unit of `first`.
    pub fn set_unit(&mut self, path: &Subject, first: &Subject) {
        let first = self.unit(first).clone();
        if *path != first {
            self.units.insert(path.clone(), first);
        }
    }

    /// The device that represents a unit with several paths: the first path. Any other device
    /// represents itself.
    pub fn unit<'s>(&'s self, device: &'s Subject) -> &'s Subject {
        self.units.get(device).unwrap_or(device)
    }

    /// The leaves, with several paths to one unit counted once: the actual disks. Each path has its
    /// own queue, so hop-by-hop judgement uses [`Self::leaves`].
    pub fn disks(&self, top: &Subject) -> Vec<Subject> {
        let mut seen = BTreeSet::new();
        let units = self
            .bottom_devices(top)
            .into_iter()
            .map(|leaf| self.unit(&leaf).clone());
        units.filter(|unit| seen.insert(unit.clone())).collect()
    }

    pub fn subjects(&self, scope: Scope) -> impl Iterator<Item = &Subject> {
        self.order
            .range(Subject::scope_start(scope)..)
            .take_while(move |subject| subject.scope() == scope)
    }

    /// The subjects of which this fact is known, with its value, in order. Uses all processors on a
    /// large host.
    pub fn known_values<T: FactValue + Send>(&self, key: &Key<T>) -> Vec<(&Subject, T)> {
        let subjects: Vec<&Subject> = self.subjects(key.info.scope).collect();
        let values = parallel::map(&subjects, |subject| self.value(subject, key));
        subjects
            .into_iter()
            .zip(values)
            .filter_map(|(subject, value)| Some((subject, value?)))
            .collect()
    }

    /// The subjects whose known value passes the test, in order.
    pub fn subjects_where<T: FactValue + Send>(
        &self,
        key: &Key<T>,
        so: impl Fn(&T) -> bool,
    ) -> Vec<Subject> {
        self.known_values(key)
            .into_iter()
            .filter(|(_, value)| so(value))
            .map(|(subject, _)| subject.clone())
            .collect()
    }

    pub fn rows(&self) -> impl Iterator<Item = FactRow<'_>> {
        self.order.iter().flat_map(|subject| self.rows_of(subject))
    }

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

    pub fn all_subjects(&self) -> impl Iterator<Item = &Subject> {
        self.order.iter()
    }

    /// Every edge of the stack, also to what is only held.
    pub fn edges(&self) -> impl Iterator<Item = (&Subject, &Subject)> {
        let mut below: Vec<_> = self.below.iter().chain(&self.detached).collect();
        below.sort_unstable_by_key(|(top, _)| *top);
        below
            .into_iter()
            .flat_map(|(top, below)| below.iter().map(move |base| (top, base)))
    }

    /// Adds another set: facts, edges, links and notes. Assumed facts stay.
    pub fn merge(&mut self, other: Self) {
        for (subject, facts) in other.facts {
            let assumed = self.assumed.get(&subject);
            match self.facts.entry(subject) {
                Entry::Vacant(place) => {
                    self.order.insert(place.key().clone());
                    let row = place.insert(facts);
                    apply_assumed(row, assumed);
                }
                Entry::Occupied(mut place) => {
                    Arc::make_mut(place.get_mut()).insert_all(&facts);
                    apply_assumed(place.get_mut(), assumed);
                }
            }
        }
        for (top, below) in other.below {
            for base in below {
                self.add_edge(&top, &base);
            }
        }
        for (top, left) in other.detached {
            for base in left {
                self.detach(&top, &base);
            }
        }
        for (from, links) in other.links {
            for to in &links {
                self.link(&from, to);
            }
        }
        for (subject, scopes) in other.inapplicable {
            self.inapplicable.entry(subject).or_default().extend(scopes);
        }
        for (path, first) in other.units {
            self.set_unit(&path, &first);
        }
        self.areas.extend(other.areas);
        self.notes.extend(other.notes);
    }

    /// The facts of these subjects, of everything directly below them, and of the host, as a
    /// separate set.
    #[must_use]
    pub fn subset<'s>(&self, subjects: impl IntoIterator<Item = &'s Subject>) -> Self {
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

    /// Merges a part back with what is new about these subjects, which nobody else may have changed
    /// meanwhile; what it has on other subjects is ignored.
    pub fn merge_subset<'s>(
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

    /// Adds a note about the run rather than one fact, such as an abandoned read or a malformed
    /// line.
    pub fn add_note(&mut self, note: impl Into<Note>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub fn notes(&self) -> &[Note] {
        &self.notes
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
