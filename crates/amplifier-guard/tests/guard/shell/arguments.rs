//! What the words after an allowed prefix may ask of its program.

use amplifier_guard::{ShellPolicy, read_command};

use super::{judged, variant};

#[test]
fn options_mean_to_each_program_what_its_manual_says() {
    for (refused, allowed) in [
        ("cargo test -Z x", "cargo test -pZed"),
        ("cargo test --target-dir=x", "cargo test --lib"),
        ("curl -o x https://x.org", "curl -Hoo https://x.org"),
        ("curl --output x https://x.org", "curl --head https://x.org"),
        ("diff -l a b", "diff -U1 a b"),
        ("diff --paginate a b", "diff --brief a b"),
        ("fd -x rm", "fd -ext rm"),
        (
            "fd --base-directory /etc host",
            "fd --base-directory src host",
        ),
        ("fd --exec rm", "fd /etc/passwd src"),
        ("find . -delete", "find . -depth -name delete"),
        ("git log --output=x", "git log --oneline"),
        (
            "git log --no-color=always",
            "git log --no-color --color=always",
        ),
        ("git log --no-merges=x", "git log --merges --no-merges"),
        ("git grep -O x", "git log -SOmega"),
        ("go test -exec x", "go test -run exec"),
        ("go vet -vettool=x", "go vet x"),
        ("grep -f ../x y", "grep -A 3 /etc/passwd src"),
        ("grep --file=../x y", "grep --regexp=/etc/passwd y"),
        ("npm test --prefix x", "npm test --silent"),
        ("pytest -p x", "pytest -kpc"),
        ("pytest --rootdir=x", "pytest --verbose"),
        ("rg -z x", "rg -gz /etc/passwd"),
        ("rg --pre x y", "rg --files src"),
        ("sed -l1 p x", "sed --line-length=1 p x"),
        ("sed --in-place p x", "sed --quiet p x"),
        ("sort -o x y", "sort -to x"),
        ("sort --output=x y", "sort --unique y"),
        ("tar -xf x", "tar -tfx"),
        ("tar --extract -f x", "tar --list -f x"),
        ("tree -Lo 2 x", "tree -aL 2 src"),
        ("tree --output=x", "tree --dirsfirst"),
        ("cat /etc/passwd", "printf /etc/passwd"),
    ] {
        let judged = |command: &str| {
            let program = command.split(' ').next().unwrap();
            let policy = ShellPolicy::new([program], Some("/srv/proj".into())).unwrap();
            policy.check(command)
        };
        let refusal = judged(refused).expect_err(refused);
        assert!(
            matches!(variant(&refusal), "word" | "outside"),
            "{refused}: {refusal}"
        );
        assert_eq!(judged(allowed), read_command(allowed), "{allowed}");
    }
}

#[test]
fn words_that_run_or_write_through_an_allowed_program_are_refused() {
    for command in [
        "git status --exec-path=/tmp/evil",
        "git log --output=x",
        "git log --outp x",
        "git diff --ext-diff",
        "git diff --ext",
        "git diff --textconv",
        "git grep --open-files-in-pager=x y",
        "git fetch --upload-pack=x",
        "git fetch --upload-p x",
        "git diff --no-index --output=x a b",
        "find . -delete",
        "find . -exec id +",
        "find . -execdir id +",
        "find . -ok id +",
        "find . -fprint x",
        "find . -fprintf x %p",
        "find . -fls x",
        "find . -- -delete",
        "find . -files0-from x",
        "sed -i s/a/b/ x",
        "sed -ni p x",
        "sed --in-place p x",
        "sed --in p x",
        "sed -i.bak p x",
        "sed -f script x",
        "sed -nf script x",
        "sed -n '1e id' x",
        "sed '1!e' x",
        "sed s/a/b/e x",
        "sed s/a/b/ge x",
        "sed 's/a/b/w out' x",
        "sed 's,a,b,e' x",
        "sed 'w out' x",
        "sed 'r other' x",
        "sed '/a/{e id}' x",
        "sed -e p -e e x",
        "sed -ee x",
        "sed -ne e x",
        "sed --expression=e x",
        "sed --expression e x",
        "sed 'p;e' x",
        "sed ':a;e' x",
        "sed ':a_b;e' x",
        "sed sxaxwx x",
        "sed 's\\e\\b\\' x",
        "sed 's/[/]/e' x",
        "sed '' -i x",
        "rg --pre=x y",
        "rg --pre x y",
        "rg --hostname-bin=x y",
        "rg -z y",
        "rg --search-zip y",
        "npm test --script-shell=x",
        "npm test -script-shell=x",
        "npm test --script-sh x",
        "npm test --prefix x",
        "cargo test --config x",
        "cargo test --config 'a=\"b\"'",
        "cargo test -Z x",
        "cargo test --target-dir x",
        "tar -xf a",
        "tar xf a",
        "git grep -O x",
        "git grep -nOvi x",
        "sed --exp e x",
        "sed --expr=e x",
        "grep --reg=a /etc/shadow",
        "grep --fil=/etc/shadow x",
        "rg --fi /etc",
        "tar --to-command=x -tf a",
        "tar -tf a --checkpoint-action=exec=x",
        "tar -I x -tf a",
        "sort -o x y",
        "sort -ox y",
        "sort --output=x y",
        "sort --compress-program=x y",
    ] {
        assert_eq!(judged(command), Err("word"), "{command}");
    }
}

