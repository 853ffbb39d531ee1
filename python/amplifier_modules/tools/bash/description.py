"""What the model reads of the tool `bash`."""

from __future__ import annotations

from amplifier_modules.sandbox.network_setting import Network

from .permission import Permission

_GENERAL = (
    "Run a command with bash in the project. The result has its output (stdout and stderr as they"
    " come) and its `exit_code`. The working folder is kept for the next command, within the"
    " project; variables, functions and options are not. A command has no input and no terminal. Of"
    " a long output the result has the beginning and the end, and `output_file` the whole. What a"
    " command leaves running is ended with it; with `run_in_background` it goes on as a job until"
    " the session ends, see `bash_job`."
)
_WAY_OUT = (
    ' If that stops something which is needed, repeat it with `sandbox: "none"` and a `reason`: a'
    " person is asked."
)
_WRITES = {
    "read-only": "temporary files alone are written",
    "project": "only the project and temporary files are written",
}


def describe_tool(permission: Permission, network: Network, *, asks_about_hosts: bool) -> str:
    """Return the description for what keeps commands to the project.

    Args:
        permission: Where commands run.
        network: What they reach.
        asks_about_hosts: Whether a person is asked about other hosts.
    """
    if permission.is_confined:
        reached = _describe_network(network, asks=asks_about_hosts)
        return f"{_GENERAL} It runs in a sandbox: {_WRITES[permission.profile]}, and {reached}.{_WAY_OUT}"
    if permission.asks_always:
        return f"{_GENERAL} A person is asked about commands that do more than read."
    return _GENERAL


def _describe_network(network: Network, *, asks: bool) -> str:
    if network == "on":
        return "the network is reached"
    if network == "off":
        return "no network is reached"
    if not network:
        return "a person is asked about each host that it connects to"
    others = "; a person is asked about other hosts" if asks else ""
    return f"of the network only {', '.join(network)} is reached{others}"
