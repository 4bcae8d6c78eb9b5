// A server that answers every request with some words, for scripts/bench/turns.sh: Node.js. Argument: port.
const [port] = process.argv.slice(2);
if (!/^[0-9]+$/.test(port)) {
    console.error('usage: node hello.js PORT');
    process.exit(port === '--help' || port === '-h' ? 0 : 2);
}
require('node:http')
    .createServer((_, answer) => answer.end('Hello, and well met.\n'))
    .listen(Number(port), '127.0.0.1');
