/**
 * A process with a gate of its own. Arguments: a database URL and the household's relay. Each line
 * on standard input is a number: so many wakes of Orin are asked for at once, and a line of JSON
 * says what became of them. What is granted is never ended.
 */
import { randomUUID } from 'node:crypto';
import { createInterface } from 'node:readline';
import { createConfigs, createGate } from '../../server/team/gate/index.ts';
import { openStore } from '../../server/store/index.ts';
import { request } from './gate.ts';

const [databaseUrl = '', home = ''] = process.argv.slice(2);
const { db } = await openStore({ folder: '', databaseUrl });
const shared = { db, home, now: Date.now, tell: () => undefined };
const configs = createConfigs({ ...shared, alone: false, timeZone: 'UTC' });
const onHeartbeatError = (error: unknown) => {
  throw error;
};
const gate = createGate({ ...shared, configs, newId: randomUUID, alone: false, onHeartbeatError });
await gate.recover();

const say = (value: unknown) => process.stdout.write(`${JSON.stringify(value)}\n`);
say('ready');
for await (const line of createInterface({ input: process.stdin })) {
  const answers = await Promise.all(Array.from({ length: Number(line) }, () => gate.ask(request())));
  say(answers.map(({ decision }) => decision.check ?? decision.outcome));
}
