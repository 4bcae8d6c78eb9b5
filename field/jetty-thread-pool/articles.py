"""An application that waits 15 ms for its data in each request."""
import asyncio
import sys

ANSWER = b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\ndone\n"


async def serve(reader, writer):
    try:
        while True:
            await reader.readuntil(b"\r\n\r\n")
            await asyncio.sleep(0.015)
            writer.write(ANSWER)
    except (asyncio.IncompleteReadError, ConnectionError):
        writer.close()


async def main():
    server = await asyncio.start_server(serve, "127.0.0.1", int(sys.argv[1]))
    await server.serve_forever()


asyncio.run(main())
