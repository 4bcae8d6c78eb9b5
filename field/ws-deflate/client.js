// Sixteen clients that ask as soon as they were answered, for a given time.
const WebSocket = require("ws");

const end = Date.now() + Number(process.env.SECONDS_EACH) * 1000;
let done = 0;
let open = 16;
for (let i = 0; i < 16; i++) {
    const socket = new WebSocket(`ws://127.0.0.1:${process.env.PORT}`);
    socket.on("open", () => socket.send("prices"));
    socket.on("message", () => {
        done++;
        if (Date.now() < end) {
            socket.send("prices");
            return;
        }
        socket.close();
        if (--open === 0) {
            console.log("done", done);
            process.exit();
        }
    });
}
