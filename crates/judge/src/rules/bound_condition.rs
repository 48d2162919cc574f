//! A condition in which the facts of one subject are looked up and every quantifier is expanded.
//!
//! If a stack does not end at a device, elements below its end could not be read. A quantifier over
//! such elements gets an additional part with an unknown result.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter;
use std::sync::Arc;

use super::model::{Condition, FactTest, StackElementKind};
use super::{ConditionTrace, Observation};
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::{Choice, FactSet, KeyInfo, Scope, Subject, SubjectFacts};
use crate::ternary::Ternary;

#[derive(Debug)]
pub(super) struct BoundCondition<'a> {
    text: ConditionLabelSource<'a>,
    /// The element, such as a disk, for which the enclosing quantifier tests this condition.
    pub element: Option<Subject>,
    pub node: ConditionNode<'a>,
}

#[derive(Debug)]
enum ConditionLabelSource<'a> {
    Condition(&'a Condition),
    UnknownBelow(Subject),
}

#[derive(Debug)]
pub(super) enum ConditionNode<'a> {
    /// Unknown for an empty list, because no element could be read.
    All(Vec<BoundCondition<'a>>),
    /// Unknown for an empty list, because no element could be read.
    Any(Vec<BoundCondition<'a>>),
    Not(Box<BoundCondition<'a>>),
    Test(&'a FactTest, Observation),
    /// Unknown, and no further fact can decide the condition.
    Undecidable,
}

impl<'a> BoundCondition<'a> {
    pub fn new(cond: &'a Condition, facts: &FactSet, subject: &Subject) -> Self {
        Self::from_context(cond, &SubjectContext::new(facts, subject))
    }

    pub fn from_context(cond: &'a Condition, view: &SubjectContext<'_>) -> Self {
        BindingContext {
            view,
            elements: &[],
        }
        .bind_condition(cond)
    }

    pub fn label(&self) -> String {
        let says = match &self.text {
            ConditionLabelSource::Condition(cond) => cond.node_label(),
            ConditionLabelSource::UnknownBelow(end) => {
                format!("the underlying device of {end} is unknown")
            }
        };
        match &self.element {
            Some(element) => format!("{}: {says}", element.name()),
            None => says,
        }
    }

    pub fn truth(&self) -> Ternary {
        match &self.node {
            ConditionNode::All(kids) => Ternary::all(kids.iter().map(Self::truth)),
            ConditionNode::Any(kids) => Ternary::any(kids.iter().map(Self::truth)),
            ConditionNode::Not(kid) => !kid.truth(),
            ConditionNode::Test(test, seen) => test.truth_for_reading(&seen.reading),
            ConditionNode::Undecidable => Ternary::Unknown,
        }
    }

    pub fn to_trace(&self) -> ConditionTrace {
        let seen = match &self.node {
            ConditionNode::Test(_, seen) => Some(seen.clone()),
            _ => None,
        };
        ConditionTrace {
            label: self.label(),
            truth: self.truth(),
            seen,
            kids: self.children().iter().map(Self::to_trace).collect(),
        }
    }

    /// The elements, such as disks, for which a quantifier has the result of this condition. The
    /// first quantifier that has this result decides; below `Not`, the opposite result is needed.
    pub fn deciding_elements(&self) -> Vec<&Subject> {
        self.deciding_quantifier_elements(self.truth())
            .unwrap_or_default()
    }

    fn deciding_quantifier_elements(&self, wanted: Ternary) -> Option<Vec<&Subject>> {
        let kids = self.children();
        if kids.iter().any(|kid| kid.element.is_some()) {
            if self.truth() != wanted {
                return None;
            }
            let fitting = kids.iter().filter(|kid| kid.truth() == wanted);
            return Some(fitting.filter_map(|kid| kid.element.as_ref()).collect());
        }
        let wanted = if matches!(self.node, ConditionNode::Not(_)) {
            !wanted
        } else {
            wanted
        };
        kids.iter()
            .find_map(|kid| kid.deciding_quantifier_elements(wanted))
    }

    pub fn children(&self) -> &[Self] {
        match &self.node {
            ConditionNode::All(kids) | ConditionNode::Any(kids) => kids,
            ConditionNode::Not(kid) => std::slice::from_ref(kid),
            ConditionNode::Test(..) | ConditionNode::Undecidable => &[],
        }
    }
}

/// The result of the condition. The evaluation builds no [`BoundCondition`], and stops at the first
/// part that decides.
pub(super) fn evaluate_condition(cond: &Condition, view: &SubjectContext<'_>) -> Ternary {
    BindingContext {
        view,
        elements: &[],
    }
    .evaluate(cond)
}

pub(super) struct SubjectContext<'f> {
    pub facts: &'f FactSet,
    pub subject: &'f Subject,
    stack: OnceCell<StackSubjects>,
    lookup_subjects: [OnceCell<Option<SubjectWithFacts<'f>>>; Scope::ALL.len()],
}

impl<'f> SubjectContext<'f> {
    pub fn new(facts: &'f FactSet, subject: &'f Subject) -> Self {
        Self {
            facts,
            subject,
            stack: OnceCell::new(),
            lookup_subjects: Default::default(),
        }
    }

    fn stack(&self) -> &StackSubjects {
        self.stack
            .get_or_init(|| StackSubjects::from_facts(self.facts, self.subject))
    }

    fn subject_in_scope(&self, scope: Scope) -> Option<&SubjectWithFacts<'f>> {
        let find = || {
            let of = self.facts.applicable_subject(self.subject, scope)?;
            let facts = self.facts.subject_facts(&of);
            Some(SubjectWithFacts { subject: of, facts })
        };
        self.lookup_subjects
            .get(scope as usize)?
            .get_or_init(find)
            .as_ref()
    }
}

struct SubjectWithFacts<'f> {
    subject: Subject,
    facts: SubjectFacts<'f>,
}

/// Subjects whose facts are looked up: the innermost quantifier element of the fact's scope, or
/// else the rule's subject or a linked one.
#[derive(Clone, Copy)]
struct BindingContext<'p, 'f> {
    view: &'p SubjectContext<'f>,
    elements: &'p [Subject],
}

impl BindingContext<'_, '_> {
    fn bind_condition<'a>(&self, cond: &'a Condition) -> BoundCondition<'a> {
        let each =
            |conds: &'a [Condition]| conds.iter().map(|one| self.bind_condition(one)).collect();
        let node = match cond {
            Condition::All(conds) => ConditionNode::All(each(conds)),
            Condition::Any(conds) => ConditionNode::Any(each(conds)),
            Condition::Not(cond) => ConditionNode::Not(Box::new(self.bind_condition(cond))),
            Condition::Every(relation, cond) => {
                ConditionNode::All(self.bind_elements(*relation, cond))
            }
            Condition::Some(relation, cond) => {
                ConditionNode::Any(self.bind_elements(*relation, cond))
            }
            Condition::Fact(test) => ConditionNode::Test(test, self.observe_fact(test.fact)),
        };
        BoundCondition {
            text: ConditionLabelSource::Condition(cond),
            element: None,
            node,
        }
    }

    fn evaluate(&self, cond: &Condition) -> Ternary {
        match cond {
            Condition::All(conds) => Ternary::all(conds.iter().map(|one| self.evaluate(one))),
            Condition::Any(conds) => Ternary::any(conds.iter().map(|one| self.evaluate(one))),
            Condition::Not(cond) => !self.evaluate(cond),
            Condition::Every(relation, cond) => {
                let stack = self.stack();
                Ternary::all(self.results_per_stack_element(&stack, *relation, cond))
            }
            Condition::Some(relation, cond) => {
                let stack = self.stack();
                Ternary::any(self.results_per_stack_element(&stack, *relation, cond))
            }
            Condition::Fact(test) => match self.innermost_subject_in_scope(test.fact.scope) {
                Some((_, known)) => {
                    test.truth_for_reading(known.reading_or_not_collected(test.fact.id))
                }
                None => test.truth_for_reading(&self.observe_fact(test.fact).reading),
            },
        }
    }

    fn results_per_stack_element<'s>(
        &'s self,
        stack: &'s StackSubjects,
        relation: StackElementKind,
        cond: &'s Condition,
    ) -> impl Iterator<Item = Ternary> + 's {
        let on = move |element| self.with_inner_element(element, |place| place.evaluate(cond));
        let unseen = move || {
            stack
                .find_unread_stack_end(self.view.facts, relation)
                .map(|_| Ternary::Unknown)
        };
        stack
            .elements_of_kind(relation)
            .map(on)
            .chain(iter::once_with(unseen).flatten())
    }

    fn with_inner_element<R>(
        &self,
        element: &Subject,
        work: impl FnOnce(BindingContext<'_, '_>) -> R,
    ) -> R {
        let elements = [self.elements, std::slice::from_ref(element)].concat();
        work(BindingContext {
            elements: &elements,
            ..*self
        })
    }

    fn stack(&self) -> Cow<'_, StackSubjects> {
        match self.elements.last() {
            Some(element) => Cow::Owned(StackSubjects::from_facts(self.view.facts, element)),
            None => Cow::Borrowed(self.view.stack()),
        }
    }

    fn innermost_subject_in_scope(&self, scope: Scope) -> Option<(&Subject, SubjectFacts<'_>)> {
        let element = self.elements.iter().rev().find(|one| one.scope() == scope);
        let element = element.map(|element| (element, self.view.facts.subject_facts(element)));
        element.or_else(|| {
            self.view
                .subject_in_scope(scope)
                .map(|home| (&home.subject, home.facts))
        })
    }

    fn observe_fact(&self, fact: &KeyInfo) -> Observation {
        let SubjectContext { facts, subject, .. } = self.view;
        match self.innermost_subject_in_scope(fact.scope) {
            Some((of, known)) => Observation {
                subject: of.clone(),
                fact: fact.name,
                reading: Arc::clone(known.reading_or_not_collected(fact.id)),
            },
            None => Observation {
                subject: (*subject).clone(),
                fact: fact.name,
                reading: facts.applicable_reading(subject, fact),
            },
        }
    }

    /// If unread elements may exist, an undecidable condition is added for them.
    fn bind_elements<'a>(
        &self,
        relation: StackElementKind,
        cond: &'a Condition,
    ) -> Vec<BoundCondition<'a>> {
        let stack = self.stack();
        let on = |element: &Subject| {
            let ground = self.with_inner_element(element, |place| place.bind_condition(cond));
            BoundCondition {
                element: Some(element.clone()),
                ..ground
            }
        };
        let unseen = stack
            .find_unread_stack_end(self.view.facts, relation)
            .map(|end| BoundCondition {
                text: ConditionLabelSource::UnknownBelow(end.clone()),
                element: None,
                node: ConditionNode::Undecidable,
            });
        stack
            .elements_of_kind(relation)
            .map(on)
            .chain(unseen)
            .collect()
    }
}

