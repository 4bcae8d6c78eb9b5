// A login service: checks passwords with a slow hash, while plug-ins send it their notices through named pipes.
'use strict';
const childProcess = require('child_process');
const crypto = require('crypto');
const fs = require('fs');
const net = require('net');
const os = require('os');
const path = require('path');
const util = require('util');
const frame = require('../common/frame.js');

const pbkdf2 = util.promisify(crypto.pbkdf2);
const PLUGINS = ['audit', 'geo', 'mail'];

class Accounts {
    constructor() {
        this.salt = crypto.randomBytes(16);
        this.checks = 0;
        this.refused = 0;
    }

    async login(name, password) {
        this.checks += 1;
        const hash = await pbkdf2(`${name}:${password}`, this.salt, 1500, 32, 'sha256');
        if (hash[0] === 0) this.refused += 1;
        return hash;
    }
}

// Takes the notices of a plug-in; mostly there are none.
class Notices {
    constructor(file, asFile) {
        this.file = file;
        this.count = 0;
        childProcess.execFileSync('mkfifo', [file]);
        if (asFile) {
            this.stream = fs.createReadStream(file, { flags: 'r+' });
        } else {
            this.stream = new net.Socket({ fd: fs.openSync(file, fs.constants.O_RDWR | fs.constants.O_NONBLOCK), readable: true, writable: false });
        }
        this.stream.on('data', (data) => {
            this.count += 1;
            if (data.includes('bye')) this.stream.destroy();
        });
    }

    // A last notice wakes whoever waits for one.
    end() {
        const writer = fs.openSync(this.file, fs.constants.O_RDWR | fs.constants.O_NONBLOCK);
        return new Promise((resolve) => {
            this.stream.once('close', () => {
                fs.closeSync(writer);
                fs.unlinkSync(this.file);
                resolve();
            });
            fs.writeSync(writer, 'bye\n');
        });
    }
}

async function main() {
    const slow = frame.begin();
    const folder = fs.mkdtempSync(path.join(process.env.SCRATCH || os.tmpdir(), 'plugins-'));
    const notices = PLUGINS.map((name) => new Notices(path.join(folder, name), slow));
    const accounts = new Accounts();
    const numbers = new Array(6).fill(0);
    await frame.run(numbers.length, (index) => {
        numbers[index] += 1;
        return accounts.login(`user${index}`, `password ${numbers[index]}`);
    });
    await Promise.all(notices.map((notice) => notice.end()));
    fs.rmdirSync(folder);
    frame.lostShare(1);
}

main();
