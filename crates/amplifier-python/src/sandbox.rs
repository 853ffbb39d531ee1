//! The extension module `_sandbox`, which the launcher of commands loads from the same file.
//!
//! A module of its own starts faster than the whole engine.
#![expect(
    clippy::needless_pass_by_value,
    reason = "what Python gives is converted into new values"
)]

/// The stages of the launch of a command in a sandbox, each of which changes the calling process.
#[pyo3::pymodule]
mod _sandbox {
    use std::ffi::OsString;
    use std::io;
    use std::os::unix::process::CommandExt;
    use std::path::PathBuf;
    use std::process::Command;

    use amplifier_sandbox::{FileAccess, Overlay, SandboxError, Sockets, View};
    use pyo3::exceptions::PyOSError;
    use pyo3::prelude::*;
    use rustix::process::{
        DumpableBehavior, Signal, getpid, set_child_subreaper, set_dumpable_behavior,
        set_parent_process_death_signal,
    };

    fn raise(error: SandboxError) -> PyErr {
        PyOSError::new_err(error.to_string())
    }

    /// Return the paths of the sockets that programs of this machine listen at.
    #[pyfunction]
    fn find_sockets() -> PyResult<Vec<OsString>> {
        // Not as paths, which are objects of Python's `pathlib`: it takes milliseconds to import.
        let sockets = amplifier_sandbox::find_sockets().map_err(raise)?;
        Ok(sockets.into_iter().map(PathBuf::into_os_string).collect())
    }

    /// Move this process into new namespaces of users, mounts, processes, IPC and network.
    #[pyfunction]
    fn enter_namespaces() -> PyResult<()> {
        amplifier_sandbox::enter_namespaces().map_err(raise)
    }

    /// Have it keep the user and group that it had before, and bring up loopback there.
    #[pyfunction]
    fn settle_in(user: u32, group: u32) -> PyResult<()> {
        amplifier_sandbox::settle_in(user, group).map_err(raise)
    }

    /// Move it into the namespaces of users and network that two files are, and new ones of the rest.
    #[pyfunction]
    fn join_namespaces(user: PathBuf, network: PathBuf) -> PyResult<()> {
        amplifier_sandbox::join_namespaces(&user, &network).map_err(raise)
    }

    /// Mount the file system as the command sees it.
    ///
    /// `overlay` is a folder of `writable`, its layer of changes, and what the kernel needs for that.
    #[pyfunction]
    #[pyo3(signature = (*, writable, overlay, shown, temporary, read_only, kept, hidden))]
    fn mount_view(
        writable: Vec<PathBuf>,
        overlay: Option<(PathBuf, PathBuf, PathBuf)>,
        shown: Vec<PathBuf>,
        temporary: PathBuf,
        read_only: Vec<PathBuf>,
        kept: Vec<PathBuf>,
        hidden: Vec<PathBuf>,
    ) -> PyResult<()> {
        let view = View {
            writable,
            overlay: overlay.map(|(folder, layer, work)| Overlay {
                folder,
                layer,
                work,
            }),
            shown,
            temporary,
            read_only,
            kept,
            hidden,
        };
        view.mount().map_err(raise)
    }

    /// Have orphans of the processes that this one starts become its children.
    #[pyfunction]
    fn adopt_orphans() -> PyResult<()> {
        set_child_subreaper(Some(getpid())).map_err(|error| io::Error::from(error).into())
    }

    /// Keep the memory of this process from others of the same user.
    #[pyfunction]
    fn hide_memory() -> PyResult<()> {
        set_dumpable_behavior(DumpableBehavior::NotDumpable)
            .map_err(|error| io::Error::from(error).into())
    }

    /// Have this process end when its parent does.
    #[pyfunction]
    fn end_with_parent() -> PyResult<()> {
        set_parent_process_death_signal(Some(Signal::KILL))
            .map_err(|error| io::Error::from(error).into())
    }

    /// Restrict this process for good, in namespaces of its own.
    #[pyfunction]
    fn restrict_inside(writable: Vec<PathBuf>) -> PyResult<()> {
        let access = FileAccess {
            readable: vec!["/".into()],
            writable,
            is_outside: false,
        };
        restrict(&access, Sockets::OfItsNetwork)
    }

    /// Restrict this process for good, among the processes and files of the machine.
    #[pyfunction]
    fn restrict_outside(writable: Vec<PathBuf>, hidden: Vec<PathBuf>) -> PyResult<()> {
        let access = FileAccess {
            writable,
            is_outside: true,
            ..FileAccess::without(&hidden)
        };
        restrict(&access, Sockets::Pairs)
    }

    fn restrict(access: &FileAccess, sockets: Sockets) -> PyResult<()> {
        amplifier_sandbox::give_up_capabilities()
            .and_then(|()| access.restrict())
            .and_then(|()| amplifier_sandbox::filter_system_calls(sockets))
            .map_err(raise)
    }

    /// Put a program in the place of this process.
    #[pyfunction]
    fn execute(
        arguments: Vec<OsString>,
        directory: PathBuf,
        environment: Vec<(OsString, OsString)>,
    ) -> PyResult<()> {
        let Some((program, rest)) = arguments.split_first() else {
            return Err(PyOSError::new_err("no program to execute"));
        };
        let error = Command::new(program)
            .args(rest)
            .current_dir(&directory)
            .env_clear()
            .envs(environment)
            .exec();
        let what = format!("`{}` in `{}`", program.display(), directory.display());
        Err(PyOSError::new_err(format!("cannot run {what}: {error}")))
    }
}
