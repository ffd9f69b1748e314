//! Stdin and stdout as the SDK reads and writes them: one message a line, at most 16 MiB (a longer one is passed
//! over). What is no request before the first request is passed over too: the SDK would end the server over it.

use std::io;

use rmcp::model::JsonRpcMessage;
use rmcp::service::{RoleServer, RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::{StdioReader, StdioWriter, stdio_pipes};

/// The process's own streams.
pub(super) struct Streams {
    inner: AsyncRwTransport<RoleServer, StdioReader, StdioWriter>,
    begun: bool,
}

impl Streams {
    /// Opens them; within the runtime.
    pub(super) fn open() -> Self {
        let (from, to) = stdio_pipes();
        Self {
            inner: AsyncRwTransport::new(from, to),
            begun: false,
        }
    }
}

impl Transport<RoleServer> for Streams {
    type Error = io::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            let message = self.inner.receive().await?;
            self.begun |= matches!(message, JsonRpcMessage::Request(_));
            if self.begun {
                return Some(message);
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
