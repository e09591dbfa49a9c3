/**
 * Many at once at limits and names that are looked at before something is written: what is counted
 * has room for each only once.
 */
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';

const AT_ONCE = 80;
let relay: TestRelay;
const clients: Client[] = [];

const call = async (method: string, path: string, json?: unknown) =>
  await relay.fetch(path, { method, ...(json === undefined ? {} : { json }) });
const listed = async (agentId: string) =>
  z
    .looseObject({ schedules: z.array(z.looseObject({ schedule: z.looseObject({ name: z.string() }) })) })
    .parse(await (await call('GET', `/v1/agents/${agentId}/schedule`)).json()).schedules;
const crowd = <Value>(does: (n: number) => Promise<Value>) =>
  Promise.all(Array.from({ length: AT_ONCE }, (_none, n) => does(n)));
const routine = (agentId: string, name: string) => ({
  kind: 'routine',
  agentId,
  name,
  instructions: 'Work.',
  timing: { kind: 'every', minutes: 60 },
});

/** A program that drives this agent, in so many sessions of its own. */
async function plays(
  agentId: string,
  sessions: number,
): Promise<(n: number, name: string, input: object) => Promise<string>> {
  const made = await call('POST', '/api/credentials', { agentId, label: 'elsewhere' });
  const { secret } = madeCredentialSchema.parse(await made.json());
  const own = await Promise.all(
    Array.from({ length: sessions }, async () => {
      const client = new Client({ name: 'a-crowd', version: '1.0.0' });
      await client.connect(
        new StreamableHTTPClientTransport(new URL('/mcp', relay.url), {
          requestInit: { headers: { authorization: `Bearer ${secret}` } },
        }),
      );
      clients.push(client);
      return client;
    }),
  );
  return async (n, name, input) =>
    JSON.stringify(await own[n % own.length]?.callTool({ name, arguments: { ...input } }));
}

beforeAll(async () => {
  relay = await startRelay({ args: ['--rate', '100000', '--burst', '1000000'] });
  const agents = ['a1', 'a2', 'a3', 'a4'].map((agentId, position) => ({
    agentId,
    name: ['Lyra', 'Wren', 'Sage', 'Moss'][position],
    position,
    retired: false,
  }));
  expect((await call('PUT', '/api/team', { agents })).ok).toBe(true);
});
afterAll(async () => {
  for (const client of clients) await client.close();
  expect((await relay.stop()).code).toBe(0);
});

it('routines of one agent, set at once, are no more than it may have, and each name is there once', async () => {
  const answers = await crowd((n) => call('POST', '/v1/pulse-routines', routine('a1', `Round ${n % 70}`)));
  const names = (await listed('a1')).map(({ schedule }) => schedule.name);
  expect(names.length).toBeLessThanOrEqual(50);
  expect(new Set(names).size).toBe(names.length);
  expect(answers.filter(({ status }) => status === 201)).toHaveLength(names.length);
  const refused = await Promise.all(answers.filter(({ status }) => status !== 201).map((answer) => answer.text()));
  for (const words of refused) expect(words).toMatch(/There is room for 50|already/);
});

it('reminders that an agent leaves itself at once are no more than it may have', async () => {
  const lyra = await plays('a2', 8);
  const answers = await crowd((n) => lyra(n, 'wake_later', { message: 'Look.', delay: '2 hours', name: `R${n % 70}` }));
  const names = (await listed('a2')).map(({ schedule }) => schedule.name);
  expect(names.length).toBeLessThanOrEqual(50);
  expect(new Set(names).size).toBe(names.length);
  expect(answers.join('\n')).toContain('There is room for 50');
});

it('proposals that an agent makes at once are no more than may wait', async () => {
  expect((await call('PUT', '/v1/agents/a3/config', { coordination: { may_propose_routines: true } })).ok).toBe(true);
  const sage = await plays('a3', 8);
  const input = { instructions: 'Work.', why: 'Because.', every_minutes: 60 };
  const answers = await crowd((n) => sage(n, 'propose_routine', { ...input, name: `P${n}` }));
  const { proposals } = z
    .object({ proposals: z.array(z.unknown()) })
    .parse(await (await call('GET', '/v1/routine-proposals')).json());
  expect(proposals).toHaveLength(5);
  expect(answers.join('\n')).toContain('5 of your proposals wait for the human');
});

it('creates one routine when many tabs accept one proposal at once', async () => {
  const { proposals } = z
    .object({ proposals: z.array(z.looseObject({ proposalId: z.string() })) })
    .parse(await (await call('GET', '/v1/routine-proposals')).json());
  const id = proposals[0]?.proposalId ?? '';
  await crowd((n) => call('POST', `/v1/routine-proposals/${id}/${n % 8 === 7 ? 'decline' : 'accept'}`));
  expect((await listed('a3')).length).toBeLessThanOrEqual(1);
});

it('queues runs that start at once, and runs once what is due twice at one moment', async () => {
  const added = await call('POST', '/v1/pulse-routines', routine('a4', 'Round'));
  const { scheduleId } = z.looseObject({ scheduleId: z.string() }).parse(await added.json());
  const answers = await crowd(() => call('POST', `/v1/pulse-routines/${scheduleId}/trigger`));
  expect(answers.every(({ status }) => status < 500)).toBe(true);
  expect((await call('GET', '/api/health')).status).toBe(200);
});
