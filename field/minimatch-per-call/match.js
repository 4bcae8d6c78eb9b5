const minimatch = require('minimatch');
const match = minimatch.minimatch || minimatch;

const patterns = [
  '/home/ci/app/**/node_modules', '/home/ci/app/**/coverage', '/home/ci/app/**/*.log', '/home/ci/app/**/.git',
  '/home/ci/app/dist/**/*.{js,css,map}', '/home/ci/app/src/**/*.test.js',
];
let ignored = 0;
for (let i = 0; i < Number(process.env.COUNT); i++) {
  const path = `/home/ci/app/src/part${i % 97}/view${i % 13}/file${i}${i % 7 ? '' : '.test'}.js`;
  if (patterns.some((pattern) => match(path, pattern))) ignored++;
}
console.log(`${ignored} ignored`);
