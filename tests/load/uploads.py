"""Many portraits at once against one daemon, and the memory that they take."""

import http.client
import json
import os
import selectors
import socket
import sys
import time

from daemon import start

# What the memory may grow by.
GROWTH_MIB_MAX = 200


def memory(daemon, what):
    """A figure of the daemon's memory in MiB."""
    with open(f"/proc/{daemon.pid}/status") as status:
        line = next(line for line in status if line.startswith(what))
    return int(line.split()[1]) / 1024


def create_customers(port, clients):
    connection = http.client.HTTPConnection("127.0.0.1", port)
    for number in range(clients):
        body = json.dumps({"identifier": f"c-{number}"})
        connection.request("POST", "/customers", body, {"content-type": "application/json"})
        answer = connection.getresponse()
        answer.read()
        assert answer.status == 202, answer.status


def upload(number, size):
    """A request with a picture of its own."""
    image = number.to_bytes(4, "big") + os.urandom(4096) * (size // 4096 + 1)
    disposition = 'Content-Disposition: form-data; name="portrait"; filename="portrait"'
    form = f"--b\r\n{disposition}\r\nContent-Type: image/png\r\n\r\n".encode() + image[:size] + b"\r\n--b--\r\n"
    head = f"POST /customers/c-{number}/portrait HTTP/1.1\r\nhost: localhost\r\ncontent-length: {len(form)}\r\n"
    return f"{head}content-type: multipart/form-data; boundary=b\r\n\r\n".encode() + form


def send_up_to(parts, share):
    """Sends that share of every request, on all connections side by side."""
    selector = selectors.DefaultSelector()
    for sock, state in parts.items():
        state["until"] = int(len(state["bytes"]) * share)
        if state["sent"] < state["until"]:
            selector.register(sock, selectors.EVENT_WRITE)
    while selector.get_map():
        for key, _ in selector.select(timeout=60):
            state = parts[key.fileobj]
            end = min(state["until"], state["sent"] + 65536)
            state["sent"] += key.fileobj.send(memoryview(state["bytes"])[state["sent"]:end])
            if state["sent"] == state["until"]:
                selector.unregister(key.fileobj)


def statuses(parts):
    counts = {}
    for sock in parts:
        sock.setblocking(True)
        sock.settimeout(120)
        seen = b""
        while b"\r\n\r\n" not in seen:
            more = sock.recv(4096)
            if not more:
                break
            seen += more
        status = seen[9:12].decode() or "none"
        counts[status] = counts.get(status, 0) + 1
    return counts


def main():
    folder, clients, size = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    daemon, port = start(folder, "off")
    try:
        create_customers(port, clients)
        requests = [upload(number, size) for number in range(clients)]
        time.sleep(2)
        idle = memory(daemon, "VmRSS")
        # From here on the highest mark is that of the uploads.
        with open(f"/proc/{daemon.pid}/clear_refs", "w") as refs:
            refs.write("5")
        parts = {}
        for request in requests:
            sock = socket.create_connection(("127.0.0.1", port))
            sock.setblocking(False)
            parts[sock] = {"bytes": request, "sent": 0}
        begun = time.monotonic()
        send_up_to(parts, 0.5)
        time.sleep(1)
        half = memory(daemon, "VmRSS")
        send_up_to(parts, 1)
        counts = statuses(parts)
        took = time.monotonic() - begun - 1
        highest = memory(daemon, "VmHWM")
    finally:
        daemon.terminate()
        daemon.wait()
    print(f"{clients} uploads of {size} bytes at once: {counts}, {clients * size / took / 2**20:.0f} MiB/s")
    print(f"memory: idle {idle:.0f} MiB, all half done {half:.0f} MiB, highest {highest:.0f} MiB")
    print(f"above idle: {highest - idle:.0f} MiB (at most {GROWTH_MIB_MAX})")
    if counts != {"202": clients} or highest - idle > GROWTH_MIB_MAX:
        sys.exit(1)


main()
