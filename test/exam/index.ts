/**
 * `npm run exam`: what an agent still knows after a life of 100 sessions. `-- --seed N` lives
 * another life, and `--sessions` and `--facts` change its size. `--model NAME` asks the questions
 * of a real model, with the key in `ANTHROPIC_API_KEY`.
 */
import { parseArgs } from 'node:util';
import { sitExam } from './life.ts';
import { printedExam, shortfalls } from './report.ts';

const { values } = parseArgs({
  options: {
    seed: { type: 'string', default: '1' },
    sessions: { type: 'string', default: '100' },
    facts: { type: 'string', default: '300' },
    lost: { type: 'boolean', default: false },
    model: { type: 'string' },
    address: { type: 'string', default: 'https://api.anthropic.com' },
  },
});
const { model, address } = values;
const key = process.env['ANTHROPIC_API_KEY'];
if (model !== undefined && key === undefined) throw new Error('A real model needs a key in ANTHROPIC_API_KEY.');

const result = await sitExam({
  seed: Number(values.seed),
  sessions: Number(values.sessions),
  facts: Number(values.facts),
  ...(model === undefined || key === undefined ? {} : { asks: { address, key, model } }),
});
console.log(printedExam(result));
if (values.lost)
  for (const { fact, how, said, outcome } of result.answers)
    if (outcome !== 'found')
      console.log(`${outcome}: ${fact.kind}, ${how}: ${fact.subject} ${fact.values.join(', ')}: ${said}`);
if (shortfalls(result).length > 0) process.exitCode = 1;
