// Costs of shipping over HTTP: a carrier is asked, who can answer so many at once. Slow waits a little less than the carrier
// takes under this load, and asks again; the carrier answers what nobody waits for any more, and takes longer for all.
'use strict';
const http = require('http');
const frame = require('../common/frame.js');

const [variant, port, carrier] = frame.words(3, 'slow|fast PORT PORT-OF-CARRIER');
const PATIENCE = variant === 'slow' ? 25 : 2000; // ms
const TRIES = 4;
const agent = new http.Agent({ keepAlive: true, maxSockets: Infinity });

// One question to the carrier; fails when the patience is over. The last try has all the time.
function ask(path, left) {
    return new Promise((resolve, reject) => {
        const question = http.get({ host: '127.0.0.1', port: carrier, path, agent }, (answer) => {
            let size = 0;
            answer.on('data', (part) => { size += part.length; });
            answer.on('end', () => { clearTimeout(timer); resolve(size); });
            answer.on('error', reject);
        });
        const timer = left > 1 ? setTimeout(() => question.destroy(new Error('no answer in time')), PATIENCE) : undefined;
        question.on('error', (error) => { clearTimeout(timer); reject(error); });
    });
}

async function cost(path) {
    for (let left = TRIES; ; left--) {
        try {
            return await ask(path, left);
        } catch (error) {
            if (left === 1) throw error;
        }
    }
}

http.createServer(async (request, response) => {
    try {
        const text = JSON.stringify({ parcel: request.url, cost: 490 + await cost(request.url) % 100 });
        response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': text.length });
        response.end(text);
    } catch (error) {
        response.writeHead(502, { 'Content-Length': 0 });
        response.end();
    }
}).listen(Number(port), '127.0.0.1');
