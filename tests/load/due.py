"""Requests that are sent at moments set beforehand, whether those before are answered or not."""

import json
import socket


def head(method, path, body=None):
    text = json.dumps(body) if body is not None else ""
    kind = f"content-type: application/json\r\ncontent-length: {len(text)}\r\n" if method != "GET" else ""
    return f"{method} {path} HTTP/1.1\r\nhost: localhost\r\n{kind}\r\n{text}".encode()


class Connection:
    """A connection with at most one request, and the moment at which that was due."""

    def __init__(self, port):
        self.socket = socket.create_connection(("127.0.0.1", port))
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.seen, self.kind, self.due = bytearray(), 0, 0.0

    def fileno(self):
        return self.socket.fileno()

    def send(self, due, kind, request):
        self.kind, self.due = kind, due
        self.socket.sendall(request)

    def answer(self):
        """Status and body of an answer that is there to its last byte."""
        arrived = self.socket.recv(262_144)
        if not arrived:
            raise ConnectionError("the daemon closed a connection")
        self.seen += arrived
        top, found, rest = bytes(self.seen).partition(b"\r\n\r\n")
        length = top.lower().partition(b"content-length: ")[2].partition(b"\r\n")[0]
        if not found or len(rest) < int(length or 0):
            return None
        self.seen.clear()
        return int(top[9:12]), rest
