//! All facts of one run, with the relations between their subjects. Subjects are ordered, so that
//! every output is deterministic.
//!
//! Clones share every reading that neither clone changes. A run keeps three sets that differ in a
//! few facts: the facts as read, the facts with conclusions, and the facts of the report. A large
//! host has half a million facts.

use std::collections::BTreeSet;
use std::collections::hash_map::{Entry, HashMap};
use std::mem;
use std::sync::Arc;

use foldhash::fast::FixedState;
use schemars::JsonSchema;
use serde::{Serialize, Serializer};

use super::choice::malformed_if_word_is_unlisted;
use super::note::Note;
use super::{
    FactId, FactList, FactValue, Key, KeyInfo, Reading, Scope, ServerArea, Source, Subject,
    SubjectFacts, Value, catalog, not_collected_reading, server_area_of_name,
};
use crate::parallel;

/// A row of a list of facts: one fact of one subject.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, JsonSchema)]
pub struct FactRow<'f> {
    /// The host, device, mount or server that the fact is about.
    pub subject: &'f Subject,
    /// The fact's name, such as `mount.fstype`.
    pub fact: &'static str,
    /// The value with its source, or the reason why the value is unknown.
    pub reading: &'f Reading<Value>,
}

/// Facts by subject and name, with two relations between subjects. An edge leads from a layer of
/// the storage stack to the layer below. A link leads to a subject of another scope whose facts
/// apply as well: a target, for example, links to its mount.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct FactSet {
    facts: FastMap<Subject, Arc<FactList>>,
    /// The keys of `facts`, sorted.
    order: BTreeSet<Subject>,
    below: FastMap<Subject, Vec<Subject>>,
    /// Devices that are no longer part of a stack, although a layer still holds them open, such as
    /// failed members of an array. Nothing else may use these devices.
    detached: FastMap<Subject, Vec<Subject>>,
    links: FastMap<Subject, Vec<Subject>>,
    inapplicable: FastMap<Subject, Vec<Scope>>,
    units: FastMap<Subject, Subject>,
    areas: FastMap<Subject, ServerArea>,
    /// Assumed facts, also of subjects that are not in the set yet.
    assumed: FastMap<Subject, FactList>,
    notes: Vec<Note>,
}

/// A map with a fast hash, because judgement looks up millions of facts on a large host. The order
/// of outputs comes from [`FactSet::order`].
type FastMap<K, V> = HashMap<K, V, FixedState>;

impl FactSet {
    /// Replaces any earlier reading except an assumed one.
    pub fn insert<T: FactValue>(&mut self, subject: &Subject, key: &Key<T>, reading: Reading<T>) {
        self.insert_unless_assumed(subject, &key.info, reading.map(FactValue::into_value));
    }

    pub fn insert_known<T: FactValue>(
        &mut self,
        subject: &Subject,
        key: &Key<T>,
        value: T,
        source: Source,
    ) {
        self.insert(subject, key, Reading::known(value, source));
    }

    pub fn insert_host<T: FactValue>(&mut self, key: &Key<T>, reading: Reading<T>) {
        self.insert(&Subject::host(), key, reading);
    }

    /// Like [`Self::insert`], for an untyped value. If the fact's kind is a choice and lacks the
    /// word, the reading becomes malformed.
    pub fn insert_untyped_value(
        &mut self,
        subject: &Subject,
        key: &KeyInfo,
        reading: Reading<Value>,
    ) {
        self.insert_unless_assumed(
            subject,
            key,
            malformed_if_word_is_unlisted(key.kind, reading),
        );
    }

    fn insert_unless_assumed(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        let is_assumed = self.is_assumed(subject, key.id);
        let row = self.facts_mut_or_insert(subject);
        if !is_assumed {
            row.insert(key, Arc::new(reading.into_display_safe()));
        }
    }

    /// Copies the reading of `of` to `subject`. Does nothing if there is no such reading, or if the
    /// reading of `subject` is assumed.
    pub fn copy_reading(&mut self, subject: &Subject, key: &KeyInfo, of: &Subject) {
        if let Some(reading) = self.facts.get(of).and_then(|row| row.get(key.id)).cloned()
            && !self.is_assumed(subject, key.id)
        {
            self.facts_mut_or_insert(subject).insert(key, reading);
        }
    }

