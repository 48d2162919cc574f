//! A condition applied to the facts of one subject: every fact looked up, every quantifier
//! expanded.
//!
//! Evaluation, needs and the asymmetry rule all read this one tree, so they cannot disagree about
//! where a fact was looked up. Where a path of the stack ends in something other than a disk,
//! quantifiers get an extra element without known facts, because an incompletely read stack could
//! hold anything. Most rules do not apply to most subjects, because a single part is false;
//! [`truth`] stops there and builds no tree.

use std::borrow::Cow;
use std::cell::OnceCell;
use std::iter;
use std::sync::Arc;

use super::model::{Cond, Relation, Test};
use super::{Seen, Trace};
use crate::facts::catalog::mount::{self, MountClass};
use crate::facts::{About, FactSet, KeyInfo, Reading, Scope, Subject, Value};
use crate::truth::Truth;

/// A condition on one subject.
#[derive(Debug)]
pub(super) struct BoundCondition<'a> {
    says: Says<'a>,
    /// The element of a quantifier that it is about.
    pub element: Option<Subject>,
    pub node: ConditionNode<'a>,
}

/// The statement of a condition; worded only where it is read.
#[derive(Debug)]
enum Says<'a> {
    Cond(&'a Cond),
    /// That the devices below this one are unknown.
    Unseen(Subject),
}

