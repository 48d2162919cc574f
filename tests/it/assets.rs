//! Generated files kept beside the sources: manual pages, completions, pictures, reference. Each must equal the
//! output of the present program.
//!
//! `WALWISE_UPDATE=1 cargo test --test it assets` writes all of them again.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use walwise::inside::cli::args::Shell;
use walwise::inside::cli::generate;
use walwise::inside::collect::Request;
use walwise::inside::host::RecordedHost;
use walwise::inside::measure::Measurement;
use walwise::inside::pipeline::Session;
use walwise::inside::report::html;
use walwise::inside::rules::{RuleSet, reference};
use walwise::inside::trial::TrialRecord;
use walwise::inside::ui::trial_picture;

/// The size of the terminal in most pictures.
const SIZE: (u16, u16) = (100, 32);
/// The sizes of the terminal in pictures of the screens that have a layout for each.
const LAYOUTS: [(u16, u16); 3] = [(80, 24), (100, 30), (140, 45)];
/// Those screens.
const LAID_OUT: [&str; 2] = ["overview", "probe"];

fn of_repository(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

/// The screens for the recorded machine in `tests/screens`, with its measurement; some of them at several sizes, with the
/// size in the name of the file.
fn pictures() -> Vec<generate::OutputFile> {
    let is_laid_out = |name: &str| LAID_OUT.iter().any(|screen| *name == format!("{screen}.svg"));
    let mut all: Vec<generate::OutputFile> = pictures_at(SIZE);
    all.retain(|(name, _)| !is_laid_out(name));
    for (columns, rows) in LAYOUTS {
        let laid_out = pictures_at((columns, rows)).into_iter().filter(|(name, _)| is_laid_out(name));
        all.extend(
            laid_out.map(|(name, svg)| (name.replace(".svg", &format!("-{columns}x{rows}.svg")), svg)),
        );
    }
    all
}

fn pictures_at(size: (u16, u16)) -> Vec<generate::OutputFile> {
    let (session, measured) = recorded("probe.json");
    generate::pictures(session, Some(measured), size)
}

/// The recorded machine in `tests/screens`, and a measurement there.
fn recorded(measurement: &str) -> (Session, Measurement) {
    let read = |name: &str| fs::read(of_repository("tests/screens").join(name)).unwrap();
    let host = RecordedHost::parse(&read("vm.host")).unwrap();
    let request = Request {
        target: Some("/srv/pg/data".into()),
        without_programs: false,
        new: true,
        ..Request::default()
    };
    let session = Session::look(&host, &request, RuleSet::builtin(), &mut |_, _| ());
    (session, generate::measurement(&read(measurement)).unwrap())
}

/// The page of the recorded machine, with a measurement that has all that a page draws.
fn page() -> String {
    let (session, measured) = recorded("page.json");
    generate::page(session, measured)
}

/// Every generated file, by its name in the repository.
fn made() -> BTreeMap<String, String> {
    let within = |directory: &'static str, documents: Vec<generate::OutputFile>| {
        documents.into_iter().map(move |(name, document)| (format!("{directory}/{name}"), document))
    };
    let mut files = BTreeMap::new();
    files.extend(within("assets/man", generate::pages().unwrap()));
    files.extend(within("assets/completions", Shell::ALL.map(generate::completions).to_vec()));
    files.extend(within("assets/screens", pictures()));
    files.insert("assets/report.html".to_owned(), page());
    let trial =
        TrialRecord::parse(&fs::read_to_string(of_repository("rules/trials/filesystems.json")).unwrap());
    let trial = trial.unwrap();
    files.insert("assets/trial.html".to_owned(), html::trial::render(&trial));
    files.insert("assets/screens/trial.svg".to_owned(), trial_picture(&trial, (100, 30)));
    files.insert("rules/REFERENCE.md".to_owned(), reference::render());
    files
}

/// Directories with generated files only.
const MADE: [&str; 3] = ["assets/man", "assets/completions", "assets/screens"];

#[test]
fn what_is_kept_is_what_the_program_makes() {
    let made = made();
    let update = std::env::var_os("WALWISE_UPDATE").is_some();
    let mut wrong = Vec::new();
    for (name, document) in &made {
        let file = of_repository(name);
        if update {
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, document).unwrap();
        }
        if fs::read_to_string(&file).unwrap_or_default() != *document {
            wrong.push(format!("{name} is stale"));
        }
    }
    for directory in MADE {
        for entry in fs::read_dir(of_repository(directory)).unwrap() {
            let name = format!("{directory}/{}", entry.unwrap().file_name().to_str().unwrap());
            if !made.contains_key(&name) && update {
                fs::remove_file(of_repository(&name)).unwrap();
            } else if !made.contains_key(&name) {
                wrong.push(format!("{name} is made no more"));
            }
        }
    }
    let advice = "write them anew and look at them: WALWISE_UPDATE=1 cargo test --test it assets";
    assert!(wrong.is_empty(), "{}; {advice}", wrong.join(", "));
}

/// Nothing in a picture is loaded, run or taken from elsewhere.
#[test]
fn pictures_are_pictures_and_nothing_else() {
    for (name, svg) in pictures() {
        for element in svg.split('<').skip(1).map(|rest| rest.split([' ', '>', '/']).next().unwrap()) {
            assert!(["svg", "title", "rect", "path", "text", ""].contains(&element), "{name}: <{element}");
        }
        assert!(!svg.contains("href") && !svg.contains("url("), "{name}");
    }
}
