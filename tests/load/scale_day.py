"""C3 and S5: a mixed day.

A daemon that was started before makes what is searched in the background, which takes a while; its end is waited for.
Then the idle latency is measured with one connection, then the most that 64 connections reach. Then requests come
at half of that rate, at moments set beforehand, whether those before are answered or not. A time runs from the moment
at which a request was due to the last byte of its answer."""

import sys

import daemon
import mixed
from client import percentile
from scale_export import Memory

CONNECTIONS, MEASURED = 64, 5


def times(answers):
    """Milliseconds by kind, of a load in which every answer must be a success."""
    refused = next((answer for answer in answers if not 200 <= answer.status < 300), None)
    if refused:
        sys.exit(f"a {mixed.KINDS[refused.kind]} of the mixed day was answered with {refused.status}")
    return [[answer.due for answer in answers if answer.kind == kind] for kind in range(len(mixed.KINDS))]


def measure(store, seconds):
    daemon.wait_until_idle(store.process)
    idle = times(mixed.send(store, 0, 1, MEASURED))
    most = sum(map(len, times(mixed.send(store, 1, CONNECTIONS, MEASURED)))) / MEASURED
    rate, memory = int(most / 2), Memory(store.process.pid, 1)
    memory.start()
    day = times(mixed.send(store, 2, CONNECTIONS, seconds, rate))
    seen = memory.end()
    p50, together = percentile(sum(map(list, idle), []), 50), sum(day, [])
    quarter = max(1, len(seen) // 4)
    figures = {
        "by kind": {
            kind: percentile(busy, 99) / percentile(alone, 50) for kind, alone, busy in zip(mixed.KINDS, idle, day)
        },
        "rate": rate,
        "seconds": seconds,
        "answered": len(together) / seconds,
        "idle p50": p50,
        "p99": percentile(together, 99),
        "memory": max(seen),
        "begun": sum(seen[quarter : 2 * quarter]) / quarter,
        "ended": sum(seen[-quarter:]) / quarter,
    }
    each = ", ".join(
        f"{kind}s {percentile(alone, 50):.2f} and {percentile(busy, 99):.2f}"
        for kind, alone, busy in zip(mixed.KINDS, idle, day)
    )
    store.say(
        f"at most {most:,.0f} requests a second with {CONNECTIONS} connections; {seconds} s at {rate:,.0f} a second: "
        f"{figures['answered']:,.0f} answered; p50 idle and p99 in ms: all {p50:.2f} and {figures['p99']:.2f}, {each}; "
        f"memory {seen[0]:.0f} MiB at first, {max(seen):.0f} at most, {seen[-1]:.0f} at last"
    )
    return figures
