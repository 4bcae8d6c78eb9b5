const http = require("http");
const zlib = require("zlib");

const rows = [];
for (let i = 0; i < 25000; i++) {
    rows.push(`${i};article ${(i * 7919) % 30011};${(i * 104729) % 9973}`);
}
const table = Buffer.from(rows.join("\n"));

function send(response, body) {
    response.writeHead(200, { "Content-Length": body.length });
    response.end(body);
}

http.createServer((request, response) => {
    if (request.url !== "/export") {
        send(response, "one article\n");
    } else if (process.env.GZIP === "sync") {
        send(response, zlib.gzipSync(table));
    } else {
        zlib.gzip(table, (error, body) => send(response, body));
    }
}).listen(Number(process.env.PORT), "127.0.0.1");
