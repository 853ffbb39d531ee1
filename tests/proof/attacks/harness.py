"""Attacks: commands that try to have an effect outside of their project, and the judge of each.

The rows are in `rows/*.txt`, a file a kind: `== name: what is looked at; remark`, and below it the
program, for bash, or for Python or C if its first line says so. The judge compares the world before
and after; it takes an attack's own word only for secrets, whose values are random, and for calls
whose success nobody can see.

Run as a program it prints what each attack changed:
`python harness.py RUNNER USER [NAME ...]`, with the runner `unconfined`, a tier, `bubblewrap` or
`layers`.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from functools import cache
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))

from outside import World
from repository import remove_template
from users import User, find_user

SECONDS = 8.0
"""After which a command is ended."""
HARMLESS = {"messages", "secret", "claim", "terminal", "git", "suid", "unasked"}
"""Kinds of effects after which a world is as good as before, once its project is put back."""
BATCH = 8
REMARKS = ("blocked", "only confined", "only as", "person")
LAYERS = "layers"
"""The runner that has each command in a layer."""


@dataclass(frozen=True)
class Attack:
    """One attack."""

    name: str
    """Its kind and its own name."""
    looks: tuple[str, ...]
    """The kinds of facts of which it changes one where nothing holds it."""
    remarks: tuple[tuple[str, str], ...]
    program: str

    @property
    def blocked(self) -> str | None:
        """Why it succeeds nowhere on many machines, even unconfined."""
        return dict(self.remarks).get("blocked")

    @property
    def harmful(self) -> str | None:
        """Why it is never run unconfined."""
        return dict(self.remarks).get("only confined")

    @property
    def person(self) -> str | None:
        """What a person does meanwhile in the project, as `person.py` says."""
        return dict(self.remarks).get("person")

    @property
    def is_lonely(self) -> bool:
        """Whether it shares no look with others."""
        return self.person is not None or not {"git", "unasked"}.isdisjoint(self.looks)

    def succeeds_as(self, user: str) -> bool:
        """Whether a user of this kind has the rights that it needs."""
        return dict(self.remarks).get("only as", user) == user


@dataclass(frozen=True)
class Result:
    """What an attack did."""

    attack: Attack
    effects: tuple[str, ...]
    """The names of the facts that changed."""
    output: str

    @property
    def is_proved(self) -> bool:
        """Whether it had an effect of the kind that it says."""
        return any(effect.partition("/")[0] in self.attack.looks for effect in self.effects)


@cache
def read_attacks() -> dict[str, Attack]:
    """Return every attack by its name, in the order of the files."""
    attacks: dict[str, Attack] = {}
    for path in sorted((HERE / "rows").glob("*.txt")):
        for row in f"\n{path.read_text()}".split("\n== ")[1:]:
            attack = parse_row(path.stem, row)
            assert attack.name not in attacks, attack.name
            attacks[attack.name] = attack
    return attacks


def parse_row(kind: str, row: str) -> Attack:
    """Return the attack of one row."""
    head, _, program = row.partition("\n")
    name, _, rest = head.partition(": ")
    looks, *remarks = rest.split("; ")
    pairs = []
    for remark in remarks:
        key, _, value = remark.partition(": ")
        assert key in REMARKS, head
        pairs.append((key, value))
    return Attack(f"{kind}/{name}", tuple(looks.split(", ")), tuple(pairs), program.strip() + "\n")


@cache
def make_program_folder() -> Path:
    """Make the folder of compiled programs."""
    return Path(tempfile.mkdtemp(prefix="attack-programs-"))


@cache
def compile_program(program: str) -> Path | None:
    """Compile an attack in C, with the flags of its first line; none without a compiler."""
    first, _, text = program.partition("\n")
    if shutil.which("gcc") is None:
        return None
    folder = Path(tempfile.mkdtemp(dir=make_program_folder()))
    source, built = folder / "attack.c", folder / "attack"
    source.write_text(text)
    command = ("gcc", "-w", "-o", built, source, *first.removeprefix("#!c").split())
    done = subprocess.run(command, check=False, capture_output=True, text=True)
    if done.returncode != 0:
        raise RuntimeError(f"an attack cannot be compiled: {done.stderr}")
    return built


def place_program(attack: Attack, world: World) -> str | None:
    """Put the program of an attack into the project, and return the command that runs it."""
    if attack.program.startswith("#!python"):
        path = world.project / "attack.py"
        path.write_text(f"{(HERE / 'attacker.py').read_text()}\n{attack.program}")
        return 'exec "$PYTHON" -I -S -B "$PROJECT/attack.py"'
    if attack.program.startswith("#!c"):
        built = compile_program(attack.program)
        if built is None:
            return None
        shutil.copy(built, world.project / "attack.bin")
        return 'exec "$PROJECT/attack.bin"'
    return attack.program


def run_alone(attack: Attack, world: World) -> Result | None:
    """Run one attack and look at what it did; none if it cannot be run here."""
    command = place_program(attack, world)
    if command is None:
        return None
    with world.person(attack.person):
        output = world.run(command, SECONDS)
    world.settle()
    effects = world.compare(output)
    # Elsewhere the command and the person write the same file, and the last one wins.
    if world.runner == LAYERS and attack.person and world.written and world.is_lost():
        effects.append("person/what a person wrote is lost")
    if "git" in attack.looks:
        if world.project.is_dir() and world.use_project():
            effects.append("git/planted program ran")
    elif world.runner == LAYERS and not attack.person and not effects:
        output += world.undo()
        if world.has_changed_project():
            effects.append("undo/the project is not as before")
    return Result(attack, tuple(effects), output)


def run_together(attacks: Iterable[Attack], world: World) -> list[Result] | None:
    """Run attacks one after the other and look once; none if something has changed."""
    results, outputs = list[Result](), list[str]()
    for attack in attacks:
        command = place_program(attack, world)
        if command is None:
            continue
        outputs.append(world.run(command, SECONDS))
        results.append(Result(attack, (), outputs[-1]))
        if world.failure is not None:
            return None
        if world.has_changed_project() and (
            world.compare(outputs[-1]) or not world.restore_project()
        ):
            return None
    world.settle()
    return None if world.compare("\n".join(outputs)) else results


class Campaign:
    """Attacks in worlds of one runner and one user; a world lasts until something of it changes."""

    def __init__(self, runner: str, user: User) -> None:
        self._runner = runner
        self._user = user
        self._world: World | None = None

    def run(self, attacks: Iterable[Attack], alone: Callable[[Attack], bool]) -> Iterator[Result]:
        """Run attacks; those of which nothing is expected share a look, unless something is seen."""
        batch: list[Attack] = []
        for attack in attacks:
            if alone(attack) or attack.is_lonely:
                yield from self._run_batch(batch)
                batch = []
                yield from self._run_alone(attack)
                continue
            batch.append(attack)
            if len(batch) == BATCH:
                yield from self._run_batch(batch)
                batch = []
        yield from self._run_batch(batch)

    def close(self) -> None:
        """End the world."""
        if self._world is not None:
            self._world.close()
            self._world = None

    def _open(self) -> World:
        if self._world is None:
            self._world = World(self._runner, self._user)
        return self._world

    def _run_batch(self, batch: list[Attack]) -> Iterator[Result]:
        if not batch:
            return
        results = run_together(batch, self._open())
        if results is not None:
            yield from results
            return
        self.close()
        for attack in batch:
            yield from self._run_alone(attack)

    def _run_alone(self, attack: Attack) -> Iterator[Result]:
        world = self._open()
        result = run_alone(attack, world)
        if result is None:
            return
        kinds = {effect.partition("/")[0] for effect in result.effects}
        if kinds - HARMLESS or (world.has_changed_project() and not world.restore_project()):
            self.close()
        yield result


def run_attacks(
    attacks: Iterable[Attack], runner: str, user: User, alone: Callable[[Attack], bool]
) -> list[Result]:
    """Run attacks and return what each of them did."""
    with closing(Campaign(runner, user)) as campaign:
        return list(campaign.run(attacks, alone))


@cache
def read_expected() -> dict[tuple[str, str], dict[str, str]]:
    """Return the attacks that succeed by kind of sandbox and user, with their reasons."""
    expected: dict[tuple[str, str], dict[str, str]] = {}
    for line in (HERE / "expected.txt").read_text().splitlines():
        if line and not line.startswith("#"):
            head, _, reason = line.partition(": ")
            kinds, users, name = head.split(maxsplit=2)
            for kind in kinds.split(","):
                for user in ("root", "user") if users == "both" else (users,):
                    expected.setdefault((kind, user), {})[name] = reason
    return expected


def clean_up() -> None:
    """Remove what all worlds have in common."""
    remove_template()
    if make_program_folder.cache_info().currsize:
        shutil.rmtree(make_program_folder())
        make_program_folder.cache_clear()
        compile_program.cache_clear()


def describe_result(result: Result, user: User) -> str:
    """Return a line for people; two marks of exclamation where an attack is not what it says."""
    attack = result.attack
    mark = "HELD" if not result.effects else "done" if result.is_proved else "else"
    wanted = not attack.blocked and attack.succeeds_as(user.name)
    hint = "" if attack.blocked or (mark == "done") == wanted else "  !!"
    return f"{mark} {attack.name}: {', '.join(result.effects)[:160]}{hint}"


def main(runner: str, user_name: str, *names: str) -> None:
    """Print what each attack changed."""
    user = find_user(user_name)
    assert user is not None, f"this process cannot become `{user_name}`"
    attacks = [
        attack
        for attack in read_attacks().values()
        if not names or any(attack.name.startswith(name) for name in names)
        if runner != "unconfined" or not attack.harmful
    ]
    begun, counted = time.monotonic(), 0
    campaign = Campaign(runner, user)
    expected = read_expected().get((runner, user_name), {})
    with closing(campaign):
        for result in campaign.run(
            attacks, lambda attack: runner == "unconfined" or attack.name in expected
        ):
            counted += bool(result.effects)
            print(describe_result(result, user), flush=True)
            if names:
                print("     " + result.output.strip().replace("\n", "\n     ")[-1500:])
    print(f"{counted} of {len(attacks)} had an effect, {time.monotonic() - begun:.1f} s")


if __name__ == "__main__":
    try:
        main(*sys.argv[1:])
    finally:
        clean_up()
