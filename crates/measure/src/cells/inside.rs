//! The inside of a trial: the first process of its own namespace. It makes the loop file or takes
//! the disk, and then makes cells for as long as somebody listens. A disk is cleared before it
//! ends, however it ends, unless it is killed.

use std::cell::Cell;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, Receiver};
use std::time::Duration;

use rustix::fd::OwnedFd;
use rustix::fs::FileType;
use rustix::io::Errno;

use super::disk::{EraseOrder, HeldDisk};
use super::ending::TrialEnd;
use super::extent::CellExtent;
use super::image::Image;
use super::job::{MeasureOrder, News, Order, TrialJob, TrialPlace};
use super::load;
use super::settle::settle;
use super::timing::{LoadMeans, Meters};
use super::volume::Mounted;
use crate::probes::{Disks, PAGE, Pages, Rng};
use crate::subprocess::Channel;
use crate::trial::{Runner, SEGMENT, Sample, TrialBlock, TrialCell};

/// Where candidates are mounted, in a namespace that nobody else sees: a directory that every
/// system has and only root can replace, so that nobody leads us elsewhere.
const PLACE: &str = "/tmp";

/// How long after its budget a trial ends by itself, and the longest budget in seconds.
const GRACE: Duration = Duration::from_secs(20);
const LONGEST_BUDGET: f64 = 86_400.0;

/// The most seconds of the bare extent and of the host's file in a block.
const BARE_SECONDS: f64 = 0.5;

/// Characters of a cell's error that are kept: a program may complain at length.
const LONGEST_ERROR: usize = 1_000;

/// Bytes of holes that a file system may leave in the loop file before the loads begin: what it
/// zeroed while it was mounted.
const MOST_UNWRITTEN: u64 = 1 << 20;

/// Does what the outside orders; ends with this process when nobody listens any more.
pub fn run(mut channel: Channel) -> io::Result<()> {
    let end = TrialEnd::default();
    let orders = orders(&end)?;
    let done = match orders.recv() {
        Ok(Order::Prepare(job)) => work(&job, &orders, &end, &mut channel),
        Ok(Order::Clear(disk)) => clear_left(&disk, &end, &mut channel),
        Ok(Order::Measure(_)) | Err(_) => Ok(()),
    };
    if let Err(why) = done {
        let _ = channel.send(&News::Failed(why));
    }
    // Whoever is outside ends us, and so everything that was made.
    while !end.has_come() && orders.recv().is_ok() {}
    Ok(())
}

/// The orders as they come. The end of them is the end of this process, whatever it is doing.
fn orders(end: &TrialEnd) -> io::Result<Receiver<Order>> {
    let mut channel = Channel::home()?;
    let (give, take) = mpsc::channel();
    let end = end.clone();
    let listens = move || {
        while channel
            .recv(None)
            .is_ok_and(|order| give.send(order).is_ok())
        {}
        // Whoever waits for an order hears that there are no more.
        drop(give);
        end.come();
    };
    std::thread::Builder::new().spawn(listens)?;
    Ok(take)
}

/// Ends this process some time after the budget, and so everything in its namespaces: whoever
/// started it may be stopped and hold nothing to it.
fn ends_by_itself(budget: f64, end: &TrialEnd) -> Result<(), String> {
    let longest = Duration::from_secs_f64(budget.clamp(0.0, LONGEST_BUDGET)) + GRACE;
    let end = end.clone();
    let wait = move || {
        std::thread::sleep(longest);
        end.come();
    };
    std::thread::Builder::new()
        .spawn(wait)
        .map(drop)
        .map_err(|e| format!("cannot start a thread: {e}"))
}

/// The whole work; the error is a sentence.
fn work(
    job: &TrialJob,
    orders: &Receiver<Order>,
    end: &TrialEnd,
    channel: &mut Channel,
) -> Result<(), String> {
    ends_by_itself(job.budget, end)?;
    let place = rustix::fs::lstat(PLACE).map(|found| FileType::from_raw_mode(found.st_mode));
    if place != Ok(FileType::Directory) {
        return Err(format!(
            "{PLACE} is not a directory of its own, and a trial mounts there; nothing was written"
        ));
    }
    let extent = match &job.place {
        TrialPlace::Directory(directory) => {
            let mut tell = |bytes| drop(channel.send(&News::Prepared(bytes)));
            CellExtent::Loop(Image::make(
                &PathBuf::from(directory.clone()),
                job.bytes,
                Path::new(PLACE),
                &mut tell,
            )?)
        }
        TrialPlace::Disk(order) => CellExtent::Disk(take(order, job, end, channel)?),
    };
    let done = measure(job, &extent, orders, end, channel);
    let cleared = match &extent {
        CellExtent::Loop(_) => Ok(()),
        CellExtent::Disk(disk) => clear(disk, channel),
    };
    match (done, cleared) {
        (Ok(()), cleared) => cleared,
        (Err(why), Ok(())) => Err(why),
        (Err(why), Err(also)) => Err(format!("{why}; {also}")),
    }
}

