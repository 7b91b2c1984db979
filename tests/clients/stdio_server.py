"""An MCP server over stdio, of both protocol eras, with what the conformance suite calls. Plain JSON, no SDK."""

import json
import queue
import sys
import threading

PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
SOUND = "UklGRiQAAABXQVZFZm10IBAAAAABAAEAQB8AAIA+AAACABAAZGF0YQAAAAA="
NO_ARGUMENTS = {"type": "object", "properties": {}}

output = threading.Lock()
waiting = {}
next_id = 0


def write(message):
    with output:
        sys.stdout.write(json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False) + "\n")
        sys.stdout.flush()


def notify(method, params):
    write({"method": method, "params": params})


def ask(method, params):
    """Sends a request to the client and waits for its answer."""
    global next_id
    next_id += 1
    waiting[next_id] = answers = queue.Queue()
    write({"id": next_id, "method": method, "params": params})
    return answers.get(timeout=30)


def text(value):
    return {"type": "text", "text": value}


def image():
    return {"type": "image", "data": PIXEL, "mimeType": "image/png"}


def embedded(uri, value):
    return {"type": "resource", "resource": {"uri": uri, "mimeType": "text/plain", "text": value}}


def elicit(message, properties, required=()):
    schema = {"type": "object", "properties": properties, "required": list(required)}
    answer = ask("elicitation/create", {"mode": "form", "message": message, "requestedSchema": schema})
    return [text(f"Elicitation completed: {json.dumps(answer.get('result'))}")]


def logging_tool(_arguments, _meta):
    for words in ["Tool execution started", "Tool processing data", "Tool execution completed"]:
        notify("notifications/message", {"level": "info", "data": words})
    return [text("logged")]


def progress_tool(_arguments, meta):
    for done in [0, 50, 100]:
        if "progressToken" in meta:
            notify("notifications/progress", {"progressToken": meta["progressToken"], "progress": done, "total": 100})
    return [text("done")]


def sampling_tool(arguments, _meta):
    content = text(arguments.get("prompt", ""))
    answer = ask("sampling/createMessage", {"messages": [{"role": "user", "content": content}], "maxTokens": 100})
    return [text(f"LLM response: {answer['result']['content']['text']}")]


def defaults_tool(_arguments, _meta):
    return elicit("Please review", {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": True},
    })


def enums_tool(_arguments, _meta):
    titled = [{"const": value, "title": title} for value, title in [("value1", "First"), ("value2", "Second")]]
    names = ["opt1", "opt2", "opt3"]
    return elicit("Please choose", {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": titled},
        "legacyEnum": {"type": "string", "enum": names, "enumNames": ["One", "Two", "Three"]},
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": names}},
        "titledMulti": {"type": "array", "items": {"anyOf": titled}},
    })


def fails(_arguments, _meta):
    raise ValueError("This tool intentionally returns an error for testing")


TOOLS = {
    "test_simple_text": (NO_ARGUMENTS, lambda a, m: [text("This is a simple text response for testing.")]),
    "test_image_content": (NO_ARGUMENTS, lambda a, m: [image()]),
    "test_audio_content": (NO_ARGUMENTS, lambda a, m: [{"type": "audio", "data": SOUND, "mimeType": "audio/wav"}]),
    "test_embedded_resource": (NO_ARGUMENTS, lambda a, m: [embedded("test://embedded-resource", "embedded")]),
    "test_multiple_content_types": (
        NO_ARGUMENTS,
        lambda a, m: [text("Multiple content types test:"), image(), embedded("test://mixed-content-resource", "{}")],
    ),
    "test_tool_with_logging": (NO_ARGUMENTS, logging_tool),
    "test_tool_with_progress": (NO_ARGUMENTS, progress_tool),
    "test_error_handling": (NO_ARGUMENTS, fails),
    "test_sampling": ({"type": "object", "properties": {"prompt": {"type": "string"}}}, sampling_tool),
    "test_elicitation": (
        {"type": "object", "properties": {"message": {"type": "string"}}},
        lambda a, m: elicit(a.get("message", ""), {"username": {"type": "string"}, "email": {"type": "string"}}, ["username"]),
    ),
    "test_elicitation_sep1034_defaults": (NO_ARGUMENTS, defaults_tool),
    "test_elicitation_sep1330_enums": (NO_ARGUMENTS, enums_tool),
    "json_schema_2020_12_tool": (
        {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "type": "object",
            "$defs": {"address": {"type": "object", "properties": {"street": {"type": "string"}, "city": {"type": "string"}}}},
            "properties": {"name": {"type": "string"}, "address": {"$ref": "#/$defs/address"}},
            "additionalProperties": False,
        },
        lambda a, m: [text(json.dumps(a))],
    ),
}

