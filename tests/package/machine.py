"""A machine of its own: a Debian that systemd-nspawn boots, and what people type on it."""
import contextlib
import fcntl
import importlib.machinery
import importlib.util
import os
import pty
import re
import select
import shutil
import signal
import struct
import subprocess
import sys
import termios
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SECONDS_MAX = 900
# What the guides take for granted beside a clean Debian.
TOOLS = ["curl", "jq"]
# A question to which there is no answer.
SECONDS_UNANSWERED = 20
# A question is what stands at the end, without a line end.
MOVES = re.compile(r"\x1b(\[[0-9;?]*[A-Za-z]|[78])|[^\n]*\r")
QUESTION = re.compile(r"(?:^|\n)([^\n]{1,200}[:\]] ?)$")


def guide_walk():
    """tests/guides/walk as a module: it knows what is a block, and what may differ."""
    loader = importlib.machinery.SourceFileLoader("walk", f"{ROOT}/tests/guides/walk")
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("walk", loader))
    loader.exec_module(module)
    return module


sys.dont_write_bytecode = True
WALK = guide_walk()


def guide_blocks(guide, script):
    """The blocks of a guide that this script runs, in their order."""
    with open(f"{ROOT}/docs/guides/{guide}.md", encoding="utf-8") as file:
        found = WALK.judged(guide, WALK.blocks(file.read().split("\n")))
    return [block for block in found if block.script == script]


def fetched(folder):
    """A tar of a clean Debian whose caches have what the guides install: the machines have no network. It ends with 75
    where that cannot be fetched."""
    root, guides = f"{folder}/fetched", f"{ROOT}/docs/guides"
    text = "".join(read(f"{guides}/{guide}") for guide in sorted(os.listdir(guides)))
    packages = " ".join([*re.findall(r"install --no-install-recommends (.*)", text), *TOOLS])
    wheels = " ".join(re.findall(r"pip install (?:--quiet )?(.*)", text))
    # The machines are gone soon: nothing that is installed there has to be on the disk at once.
    script = f"""set -e
    rm -f /etc/apt/apt.conf.d/docker-clean
    echo force-unsafe-io >/etc/dpkg/dpkg.cfg.d/unsafe-io
    apt-get update -qq
    apt-get install -qq -y --no-install-recommends python3-pip
    pip download --quiet --dest /proof/wheels {wheels}
    apt-get purge -qq -y --auto-remove python3-pip
    apt-get install -qq -y --no-install-recommends --download-only {packages}
    """
    base, made = f"{folder}/debian.tar", f"{root}.tar"
    if os.path.exists(made) and os.path.getmtime(made) > os.path.getmtime(base) and read(f"{root}.script") == script:
        return made
    shutil.rmtree(root, ignore_errors=True)
    unpacked(base, root)
    # Where packages come from is the business of this machine.
    for place in ["resolv.conf", "pip.conf", "apt/apt.conf.d", "apt/sources.list", "apt/sources.list.d",
                  "ssl/certs/ca-certificates.crt"]:
        if os.path.exists(f"/etc/{place}"):
            subprocess.run(["cp", "-rLT", f"/etc/{place}", f"{root}/etc/{place}"], check=True)
    environment = os.environ | {"DEBIAN_FRONTEND": "noninteractive", "PATH": "/usr/sbin:/usr/bin:/sbin:/bin"}
    done = subprocess.run(["chroot", root, "sh", "-c", script], capture_output=True, text=True, env=environment)
    if done.returncode:
        print(f"what the guide installs cannot be fetched: {done.stderr[-2000:]}", file=sys.stderr)
        raise SystemExit(75)
    os.remove(f"{root}/etc/resolv.conf")
    subprocess.run(["tar", "-C", root, "-cf", made, "."], check=True)
    with open(f"{root}.script", "w") as file:
        file.write(script)
    shutil.rmtree(root)
    return made


def read(path):
    with contextlib.suppress(FileNotFoundError), open(path, encoding="utf-8") as file:
        return file.read()


def unpacked(tar, root):
    os.mkdir(root)
    subprocess.run(["tar", "-C", root, "-xf", tar], check=True)
    os.makedirs(f"{root}/proof", exist_ok=True)


def boots(work, name, tar, hosts="", *options):
    """A machine with a user who may use sudo; `hosts` has all names that it knows, where there are others."""
    root = f"{work}/{name}"
    unpacked(tar, root)
    files = {"hostname": name, "hosts": f"127.0.0.1 localhost\n{hosts or f'127.0.0.1 {name}'}",
             "sudoers.d/ama": "ama ALL=(ALL) NOPASSWD: ALL"}
    for file, text in files.items():
        with open(f"{root}/etc/{file}", "w") as open_file:
            open_file.write(f"{text}\n")
    machine = Machine(root, name, *options)
    machine.sh("useradd --create-home --shell /bin/bash ama")
    return machine


def generated(user):
    """The password that was shown for a user."""
    return lambda seen: re.findall(rf"password of {user} is ([^:\s]*):", seen)[-1]


def say(text):
    print(f"-- {text}", flush=True)


def fail(text):
    raise SystemExit(f"not so: {text}")


