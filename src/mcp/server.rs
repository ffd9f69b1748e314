//! The protocol: which tools and texts there are, and what becomes of a call. Everything else of it is the SDK's.

use std::fmt;
use std::thread;

use rmcp::ErrorData;
use rmcp::ServiceExt as _;
use rmcp::handler::server::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, CustomRequest, CustomResult, ErrorCode,
    Implementation, ListResourcesResult, ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams,
    ReadResourceResponse, ReadResourceResult, Resource, ResourceContents, ServerCapabilities, ServerConfig,
    ToolAnnotations,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, ServerInitializeError};
use serde_json::{Value, json};
use tokio::sync::{Mutex, oneshot};

use super::desk::{Desk, Inbox, Job};
use super::toolset::{Effect, Tool};
use super::transport::Streams;
use super::workspace;
use crate::skills::{SKILLS, Skill};

/// What a model is told of the tools, whatever it asks.
const INSTRUCTIONS: &str = "Bookend keeps the state of an orchestration in phases (create_session, get_session_status, \
transition_phase, archive_session; how: the resource skill://orchestration/SKILL.md), and the log of this session: turns, what was said and decided, what was done. \
In a host with Bookend's hooks the session and the turn are there already: call sessionlog_current, then \
sessionlog_begin_turn, which takes over the open turn. Elsewhere call sessionlog_open first. Add with \
sessionlog_append_dialog (reasoning and decisions) and sessionlog_append_actions (what was done), sum up with \
sessionlog_update_turn, and end with sessionlog_complete_turn or sessionlog_fail_turn: both are final. \
sessionlog_query and sessionlog_get read what was done before. Secrets are taken out before anything is written. \
An error says in details.hint what to do next. More: the resource skill://session-log/SKILL.md.";
const MARKDOWN: &str = "text/markdown";

/// Why the server did not serve.
#[derive(Debug)]
pub enum ServeError {
    /// The system gave it no thread or no poll.
    Start(std::io::Error),
    /// The client's first words were none of the protocol.
    Handshake(String),
}

impl fmt::Display for ServeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Start(e) => write!(f, "start the server: {e}"),
            Self::Handshake(why) => write!(
                f,
                "agree with the client on a protocol: {why}; `bookend mcp` is for MCP clients, people use `bookend call`"
            ),
        }
    }
}

impl std::error::Error for ServeError {}

/// Serves on stdin and stdout until stdin ends. `work` runs on a thread of its own: it puts the sets of tools together
/// and works at the desk.
///
/// # Errors
/// [`ServeError`].
pub fn serve(work: impl FnOnce(Desk) + Send + 'static) -> Result<(), ServeError> {
    let (desk, inbox, tools) = Desk::new();
    let worker = thread::Builder::new()
        .name("desk".to_owned())
        .spawn(move || work(desk))
        .map_err(ServeError::Start)?;
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .map_err(ServeError::Start)?;
    let served = runtime.block_on(async {
        let tools = tools.await.unwrap_or_default();
        let server = Server {
            tools,
            inbox,
            gate: Mutex::new(()),
        };
        match server.serve(Streams::open()).await {
            Ok(running) => drop(running.waiting().await),
            // The client went before it said anything.
            Err(ServerInitializeError::ConnectionClosed(_)) => {}
            Err(e) => return Err(ServeError::Handshake(e.to_string())),
        }
        Ok(())
    });
    // A read of a terminal cannot be taken back.
    runtime.shutdown_background();
    // What is being written is finished.
    drop(worker.join());
    served
}

struct Server {
    tools: Vec<Tool>,
    inbox: Inbox,
    /// Calls go through it in their order; it is held while the client is asked where it works.
    gate: Mutex<()>,
}

