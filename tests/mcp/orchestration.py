"""An orchestration from `initialize_workspace` to `archive_session`, with every refusal that a client can bring about.

`call` and `refused` are the client's; what a tool answers is held against the schemas below.
"""

import os

NAME, TEXT, FLAG, NUMBER = {"type": "string", "minLength": 1}, {"type": "string"}, {"type": "boolean"}, {"type": "integer"}
MAYBE = {"type": ["string", "null"]}
PHASE_ID = {"type": ["integer", "string"]}
STATUS = {"enum": ["pending", "in_progress", "completed", "failed", "skipped"]}
NEXT = {"type": ["object", "null"], "required": ["phase_id", "action"]}


def array(items):
    return {"type": "array", "items": items}


def result(required, **properties):
    return {"type": "object", "required": [*properties, *required], "properties": properties}


DONE = {"const": True}
PHASES = array(result(["waits_for", "errors"], id=PHASE_ID, name=NAME, status=STATUS, indicator={"enum": list("✓○✗□–")},
                      agents=array(TEXT), parallel=FLAG, retry_count=NUMBER, requires_reconciliation=FLAG))
STANDS = {"if": {"properties": {"exists": {"const": True}}},
          "then": result(["created", "updated", "token_usage"], session_id=NAME, status=NAME, phases=PHASES,
                         current_phase=PHASE_ID, next=NEXT, path=NAME), "else": result([], message=NAME)}
RESULTS = {
    "initialize_workspace": result([], success=DONE, workspace_path=NAME, state_dir=NAME,
                                   created_directories=array(NAME), already_existed=FLAG),
    "validate_plan": result([], valid=FLAG, violations=array(result(["severity"], rule=NAME, detail=NAME)), batches=array(array(PHASE_ID))),
    "create_session": result([], success=DONE, session_id=NAME, path=NAME, current_phase=PHASE_ID, total_phases=NUMBER),
    "update_session": result([], success=DONE, session_id=NAME, updated_fields=array(NAME)),
    "transition_phase": result([], success=DONE, session_id=NAME, session_complete=FLAG, next=NEXT,
                               started_phase_ids=array(PHASE_ID),
                               phase=result([], id=PHASE_ID, status=STATUS, retry_count=NUMBER, requires_reconciliation=FLAG),
                               session_state_summary=result(["completed_phases", "pending_phases", "in_progress_phases",
                                                             "failed_phases", "skipped_phases"], status=NAME)),
    "get_session_status": {**result([], exists=FLAG), **STANDS},
    "archive_session": result([], success=DONE, session_id=NAME, archive_path=NAME, archived_files=array(NAME),
                              already_archived=FLAG),
    "list_sessions": result([], sessions=array(result([], session_id=NAME, archived=FLAG, path=NAME, status=NAME)),
                            total_count=NUMBER, offset=NUMBER, limit=NUMBER),
    "get_skill_content": result([], contents={"type": "object"}, errors={"type": "object"}),
}
ERROR = result([], code={"type": "string", "pattern": "^[a-z_]+$"}, message=NAME,
               details=result([], hint=NAME))

ID = "2026-11-30-cart"
ACTIVE = "docs/maestro/state/active-session.md"
PLAN = [
    {"id": 1, "name": "Design", "agents": ["architect"]},
    {"id": 2, "name": "Cart", "agents": ["coder"], "parallel": True, "blocked_by": [1]},
    {"id": "3", "name": "Page", "agents": ["designer"], "parallel": True, "blocked_by": ["1"]},
    {"id": 4, "name": "Texts", "agents": ["writer"], "blocked_by": [2, 3]},
]
FAULT = {"type": "runtime", "message": "it broke"}


