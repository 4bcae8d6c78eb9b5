const { LRUCache } = require("lru-cache");
const { parseDocument } = require("htmlparser2");

const seconds = Number(process.argv[2]);
const cache = new LRUCache({ max: 1000 });
const page = (i) => {
    let text = `<html><body><h1>Page ${i}</h1><ul>`;
    for (let n = 0; n < 60; n++) text += `<li class="item"><a href="/item/${i}/${n}">Item ${n} of ${i}</a> <b>new</b></li>`;
    return text + "</ul></body></html>";
};
const begin = Date.now();
let said = begin, done = 0;
while (Date.now() - begin < seconds * 1000) {
    const key = (done * 7919) % 10007;
    if (!cache.has(key)) cache.set(key, parseDocument(page(key)));
    done++;
    if (Date.now() - said > 500) {
        said = Date.now();
        console.log("done " + done);
    }
}
console.log("done " + done);
