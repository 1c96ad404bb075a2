"""Absurd requests, with good ones between them, all from one seed."""

import base64
import json
import urllib.parse

from values import DAYS, NAMES, TEXTS, broken, good, mutated, odd, written

# What ends the token of the run or takes long is sent seldom; what would run for minutes, never.
SELDOM = {"DeleteTokens", "DeleteCurrentToken", "EndUserSessions", "GetBackup", "RunInterest", "CreateUser",
          "SetUserPassword", "UnlockDrawer", "CreateTeller", "UpdateTeller", "CreateToken"}
OLD_PREFIXES = ["", "", "", "", "", "", "/office/v1", "/customer/v1", "/identity/v1", "/teller/v1", "/deposit/v1", "/x/v1"]
PNG = base64.b64decode("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==")
JPEG = bytes.fromhex("ffd8ffe000104a46494600010100000100010000ffdb004300") + bytes(64) + bytes.fromhex("ffd9")
KINDS = ["application/json", "application/json; charset=utf-8", "application/x-www-form-urlencoded", "text/plain",
         "application/x-ndjson", "multipart/form-data", "multipart/form-data; boundary=b", "application/octet-stream",
         "application/JSON", "", "x", "application/json; charset=utf-16", "image/png"]
QUERIES = {
    "pageIndex": ["0", "1", "2147483647", "2147483648", "-1", "", "a", "1.0"],
    "size": ["1", "20", "1000", "1001", "0", "-1", "", "99999999999999999999"],
    "sortColumn": ["identifier", "name", "surname", "lastModifiedOn", "x", "", "address.city"],
    "sortDirection": ["ASC", "DESC", "asc", "UP", ""],
    "dateRange": [f"{a}..{b}" for a in DAYS for b in DAYS[:3]] + ["..", "2031-05-06", "2031-05-06..", "a..b", ""],
    "waitSeconds": ["0", "-1", "x", ""],
    "after": ["0", "1", "99", "-1", "18446744073709551615", "18446744073709551616", "x"],
    "command": ["ACTIVATE", "CLOSE", "TRANSACTION", "CONFIRM", "CANCEL", "PAUSE", "x", ""],
    "kind": ["customer", "office", "customer,office", "x", ""],
    "asOf": DAYS + [""], "date": DAYS + [""],
}
HEADERS = [
    ("idempotency-key", ["k-1", "k-2", "", "x" * 255, "x" * 256, "é", "a b"]), ("dry-run", ["true", "false", "yes", ""]),
    ("existing-only", ["true", "false", "1", ""]), ("if-match", ['"x"', "*", "W/\"x\"", "", "x", '"a", "b"', '"' * 50]),
    ("if-none-match", ['"x"', "*", "", "W/"]), ("range", ["bytes=0-0", "bytes=-1", "bytes=9-1", "x"]),
    ("accept", ["application/x-ndjson", "text/event-stream", "*/*", "", "application/x-ndjson;q=0", ",,,", "x" * 2000]),
    ("accept-encoding", ["gzip", "br", "*", ""]), ("x-request-id", ["r-1", "x" * 129, "é", "a b", ""]),
    ("traceparent", ["00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", "00", ""]),
    ("origin", ["http://x", "null", "http://localhost"]),
    ("last-event-id", ["0", "-1", "x", "18446744073709551616"]), ("expect", ["100-continue", "x"]),
    ("connection", ["keep-alive", "close", "upgrade"]), ("upgrade", ["h2c", "websocket"]), ("cookie", ["a=b", "x" * 4000]),
    ("content-encoding", ["gzip", "identity", "x"]), ("sec-fetch-site", ["cross-site", "same-origin"]),
]


