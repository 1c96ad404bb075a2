"""Three PostgreSQL nodes under Patroni, with three etcd members, all on loopback."""

import glob
import json
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
import urllib.request

import yaml

PASSWORD = "not-a-secret"


def ordinary_user():
    """PostgreSQL refuses to run as root, so root hands over to the user of Debian's package."""
    return {"user": "postgres", "group": "postgres", "extra_groups": []} if os.getuid() == 0 else {}


def wait_for(what, seconds, probe):
    """Waits until a probe answers something true, and returns that."""
    until = time.monotonic() + seconds
    while True:
        try:
            found = probe()
        except OSError:
            found = None
        if found:
            return found
        if time.monotonic() > until:
            raise SystemExit(f"{what}: not within {seconds} s")
        time.sleep(0.2)


def patroni_yml():
    with open("docs/guides/several-machines.md") as guide:
        return guide.read().split("```yaml\n")[1].split("```")[0]


def free_base():
    """A port from which on the cluster finds its ports free."""
    import random
    import socket

    for _ in range(50):
        base = random.randrange(20000, 29000, 50)
        try:
            for offset in [*range(0, 3), *range(10, 13), *range(20, 23), *range(30, 33)]:
                with socket.socket() as probe:
                    probe.bind(("127.0.0.1", base + offset))
            return base
        except OSError:
            continue
    raise SystemExit("no free ports")


class Cluster:
    def __init__(self):
        self.base = free_base()
        self.dir = tempfile.mkdtemp(prefix="mfa-failover-")
        if os.getuid() == 0:
            shutil.chown(self.dir, "postgres", "postgres")
        self.bin = sorted(glob.glob("/usr/lib/postgresql/*/bin"))[-1]
        self.etcd, self.nodes = [], [None] * 3
        self.data = lambda i: f"{self.dir}/data{i}"

    def spawn(self, name, command):
        log = open(f"{self.dir}/{name}.log", "ab")
        home = {"HOME": self.dir, "PATH": f"{self.bin}:{os.environ['PATH']}", "LC_ALL": "C.UTF-8"}
        return subprocess.Popen(
            command, cwd=self.dir, env=home, stdout=log, stderr=log, start_new_session=True, **ordinary_user()
        )

    def start(self):
        peers = ",".join(f"e{i}=http://127.0.0.1:{self.base + 10 + i}" for i in range(3))
        for i in range(3):
            client, peer = (f"http://127.0.0.1:{self.base + offset + i}" for offset in (0, 10))
            self.etcd.append(self.spawn(f"etcd{i}", [
                "etcd", "--name", f"e{i}", "--data-dir", f"{self.dir}/etcd{i}",
                "--listen-client-urls", client, "--advertise-client-urls", client,
                "--listen-peer-urls", peer, "--initial-advertise-peer-urls", peer,
                "--initial-cluster", peers, "--initial-cluster-state", "new",
            ]))
        healthy = f"http://127.0.0.1:{self.base}/health"
        wait_for("etcd", 30, lambda: b'"true"' in urllib.request.urlopen(healthy, timeout=1).read())
        for i in range(3):
            self.start_node(i)
        return wait_for("three members with a leader and a synchronous standby", 120, self.complete)

    def start_node(self, i):
        path = f"{self.dir}/n{i}.json"
        with open(path, "w") as file:
            json.dump(self.settings(i), file)  # JSON is YAML, which Patroni reads.
        self.nodes[i] = self.spawn(f"n{i}", [os.environ["PATRONI"], path])

    def settings(self, i):
        """What the guide to several machines has as /etc/patroni.yml of db1, with the ports, folders and passwords of here."""
        text = patroni_yml()
        for k in range(3):
            text = text.replace(f"db{k + 1}:2379", f"127.0.0.1:{self.base + k}")
        text = text.replace("db1:8008", f"127.0.0.1:{self.base + 30 + i}")
        text = text.replace("db1:5432", f"127.0.0.1:{self.base + 20 + i}").replace("name: db1", f"name: n{i}")
        settings = yaml.safe_load(text)
        server = settings["postgresql"]
        server.update(data_dir=self.data(i), bin_dir=self.bin)
        server["parameters"].update(unix_socket_directories=self.dir, shared_buffers="64MB")
        for user in server["authentication"].values():
            user["password"] = PASSWORD
        return settings

    def members(self):
        for i in range(3):
            try:
                url = f"http://127.0.0.1:{self.base + 30 + i}/cluster"
                return json.load(urllib.request.urlopen(url, timeout=1))["members"]
            except OSError:
                continue
        return []

    def complete(self):
        roles = [m["role"] for m in self.members() if m["state"] in ("running", "streaming")]
        return len(roles) == 3 and "leader" in roles and "sync_standby" in roles

    def leader(self):
        return next(int(m["name"][1:]) for m in self.members() if m["role"] == "leader")

    def sql(self, statement, database="postgres"):
        port = self.base + 20 + self.leader()
        subprocess.run(
            [f"{self.bin}/psql", "-h", "127.0.0.1", "-p", str(port), "-U", "postgres", "-d", database, "-c", statement],
            env={"PGPASSWORD": PASSWORD}, check=True, stdout=subprocess.DEVNULL,
        )

    def url(self):
        hosts = ",".join(f"127.0.0.1:{self.base + 20 + i}" for i in range(3))
        return f"postgres://mfa:{PASSWORD}@{hosts}/mfa"

    def postmaster(self, i):
        with open(f"{self.data(i)}/postmaster.pid") as file:
            return int(file.readline())

    def processes(self, i):
        """Every process of a node: the agent, the postmaster and its children."""
        postmaster = self.postmaster(i)
        found = [self.nodes[i].pid, postmaster]
        children = subprocess.run(["ps", "-o", "pid=", "--ppid", str(postmaster)], capture_output=True, text=True)
        return found + [int(pid) for pid in children.stdout.split()]

    def signal(self, pids, number):
        for pid in pids:
            try:
                os.kill(pid, number)
            except ProcessLookupError:
                pass

    def stop(self):
        for i, node in enumerate(self.nodes):
            if node is None:
                continue
            try:
                pids = self.processes(i)
            except OSError:
                pids = [node.pid]
            self.signal(pids, signal.SIGCONT)
            self.signal(pids, signal.SIGKILL)
            node.wait()
        for member in self.etcd:
            member.kill()
            member.wait()
        shutil.rmtree(self.dir, ignore_errors=True)