impl Server {
    async fn ask_where(&self, context: NotificationContext<RoleServer>) {
        let held = self.gate.lock().await;
        if let Some(workspace) = workspace::ask(&context.peer).await {
            self.inbox.put(Job::Moved(workspace));
        }
        drop(held);
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let us = Implementation::new("bookend", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(capabilities)
            .with_server_info(us)
            .with_instructions(INSTRUCTIONS)
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        self.ask_where(context).await;
    }

    async fn on_roots_list_changed(&self, context: NotificationContext<RoleServer>) {
        self.ask_where(context).await;
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(
            self.tools.iter().map(listed).collect(),
        ))
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let Some(tool) = self.tools.iter().find(|t| t.name == request.name) else {
            let names: Vec<&str> = self.tools.iter().map(|t| t.name).collect();
            let shown: String = request.name.chars().take(100).collect();
            let what = format!("Unknown tool: {shown}. Call one of data.tools.");
            return Err(ErrorData::invalid_params(what, Some(json!({"tools": names}))));
        };
        drop(self.gate.lock().await);
        let (answer, outcome) = oneshot::channel();
        self.inbox.put(Job::Call {
            tool: tool.name.to_owned(),
            params: Value::Object(request.arguments.unwrap_or_default()),
            answer,
        });
        let outcome = tokio::select! {
            outcome = outcome => outcome,
            // Nobody is told: whoever cancelled waits for nothing.
            () = context.ct.cancelled() => return Err(ErrorData::internal_error("cancelled", None)),
        };
        match outcome {
            Ok(Ok(result)) => Ok(CallToolResult::structured(result).into()),
            Ok(Err(failure)) => Ok(CallToolResult::structured_error(failure.to_json()).into()),
            Err(_) => Err(ErrorData::internal_error(
                "A fault of Bookend's own: nobody does calls any more. Start the server again.",
                None,
            )),
        }
    }

    async fn list_resources(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let resource = |skill: Skill| {
            Resource::new(uri(&skill), skill.name)
                .with_description(skill.description())
                .with_mime_type(MARKDOWN)
        };
        Ok(ListResourcesResult::with_all_items(SKILLS.map(resource).into()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some(skill) = SKILLS.iter().find(|skill| uri(skill) == request.uri) else {
            let uris = SKILLS.each_ref().map(uri);
            return Err(ErrorData::resource_not_found(
                "There is no such resource. Read one of data.resources.",
                Some(json!({"uri": request.uri, "resources": uris})),
            ));
        };
        let text = ResourceContents::text(skill.text, uri(skill)).with_mime_type(MARKDOWN);
        Ok(ReadResourceResult::new(vec![text]).into())
    }

    /// What the SDK takes for none of the protocol's requests: also one of them with other parameters than it has.
    async fn on_custom_request(
        &self,
        request: CustomRequest,
        _: RequestContext<RoleServer>,
    ) -> Result<CustomResult, ErrorData> {
        let CustomRequest { method, .. } = request;
        Err(match method.as_str() {
            "tools/call" => ErrorData::invalid_params(
                "params must have name (text) and may have arguments (an object).",
                None,
            ),
            "resources/read" => ErrorData::invalid_params("params must have uri (text).", None),
            "tools/list" | "resources/list" | "initialize" => {
                ErrorData::invalid_params(format!("These are no params of {method}."), None)
            }
            _ => ErrorData::new(
                ErrorCode::METHOD_NOT_FOUND,
                format!(
                    "There is no method {}.",
                    method.chars().take(100).collect::<String>()
                ),
                None,
            ),
        })
    }
}

fn uri(skill: &Skill) -> String {
    format!("skill://{}/SKILL.md", skill.name)
}

/// A tool in the words of the protocol.
fn listed(tool: &Tool) -> rmcp::model::Tool {
    let schema = tool.schema.as_object().cloned().unwrap_or_default();
    let hints = ToolAnnotations::new()
        .read_only(tool.effect == Effect::Reads)
        .destructive(tool.effect == Effect::Destroys)
        .idempotent(matches!(tool.effect, Effect::Reads | Effect::Settles))
        .open_world(false);
    rmcp::model::Tool::new(tool.name, tool.about.clone(), schema).with_annotations(hints)
}
