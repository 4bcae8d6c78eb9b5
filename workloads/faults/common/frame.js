// What the Node programs share: the command line, operations again and again until the time is up, progress on stdout, truths.
'use strict';
const fs = require('fs');
const { performance } = require('perf_hooks');

let slow = false;
let seconds = 10;
let started = 0;
let stopped = false;
let done = 0;
let following = 0;
const EVERY = 100; // ms between two lines of progress

// Written at once: what a stream keeps back would come late where the event loop is busy.
function print(line) {
    fs.writeSync(1, `${line}\n`);
}

// Reads the command line; stops cleanly on signals.
function begin() {
    const words = process.argv.slice(2);
    if (!['slow', 'fast'].includes(words[0]) || ![1, 3].includes(words.length) || (words.length === 3 && words[1] !== '--seconds')) {
        process.stderr.write('usage: slow|fast [--seconds S]\n');
        process.exit(['--help', '-h'].includes(words[0]) ? 0 : 2);
    }
    slow = words[0] === 'slow';
    if (words.length === 3) seconds = Number(words[2]);
    for (const signal of ['SIGINT', 'SIGTERM']) process.on(signal, () => { stopped = true; });
    return slow;
}

// The words of a program that has others than a variant and a time: `count` of them, no more and no less.
function words(count, usage) {
    const given = process.argv.slice(2);
    if (given.length !== count) {
        const asked = ['--help', '-h'].includes(given[0]);
        fs.writeSync(asked ? 1 : 2, `usage: ${process.argv[1]} ${usage}\n`);
        process.exit(asked ? 0 : 2);
    }
    return given;
}

// Counts an operation and prints what is due; whether to go on.
function did() {
    done += 1;
    const now = performance.now();
    if (now >= following) {
        print(`done ${done}`);
        while (following <= now) following += EVERY;
    }
    return !stopped && now < started + seconds * 1000;
}

const turn = () => new Promise((resolve) => { setImmediate(resolve); });

// Runs operation(index) again and again, `count` at a time (for those that return promises), until the time is up.
async function run(count, operation) {
    started = performance.now();
    following = started + EVERY;
    const lane = async (index) => {
        let more = true;
        let turned = performance.now();
        while (more) {
            const result = operation(index);
            if (result instanceof Promise) await result;
            more = did();
            if (performance.now() > turned + 10) {
                await turn();
                turned = performance.now();
            }
        }
    };
    await Promise.all(Array.from({ length: count }, (_, index) => lane(index)));
    print(`done ${done}\noperations: ${done}\ntruth: wall seconds ${((performance.now() - started) / 1000).toFixed(3)}`);
}

function truth(text) {
    print(`truth: ${text}`);
}

// The part of the slow-down that the fault itself makes; 0 in the fast variant.
function lostShare(share) {
    truth(`lost share ${(slow ? share : 0).toFixed(3)}`);
}

module.exports = { begin, words, run, truth, lostShare };
