//! A connection's stream, with time limits that hyper lacks.
//!
//! hyper limits how long a connection may wait for a request, and bodies have limits of their own; neither limits a client
//! that sends its headers byte by byte, nor one that sends a request and never reads. Both would hold one of the places.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Sleep;

use crate::connections::{Connection, Phase};

/// How long a write may make no progress.
const WRITE_TIMEOUT: Duration = Duration::from_secs(30);

/// How long the headers of a request may take after its first byte.
const HEADER_TIMEOUT: Duration = Duration::from_secs(10);

pub(crate) struct ConnectionIo<S> {
    stream: S,
    connection: Connection,
    /// Runs while a write makes no progress.
    write_timer: Option<Pin<Box<Sleep>>>,
    /// Runs while the headers of a request are incomplete.
    header_timer: Option<Pin<Box<Sleep>>>,
}

impl<S> ConnectionIo<S> {
    pub(crate) fn new(stream: S, connection: Connection) -> ConnectionIo<S> {
        ConnectionIo { stream, connection, write_timer: None, header_timer: None }
    }

    /// Passes on the result of a write, or an error when it has made no progress for too long.
    fn limit<T>(&mut self, task: &mut Context<'_>, written: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if written.is_ready() {
            self.write_timer = None;
            return written;
        }
        let timer = self.write_timer.get_or_insert_with(|| Box::pin(tokio::time::sleep(WRITE_TIMEOUT)));
        ready!(timer.as_mut().poll(task));
        Poll::Ready(Err(io::ErrorKind::TimedOut.into()))
    }

    fn written(
        &mut self,
        task: &mut Context<'_>,
        written: Poll<io::Result<usize>>,
    ) -> Poll<io::Result<usize>> {
        if matches!(written, Poll::Ready(Ok(1..))) {
            self.connection.made_progress();
        }
        self.limit(task, written)
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for ConnectionIo<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(task, buffer);
        if self.connection.phase() != Phase::Waiting {
            self.header_timer = None;
            return read;
        }
        if read.is_pending() {
            self.connection.fell_silent();
        }
        if buffer.filled().len() > before && self.header_timer.is_none() {
            self.header_timer = Some(Box::pin(tokio::time::sleep(HEADER_TIMEOUT)));
        }
        if self.header_timer.as_mut().is_some_and(|timer| timer.as_mut().poll(task).is_ready()) {
            return Poll::Ready(Err(io::ErrorKind::TimedOut.into()));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for ConnectionIo<S> {
    fn poll_write(mut self: Pin<&mut Self>, task: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write(task, bytes);
        self.written(task, written)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        task: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let written = Pin::new(&mut self.stream).poll_write_vectored(task, parts);
        self.written(task, written)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let flushed = Pin::new(&mut self.stream).poll_flush(task);
        if matches!(flushed, Poll::Ready(Ok(()))) {
            self.connection.flushed();
        }
        self.limit(task, flushed)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, task: &mut Context<'_>) -> Poll<io::Result<()>> {
        let shut = Pin::new(&mut self.stream).poll_shutdown(task);
        self.limit(task, shut)
    }
}

#[cfg(test)]
mod tests {
    use tokio::io::{AsyncReadExt, AsyncWriteExt};

    use super::*;

    #[tokio::test(start_paused = true)]
    async fn a_write_to_a_client_that_does_not_read_times_out() {
        let (near, far) = tokio::io::duplex(4);
        let mut near = ConnectionIo::new(near, Connection::detached());
        near.write_all(b"four").await.unwrap();
        let stuck = near.write_all(b"more").await.unwrap_err();
        assert_eq!(stuck.kind(), io::ErrorKind::TimedOut);
        drop(far);
    }

    #[tokio::test(start_paused = true)]
    async fn headers_that_come_byte_by_byte_time_out_and_a_silent_connection_does_not() {
        let (near, mut far) = tokio::io::duplex(64);
        let mut near = ConnectionIo::new(near, Connection::detached());
        let mut byte = [0];
        let silence = tokio::time::timeout(10 * HEADER_TIMEOUT, near.read(&mut byte)).await;
        assert!(silence.is_err(), "hyper limits it");
        let trickle = tokio::spawn(async move {
            while far.write_all(b"x").await.is_ok() {
                tokio::time::sleep(HEADER_TIMEOUT / 4).await;
            }
        });
        let timed_out = async {
            while near.read(&mut byte).await? > 0 {}
            Ok::<_, io::Error>(())
        }
        .await;
        assert_eq!(timed_out.unwrap_err().kind(), io::ErrorKind::TimedOut);
        drop(near);
        trickle.await.unwrap();
    }
}
