"""Takes the primary away under load, alone or beside another fault, and counts what became of every write."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import uuid

import beside
from cluster import PASSWORD, Cluster, wait_for

WRITERS = 8
SECONDS_BEFORE, SECONDS_AFTER, SECONDS_FROZEN = 8, 10, 60
RESUME_SECONDS_MAX = 90


class Load:
    """Clients that create customers, and repeat what was refused under the same idempotency key."""

    def __init__(self, ports):
        self.ports, self.stopping = ports, threading.Event()
        self.lock = threading.Lock()
        self.acknowledged, self.answered_at, self.wrong = [], [], []
        self.refused = self.replayed = self.broken = 0
        self.threads = [threading.Thread(target=self.write, args=(n,)) for n in range(WRITERS)]

    def start(self):
        for thread in self.threads:
            thread.start()

    def stop(self):
        self.stopping.set()
        for thread in self.threads:
            thread.join()

    def write(self, number):
        count, connection = 0, None
        while not self.stopping.is_set():
            name, key = f"w{number}-{count}", str(uuid.uuid4())
            count += 1
            while not self.stopping.is_set():
                if connection is None:
                    connection = http.client.HTTPConnection("127.0.0.1", self.ports[number % 2], timeout=30)
                try:
                    body = json.dumps({"identifier": name, "type": "PERSON", "surname": "Mensah"})
                    headers = {"Content-Type": "application/json", "Idempotency-Key": key}
                    connection.request("POST", "/customers", body, headers)
                    answer = connection.getresponse()
                    text = answer.read()
                except (OSError, http.client.HTTPException):
                    with self.lock:
                        self.broken += 1
                    connection = None
                    time.sleep(0.1)
                    continue
                if answer.will_close:
                    connection = None
                if self.note(name, answer, text):
                    break
                time.sleep(min(float(answer.headers.get("Retry-After", 1)), 0.2))

    def note(self, name, answer, text):
        with self.lock:
            if answer.status == 202:
                self.acknowledged.append(name)
                self.answered_at.append(time.monotonic())
                self.replayed += answer.headers.get("Idempotency-Replayed") == "true"
                return True
            if answer.status == 503 and answer.headers.get("Retry-After"):
                self.refused += 1
                return False
            self.wrong.append(f"{name}: {answer.status} {text[:200]!r}")
            return True


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def start_daemon(home, store, port, more=None):
    """Starts a daemon and waits until it is ready; it may end instead, where the database cannot be reached."""
    environment = {"HOME": home, "PATH": os.environ["PATH"], "MFA_SECRET_KEY_FILE": f"{home}/key", **(more or {})}
    environment.update({"MFA_STORE": store} if store else {})
    command = [os.environ["MFA_BIN"], "daemon", "run", "--auth", "off", "--listen", f"127.0.0.1:{port}"]
    log = open(f"{home}/daemon-{port}.log", "ab")
    daemon = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    daemon.url = f"http://127.0.0.1:{port}"

    def ready():
        if daemon.poll() is not None:
            raise RuntimeError(f"the daemon ended with {daemon.returncode}: see {log.name}")
        return status(port, "/ready") == 200

    wait_for("the daemon", 60, ready)
    return daemon


def status(port, path):
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
    connection.request("GET", path)
    answer = connection.getresponse()
    answer.read()
    return answer.status


def take_away(cluster, fault, leader):
    """Does the fault to a node; returns what mends it."""
    if fault == "postgres":
        cluster.signal([cluster.postmaster(leader)], signal.SIGKILL)
        return lambda: None
    try:
        pids = cluster.processes(leader)
    except OSError:
        # Where its disk is full PostgreSQL may have ended by itself.
        pids = [cluster.nodes[leader].pid]
    if fault == "node":
        cluster.signal(pids, signal.SIGKILL)
        return lambda: None
    cluster.signal(pids, signal.SIGSTOP)
    frozen_at = time.monotonic()

    def thaw():
        time.sleep(max(0, SECONDS_FROZEN - (time.monotonic() - frozen_at)))
        cluster.signal(pids, signal.SIGCONT)
        time.sleep(SECONDS_AFTER)

    return thaw


def run(cluster, fault, other, home):
    other.prepare(cluster)
    cluster.start()
    cluster.sql(f"create role mfa login password '{PASSWORD}'")
    cluster.sql("create database mfa owner mfa")
    ports = [free_port(), free_port()]
    daemons = [start_daemon(home, cluster.url(), port) for port in ports]

    def start(number, more=None, embedded=False):
        port = free_port() if embedded else ports[number]
        return start_daemon(home, None if embedded else cluster.url(), port, more)

    load = Load(ports)
    try:
        other.daemons(home, daemons, start)
        load.start()
        time.sleep(SECONDS_BEFORE)
        leader = cluster.leader()
        other.begin(cluster, load)
        before, at = len(load.acknowledged), time.monotonic()
        mend = take_away(cluster, fault, leader)
        time.sleep(1)
        other.meanwhile()
        resumed = lambda: load.answered_at[-1] > at + 1.5 and status(ports[0], "/ready") == 200
        wait_for("writes after the failover", RESUME_SECONDS_MAX, resumed)
        time.sleep(SECONDS_AFTER)
        mend()
        load.stop()
        wrong = other.end(load.acknowledged)
        lost = [n for n in load.acknowledged if status(ports[1], f"/customers/{n}") != 200]
        times = sorted(load.answered_at)
        gap = max(b - a for a, b in zip(times, times[1:]))
        print(f"fault: {fault}, beside it: {other.name}; acknowledged {len(times)} ({before} before), lost {len(lost)}")
        print(f"longest gap between acknowledged writes: {gap:.1f} s")
        print(f"503 with Retry-After: {load.refused}; broken connections: {load.broken}; other: {len(load.wrong)}")
        print(f"repeated requests that had been carried out already: {load.replayed}")
        ended = [daemon.pid for daemon in daemons if daemon.poll() is not None]
        for problem in [*load.wrong[:5], *[f"lost: {n}" for n in lost[:5]], *[f"ended: {p}" for p in ended], *wrong]:
            print(problem)
        resumed_writes = sum(t > at + 1.5 for t in times)
        return not (lost or load.wrong or wrong or ended or not load.refused or not resumed_writes)
    finally:
        load.stopping.set()
        for daemon in daemons:
            daemon.send_signal(signal.SIGCONT)
            daemon.terminate()
            daemon.wait()


def main():
    cluster, other = Cluster(), beside.FAULTS[sys.argv[2]]()
    with tempfile.TemporaryDirectory() as home:
        try:
            good = run(cluster, sys.argv[1], other, home)
        finally:
            cluster.stop()
            other.clean()
    sys.exit(0 if good else 1)


main()
