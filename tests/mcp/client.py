"""The official SDK as a client of `bookend mcp`: lists, walks through a session of the log and through an orchestration
(`orchestration.py`), is refused. Prints what it saw as JSON.

    python client.py <bookend> legacy|auto
"""

import asyncio
import json
import os
import sys

import jsonschema
from mcp import StdioServerParameters
from mcp.client.client import Client
from mcp.client.stdio import stdio_client
from mcp.shared.exceptions import MCPError

import orchestration

SESSION = "YourAgent-20260409T120001Z-implement-auth"


async def main(bookend, mode):
    server = StdioServerParameters(command=bookend, args=["mcp"], env=dict(os.environ), cwd=os.getcwd())
    seen = {"refused": {}}
    async with Client(stdio_client(server), mode=mode) as client:
        seen["version"] = client.protocol_version
        seen["server"] = client.server_info.name
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        for tool in tools.values():
            jsonschema.Draft202012Validator.check_schema(tool.input_schema)
        seen["tools"] = sorted(tools)
        seen["resources"] = [str(r.uri) for r in (await client.list_resources()).resources]

        async def answer(tool, arguments):
            result = await client.call_tool(tool, arguments)
            assert json.loads(result.content[0].text) == result.structured_content
            return result.is_error, result.structured_content

        async def call_any(tool, **arguments):
            jsonschema.validate(arguments, tools[tool].input_schema)
            is_error, content = await answer(tool, arguments)
            assert not is_error, (tool, arguments, content)
            jsonschema.validate(content, orchestration.RESULTS.get(tool, {"type": "object"}))
            return content

        async def refused_any(tool, **arguments):
            is_error, content = await answer(tool, arguments)
            assert is_error, (tool, arguments, content)
            jsonschema.validate(content, orchestration.ERROR)
            return content["code"]

        async def call(tool, **arguments):
            return await call_any("sessionlog_" + tool, **arguments)

        async def refused(tool, **arguments):
            return await refused_any("sessionlog_" + tool, **arguments)

        await call("bootstrap")
        await call("open", agent="YourAgent", sessionId=SESSION, title="Implement JWT authentication")
        turn = "req-20260409T120002Z-add-jwt-001"
        await call("begin_turn", requestId=turn, queryTitle="Add JWT", queryText="Implement JWT")
        decision = {"role": "model", "content": "Decision: HS256.", "category": "decision"}
        assert (await call("append_dialog", dialogItems=[decision]))["totalDialogItems"] == 1
        actions = [
            {"order": 1, "description": "Made it", "type": "create", "status": "completed", "filePath": "src/token.rs"},
            {"order": 2, "description": "HS256", "type": "design_decision", "status": "completed"},
        ]
        assert (await call("append_actions", actions=actions))["totalActions"] == 2
        wrong = [{**actions[0], "order": "1"}]
        try:
            jsonschema.validate({"actions": wrong}, tools["sessionlog_append_actions"].input_schema)
            raise AssertionError("the schema takes a text for a number")
        except jsonschema.ValidationError:
            seen["refused"]["argument"] = await refused("append_actions", actions=wrong)
        assert (await call("complete_turn", response="It is in."))["status"] == "completed"
        seen["refused"]["late"] = await refused("update_turn", response="Late")
        seen["found"] = (await call("query", text="hs256"))["totalCount"]
        try:
            await client.call_tool("no_such_tool", {})
        except MCPError as error:
            seen["refused"]["tool"] = error.error.code
        seen["codes"] = sorted(set((await orchestration.walk(call_any, refused_any)).values()))
        assert orchestration.RESULTS.keys() == {tool for tool in tools if not tool.startswith("sessionlog_")}
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
