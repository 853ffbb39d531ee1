//! A walk by several threads, each with results of its own.

use std::ffi::OsString;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use super::error::PathError;
use super::folder::{Folder, Opened};

/// As much as what is still to be read may take.
const MAX_PENDING_BYTES: usize = 16 << 20;
/// More threads would wait for the disk and for each other.
const MAX_THREADS: usize = 8;
/// So many jobs one thread does sooner than others begin.
const JOBS_ALONE: usize = 8;
/// How often the caller is asked whether to stop while its thread has nothing to do.
const ASK_INTERVAL: Duration = Duration::from_millis(10);

/// What one thread takes at a time.
pub(super) enum Job {
    /// The folder where a walk begins.
    Start(Opened),
    /// A folder, by the one around it and its name.
    Folder(Arc<Folder>, OsString),
    /// Files of one folder.
    Files(Arc<Opened>, Vec<OsString>),
}

impl Job {
    fn bytes(&self) -> usize {
        let names = match self {
            Self::Start(_) => 0,
            Self::Folder(_, name) => name.capacity(),
            Self::Files(_, names) => names
                .iter()
                .map(|name| size_of::<OsString>() + name.capacity())
                .sum(),
        };
        size_of::<Self>() + names
    }
}

/// What the threads share: what is still to be read, and whether to go on.
#[derive(Default)]
pub(super) struct Crew {
    queue: Mutex<Queue>,
    ready: Condvar,
    stop: AtomicBool,
    /// Whether there are further threads.
    is_joined: AtomicBool,
    /// Threads without work.
    waiting: AtomicUsize,
}

#[derive(Default)]
struct Queue {
    /// The last one is taken first: few folders are open at a time.
    jobs: Vec<Job>,
    bytes: usize,
    busy: usize,
    failure: Option<PathError>,
}

impl Crew {
    /// Gives a job to whoever is free, or back if there is no room for it.
    pub(super) fn offer(&self, job: Job) -> Option<Job> {
        let bytes = job.bytes();
        let mut queue = self.lock();
        if queue.bytes + bytes > MAX_PENDING_BYTES {
            return Some(job);
        }
        queue.bytes += bytes;
        queue.jobs.push(job);
        drop(queue);
        if self.is_idle() {
            self.ready.notify_one();
        }
        None
    }

    /// Whether a thread has nothing to do.
    pub(super) fn is_idle(&self) -> bool {
        self.waiting.load(Ordering::Relaxed) > 0
    }

    /// Whether jobs may be left for threads that are still to begin.
    pub(super) fn is_alone(&self) -> bool {
        !self.is_joined.load(Ordering::Relaxed)
    }

    pub(super) fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Ends the work of all threads, for the reason that is given first.
    pub(super) fn stop(&self, failure: Option<PathError>) {
        let mut queue = self.lock();
        if queue.failure.is_none() {
            queue.failure = failure;
        }
        drop(queue);
        self.stop.store(true, Ordering::Relaxed);
        self.ready.notify_all();
    }

    /// Does all jobs, in this thread and further ones; only this one asks `stopped`.
    ///
    /// `make` gives each thread what it works with, `work` does one job.
    pub(super) fn run<Worker: Send>(
        &self,
        stopped: &mut dyn FnMut() -> bool,
        make: impl Fn() -> Worker + Sync,
        work: impl Fn(&mut Worker, Job, &mut dyn FnMut() -> bool) + Sync,
    ) -> (Vec<Worker>, Option<PathError>) {
        let mut worker = make();
        let mut asked = || {
            if !self.is_stopped() && stopped() {
                self.stop(None);
            }
            self.is_stopped()
        };
        for _ in 0..JOBS_ALONE {
            if !self.serve(&mut worker, &mut asked, &work) {
                break;
            }
        }
        self.is_joined.store(true, Ordering::Relaxed);
        let is_done = self.lock().jobs.is_empty();
        let further = if is_done { 0 } else { threads() - 1 };
        let workers = thread::scope(|scope| {
            let follow = || {
                let mut worker = make();
                let stopped = &mut || self.is_stopped();
                while self.serve(&mut worker, stopped, &work) {}
                worker
            };
            let threads: Vec<_> = (0..further)
                .map_while(|_| thread::Builder::new().spawn_scoped(scope, follow).ok())
                .collect();
            while self.serve(&mut worker, &mut asked, &work) {}
            let others = threads.into_iter().map(|thread| match thread.join() {
                Ok(worker) => worker,
                Err(panic) => std::panic::resume_unwind(panic),
            });
            std::iter::once(worker).chain(others).collect()
        });
        (workers, self.lock().failure.take())
    }

    /// Does one job, if there is one.
    fn serve<Worker>(
        &self,
        worker: &mut Worker,
        stopped: &mut dyn FnMut() -> bool,
        work: &impl Fn(&mut Worker, Job, &mut dyn FnMut() -> bool),
    ) -> bool {
        let Some(job) = self.next(stopped) else {
            return false;
        };
        let _busy = Busy(self);
        work(worker, job, stopped);
        true
    }

    /// The next job; nothing once all are done, or the work is stopped.
    fn next(&self, stopped: &mut dyn FnMut() -> bool) -> Option<Job> {
        loop {
            // Whoever asks may need a lock of its own.
            if stopped() {
                return None;
            }
            let mut queue = self.lock();
            if let Some(job) = queue.jobs.pop() {
                queue.bytes -= job.bytes();
                queue.busy += 1;
                return Some(job);
            }
            if queue.busy == 0 {
                return None;
            }
            self.waiting.fetch_add(1, Ordering::Relaxed);
            let waited = self.ready.wait_timeout(queue, ASK_INTERVAL);
            drop(waited.unwrap_or_else(PoisonError::into_inner));
            self.waiting.fetch_sub(1, Ordering::Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Queue> {
        self.queue.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A thread that works; the others wait for the end of that, however it comes.
struct Busy<'crew>(&'crew Crew);

impl Drop for Busy<'_> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop(None);
        }
        let mut queue = self.0.lock();
        queue.busy -= 1;
        let is_done = queue.busy == 0 && queue.jobs.is_empty();
        drop(queue);
        if is_done {
            self.0.ready.notify_all();
        }
    }
}

fn threads() -> usize {
    thread::available_parallelism().map_or(1, |count| count.get().min(MAX_THREADS))
}
