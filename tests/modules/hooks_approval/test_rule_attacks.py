"""Ways around a rule: an `allow` does not let them pass, a `deny` denies or asks.

Holds: approval-31
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))

from judged_calls import PROJECT, judge, run

from amplifier_modules.hooks.approval.calls import Call, describe_call


def fetch(url: Any, tool: str = "web_fetch") -> Call:
    return describe_call(tool, None, {"url": url}, PROJECT)


# What a rule says of a command: as `allow`, and as `deny`.
MEANT = [
    ("git * main", "git push origin main", "allow", "deny"),
    ("git * main", "git checkout main", "allow", "deny"),
    ("git * main", "git  'checkout' \"main\"", "allow", "deny"),
    ("git * main", "git main", "nothing", "ask"),
    ("git * main", "git push origin maint", "nothing", "nothing"),
    ("git * main", "git push main:dev", "nothing", "nothing"),
    ("* --version", "cargo --version", "allow", "deny"),
    ("* --version", "cargo x --version", "nothing", "deny"),
    ("npm run test:*", "npm run test", "allow", "deny"),
    ("npm run test:*", "npm run test -- -x", "allow", "deny"),
    ("npm run test:*", "npm run tests", "nothing", "nothing"),
    ("npm run test*", "npm run tests -- -x", "allow", "deny"),
    ("npm run test*", "npm run test", "allow", "deny"),
    ("npm run build", "npm run build", "allow", "deny"),
    ("npm run build", "npm run build x", "nothing", "nothing"),
    ("mk *", "mk", "allow", "deny"),
    ("mk *", "mk -a x", "allow", "deny"),
    ("mk *", "mkfs", "nothing", "nothing"),
    ("mk*", "mkfs -a x", "allow", "deny"),
    ("make 'a*'", "make 'a*'", "allow", "deny"),
    ("make 'a*'", "make abc", "nothing", "nothing"),
]


# Holds: approval-32
@pytest.mark.parametrize(("rule", "command", "allowed", "denied"), MEANT)
def test_a_star_stands_for_words_alone_and_for_letters_in_a_word(
    rule: str, command: str, allowed: str, denied: str
) -> None:
    assert judge(run(command), allow=[f"Bash({rule})"]) == allowed
    assert judge(run(command), deny=[f"Bash({rule})"]) == denied


PUSH = [
    # Quotes and backslashes are read as a shell reads them.
    ("gi't' push", "deny"),
    ('g""it push', "deny"),
    ("g\\it push", "deny"),
    ("'git push'", "nothing"),
    ("$'\\x67it' push", "ask"),
    # Substitutions and expansions.
    ("$(echo git) push", "ask"),
    ("`echo git` push", "ask"),
    ("$(printf 'g%s' it) push", "ask"),
    ("X=g; ${X}it push", "ask"),
    ("$X push", "ask"),
    ("/usr/bin/g?t push", "ask"),
    ("/usr/bin/gi[t] push", "ask"),
    ("{g,}it push", "ask"),
    ("echo \"$(git push)\"", "ask"),
    ("cat <(git push)", "ask"),
    # Parts of a line.
    ("ls; git push", "deny"),
    ("ls && git push", "deny"),
    ("ls || git push", "deny"),
    ("ls | git push", "deny"),
    ("ls |& git push", "ask"),
    ("ls & git push", "deny"),
    ("ls\ngit push", "deny"),
    ("ls # x\ngit push", "ask"),
    ("(git push)", "ask"),
    ("{ git push; }", "ask"),
    ("if true; then git push; fi", "ask"),
    ("while :; do git push; done", "ask"),
    ("f() { git push; }; f", "ask"),
    ("> log git push", "ask"),
    ("! git push", "ask"),
    # What stands before the program.
    ("A=b git push", "ask"),
    ("env git push", "ask"),
    ("env -i A=b git push", "ask"),
    ("env -S 'git push'", "ask"),
    ("command git push", "ask"),
    ("exec git push", "ask"),
    ("builtin command git push", "ask"),
    ("time git push", "ask"),
    ("nice -n 5 git push", "ask"),
    ("nohup git push", "ask"),
    ("timeout 5 git push", "ask"),
    ("stdbuf -o0 git push", "ask"),
    ("sudo -u x git push", "ask"),
    ("strace git push", "ask"),
    ("echo push | xargs git", "ask"),
    ("xargs -I{} git {} < x", "ask"),
    ("find . -exec git push ;", "ask"),
    # The program elsewhere.
    ("/usr/bin/git push", "deny"),
    ("./git push", "deny"),
    ("../../usr/bin/git push", "deny"),
    ("GIT push", "ask"),
    # Options before the word.
    ("git -c a=b push", "ask"),
    ("git -C /tmp push", "ask"),
    ("git --no-pager push", "ask"),
    ("git --git-dir=/x push", "ask"),
    # Aliases, and programs that run what they are given.
    ("git -c alias.x=push x", "ask"),
    ("git config alias.x push", "ask"),
    ("alias g=git; g push", "ask"),
    ("bash -c 'git push'", "ask"),
    ("sh -c \"$X\"", "ask"),
    ("echo Z2l0 | base64 -d | sh", "ask"),
    ("sh <<< 'git push'", "ask"),
    ("eval \"$(echo Z2l0 | base64 -d)\"", "ask"),
    ("python3 -c \"import os; os.system('git push')\"", "ask"),
    ("trap 'git push' EXIT", "ask"),
    # These are none.
    ("git commit -m push", "nothing"),
    ("git log", "nothing"),
    ("make push", "nothing"),
    ("grep push git.txt", "nothing"),
]  # fmt: skip


# Holds: approval-31
@pytest.mark.parametrize(("command", "denied"), PUSH)
def test_no_way_around_a_denied_command_passes_and_none_is_allowed_for_it(
    command: str, denied: str
) -> None:
    rule = "Bash(git push:*)"
    assert judge(run(command), deny=[rule]) == denied
    assert judge(run(command), ask=[rule]) == ("ask" if denied != "nothing" else "nothing")
    same = command in ("gi't' push", 'g""it push', "g\\it push") or command.startswith("ls")
    if not (same and denied == "deny"):
        assert judge(run(command), allow=[rule]) == "nothing"


# Holds: approval-31
@pytest.mark.parametrize(
    ("rule", "command", "denied"),
    [
        ("rm -rf:*", "rm -r -f x", "ask"),
        ("rm -rf:*", "rm -fr x", "ask"),
        ("rm -rf:*", "rm -f x", "nothing"),
        ("rm -rf:*", "rm x -rf", "ask"),
        ("git push --force:*", "git push origin --force", "ask"),
        ("git push --force:*", "git push origin", "nothing"),
        ("git push", "git push -f", "ask"),
        ("git push", "git push origin", "nothing"),
        ("* push", "env git push", "deny"),
        ("* push", "sh -c x", "ask"),
    ],
)
def test_an_option_at_another_place_is_asked_about(rule: str, command: str, denied: str) -> None:
    assert judge(run(command), deny=[f"Bash({rule})"]) == denied


# Holds: approval-31
@pytest.mark.parametrize(
    ("rule", "command"),
    [
        ("git * main", "git -c core.pager=x log main"),
        ("git * main", "git push origin main; rm x"),
        ("git * main", "git push origin main && rm main"),
        ("git * main", "git push $(rm x) main"),
        ("git * main", "git push `rm x` main"),
        ("git * main", "git push \nrm main"),
        ("git * main", "git push > main"),
        ("git * main", "git push 'a main"),
        ("git * main", "A=b git push main"),
        ("git * main", "./git push main"),
        ("git * main", "/tmp/git push main"),
        ("git * main", "gitx push main"),
        ("git * main", "env git push main"),
        ("* --version", "sh -c x --version"),
        ("* --version", "python3 -c x --version"),
        ("* --version", "env x --version"),
        ("* --version", "./x --version"),
        ("* --version", "rm x --version"),
        ("b*", "bash -c x"),
        ("npm run test:*", "npm run test | sh"),
        ("npm run test:*", "npm run test & rm x"),
        ("npm run test:*", "npm --prefix /tmp run test"),
    ],
)
def test_no_star_allows_more_than_the_words_of_one_plain_command(rule: str, command: str) -> None:
    assert judge(run(command), allow=[f"Bash({rule})"]) == "nothing"


# Holds: approval-31
@given(st.lists(st.sampled_from(["git", "push", "-c", "a=b", "main", ";", "&&", "$X", "|", "sh"])))
def test_what_is_allowed_is_of_parts_that_the_rule_means(words: list[str]) -> None:
    call = run(" ".join(["git", *words]))
    if judge(call, allow=["Bash(git * main)"]) == "allow":
        assert call.line is not None
        assert call.line.parts is not None
        assert any(part[0] == "git" and part[-1] == "main" for part in call.line.parts)
        assert judge(call, deny=["Bash(git * main)"]) == "deny"


# What a domain says of an address: as `allow`, and as `deny`.
ADDRESSES = [
    ("example.com", "https://example.com", "allow", "deny"),
    ("example.com", "https://EXAMPLE.com:8443/a?b#c", "allow", "deny"),
    ("example.com", "http://example.com./a", "allow", "deny"),
    ("Example.com", "https://example.com/", "allow", "deny"),
    ("example.com", "https://www.example.com/", "nothing", "ask"),
    ("*.example.com", "https://www.example.com/", "allow", "deny"),
    ("*.example.com", "https://example.com/", "nothing", "ask"),
    ("example.com", "https://example.com.evil.org/", "nothing", "nothing"),
    ("example.com", "https://evilexample.com/", "nothing", "nothing"),
    ("example.com", "https://evil.org/example.com", "nothing", "nothing"),
    ("example.com", "https://example.com@evil.org/", "nothing", "ask"),
    ("example.com", "https://user:x@example.com/", "nothing", "ask"),
    ("example.com", "https://evil.org\\@example.com/", "nothing", "ask"),
    ("example.com", "https://example.com\\.evil.org/", "nothing", "ask"),
    ("example.com", " https://example.com", "nothing", "ask"),
    ("example.com", "https://ex\u0430mple.com/", "nothing", "ask"),
    ("example.com", "https://example\u3002com/", "nothing", "ask"),
    ("example.com", "https:example.com", "nothing", "ask"),
    ("example.com", "//example.com/", "nothing", "ask"),
    ("example.com", "ftp://example.com/", "nothing", "ask"),
    ("example.com", "https://example.com\n.evil.org", "nothing", "ask"),
    ("example.com", None, "nothing", "ask"),
    ("example.com", ["https://example.com"], "nothing", "ask"),
]


# Holds: approval-33
@pytest.mark.parametrize(("domain", "url", "allowed", "denied"), ADDRESSES)
def test_a_domain_is_the_host_that_everyone_reads(
    domain: str, url: Any, allowed: str, denied: str
) -> None:
    assert judge(fetch(url), allow=[f"WebFetch(domain:{domain})"]) == allowed
    assert judge(fetch(url), deny=[f"WebFetch(domain:{domain})"]) == denied
    assert judge(fetch(url, "read_file"), deny=[f"WebFetch(domain:{domain})"]) == "nothing"


# Holds: approval-33
@pytest.mark.parametrize(
    ("command", "denied"),
    [
        ("curl https://example.com/x", "ask"),
        ("curl www.example.com", "ask"),
        ("curl 'EXAMPLE.\"com'", "ask"),
        ("git clone git@example.com:a/b", "ask"),
        ("curl https://example.com.evil.org", "nothing"),
        ("curl https://notexample.com", "nothing"),
    ],
)
def test_a_command_that_names_a_denied_host_is_asked_about(command: str, denied: str) -> None:
    assert judge(run(command), deny=["WebFetch(domain:example.com)"]) == denied
    assert judge(run(command), allow=["WebFetch(domain:example.com)"]) == "nothing"


# Holds: approval-34
@pytest.mark.parametrize(
    ("rule", "tool", "allowed", "denied"),
    [
        ("mcp__github__get_*", "mcp__github__get_issue", "allow", "deny"),
        ("mcp__github__get_*", "mcp__github__delete", "nothing", "nothing"),
        ("mcp__github__get_*", "mcp__github_x__get_issue", "nothing", "nothing"),
        ("mcp__*", "mcp__github__delete", "nothing", "deny"),
        ("mcp__git*", "mcp__github__delete", "nothing", "deny"),
        ("Ba*h", "bash", "nothing", "deny"),
        ("Web*", "web_fetch", "nothing", "deny"),
        ("wi*", "wipe", "nothing", "deny"),
    ],
)
def test_a_star_in_the_name_of_a_tool_denies_and_allows_only_those_of_one_server(
    rule: str, tool: str, allowed: str, denied: str
) -> None:
    call = describe_call(tool, None, {}, PROJECT)
    assert judge(call, allow=[rule]) == allowed
    assert judge(call, deny=[rule]) == denied


# Holds: approval-34
@pytest.mark.parametrize(
    ("rule", "path", "denied"),
    [
        ("Read(./.env)", ".env", "deny"),
        ("Read(./.env)", "a/../.env", "deny"),
        ("Read(./.env)", "/srv/project/.env", "deny"),
        ("Read(./.env)", "//srv/project/.ENV", "deny"),
        ("Read(./.env)", "a/.env", "nothing"),
        ("Read(.env)", "a/.env", "deny"),
        ("Read(./secrets/**)", "secrets/a/b", "deny"),
        ("Read(/src/**)", "src/a", "deny"),
        ("Read(//etc/passwd)", "../../etc/passwd", "deny"),
        ("Read(~/.ssh/**)", f"{Path.home()}/.ssh/id", "deny"),
    ],
)
def test_a_denied_path_is_denied_in_each_spelling(rule: str, path: str, denied: str) -> None:
    assert judge(describe_call("read_file", None, {"path": path}, PROJECT), deny=[rule]) == denied
