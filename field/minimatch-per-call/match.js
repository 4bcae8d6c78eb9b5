const minimatch = require('minimatch');
const match = minimatch.minimatch || minimatch;

const patterns = [
  '/srv/ci/app/**/node_modules', '/srv/ci/app/**/coverage', '/srv/ci/app/**/*.log', '/srv/ci/app/**/.git',
  '/srv/ci/app/dist/**/*.{js,css,map}', '/srv/ci/app/src/**/*.test.js',
];
let ignored = 0;
for (let i = 0; i < Number(process.env.COUNT); i++) {
  const path = `/srv/ci/app/src/part${i % 97}/view${i % 13}/file${i}${i % 7 ? '' : '.test'}.js`;
  if (patterns.some((pattern) => match(path, pattern))) ignored++;
}
console.log(`${ignored} ignored`);
