"""What is in the files of a world, and which of them no command may read."""

from __future__ import annotations

STATE = ".local/state/amplifier-core"
SECRET_FILES = {
    "ssh key": "home/.ssh/id_rsa",
    "ssh settings": "home/.ssh/config",
    "aws": "home/.aws/credentials",
    "gcloud": "home/.config/gcloud/application_default_credentials.json",
    "azure": "home/.azure/msal_token_cache.json",
    "kube": "home/.kube/config",
    "docker": "home/.docker/config.json",
    "netrc": "home/.netrc",
    "git credentials": "home/.git-credentials",
    "npm": "home/.npmrc",
    "pypi": "home/.pypirc",
    "gnupg": "home/.gnupg/private-keys-v1.d/key.key",
    "cargo": "home/.cargo/credentials.toml",
    "github": "home/.config/gh/hosts.yml",
    "history": "home/.bash_history",
    "pgpass": "home/.pgpass",
    "vault": "home/.vault-token",
    "passwords": "home/.password-store/mail.gpg",
    "browser": "home/.mozilla/firefox/profile/logins.json",
    "keyring": "home/.local/share/keyrings/login.keyring",
    "sessions": f"home/{STATE}/sessions.db",
    "kept version": f"home/{STATE}/changes/other/000001/layer/source.txt",
    "kept version beside": ".amplifier-changes/other-000001/layer/source.txt",
    "kept version of an inner project": "project/inner-project/.amplifier-changes/a/layer/b",
    "project": "project/.env",
}
"""Files that no command may read."""

FILES = {
    "outside/canary": "canary\n",
    "outside/folder/inner": "inner\n",
    "outside/program": "#!/bin/sh\n",
    "outside/database": "",
    "home/.bashrc": "# bashrc\n",
    "home/.profile": "# profile\n",
    "home/.gitconfig": '[safe]\n\tdirectory = *\n[protocol "file"]\n\tallow = always\n',
    "home/.local/bin/tool": "#!/bin/sh\n",
    "home/.cargo/bin/cargo": "#!/bin/sh\n",
    "home/.cache/pip/wheel": "wheel\n",
    "home/.config/systemd/user/own.service": "[Service]\n",
    "project/swapped/here": "here\n",
    "venv/bin/python": "#!/bin/sh\n",
    "venv/lib/python3.11/site-packages/package/__init__.py": "x = 1\n",
}
"""All others."""
