//! A change in its folder: begun, committed, undone, redone, removed.

use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::fd::AsFd;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock, fsync};

use crate::attributes::replace_own;
use crate::chosen::Chosen;
use crate::error::ChangeError;
use crate::exchange::Exchange;
use crate::identity::Copies;
use crate::layer::read_layer;
use crate::manifest::{Direction, End, Line, Manifest, Start, append, read_recording};
use crate::moment::Begin;
use crate::outcome::{ChangedPath, Conflict, Dropped, Outcome, State};
use crate::place::Place;
use crate::plan::{FolderState, Kind, PathType, Plan, Recording};
use crate::recorded::{keep_files, settle};
use crate::step;
use crate::tree::Tree;

type Result<T> = std::result::Result<T, ChangeError>;

/// One command or one write of a file tool, which can be undone and redone.
///
/// All of it is in its folder. Each call reads that anew, under a lock: threads and processes may have
/// several of one change.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Change {
    project: PathBuf,
    folder: PathBuf,
    later: Vec<PathBuf>,
}

impl Change {
    /// Makes the folder of a new change, and what is in it.
    pub fn begin(project: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Result<Self> {
        let change = Self {
            project: project.into(),
            folder: folder.into(),
            later: Vec::new(),
        };
        let refused =
            |source: io::Error| ChangeError::refused("begin a change in", &change.folder)(source);
        change.check_folder()?;
        for folder in [change.folder.clone(), change.layer(), change.work()] {
            DirBuilder::new()
                .mode(0o700)
                .create(folder)
                .map_err(refused)?;
        }
        change.copy_root().map_err(|errno| refused(errno.into()))?;
        let marker = OpenOptions::new()
            .write(true)
            .read(true)
            .create_new(true)
            .open(change.marker())
            .map_err(refused)?;
        Begin::write(&marker).map_err(refused)?;
        Ok(change)
    }

    /// Opens a change that was begun.
    pub fn open(project: impl Into<PathBuf>, folder: impl Into<PathBuf>) -> Result<Self> {
        let change = Self {
            project: project.into(),
            folder: folder.into(),
            later: Vec::new(),
        };
        let found = std::fs::metadata(change.marker());
        found.map_err(ChangeError::refused("open the change", &change.folder))?;
        Ok(change)
    }

    /// The same change, which knows the folders of later ones, whether they are undone or not.
    ///
    /// A tool that writes a file anew leaves a copy of the version from before: where it is in the
    /// project again, it stands for the file that an earlier change has left.
    #[must_use]
    pub fn before(self, later: Vec<PathBuf>) -> Self {
        Self { later, ..self }
    }

    /// The upper layer for an overlay; later it has the versions from before.
    #[must_use]
    pub fn layer(&self) -> PathBuf {
        self.folder.join("layer")
    }

    /// The work folder for an overlay.
    #[must_use]
    pub fn work(&self) -> PathBuf {
        self.folder.join("work")
    }

    /// Where the change is.
    pub fn state(&self) -> Result<State> {
        let _lock = self.lock()?;
        Ok(state_of(&self.read_manifest()?))
    }

    /// Returns what a commit would do, or what it did, sorted by path.
    pub fn list_paths(&self) -> Result<Vec<ChangedPath>> {
        let _lock = self.lock()?;
        let manifest = self.read_manifest()?;
        let state = state_of(&manifest);
        let plan = match (&manifest.plan, state) {
            (Some(plan), State::Committed | State::Undone | State::Half) => plan.clone(),
            (None, State::Committed | State::Undone | State::Half) => Plan::default(),
            (_, State::Open) => self.read_plan(&self.trees()?, &Chosen::new(None))?,
        };
        let operations = match &manifest.committed {
            Some(end) => end.operations.clone(),
            None => find_possible(&plan),
        };
        Ok(self.describe(&plan, &operations, state == State::Committed))
    }

    /// Puts what the layer has into the project: `chosen` paths and what they need, or all.
    pub fn commit(&self, chosen: Option<&[PathBuf]>) -> Result<Outcome> {
        let _lock = self.lock()?;
        let manifest = self.read_manifest()?;
        expect("commit", &manifest, State::Open)?;
        let trees = self.trees()?;
        let chosen = chosen.map(|paths| paths.iter().map(|path| to_place(path)).collect());
        let plan = self.read_plan(&trees, &Chosen::new(chosen.transpose()?))?;
        let all = plan.folders.iter().enumerate();
        let timed = all.filter(|(_, folder)| folder.sets_modified);
        let start = Start {
            direction: Direction::Commit,
            operations: find_possible(&plan),
            folders: timed.map(|(number, _)| number).collect(),
        };
        self.append(
            &[Line::Plan(plan.clone()), Line::Start(start.clone())],
            true,
        )?;
        let exchange = Exchange::new(&trees, &self.folder, &plan, Direction::Commit, false);
        self.end(&exchange, &plan, &start)
    }

    /// Puts the versions from before into the project, but not over what was changed since.
    pub fn undo(&self, is_preview: bool) -> Result<Outcome> {
        self.move_back_or_forth(Direction::Undo, is_preview)
    }

    /// Puts the versions of the change into the project again.
    pub fn redo(&self, is_preview: bool) -> Result<Outcome> {
        self.move_back_or_forth(Direction::Redo, is_preview)
    }

    /// Finishes what a crash interrupted; does nothing otherwise.
    pub fn recover(&self) -> Result<()> {
        let _lock = self.lock()?;
        let manifest = self.read_manifest()?;
        if let (Some(plan), Some(start)) = (&manifest.plan, &manifest.start) {
            let trees = self.trees()?;
            let exchange = Exchange::new(&trees, &self.folder, plan, start.direction, true);
            self.end(&exchange, plan, start)?;
        } else if let (Some(recording), None) = (&manifest.recording, &manifest.committed) {
            self.end_recording(recording)?;
        }
        Ok(())
    }

    /// Deletes the folder of the change, whatever modes are in it.
    pub fn remove(&self) -> Result<()> {
        let refused = ChangeError::refused("remove the change", &self.folder);
        let (Some(parent), Some(name)) = (self.folder.parent(), self.folder.file_name()) else {
            return Err(refused(io::Error::from(io::ErrorKind::InvalidInput)));
        };
        let name = Place::from_path(Path::new(name)).unwrap_or_default();
        let removed = Tree::open(parent).and_then(|tree| tree.delete(&name));
        removed.map_err(|errno| refused(errno.into()))
    }

    /// Keeps the versions from before of files that a tool will write, and digests of what it will write.
    pub fn record_before(&self, paths: &[PathBuf], after: &[Option<Vec<u8>>]) -> Result<()> {
        let _lock = self.lock()?;
        let manifest = self.read_manifest()?;
        expect("record", &manifest, State::Open)?;
        let places = paths
            .iter()
            .map(|path| to_place(path))
            .collect::<Result<Vec<_>>>()?;
        let kept = keep_files(&self.trees()?, &places, after);
        let recording = kept.map_err(ChangeError::refused("keep files of", &self.project))?;
        self.append(&[Line::Recording(recording)], true)
    }

    /// Records what a tool has written; the change is committed then.
    pub fn record_after(&self) -> Result<Outcome> {
        let _lock = self.lock()?;
        let manifest = self.read_manifest()?;
        match (&manifest.recording, &manifest.committed) {
            (Some(recording), None) => self.end_recording(recording),
            _ => Err(ChangeError::State {
                step: "record",
                state: state_of(&manifest).as_str(),
            }),
        }
    }

    fn move_back_or_forth(&self, direction: Direction, is_preview: bool) -> Result<Outcome> {
        let _lock = self.lock()?;
        let manifest = self.read_manifest()?;
        let (step, needed) = match direction {
            Direction::Undo => ("undo", State::Committed),
            Direction::Commit | Direction::Redo => ("redo", State::Undone),
        };
        expect(step, &manifest, needed)?;
        let (Some(plan), Some(committed)) = (&manifest.plan, &manifest.committed) else {
            return Ok(Outcome::default());
        };
        let trees = self.trees()?;
        let exchange = Exchange::new(&trees, &self.folder, plan, direction, false);
        let mut clashes = Vec::new();
        let mut operations = Vec::new();
        for number in &committed.operations {
            match exchange.find_clash(*number) {
                Some(clash) => clashes.push(clash),
                None => operations.push(*number),
            }
        }
        // What somebody else wrote while a tool did has never been a part of the change.
        clashes.extend(
            manifest
                .recording
                .iter()
                .flat_map(|_| committed.clashes.clone()),
        );
        let start = Start {
            direction,
            operations,
            folders: exchange.find_timed_folders(),
        };
        let mut outcome = if is_preview {
            let foreign = exchange.find_foreign_folders();
            self.report(
                plan,
                &End {
                    direction,
                    operations: start.operations,
                    clashes: foreign,
                },
            )
        } else {
            self.append(&[Line::Start(start.clone())], true)?;
            self.end(&exchange, plan, &start)?
        };
        let clashes = clashes.iter().map(|clash| self.describe_clash(clash));
        outcome.conflicts.extend(clashes);
        outcome
            .conflicts
            .sort_by(|one, other| one.path.cmp(&other.path));
        outcome.dropped.clear();
        Ok(outcome)
    }

    fn end(&self, exchange: &Exchange<'_>, plan: &Plan, start: &Start) -> Result<Outcome> {
        let end = exchange.perform(start);
        let end = end.map_err(ChangeError::refused(
            "keep aside versions of",
            &self.project,
        ))?;
        self.append(&[Line::End(end.clone())], false)?;
        Ok(self.report(plan, &end))
    }

    fn end_recording(&self, recording: &Recording) -> Result<Outcome> {
        let settled = settle(&self.trees()?, recording);
        let (plan, end) = settled.map_err(ChangeError::refused("read files of", &self.project))?;
        self.append(&[Line::Plan(plan.clone()), Line::End(end.clone())], true)?;
        Ok(self.report(&plan, &end))
    }

    fn report(&self, plan: &Plan, end: &End) -> Outcome {
        let is_in_project = end.direction != Direction::Undo;
        let mut conflicts: Vec<_> = end
            .clashes
            .iter()
            .map(|clash| self.describe_clash(clash))
            .collect();
        conflicts.sort_by(|one, other| one.path.cmp(&other.path));
        let dropped = plan.dropped.iter().map(|(place, reason)| Dropped {
            path: place.as_path().into(),
            reason: reason.clone(),
        });
        Outcome {
            done: self.describe(plan, &end.operations, is_in_project),
            conflicts,
            dropped: dropped.collect(),
        }
    }

    fn describe(&self, plan: &Plan, operations: &[usize], is_in_project: bool) -> Vec<ChangedPath> {
        let layer = self.layer();
        let (before, after) = if is_in_project {
            (&layer, &self.project)
        } else {
            (&self.project, &layer)
        };
        let mut described = Vec::new();
        for each in operations
            .iter()
            .flat_map(|number| &plan.operations[*number].listed)
        {
            let path = each.place.as_path();
            described.push(ChangedPath {
                path: path.into(),
                kind: each.kind,
                path_type: each.path_type,
                before: (each.kind != Kind::Created).then(|| before.join(path)),
                after: (each.kind != Kind::Deleted).then(|| after.join(path)),
                size: each.size,
            });
        }
        for folder in &plan.folders {
            if folder.conflict.is_none() && !folder.before.has_rights_of(&folder.after) {
                let path = folder.place.as_path();
                described.push(ChangedPath {
                    path: path.into(),
                    kind: Kind::Modified,
                    path_type: PathType::Folder,
                    before: Some(before.join(path)),
                    after: Some(after.join(path)),
                    size: 0,
                });
            }
        }
        described.sort_by(|one, other| one.path.as_os_str().cmp(other.path.as_os_str()));
        described
    }

    fn describe_clash(&self, clash: &crate::manifest::Clash) -> Conflict {
        let kept = clash.kept.as_ref();
        Conflict {
            path: clash.place.as_path().into(),
            kept: kept.map(|place| self.folder.join(place.as_path())),
            reason: clash.reason.clone(),
        }
    }

    fn read_plan(&self, trees: &(Tree, Tree), chosen: &Chosen) -> Result<Plan> {
        let refused = || ChangeError::refused("read the change", &self.folder);
        let probe = OpenOptions::new()
            .create(true)
            .truncate(true)
            .write(true)
            .open(self.folder.join("probe"))
            .map_err(refused())?;
        let marker = File::open(self.marker()).map_err(refused())?;
        let begin = Begin::read(&marker).and_then(|begin| begin.adjust(&probe));
        let begin = begin.map_err(refused())?;
        let plan = read_layer(&trees.0, &trees.1, &begin, chosen);
        plan.map_err(ChangeError::refused("read the change", &self.folder))
    }

    /// The project and the layer.
    fn trees(&self) -> Result<(Tree, Tree)> {
        let open = |path: &Path| Tree::open(path).map_err(ChangeError::refused("open", path));
        let copies = self.find_copies()?;
        let (project, layer) = (open(&self.project)?, open(&self.layer())?);
        Ok((
            project.with_copies(copies.clone()),
            layer.with_copies(copies),
        ))
    }

    fn find_copies(&self) -> Result<Copies> {
        let mut copies = Copies::default();
        for folder in &self.later {
            let path = folder.join("manifest");
            let recording = match read_recording(&path) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => None,
                recording => recording.map_err(ChangeError::refused("read", &path))?,
            };
            for file in recording.iter().flat_map(|recording| &recording.files) {
                if let (Some((original, _)), Some(copy)) = (&file.before, &file.copy) {
                    copies.add(copy, original);
                }
            }
        }
        Ok(copies)
    }

