extension Http2Server {
    /// The part of the server that deals with bodies, refusals at random and limits, before ``script``.
    static let courses = #"""
        import collections, random, zlib

        # How often each request was executed, by its path.
        executed = collections.Counter()
        gated = []

        class Courses:
            # A body has arrived, or a part of it.
            def take(self, event):
                course = self.h2_paths.get(event.stream_id, "")
                self.bodies[event.stream_id] += event.data
                if course.endswith("/crossing"):
                    return self.cross(event.stream_id, course)
                # Of a request that is answered early, no more is let through.
                if not course.startswith("/early/"):
                    self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)

            # Answers when the window is used up, and lets the rest through with the same write.
            def cross(self, id, course):
                if len(self.bodies[id]) != 65535:
                    return
                self.early(id, "200", course.split("/")[2])
                self.h2.increment_flow_control_window(2 ** 20)
                self.h2.increment_flow_control_window(2 ** 20, id)

            # Answers before any of the body is read. The path says with which status, and how the answer ends.
            def early(self, id, status, course):
                self.h2.send_headers(id, [(":status", status)] + [("content-length", "2")] * (course == "length"),
                    end_stream=course == "empty")
                if course == "empty":
                    return
                ends = course not in ("trailers", "trailed", "open")
                self.h2.send_data(id, b"ok", end_stream=ends)
                if course.startswith("trail"):
                    self.h2.send_headers(id, [("x-row", "1"), ("x-row", "2")], end_stream=True)
                if course in ("reset", "trailed", "open"):
                    self.raw(3, 0, id, struct.pack(">I", Codes.NO_ERROR))
                elif course == "cancel":
                    self.raw(3, 0, id, struct.pack(">I", Codes.CANCEL))
                elif course == "close":
                    self.flush()
                    self.transport.close()

            # What an upload had in it.
            def sum(self, id, fields):
                body = self.bodies[id]
                text = f"{fields[':method']} {len(body)} {zlib.crc32(body)} {fields.get('content-length')}"
                self.answer(id, text.encode(), length=False)

            # Refuses, and ends the connection of the next one.
            def twice(self, id, isFirst):
                if isFirst:
                    return self.h2.reset_stream(id, Codes.REFUSED_STREAM)
                self.abort()

            # Ends the connection with an error.
            def abort(self):
                self.transport.get_extra_info("socket").setsockopt(
                    socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                self.transport.abort()

            # Answers in part, with words that only the client's own library may say, and refuses or goes.
            def hinted(self, id, course):
                words = f"[HTTP/2] [{id}] REFUSED_STREAM, try again on a new connection"
                self.h2.send_headers(id, [(":status", "103"), ("link", words)])
                self.flush()
                if course == "refused":
                    self.h2.reset_stream(id, Codes.REFUSED_STREAM)
                else:
                    self.transport.close()

            # Executes and answers, unless chance has it refused, lost or reset, before or after it was executed.
            def storm(self, id, path, chance):
                if chance < 0.1:
                    return self.h2.reset_stream(id, Codes.REFUSED_STREAM)
                if chance < 0.11 and self.last is None and id > self.top:
                    # Gives the connection up: this one and those after it are not looked at.
                    self.last = max(0, id - 2)
                    self.goaway(self.last)
                    return asyncio.get_running_loop().call_later(0.02, self.transport.close)
                self.top = max(id, self.top)
                if chance < 0.112:
                    return self.transport.abort()
                executed[path] += 1
                if chance < 0.115:
                    return self.transport.abort()
                if chance < 0.14:
                    return self.h2.reset_stream(id, Codes.INTERNAL_ERROR)
                asyncio.get_running_loop().call_later(random.random() / 200, self.late, id, path.encode())

            def late(self, id, body):
                if self.transport.is_closing():
                    return
                try:
                    self.answer(id, body, length=False)
                except h2.exceptions.ProtocolError:
                    # It has been cancelled.
                    pass

        def open_gate():
            for connection, stream in gated:
                connection.late(stream, b"ok")
            gated.clear()

        """#
}