    /// Sets a reading that no later insertion replaces. The reading becomes visible once its
    /// subject is in the set.
    pub fn assume(&mut self, subject: &Subject, key: &KeyInfo, reading: Reading<Value>) {
        let reading =
            Arc::new(malformed_if_word_is_unlisted(key.kind, reading).into_display_safe());
        self.assumed
            .entry(subject.clone())
            .or_default()
            .insert(key, Arc::clone(&reading));
        if self.contains_subject(subject) {
            self.facts_mut_or_insert(subject).insert(key, reading);
        }
    }

    pub fn is_assumed(&self, subject: &Subject, fact: FactId) -> bool {
        self.assumed
            .get(subject)
            .is_some_and(|row| row.get(fact).is_some())
    }

    fn facts_mut_or_insert(&mut self, subject: &Subject) -> &mut FactList {
        if !self.contains_subject(subject) {
            self.order.insert(subject.clone());
            if let Some(assumed) = self.assumed.get(subject) {
                self.facts
                    .insert(subject.clone(), Arc::new(assumed.clone()));
            }
        }
        Arc::make_mut(self.facts.entry(subject.clone()).or_default())
    }

    pub fn add_subject(&mut self, subject: &Subject) {
        self.facts_mut_or_insert(subject);
    }

    /// Removes the subject's facts; its edges, links and assumptions stay.
    pub fn remove_facts(&mut self, subject: &Subject) {
        self.facts.remove(subject);
        self.order.remove(subject);
    }

    /// False for a subject that has only assumed facts.
    pub fn contains_subject(&self, subject: &Subject) -> bool {
        self.facts.contains_key(subject)
    }

    /// The reading is *not collected* if the set has none, and malformed if the value is not a `T`.
    pub fn get<T: FactValue>(&self, subject: &Subject, key: &Key<T>) -> Reading<T> {
        self.reading(subject, key.id()).as_ref().and_then(|value| {
            T::from_value(value).ok_or_else(|| format!("{} is {value}", key.name()))
        })
    }

    pub fn value<T: FactValue>(&self, subject: &Subject, key: &Key<T>) -> Option<T> {
        self.reading(subject, key.id())
            .value()
            .and_then(T::from_value)
    }

    pub fn host_reading<T: FactValue>(&self, key: &Key<T>) -> Reading<T> {
        self.get(&Subject::host(), key)
    }

    pub fn host_value<T: FactValue>(&self, key: &Key<T>) -> Option<T> {
        self.value(&Subject::host(), key)
    }

    pub fn reading(&self, subject: &Subject, fact: FactId) -> &Reading<Value> {
        self.shared_reading(subject, fact)
    }

    /// The reading as an `Arc`, which callers can clone more cheaply than the reading itself.
    pub(crate) fn shared_reading(&self, subject: &Subject, fact: FactId) -> &Arc<Reading<Value>> {
        self.subject_facts(subject).reading_or_not_collected(fact)
    }

    /// Like [`Self::reading`], by the name of the fact; *not collected* if no fact has this name.
    pub fn reading_by_name(&self, subject: &Subject, name: &str) -> &Reading<Value> {
        catalog::find_by_name(name).map_or_else(not_collected_reading, |info| {
            self.shared_reading(subject, info.id)
        })
    }

