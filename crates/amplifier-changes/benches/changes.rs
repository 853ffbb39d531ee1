//! What a commit and an undo cost.

fn main() {
    #[cfg(target_os = "linux")]
    divan::main();
}

#[cfg(target_os = "linux")]
mod linux {
    use std::fs;
    use std::path::Path;

    use amplifier_changes::Change;
    use divan::Bencher;
    use tempfile::TempDir;

    /// A project of so many files, and a change that modifies all of them.
    fn modify(files: usize) -> (TempDir, Change) {
        let folder = TempDir::new().expect("a folder");
        let project = folder.path().join("project");
        write_files(&project, files, "old");
        let change = Change::begin(&project, folder.path().join("change")).expect("a change");
        write_files(&change.layer(), files, "new");
        (folder, change)
    }

    fn write_files(folder: &Path, files: usize, content: &str) {
        for number in 0..files {
            let folder = folder.join(format!("folder-{}", number / 100));
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join(number.to_string()), content).expect("a file");
        }
    }

    #[divan::bench(args = [1, 100, 10_000], sample_count = 10, sample_size = 1)]
    fn commit(bencher: Bencher, files: usize) {
        bencher
            .with_inputs(|| modify(files))
            .bench_refs(|(_, change)| change.commit(None));
    }

    #[divan::bench(args = [1, 100, 10_000], sample_count = 10, sample_size = 1)]
    fn undo(bencher: Bencher, files: usize) {
        let committed = || {
            let (folder, change) = modify(files);
            change.commit(None).expect("a commit");
            (folder, change)
        };
        bencher
            .with_inputs(committed)
            .bench_refs(|(_, change)| change.undo(false));
    }
}