/// A condition on one subject, without its words.
#[derive(Debug)]
pub(super) enum ConditionNode<'a> {
    /// All of them hold; unknown for none.
    All(Vec<BoundCondition<'a>>),
    /// One of them holds; unknown for none.
    Any(Vec<BoundCondition<'a>>),
    Not(Box<BoundCondition<'a>>),
    /// A test of a fact that was looked up.
    Test(&'a Test, Seen),
    /// Unknown, and no fact would decide it.
    Blind,
}

impl<'a> BoundCondition<'a> {
    /// Applies a condition to a subject.
    pub fn new(cond: &'a Cond, facts: &FactSet, subject: &Subject) -> Self {
        Self::on(cond, &SubjectView::new(facts, subject))
    }

    /// The same, with lookups of the subject reused.
    pub fn on(cond: &'a Cond, view: &SubjectView<'_>) -> Self {
        LookupScope {
            view,
            elements: &[],
        }
        .ground(cond)
    }

    pub fn label(&self) -> String {
        let says = match &self.says {
            Says::Cond(cond) => cond.label(),
            Says::Unseen(end) => format!("the device under {end} is unknown"),
        };
        match &self.element {
            Some(element) => format!("{}: {says}", element.name()),
            None => says,
        }
    }

    pub fn truth(&self) -> Truth {
        match &self.node {
            ConditionNode::All(kids) => Truth::every(kids.iter().map(Self::truth)),
            ConditionNode::Any(kids) => Truth::some(kids.iter().map(Self::truth)),
            ConditionNode::Not(kid) => !kid.truth(),
            ConditionNode::Test(test, seen) => test.holds(&seen.reading),
            ConditionNode::Blind => Truth::Unknown,
        }
    }

    /// With every sub-result, as the explanation shows it.
    pub fn trace(&self) -> Trace {
        let kids: Vec<Trace> = self.kids().iter().map(Self::trace).collect();
        let truths = || kids.iter().map(|kid| kid.truth);
        let truth = match &self.node {
            ConditionNode::All(_) => Truth::every(truths()),
            ConditionNode::Any(_) => Truth::some(truths()),
            ConditionNode::Not(_) => !Truth::every(truths()),
            ConditionNode::Test(..) | ConditionNode::Blind => self.truth(),
        };
        let seen = match &self.node {
            ConditionNode::Test(_, seen) => Some(seen.clone()),
            _ => None,
        };
        Trace {
            label: self.label(),
            truth,
            seen,
            kids,
        }
    }

    /// The elements of the first quantifier whose result is that of the whole: where the whole
    /// holds, the elements for which it holds.
    pub fn which(&self) -> Vec<&Subject> {
        self.which_come_to(self.truth()).unwrap_or_default()
    }

    fn which_come_to(&self, wanted: Truth) -> Option<Vec<&Subject>> {
        let kids = self.kids();
        if kids.iter().any(|kid| kid.element.is_some()) {
            let fitting = kids.iter().filter(|kid| kid.truth() == wanted);
            return Some(fitting.filter_map(|kid| kid.element.as_ref()).collect());
        }
        let wanted = if matches!(self.node, ConditionNode::Not(_)) {
            !wanted
        } else {
            wanted
        };
        kids.iter().find_map(|kid| kid.which_come_to(wanted))
    }

    pub fn kids(&self) -> &[Self] {
        match &self.node {
            ConditionNode::All(kids) | ConditionNode::Any(kids) => kids,
            ConditionNode::Not(kid) => std::slice::from_ref(kid),
            ConditionNode::Test(..) | ConditionNode::Blind => &[],
        }
    }
}

/// The result of a condition on a subject: that of its [`BoundCondition`].
pub(super) fn truth(cond: &Cond, view: &SubjectView<'_>) -> Truth {
    LookupScope {
        view,
        elements: &[],
    }
    .truth(cond)
}

/// A subject with its facts and, on first use, its stack and the subjects in which its facts are
/// looked up: many rules use those of one subject.
pub(super) struct SubjectView<'f> {
    pub facts: &'f FactSet,
    pub subject: &'f Subject,
    stack: OnceCell<StackSubjects>,
    homes: [OnceCell<Option<LookupSubject<'f>>>; Scope::ALL.len()],
}

impl<'f> SubjectView<'f> {
    /// A view without any lookups yet.
    pub fn new(facts: &'f FactSet, subject: &'f Subject) -> Self {
        Self {
            facts,
            subject,
            stack: OnceCell::new(),
            homes: Default::default(),
        }
    }

    fn stack(&self) -> &StackSubjects {
        self.stack
            .get_or_init(|| StackSubjects::from_facts(self.facts, self.subject))
    }

    /// The subject in which facts of a scope are looked up.
    fn home(&self, scope: Scope) -> Option<&LookupSubject<'f>> {
        let find = || {
            let of = self.facts.resolve(self.subject, scope)?;
            let known = self.facts.about(&of);
            Some(LookupSubject { of, known })
        };
        self.homes.get(scope as usize)?.get_or_init(find).as_ref()
    }
}

/// A subject in which facts are looked up, with all its facts.
struct LookupSubject<'f> {
    of: Subject,
    known: About<'f>,
}

/// The place of a lookup: the innermost element of the scope, or the rule's subject.
#[derive(Clone, Copy)]
struct LookupScope<'p, 'f> {
    view: &'p SubjectView<'f>,
    elements: &'p [Subject],
}

impl LookupScope<'_, '_> {
    fn ground<'a>(&self, cond: &'a Cond) -> BoundCondition<'a> {
        let each = |conds: &'a [Cond]| conds.iter().map(|one| self.ground(one)).collect();
        let node = match cond {
            Cond::All(conds) => ConditionNode::All(each(conds)),
            Cond::Any(conds) => ConditionNode::Any(each(conds)),
            Cond::Not(cond) => ConditionNode::Not(Box::new(self.ground(cond))),
            Cond::Every(relation, cond) => ConditionNode::All(self.spread(*relation, cond)),
            Cond::Some(relation, cond) => ConditionNode::Any(self.spread(*relation, cond)),
            Cond::Fact(test) => ConditionNode::Test(test, self.look(test.fact)),
        };
        BoundCondition {
            says: Says::Cond(cond),
            element: None,
            node,
        }
    }

    fn truth(&self, cond: &Cond) -> Truth {
        match cond {
            Cond::All(conds) => Truth::every(conds.iter().map(|one| self.truth(one))),
            Cond::Any(conds) => Truth::some(conds.iter().map(|one| self.truth(one))),
            Cond::Not(cond) => !self.truth(cond),
            Cond::Every(relation, cond) => {
                let stack = self.stack();
                Truth::every(self.truths(&stack, *relation, cond))
            }
            Cond::Some(relation, cond) => {
                let stack = self.stack();
                Truth::some(self.truths(&stack, *relation, cond))
            }
            Cond::Fact(test) => match self.home(test.fact.scope) {
                Some((_, known)) => test.holds(known.shared(test.fact.id)),
                None => test.holds(&self.look(test.fact).reading),
            },
        }
    }

    /// The result of the condition on each element, and on one that may follow unseen.
    fn truths<'s>(
        &'s self,
        stack: &'s StackSubjects,
        relation: Relation,
        cond: &'s Cond,
    ) -> impl Iterator<Item = Truth> + 's {
        let on = move |element| self.within(element, |place| place.truth(cond));
        let unseen = move || {
            stack
                .open_end(self.view.facts, relation)
                .map(|_| Truth::Unknown)
        };
        stack
            .elements(relation)
            .map(on)
            .chain(iter::once_with(unseen).flatten())
    }

    /// The same place, in one more element.
    fn within<R>(&self, element: &Subject, work: impl FnOnce(LookupScope<'_, '_>) -> R) -> R {
        let elements = [self.elements, std::slice::from_ref(element)].concat();
        work(LookupScope {
            elements: &elements,
            ..*self
        })
    }

    /// The stack that a quantifier goes through: that of the innermost element, or of the rule's
    /// subject.
    fn stack(&self) -> Cow<'_, StackSubjects> {
        match self.elements.last() {
            Some(element) => Cow::Owned(StackSubjects::from_facts(self.view.facts, element)),
            None => Cow::Borrowed(self.view.stack()),
        }
    }

    /// The subject in which facts of a scope are looked up, and its facts.
    fn home(&self, scope: Scope) -> Option<(&Subject, About<'_>)> {
        let element = self.elements.iter().rev().find(|one| one.scope() == scope);
        let element = element.map(|element| (element, self.view.facts.about(element)));
        element.or_else(|| self.view.home(scope).map(|home| (&home.of, home.known)))
    }

    fn look(&self, fact: &KeyInfo) -> Seen {
        let SubjectView { facts, subject, .. } = self.view;
        match self.home(fact.scope) {
            Some((of, known)) => Seen {
                subject: of.clone(),
                fact: fact.name,
                reading: Arc::clone(known.shared(fact.id)),
            },
            None => Seen {
                subject: (*subject).clone(),
                fact: fact.name,
                reading: facts.lookup(subject, fact),
            },
        }
    }

    /// The condition on every element, and on one without known facts where the stack may continue
    /// unseen.
    fn spread<'a>(&self, relation: Relation, cond: &'a Cond) -> Vec<BoundCondition<'a>> {
        let stack = self.stack();
        let on = |element: &Subject| {
            let ground = self.within(element, |place| place.ground(cond));
            BoundCondition {
                element: Some(element.clone()),
                ..ground
            }
        };
        let unseen = stack
            .open_end(self.view.facts, relation)
            .map(|end| BoundCondition {
                says: Says::Unseen(end.clone()),
                element: None,
                node: ConditionNode::Blind,
            });
        stack.elements(relation).map(on).chain(unseen).collect()
    }
}

