const { marked } = require("marked");

const seconds = Number(process.argv[2]);
let text = "";
for (let n = 0; n < 40; n++) {
    text += `## Section ${n}\n\nSome *words* and **more** with [a link](/page/${n}) and \`code ${n}\`.\n\n- one\n- two\n  - three\n\n| a | b |\n|---|---|\n| ${n} | ${n * 2} |\n\n`;
}
const begin = Date.now();
let said = begin, done = 0;
while (Date.now() - begin < seconds * 1000) {
    marked.parse(text);
    done++;
    if (Date.now() - said > 500) {
        said = Date.now();
        console.log("done " + done);
    }
}
console.log("done " + done);
