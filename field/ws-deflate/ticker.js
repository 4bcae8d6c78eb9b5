// Answers each message by the prices of 60 articles.
const { WebSocketServer } = require("ws");

const articles = [];
for (let i = 0; i < 60; i++) {
    articles.push({ id: i, name: `article ${(i * 7919) % 97}`, cents: (i * 104729) % 9973 });
}

const server = new WebSocketServer({
    host: "127.0.0.1",
    port: Number(process.env.PORT),
    perMessageDeflate: process.env.DEFLATE === "true",
});
let number = 0;
server.on("connection", (socket) => {
    socket.on("message", () => socket.send(JSON.stringify({ number: number++, articles })));
});
