"""Prunes a text and recovers what was cut, with PyPI's mcp package; ends with a traceback if an answer is wrong.

    mcp_client.py MODE TEXT_FILE GOAL URL
    mcp_client.py MODE TEXT_FILE GOAL COMMAND [ARGUMENT...]

MODE is the package's own: legacy, auto, or a protocol version.
"""

import asyncio
import json
import os
import sys

from mcp import Client, MCPError, StdioServerParameters

TIME_LIMIT = 60


def answer(result):
    """The JSON in a tool's answer."""
    assert not result.is_error, result
    return json.loads(result.content[0].text)


async def error_of(call):
    """The error that a call ends with."""
    try:
        result = await call
    except MCPError as error:
        return error
    raise AssertionError(f"no error but {result}")


async def converse(client, text, goal):
    listed = await client.list_tools()
    names = {tool.name for tool in listed.tools}
    assert {"prune_text", "recover_text", "health"} <= names, names
    assert answer(await client.call_tool("health", {}))["status"] == "healthy"

    options = {
        "max_prune_ratio": 0.9,
        "min_keep_lines": 10,
        "timeout_ms": 60_000,
        "annotate_lines": False,
        "include_markers": True,
    }
    arguments = {"text": text, "goal_hint": goal, "source_type": "logs", "options": options}
    pruned = answer(await client.call_tool("prune_text", arguments))
    assert pruned["annotations"], pruned
    assert 0 < pruned["stats"]["pruned_ratio"] <= options["max_prune_ratio"], pruned["stats"]
    # The logs that this is called with have their answer there.
    errors = [line for line in text.split("\n") if " ERROR " in line]
    assert errors, "no errors in the sample"
    for line in errors:
        assert line in pruned["pruned_text"].split("\n"), f"needed, and yet cut: {line}"
    for cut in pruned["annotations"]:
        assert cut["marker"] in pruned["pruned_text"].split("\n"), cut

    for cut in pruned["annotations"]:
        start, end = cut["original_start_line"], cut["original_end_line"]
        arguments = {
            "prune_id": pruned["prune_id"],
            "ranges": [{"start_line": start, "end_line": end}],
            "include_line_numbers": False,
        }
        recovered = answer(await client.call_tool("recover_text", arguments))
        assert recovered["raw_text"] == "\n".join(text.split("\n")[start - 1 : end]), recovered

    arguments = {"prune_id": "prn_unknown", "ranges": [], "include_line_numbers": False}
    error = await error_of(client.call_tool("recover_text", arguments))
    assert (error.code, error.message) == (-32004, "prune_id_not_found"), error.error
    assert error.data["code"] == "prune_id_not_found", error.error

    error = await error_of(client.call_tool("prune_text", {"text": 1}))
    assert error.code == -32602, error.error


async def main(mode, text_file, goal, *server):
    with open(text_file, encoding="utf-8", newline="") as file:
        text = file.read()
    if server[0].startswith("http://"):
        target = server[0]
    else:
        # The package passes on only a few variables of its own choosing.
        env = {name: value for name, value in os.environ.items() if name.startswith("TAMIS_")}
        target = StdioServerParameters(command=server[0], args=list(server[1:]), env=env)
    async with asyncio.timeout(TIME_LIMIT):
        async with Client(target, mode=mode, read_timeout_seconds=TIME_LIMIT) as client:
            if mode not in ("legacy", "auto"):
                assert client.protocol_version == mode, client.protocol_version
            await converse(client, text, goal)


asyncio.run(main(*sys.argv[1:]))
