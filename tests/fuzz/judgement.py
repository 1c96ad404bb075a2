"""What Schemathesis may find without a fault of the daemon: refusals that the state of the store explains, and rules
that JSON Schema has no words for. Each has its reason. The table may only shrink."""

import itertools
import json
import os
import re

import schemathesis

# Code of the refusal, where it may come from (the beginning of `detail`, or of a field), and why it is no fault.
ALLOWED = [
    ("unknown_reference", "", "the named record does not exist: state, not shape"),
    ("identifier_mismatch", "", "identifiers of path and body differ; a schema sees one of them"),
    ("parent_mismatch", "", "as identifier_mismatch"),
    ("immutable_field", "", "the stored value is another one: state"),
    ("interest_not_flexible", "", "the stored product decides: state"),
    ("account_kind_mismatch", "", "the stored account decides: state"),
    ("contradicts_account", "", "the stored account decides: state"),
    ("employee_required", "", "the stored teller decides: state"),
    ("teller_not_paused", "", "the stored teller decides: state"),
    ("scope_unknown", "", "the named set does not exist: state"),
    ("wrong_code", "", "a code of the second factor that is not right now: state"),
    ("position_too_old", "", "the trail was cut: state"),
    ("no_dry_run", "", "where nothing can be tried is said in words; the header itself is the same everywhere"),
    ("credentials_in_query", "", "a query that is not in the description"),
    ("malformed_body", "the form cannot be read: the head of a part", "control characters in names of parts"),
    ("image_empty", "", "an image without bytes, for which a schema of a file has no word"),
    ("not_in_batch", "", "operations of a batch are any text to its schema"),
]
# Bad fields: pointer with * for any index, or * for any field; code; why it is no fault.
ALLOWED_FIELDS = [
    ("/username", "required", "only with smtp_auth, and for the password grant: one field depends on another"),
    ("/app_password", "required", "only with smtp_auth"),
    ("/password", "required", "only for the password grant"),
    ("/assertion", "required", "only for the grant of assertions"),
    ("/refresh_token", "required", "only for the grant of refresh tokens"),
    ("/term/period", "required", "only beside timeUnit"),
    ("/term/timeUnit", "required", "only beside period"),
    ("/accrueAccountIdentifier", "required", "only where the type is not SHARE"),
    ("/targetAccountIdentifier", "required", "only for transfers"),
    ("/amount", "out_of_range", "what may be moved depends on the type of transaction, or on the adjustment"),
    ("/charges/*/amount", "out_of_range", "at most 100 where it is a part of an amount"),
    ("/dateOfBirth", "out_of_range", "the day depends on the clock"),
    ("/dueDate", "out_of_range", "the day depends on the clock"),
    ("/date", "out_of_range", "the day depends on the clock"),
    ("/port", "bad_characters", "5.0 is an integer to JSON Schema"),
    ("/secret", "bad_characters", "base64 whose padding fits its length"),
    ("/charges/*/name", "duplicate", "unique in one property, which a schema cannot say"),
    ("*", "impossible_date", "a day that its month does not have"),
    ("*", "too_many_decimals", "multipleOf fails for binary fractions in many validators, so no schema says it"),
    ("*", "too_common", "the list of passwords that are guessed first"),
    ("*", "reserved", "words that are reserved"),
]
# Parameters; why it is no fault.
ALLOWED_PARAMETERS = [
    ("dateRange", "the order of two days, and days that their month does not have"),
    ("scanIdentifier", "required in the query or in the form"),
    ("description", "required in the query or in the form"),
    ("customer", "GET /instances needs it only without a term"),
]
FOUND = os.environ.get("MFA_FUZZ_FOUND")
numbers = itertools.count()


@schemathesis.hook
def before_call(context, case, kwargs):
    """Gives each request a key of its own where it has a good one: Schemathesis uses one key for all of them, and the
    daemon rightly refuses another request under a used key before it looks at the rest."""
    headers = case.headers or {}
    for name in list(headers):
        value = headers[name]
        good = isinstance(value, str) and 0 < len(value) <= 255 and all("!" <= c <= "~" for c in value)
        if name.lower() == "idempotency-key" and good:
            headers[name] = f"key-{os.getpid()}-{next(numbers)}"


@schemathesis.hook
def filter_failure(context, failure, case, response):
    """Whether a failure is one of the daemon or of its description."""
    kept = not allowed(failure, response)
    if kept and FOUND:
        with open(FOUND, "a") as file:
            problem = problem_of(response)
            body = response.request.body
            line = {
                "operation": case.operation.label, "failure": type(failure).__name__, "status": response.status_code,
                "code": problem.get("code"), "detail": problem.get("detail"), "errors": problem.get("errors"),
                "message": failure.message[:600], "url": response.request.url, "body": str(body)[:600],
            }
            file.write(json.dumps(line) + "\n")
    return kept


def problem_of(response):
    try:
        problem = json.loads(response.content)
        return problem if isinstance(problem, dict) else {}
    except ValueError:
        return {}


def allowed(failure, response):
    if "not matching the 'date' format" in failure.message:
        # The contract tolerates a Z behind a day, and the format has none.
        sent = f"{response.request.url} {response.request.body}"
        return re.search(r"\d{4}-\d\d-\d\dZ", sent) is not None
    if type(failure).__name__ != "RejectedPositiveData":
        return False
    problem = problem_of(response)
    code, detail = problem.get("code"), problem.get("detail", "")
    if any(code == one and detail.startswith(begin) for one, begin, _ in ALLOWED):
        return True
    if code == "invalid_parameter":
        return any(f"the parameter {name} " in detail for name, _ in ALLOWED_PARAMETERS)
    if code == "invalid_fields":
        return all(allowed_field(error) for error in problem["errors"])
    return False


def allowed_field(error):
    pointer = "/".join("*" if part.isdigit() else part for part in error["field"].split("/"))
    if error["code"] == "wrong_type" and "must be an integer" in error["detail"]:
        return True  # 1.0 is an integer to JSON Schema, and none to the contract.
    return any(one in (pointer, "*") and error["code"] == code for one, code, _ in ALLOWED_FIELDS)
