// A server that answers every request with some words, for scripts/bench/turns.sh: Node.js. Argument: port.
require('node:http')
    .createServer((_, answer) => answer.end('Hello, and well met.\n'))
    .listen(Number(process.argv[2]), '127.0.0.1');