/// Takes the disk; the error is a sentence.
fn take(
    order: &EraseOrder,
    job: &TrialJob,
    end: &TrialEnd,
    channel: &mut Channel,
) -> Result<HeldDisk, String> {
    if !end.has_to_clear(job.bytes, 0.0) {
        return Err("it is over; nothing was written".to_owned());
    }
    let mut tell = |bytes| {
        let _ = channel.send(&News::Prepared(bytes));
        if end.has_come() {
            Err(Errno::CANCELED)
        } else {
            Ok(())
        }
    };
    HeldDisk::take(order, job.bytes, &mut tell)
}

/// The longest time that what a cell is doing may take to end, in seconds: every load with its
/// warm-up.
fn longest_cell(order: &MeasureOrder) -> f64 {
    2.0 * order.load_seconds * order.loads.len() as f64
}

/// Clears a disk, and says so; the error is a sentence.
fn clear(disk: &HeldDisk, channel: &mut Channel) -> Result<(), String> {
    disk.clear(&mut |bytes| drop(channel.send(&News::Clearing(bytes))))?;
    let _ = channel.send(&News::Cleared);
    Ok(())
}

/// Clears what an earlier trial left; the error is a sentence.
fn clear_left(order: &EraseOrder, end: &TrialEnd, channel: &mut Channel) -> Result<(), String> {
    let disk = HeldDisk::take_left(order)?;
    if !end.has_to_clear(disk.bytes(), 0.0) {
        return Err("it is over; nothing was written".to_owned());
    }
    clear(&disk, channel)
}

/// Blocks of what is ordered, until it is over; the error is a sentence.
fn measure(
    job: &TrialJob,
    extent: &CellExtent,
    orders: &Receiver<Order>,
    end: &TrialEnd,
    channel: &mut Channel,
) -> Result<(), String> {
    if channel.send(&News::Ready(extent.mountable()?)).is_err() {
        return Ok(());
    }
    let meters = Meters {
        own: extent.own(),
        flushing: extent.flushing(),
        leaves: Disks::new(&job.leaves),
    };
    let mut rng = Rng::new(job.seed);
    let pages = load::pages(rng.next_u64());
    let begun_with = meters.own.read().map_or(0, |counters| counters.written);
    let Ok(Order::Measure(order)) = orders.recv() else {
        return Ok(());
    };
    if job.place.is_disk() && !end.has_to_clear(job.bytes, longest_cell(&order)) {
        return Ok(());
    }
    let arena = CellRunner {
        job,
        order: &order,
        extent,
        end,
        meters: &meters,
        pages: &pages,
        beside: Cell::new(0),
        begun_with,
    };
    while let Some(block) = arena.block(&mut rng, channel)? {
        if channel.send(&News::Block(block)).is_err() {
            break;
        }
    }
    Ok(())
}

/// Everything that a cell needs.
struct CellRunner<'a> {
    job: &'a TrialJob,
    order: &'a MeasureOrder,
    extent: &'a CellExtent,
    end: &'a TrialEnd,
    meters: &'a Meters,
    pages: &'a Pages,
    /// Bytes that were written to the file and not through the device.
    beside: Cell<u64>,
    /// What the device had counted before: counts of a loop device outlive its file.
    begun_with: u64,
}

