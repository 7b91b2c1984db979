"""Serves an MCP server over stdio by streamable HTTP, for the conformance suite: http_bridge.py COMMAND [ARG...]

Prints its URL. Each session has a process of the server; requests without a handshake share one.
"""

import itertools
import json
import queue
import subprocess
import sys
import threading
import uuid
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

COMMAND = sys.argv[1:]
VERSION = "io.modelcontextprotocol/protocolVersion"
numbers = itertools.count(1)


class Child:
    def __init__(self):
        self.process = subprocess.Popen(COMMAND, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        self.lock = threading.Lock()
        # Of each request in flight, the queue of what its stream gets, and the client's id.
        self.streams = {}
        self.own_stream = queue.Queue()
        threading.Thread(target=self.read, daemon=True).start()

    def write(self, message):
        with self.lock:
            self.process.stdin.write(json.dumps(message).encode() + b"\n")
            self.process.stdin.flush()

    def request(self, message, key):
        events = queue.Queue()
        self.streams[key] = (events, message["id"])
        self.write({**message, "id": key})
        return events

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" not in message and message.get("id") in self.streams:
                events, message["id"] = self.streams.pop(message["id"])
                events.put(message)
                events.put(None)
            else:
                # What a server sends on its own belongs to the latest request, if there is one.
                streams = list(self.streams.values())
                (streams[-1][0] if streams else self.own_stream).put(message)
        for events, _ in self.streams.values():
            events.put(None)
        self.own_stream.put(None)

    def end(self):
        self.process.stdin.close()
        self.process.terminate()


sessions = {}
shared = None
shared_lock = threading.Lock()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def reply(self, status, body=b"", headers=()):
        self.send_response(status)
        for name, value in headers:
            self.send_header(name, value)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def stream(self, events, headers=()):
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream")
        self.send_header("Connection", "close")
        for name, value in headers:
            self.send_header(name, value)
        self.end_headers()
        self.close_connection = True
        try:
            while (message := events.get()) is not None:
                self.wfile.write(f"event: message\ndata: {json.dumps(message)}\n\n".encode())
                self.wfile.flush()
        except OSError:
            pass

    def session(self):
        name = self.headers.get("mcp-session-id")
        if name is None:
            self.reply(400, b"{}")
        elif name not in sessions:
            self.reply(404, b"{}")
        return sessions.get(name)

    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("content-length", 0)))
        try:
            message = json.loads(body)
            params = message.get("params") or {}
        except (ValueError, AttributeError):
            error = {"jsonrpc": "2.0", "id": None, "error": {"code": -32700, "message": "Parse error"}}
            return self.reply(400, json.dumps(error).encode(), [("Content-Type", "application/json")])
        headers = []
        if VERSION in (params.get("_meta") or {}):
            global shared
            with shared_lock:
                shared = shared or Child()
            child = shared
        elif message.get("method") == "initialize":
            child = Child()
            name = uuid.uuid4().hex
            sessions[name] = child
            headers = [("Mcp-Session-Id", name)]
        else:
            child = self.session()
            if child is None:
                return None
        if "method" in message and "id" in message:
            key = f"bridge-{next(numbers)}" if child is shared else message["id"]
            return self.stream(child.request(message, key), headers)
        child.write(message)
        return self.reply(202)

    def do_GET(self):
        child = self.session()
        if child is not None:
            self.stream(child.own_stream)

    def do_DELETE(self):
        child = self.session()
        if child is not None:
            del sessions[self.headers["mcp-session-id"]]
            child.end()
            self.reply(200)


class Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, *_):
        """Clients of the suite close connections as they like."""


server = Server(("127.0.0.1", 0), Handler)
print(f"http://127.0.0.1:{server.server_address[1]}/mcp", flush=True)
server.serve_forever()
