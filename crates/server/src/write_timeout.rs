//! A connection with a time limit for writes.
//!
//! hyper limits how long a client may take to send its headers, and bodies have a limit of their own; neither limits a client
//! that sends a request and never reads. It would hold its answer, and one of the connections, for ever.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

/// How long a write may make no progress.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

pub(crate) struct WriteTimeout<S> {
    stream: S,
    /// Runs while a write makes no progress.
    timer: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteTimeout<S> {
    pub(crate) fn new(stream: S) -> WriteTimeout<S> {
        WriteTimeout { stream, timer: None }
    }

    /// Passes on the result of a write, or an error when it has made no progress for too long.
    fn limit<T>(&mut self, task: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.timer = None;
            return written;
        }
        let timer = self.timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIMEOUT)));
        ready!(timer.as_mut().poll(task));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteTimeout<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(task, buffer)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteTimeout<S> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(task, bytes);
        self.limit(task, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(task, parts);
        self.limit(task, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(task);
        self.limit(task, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(task);
        self.limit(task, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncWriteExt;

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_to_a_client_that_does_not_read_times_out() {
        let (near, far) = tokio::io::duplex(4);
        let mut near = WriteTimeout::new(near);
        near.write_all(b"four").await.unwrap();
        let stuck = near.write_all(b"more").await.unwrap_err();
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        drop(far);
    }
}
