"""Starts a daemon with access control and one without, and has Schemathesis ask each for all operations."""

import json
import os
import subprocess
import sys
import tempfile
import urllib.request

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path[:0] = [HERE, os.path.join(os.path.dirname(HERE), "load")]

import alone  # noqa: E402
import daemon  # noqa: E402

SETTINGS = {"MFA_ACCESS_TOKEN_SECONDS": "86400", "MFA_LOG": "error"}
CHECKS = ["not_a_server_error", "status_code_conformance", "content_type_conformance", "response_schema_conformance",
          "negative_data_rejection", "positive_data_acceptance"]
# They end the token with which the others are asked. Its user has rights that none of the others can take away.
ENDS_TOKEN = ["DELETE /token", "DELETE /token/_current"]


# They make the daemon connect to hosts made up by the tests.
def connects(port):
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/openapi.json") as answer:
        paths = json.load(answer)["paths"]
    gateways = [path for path in paths if path.startswith("/configuration/") and path.endswith("/test")]
    return ["POST /events/subscriptions", "PUT /events/subscriptions/{subscription}",
            *(f"POST {path}" for path in gateways)]


def ask(program, port, token, examples, left_out, log):
    command = [program, "--config-file", "schemathesis.toml", "run", f"http://127.0.0.1:{port}/openapi.json",
               "--phases", "examples,coverage,fuzzing", "--checks", ",".join(CHECKS), "--max-examples", examples,
               "--workers", "1", "--suppress-health-check", "all", "--no-color"]
    if token:
        command += ["--header", f"Authorization: Bearer {token}"]
    for name in left_out + (ENDS_TOKEN if token else []):
        command += ["--exclude-name", name]
    with open(log, "w") as file:
        return subprocess.run(command, cwd=HERE, stdout=file, stderr=subprocess.STDOUT).returncode


def main():
    program, examples = sys.argv[1], sys.argv[2]
    root = os.path.dirname(os.path.dirname(HERE))
    # A daemon that was started before would not be reached any more.
    is_alone, failed = alone.cut_off(), False
    with tempfile.TemporaryDirectory(prefix="mfa-described.") as folder:
        for auth in ("on", "off"):
            process, port = daemon.start(f"{folder}/{auth}", auth, SETTINGS)
            token = daemon.person(port, "olga", "administrator") if auth == "on" else None
            left_out = [] if is_alone else connects(port)
            log = os.path.join(root, f"target/fuzz/described-{auth}.log")
            code = ask(program, port, token, examples, left_out, log)
            alive = process.poll() is None and daemon.ready(port)
            process.terminate()
            process.wait()
            with open(log) as file:
                lines = [line.rstrip() for line in file if line.strip()]
            print(f"auth {auth}: {lines[-1].strip(' =') if lines else 'nothing was said'} (target/fuzz/described-{auth}.log)")
            if code != 0 or not alive:
                failed = True
                print("\n".join(lines[-60:]) if alive else "the daemon ended")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
