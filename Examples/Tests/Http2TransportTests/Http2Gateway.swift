import ChildProcesses
import Foundation
import Nautilus
import ScriptedSockets

/// A server that speaks HTTP/2 over TLS, by the Python package `h2`, and passes each exchange on to a server that speaks
/// HTTP/1.1, so that the suites of every transport can be run over HTTP/2 with the servers that they bring along. What
/// goes over HTTP/1.1 even so, such as streams, is passed on byte by byte. It lives as long as the test process.
struct Http2Gateway: Sendable {
    /// The field that names the port of the server that a request is for.
    static let field = HttpHeader.Name("X-Gateway-Port")
    /// The field of an answer over HTTP/2.
    static let versionField = HttpHeader.Name("X-Gateway-Version")
    /// The number of exchanges over HTTP/2 that a server may have at once.
    private static let streams = 10

    let port: Int
    let certificate: Data

    static let shared = Task { try await start() }

    /// The Python that has the package; nil if there is none.
    static let python: URL? =
        [ProcessInfo.processInfo.environment["NAUTILUS_PYTHON"] ?? "", "/usr/bin/python3", "/usr/local/bin/python3"]
        .first { FileManager.default.isExecutableFile(atPath: $0) }
        .map { URL(fileURLWithPath: $0) }

    private static func start() async throws -> Http2Gateway {
        guard let python else { throw CocoaError(.fileNoSuchFile) }
        var gateway: Http2Gateway?
        try await UntrustedTlsServer.run { identity in
            let file = FileManager.default.temporaryDirectory.appendingPathComponent(
                "nautilus-\(UUID().uuidString).pem"
            )
            defer { try? FileManager.default.removeItem(at: file) }
            try (identity.certificate + identity.key).write(to: file)
            // Its input stays open for as long as this process lives, and it ends with it.
            let process = try ChildProcess(python, ["-c", script, file.path, "\(streams)"])
            guard let port = await process.lines.first(where: { _ in true }).flatMap({ Int($0) }) else {
                throw CocoaError(.fileReadCorruptFile)
            }
            gateway = Http2Gateway(port: port, certificate: identity.certificate, process: process)
        }
        guard let gateway else { throw CancellationError() }
        return gateway
    }

    private let process: ChildProcess

    private init(port: Int, certificate: Data, process: ChildProcess) {
        (self.port, self.certificate, self.process) = (port, certificate, process)
    }

    private static let script = #"""
        import asyncio, http.client, socket, ssl, struct, sys, threading
        import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings
        from concurrent.futures import ThreadPoolExecutor
        Codes, pool = h2.errors.ErrorCodes, ThreadPoolExecutor(64)

        # What the server answers: status, fields, body, and whether the body is whole. None if there is no answer.
        def exchange(link, fields, body):
            try:
                link.connect()
            except OSError:
                return Codes.REFUSED_STREAM
            try:
                link.putrequest(fields[0][1], dict(fields)[":path"], skip_host=True, skip_accept_encoding=True)
                link.putheader("host", dict(fields)[":authority"])
                for name, value in fields:
                    if not name.startswith(":") and name != "x-gateway-port":
                        link.putheader(name, value)
                link.endheaders(body or None)
                answer = link.getresponse()
                # A coding that is not undone here has no place in HTTP/2: the body breaks off.
                if answer.getheader("transfer-encoding", "chunked").lower() != "chunked":
                    return answer.status, answer.getheaders(), b"", False
                try:
                    return answer.status, answer.getheaders(), answer.read(), True
                except http.client.IncompleteRead as error:
                    return answer.status, answer.getheaders(), error.partial, False
            except (OSError, http.client.HTTPException):
                return Codes.INTERNAL_ERROR
            finally:
                link.close()

