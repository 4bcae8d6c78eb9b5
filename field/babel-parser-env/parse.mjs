import { parse } from '@babel/parser';

const handler = (i) => `export const handler${i} = async (request, reply) => {
  const { id, name = "x" } = request.query;
  const rows = await store.find(id, name);
  return reply.send({ rows, count: rows.length, next: rows.length ? rows[rows.length - 1].id + ${i} : null });
};`;
const source = Array.from({ length: 1000 }, (_, i) => handler(i)).join('\n');

let statements = 0;
for (let i = 0; i < Number(process.env.COUNT); i++) statements += parse(source, { sourceType: 'module' }).program.body.length;
console.log(`${statements} statements`);
