//! What our binary does as the expendable child: it answers questions line by line, as itself or as the owner of what it
//! reads.
//!
//! Who asks, and how long he waits, is left to [`super::child`].

mod change;
mod delegate;

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::fd::AsFd;
use std::process::ExitCode;

use self::delegate::Delegate;
use super::child::{ARGUMENT, ARGUMENT_AS, LONGEST_QUESTION, frame};
use super::owner::Owner;
use super::{Miss, MissKind, Question, live, words};

/// Serves questions if this process was started as the child; otherwise `None`. `main` calls this before anything else,
/// with its arguments.
pub fn serve(mut arguments: impl Iterator<Item = OsString>) -> Option<ExitCode> {
    let first = arguments.nth(1)?;
    // An error means that the reader is gone, which is how the child ends.
    let _ = if first == OsStr::new(ARGUMENT) {
        answers().and_then(|answers| answer_all(io::stdin().lock(), answers, live::answer))
    } else if first == OsStr::new(ARGUMENT_AS) {
        answers().and_then(|answers| answer_as(io::stdin().lock(), answers))
    } else {
        return None;
    };
    Some(ExitCode::SUCCESS)
}

/// The output for answers, each written in one piece; standard output would split them at line ends.
fn answers() -> io::Result<File> {
    io::stdout().as_fd().try_clone_to_owned().map(File::from)
}

/// Becomes the user that the first line names, then answers; if that fails, the failure is the answer to every
/// question.
fn answer_as(mut questions: impl BufRead, answers: impl Write) -> io::Result<()> {
    let mut line = String::new();
    questions.by_ref().take(LONGEST_QUESTION as u64 + 1).read_line(&mut line)?;
    let Some(owner) = Owner::parse(line.trim_end_matches('\n')) else { return Ok(()) };
    match owner.become_it() {
        Ok(stream) => {
            let mut delegate = Delegate::new(owner, stream);
            answer_all(questions, answers, |question| delegate.answer(question))
        }
        Err(miss) => answer_all(questions, answers, |_| Err(miss.clone())),
    }
}

/// Answers question lines until there are no more.
fn answer_all(
    mut questions: impl BufRead,
    mut answers: impl Write,
    mut ask: impl FnMut(&Question) -> Result<Vec<u8>, Miss>,
) -> io::Result<()> {
    let mut line = String::new();
    while questions.by_ref().take(LONGEST_QUESTION as u64 + 1).read_line(&mut line)? > 0 {
        let answer = match words::decode(line.trim_end_matches('\n')) {
            Some(question) => ask(&question),
            None => Err(Miss::new(MissKind::Failed, "not a question")),
        };
        answers.write_all(&frame(&answer))?;
        answers.flush()?;
        line.clear();
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_child_answers_line_after_line() {
        let mut answers = Vec::new();
        let questions = b"link /proc/self/nothing\nwhat?\nread /proc/sys/kernel/ostype\n";
        answer_all(&questions[..], &mut answers, live::answer).unwrap();
        let text = String::from_utf8(answers).unwrap();
        assert!(text.starts_with("absent "), "{text}");
        assert!(text.ends_with("failed 14\nnot a questionok 6\nLinux\n"), "{text}");
    }

    #[test]
    fn other_arguments_are_not_for_the_child() {
        let words = |list: &[&str]| list.iter().map(OsString::from).collect::<Vec<_>>().into_iter();
        assert!(serve(words(&["walwise", "check"])).is_none());
        assert!(serve(words(&["walwise"])).is_none());
    }
}
