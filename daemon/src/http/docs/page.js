"use strict";
// Fills in an operation when it is opened, and sends it. The token stays in this page's memory. Whatever the
// daemon answers is shown as text and never as HTML.

const ANSWER_CHARACTERS_MAX = 200000;
const EXAMPLE_DEPTH_MAX = 6;
// The page may stand behind a proxy, under a path of its own.
const base = location.pathname.replace(/\/docs\/?$/, "");
const token = document.getElementById("token");
const description = fetch(base + "/openapi.json").then((answer) => answer.json());

function element(name, text, attributes) {
  const made = document.createElement(name);
  if (text) made.textContent = text;
  return Object.assign(made, attributes);
}

// A schema without its reference, and without the null that it may also be.
function resolved(api, schema) {
  if (schema?.$ref) return api.components.schemas[nameOf(schema)];
  const other = (schema?.anyOf ?? schema?.oneOf)?.find((one) => one.type !== "null");
  return other ? { ...resolved(api, other), description: schema.description } : schema ?? {};
}

function nameOf(schema) {
  return schema.$ref.split("/").pop();
}

function typeOf(api, schema) {
  if (schema?.$ref) return nameOf(schema);
  const choices = (schema?.anyOf ?? schema?.oneOf)?.filter((one) => one.type !== "null");
  if (choices) return choices.map((one) => typeOf(api, one)).join(" or ");
  if (schema?.enum) return schema.enum.filter((word) => word !== null).join(" | ");
  const types = [schema?.type ?? "any"].flat().filter((type) => type !== "null").join(" or ");
  return schema?.items ? types + " of " + typeOf(api, schema.items) : types;
}

function range(least, most, unit) {
  if (least === undefined && most === undefined) return "";
  if (most === undefined) return "at least " + least + unit;
  return (least === undefined ? "at most " : least + " to ") + most + unit;
}

function rules(schema) {
  const length = range(schema.minLength, schema.maxLength, " characters");
  return [length, range(schema.minimum, schema.maximum, ""), schema.pattern].filter(Boolean).join(", ");
}

// A body with the properties that are required.
function example(api, schema, depth = 0) {
  const whole = resolved(api, schema);
  if (whole.examples) return whole.examples[0];
  if (whole.enum) return whole.enum[0];
  if (depth > 0 && (schema.anyOf ?? schema.oneOf)) return null;
  const type = [whole.type ?? "null"].flat()[0];
  if (type === "object") {
    const names = depth < EXAMPLE_DEPTH_MAX ? whole.required ?? [] : [];
    return Object.fromEntries(names.map((name) => [name, example(api, whole.properties?.[name], depth + 1)]));
  }
  if (type === "array") return [];
  const least = whole.minimum ?? 0;
  return { string: "", integer: least, number: least, boolean: false }[type] ?? null;
}

function row(table, cells) {
  const line = table.insertRow();
  for (const cell of cells) line.insertCell().append(cell);
}

function heading(titles) {
  const table = element("table");
  const head = table.createTHead().insertRow();
  for (const title of titles) head.append(element("th", title));
  return table;
}

function named(name, required) {
  return element("code", name, { className: required ? "required" : "" });
}

// The fields of a body, those of its objects below them.
function fields(api, schema, table, prefix = "", seen = []) {
  const whole = resolved(api, schema);
  const object = whole.items ? resolved(api, whole.items) : whole;
  if (seen.includes(object)) return;
  for (const [name, property] of Object.entries(object.properties ?? {})) {
    const own = resolved(api, property);
    const told = [property.description ?? own.description, rules(own)].filter(Boolean).join(" ");
    row(table, [named(prefix + name, object.required?.includes(name)), typeOf(api, property), told]);
    const path = prefix + name + (own.items ? "[]." : ".");
    fields(api, property, table, path, [...seen, object]);
  }
}

// A table with an input for each parameter.
function inputs(api, parameters) {
  const table = heading(["Parameter", "In", "Value", ""]);
  const made = parameters.map((parameter) => {
    const input = element("input", "", { type: "text", name: parameter.name, spellcheck: false });
    input.setAttribute("aria-label", parameter.name);
    const schema = parameter.schema ?? {};
    input.placeholder = schema.enum ? schema.enum.join(" | ") : String(schema.default ?? "");
    row(table, [named(parameter.name, parameter.required), parameter.in, input, parameter.description ?? ""]);
    return { parameter, input };
  });
  return { table, made };
}

// A table with an input for each part of a form.
function parts(api, schema) {
  const whole = resolved(api, schema);
  const table = heading(["Part", "Value"]);
  const made = Object.entries(whole.properties ?? {}).map(([name, property]) => {
    const file = property.format === "binary" || property.contentMediaType !== undefined;
    const input = element("input", "", { type: file ? "file" : "text", name });
    input.setAttribute("aria-label", name);
    row(table, [named(name, whole.required?.includes(name)), input]);
    return { name, input };
  });
  const form = () => {
    const data = new FormData();
    for (const { name, input } of made) {
      const value = input.type === "file" ? input.files[0] : input.value;
      if (value) data.append(name, value);
    }
    return data;
  };
  return { table, form };
}

