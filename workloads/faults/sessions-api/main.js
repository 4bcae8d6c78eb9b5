// An API that keeps sessions in memory: each request reads a session, changes it, and answers with some JSON.
'use strict';
const frame = require('../common/frame.js');

const SESSIONS = 48_000;

class Session {
    constructor(user) {
        this.user = user;
        this.name = `user ${user}`;
        this.seen = [];
        this.cart = new Map();
        for (let i = 0; i < 4; i++) this.visit(`page/${user % 97}/${i}`, i);
    }

    visit(page, at) {
        this.seen.push({ page, at, referrer: `from/${at % 31}` });
        if (this.seen.length > 5) this.seen = this.seen.slice(1);
    }

    put(article, count) {
        this.cart.set(article, { article, count, note: `article ${article} times ${count}` });
        if (this.cart.size > 4) this.cart.delete(this.cart.keys().next().value);
    }
}

class Store {
    constructor() {
        this.sessions = [];
        for (let user = 0; user < SESSIONS; user++) this.sessions.push(new Session(user));
        this.random = 12345;
    }

    pick() {
        this.random = (Math.imul(this.random, 1664525) + 1013904223) >>> 0;
        return this.random % SESSIONS;
    }

    request(number) {
        const user = this.pick();
        if (number % 40 === 0) this.sessions[user] = new Session(user);
        const session = this.sessions[user];
        session.visit(`page/${number % 977}`, number);
        session.put(number % 13, 1 + (number % 3));
        const answer = { user: session.name, seen: session.seen, cart: [...session.cart.values()] };
        return JSON.stringify(answer).length;
    }
}

async function main() {
    frame.begin();
    const store = new Store();
    let number = 0;
    await frame.run(1, () => {
        for (let i = 0; i < 20; i++) {
            number += 1;
            store.request(number);
        }
    });
    frame.lostShare(1);
}

main();
