const markdown = require('markdown-it')();

// Tables drawn with spaces, as people paste them from a terminal, among usual text.
const line = (i) => `host${i}${' '.repeat(4000)}${i * 17}  `;
const table = Array.from({ length: 20 }, (_, i) => line(i)).join('\n');
const text = Array.from({ length: 1500 }, (_, i) => `## Step ${i}\n\nRun *make step${i}* and read [the log](https://example.org/log/${i}) of \`step${i}\`.\n\n- first\n- **second**\n`).join('\n');
let length = 0;
for (let i = 0; i < Number(process.env.COUNT); i++) length += markdown.render(`${text}\n${table}`).length;
console.log(`${length} characters`);