    pub fn subject_facts(&self, subject: &Subject) -> SubjectFacts<'_> {
        SubjectFacts(self.facts.get(subject).map(Arc::as_ref))
    }

    /// The reading of a fact that applies to a subject, by [`Self::subject_in_scope`]. *Absent* if
    /// no subject of the fact's scope applies.
    pub fn applicable_reading(&self, subject: &Subject, info: &KeyInfo) -> Arc<Reading<Value>> {
        match self.applicable_subject(subject, info.scope) {
            Some(of) => Arc::clone(self.shared_reading(&of, info.id)),
            None => Arc::new(Reading::absent(format!(
                "{subject} has no {}",
                info.scope.noun()
            ))),
        }
    }

    /// The subject whose facts of `scope` apply to `subject`: the host, `subject` itself, or a
    /// linked subject. `None` without such a link.
    pub fn applicable_subject(&self, subject: &Subject, scope: Scope) -> Option<Subject> {
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

    /// Makes the facts of `to` apply to `from`; replaces an earlier link to a subject of the same
    /// scope.
    pub fn set_fact_link(&mut self, from: &Subject, to: &Subject) {
        let links = self.links.entry(from.clone()).or_default();
        links.retain(|other| other.scope() != to.scope());
        links.push(to.clone());
    }

    /// Marks a scope as not applicable to a subject: a free disk has no mount. Facts of that scope
    /// then do not apply, instead of being unknown.
    pub fn mark_scope_inapplicable(&mut self, subject: &Subject, scope: Scope) {
        self.inapplicable
            .entry(subject.clone())
            .or_default()
            .push(scope);
    }

    pub fn is_scope_inapplicable(&self, subject: &Subject, scope: Scope) -> bool {
        self.inapplicable_scopes(subject).contains(&scope)
    }

    pub fn inapplicable_scopes(&self, subject: &Subject) -> &[Scope] {
        self.inapplicable.get(subject).map_or(&[], Vec::as_slice)
    }

    /// Facts of other areas then do not apply to the subject: a MySQL server has no `pg` settings.
    pub fn set_server_area(&mut self, subject: &Subject, area: ServerArea) {
        self.areas.insert(subject.clone(), area);
    }

    /// The area of the subject or, without one, of its linked cluster.
    pub fn server_area_of(&self, subject: &Subject) -> Option<ServerArea> {
        if self.areas.is_empty() {
            return None;
        }
        let own = || self.areas.get(subject).copied();
        own().or_else(|| {
            self.areas
                .get(&self.applicable_subject(subject, Scope::Cluster)?)
                .copied()
        })
    }

    pub fn is_of_other_area(&self, subject: &Subject, area: ServerArea) -> bool {
        self.server_area_of(subject)
            .is_some_and(|known| known != area)
    }

    /// Whether the fact belongs to another kind of server than the subject. False if the area of
    /// either is unknown.
    pub fn is_fact_of_other_area(&self, subject: &Subject, fact: &KeyInfo) -> bool {
        server_area_of_name(fact.name).is_some_and(|area| self.is_of_other_area(subject, area))
    }

    /// Adds an edge of the stack: target on mount, mount on device, array on disk, loop on mount.
    pub fn add_layer_below(&mut self, top: &Subject, base: &Subject) {
        let below = self.below.entry(top.clone()).or_default();
        if !below.contains(base) {
            below.push(base.clone());
        }
    }

    /// Removes an edge, but records that `top` still holds `base`, so that nothing else may use
    /// `base`. An example is an array that still holds a failed member.
    pub fn detach_layer_still_held(&mut self, top: &Subject, base: &Subject) {
        if let Some(below) = self.below.get_mut(top) {
            below.retain(|other| other != base);
        }
        let left = self.detached.entry(top.clone()).or_default();
        if !left.contains(base) {
            left.push(base.clone());
        }
    }

    pub fn layers_directly_below(&self, top: &Subject) -> &[Subject] {
        self.below.get(top).map_or(&[], Vec::as_slice)
    }

    /// All subjects below `top`, each once, nearest first, without `top`. Terminates even if a
    /// hostile capture contains a cycle.
    pub fn layers_below(&self, top: &Subject) -> Vec<Subject> {
        let mut seen = BTreeSet::from([top.clone()]);
        let mut order: Vec<Subject> = Vec::new();
        let mut row = vec![top.clone()];
        while !row.is_empty() {
            let mut next = Vec::new();
            for subject in row.iter().flat_map(|s| self.layers_directly_below(s)) {
                if seen.insert(subject.clone()) {
                    order.push(subject.clone());
                    next.push(subject.clone());
                }
            }
            row = next;
        }
        order
    }

    /// The block devices that a flush of `top` must reach: those with nothing below them. The
    /// result can be `top` itself.
    pub fn bottom_devices(&self, top: &Subject) -> Vec<Subject> {
        let ends =
            |s: &Subject| s.scope() == Scope::Device && self.layers_directly_below(s).is_empty();
        let below = self.layers_below(top).into_iter().filter(|s| ends(s));
        let itself = Some(top).filter(|top| ends(top)).cloned();
        below.chain(itself).collect()
    }

    /// Records `path` as another path to the disk behind `first`, as in a multipath setup.
    pub fn record_path_to_same_disk(&mut self, path: &Subject, first: &Subject) {
        let first = self.first_path_to_same_disk(first).clone();
        if *path != first {
            self.units.insert(path.clone(), first);
        }
    }

    /// The representative of all paths to the device's disk; a device that
    /// [`Self::record_path_to_same_disk`] did not record represents itself.
    pub fn first_path_to_same_disk<'s>(&'s self, device: &'s Subject) -> &'s Subject {
        self.units.get(device).unwrap_or(device)
    }

    /// The disks at the bottom of the stack, several paths to one disk counted once. Judgement of
    /// queues uses [`Self::bottom_devices`] instead, because each path has its own queue.
    pub fn distinct_bottom_disks(&self, top: &Subject) -> Vec<Subject> {
        let mut seen = BTreeSet::new();
        let units = self
            .bottom_devices(top)
            .into_iter()
            .map(|leaf| self.first_path_to_same_disk(&leaf).clone());
        units.filter(|unit| seen.insert(unit.clone())).collect()
    }

    pub fn subjects_of_scope(&self, scope: Scope) -> impl Iterator<Item = &Subject> {
        self.order
            .range(Subject::lowest_subject_of_scope(scope)..)
            .take_while(move |subject| subject.scope() == scope)
    }

    pub fn known_values_by_subject<T: FactValue + Send>(&self, key: &Key<T>) -> Vec<(&Subject, T)> {
        let subjects: Vec<&Subject> = self.subjects_of_scope(key.info.scope).collect();
        let values = parallel::map_items(&subjects, |subject| self.value(subject, key));
        subjects
            .into_iter()
            .zip(values)
            .filter_map(|(subject, value)| Some((subject, value?)))
            .collect()
    }

    pub fn subjects_where<T: FactValue + Send>(
        &self,
        key: &Key<T>,
        so: impl Fn(&T) -> bool,
    ) -> Vec<Subject> {
        self.known_values_by_subject(key)
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

    /// Every edge, including edges to devices that are only held (see
    /// [`Self::detach_layer_still_held`]).
    pub fn layer_edges(&self) -> impl Iterator<Item = (&Subject, &Subject)> {
        let mut below: Vec<_> = self.below.iter().chain(&self.detached).collect();
        below.sort_unstable_by_key(|(top, _)| *top);
        below
            .into_iter()
            .flat_map(|(top, below)| below.iter().map(move |base| (top, base)))
    }

    /// Adds everything in `other` except its assumptions. Readings of `other` replace those of this
    /// set, except assumed ones.
    pub fn merge(&mut self, other: Self) {
        for (subject, facts) in other.facts {
            let assumed = self.assumed.get(&subject);
            let row = match self.facts.entry(subject) {
                Entry::Vacant(place) => {
                    self.order.insert(place.key().clone());
                    place.insert(facts)
                }
                Entry::Occupied(place) => {
                    let row = place.into_mut();
                    Arc::make_mut(row).insert_all(&facts);
                    row
                }
            };
            if let Some(assumed) = assumed {
                Arc::make_mut(row).insert_all(assumed);
            }
        }
        for (top, below) in other.below {
            for base in below {
                self.add_layer_below(&top, &base);
            }
        }
        for (top, left) in other.detached {
            for base in left {
                self.detach_layer_still_held(&top, &base);
            }
        }
        for (from, links) in other.links {
            for to in &links {
                self.set_fact_link(&from, to);
            }
        }
        for (subject, scopes) in other.inapplicable {
            self.inapplicable.entry(subject).or_default().extend(scopes);
        }
        for (path, first) in other.units {
            self.record_path_to_same_disk(&path, &first);
        }
        self.areas.extend(other.areas);
        self.notes.extend(other.notes);
    }

    /// A separate set with the facts of the host, of the given subjects, and of everything directly
    /// below them. All assumptions and the edges of the given subjects are kept; links are not.
    #[must_use]
    pub fn subset_with_layers_below<'s>(
        &self,
        subjects: impl IntoIterator<Item = &'s Subject>,
    ) -> Self {
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
            self.layers_directly_below(subject)
                .iter()
                .for_each(&mut copy);
            if let Some(below) = self.below.get(subject) {
                part.below.insert(subject.clone(), below.clone());
            }
        }
        part
    }

    /// Merges the result of [`Self::subset_with_layers_below`] back. Facts of `part` about
    /// `subjects` replace those of this set, even newer ones. Facts of `part` about other subjects
    /// are ignored.
    pub fn merge_subset<'s>(
        &mut self,
        mut part: Self,
        subjects: impl IntoIterator<Item = &'s Subject>,
    ) {
        let rows = mem::take(&mut part.facts);
        for subject in subjects {
            if let Some(row) = rows.get(subject) {
                if !self.contains_subject(subject) {
                    self.order.insert(subject.clone());
                }
                self.facts.insert(subject.clone(), Arc::clone(row));
            }
        }
        self.merge(part);
    }

    pub fn add_note_once(&mut self, note: impl Into<Note>) {
        let note = note.into();
        if !self.notes.contains(&note) {
            self.notes.push(note);
        }
    }

    pub fn notes(&self) -> &[Note] {
        &self.notes
    }
}

impl Serialize for FactSet {
    fn serialize<S: Serializer>(&self, out: S) -> Result<S::Ok, S::Error> {
        out.collect_seq(self.rows())
    }
}

#[cfg(test)]
mod tests;
