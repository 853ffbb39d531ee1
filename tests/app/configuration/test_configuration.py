"""What counts of the options, the environment, the user's files and a project."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from amplifier_app.configuration.keys import KEYS, MODES
from amplifier_app.configuration.resolve import Configuration, Value, read_configuration
from amplifier_app.configuration.template import make_schema, write_template
from amplifier_app.failure import Failure

USUAL = 'model = "openai"\nmax_iterations = 50\nprofile = "b"\n'
PROFILES = '[profiles.a]\nmodel = "groq:x"\n[profiles.b]\nmax_iterations = 20\nplan = "mine.toml"\n'


@pytest.fixture
def home(tmp_path: Path) -> dict[str, str]:
    """The environment of a user with a folder for configuration."""
    (tmp_path / "amplifier-core").mkdir()
    return {"XDG_CONFIG_HOME": str(tmp_path)}


def write(home: dict[str, str], text: str) -> Path:
    path = Path(home["XDG_CONFIG_HOME"], "amplifier-core", "config.toml")
    path.write_text(text)
    return path


def in_project(folder: Path, text: str) -> Path:
    (folder / ".amplifier-core").mkdir()
    path = folder / ".amplifier-core" / "config.toml"
    path.write_text(text)
    return path


# Holds: config-1
def test_an_option_counts_before_the_environment_a_profile_and_the_file(
    home: dict[str, str],
) -> None:
    file = write(home, USUAL + PROFILES)
    home["LOOP_MAX_ITERATIONS"] = "30"
    found = read_configuration(home)
    found.add_variables(home)
    assert found.values == {
        "model": Value("openai", str(file)),
        "max_iterations": Value(30, "the variable LOOP_MAX_ITERATIONS"),
        "plan": Value(str(file.parent / "mine.toml"), f"{file}, profile `b`"),
    }
    assert found.get("model", "gemini") == "gemini"
    del home["LOOP_MAX_ITERATIONS"]
    assert read_configuration(home).get("max_iterations") == 20
    assert read_configuration(home, "a").values == {
        "model": Value("groq:x", f"{file}, profile `a`"),
        "max_iterations": Value(50, str(file)),
    }


# Holds: config-1
def test_what_a_file_sets_is_the_variable_where_that_is_not_set(home: dict[str, str]) -> None:
    write(
        home, 'thinking = false\ntool_timeout = 5.5\nprices = { m = { input = 3 } }\nrate = "3/60"'
    )
    environment = {"TOOL_TIMEOUT": "7", "PROVIDER_RATE": " "}
    read_configuration(home).set_variables(environment)
    assert environment == {
        "TOOL_TIMEOUT": "7",
        "PROVIDER_RATE": "3/60",
        "THINKING_MODE_ENABLED": "false",
        "PROVIDER_PRICES": '{"m": {"input": 3}}',
    }


# Holds: config-2
@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("modell = 1", "`modell` is unknown (did you mean `model`?)"),
        ("model = 1", "`model` is 1 (must be a text)"),
        ('mode = "careful"', "`mode` is 'careful' (must be `auto` or `review` or `ask` or `read-only` or `plan`)"),
        ("max_iterations = 0", "`max_iterations` is 0 (must be a whole number from 1 to 1,000,000)"),
        ('rate = "often"', "`rate` is 'often' (must be calls per seconds, such as `30/60`)"),
        ("[profiles.a]\nmoed = 1", "`profiles.a.moed` is unknown (did you mean `mode`?)"),
        ("profiles = 3", "`profiles` is no table (must be a table of profiles)"),
        ("[profiles]\na = 3", "`profiles.a` is no table"),
        ('profile = "a"\n[profiles.b]', "`profile` names no profile (there are: `b`)"),
        ("model =", "it is no TOML: Invalid value (at end of document)"),
        (b"\xff", "it is not UTF-8 (byte 0)"),
        (b"#" * 1_048_577, "it is longer than 1,048,576 bytes"),
    ],
)  # fmt: skip
def test_a_mistake_in_the_users_file_is_a_failure_that_names_it(
    home: dict[str, str], text: str | bytes, problem: str
) -> None:
    file = write(home, "")
    file.write_bytes(text if isinstance(text, bytes) else text.encode())
    with pytest.raises(Failure) as raised:
        read_configuration(home)
    assert str(raised.value) == f"`{file}`: {problem}"


# Holds: config-2
def test_a_profile_that_is_not_there_is_a_failure_that_lists_the_others(
    home: dict[str, str],
) -> None:
    write(home, PROFILES)
    with pytest.raises(Failure, match=r"^there is no profile `c` \(there are: `a`, `b`\)$"):
        read_configuration(home, "c")


# Holds: config-3
def test_a_project_chooses_a_model_and_restricts_and_nothing_else(
    home: dict[str, str], tmp_path: Path
) -> None:
    write(home, 'mode = "review"\nmax_iterations = 40\n')
    path = in_project(
        tmp_path,
        'model = "sonnet"\nmode = "plan"\nmax_iterations = 90\ntheme = "dark"\nplan = "theirs.toml"\n'
        "[modules.tool-bash]\n",
    )
    found = read_configuration(home)
    found.restrict_by(tmp_path, home)
    own = str(Path(home["XDG_CONFIG_HOME"], "amplifier-core", "config.toml"))
    assert found.values == {
        "mode": Value("plan", str(path), is_restriction=True),
        "max_iterations": Value(40, own),
        "model": Value("sonnet", str(path), is_restriction=True),
    }
    refused = (
        "may not be set inside a project folder: it is not one of the settings that are known to be"
        " harmless; set it in your own configuration"
    )
    assert found.warnings == [
        f"{path}: `plan` {refused}",
        f"{path}: `modules` {refused}",
        f"{path}: `max_iterations` is 90, and yours (40) lets less happen: yours counts",
    ]


# Holds: config-3
@pytest.mark.parametrize(("ours", "counts"), [("100", "30"), ("20", "20"), ("", "30")])
def test_a_project_restricts_the_environment_too(tmp_path: Path, ours: str, counts: str) -> None:
    in_project(tmp_path, "max_iterations = 30")
    environment = {"XDG_CONFIG_HOME": str(tmp_path), "LOOP_MAX_ITERATIONS": ours}
    found = read_configuration(environment)
    found.restrict_by(tmp_path, environment)
    found.set_variables(environment)
    assert environment["LOOP_MAX_ITERATIONS"] == counts


# Holds: config-3
@given(ours=st.sampled_from([None, *MODES]), theirs=st.sampled_from(MODES))
def test_no_project_lets_more_happen_than_the_user(ours: str | None, theirs: str) -> None:
    allows: Any = KEYS["mode"].allows
    # Without a sandbox the usual mode is `ask`.
    assert allows(theirs, ours) == (MODES.index(theirs) <= MODES.index(ours or "ask"))


# Holds: config-3
@given(ours=st.none() | st.integers(1, 10**6), theirs=st.integers(1, 1_000))
def test_no_project_lets_more_calls_happen_than_the_user(ours: int | None, theirs: int) -> None:
    allows: Any = KEYS["max_iterations"].allows
    assert allows(theirs, ours) == (theirs <= (200 if ours is None else ours))


# Holds: config-3
@pytest.mark.parametrize("place", ["file", "folder"])
def test_a_file_that_a_link_leads_to_is_not_read(tmp_path: Path, place: str) -> None:
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    (elsewhere / "config.toml").write_text('mode = "plan"')
    folder = tmp_path / "project"
    folder.mkdir()
    if place == "folder":
        (folder / ".amplifier-core").symlink_to(elsewhere)
    else:
        (folder / ".amplifier-core").mkdir()
        (folder / ".amplifier-core" / "config.toml").symlink_to(elsewhere / "config.toml")
    with pytest.raises(Failure, match="it is no plain file in the project, and is not read"):
        Configuration().restrict_by(folder, {})


# Holds: config-4
def test_each_line_of_the_file_to_begin_with_is_right_when_it_is_no_comment(
    home: dict[str, str],
) -> None:
    template = write_template()
    assert tomllib.loads(template) == {}
    lines = re.sub(r"(?m)^# (?=\w+ = |\[)", "", template)
    lines = re.sub(r"(?m)^(\w+) = [^\"\d{tf].*$", r"", lines)  # what is usual is not always a value
    content = tomllib.loads(lines)
    assert content["profiles"] == {"careful": {"mode": "review"}}
    write(home, lines)
    found = read_configuration(home).values.keys()
    assert found == content.keys() - {"profile", "profiles"}
    assert len(found) == len(KEYS)


# Holds: config-4
def test_the_schema_has_each_key() -> None:
    schema = make_schema()
    keys = {*KEYS}
    assert schema["properties"].keys() == keys | {"profile", "profiles"}
    profile = schema["properties"]["profiles"]["additionalProperties"]
    assert (profile["properties"].keys(), profile["additionalProperties"]) == (keys, False)
    assert schema["properties"]["mode"] == {
        "enum": ["auto", "review", "ask", "read-only", "plan"],
        "description": "What runs without a question.",
    }
