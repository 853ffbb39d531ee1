//! The programs whose options, words or subcommands run, write or load something.

use super::options::{Operands, Options, Program};

pub(super) const PLAIN: Program = Program {
    name: "",
    operands: Operands::Paths,
    options: Options::Usual,
    valued: "",
    short: "",
    long: &[],
    pattern: &[],
};

pub(super) const PROGRAMS: &[Program] = &[
    Program {
        name: "basename",
        operands: Operands::Text,
        ..PLAIN
    },
    Program {
        name: "cargo",
        options: Options::Exact,
        short: "ZC",
        long: &[
            "config",
            "target-dir",
            "manifest-path",
            "artifact-dir",
            "out-dir",
            "lockfile-path",
        ],
        valued: "pFj",
        ..PLAIN
    },
    Program {
        name: "curl",
        short: "oOKTDcJ",
        long: &[
            "output",
            "output-dir",
            "remote-name",
            "remote-name-all",
            "config",
            "upload-file",
            "dump-header",
            "cookie-jar",
            "trace",
            "trace-ascii",
            "stderr",
            "libcurl",
            "etag-save",
            "hsts",
            "alt-svc",
            "proxy",
            "preproxy",
            "unix-socket",
            "resolve",
            "connect-to",
        ],
        valued: "AbdeEFHmuwXxyYzCrstQP",
        ..PLAIN
    },
    Program {
        name: "cut",
        valued: "bcdf",
        pattern: &["d", "delimiter", "output-delimiter"],
        ..PLAIN
    },
    Program {
        name: "diff",
        short: "l",
        long: &["paginate"],
        valued: "CUIxXSWDF",
        ..PLAIN
    },
    Program {
        name: "dirname",
        operands: Operands::Text,
        ..PLAIN
    },
    Program {
        name: "echo",
        operands: Operands::Text,
        ..PLAIN
    },
    Program {
        name: "fd",
        operands: Operands::PatternThenPaths,
        short: "xX",
        long: &["exec", "exec-batch"],
        valued: "dtEeSoc",
        ..PLAIN
    },
    Program {
        name: "find",
        options: Options::Words,
        long: &[
            "exec",
            "execdir",
            "ok",
            "okdir",
            "delete",
            "fprint",
            "fprint0",
            "fprintf",
            "fls",
            "files0-from",
        ],
        pattern: &[
            "name",
            "iname",
            "lname",
            "ilname",
            "path",
            "ipath",
            "wholename",
            "iwholename",
            "regex",
            "iregex",
        ],
        ..PLAIN
    },
    Program {
        name: "git",
        short: "O",
        valued: "SGLU",
        long: &[
            "exec-path",
            "output",
            "output-directory",
            "ext-diff",
            "textconv",
            "upload-pack",
            "receive-pack",
            "exec",
            "open-files-in-pager",
            "config-env",
            "git-dir",
            "work-tree",
            "namespace",
            "super-prefix",
            "template",
            "no-index",
            "paginate",
            "config",
            "edit",
        ],
        ..PLAIN
    },
    Program {
        name: "go",
        options: Options::Words,
        long: &[
            "exec",
            "toolexec",
            "o",
            "overlay",
            "modfile",
            "C",
            "vettool",
            "outputdir",
            "coverprofile",
            "cpuprofile",
            "memprofile",
            "blockprofile",
            "mutexprofile",
            "trace",
        ],
        ..PLAIN
    },
    Program {
        name: "grep",
        operands: Operands::PatternThenPaths,
        valued: "ABCDdefm",
        pattern: &["e", "f", "regexp", "file"],
        ..PLAIN
    },
    Program {
        name: "make",
        short: "E",
        long: &["eval"],
        valued: "CfIoW",
        ..PLAIN
    },
    Program {
        name: "npm",
        options: Options::Loose,
        long: &[
            "script-shell",
            "shell",
            "prefix",
            "C",
            "userconfig",
            "globalconfig",
            "node-options",
            "git",
            "editor",
            "viewer",
            "browser",
            "init-module",
            "cache",
            "registry",
            "g",
            "global",
            "location",
            "onload-script",
        ],
        ..PLAIN
    },
    Program {
        name: "printf",
        operands: Operands::Text,
        ..PLAIN
    },
    Program {
        name: "pytest",
        options: Options::Exact,
        short: "pco",
        long: &[
            "rootdir",
            "confcutdir",
            "basetemp",
            "override-ini",
            "config-file",
            "junit-xml",
            "junitxml",
            "log-file",
            "debug",
            "pdb",
            "pdbcls",
            "trace",
            "import-mode",
            "pyargs",
        ],
        valued: "kmnrW",
        ..PLAIN
    },
    Program {
        name: "rg",
        operands: Operands::PatternThenPaths,
        short: "z",
        long: &["pre", "hostname-bin", "search-zip"],
        valued: "ABCEMTdefgjmrt",
        pattern: &["e", "f", "regexp", "file", "files"],
        ..PLAIN
    },
    Program {
        name: "sed",
        operands: Operands::PatternThenPaths,
        short: "if",
        long: &["in-place", "file"],
        valued: "el",
        pattern: &["e", "expression"],
        ..PLAIN
    },
    Program {
        name: "sort",
        short: "oT",
        long: &["output", "compress-program", "temporary-directory"],
        valued: "ktS",
        pattern: &["t", "field-separator"],
        ..PLAIN
    },
    Program {
        name: "tar",
        short: "IFxcruA",
        long: &[
            "to-command",
            "checkpoint-action",
            "use-compress-program",
            "rsh-command",
            "rmt-command",
            "info-script",
            "new-volume-script",
            "extract",
            "get",
            "create",
            "append",
            "update",
            "delete",
            "index-file",
            "one-top-level",
            "directory",
            "catenate",
            "concatenate",
        ],
        valued: "fbCTXgKNVH",
        ..PLAIN
    },
    Program {
        name: "tr",
        operands: Operands::Text,
        ..PLAIN
    },
    Program {
        name: "tree",
        short: "oR",
        long: &["output"],
        valued: "LPIHT",
        ..PLAIN
    },
    Program {
        name: "wget",
        short: "OoaiPe",
        long: &[
            "output-document",
            "output-file",
            "append-output",
            "execute",
            "config",
            "directory-prefix",
            "use-askpass",
            "input-file",
            "save-cookies",
            "warc-file",
        ],
        ..PLAIN
    },
];

