//! A minimal WebSocket client.

#![allow(dead_code, reason = "each test file uses its part of this")]

use std::net::SocketAddr;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub(crate) struct Socket {
    stream: TcpStream,
}

#[derive(Debug, PartialEq)]
pub(crate) enum Frame {
    Json(Value),
    Ping,
    /// With its code.
    Close(u16),
    /// The connection is over.
    End,
}

pub(crate) const TEXT: u8 = 1;

impl Socket {
    /// Opens a connection, or returns the status of the refusal.
    pub(crate) async fn open(
        address: SocketAddr,
        path: &str,
        headers: &[(&str, &str)],
    ) -> Result<Socket, (u16, String)> {
        let mut stream = TcpStream::connect(address).await.unwrap();
        let mut head = format!(
            "GET {path} HTTP/1.1\r\nupgrade: websocket\r\nconnection: Upgrade\r\nsec-websocket-version: 13\r\n\
             sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
        );
        if !headers.iter().any(|(name, _)| *name == "host") {
            head.push_str(&format!("host: {address}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        stream.write_all(format!("{head}\r\n").as_bytes()).await.unwrap();
        let mut answer = Vec::new();
        while !answer.ends_with(b"\r\n\r\n") {
            answer.push(stream.read_u8().await.unwrap());
        }
        let answer = String::from_utf8(answer).unwrap();
        let status = answer.split(' ').nth(1).unwrap().parse().unwrap();
        if status != 101 {
            return Err((status, answer));
        }
        // The answer to the key above, from the example in the protocol.
        assert!(answer.to_ascii_lowercase().contains("sec-websocket-accept: s3pplmbitxaq9kygzzhzrbk+xoo="));
        Ok(Socket { stream })
    }

    pub(crate) async fn next(&mut self) -> Frame {
        self.read().await.unwrap_or(Frame::End)
    }

    /// The next JSON message.
    pub(crate) async fn json(&mut self) -> Value {
        loop {
            match self.next().await {
                Frame::Json(value) => return value,
                Frame::Ping => {}
                other => panic!("{other:?}"),
            }
        }
    }

    async fn read(&mut self) -> std::io::Result<Frame> {
        let kind = self.stream.read_u8().await?;
        assert_eq!(kind & 0xf0, 0x80, "whole messages");
        let length = match self.stream.read_u8().await? {
            126 => u64::from(self.stream.read_u16().await?),
            127 => self.stream.read_u64().await?,
            short => u64::from(short),
        };
        let mut payload = vec![0; usize::try_from(length).unwrap()];
        self.stream.read_exact(&mut payload).await?;
        Ok(match kind & 0x0f {
            1 => Frame::Json(serde_json::from_slice(&payload).unwrap()),
            8 => Frame::Close(u16::from_be_bytes([payload[0], payload[1]])),
            9 => Frame::Ping,
            other => panic!("a frame of kind {other}"),
        })
    }

    /// Masked, as everything from a client must be.
    pub(crate) async fn send(&mut self, kind: u8, payload: &[u8]) {
        let mut frame = vec![0x80 | kind, 0x80 | 127];
        frame.extend(u64::try_from(payload.len()).unwrap().to_be_bytes());
        frame.extend([0; 4]);
        frame.extend(payload);
        // The server may have disconnected in the middle of a message that is too long.
        let _ = self.stream.write_all(&frame).await;
    }
}
