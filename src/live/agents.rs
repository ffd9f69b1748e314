//! Subagents, as events begin and end them. A host with a start of its own begins an entry by its id; else the
//! delegation's call does.

use super::state::{AgentEntry, AgentState, State};
use crate::event::{Agent, Event, Kind, Outcome, ToolKind};
use crate::redact::Redacted;

/// Subagents remembered.
const MAX_AGENTS: usize = 64;

impl State {
    pub(super) fn follow_agents(&mut self, event: &Event, sent_back: bool) {
        match &event.kind {
            Kind::AgentStop { .. } if sent_back => {
                if let Some(entry) = self.agent_of(event.agent.as_ref()) {
                    entry.sent_back = true;
                }
            }
            Kind::AgentStart => {
                if let Some(agent) = &event.agent {
                    self.agent_began(agent.id.clone(), agent.kind.clone(), event);
                }
            }
            Kind::Delegation {
                call,
                to,
                begins: true,
                ..
            } => self.agent_began(call.clone(), to.clone(), event),
            Kind::AgentStop { .. } => self.agent_ended(event.agent.as_ref(), AgentState::Ended, event),
            Kind::Failure { .. } if event.agent.is_some() => {
                self.agent_ended(event.agent.as_ref(), AgentState::Failed, event);
            }
            Kind::Tool(call) if call.kind == ToolKind::Delegate && !call.background => {
                let state = if call.outcome == Outcome::Ok {
                    AgentState::Ended
                } else {
                    AgentState::Failed
                };
                // Gemini CLI gives neither the call nor the agent an id: then the oldest of that name.
                let of_call = |a: &AgentEntry| {
                    a.id == call.id && (call.id.is_some() || a.kind.is_some() && a.kind == call.target)
                };
                if let Some(entry) = self.running_mut(of_call) {
                    entry.state = state;
                    entry.ended_at = Some(event.at);
                }
            }
            Kind::Stop { background, .. } if background.unwrap_or(0) == 0 => {
                for agent in self.agents.iter_mut().filter(|a| a.state == AgentState::Running) {
                    agent.state = AgentState::Ended;
                    agent.ended_at = Some(event.at);
                }
            }
            Kind::SessionEnd { .. } => self.agents_lost(),
            _ => {}
        }
    }

    /// Nobody will say any more how the agents that work have ended.
    pub fn agents_lost(&mut self) {
        for agent in self.agents.iter_mut().filter(|a| a.state == AgentState::Running) {
            agent.state = AgentState::Lost;
        }
    }

    fn agent_began(&mut self, id: Option<Redacted>, kind: Option<Redacted>, event: &Event) {
        if id.is_some() && self.running().any(|a| a.id == id) {
            return;
        }
        if self.agents.len() >= MAX_AGENTS {
            let oldest = self
                .agents
                .iter()
                .position(|a| a.state != AgentState::Running)
                .unwrap_or(0);
            self.agents.remove(oldest);
        }
        let state = AgentState::Running;
        self.agents.push(AgentEntry {
            id,
            kind,
            started_at: event.at,
            ended_at: None,
            state,
            sent_back: false,
        });
    }

    /// The entry of that id; without one, the only one that runs. One that outlived its session's end may still
    /// say how it went.
    #[must_use]
    pub fn place_of_agent(&self, agent: Option<&Agent>) -> Option<usize> {
        let id = agent.and_then(|a| a.id.as_ref());
        let only = id.is_none() && self.running().count() == 1;
        self.agents.iter().position(|a| match a.state {
            AgentState::Running => only || (id.is_some() && a.id.as_ref() == id),
            AgentState::Lost => id.is_some() && a.id.as_ref() == id,
            AgentState::Ended | AgentState::Failed => false,
        })
    }

    fn agent_of(&mut self, agent: Option<&Agent>) -> Option<&mut AgentEntry> {
        let place = self.place_of_agent(agent)?;
        self.agents.get_mut(place)
    }

    fn agent_ended(&mut self, agent: Option<&Agent>, state: AgentState, event: &Event) {
        if let Some(entry) = self.agent_of(agent) {
            entry.state = state;
            entry.ended_at = Some(event.at);
        }
    }

    fn running_mut(&mut self, is: impl Fn(&AgentEntry) -> bool) -> Option<&mut AgentEntry> {
        self.agents
            .iter_mut()
            .find(|a| a.state == AgentState::Running && is(a))
    }
}