/// A subject with everything below it, nearest first.
#[derive(Clone)]
struct StackSubjects {
    all: Vec<Subject>,
    leaves: Vec<Subject>,
}

impl StackSubjects {
    fn from_facts(facts: &FactSet, subject: &Subject) -> Self {
        // Clusters and boot lines stand on nothing themselves; their target or mount does.
        let linked = [Scope::Target, Scope::Mount].map(|scope| facts.resolve(subject, scope));
        let standing = |one: &Subject| !facts.below(one).is_empty();
        let top = [Some(subject.clone())]
            .into_iter()
            .chain(linked)
            .flatten()
            .find(standing);
        let top = top.unwrap_or_else(|| subject.clone());
        let all = [top.clone()].into_iter().chain(facts.stack(&top)).collect();
        Self {
            all,
            leaves: facts.leaves(&top),
        }
    }

    fn elements(&self, relation: Relation) -> impl Iterator<Item = &Subject> {
        let (from, scope) = match relation {
            Relation::Leaf => (&self.leaves, None),
            relation => (&self.all, Some(relation.scope())),
        };
        from.iter()
            .filter(move |one| scope.is_none_or(|scope| one.scope() == scope))
    }

    /// An end of the stack below which more must follow, as far as the relation is concerned.
    fn open_end(&self, facts: &FactSet, relation: Relation) -> Option<&Subject> {
        let ends = self.all.iter().filter(|one| facts.below(one).is_empty());
        let mut open = ends.filter(|end| end.scope() != Scope::Device);
        open.find(|end| relation == Relation::Leaf || !stands_alone(facts, end))
    }
}

/// File systems that stand on no device and no other file system of this machine.
fn stands_alone(facts: &FactSet, end: &Subject) -> bool {
    facts
        .value(end, &mount::CLASS)
        .is_some_and(MountClass::is_diskless)
}

