"""Creates and reads of customers against one daemon, by several processes with many connections each."""

import json
import multiprocessing
import selectors
import socket
import sys
import time

import daemon

PROCESSES = 2


def create(name, number):
    """A customer like no other: who is like many others is compared with them."""
    body = json.dumps({
        "identifier": name, "type": "PERSON", "givenName": "Ama", "middleName": "Efua", "surname": f"Mensah {name}",
        "dateOfBirth": {"year": 1990, "month": 5, "day": 17}, "member": True, "assignedOffice": "north",
        "assignedEmployee": "kofi", "address": {
            "street": "12 Ring Road", "city": "Accra", "region": "Greater Accra", "postalCode": "GA-107",
            "countryCode": "GH", "country": "Ghana"},
        "contactDetails": [{"type": "MOBILE", "group": "PRIVATE", "value": f"+23320{number}", "preferenceLevel": 1}],
    })
    head = f"POST /customers HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {len(body)}"
    return f"{head}\r\n\r\n{body}".encode()


def read(name):
    return f"GET /customers/{name} HTTP/1.1\r\nhost: localhost\r\n\r\n".encode()


def whole(seen):
    """The status of an answer that is there to its last byte."""
    head, found, rest = seen.partition(b"\r\n\r\n")
    if not found:
        return None
    length = head.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
    return int(head[9:12]) if len(rest) >= int(length or 0) else None


def drive(port, number, connections, seconds, kind, known, results):
    """Sends one request after the other on each connection; counts the answers."""
    selector, sent, count, wrong = selectors.DefaultSelector(), 0, 0, 0

    def ask(sock):
        nonlocal sent
        name = f"p{number}-{sent}" if kind == "create" else f"p{number}-{sent % known}"
        sent += 1
        sock.sendall(create(name, sent * PROCESSES + number) if kind == "create" else read(name))

    for _ in range(connections):
        sock = socket.create_connection(("127.0.0.1", port))
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        selector.register(sock, selectors.EVENT_READ, bytearray())
        ask(sock)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        for key, _ in selector.select(timeout=1):
            key.data.extend(key.fileobj.recv(65536))
            status = whole(bytes(key.data))
            if status is None:
                continue
            key.data.clear()
            count += 1
            wrong += status != (202 if kind == "create" else 200)
            ask(key.fileobj)
    results.put((count, wrong, count))


def measure(port, connections, seconds, kind, known):
    results, running = multiprocessing.Queue(), []
    for number in range(PROCESSES):
        arguments = (port, number, connections // PROCESSES, seconds, kind, known, results)
        running.append(multiprocessing.Process(target=drive, args=arguments))
        running[-1].start()
    counts = [results.get() for _ in running]
    for process in running:
        process.join()
    wrong = sum(count[1] for count in counts)
    return sum(count[0] for count in counts) / seconds, wrong, min(count[2] for count in counts)


def main():
    engine, folder, seconds, connections = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    process, port = daemon.start(folder, "off", {"MFA_STORE": sys.argv[5]} if engine == "postgres" else None)
    try:
        rate, wrong, known = measure(port, connections, seconds, "create", 0)
        print(f"{engine:10} creates/s, {connections} connections: {rate:.0f} ({wrong} not 202)")
        rate, wrong, _ = measure(port, connections, seconds, "read", max(1, known - connections))
        print(f"{engine:10} reads/s, {connections} connections: {rate:.0f} ({wrong} not 200)")
    finally:
        process.terminate()
        process.wait()


main()
