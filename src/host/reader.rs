//! What our binary does as the expendable child: it answers one question after another, as itself or as the owner of what
//! it reads.
//!
//! Who asks, and how long he waits, is left to [`super::child`].

mod change;
mod delegate;

use std::io;

use self::delegate::Delegate;
use super::owner::Owner;
use super::{Miss, MissKind, Question, live, words};
use crate::subprocess::{Bytes, Channel};

/// Answers questions.
pub fn serve(channel: Channel) -> io::Result<()> {
    answer_all(channel, live::answer)
}

/// Becomes the owner that the first message names, then answers; if that fails, the failure is the answer to every
/// question.
pub fn serve_as(mut channel: Channel) -> io::Result<()> {
    let owner: Owner = channel.recv(None)?;
    match owner.become_it() {
        Ok(stream) => {
            let mut delegate = Delegate::new(owner, stream);
            answer_all(channel, |question| delegate.answer(question))
        }
        Err(miss) => answer_all(channel, |_| Err(miss.clone())),
    }
}

/// Answers until nobody asks any more, which is how the child ends.
fn answer_all(
    mut channel: Channel,
    mut ask: impl FnMut(&Question) -> Result<Vec<u8>, Miss>,
) -> io::Result<()> {
    loop {
        let words: String = channel.recv(None)?;
        let answer = match words::decode(&words) {
            Some(question) => ask(&question),
            None => Err(Miss::new(MissKind::Failed, "not a question")),
        };
        channel.send(&answer.map(Bytes))?;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::deadline::ThreadInTime as _;
    use crate::subprocess::PATIENCE;

    #[test]
    fn the_child_answers_question_after_question() {
        let (mut ours, theirs) = Channel::pair();
        let child = std::thread::spawn(|| answer_all(theirs, live::answer));
        let mut ask = |words: &str| -> Result<Bytes, Miss> {
            ours.send(&words).unwrap();
            ours.recv(Some(PATIENCE)).unwrap()
        };
        assert_eq!(ask("link /proc/self/nothing").unwrap_err().kind, MissKind::Absent);
        assert_eq!(ask("what?").unwrap_err().detail, "not a question");
        assert_eq!(ask("read /proc/sys/kernel/ostype"), Ok(Bytes(b"Linux\n".to_vec())));
        drop(ours);
        assert!(child.join_in_time().is_err(), "nobody asks any more");
    }

    #[test]
    fn nothing_is_answered_as_root_on_behalf_of_somebody() {
        let (mut ours, theirs) = Channel::pair();
        let child = std::thread::spawn(|| serve_as(theirs));
        ours.send(&Owner { uid: 0, process: None, inside: false, socket: None }).unwrap();
        ours.send(&words::encode(&Question::Uname)).unwrap();
        let answer: Result<Bytes, Miss> = ours.recv(Some(PATIENCE)).unwrap();
        assert_eq!(answer.unwrap_err().kind, MissKind::Denied);
        drop(ours);
        assert!(child.join_in_time().is_err());
    }
}
