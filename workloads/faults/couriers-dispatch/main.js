// Gives parcels to couriers in the order in which they came, with a backlog of an evening.
'use strict';
const frame = require('../common/frame.js');

const BACKLOG = 70_000;

// First in, first out.
class Backlog {
    constructor(whole) {
        this.whole = whole;
        this.items = [];
        this.head = 0;
    }

    add(parcel) {
        this.items.push(parcel);
    }

    next() {
        if (this.whole) return this.items.shift();
        const parcel = this.items[this.head];
        this.items[this.head] = undefined;
        this.head += 1;
        if (this.head > BACKLOG) {
            this.items = this.items.slice(this.head);
            this.head = 0;
        }
        return parcel;
    }
}

class Town {
    constructor() {
        this.couriers = Array.from({ length: 700 }, (_, i) => ({ x: (i * 7919) % 1000, y: (i * 104729) % 1000, load: 0, parcels: 0 }));
    }

    // The courier for whom the way, made longer by what he carries, is shortest.
    best(parcel) {
        let best = this.couriers[0];
        let least = Infinity;
        for (const courier of this.couriers) {
            const way = Math.hypot(courier.x - parcel.x, courier.y - parcel.y) * (1 + courier.load / 40);
            if (way < least) {
                least = way;
                best = courier;
            }
        }
        return best;
    }

    give(parcel) {
        const courier = this.best(parcel);
        courier.x = parcel.x;
        courier.y = parcel.y;
        courier.load = (courier.load + parcel.weight) % 40;
        courier.parcels += 1;
    }
}

function parcel(number) {
    return { number, x: (number * 31) % 1000, y: (number * 17) % 1000, weight: 1 + (number % 5) };
}

async function main() {
    const slow = frame.begin();
    const town = new Town();
    const backlog = new Backlog(slow);
    let number = 0;
    while (number < BACKLOG) backlog.add(parcel(number++));
    await frame.run(1, () => {
        backlog.add(parcel(number++));
        town.give(backlog.next());
    });
    frame.lostShare(1);
}

main();