def on_terminal(command, answers):
    """What somebody sees at a terminal, and how the command ends; each question gets its answer, which is a text
    or finds one in what was seen."""
    child, terminal = pty.fork()
    if child == 0:
        os.execvp(command[0], command)
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 400, 80, 0, 0))
    waiting, seen, answered, asked_at = list(answers), "", 0, time.monotonic()
    until = asked_at + SECONDS_MAX
    while time.monotonic() < until:
        if not select.select([terminal], [], [], 0.3)[0]:
            question = QUESTION.search(MOVES.sub("", seen[answered:]))
            if question and waiting and re.search(waiting[0][0], question.group(1)):
                answer = waiting.pop(0)[1]
                os.write(terminal, f"{answer if isinstance(answer, str) else answer(seen)}\n".encode())
                answered = len(seen)
            elif question and time.monotonic() > asked_at + SECONDS_UNANSWERED:
                os.kill(child, signal.SIGKILL)
            continue
        try:
            part = os.read(terminal, 65536)
        except OSError:
            part = b""
        if not part:
            break
        seen += part.decode("utf-8", "replace").replace("\r\n", "\n")
        asked_at = time.monotonic()
    else:
        os.kill(child, signal.SIGKILL)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    os.close(terminal)
    if waiting:
        fail(f"\"{waiting[0][0]}\" was not asked: {command}\n{seen}")
    return seen, code


class Machine:
    """Booted as soon as it is made; `leave` ends it."""

    def __init__(self, root, name, *options):
        self.root, self.name, self.steps = root, name, 0
        self.log = open(f"{root}.log", "wb")
        line = ["systemd-nspawn", "--quiet", "--boot", "--register=no", "--keep-unit", f"--machine={name}",
                f"--directory={root}", "--resolv-conf=off", "--timezone=off", "--link-journal=no",
                "--console=pipe", *(options or ["--private-network"])]
        self.nspawn = subprocess.Popen(line, stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log)
        try:
            self.init = self.waited("systemd", 60, self.first_process)
            self.waited("the end of booting", 120, self.booted)
        except BaseException:
            self.leave()
            raise

    def waited(self, what, seconds, probe):
        until = time.monotonic() + seconds
        while time.monotonic() < until and self.nspawn.poll() is None:
            found = probe()
            if found:
                return found
            time.sleep(0.2)
        with open(f"{self.root}.log", errors="replace") as log:
            raise SystemExit(f"{self.name}: no sight of {what}:\n{log.read()[-3000:]}")

    def first_process(self):
        """The process that is the first one inside, by its number here."""
        children = {self.nspawn.pid}
        for pid in sorted(map(int, filter(str.isdigit, os.listdir("/proc")))):
            try:
                with open(f"/proc/{pid}/status") as file:
                    status = dict(line.rstrip("\n").split(":", 1) for line in file if ":" in line)
            except OSError:
                continue
            if int(status["PPid"]) in children:
                children.add(pid)
                if status["NSpid"].split()[-1:] == ["1"] and len(status["NSpid"].split()) > 1:
                    return pid
        return None

    def inside(self):
        return ["nsenter", f"--target={self.init}", "--mount", "--uts", "--ipc", "--net", "--pid", "--root", "--wd",
                "env", "-i", "PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin", "HOME=/root",
                "TERM=xterm", "NO_COLOR=1", "LANG=C.UTF-8"]

    def booted(self):
        seen = subprocess.run([*self.inside(), "systemctl", "is-system-running"], capture_output=True, text=True)
        return seen.stdout.strip() in ("running", "degraded")

    def sh(self, line, status=0):
        """What a line of root prints; it must end with this status."""
        done = subprocess.run([*self.inside(), "sh", "-c", line], capture_output=True, text=True)
        if status is not None and done.returncode != status:
            fail(f"on {self.name}: {line}\nended with {done.returncode}: {done.stdout[-2000:]}{done.stderr[-2000:]}")
        return done.stdout.strip()

    def until(self, line, seconds=60):
        """Waits until a line of root succeeds."""
        end = time.monotonic() + seconds
        while subprocess.run([*self.inside(), "sh", "-c", line], capture_output=True).returncode:
            if time.monotonic() > end:
                fail(f"on {self.name}, within {seconds} s: {line}")
            time.sleep(0.2)

    def typed(self, text, user, answers=()):
        """What somebody sees who types these lines at a terminal of 80 columns, and how the last one ends."""
        self.steps += 1
        script = f"/proof/step-{self.steps}"
        with open(self.root + script, "w") as file:
            file.write(f"stty cols 80 rows 400 -onlcr\nexport NO_COLOR=1 LANG=C.UTF-8\n{text}\n")
        os.chmod(self.root + script, 0o755)
        return on_terminal([*self.inside(), "su", "-", user, "--session-command", f"bash {script}"], answers)

    def block(self, block, user, answers=(), exchanged=()):
        """Does what a block says, in a shell of its own; each command must succeed. `exchanged` has what is another
        one here: a text of the block, and what is typed instead."""
        text = "\n".join(block.text)
        for there, here in exchanged:
            if there not in text:
                fail(f"line {block.line + 1} of the guide has no {there}")
            text = text.replace(there, here)
        seen, code = self.typed(f"set -e\n{text}", user, answers)
        if code:
            fail(f"on {self.name}, line {block.line + 1} of the guide: exit {code}: {text}\n{seen}")
        return seen

    def leave(self):
        if self.nspawn.poll() is None:
            self.nspawn.terminate()
            try:
                self.nspawn.wait(30)
            except subprocess.TimeoutExpired:
                self.nspawn.kill()
                self.nspawn.wait()
        self.log.close()
