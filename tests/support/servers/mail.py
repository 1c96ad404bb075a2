"""A mail server for the tests: aiosmtpd, which reads from standard input what to offer, until that is closed."""

import asyncio
import json
import logging
import ssl
import sys
import warnings
from base64 import b64encode

from aiosmtpd.smtp import SMTP, AuthResult

# A client that breaks off is what most tests are about.
logging.getLogger("mail.log").setLevel(logging.CRITICAL)
warnings.simplefilter("ignore")

wanted = json.loads(sys.stdin.readline())
credentials = (wanted["username"].encode(), wanted["password"].encode())


class Mailbox:
    async def handle_RCPT(self, server, session, envelope, address, options):
        if address.startswith("nobody@"):
            return "550 5.1.1 nobody of that name"
        envelope.rcpt_tos.append(address)
        return "250 2.1.5 Ok"

    async def handle_DATA(self, server, session, envelope):
        mail = {
            "from": envelope.mail_from,
            "to": envelope.rcpt_tos,
            "content": envelope.content.decode(),
            "encrypted": session.ssl is not None or wanted["mode"] == "smtps",
            "signedIn": session.authenticated,
            "mechanism": getattr(session, "mechanism", None),
        }
        print(json.dumps(mail), flush=True)
        return "250 2.0.0 Ok: queued as 4F2A"


def sign_in(server, session, envelope, mechanism, given):
    session.mechanism = mechanism
    if (given.login, given.password) == credentials:
        return AuthResult(success=True)
    word = given.password
    echo = f"535 5.7.8 not with {word.decode()} or {b64encode(word).decode()}"
    return AuthResult(success=False, handled=False, message=echo)


def context():
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(wanted["certificate"], wanted["key"])
    return context


class Injected(SMTP):
    """Somebody on the way answers, in one piece with the last line in clear, what comes after it."""

    async def push(self, status):
        if status == "220 Ready to start TLS":
            answers = ["250-mail.test", "250 AUTH PLAIN", "235 ok", "250 ok", "250 ok", "354 go", "250 queued"]
            status = "\r\n".join([status, *answers])
        await super().push(status)


class Endless(SMTP):
    """Its answer to EHLO does not end once the connection is encrypted."""

    async def push(self, status):
        if self.session.ssl is not None and status.startswith("250-mail.test"):
            status = "\r\n".join(["250-"] * 8000)
        await super().push(status)


def server():
    return {"injected": Injected, "endless": Endless}.get(wanted["mode"], SMTP)(
        Mailbox(),
        hostname="mail.test",
        tls_context=context() if wanted["mode"] in ("starttls", "injected", "endless") else None,
        authenticator=sign_in,
        auth_require_tls=wanted["mode"] == "starttls",
        auth_exclude_mechanism=wanted["without"],
    )


async def serve():
    loop = asyncio.get_running_loop()
    encryption = context() if wanted["mode"] == "smtps" else None
    listening = await loop.create_server(server, "127.0.0.1", 0, ssl=encryption)
    print(listening.sockets[0].getsockname()[1], flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


asyncio.run(serve())
