"""The table of tests/load/scale, and a line for each goal."""

NAME, CELL = 52, 10


def row(name, cells):
    print(f"{name:{NAME}}" + "".join(f"{cell:>{CELL}}" for cell in cells))


def lines(title, runs, part):
    """A table: for each engine the small store, the large one, and how much longer it takes."""
    print()
    row(title, [cell for one in runs for cell in (f"{1000:,}", f"{one['count']:,}", "ratio")])
    for name in dict.fromkeys(name for one in runs for name in one["large"][part]):
        cells = []
        for one in runs:
            before, after = one["small"][part].get(name), one["large"][part].get(name)
            ratio = f"{after / before:.2f}" if before and after else ""
            cells += [f"{figure:.2f}" if figure is not None else "" for figure in (before, after)] + [ratio]
        row(name, cells)


def whole(one, part):
    """The figures of lists that show all they have, without the counts in their names."""
    return {name.split(",")[0]: took for name, took in one[part][1].items()}


def table(runs, deposits):
    if not runs:
        return
    print(
        f"\nMilliseconds, medians. A customer has an account; {deposits:g} of the accounts got a "
        "confirmed deposit each: " + ", ".join(f"{one['deposits']:,} on {one['engine']}" for one in runs)
    )
    row("", [cell for one in runs for cell in ("", one["engine"], "")])
    lines("with so many customers", runs, 0)
    shown = [{**one, "small": (0, whole(one, "small")), "large": (0, whole(one, "large"))} for one in runs]
    lines("lists that show all they have, each 1,000 of it", shown, 1)
    for one in runs:
        print(f"{one['engine']}: " + "; ".join(name for name in one["large"][1]))
    print()


def is_flat(name):
    """Whether C1 names it: reads by id, the first page, page 10,000, creates."""
    by_id = name.startswith("read a") and "p99" not in name
    return (
        by_id
        or name.endswith((": first page", "or the last"))
        or name.startswith("create a")
        and "p99" not in name
        or name == "create and confirm a deposit"
    )


def goal(number, one, said, wanted, reached):
    print(
        f"{number}  {one['engine']}, {one['count']:,}: {said} (goal {wanted}): "
        f"{'reached' if reached else 'not reached'}"
    )


def flat(one):
    small, large = one["small"][0], one["large"][0]
    ratios = {name: large[name] / small[name] for name in large if name in small and is_flat(name)}
    worst = max(ratios, key=ratios.get)
    over = sum(ratio > 1.5 for ratio in ratios.values())
    goal(
        "C1",
        one,
        f"worst ratio {ratios[worst]:.2f} ({worst}), {over} of {len(ratios)} over 1.5",
        "1.5",
        over == 0,
    )


def terms(one):
    large = one["large"][0]
    slowest = lambda *begins: max(took for name, took in large.items() if name.startswith(begins))
    term, found = slowest("term"), slowest("search")
    by_column = slowest("customers by surname", "ledger accounts by name")
    goal(
        "C2",
        one,
        f"slowest term {term:.1f} ms, search {found:.1f} ms, sorted list {by_column:.1f} ms",
        "25 and 50",
        max(term, found) <= 25 and by_column <= 50,
    )


def day(one):
    seen = one["day"]
    growth = seen["ended"] / seen["begun"] - 1
    goal(
        "C3",
        one,
        f"{seen['memory']:.0f} MiB at most in a mixed load of {seen['seconds']} s, {growth:+.1%} between its "
        "second quarter and its last",
        "1,536 and flat: 5 %",
        seen["memory"] <= 1536 and growth <= 0.05,
    )


def start(one):
    took = one["start"]
    goal(
        "C4",
        one,
        f"ready {took['clean']:.2f} s after a clean stop, {took['killed']:.2f} s after SIGKILL",
        "3 and 10",
        took["clean"] <= 3 and took["killed"] <= 10,
    )


def size(one):
    seen = one["size"]
    goal(
        "C5",
        one,
        f"{seen['ratio']:.2f} times the JSON of its records, {seen['updated']:.2f} after {seen['updates']:,} "
        f"updates of 1,000 customers ({seen['bytes']:,.0f} bytes each)",
        "3, and flat",
        max(seen["ratio"], seen["updated"]) <= 3 and seen["updated"] <= seen["ratio"] * 1.1,
    )


def export(one):
    seen = one["export"]
    more, ratio = seen["peak"] - seen["before"], seen["during"] / seen["idle"]
    goal(
        "C6",
        one,
        f"{more:.0f} MiB more memory during an export, p99 of creates {ratio:.2f} times idle",
        "constant: 64 MiB; 2",
        more <= 64 and ratio <= 2,
    )


def beside(one):
    large = one["large"][0]
    busy = lambda what: large[f"{what} a customer, p99, beside 8 who list"] / large[f"{what} a customer, p99"]
    goal(
        "C7",
        one,
        f"p99 beside 8 who list against idle: creates {busy('create'):.1f}, reads {busy('read'):.1f}",
        "5 and 3",
        busy("create") <= 5 and busy("read") <= 3,
    )


def deposit(one):
    if one["deposit"] is not None:
        goal(
            "C8",
            one,
            f"{one['deposit']:.0f} bytes of a closed journal file for a confirmed deposit",
            "1,024",
            one["deposit"] <= 1024,
        )


def load(one):
    seen = one["day"]
    ratio, kept = seen["p99"] / seen["idle p50"], seen["answered"] / seen["rate"]
    kinds = ", ".join(f"{kind}s {alone:.1f}" for kind, alone in seen["by kind"].items())
    goal(
        "S5",
        one,
        f"p99 of a mixed load at {seen['rate']:,.0f} requests a second {ratio:.1f} times idle p50 "
        f"(each kind against its own: {kinds}), "
        f"{kept:.0%} of them answered in time",
        "5",
        ratio <= 5 and kept > 0.99,
    )


def goals(runs):
    shown = {
        flat: "large",
        terms: "large",
        day: "day",
        start: "start",
        size: "size",
        export: "export",
        beside: "large",
        deposit: "deposit",
        load: "day",
    }
    for show, part in shown.items():
        for one in runs:
            if part in one:
                show(one)