#[derive(Clone)]
struct StackSubjects {
    all: Vec<Subject>,
    leaves: Vec<Subject>,
}

impl StackSubjects {
    fn from_facts(facts: &FactSet, subject: &Subject) -> Self {
        // A cluster or a boot line has no devices directly below. The stack then begins at the
        // linked target or mount.
        let linked =
            [Scope::Target, Scope::Mount].map(|scope| facts.applicable_subject(subject, scope));
        let standing = |one: &Subject| !facts.layers_directly_below(one).is_empty();
        let top = [Some(subject.clone())]
            .into_iter()
            .chain(linked)
            .flatten()
            .find(standing);
        let top = top.unwrap_or_else(|| subject.clone());
        let all = [top.clone()]
            .into_iter()
            .chain(facts.layers_below(&top))
            .collect();
        Self {
            all,
            leaves: facts.bottom_devices(&top),
        }
    }

    fn elements_of_kind(&self, relation: StackElementKind) -> impl Iterator<Item = &Subject> {
        let (from, scope) = match relation {
            StackElementKind::Leaf => (&self.leaves, None),
            relation => (&self.all, Some(relation.scope())),
        };
        from.iter()
            .filter(move |one| scope.is_none_or(|scope| one.scope() == scope))
    }

    /// An end of the stack below which unread elements of the kind `relation` may exist.
    fn find_unread_stack_end(
        &self,
        facts: &FactSet,
        relation: StackElementKind,
    ) -> Option<&Subject> {
        let ends = self
            .all
            .iter()
            .filter(|one| facts.layers_directly_below(one).is_empty());
        let mut open = ends.filter(|end| end.scope() != Scope::Device);
        open.find(|end| relation == StackElementKind::Leaf || !is_without_local_storage(facts, end))
    }
}

