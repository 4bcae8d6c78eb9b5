// Prices over HTTP: most requests ask for one, a few for the whole list, which is a file. Slow reads the file with readFileSync,
// so that all other requests wait meanwhile; fast streams it.
'use strict';
const fs = require('fs');
const http = require('http');
const { createHash } = require('crypto');
const frame = require('../common/frame.js');

const [variant, port, file] = frame.words(3, 'slow|fast PORT FILE');

function answer(response, text) {
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': Buffer.byteLength(text) });
    response.end(text);
}

// What the client keeps the list by: its size and what it begins with.
const tag = (size, start) => JSON.stringify({ size, tag: createHash('sha1').update(start).digest('hex') });

function list(response) {
    if (variant === 'slow') {
        const prices = fs.readFileSync(file);
        answer(response, tag(prices.length, prices.subarray(0, 65536)));
        return;
    }
    let size = 0;
    let start = null;
    fs.createReadStream(file, { highWaterMark: 1 << 20 })
        .on('data', (part) => {
            start = start ?? part.subarray(0, 65536);
            size += part.length;
        })
        .on('end', () => answer(response, tag(size, start)));
}

http.createServer((request, response) => {
    if (request.url === '/list') list(response);
    else answer(response, JSON.stringify({ article: request.url, price: request.url.length * 7919 % 9973 / 100, stock: [1, 4, 9] }));
}).listen(Number(port), '127.0.0.1');
