const http = require("http");
const crypto = require("crypto");
const fs = require("fs");

http.createServer((request, response) => {
    if (request.url === "/login") {
        crypto.scrypt("secret", "salt", 32, { N: 4096 }, () => response.end("welcome\n"));
    } else {
        fs.readFile(process.argv[3], (error, data) => response.end(data));
    }
}).listen(Number(process.argv[2]), "127.0.0.1");
