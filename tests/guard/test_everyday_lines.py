"""Of what developers type each day, little asks."""

from __future__ import annotations

from pathlib import Path

from shell_tables import read_tables

from amplifier_guard import ShellDenied, ShellPolicy

LINES = (Path(__file__).parents[1] / "data/everyday_lines.txt").read_text().splitlines()
PROGRAMS = sorted(name for name in read_tables() if not name.startswith("@"))
LISTED = """python3, make test, make lint, make build, make check, npm run lint, npm run build, npm run typecheck,
yarn test, pnpm test""".replace("\n", " ").split(", ")
"""What a project allows beside the programs with a table: another name of Python, its own targets and scripts."""
MAX_ASKING = 0.12

WRITES = """git fetch origin; git add -A; git commit -m "Fix token refresh"; git push; git pull --rebase;
git checkout -b fix/login; npm install; pip install -r requirements.txt; docker compose up -d;
mkdir -p build/out; cp config.example.yaml config.yaml; mv notes.txt docs/notes.txt; rm -rf dist;
touch src/new.py; chmod +x scripts/run.sh""".replace("\n", " ").split("; ")
RUNS = """npx jest src/auth.test.ts; node scripts/build.js; python manage.py migrate;
python -m json.tool config.json; python -c "import sys, print(sys.version)"; cargo run --example demo;
make -n deploy; npm test -- --coverage; uv pip list; docker compose ps""".replace("\n", " ").split(
    "; "
)
REACHES_OUT = ["npm outdated", "npm view react version", "printenv PATH", "kubectl get svc,ing"]
NOT_PLAIN = [
    "wc -l src/*.py",
    "tr -d '\\r' < notes.txt",
    "cd src && ls",
    "ls src; ls tests",
    "cargo test 2>&1 | tail -40",
    'grep -rn "print(" src > prints.txt',
    'for f in src/*.py; do wc -l "$f"; done',
]
ASKING = [*WRITES, *(line.replace("sys, ", "sys; ") for line in RUNS), *REACHES_OUT, *NOT_PLAIN]


# Holds: sink-12
def test_few_of_the_lines_of_a_day_ask() -> None:
    policy = ShellPolicy([*PROGRAMS, *LISTED], root="/srv/proj", loopback=True)

    def asks(line: str) -> bool:
        try:
            return not policy.check_line(line)
        except ShellDenied:
            return True

    asking = [line for line in LINES if asks(line)]
    assert len(LINES) == len(set(LINES)) == 300
    assert sorted(asking) == sorted(ASKING)
    assert len(asking) <= MAX_ASKING * len(LINES)
