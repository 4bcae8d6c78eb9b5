// A mirror of packages checks the files it has against its list of check sums.
'use strict';
const crypto = require('crypto');
const fs = require('fs');
const os = require('os');
const path = require('path');
const frame = require('../common/frame.js');

const PACKAGES = 16;
const SIZE = 512 << 10;

class Mirror {
    constructor(folder, piece) {
        this.folder = folder;
        this.piece = piece;
        this.list = new Map();
        for (let number = 0; number < PACKAGES; number++) {
            const name = `package-${number}.tar`;
            const content = crypto.createHash('sha512').update(name).digest('hex').repeat(SIZE / 128);
            fs.writeFileSync(path.join(folder, name), content);
            this.list.set(name, crypto.createHash('sha1').update(content).digest('hex'));
        }
    }

    sum(name) {
        return new Promise((resolve, reject) => {
            const hash = crypto.createHash('sha1');
            const stream = fs.createReadStream(path.join(this.folder, name), { highWaterMark: this.piece });
            stream.on('data', (data) => hash.update(data));
            stream.on('end', () => resolve(hash.digest('hex')));
            stream.on('error', reject);
        });
    }

    async check(number) {
        const name = `package-${number % PACKAGES}.tar`;
        if ((await this.sum(name)) !== this.list.get(name)) throw new Error(`${name} is damaged`);
    }
}

async function main() {
    const slow = frame.begin();
    const folder = fs.mkdtempSync(path.join(process.env.SCRATCH || os.tmpdir(), 'mirror-'));
    try {
        const mirror = new Mirror(folder, slow ? 4 << 10 : 128 << 10);
        let number = 0;
        await frame.run(2, () => {
            number += 1;
            return mirror.check(number);
        });
    } finally {
        fs.rmSync(folder, { recursive: true });
    }
    frame.lostShare(1);
}

main();
