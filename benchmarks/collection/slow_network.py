"""A slow network in front of a server, packet by packet: round trips take time, bytes wait their turn.

Browsers' own throttling delays whole requests instead, and takes a longer time for each to make up for the
round trips (connection, slow start) that it leaves out.
"""

import asyncio
import threading
from dataclasses import dataclass

CHUNK = 1_400  # bytes, about a packet


@dataclass(frozen=True)
class Line:
    """What a network can do: round trip in s, bytes per s down and up."""

    round_trip_s: float
    down: float
    up: float


class Direction:
    """One way of the line, shared by all connections: packets leave one after the other, arrive later."""

    def __init__(self, bytes_per_s: float, delay_s: float) -> None:
        self.bytes_per_s, self.delay_s, self.free_at = bytes_per_s, delay_s, 0.0

    def arrival(self, n_bytes: int) -> float:
        """When so many bytes handed over now arrive."""
        now = asyncio.get_running_loop().time()
        self.free_at = max(now, self.free_at) + n_bytes / self.bytes_per_s
        return self.free_at + self.delay_s


class SlowNetwork(threading.Thread):
    """Listens on a port of its own and passes everything on to the server's, slowly."""

    def __init__(self, server_port: int, line: Line) -> None:
        super().__init__(daemon=True)
        self.server_port, self.line = server_port, line
        self.port = 0
        self.is_listening = threading.Event()

    def run(self) -> None:
        """Serve until the process ends."""
        asyncio.run(self._serve())

    async def _serve(self) -> None:
        self.down = Direction(self.line.down, self.line.round_trip_s / 2)
        self.up = Direction(self.line.up, self.line.round_trip_s / 2)
        server = await asyncio.start_server(self._connected, "127.0.0.1", 0)
        self.port = server.sockets[0].getsockname()[1]
        self.is_listening.set()
        await server.serve_forever()

    async def _connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(self.line.round_trip_s)  # the handshake
        far_reader, far_writer = await asyncio.open_connection("127.0.0.1", self.server_port)
        await asyncio.gather(
            self._pass_on(reader, far_writer, self.up), self._pass_on(far_reader, writer, self.down)
        )

    async def _pass_on(
        self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, way: Direction
    ) -> None:
        packets: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def deliver() -> None:
            while True:
                due, packet = await packets.get()
                await asyncio.sleep(max(0.0, due - asyncio.get_running_loop().time()))
                if not packet:
                    return writer.close()
                writer.write(packet)

        delivery = asyncio.create_task(deliver())
        try:
            while packet := await reader.read(CHUNK):
                packets.put_nowait((way.arrival(len(packet)), packet))
        except ConnectionError:
            pass
        packets.put_nowait((way.arrival(0), b""))
        await delivery
