"""Values from a schema, most of them good, and what somebody might send in their place."""

import json

NAMES = [f"{stem}{number}" for stem in ("alpha", "beta", "gamma") for number in range(4)]
# Where the daemon may connect to: this machine, where nothing listens. Or nowhere at all.
HOSTS = ["127.0.0.1", "localhost", "::1", "", "a b", "\t", "x" * 300, "127.0.0.1:1", "[::1", "http://127.0.0.1:1/"]
DAYS = ["2031-05-06", "1999-12-31", "2024-02-29", "2023-02-29", "0000-00-00", "9999-12-31", "2031-5-6", "2031-05-06Z"]
TEXTS = ["", " ", "a", "Ama Mensah", "é", "ß", "\u0000", "\u202e", "\U0001f600", "\ud800", "a\r\nb", "x" * 33, "x" * 5000, "..",
         ".", "/", "%2e%2e", "' or 1=1 --", "<script>", "${env:HOME}", "{{7*7}}", "\\", "\"", "null", "-1", "1e999",
         "\u0130\u0131", "e\u0301" * 20, "\ufeff", "\u2028", "=cmd()", "-", "*", "a,b", "a;b", "deactivated", "pharaoh"]
NUMBERS = ["0", "-0", "1", "-1", "1.0", "1e0", "0.1", "1e308", "1e-400", "1e999999999", "9" * 400, "2147483648",
           "9223372036854775808", "-9223372036854775809", "999999999999999.99999", "0.000001", "1E+2", "00", "01", "1.",
           ".5", "NaN", "Infinity", "0x10", "340282366920938463463374607431768211456"]
# What fits where names do not.
PATTERNS = {"^[0-9]{1,5}$": "25", r"^\+[0-9 ().-]+$": "+1 (22) 333"}
# Properties whose values name an address that the daemon would connect to.
ADDRESSES = ("host", "url", "endpoint")


class Raw(str):
    """A text that is put into JSON unchanged."""


def text(chance, schema, name="", careful=False):
    if name in ADDRESSES:
        return chance.choice(HOSTS)
    if "enum" in schema:
        return chance.choice(schema["enum"])
    if schema.get("format") in ("date", "date-time"):
        day = chance.choice(DAYS[:3] if careful else DAYS)
        return day if schema["format"] == "date" else f"{day}T{chance.randrange(24 if careful else 25):02}:08:09.123Z"
    if schema.get("pattern") in PATTERNS and (careful or chance.random() < 0.5):
        return PATTERNS[schema["pattern"]]
    if careful or chance.random() < 0.75:
        name = chance.choice(NAMES)
        least, most = schema.get("minLength", 0), schema.get("maxLength", 40)
        return name.ljust(least, "1")[:most] if careful else name
    least, most = schema.get("minLength", 0), schema.get("maxLength", 40)
    length = chance.choice([least, most, most + 1, max(least - 1, 0), min(most, 12)])
    return "".join(chance.choice("abcXYZ019.-_* é") for _ in range(min(length, 6000)))


def number(chance, schema, careful=False):
    least, most = schema.get("minimum", -1000), schema.get("maximum", 1000)
    if careful:
        least = max(int(least), 1)
        return Raw(chance.randint(least, max(least, min(int(most), 900))))
    if schema.get("type") == "integer":
        return Raw(chance.choice([least, most, least - 1, most + 1, chance.randint(int(least), int(most)), 1]))
    return Raw(chance.choice([least, most, "1.5", "1000.00", "0.1", "12.34", "99.999999"]))


def good(chance, schema, schemas, careful=False, depth=0, name=""):
    """A value that a schema allows, or nearly so; a careful one has all that it must and little else."""
    while "$ref" in schema:
        schema = schemas[schema["$ref"].rsplit("/", 1)[1]]
    for word in ("oneOf", "anyOf", "allOf"):
        if word in schema:
            return good(chance, chance.choice(schema[word]), schemas, careful, depth, name)
    kind = schema.get("type")
    if isinstance(kind, list):
        kind = chance.choice(kind)
    if "enum" in schema or kind == "string":
        return text(chance, schema, name, careful)
    if kind in ("integer", "number"):
        return number(chance, schema, careful)
    if kind == "boolean":
        return chance.random() < 0.5
    if kind == "array":
        count = chance.choice([0, 1, 1, 2, 3]) if depth < 6 else 0
        return [good(chance, schema.get("items", {}), schemas, careful, depth + 1, name) for _ in range(count)]
    if kind == "object" or "properties" in schema:
        required, parts = schema.get("required", []), (1, 0.2) if careful else (0.97, 0.5)
        return {
            key: good(chance, value, schemas, careful, depth + 1, key)
            for key, value in schema.get("properties", {}).items()
            if depth < 8 and chance.random() < (parts[0] if key in required else parts[1])
        }
    return None if kind == "null" else chance.choice([None, True, "alpha1", Raw("1")])


def odd(chance, depth=0):
    """Any value at all."""
    pick = chance.randrange(9)
    if pick < 3:
        return chance.choice(TEXTS)
    if pick < 5:
        return Raw(chance.choice(NUMBERS))
    if pick == 5:
        return chance.choice([None, True, False])
    if depth > 3:
        return {}
    if pick == 6:
        return [odd(chance, depth + 1) for _ in range(chance.randrange(4))]
    return {chance.choice(NAMES + TEXTS): odd(chance, depth + 1) for _ in range(chance.randrange(4))}


def places(value, found, path=()):
    found.append(path)
    members = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, member in members:
        places(member, found, path + (key,))
    return found


def mutated(chance, value):
    """A value of which one place is another thing."""
    path = chance.choice(places(value, []))
    # What would be connected to stays on this machine.
    if not path or path[-1] in ADDRESSES:
        return odd(chance) if not path else value
    holder = value
    for step in path[:-1]:
        holder = holder[step]
    act = chance.randrange(4)
    if act == 0:
        del holder[path[-1]]
    elif act == 1 and isinstance(holder, dict):
        holder[chance.choice(TEXTS)] = odd(chance)
    else:
        holder[path[-1]] = odd(chance)
    return value


def written(value):
    """The JSON of a value, with its raw parts as they are."""
    if isinstance(value, Raw):
        return str(value)
    if isinstance(value, dict):
        return "{" + ",".join(f"{json.dumps(key)}:{written(member)}" for key, member in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ",".join(map(written, value)) + "]"
    return json.dumps(value)


def broken(chance, data):
    """Bytes that were changed on their way."""
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 2, 8])):
        act, place = chance.randrange(6), chance.randrange(len(data) + 1)
        if act == 0:
            del data[place:]
        elif act == 1:
            data[place:place] = bytes(chance.randrange(256) for _ in range(chance.randrange(1, 9)))
        elif act == 2 and data:
            data[min(place, len(data) - 1)] ^= 1 << chance.randrange(8)
        elif act == 3:
            data[place:place] = data[place:place + 50]
        elif act == 4:
            del data[place:place + chance.randrange(20)]
        else:
            data[place:place] = chance.choice([b"\xff\xfe", b"\x00", b"\xed\xa0\x80", b"[" * 300, b'{"a":' * 200, b"\xc0\xaf"])
    return bytes(data)