async def walk(call, refused):
    codes = {}

    async def no(why, code, tool, **arguments):
        codes[why] = await refused(tool, **arguments)
        assert codes[why] == code, (why, codes[why])

    async def go(phase, to, **more):
        return await call("transition_phase", phase_id=phase, to=to, **more)

    made = await call("initialize_workspace", state_dir="docs/maestro")
    assert made["workspace_path"] == os.getcwd() and not made["already_existed"]
    assert (await call("initialize_workspace"))["already_existed"]
    await no("elsewhere", "invalid_workspace", "initialize_workspace", workspace_path="/no/such/place")
    template = await call("get_skill_content", resources=["session-state", "orchestration"])
    assert not template["errors"] and template["contents"]["session-state"].startswith("---\nsession_id:")
    await no("no resources", "invalid_parameter", "get_skill_content")
    assert not (await call("get_session_status"))["exists"]
    await no("nothing there", "no_active_session", "transition_phase", phase_id=1, to="in_progress")

    cycle = [{**PLAN[0], "blocked_by": [4]}, *PLAN[1:]]
    checked = await call("validate_plan", plan={"phases": PLAN})
    assert checked["valid"] and checked["batches"] == [[1], [2, 3], [4]], checked
    assert not (await call("validate_plan", plan={"phases": cycle}))["valid"]
    new = {"session_id": ID, "task": "Make a cart", "phases": PLAN}
    await no("a cycle", "invalid_plan", "create_session", **{**new, "phases": cycle})
    await no("no such day", "invalid_parameter", "create_session", **{**new, "session_id": "2026-02-30-cart"})
    await no("a document outside", "invalid_parameter", "create_session", **new, design_document="../design.md")
    os.makedirs("docs/maestro/plans", exist_ok=True)
    with open("docs/maestro/plans/design.md", "w") as design:
        design.write("---\ntask_complexity: complex\n---\n# Cart\n")
    begun = await call("create_session", **new, design_document="docs/maestro/plans/design.md", workflow_mode="standard")
    assert (begun["current_phase"], begun["total_phases"], begun["path"]) == (1, 4, ACTIVE)
    await no("a second one", "session_active", "create_session", **{**new, "session_id": "2026-11-30-other"})
    await no("another's", "session_mismatch", "get_session_status", session_id="2026-11-30-other")
    await no("nothing to update", "invalid_parameter", "update_session", session_id=ID)
    updated = await call("update_session", session_id=ID, execution_mode="parallel", execution_backend="native")
    assert updated["updated_fields"] == ["execution_mode", "execution_backend"]

    await no("no such phase", "phase_not_found", "transition_phase", phase_id=9, to="in_progress")
    await no("not begun", "invalid_transition", "transition_phase", phase_id=1, to="completed")
    await no("blocked", "dependencies_incomplete", "transition_phase", phase_id=2, to="in_progress")
    await no("not decided", "user_decision_required", "transition_phase", phase_id=4, to="skipped")
    await no("no error", "invalid_parameter", "transition_phase", phase_id=1, to="failed")
    await no("no such argument", "invalid_parameter", "transition_phase", phase_id=1, to="in_progress", colour="red")
    await go(1, "in_progress")
    await no("not all done", "phases_incomplete", "archive_session", session_id=ID)
    designed = await call("transition_phase", completed_phase_id="1", next_phase_ids=[2, "3"], files_created=["docs/cart.md"],
                          downstream_context={"assumptions": ["One currency"]}, validation_result="Pass")
    assert designed["started_phase_ids"] == [2, 3] and designed["next"] == {"phase_id": 2, "action": "continue"}

    # Two that run beside each other; one fails more often than it may.
    for retry in (1, 2):
        await go(2, "failed", error=FAULT)
        assert (await go(2, "in_progress", resolution="Try again"))["phase"]["retry_count"] == retry
    await go(2, "failed", error={**FAULT, "type": "timeout"})
    await no("too often", "retries_exhausted", "transition_phase", phase_id=2, to="in_progress")
    tokens = {"agent": "designer", "input": 1000, "output": "200"}
    await go(3, "completed", files_modified=["src/page.rs"], token_usage=tokens, agent_output="It is in.")
    status = await call("get_session_status", session_id=ID)
    assert [phase["status"] for phase in status["phases"]] == ["completed", "failed", "completed", "pending"]
    assert (status["task_complexity"], status["token_usage"]["total_output"], status["next"]) == ("complex", 200, None)
    await no("force without a reason", "invalid_parameter", "archive_session", session_id=ID, force=True)
    over = await call("archive_session", session_id=ID, force=True, reason="The user gives it up")
    assert over["archive_path"] == f"docs/maestro/state/archive/{ID}.md" and os.path.isfile(over["archive_path"])
    assert (await call("archive_session", session_id=ID))["already_archived"]
    await no("its name is taken", "already_archived", "create_session", **new)

    # One that goes well, and is archived by itself when its last phase ends.
    short = [PLAN[0], {**PLAN[1], "id": "page-2"}]
    await call("create_session", session_id="2026-11-30-short", task="Short", phases=short, workflow_mode="express")
    await go(1, "in_progress")
    await go(1, "completed")
    await go("page-2", "skipped", user_decided=True)
    assert not os.path.exists(ACTIVE)
    found = await call("list_sessions")
    assert [s["session_id"] for s in found["sessions"]] == ["2026-11-30-short", ID] and found["total_count"] == 2
    assert [s["completed_phases"] for s in found["sessions"]] == [1, 2]

    with open(ACTIVE, "w") as broken:
        broken.write("---\nsession_id: [\n---\n")
    await no("broken", "invalid_state", "get_session_status")
    os.remove(ACTIVE)
    return codes
