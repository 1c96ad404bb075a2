"""What else happens while the primary is taken away."""

import glob
import json
import os
import random
import shutil
import signal
import subprocess
import threading
import time
import urllib.error
import urllib.request

from cluster import PASSWORD, ordinary_user

FROZEN, JUMPED, ENDS_MAX = 20, 10, 40
DISK_MIB, SPARE_MIB = 512, 8


def run(home, command, **more):
    """The program with a home of its own; (exit code, output, what it says)."""
    environment = {"HOME": home, "PATH": os.environ["PATH"], "MFA_SECRET_KEY_FILE": f"{home}/key", **more}
    done = subprocess.run([os.environ["MFA_BIN"], *command], env=environment, capture_output=True, text=True)
    return done.returncode, done.stdout, done.stderr


class Nothing:
    name = "none"

    def prepare(self, cluster):
        pass

    def daemons(self, home, daemons, start):
        """The two daemons, and what starts one of them anew, with more variables in its environment."""
        self.home, self.all, self.start = home, daemons, start

    def begin(self, cluster, load):
        pass

    def meanwhile(self):
        pass

    def end(self, acknowledged):
        """What is wrong."""
        return []

    def clean(self):
        pass

    def again(self):
        """Starts the second daemon until it stays, as a service manager does."""
        self.all[1].wait()
        until = time.monotonic() + 90
        while time.monotonic() < until:
            try:
                self.all[1] = self.start(1)
                return
            except RuntimeError:
                time.sleep(1)
        raise SystemExit("the daemon does not start again")


class Killed(Nothing):
    name = "killed"

    def meanwhile(self):
        self.all[1].kill()
        self.again()


class Frozen(Nothing):
    name = "frozen"

    def meanwhile(self):
        self.all[1].send_signal(signal.SIGSTOP)
        time.sleep(FROZEN)
        self.all[1].send_signal(signal.SIGCONT)


class Memory(Nothing):
    name = "memory"

    def prepare(self, cluster):
        v1 = os.path.exists("/sys/fs/cgroup/memory/memory.limit_in_bytes")
        self.group = f"/sys/fs/cgroup/{'memory/' if v1 else ''}mfa-failover-{os.getpid()}"
        self.limit = "memory.limit_in_bytes" if v1 else "memory.max"
        os.mkdir(self.group)

    def write(self, name, text):
        with open(f"{self.group}/{name}", "w") as file:
            file.write(str(text))

    def begin(self, cluster, load):
        # What it takes from now on counts.
        self.write("cgroup.procs", self.all[1].pid)
        self.port = load.ports[1]

    def burden(self):
        """Batches that change nothing, until the daemon is gone."""
        one = {"method": "POST", "path": "/customers", "body": {"identifier": "never", "surname": "x" * 200}}
        body = json.dumps({"atomic": True, "operations": [one] * 1000}).encode()
        while self.all[1].poll() is None:
            request = urllib.request.Request(f"http://127.0.0.1:{self.port}/batch", body, method="POST")
            request.add_header("Content-Type", "application/json")
            request.add_header("Dry-Run", "true")
            try:
                urllib.request.urlopen(request, timeout=10).read()
            except OSError:
                time.sleep(0.05)

    def meanwhile(self):
        self.write(self.limit, SPARE_MIB << 20)
        threads = [threading.Thread(target=self.burden, daemon=True) for _ in range(16)]
        for thread in threads:
            thread.start()
        until = time.monotonic() + ENDS_MAX
        while self.all[1].poll() is None and time.monotonic() < until:
            time.sleep(0.05)
        if self.all[1].poll() != -signal.SIGKILL:
            raise SystemExit("the kernel did not end the daemon for its memory")
        self.again()

    def clean(self):
        time.sleep(0.2)
        os.rmdir(self.group)