        class Connection(asyncio.Protocol):
            def connection_made(self, transport):
                self.transport, self.requests, self.bodies, self.links, self.text, self.peer = transport, {}, {}, {}, b"", None
                self.outbox = {}
                self.h2 = None
                if transport.get_extra_info("ssl_object").selected_alpn_protocol() != "h2":
                    return
                self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="latin-1",
                    validate_outbound_headers=False))
                Names = h2.settings.SettingCodes
                self.h2.local_settings = h2.settings.Settings(client=False, initial_values={
                    Names.MAX_CONCURRENT_STREAMS: int(sys.argv[2]), Names.MAX_HEADER_LIST_SIZE: 65536})
                self.h2.initiate_connection()
                self.flush()

            def flush(self):
                self.transport.write(self.h2.data_to_send())

            def connection_lost(self, error):
                for link in self.links.values():
                    end(link)
                if self.peer:
                    self.peer.close()

            def data_received(self, data):
                if not self.h2:
                    return self.pass_on(data)
                for event in self.h2.receive_data(data):
                    id = getattr(event, "stream_id", 0)
                    if isinstance(event, h2.events.RequestReceived):
                        self.requests[id], self.bodies[id] = event.headers, b""
                    elif isinstance(event, h2.events.DataReceived):
                        self.bodies[id] += event.data
                        self.h2.acknowledge_received_data(event.flow_controlled_length, id)
                    elif isinstance(event, h2.events.StreamEnded):
                        asyncio.ensure_future(self.act(id))
                    elif isinstance(event, h2.events.StreamReset):
                        self.outbox.pop(id, None)
                        if id in self.links:
                            end(self.links[id])
                self.flush()
                self.pump()

            async def act(self, id):
                fields, body = self.requests.pop(id), self.bodies.pop(id)
                link = http.client.HTTPConnection("127.0.0.1", int(dict(fields)["x-gateway-port"]))
                self.links[id] = link
                answer = await asyncio.get_running_loop().run_in_executor(pool, exchange, link, fields, body)
                self.links.pop(id, None)
                try:
                    if isinstance(answer, Codes):
                        self.h2.reset_stream(id, answer)
                        return self.flush()
                    status, given, body, isWhole = answer
                    drop = ("connection", "transfer-encoding", "keep-alive")
                    head = [(":status", str(status)), ("x-gateway-version", "2")] + [(n.lower(), v) for n, v in given if n.lower() not in drop]
                    self.h2.send_headers(id, head, end_stream=isWhole and not body)
                    if body or not isWhole:
                        self.outbox[id] = [body, isWhole]
                    self.pump()
                except h2.exceptions.ProtocolError:
                    # It has been cancelled.
                    pass

            # Sends what the windows let through.
            def pump(self):
                for id in list(self.outbox):
                    try:
                        body, isWhole = self.outbox[id]
                        while body and (size := min(self.h2.local_flow_control_window(id), self.h2.max_outbound_frame_size)) > 0:
                            self.h2.send_data(id, body[:size], end_stream=isWhole and size >= len(body))
                            body = body[size:]
                        self.outbox[id][0] = body
                        if not body:
                            del self.outbox[id]
                            if not isWhole:
                                self.h2.reset_stream(id, Codes.INTERNAL_ERROR)
                    except h2.exceptions.ProtocolError:
                        self.outbox.pop(id, None)
                self.flush()

            # HTTP/1.1, once it is known for whom.
            def pass_on(self, data):
                self.text += data
                if self.peer is None and b"\r\n\r\n" in self.text:
                    head = self.text.split(b"\r\n\r\n")[0].decode("latin-1").lower()
                    port = int(head.split("x-gateway-port: ")[1].split("\r\n")[0])
                    self.peer = False
                    asyncio.ensure_future(self.join(port))
                elif self.peer:
                    self.peer.write(data)
                    self.text = b""

            async def join(self, port):
                try:
                    reader, writer = await asyncio.open_connection("127.0.0.1", port)
                except OSError:
                    return self.transport.abort()
                writer.write(self.text)
                self.text, self.peer = b"", writer
                try:
                    while data := await reader.read(65536):
                        self.transport.write(data)
                except OSError:
                    return self.transport.abort()
                self.transport.close()

        def end(link):
            try:
                link.sock.shutdown(socket.SHUT_RDWR)
            except (AttributeError, OSError):
                pass

        async def main():
            secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secure.load_cert_chain(sys.argv[1])
            secure.set_alpn_protocols(["h2", "http/1.1"])
            server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, ssl=secure)
            print(server.sockets[0].getsockname()[1], flush=True)
            await asyncio.get_running_loop().run_in_executor(None, sys.stdin.read)
            import os
            os._exit(0)

        asyncio.run(main())
        """#
}