    fn marker(&self) -> PathBuf {
        self.folder.join("begun")
    }

    fn manifest(&self) -> PathBuf {
        self.folder.join("manifest")
    }

    fn read_manifest(&self) -> Result<Manifest> {
        let path = self.manifest();
        Manifest::read(&path).map_err(ChangeError::refused("read", &path))
    }

    fn append(&self, lines: &[Line], is_intent: bool) -> Result<()> {
        let path = self.manifest();
        append(&path, lines, is_intent).map_err(ChangeError::refused("write", &path))
    }

    /// Waits until nobody else works on this change; the lock ends with the file.
    fn lock(&self) -> Result<File> {
        let refused = || ChangeError::refused("open the change", &self.folder);
        let file = File::open(self.marker()).map_err(refused())?;
        flock(&file, FlockOperation::LockExclusive)
            .map_err(io::Error::from)
            .map_err(refused())?;
        Ok(file)
    }

    fn check_folder(&self) -> Result<()> {
        let refused = |path| ChangeError::refused("begin a change of", path);
        let project = std::fs::canonicalize(&self.project).map_err(refused(&self.project))?;
        let above = self.folder.parent().unwrap_or(Path::new("/"));
        let above = std::fs::canonicalize(above).map_err(refused(above))?;
        let device = |path: &Path| std::fs::metadata(path).map(|found| found.dev());
        let is_same = device(&project)
            .and_then(|one| Ok(one == device(&above)?))
            .map_err(refused(&self.project))?;
        let reason = if above.starts_with(&project) {
            "it lies in the project"
        } else if !is_same {
            "it is on another file system"
        } else {
            return Ok(());
        };
        Err(ChangeError::Folder {
            project: self.project.clone(),
            folder: self.folder.clone(),
            reason,
        })
    }