/// Programs that run the program their words name, or a script; a prefix that is no more than
/// their name says nothing about what will run.
pub(super) const RUNNERS: &[&str] = &[
    ".", "alias", "ash", "awk", "bash", "builtin", "bun", "bunx", "busybox", "command", "csh",
    "dash", "declare", "deno", "doas", "ed", "emacs", "env", "eval", "ex", "exec", "export",
    "fish", "gawk", "gdb", "ksh", "less", "local", "lua", "make", "man", "mawk", "more", "nawk",
    "nice", "node", "nohup", "npx", "parallel", "perl", "php", "pkexec", "pwsh", "python",
    "python3", "readonly", "ruby", "script", "set", "setsid", "sh", "source", "ssh", "stdbuf",
    "strace", "su", "sudo", "tclsh", "tee", "time", "timeout", "trap", "typeset", "unset", "uvx",
    "vi", "view", "vim", "watch", "xargs", "zsh",
];

/// Programs whose arguments are a command or a setting, whatever precedes them.
pub(super) const WRAPPERS: &[&str] = &[
    ".", "alias", "ash", "bash", "builtin", "busybox", "command", "csh", "dash", "declare", "doas",
    "env", "eval", "exec", "export", "fish", "ksh", "local", "nice", "nohup", "parallel", "pkexec",
    "pwsh", "readonly", "script", "set", "setsid", "sh", "source", "ssh", "stdbuf", "strace", "su",
    "sudo", "time", "timeout", "trap", "typeset", "unset", "watch", "xargs", "zsh",
];

/// Subcommands of git that run what their words or the repository name.
pub(super) const GIT_RUNS: &[&str] = &[
    "bisect",
    "config",
    "difftool",
    "filter-branch",
    "hook",
    "mergetool",
    "rebase",
    "submodule",
    "daemon",
    "shell",
    "upload-pack",
    "receive-pack",
    "remote-ext",
];

/// Options before a subcommand of git that change neither what runs nor where.
pub(super) const GIT_SHOWS: &[&str] = &["--no-optional-locks", "--no-pager", "--version", "-P"];
