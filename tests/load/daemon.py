"""A daemon of a benchmark: a store of its own in a folder, on a free port."""

import http.client
import json
import os
import socket
import subprocess
import sys
import time

PASSWORD = "blue kettle 7"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def ready(port):
    try:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=5)
        connection.request("GET", "/ready")
        return connection.getresponse().status == 200
    except OSError:
        return False


def cpu_seconds(process):
    """User and system time of a process so far."""
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def wait_until_idle(process):
    """Waits until a daemon that is asked nothing has nothing left to do beside serving: on PostgreSQL the records of the
    trail are sealed after their commits, and the lists of the trail wait for a quieter time."""
    used, now = -1, cpu_seconds(process)
    while now - used > 0.05:
        time.sleep(1)
        used, now = now, cpu_seconds(process)


def start(folder, auth, more=None):
    """Starts a daemon; with access control there are the users admin and operator."""
    os.makedirs(folder, exist_ok=True)
    port, password = free_port(), f"{folder}/password"
    environment = {"HOME": folder, "PATH": os.environ["PATH"], "MFA_LOG": "warn", "MFA_DATA_DIR": f"{folder}/data"}
    environment.update(more or {})
    with open(password, "w") as file:
        file.write(PASSWORD)
    program, quiet = os.environ["MFA_BIN"], {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
    if auth == "on":
        init = [program, "init", "--operator", "operator", "--password-file", password]
        subprocess.run(init, env=environment, check=True, **quiet)
    command = [program, "daemon", "run", "--auth", auth, "--listen", f"127.0.0.1:{port}"]
    process = subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL)
    while not ready(port):
        time.sleep(0.02)
        if process.poll() is not None:
            sys.exit("the daemon ended")
    return process, port


def clock_of(days):
    """What gives a program the clock of so many days ago."""
    shown = subprocess.run(
        ["faketime", "-f", f"-{days}d", "env"], check=True, capture_output=True, text=True
    ).stdout
    variables = dict(line.split("=", 1) for line in shown.splitlines() if "=" in line)
    return {name: variables[name] for name in ("LD_PRELOAD", "FAKETIME")}


def set_clock_of_database(url, clock):
    """Starts a database again with a clock: a daemon works with none whose clock is another than its own."""
    subprocess.run(["tests/postgres.sh", "restart", url], env={**os.environ, **clock}, check=True)


def ask(port, method, path, body=None, token=None):
    """One request; its status and its JSON, if it has any."""
    headers = {"content-type": "application/json"}
    if token:
        headers["authorization"] = f"Bearer {token}"
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    connection.request(method, path, json.dumps(body) if body is not None else None, headers)
    answer = connection.getresponse()
    text = answer.read()
    connection.close()
    return answer.status, json.loads(text) if text else None


def log_in(port, user, password=PASSWORD):
    status, token = ask(port, "POST", "/token", {"grant_type": "password", "username": user, "password": password})
    assert status == 200, (user, status, token)
    return token["access_token"]


def clerk(port):
    """Makes a user with the role clerk, and gives a token of it."""
    return person(port, "esi", "clerk")


def person(port, user, role):
    """Makes a user with a role, and gives a token of it."""
    body = {"identifier": user, "role": role, "password": "first password"}
    status, problem = ask(port, "POST", "/users", body, log_in(port, "admin"))
    assert status == 202, problem
    token = log_in(port, user, "first password")
    status, problem = ask(port, "PUT", f"/users/{user}/password", {"password": PASSWORD}, token)
    assert status == 202, problem
    return log_in(port, user)