    /// Has the layer look like the root of the project, which a command sees through it.
    fn copy_root(&self) -> rustix::io::Result<()> {
        let (project, layer) = (Tree::open(&self.project)?, Tree::open(&self.layer())?);
        let state = FolderState::read(&project.open_folder(&Place::default())?)?;
        let root = layer.open_folder(&Place::default())?;
        replace_own(&root, b"", &state.attributes)?;
        if FolderState::read(&root)?.owner != state.owner {
            // Not ours to give: the command sees our own.
            let _ = step::set_owner(root.as_fd(), state.owner);
        }
        step::set_mode(root.as_fd(), state.mode)?;
        step::set_modified(root.as_fd(), state.modified)?;
        fsync(&root)
    }
}

fn state_of(manifest: &Manifest) -> State {
    let is_recording = manifest.recording.is_some() && manifest.committed.is_none();
    match (&manifest.start, manifest.last) {
        (Some(_), _) => State::Half,
        (None, Some(Direction::Commit | Direction::Redo)) => State::Committed,
        (None, Some(Direction::Undo)) => State::Undone,
        (None, None) if is_recording => State::Half,
        (None, None) => State::Open,
    }
}

fn expect(step: &'static str, manifest: &Manifest, needed: State) -> Result<()> {
    let state = state_of(manifest);
    if state == needed {
        return Ok(());
    }
    Err(ChangeError::State {
        step,
        state: state.as_str(),
    })
}

fn to_place(path: &Path) -> Result<Place> {
    Place::from_path(path).ok_or_else(|| ChangeError::Path { path: path.into() })
}

/// The numbers of the operations that are no conflict.
fn find_possible(plan: &Plan) -> Vec<usize> {
    let all = plan.operations.iter().enumerate();
    let possible = all.filter(|(_, operation)| operation.conflict.is_none());
    possible.map(|(number, _)| number).collect()
}