/// Whether the file system is on the network or in memory, so that nothing below is missing. False
/// if its class is unknown.
fn is_without_local_storage(facts: &FactSet, end: &Subject) -> bool {
    facts
        .value(end, &mount::CLASS)
        .is_some_and(MountClass::is_without_local_storage)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::catalog::device;
    use crate::facts::{Source, Value};
    use crate::rules::model::TestOperator;

    fn every_cache_is_protected_condition(relation: StackElementKind) -> Condition {
        let op = TestOperator::Is(Value::Text("protected".to_owned()));
        Condition::Every(
            relation,
            Box::new(Condition::Fact(FactTest {
                fact: &device::CACHE.info,
                op,
                negated: false,
            })),
        )
    }

    fn half_read_stack() -> (FactSet, Subject, Subject) {
        let mut set = FactSet::default();
        let (target, top, below) = (
            Subject::target("/t"),
            Subject::mount("/t"),
            Subject::mount("/below"),
        );
        let (disk, loop0) = (Subject::device("sda"), Subject::device("loop0"));
        for (top, base) in [
            (&target, &top),
            (&top, &disk),
            (&top, &loop0),
            (&loop0, &below),
        ] {
            set.add_layer_below(top, base);
        }
        for device in [&disk, &loop0] {
            set.insert_known(
                device,
                &device::CACHE,
                device::CacheVolatility::Protected,
                Source::from_file("x"),
            );
        }
        (set, target, below)
    }

    #[test]
    fn quantifier_over_incomplete_stack_is_unknown() {
        let (mut set, target, below) = half_read_stack();
        let truth = |set: &FactSet, relation| {
            BoundCondition::new(&every_cache_is_protected_condition(relation), set, &target).truth()
        };
        assert_eq!(truth(&set, StackElementKind::Leaf), Ternary::Unknown);
        assert_eq!(truth(&set, StackElementKind::Layer), Ternary::Unknown);
        // A network file system has no layers on this host, but has disks elsewhere, which are
        // unknown.
        set.insert_known(
            &below,
            &mount::CLASS,
            MountClass::Network,
            Source::from_file("x"),
        );
        assert_eq!(truth(&set, StackElementKind::Leaf), Ternary::Unknown);
        assert_eq!(truth(&set, StackElementKind::Layer), Ternary::True);
        set.add_layer_below(&below, &Subject::device("sda"));
        assert_eq!(truth(&set, StackElementKind::Leaf), Ternary::True);
    }

    #[test]
    fn deciding_elements_have_the_quantifier_result() {
        let (mut set, target, _) = half_read_stack();
        set.insert_known(
            &Subject::device("loop0"),
            &device::CACHE,
            device::CacheVolatility::Volatile,
            Source::from_file("x"),
        );
        let named = |set: &FactSet, cond: &Condition| {
            let ground = BoundCondition::new(cond, set, &target);
            ground
                .deciding_elements()
                .into_iter()
                .map(|one| one.name().to_owned())
                .collect::<Vec<_>>()
        };
        let protected = every_cache_is_protected_condition(StackElementKind::Layer);
        assert_eq!(
            named(&set, &protected),
            ["loop0"],
            "it is what makes it false"
        );
        assert_eq!(
            named(
                &set,
                &Condition::Not(Box::new(every_cache_is_protected_condition(
                    StackElementKind::Layer
                )))
            ),
            ["loop0"]
        );
        let Condition::Every(relation, holds) =
            every_cache_is_protected_condition(StackElementKind::Layer)
        else {
            panic!()
        };
        let unprotected = Condition::Some(relation, Box::new(Condition::Not(holds.clone())));
        assert_eq!(
            named(&set, &Condition::Any(vec![protected.clone(), unprotected])),
            ["loop0"],
            "the first quantifier is false and decides nothing"
        );
        assert_eq!(
            named(
                &set,
                &Condition::All(vec![Condition::Some(relation, holds)])
            ),
            ["sda"]
        );
    }

    #[test]
    fn cluster_uses_stack_of_linked_target() {
        let (mut set, target, below) = half_read_stack();
        set.add_layer_below(&below, &Subject::device("sda"));
        let cluster = Subject::cluster("/t");
        set.set_fact_link(&cluster, &target);
        assert_eq!(
            BoundCondition::new(
                &every_cache_is_protected_condition(StackElementKind::Leaf),
                &set,
                &cluster
            )
            .truth(),
            Ternary::True
        );
        assert_eq!(
            BoundCondition::new(
                &every_cache_is_protected_condition(StackElementKind::Leaf),
                &set,
                &Subject::cluster("/u")
            )
            .truth(),
            Ternary::Unknown
        );
    }
}