class Wild:
    """Makes requests for the operations of a description."""

    def __init__(self, chance, document, own_token):
        self.chance, self.own_token = chance, own_token
        self.schemas = document["components"]["schemas"]
        self.operations = [
            (method.upper(), path, operation)
            for path, methods in document["paths"].items() for method, operation in methods.items()
        ]
        self.often = [one for one in self.operations if one[2]["operationId"] not in SELDOM]

    def next(self):
        """The bytes of a request, whether it is good HTTP, and whether it is a HEAD."""
        chance = self.chance
        pick = chance.random()
        if pick < 0.04:
            return self.raw(), False, False
        if pick < 0.52:
            request = self.operation()
        elif pick < 0.64:
            request = self.body_of_any_kind()
        elif pick < 0.72:
            request = self.image()
        elif pick < 0.80:
            request = self.path()
        elif pick < 0.88:
            request = self.login()
        elif pick < 0.94:
            request = self.batch()
        else:
            request = self.token(self.operation())
        return self.encoded(*request)

    def encoded(self, method, target, headers, body, plain=False):
        chance = self.chance
        headers = list(headers)
        if not any(name == "authorization" for name, _ in headers) and (plain or chance.random() < 0.93):
            headers.append(("authorization", f"Bearer {self.own_token()}"))
        for _ in range(0 if plain else chance.choice([0, 0, 0, 0, 1, 1, 3])):
            name, values = chance.choice(HEADERS)
            # A client that asks whether to send would wait, and this one does not.
            headers.append((name, chance.choice(values)))
        if not plain and chance.random() < 0.03 and method == "GET":
            method = "HEAD"
        lines = [f"{method} {target} HTTP/1.1", "host: localhost"] + [f"{name}: {value}" for name, value in headers]
        if body is not None:
            if chance.random() < 0.1:
                lines.append("transfer-encoding: chunked")
                parts = [body[i:i + 700] for i in range(0, len(body), 700)]
                body = b"".join(b"%x\r\n%s\r\n" % (len(part), part) for part in parts) + b"0\r\n\r\n"
            else:
                lines.append(f"content-length: {len(body)}")
        head = "\r\n".join(lines) + "\r\n\r\n"
        return head.encode("latin-1", "replace") + (body or b""), True, method == "HEAD"

    def filled(self, path, mutate=False):
        words = []
        for word in path.split("/"):
            if word.startswith("{"):
                word = self.chance.choice(TEXTS if mutate and self.chance.random() < 0.5 else NAMES)
                if "timestamp" in path and self.chance.random() < 0.5:
                    word = "2031-05-06T10_11_12"
                word = urllib.parse.quote(word, safe="", errors="surrogatepass")
            words.append(word)
        return "/".join(words)

    def query(self, operation):
        chance, pairs = self.chance, []
        for parameter in operation.get("parameters", []):
            if parameter["in"] == "query" and chance.random() < (0.9 if parameter.get("required") else 0.4):
                name = parameter["name"]
                value = chance.choice(QUERIES.get(name, NAMES)) if chance.random() < 0.85 else chance.choice(TEXTS)
                if name == "waitSeconds" and value not in QUERIES[name]:
                    value = "0"
                pairs += [(name, value)] * chance.choice([1, 1, 1, 1, 2])
        if chance.random() < 0.05:
            pairs.append((chance.choice(TEXTS), chance.choice(TEXTS)))
        encoded = urllib.parse.urlencode(pairs, errors="surrogatepass") if pairs else ""
        return f"?{encoded}" if encoded else ""

    def first(self):
        """Requests that make records for the others to be about."""
        made = []
        for method, path, operation in self.operations:
            if operation["operationId"].startswith(("Create", "Set")) and operation["operationId"] != "CreateToken":
                for name in NAMES[:6]:
                    content = operation.get("requestBody", {}).get("content", {})
                    if "application/json" in content:
                        schema = content["application/json"]["schema"]
                        value = good(self.chance, schema, self.schemas, careful=True)
                        for key in ("identifier", "code"):
                            if isinstance(value, dict) and key in value:
                                value[key] = name
                        own = {"{timestamp}": "2031-05-06T10_11_12"}
                        words = [own.get(word, name) if word.startswith("{") else word for word in path.split("/")]
                        body = written(value).encode()
                        made.append((method, "/".join(words), [("content-type", "application/json")], body))
        return made

    def chosen(self):
        return self.chance.choice(self.operations if self.chance.random() < 0.02 else self.often)

    def json(self, operation):
        content = operation.get("requestBody", {}).get("content", {})
        if "application/json" not in content:
            return None
        careful = self.chance.random() < 0.6
        value = good(self.chance, content["application/json"]["schema"], self.schemas, careful)
        for _ in range(0 if careful else self.chance.choice([0, 0, 1, 1, 2])):
            value = mutated(self.chance, value)
        return value

    def operation(self):
        method, path, operation = self.chosen()
        body, headers = self.json(operation), []
        if body is not None:
            headers, body = [("content-type", "application/json")], written(body).encode()
            if self.chance.random() < 0.08:
                body = broken(self.chance, body)
        target = self.chance.choice(OLD_PREFIXES) + self.filled(path) + self.query(operation)
        return method, target, headers + [self.origin()], body

    def body_of_any_kind(self):
        method, path, operation = self.chosen()
        value = self.json(operation)
        body = written(odd(self.chance) if value is None else value).encode()
        pick = self.chance.randrange(8)
        if pick == 0:
            body = body.decode().encode(self.chance.choice(["utf-16", "utf-32", "utf-8-sig"]))
        elif pick == 1:
            body = self.chance.choice([b"[", b'{"a":', b'"']) * self.chance.choice([100, 10_000, 100_000])
        elif pick == 2:
            body = bytes(self.chance.randrange(256) for _ in range(self.chance.randrange(200)))
        elif pick == 3:
            body = body + b"\n" + body
        elif pick == 4:
            body = urllib.parse.urlencode([(self.chance.choice(NAMES), self.chance.choice(TEXTS))], errors="surrogatepass").encode()
        else:
            body = broken(self.chance, body)
        method = self.chance.choice([method, method, method, "POST", "PUT", "DELETE", "PATCH", "GET", "OPTIONS", "TRACE"])
        return method, self.filled(path), [("content-type", self.chance.choice(KINDS))], body

    def image(self):
        chance = self.chance
        path = "/customers/{c}/portrait" if chance.random() < 0.5 else "/customers/{c}/identifications/{i}/scans"
        boundary = chance.choice(["b", "b", "b", "x" * 70, "x" * 71, "a b", ""])
        parts = []
        for _ in range(chance.choice([1, 1, 1, 1, 0, 2, 5])):
            name = chance.choice(["portrait", "image", "portrait", "image", "file", "", "é", "\"", "x" * 3000])
            image = chance.choice([PNG, JPEG, b"", b"x", PNG * 100, bytes(600_000) if chance.random() < 0.02 else b"GIF89a"])
            kind = chance.choice(["image/png", "image/jpeg", "image/gif", "text/plain", "", "image/png; x=y"])
            head = f'Content-Disposition: form-data; name="{name}"; filename="a.png"\r\nContent-Type: {kind}\r\n\r\n'
            parts.append(f"--{boundary}\r\n{head}".encode() + image + b"\r\n")
        body = b"".join(parts) + f"--{boundary}--\r\n".encode()
        if chance.random() < 0.4:
            body = broken(chance, body)
        query = ""
        if "scans" in path:
            query = f"?scanIdentifier={chance.choice(NAMES)}&description={chance.choice(['', 'x', '%00', '%ff'])}"
        kind = f"multipart/form-data; boundary={boundary}"
        return "POST", self.filled(path) + query, [("content-type", kind)], body

    def path(self):
        chance = self.chance
        method, path, operation = self.chosen()
        target = self.filled(path, mutate=True)
        pick = chance.randrange(7)
        if pick == 0:
            target = "/" + "/".join(chance.choice(NAMES + ["..", ".", "%2e%2e", "%00", "%ff", "%", "%zz", ""]) for _ in range(
                chance.randrange(1, 9)))
        elif pick == 1:
            target = target + chance.choice(["/", "//", "/..", "?", "?&&=&", "#x", ";a=b", "%20", "/%2f", "?a=%ff", "?%00"])
        elif pick == 2:
            target = "/" + "a/" * chance.choice([50, 3000])
        elif pick == 3:
            target = chance.choice(["*", "http://x/offices", "//offices", "/offices/" + "x" * 9000, "/?" + "a" * 9000])
        elif pick == 4:
            target = target.upper()
        return method, target + (self.query(operation) if "?" not in target else ""), [], None

    def login(self):
        chance = self.chance
        grants = ["refresh_token", "urn:ietf:params:oauth:grant-type:jwt-bearer", "password", "x", ""]
        # A password takes tens of milliseconds to check, so few get that far.
        grant = chance.choices(grants, [5, 8, 0.2, 2, 1])[0]
        form = [("grant_type", grant)]
        if grant.startswith("urn"):
            form.append(("assertion", self.assertion()))
        for name in ("refresh_token", "username", "password", "otp", "scope", "assertion"):
            if chance.random() < 0.3:
                form.append((name, chance.choice(TEXTS + NAMES)))
        if chance.random() < 0.5:
            body, kind = urllib.parse.urlencode(form, errors="surrogatepass").encode(), "application/x-www-form-urlencoded"
        else:
            body, kind = json.dumps(dict(form)).encode(), "application/json"
        if chance.random() < 0.3:
            body = broken(chance, body)
        query = chance.choice(["", "", "", "?grant_type=password&username=a&password=b", "?grant_type="])
        return "POST", "/token" + query, [("content-type", kind), ("authorization", "Bearer x"), self.origin()], body

    def origin(self):
        """Where a request comes from. Failed logins lock the address of a stranger, and there are many."""
        numbers = [str(self.chance.randrange(256)) for _ in range(3)]
        return "x-forwarded-for", self.chance.choice([f"10.{'.'.join(numbers)}", f"x, 10.{'.'.join(numbers)}"])

    def assertion(self):
        chance = self.chance
        coded = lambda value: base64.urlsafe_b64encode(value).rstrip(b"=").decode()
        head = {"alg": chance.choice(["RS256", "none", "HS256", "", 7]), "kid": chance.choice(NAMES + ["2031-05-06T10_11_12"])}
        claims = {name: odd(chance) for name in ("iss", "sub", "aud", "exp", "iat", "jti") if chance.random() < 0.8}
        claims["iss"] = chance.choice(NAMES + TEXTS)
        claims["exp"] = chance.choice([0, -1, 1e400, 4102444800, "x", 2**63])
        parts = [coded(json.dumps(head).encode()), coded(written(claims).encode()), coded(bytes(chance.choice([0, 1, 256])))]
        return chance.choice([".".join(parts), ".".join(parts[:2]), "...", "a.b.c", "x" * 9000, ".".join(parts * 2)])

    def batch(self):
        chance, operations = self.chance, []
        for _ in range(chance.choice([0, 1, 2, 5, 20])):
            method, path, operation = chance.choice(self.often)
            one = {"method": method, "path": self.filled(path) + self.query(operation)}
            body = self.json(operation)
            if body is not None:
                one["body"] = body
            for name in ("idempotencyKey", "ifMatch"):
                if chance.random() < 0.2:
                    one[name] = chance.choice(TEXTS + ["k-1", "*"])
            operations.append(one)
        value = {"operations": operations, "atomic": chance.random() < 0.4}
        if chance.random() < 0.4:
            value = mutated(chance, value)
        body = written(value).encode()
        return "POST", "/batch", [("content-type", "application/json")], body

    def token(self, request):
        chance = self.chance
        method, target, headers, body = request
        own = self.own_token()
        value = chance.choice(["", "Bearer", "Bearer ", "Basic YTpi", f"bearer  {own}", "Bearer " + "A" * len(own), own,
                               f"Bearer {own[:-1]}", f"Bearer {own}x", "Bearer " + "x" * 5000, "Bearer é", f"Bearer {own} {own}"])
        headers = headers + [("authorization", value)]
        if chance.random() < 0.2:
            headers.append(("authorization", f"Bearer {own}"))
        return method, target, headers, body

    def raw(self):
        chance = self.chance
        good_one = self.encoded(*self.operation())[0]
        pick = chance.randrange(10)
        if pick < 4:
            return broken(chance, good_one)
        return chance.choice([
            b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + bytes(30), b"\r\n" * 50,
            b"GET / HTTP/9.9\r\n\r\n", b"GET\r\n\r\n", bytes(200), b"GET /offices HTTP/1.0\r\n\r\n", b"\x00" * 9000,
            b"POST /offices HTTP/1.1\r\nhost: a\r\ncontent-length: 5\r\ncontent-length: 6\r\n\r\n{}   ",
            b"POST /offices HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n",
            b"POST /offices HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n{}",
            b"POST /offices HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, gzip\r\n\r\n2\r\n{}\r\n0\r\n\r\n",
            b"POST /offices HTTP/1.1\r\nhost: a\r\ncontent-length: -1\r\n\r\n{}", b"GET /offices HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
            b"POST /offices HTTP/1.1\r\nhost: a\r\ncontent-length: 100\r\n\r\n{\"ident", b"GET /offices HTTP/1.1\r\n" + b"a: b\r\n" * 300,
            b"GET /offices HTTP/1.1\r\nhost: a\r\n folded: x\r\n\r\n", b"GET /off\x00ices HTTP/1.1\r\nhost: a\r\n\r\n",
            b"GET /offices HTTP/1.1\r\nhost: a\r\nx: " + b"y" * 200_000 + b"\r\n\r\n", good_one[:len(good_one) // 2], good_one * 3,
        ])