#[test]
fn paths_outside_the_root_are_refused() {
    for command in [
        "cat /etc/passwd",
        "cat /proc/self/environ",
        "cat ../x",
        "cat a/../../x",
        "cat -- /etc/passwd",
        "cat /srv/proj-evil/x",
        "cat /srv/proj/../x",
        "ls /",
        "ls ..",
        "find / -name x",
        "grep -f /etc/shadow x",
        "grep -f/etc/shadow x",
        "grep -rnf/etc/shadow x",
        "grep --file=/etc/shadow x",
        "grep -e a /etc/shadow",
        "grep --file /etc/shadow x",
        "grep a /etc/shadow",
        "rg x /etc",
        "rg -e x /etc",
        "rg --files /etc",
        "sed p /etc/shadow",
        "sed -e p /etc/shadow",
        "git diff /etc/passwd",
        "git diff --no-index /etc/passwd a",
        "git diff --no-index a ../b",
        "cat \"/etc/passwd\"",
        "git diff --stat -- ../x",
        "cat //etc/passwd",
        "cat ./../x",
    ] {
        assert_eq!(judged(command), Err("outside"), "{command}");
    }
    let rootless = ShellPolicy::new(["cat"], None).unwrap();
    assert!(rootless.check("cat /srv/proj/x").is_err());
    assert!(rootless.check("cat a/../x").is_ok());
}

#[test]
fn harmless_commands_run_as_they_are() {
    for command in [
        "ls -la src",
        "git status",
        "git log --oneline -5",
        "git log --format='%h %s' --since='2 weeks ago'",
        "git diff HEAD~1 -- src/main.rs",
        "git log -p -c",
        "git diff --no-ext-diff --exit-code",
        "grep -n 'rm -rf' docs/notes.md",
        "grep -E 'a|b' x.txt",
        "grep -rn /etc/passwd src",
        "grep -e /etc/passwd -r .",
        "rg --regexp=/etc/passwd src",
        "rg --pretty x",
        "rg -e '/proc' a/../b",
        "cargo test -- --nocapture",
        "cargo test -p guard --lib",
        "npm test",
        "find . -name '*.rs' -not -path './target/*'",
        "find /srv/proj/src -type f -print",
        "sed -n '1,10p' README.md",
        "sed 's/a/b/g;s,c,d,2' x",
        "sed -e '/a/,/b/d' -e '$p' x",
        "sed ':a;N;$!ba;s/\\n/ /g' x",
        "sed -n '/[^]]x/!{p;q5}' x",
        "sed -E 's/(a|b)/[\\1]/' x",
        "sed y/abc/xyz/ x",
        "sed ':a_b;b a_b' x",
        "sed 's/[\\]/x/' x",
        "sed 's/\\[a/x/' x",
        "sed 's/[[]/x/' x",
        "sed 's/[]]/x/;s/[^]]/y/' x",
        "sed '2i\\ text; e' x",
        "sed '0~3p;5,+2d;$=' x",
        "cat 'file with spaces.txt' /dev/null",
        "cat /srv/proj/a",
        "echo /etc/passwd ../x '; rm -rf ~'",
        "tar -tf a.tar",
        "tar tvf a.tar",
        "git log -SOmega -GO",
        "sort -k2 -u x",
    ] {
        let expected = read_command(command).map_err(|error| variant(&error));
        assert_eq!(judged(command), expected, "{command}");
    }
}
