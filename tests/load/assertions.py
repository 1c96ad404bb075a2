"""Assertions whose signature is junk, and what they cost beside a read of the same daemon."""

import base64
import http.client
import json
import statistics
import sys
import time

from daemon import ask, person, start

# Most that a junk assertion may cost, and the exponent that programs make.
MILLISECONDS_MAX, USUAL = 5, 65537
# Bits of the modulus, and the exponent; the last row is the largest key that the contract lets sign in.
KEYS = [(2048, USUAL), (4096, USUAL), (8192, USUAL), (16384, USUAL), (8192, 2**64 - 1), (16384, 2**64 - 1)]


def encode(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def junk(kid, bits, number):
    header = encode(json.dumps({"alg": "RS256", "kid": kid}).encode())
    claims = encode(json.dumps({"iss": "load-v1", "jti": str(number)}).encode())
    # Smaller than every modulus of that size, so that it is not refused before it is looked at.
    signature = (1).to_bytes(1, "big") + number.to_bytes(8, "big") * (bits // 64)
    return f"{header}.{claims}.{encode(signature[:bits // 8])}"


def kid(place):
    """The timestamp of the key at a place of the table."""
    return f"2031-05-06T10_11_{place:02}"


def median_ms(rounds, send):
    took = []
    for number in range(rounds):
        begun = time.perf_counter()
        send(number)
        took.append((time.perf_counter() - begun) * 1000)
    return statistics.median(took)


def main():
    # The largest modulus has 4,933 digits.
    sys.set_int_max_str_digits(5000)
    folder, rounds = sys.argv[1], int(sys.argv[2])
    process, port = start(folder, "on", {"MFA_TRUSTED_PROXIES": "127.0.0.1", "MFA_LOG": "error"})
    try:
        token = person(port, "kofi", "administrator")
        for place, (bits, exponent) in enumerate(KEYS):
            modulus = (1 << bits) - 1 - 2 * 12345
            path = f"/applications/load-v1/signatures/{kid(place)}"
            body = {"publicKeyMod": modulus, "publicKeyExp": exponent}
            status, problem = ask(port, "PUT", path, body, token)
            assert status == 202, (status, problem)
        connection = http.client.HTTPConnection("127.0.0.1", port)
        sent = 0

        def read(_):
            connection.request("GET", "/applications/load-v1/signatures", headers={"authorization": f"Bearer {token}"})
            answer = connection.getresponse()
            answer.read()
            assert answer.status == 200, answer.status

        read(0)
        baseline, worst, holds = median_ms(rounds, read), 0, True
        print(f"a read: {baseline:.2f} ms")
        for place, (bits, exponent) in enumerate(KEYS):

            def assertion(number):
                nonlocal sent
                sent += 1
                body = {"grant_type": "urn:ietf:params:oauth:grant-type:jwt-bearer",
                        "assertion": junk(kid(place), bits, number + 1)}
                # Each from an address of its own, since one address soon has to wait.
                origin = f"10.{sent >> 16 & 255}.{sent >> 8 & 255}.{sent & 255}"
                headers = {"content-type": "application/json", "x-forwarded-for": origin}
                connection.request("POST", "/token", json.dumps(body), headers)
                answer = connection.getresponse()
                text = answer.read()
                assert answer.status == 401, (answer.status, text)

            cost = median_ms(rounds, assertion)
            more = cost - baseline
            holds = holds and more <= MILLISECONDS_MAX
            print(f"junk for a key of {bits} bits, exponent {exponent}: {cost:.2f} ms, {more:.2f} more than a read")
    finally:
        process.terminate()
        process.wait()
    print(f"at most {MILLISECONDS_MAX} ms more with every key: {holds}")
    sys.exit(not holds)


main()
