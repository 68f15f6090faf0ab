extension Http2Server {
    /// The server. It prints its port and then what happens, a word a line.
    static var script: String { courses + rest }

    private static let rest = #"""
        import asyncio, functools, socket, ssl, struct, sys
        import h2.config, h2.connection, h2.errors, h2.events, h2.exceptions, h2.settings

        # Its options: http1 for no HTTP/2, streams=N for so many at once on one connection, strict=N for a client that must
        # know that, window=N for so many bytes of a body before more are let through, stalled for a first connection that is
        # not answered.
        options = dict(option.partition("=")[::2] for option in sys.argv[2:])
        requests, connections, held, seen = [], 0, [], set()
        most, stalled = 0, None
        Codes = h2.errors.ErrorCodes

        class Connection(Courses, asyncio.Protocol):
            def connection_made(self, transport):
                self.transport, self.isCounted, self.text, self.waiting, self.last = transport, False, b"", {}, None
                alpn = transport.get_extra_info("ssl_object").selected_alpn_protocol()
                self.h2 = None
                if alpn != "h2":
                    return
                self.count()
                configuration = h2.config.H2Configuration(
                    client_side=False, header_encoding="utf-8", validate_outbound_headers=False,
                    normalize_outbound_headers=False,
                )
                self.h2 = h2.connection.H2Connection(configuration)
                self.h2_paths, self.bodies, self.top = {}, collections.defaultdict(bytes), 0
                Names = h2.settings.SettingCodes
                values = {Names.MAX_CONCURRENT_STREAMS: int(options.get("strict", 100)), Names.MAX_HEADER_LIST_SIZE: 65536}
                if "window" in options:
                    values[Names.INITIAL_WINDOW_SIZE] = int(options["window"])
                self.h2.local_settings = h2.settings.Settings(client=False, initial_values=values)
                self.h2.initiate_connection()
                self.flush()
                if "streams" in options:
                    # Said once more by hand, so that the package does not end the connection of a client that does not know yet.
                    self.raw(4, 0, 0, struct.pack(">HI", 3, int(options["streams"])))

            def count(self):
                global connections
                if not self.isCounted:
                    self.isCounted, connections = True, connections + 1
                    self.number = connections
                    print("connected", flush=True)

            def flush(self):
                self.transport.write(self.h2.data_to_send())

            def connection_lost(self, error):
                print("lost", flush=True)

            # HTTP/1.1, for requests without a body or with a length.
            def data_received(self, data):
                if self.h2:
                    return self.receive(data)
                self.text += data
                while b"\r\n\r\n" in self.text:
                    head, rest = self.text.split(b"\r\n\r\n", 1)
                    lines = head.decode().split("\r\n")
                    fields = dict(line.lower().split(": ", 1) for line in lines[1:])
                    if len(rest) < int(fields.get("content-length", 0)):
                        return
                    self.text = rest[int(fields.get("content-length", 0)):]
                    method, path, _ = lines[0].split(" ")
                    body = report() if path == "/report" else "http/1.1"
                    if path == "/open":
                        open_gate()
                    if path not in ("/report", "/open"):
                        self.count()
                        requests.append(f"{method} {path} http/1.1")
                    answer = f"HTTP/1.1 200 OK\r\nContent-Length: {len(body)}\r\n\r\n{body}"
                    self.transport.write(answer.encode())

            def receive(self, data):
                for event in self.h2.receive_data(data):
                    if self.last is not None and getattr(event, "stream_id", 0) > self.last:
                        continue
                    if isinstance(event, h2.events.RequestReceived):
                        fields = dict(event.headers)
                        requests.append(f"{fields[':method']} {fields[':path']}")
                        self.waiting[event.stream_id] = fields
                        self.h2_paths[event.stream_id] = fields[":path"]
                        if fields[":path"].startswith("/early/"):
                            self.early(event.stream_id, *fields[":path"].split("/")[2:4])
                    elif isinstance(event, h2.events.DataReceived):
                        self.take(event)
                    elif isinstance(event, h2.events.StreamEnded):
                        fields = self.waiting.pop(event.stream_id)
                        if fields[":path"].startswith(("/early/", "/late/")):
                            continue
                        if "streams" in options and self.h2.open_inbound_streams > int(options["streams"]):
                            self.h2.reset_stream(event.stream_id, Codes.REFUSED_STREAM)
                            continue
                        try:
                            self.act(event.stream_id, fields[":path"], fields)
                        except h2.exceptions.ProtocolError:
                            # It has been cancelled.
                            pass
                    elif isinstance(event, h2.events.ConnectionTerminated) and event.error_code:
                        self.transport.close()
                    elif isinstance(event, h2.events.StreamReset):
                        print("reset", flush=True)
                        self.bodies.pop(event.stream_id, None)
                self.flush()

            def answer(self, id, body=b"", *more, status="200", length=True, ends=True):
                fields = [(":status", status), *more]
                if length:
                    fields.append(("content-length", str(len(body))))
                self.h2.send_headers(id, fields, end_stream=ends and not body)
                if body:
                    self.send(id, body, ends)
                self.flush()

            def send(self, id, body, ends=True):
                size = min(self.h2.local_flow_control_window(id), self.h2.max_outbound_frame_size)
                if len(body) <= size:
                    return self.h2.send_data(id, body, end_stream=ends)
                if size > 0:
                    self.h2.send_data(id, body[:size])
                    self.flush()
                asyncio.get_running_loop().call_later(0 if size > 0 else 0.001, self.go_on, id, body[size:], ends)

            def go_on(self, id, body, ends):
                if not self.transport.is_closing():
                    try:
                        self.send(id, body, ends)
                        self.flush()
                    except h2.exceptions.ProtocolError:
                        pass

            def end(self, id):
                try:
                    self.h2.end_stream(id)
                    self.flush()
                except h2.exceptions.ProtocolError:
                    # It has been cancelled.
                    pass
                if self.last == id:
                    asyncio.get_running_loop().call_later(0.01, self.transport.close)

            def raw(self, kind, flags, id, payload=b""):
                self.flush()
                head = struct.pack(">I", len(payload))[1:] + bytes([kind, flags]) + struct.pack(">I", id)
                self.transport.write(head + payload)

            def goaway(self, last):
                self.raw(7, 0, 0, struct.pack(">II", last, 0))

            def act(self, id, path, fields):
                global most
                name, _, argument = path[1:].partition("/")
                isFirst = path not in seen
                seen.add(path)
                own = f"{self.number}".encode()
                if name == "hold":
                    held.append((self, id))
                    most = max(most, len(held))
                    print("held", flush=True)
                    if len(held) == int(argument):
                        for connection, stream in held:
                            connection.answer(stream, f"{connection.number}".encode())
                        held.clear()
                elif name == "goaway":
                    # Answers, and gives the connection up without closing it.
                    self.answer(id, own)
                    self.goaway(id)
                    print("goaway", flush=True)
                elif name == "bye":
                    self.answer(id, own)
                    self.transport.close()
                elif name == "once":
                    # What is done to the first of this path; further ones are answered.
                    if not isFirst:
                        return self.answer(id, own + b" %d" % len(self.bodies[id]) if "?sum" in path else own)
                    if argument.startswith("refused"):
                        self.h2.reset_stream(id, Codes.REFUSED_STREAM)
                    elif argument.startswith("above"):
                        # As it is done when a connection has carried enough: no stream from this one on is looked at.
                        self.goaway(max(0, id - 2))
                    elif argument.startswith("closed"):
                        self.goaway(max(0, id - 2))
                        self.transport.close()
                    elif argument.startswith("http1"):
                        self.h2.reset_stream(id, Codes.HTTP_1_1_REQUIRED)
                    elif argument.startswith("lost"):
                        self.transport.close()
                    elif argument.startswith("abort"):
                        self.abort()
                    print("done", flush=True)
                elif name == "sum":
                    self.sum(id, fields)
                elif name == "posts":
                    self.storm(id, path, random.random())
                elif name == "gate":
                    gated.append((self, id))
                    print("gate", flush=True)
                elif name == "settings":
                    self.h2.update_settings({3: int(argument)})
                    self.answer(id, own)
                elif name == "twice":
                    self.twice(id, isFirst)
                elif name == "hinted":
                    self.hinted(id, argument)
                elif name == "refused":
                    self.h2.reset_stream(id, Codes.REFUSED_STREAM)
                elif name == "reset":
                    self.h2.reset_stream(id, int(argument))
                elif name == "cut":
                    if argument == "reset":
                        self.answer(id, b"half", length=False, ends=False)
                        self.h2.reset_stream(id, Codes.INTERNAL_ERROR)
                    elif argument == "none":
                        self.answer(id, b"half", length=False, ends=False)
                        self.h2.reset_stream(id, Codes.NO_ERROR)
                    elif argument == "short":
                        self.answer(id, b"half", ("content-length", "8"), length=False, ends=False)
                        self.h2.reset_stream(id, Codes.NO_ERROR)
                    elif argument == "close":
                        self.answer(id, b"half", length=False, ends=False)
                        self.transport.close()
                    elif argument == "length":
                        self.answer(id, b"half", ("content-length", "8"), length=False)
                    elif argument == "header":
                        self.answer(id, b"", ("content-length", "8"), length=False)
                    elif argument == "head":
                        self.raw(1, 0, id, b"\x88")
                        self.transport.close()
                    elif argument == "over":
                        self.answer(id, b"too much", ("content-length", "4"), length=False)
                elif name == "trailers":
                    self.answer(id, b"body", length=False, ends=False)
                    self.h2.send_headers(id, [("digest", "one"), ("x-row", "1"), ("x-row", "2")], end_stream=True)
                elif name == "interim":
                    for _ in range(int(argument)):
                        self.h2.send_headers(id, [(":status", "103"), ("link", "</style.css>")])
                        self.flush()
                    self.answer(id, b"ok")
                elif name == "header":
                    count = int(argument)
                    self.answer(id, b"ok", *[(f"x-{number}", "x" * 8000) for number in range(count // 8000)])
                elif name == "echo":
                    text = f"{fields[':method']} {fields.get('x-probe', '')}"
                    self.answer(id, text.encode(), ("x-multi", "one"), ("x-multi", "two"), status=argument or "200")
                elif name == "large":
                    self.answer(id, b"x" * int(argument), length=False)
                elif name == "slow":
                    self.answer(id, b"x" * 1000, length=False, ends=False)
                    print("slow", flush=True)
                elif name == "never":
                    print("never", flush=True)
                elif name == "storm":
                    # In pieces; now and then the connection is given up, with what is on its way, and closed when all is done.
                    self.answer(id, argument.encode() * 50, length=False, ends=False)
                    if int(argument) % 200 == 199 and self.last is None:
                        self.last = id
                        self.goaway(id)
                    asyncio.get_running_loop().call_soon(self.end, id)
                elif name == "flood":
                    count = 20_000
                    if argument == "ping":
                        self.flush()
                        for number in range(count):
                            self.raw(6, 0, 0, struct.pack(">Q", number))
                    elif argument == "settings":
                        for number in range(count):
                            self.raw(4, 0, 0, struct.pack(">HI", 4, 65535))
                    elif argument == "data":
                        self.h2.send_headers(id, [(":status", "200")])
                        for number in range(count):
                            self.raw(0, 0, id)
                    elif argument == "continuation":
                        self.raw(1, 0, id, b"\x88")
                        for number in range(count):
                            self.raw(9, 0, id, b"\x00\x01a\x01b" * 100)
                    elif argument == "empty":
                        self.raw(1, 0, id, b"\x88")
                        for number in range(count):
                            self.raw(9, 0, id)
                    elif argument == "push":
                        for number in range(1, count):
                            self.raw(5, 4, id, struct.pack(">I", number * 2) + b"\x88")
                    elif argument == "garbage":
                        self.flush()
                        self.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok" * 100)
                    elif argument == "window":
                        self.raw(8, 0, 0, struct.pack(">I", 2 ** 31 - 1))
                        self.raw(8, 0, 0, struct.pack(">I", 2 ** 31 - 1))
                    elif argument == "priority":
                        for number in range(count):
                            self.raw(2, 0, id, struct.pack(">IB", 0, 1))
                    elif argument == "unknown":
                        for number in range(count):
                            self.raw(99, 0, id, b"?")
                    if argument in ("ping", "settings", "priority", "unknown"):
                        self.answer(id, b"ok")
                    if argument == "data":
                        self.h2.end_stream(id)
                elif name == "invalid":
                    # By HPACK (RFC 7541), literally: :status 200, and a field that must not be.
                    bad = {
                        "upper": b"\x00\x01A\x01b", "line": b"\x00\x01a\x03b\r\n", "zero": b"\x00\x01a\x01\x00",
                        "status": b"\x48\x03abc", "codec": b"\xff\xff\xff\xff\xff\xff\xff", "late": b"\x00\x01a\x01b\x88",
                        "connection": b"\x00\x0aconnection\x05close", "encoding": b"\x00\x11transfer-encoding\x07chunked",
                        "none": b"",
                    }[argument]
                    first = b"" if argument in ("late", "none") else b"\x88"
                    self.raw(1, 5, id, first + bad)
                elif name == "switch":
                    self.raw(1, 5, id, b"\x48\x03101")
                else:
                    self.answer(id, own)

        def report():
            worst = max(executed.values(), default=0)
            return f"{connections} {most} {worst} {sum(executed.values())}\n" + "\n".join(requests)

        async def forward(port, reader, writer):
            global stalled
            if stalled is None:
                stalled = (reader, writer)
                return print("stalled", flush=True)
            other_reader, other_writer = await asyncio.open_connection("127.0.0.1", port)
            async def copy(source, target):
                while data := await source.read(65536):
                    target.write(data)
                target.close()
            await asyncio.gather(copy(reader, other_writer), copy(other_reader, writer))

        async def main():
            secure = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            secure.load_cert_chain(sys.argv[1])
            secure.set_alpn_protocols(["http/1.1"] if "http1" in options else ["h2", "http/1.1"])
            server = await asyncio.get_running_loop().create_server(Connection, "127.0.0.1", 0, ssl=secure)
            port = server.sockets[0].getsockname()[1]
            if "stalled" in options:
                front = await asyncio.start_server(functools.partial(forward, port), "127.0.0.1", 0)
                port = front.sockets[0].getsockname()[1]
            print(port, flush=True)
            # Should the test process die, this one does not live forever.
            await asyncio.sleep(300)

        asyncio.run(main())
        """#
}