impl CellRunner<'_> {
    /// One block in a new random order; `None` where it is over before its end.
    fn block(&self, rng: &mut Rng, channel: &mut Channel) -> Result<Option<TrialBlock>, String> {
        let candidates = (0..self.order.candidates.len()).map(Runner::Candidate);
        let runners = candidates.chain([Runner::Twin, Runner::Floor]);
        let runners = runners
            .chain(self.extent.host().map(|_| Runner::Host))
            .collect::<Vec<_>>();
        let order = rng.order(runners.len());
        // The same for all candidates of a block: none is favoured by what ran before, and no
        // method always runs first.
        let loads = rng.order(self.order.loads.len());
        let before = self.written();
        let mut cells = Vec::new();
        for (nth, runner) in order.iter().filter_map(|at| runners.get(*at)).enumerate() {
            if self.end.has_come() {
                return Ok(None);
            }
            // Nobody hears it any more when the trial is over.
            let written = self.written().saturating_sub(before);
            let _ = channel.send(&News::Cell {
                nth: nth + 1,
                written,
            });
            let all = self.extent.prepared() + self.written().saturating_sub(self.begun_with);
            if all > self.job.writes {
                return Err("the trial reached its limit of --writes".to_owned());
            }
            self.extent.check()?;
            cells.push(self.cell(*runner, &loads));
        }
        Ok(Some(TrialBlock {
            cells,
            written: self.written().saturating_sub(before),
        }))
    }

    /// Bytes that were written to the device up to now, and to the file beside it.
    fn written(&self) -> u64 {
        let own = self
            .meters
            .own
            .read()
            .map_or(0, |counters| counters.written);
        own + self.extent.filled() + self.beside.get()
    }

    fn cell(&self, runner: Runner, loads: &[usize]) -> TrialCell {
        let samples = match runner {
            Runner::Candidate(at) => self.candidate(at, loads),
            Runner::Twin => self.candidate(0, loads),
            Runner::Floor => self.bare(
                self.extent.direct(),
                self.extent.bytes().saturating_sub(SEGMENT),
            ),
            Runner::Host => {
                let file = self.extent.host().unwrap_or(Err(Errno::NODEV));
                let samples = self.bare(file, self.extent.bytes());
                let commits: u64 = samples.iter().flatten().map(|sample| sample.commits).sum();
                self.beside.set(self.beside.get() + commits * PAGE as u64);
                samples
            }
        };
        match samples {
            Ok(samples) => TrialCell {
                runner,
                samples,
                error: None,
            },
            Err(why) => {
                let why = why.chars().take(LONGEST_ERROR).collect();
                TrialCell {
                    runner,
                    samples: Vec::new(),
                    error: Some(why),
                }
            }
        }
    }

    fn means(&self, seconds: f64) -> LoadMeans<'_> {
        LoadMeans {
            seconds,
            pages: self.pages,
            meters: self.meters,
        }
    }

    fn bare(&self, file: Result<OwnedFd, Errno>, at: u64) -> Result<Vec<Sample>, String> {
        let file = file.map_err(|e| format!("cannot open it: {e}"))?;
        self.extent.fill()?;
        Ok(vec![load::bare(
            file,
            at,
            &self.means(self.order.load_seconds.min(BARE_SECONDS)),
        )?])
    }

    /// Makes a candidate, lets it settle, and runs all loads on it in this order.
    fn candidate(&self, at: usize, loads: &[usize]) -> Result<Vec<Sample>, String> {
        let candidate = self
            .order
            .candidates
            .get(at)
            .ok_or("there is no such candidate")?;
        let mounted = Mounted::make(candidate, self.extent, Path::new(PLACE))?;
        mounted.sync()?;
        settle(&self.meters.own);
        let samples = match self.extent.unwritten()? {
            0..=MOST_UNWRITTEN => self.loads(&mounted, loads),
            _ => Err("the loop file has holes, so figures would differ from a disk's".to_owned()),
        };
        mounted.unmount()?;
        samples
    }

    /// The samples of all loads, which run in this order, in the order of the record.
    fn loads(&self, mounted: &Mounted<'_>, order: &[usize]) -> Result<Vec<Sample>, String> {
        let means = self.means(self.order.load_seconds);
        let run = |load| {
            self.goes_on()
                .and_then(|()| load::run(load, &mounted.log, &means))
        };
        let loads = order
            .iter()
            .filter_map(|at| Some((*at, *self.order.loads.get(*at)?)));
        let mut done = loads
            .map(|(at, load)| Ok((at, run(load)?)))
            .collect::<Result<Vec<_>, String>>()?;
        done.sort_by_key(|(at, _)| *at);
        Ok(done.into_iter().map(|(_, sample)| sample).collect())
    }

    /// An error where it is over: nobody waits for the other loads of a cell.
    fn goes_on(&self) -> Result<(), String> {
        if self.end.has_come() {
            Err("it is over".to_owned())
        } else {
            Ok(())
        }
    }
}