async function show(answer, begun, output) {
  const type = answer.headers.get("content-type") ?? "";
  const took = () => Math.round(performance.now() - begun) + " ms";
  const lines = [...answer.headers].map(([name, value]) => name + ": " + value);
  const status = answer.status + " " + answer.statusText + ", ";
  const head = (extra) => status + took() + "\n" + lines.join("\n") + "\n\n" + extra;
  if (!/json|text|^$/.test(type)) {
    output.textContent = head((await answer.blob()).size + " bytes of " + type);
    return;
  }
  // Read piece by piece: events have no end.
  let text = "";
  const reader = answer.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (let piece = await reader?.read(); piece && !piece.done; piece = await reader.read()) {
    text += piece.value;
    if (text.length > ANSWER_CHARACTERS_MAX) {
      await reader.cancel();
      text = text.slice(0, ANSWER_CHARACTERS_MAX) + "\n(cut here)";
      break;
    }
    output.textContent = head(text);
  }
  let shown = text;
  try {
    // Numbers stay as they were sent: a browser would round the long ones.
    const value = JSON.parse(text);
    const rounded = /\d{16}|\.\d*0[,}\]\s]/.test(text);
    if (typeof value === "object" && !rounded) shown = JSON.stringify(value, null, 2);
    if (value?.access_token) token.value = value.access_token;
  } catch {
    // Text, or one record on each line.
  }
  output.textContent = head(shown);
}

async function fill(details) {
  const api = await description;
  const { method, path } = details.dataset;
  const operation = api.paths[path][method.toLowerCase()];
  const into = details.querySelector("div");
  into.textContent = "";
  if (operation["x-permittable-path"]) {
    const needed = operation["x-allowed-operation"] + " on " + operation["x-permittable-path"];
    into.append(element("p", "Permission: " + needed));
  }
  const parameters = operation.parameters ?? [];
  const { table, made } = inputs(api, parameters);
  if (parameters.length) into.append(table);
  const content = operation.requestBody?.content ?? {};
  const json = content["application/json"]?.schema;
  const upload = content["multipart/form-data"]?.schema;
  const form = upload ? parts(api, upload) : null;
  const listed = heading(["Field", "Type", ""]);
  let body = null;
  if (json) {
    const text = JSON.stringify(example(api, json), null, 2);
    body = element("textarea", "", { value: text, spellcheck: false });
    body.setAttribute("aria-label", "Body");
    fields(api, json, listed);
    into.append(body);
  }
  if (form) into.append(form.table);
  const send = element("button", "Send", { type: "button" });
  const stop = element("button", "Stop", { type: "button", disabled: true });
  const output = element("pre", "", { hidden: true });
  output.setAttribute("role", "status");
  into.append(send, stop, output);
  if (body) into.append(listed);
  let control = null;
  stop.onclick = () => control.abort();
  send.onclick = async () => {
    const headers = {};
    const query = new URLSearchParams();
    let url = path;
    for (const { parameter, input } of made) {
      const place = "{" + parameter.name + "}";
      if (parameter.in === "path") url = url.replace(place, encodeURIComponent(input.value));
      else if (!input.value) continue;
      else if (parameter.in === "query") query.append(parameter.name, input.value);
      else headers[parameter.name] = input.value;
    }
    if (token.value) headers.Authorization = "Bearer " + token.value.trim();
    if (body) headers["Content-Type"] = "application/json";
    const asked = query.size ? url + "?" + query : url;
    control = new AbortController();
    [output.hidden, send.disabled, stop.disabled] = [false, true, false];
    output.textContent = method + " " + asked;
    const begun = performance.now();
    try {
      const sent = { method, headers, body: body ? body.value : form?.form(), signal: control.signal };
      await show(await fetch(base + asked, sent), begun, output);
    } catch (error) {
      output.textContent += "\n" + (error.name === "AbortError" ? "stopped" : "no answer: " + error.message);
    } finally {
      [send.disabled, stop.disabled] = [false, true];
    }
  };
}

for (const details of document.querySelectorAll("details")) {
  details.addEventListener("toggle", () => {
    if (!details.open || details.dataset.filled) return;
    details.dataset.filled = "yes";
    fill(details).catch((error) => {
      delete details.dataset.filled;
      details.querySelector("div").textContent = "The description cannot be read: " + error.message;
    });
  });
}

// Lists only the operations that hold every word.
document.getElementById("filter").addEventListener("input", (event) => {
  const words = event.target.value.toLowerCase().split(/\s+/);
  for (const section of document.querySelectorAll("section")) {
    for (const details of section.querySelectorAll("details")) {
      const text = (details.id + " " + details.querySelector("summary").textContent).toLowerCase();
      details.hidden = !words.every((word) => text.includes(word));
    }
    section.hidden = !section.querySelector("details:not([hidden])");
  }
});

// An address such as /docs#CreateCustomer opens that operation.
function openNamed() {
  const details = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  if (details?.tagName === "DETAILS") {
    details.open = true;
    details.scrollIntoView();
  }
}
addEventListener("hashchange", openNamed);
openNamed();