ARGUMENTS = [{"name": "arg1", "description": "First", "required": True}, {"name": "arg2", "description": "Second", "required": True}]
PROMPTS = {
    "test_simple_prompt": ([], lambda a: [text("This is a simple prompt for testing.")]),
    "test_prompt_with_arguments": (
        ARGUMENTS,
        lambda a: [text(f"Prompt with arguments: arg1='{a.get('arg1')}', arg2='{a.get('arg2')}'")],
    ),
    "test_prompt_with_embedded_resource": (
        [{"name": "resourceUri", "description": "A resource", "required": True}],
        lambda a: [embedded(a.get("resourceUri", "test://x"), "Embedded resource content for testing."), text("Please process.")],
    ),
    "test_prompt_with_image": ([], lambda a: [image(), text("Please analyze the image above.")]),
}


class Refused(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message, **({"data": data} if data else {})}


def read_resource(uri):
    content = {"uri": uri, "mimeType": "text/plain"}
    if uri == "test://static-text":
        return {**content, "text": "This is the content of the static text resource."}
    if uri == "test://static-binary":
        return {"uri": uri, "mimeType": "image/png", "blob": PIXEL}
    if uri.startswith("test://template/"):
        name = uri.split("/")[3]
        return {"uri": uri, "mimeType": "application/json", "text": json.dumps({"id": name, "data": f"Data for ID: {name}"})}
    if uri == "test://watched-resource":
        return {**content, "text": "Watched"}
    raise Refused(-32602, "Resource not found", {"uri": uri})


def call_tool(params, meta):
    if params.get("name") == "test_input_required_result_elicitation":
        return input_required(params)
    if params.get("name") not in TOOLS:
        raise Refused(-32602, f"Unknown tool: {params.get('name')}")
    try:
        return {"content": TOOLS[params["name"]][1](params.get("arguments") or {}, meta)}
    except ValueError as error:
        return {"content": [text(str(error))], "isError": True}


def input_required(params):
    answer = (params.get("inputResponses") or {}).get("user_name")
    if isinstance(answer, dict) and answer.get("action") == "accept":
        return {"content": [text(f"Hello, {answer.get('content', {}).get('name')}!")]}
    schema = {"type": "object", "properties": {"name": {"type": "string"}}, "required": ["name"]}
    request = {"method": "elicitation/create", "params": {"mode": "form", "message": "What is your name?", "requestedSchema": schema}}
    return {"resultType": "input_required", "inputRequests": {"user_name": request}}


CAPABILITIES = {
    "tools": {"listChanged": True},
    "resources": {"subscribe": True, "listChanged": True},
    "prompts": {"listChanged": True},
    "logging": {},
    "completions": {},
}
INFO = {"name": "stdio-server", "version": "1.0.0"}
VERSIONS = ["2025-06-18", "2025-11-25"]


def handle(method, params, meta):
    if method == "initialize":
        version = params.get("protocolVersion")
        return {"protocolVersion": version if version in VERSIONS else VERSIONS[-1], "capabilities": CAPABILITIES, "serverInfo": INFO}
    if method == "server/discover":
        info = {"io.modelcontextprotocol/serverInfo": INFO}
        return {"supportedVersions": [*VERSIONS, "2026-07-28"], "capabilities": CAPABILITIES, "_meta": info}
    if method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"):
        return {}
    if method == "tools/list":
        extra = {"test_input_required_result_elicitation": (NO_ARGUMENTS, None)}
        return {"tools": [{"name": n, "description": f"Tool {n}", "inputSchema": s} for n, (s, _) in {**TOOLS, **extra}.items()]}
    if method == "tools/call":
        return call_tool(params, meta)
    if method == "prompts/list":
        return {"prompts": [{"name": n, "description": f"Prompt {n}", "arguments": a} for n, (a, _) in PROMPTS.items()]}
    if method == "prompts/get":
        if params.get("name") not in PROMPTS:
            raise Refused(-32602, "Unknown prompt")
        messages = PROMPTS[params["name"]][1](params.get("arguments") or {})
        return {"messages": [{"role": "user", "content": content} for content in messages]}
    if method == "resources/list":
        uris = ["test://static-text", "test://static-binary", "test://watched-resource"]
        return {"resources": [{"uri": uri, "name": uri, "mimeType": "text/plain"} for uri in uris]}
    if method == "resources/templates/list":
        return {"resourceTemplates": [{"uriTemplate": "test://template/{id}/data", "name": "template"}]}
    if method == "resources/read":
        return {"contents": [read_resource(params.get("uri", ""))]}
    if method == "completion/complete":
        return {"completion": {"values": ["paris", "park"], "total": 2, "hasMore": False}}
    raise Refused(-32601, "Method not found")


def answer(message):
    params = message.get("params") or {}
    meta = params.get("_meta") or {}
    try:
        result = handle(message["method"], params, meta)
    except Refused as refused:
        write({"id": message["id"], "error": refused.error})
        return
    if "io.modelcontextprotocol/protocolVersion" in meta:
        result = {"resultType": "complete", **result}
        if message["method"].endswith("list") or message["method"] in ("server/discover", "resources/read"):
            result = {"ttlMs": 0, "cacheScope": "private", **result}
    write({"id": message["id"], "result": result})


for line in sys.stdin:
    message = json.loads(line)
    if "method" not in message:
        if message.get("id") in waiting:
            waiting.pop(message["id"]).put(message)
    elif "id" in message:
        threading.Thread(target=answer, args=(message,), daemon=True).start()
