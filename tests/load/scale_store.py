"""A store of a benchmark with its daemon, and an institution in it that has some history."""

import signal

import daemon
import scale_data

FEW_USERS = 20


class Store:
    """A store, its daemon, and what is in it."""

    def __init__(self, engine, folder, url, deposits):
        self.engine, self.folder, self.url = engine, folder, url
        self.data, self.process, self.port = scale_data.Data(folder, engine, deposits), None, None

    def start(self, more=None):
        """Starts the daemon, with more variables in its environment."""
        store = {"MFA_STORE": self.url} if self.url else {}
        self.process, self.port = daemon.start(self.folder, "off", {**store, **(more or {})})

    def start_at(self, clock):
        """The same by a clock, which its database then has as well."""
        if self.url:
            daemon.set_clock_of_database(self.url, clock)
        self.start(clock)

    def say(self, text):
        print(f"{self.engine}: {text}", flush=True)

    def stop(self, how=signal.SIGTERM):
        if self.process:
            self.process.send_signal(how)
            self.process.wait()
        self.process = None


def begin(store):
    """An institution with some history: products that have paid interest for a year."""
    store.start_at(daemon.clock_of(scale_data.DAYS))
    store.data.past(store.port)
    # A clean stop waits by the clock, which is a false one here.
    store.stop(signal.SIGKILL)
    store.start_at({})
    store.data.run_interest(store.port, scale_data.DAYS - scale_data.FIRST_DAYS)
    store.data.staff(store.port, FEW_USERS)