class Clock(Nothing):
    name = "clock"

    def daemons(self, home, daemons, start):
        super().daemons(home, daemons, start)
        self.file = f"{home}/clock"
        self.jump("+0")
        shown = subprocess.run(["faketime", "-f", "+0", "env"], check=True, capture_output=True, text=True).stdout
        library = next(line for line in shown.splitlines() if line.startswith("LD_PRELOAD="))
        clock = {"FAKETIME_TIMESTAMP_FILE": self.file, "FAKETIME_NO_CACHE": "1", "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
        daemons[1].terminate()
        daemons[1].wait()
        daemons[1] = start(1, {"LD_PRELOAD": library.split("=", 1)[1], **clock})

    def jump(self, to):
        with open(self.file, "w") as file:
            file.write(f"{to}\n")

    def meanwhile(self):
        self.jump("+366d")
        time.sleep(JUMPED)

    def end(self, acknowledged):
        self.jump("+0")
        return []


class Backup(Nothing):
    """Backups of both daemons in turn; every third one is killed."""

    name = "backup"

    def begin(self, cluster, load):
        self.load, self.made, self.failed, self.killed = load, [], {}, 0
        self.ended = threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def create(self, number):
        """A backup, and what it must hold; a failed or killed one leaves no file."""
        file, before = f"{self.home}/b{number}.mfab", list(self.load.acknowledged)
        environment = {"HOME": self.home, "PATH": os.environ["PATH"]}
        environment["MFA_URL"] = f"http://127.0.0.1:{self.load.ports[number % 2]}"
        command = [os.environ["MFA_BIN"], "backup", "create", "--out", file]
        with open(f"{self.home}/backup.log", "w+") as log:
            child = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
            if number % 3 == 2:
                time.sleep(random.random() * 0.5)
                child.kill()
            code = child.wait()
            log.seek(0)
            said = log.read()
        if code == -signal.SIGKILL:
            self.killed += 1
            if os.path.exists(file):
                self.made.append((file, before))
        elif code == 0:
            self.made.append((file, before))
        else:
            self.failed[file] = said

    def work(self):
        number = 0
        while not self.ended.is_set():
            self.create(number)
            number += 1

    def end(self, acknowledged):
        self.ended.set()
        self.thread.join()
        during = len(self.made)
        self.create(9_000)
        wrong = [f"a failed backup left {file}" for file in self.failed if os.path.exists(file)]
        wrong += [f"no sentence: {said!r}" for said in self.failed.values() if not said.startswith("error: ")]
        if len(self.made) == during:
            return [*wrong, "no backup can be made afterwards"]
        for file, before in self.made:
            code, _, said = run(self.home, ["backup", "verify", file])
            wrong += [f"{file}: {said}"] if code else []
        # Restoring all of them would take long: the last one, and some of the others.
        for file, before in [self.made[-1], *random.sample(self.made[:-1], min(3, during))]:
            wrong += self.restored(file, before)
        print(f"backups: {during} made, {self.killed} killed, {len(self.failed)} refused: "
              f"{[said.splitlines()[0] for said in self.failed.values()][:2]}")
        return wrong

    def restored(self, file, before):
        target = f"{file}.restored"
        code, _, said = run(self.home, ["backup", "restore", file, "--data-dir", target])
        if code:
            return [f"{file} cannot be restored: {said}"]
        for what in ("store", "ledger"):
            code, out, said = run(self.home, ["check", what, "--data-dir", target])
            if code:
                return [f"{file}: check {what}: {out} {said}"]
        daemon = self.start(0, {"MFA_DATA_DIR": target}, embedded=True)
        try:
            request = urllib.request.Request(f"{daemon.url}/customers", headers={"Accept": "application/x-ndjson"})
            with urllib.request.urlopen(request, timeout=60) as answer:
                there = {json.loads(line)["identifier"] for line in answer}
        finally:
            daemon.terminate()
            daemon.wait()
        return [f"{file} lacks {name}" for name in before if name not in there][:3]


class Restore(Backup):
    """Restores into other schemas of the same database."""

    name = "restore"

    def begin(self, cluster, load):
        self.store = cluster.url().replace(f":{PASSWORD}@", "@")
        self.load, self.made, self.failed, self.killed = load, [], {}, 0
        self.create(0)
        if not self.made:
            raise SystemExit("no backup was made")
        self.codes, self.ended = [], threading.Event()
        self.thread = threading.Thread(target=self.work)
        self.thread.start()

    def command(self, number):
        sign = "&" if "?" in self.store else "?"
        return ["backup", "restore", self.made[0][0], "--store", f"{self.store}{sign}schema=r{number}"]

    def work(self):
        while not self.ended.is_set():
            code, _, said = run(self.home, self.command(len(self.codes)), PGPASSWORD=PASSWORD)
            self.codes.append((code, said.strip().splitlines()[-1:]))

    def end(self, acknowledged):
        self.ended.set()
        self.thread.join()
        broken = [number for number, (code, _) in enumerate(self.codes) if code]
        wrong = []
        for number in broken:
            code, _, said = run(self.home, self.command(number), PGPASSWORD=PASSWORD)
            # One that was done before its answer was lost says that there is a store already.
            if code and "holds a store already" not in said:
                wrong.append(f"restore {number} is not finished by the same command: {said}")
        for number in [*broken[:4], len(self.codes) - 1]:
            store = self.command(number)[-1]
            for what in ("store", "ledger"):
                code, out, said = run(self.home, ["check", what, "--store", store], PGPASSWORD=PASSWORD)
                wrong += [f"restore {number}: check {what}: {out} {said}"] if code else []
        print(f"restores: {len(self.codes)}, of which {len(broken)} broke off and were finished afterwards: "
              f"{[said for code, said in self.codes if code][:2]}")
        return wrong


class Full(Nothing):
    """The disk of the primary is full when it is taken away."""

    name = "full"

    def prepare(self, cluster):
        self.cluster, cluster.data = cluster, lambda i: f"{cluster.dir}/disk{i}/data"
        for i in range(3):
            os.mkdir(f"{cluster.dir}/disk{i}")
            options = ["-t", "tmpfs", "-o", f"size={DISK_MIB}m", "none", f"{cluster.dir}/disk{i}"]
            subprocess.run(["mount", *options], check=True)
            if ordinary_user():
                shutil.chown(f"{cluster.dir}/disk{i}", "postgres", "postgres")

    def begin(self, cluster, load):
        filler, self.codes = f"{os.path.dirname(cluster.data(cluster.leader()))}/filler", set()
        try:
            with open(filler, "wb") as file:
                while True:
                    file.write(b"x" * 65536)
                    file.flush()
        except OSError:
            pass
        until = time.monotonic() + 20
        while "disk_full" not in self.codes and time.monotonic() < until:
            self.codes.add(self.refused(load.ports[0]))

    def refused(self, port):
        """The code with which a change is refused; none, where it is done."""
        body = json.dumps({"identifier": f"full-{time.monotonic_ns()}", "type": "PERSON"}).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{port}/customers", body, method="POST")
        request.add_header("Content-Type", "application/json")
        try:
            urllib.request.urlopen(request, timeout=30).close()
        except urllib.error.HTTPError as refusal:
            return json.load(refusal)["code"]
        return None

    def end(self, acknowledged):
        print(f"changes on the full disk were refused with {self.codes - {None}}")
        return [] if "disk_full" in self.codes else ["no change was refused for the full disk"]

    def clean(self):
        for disk in glob.glob(f"{self.cluster.dir}/disk*"):
            subprocess.run(["umount", "-l", disk], check=False)
        shutil.rmtree(self.cluster.dir, ignore_errors=True)


FAULTS = {one.name: one for one in (Nothing, Killed, Frozen, Memory, Clock, Backup, Restore, Full)}
