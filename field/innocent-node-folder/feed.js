const { XMLParser, XMLBuilder } = require("fast-xml-parser");

let text = "<feed>";
for (let entry = 0; entry < 1500; entry++)
    text += `<entry id="${entry}"><title>Entry ${entry}</title><price currency="EUR">${(entry * 7919) % 1000}</price></entry>`;
text += "</feed>";

const parser = new XMLParser({ ignoreAttributes: false });
const builder = new XMLBuilder({ ignoreAttributes: false });
let size = 0;
for (let pass = 0; pass < Number(process.argv[2]); pass++) size += builder.build(parser.parse(text)).length;
console.log(size);