/// Whether the result depends only on readings that `seen_here` accepts: enough of them exist, and
/// none is unknown.
pub(super) fn proven(
    ground: &BoundCondition<'_>,
    seen_here: &dyn Fn(&Reading<Value>) -> bool,
) -> bool {
    let truth = ground.truth();
    let enough = |kids: &[BoundCondition<'_>], needs_all: bool| {
        let mut proofs = kids
            .iter()
            .map(|kid| kid.truth() == truth && proven(kid, seen_here));
        !kids.is_empty()
            && if needs_all {
                proofs.all(|one| one)
            } else {
                proofs.any(|one| one)
            }
    };
    match (&ground.node, truth) {
        (_, Truth::Unknown) | (ConditionNode::Blind, _) => false,
        (ConditionNode::All(kids), Truth::True) | (ConditionNode::Any(kids), Truth::False) => {
            enough(kids, true)
        }
        (ConditionNode::All(kids), Truth::False) | (ConditionNode::Any(kids), Truth::True) => {
            enough(kids, false)
        }
        (ConditionNode::Not(kid), _) => proven(kid, seen_here),
        (ConditionNode::Test(_, seen), _) => seen.reading.is_known() && seen_here(&seen.reading),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::facts::Source;
    use crate::facts::catalog::device;
    use crate::rules::model::Op;

    fn every(relation: Relation) -> Cond {
        let op = Op::Is(Value::Text("protected".to_owned()));
        Cond::Every(
            relation,
            Box::new(Cond::Fact(Test {
                fact: &device::CACHE.info,
                op,
            })),
        )
    }

    /// A target on a mount on a protected disk, and on a loop device whose file lies on another
    /// mount.
    fn half_read() -> (FactSet, Subject, Subject) {
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
            set.stand(top, base);
        }
        for device in [&disk, &loop0] {
            set.know(
                device,
                &device::CACHE,
                device::Cache::Protected,
                Source::file("x"),
            );
        }
        (set, target, below)
    }

    #[test]
    fn a_stack_that_goes_on_unseen_is_not_known_to_be_safe() {
        let (mut set, target, below) = half_read();
        let truth =
            |set: &FactSet, relation| BoundCondition::new(&every(relation), set, &target).truth();
        assert_eq!(truth(&set, Relation::Leaf), Truth::Unknown);
        assert_eq!(truth(&set, Relation::Layer), Truth::Unknown);
        // A file on a network file system ends the block devices of this machine, but has no disk
        // here.
        set.know(
            &below,
            &mount::CLASS,
            MountClass::Network,
            Source::file("x"),
        );
        assert_eq!(truth(&set, Relation::Leaf), Truth::Unknown);
        assert_eq!(truth(&set, Relation::Layer), Truth::True);
        set.stand(&below, &Subject::device("sda"));
        assert_eq!(truth(&set, Relation::Leaf), Truth::True);
    }

    #[test]
    fn the_elements_that_a_condition_is_about() {
        let (mut set, target, _) = half_read();
        set.know(
            &Subject::device("loop0"),
            &device::CACHE,
            device::Cache::Volatile,
            Source::file("x"),
        );
        let named = |set: &FactSet, cond: &Cond| {
            let ground = BoundCondition::new(cond, set, &target);
            ground
                .which()
                .into_iter()
                .map(|one| one.name().to_owned())
                .collect::<Vec<_>>()
        };
        let protected = every(Relation::Layer);
        assert_eq!(
            named(&set, &protected),
            ["loop0"],
            "it is what makes it false"
        );
        assert_eq!(
            named(&set, &Cond::Not(Box::new(every(Relation::Layer)))),
            ["loop0"]
        );
        let Cond::Every(relation, holds) = every(Relation::Layer) else {
            panic!()
        };
        assert_eq!(
            named(&set, &Cond::All(vec![Cond::Some(relation, holds)])),
            ["sda"]
        );
    }

    #[test]
    fn what_stands_on_nothing_itself_has_the_stack_of_what_it_is_linked_to() {
        let (mut set, target, below) = half_read();
        set.stand(&below, &Subject::device("sda"));
        let cluster = Subject::cluster("/t");
        set.link(&cluster, &target);
        assert_eq!(
            BoundCondition::new(&every(Relation::Leaf), &set, &cluster).truth(),
            Truth::True
        );
        assert_eq!(
            BoundCondition::new(&every(Relation::Leaf), &set, &Subject::cluster("/u")).truth(),
            Truth::Unknown
        );
    }
}
