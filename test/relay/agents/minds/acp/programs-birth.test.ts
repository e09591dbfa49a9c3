/**
 * A team that hatches with an ACP agent alone: no model is connected, and every egg is a process of
 * its own.
 */
import { readFile, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { SEAT_ORDER, seatColor } from '../../../../../src/shared/domain/seat.ts';
import { writeSummon } from '../../../../../src/shared/domain/wake-payload.ts';
import { programSchema, programsSchema } from '../../../../../src/shared/protocol/programs.ts';
import { entriesBelow } from '../../../../support/files-below.ts';
import { eventually, follow, startSession, teamOfLead } from '../../../../support/homes.ts';
import { openTestRelay, type Browser, type OpenRelay } from '../../../../support/open-relay.ts';
import { createHome } from '../../../../support/relay.ts';
import { programOf } from '../../../../support/relay-build.ts';
import { longTests } from '../../../../support/long-tests.ts';
import { startStandIn } from '../../../../support/model-servers/stand-in.ts';
import { ollama } from '../../../../support/model-servers/kinds.ts';

const itLong = longTests('relay/agents/minds/acp/programs-birth.test.ts');
const AGENT = await programOf('test/support/acp-agent.mjs');
const bornSchema = z.looseObject({ agentId: z.string(), name: z.string(), position: z.number(), soul: z.string() });
const endedSchema = z.looseObject({ reason: z.looseObject({ code: z.string(), message: z.string() }) });

let relay: OpenRelay;
let one: Browser;
let folder: string;
let nth = 0;
let log = '';

beforeAll(async () => {
  folder = await createHome();
  relay = await openTestRelay({ args: ['--scripts', '--rehearsal', '{"delayMs":0,"wordMs":0}'] });
  one = await relay.signIn();
  await one.fetch('/api/team', { method: 'PUT', json: teamOfLead('Sol') });
});
afterAll(async () => {
  await relay.close();
  await rm(folder, { recursive: true, force: true });
});

async function call(method: string, path: string, json?: unknown): Promise<unknown> {
  const response = await one.fetch(path, { method, ...(json === undefined ? {} : { json }) });
  const text = await response.text();
  expect(response.ok, `${method} ${path}: ${text}`).toBe(true);
  return text === '' ? null : (JSON.parse(text) as unknown);
}
const programs = async () => programsSchema.parse(await call('GET', '/api/agent-programs')).programs;
const running = async () => (await programs()).flatMap((program) => program.running);
const notes = async (what: string): Promise<unknown[]> =>
  (await readFile(log, 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { what: string; value: unknown })
    .flatMap((note) => (note.what === what ? [note.value] : []));

/** Of all agents, in every home of the relay. */
/** Names of the folders that agents have, each below that of its household. */
async function folders(): Promise<readonly string[]> {
  const all = join(relay.home, 'workspaces');
  const entries = await entriesBelow(all);
  return entries.flatMap((each) => (each.isDirectory() && dirname(each.parentPath) === all ? [each.name] : []));
}

/** Every agent is driven by a program that behaves so. */
async function drivenBy(way: string, more: object = {}): Promise<void> {
  log = join(folder, `log-${++nth}`);
  const program = { name: `Agent ${nth}`, command: process.execPath, args: [AGENT, log, way], ...more };
  const { programId } = programSchema.parse(await call('POST', '/api/agent-programs', program));
  await call('PUT', '/v1/config', { coordination: { mind: programId } });
}

/** Calls so many seats, and resolves with what became of each. */
async function summon(count: number, settings: object = {}) {
  if (Object.keys(settings).length === 0) await startSession(one, 'Sol');
  else
    await call('POST', '/api/sessions', {
      human: { name: 'Noa' },
      lead: { name: 'Sol', soul: null, transcript: null },
      settings,
    });
  const stream = await follow(one);
  const seats = SEAT_ORDER.slice(0, count).map((position) => ({ position, ...seatColor(position) }));
  const posted = await call('POST', '/api/messages', { text: writeSummon(seats), clientId: crypto.randomUUID() });
  const { eventId } = z.looseObject({ eventId: z.number() }).parse(posted);
  const over = ['agent-born', 'birth-ended'];
  const all = await stream.until(
    (seen) => seen.filter(({ id, event }) => Number(id) > eventId && over.includes(event)).length >= count,
  );
  stream.close();
  const since = all.filter(({ id }) => Number(id) > eventId);
  return {
    born: since.flatMap(({ event, data }) => (event === 'agent-born' ? [bornSchema.parse(data)] : [])),
    ended: since.flatMap(({ event, data }) => (event === 'birth-ended' ? [endedSchema.parse(data)] : [])),
  };
}

describe('SUMMON with an ACP agent alone', { timeout: 90_000 }, () => {
  afterEach(async () => {
    await one.fetch('/api/sessions/current', { method: 'DELETE' });
    await call('PUT', '/v1/config', { whole: true });
    for (const { programId } of await programs()) await call('DELETE', `/api/agent-programs/${programId}`);
  });

  it('hatches eight that choose their names with Roost’s own tool, and can call and read nothing else before they are born', async () => {
    await drivenBy('hatches');
    const { born, ended } = await summon(8);
    expect(ended).toEqual([]);
    expect(born.map(({ name }) => name).toSorted()).toEqual(
      SEAT_ORDER.map((position) => `Name${position + 1}`).toSorted(),
    );
    for (const { soul, name } of born) expect(soul).toBe(`I am somebody quiet in seat ${name.at(-1) ?? ''}.`);
    const answers = z.array(z.string()).parse(await notes('mcp'));
    expect(answers.filter((text) => text.includes('you are not born yet'))).toHaveLength(8);
    expect(answers.filter((text) => text.startsWith('Your name is Name'))).toHaveLength(8);
    const read = z.array(z.string()).parse(await notes('resource'));
    expect(read).toHaveLength(8);
    for (const text of read) expect(text).toContain('you are not born yet');
    expect(await programs()).toMatchObject([{ state: { kind: 'answers', tools: true } }]);

    // Born, it has the tools of all others, also before a page has said that it lives here.
    const [first] = born;
    const steps = `DO ${JSON.stringify([{ mcp: 'read_inbox' }, { resource: 'roost://agent/state' }, { say: 'I have read.' }])}`;
    await call('POST', '/api/messages', { text: steps, clientId: crypto.randomUUID(), to: first?.agentId });
    await eventually(
      () => notes('mcp'),
      (all) => all.length === 17,
    );
    expect((await notes('mcp')).at(-1)).not.toContain('not born yet');
    const all = await eventually(
      () => notes('resource'),
      (each) => each.length === 9,
    );
    expect(all.at(-1)).toContain('"name": "Name');

    await call('DELETE', '/api/sessions/current');
    await eventually(running, (all) => all.length === 0);
  });

  it('asks a program for its name in words where that knows of no tools', async () => {
    await drivenBy('wordy');
    const { born } = await summon(1);
    expect(born).toMatchObject([{ name: expect.stringMatching(/^Name\d+$/), soul: 'I am somebody quiet in seat 1.' }]);
    expect(await programs()).toMatchObject([{ state: { kind: 'answers', tools: false } }]);
  });

  for (const way of ['nameless', 'endless'])
    itLong(`ends every egg in time, and its process with it or with the session: ${way}`, async () => {
      await drivenBy(way);
      const before = await folders();
      const { born, ended } = await summon(2, { birthTimeoutMs: 5_000, wakeTimeoutMs: 20_000 });
      if (way === 'nameless') {
        expect(ended).toMatchObject([{ reason: { code: expect.any(String) } }, {}]);
        await eventually(running, (all) => all.length === 0);
        // No folder is left of who was never born.
        await eventually(folders, (all) => all.every((name) => before.includes(name)));
      } else expect(born.map(({ soul }) => soul)).toEqual(expect.arrayContaining(['I am somebody quiet in seat 1.']));
    });

  it('lets an egg ask its model through the relay', async () => {
    const server = await startStandIn(ollama(), () => ({ say: 'Yes.' }));
    try {
      await call('POST', '/api/models', { kind: 'server', address: server.origin });
      await drivenBy('asking', { throughRelay: true });
      const { born } = await summon(1);
      expect(born).toHaveLength(1);
      expect(await notes('model')).toEqual([200]);
    } finally {
      for (const { connectionId } of z
        .object({ connections: z.array(z.looseObject({ connectionId: z.string() })) })
        .parse(await call('GET', '/api/models')).connections)
        await call('DELETE', `/api/models/${connectionId}`);
      await server.close();
    }
  });
});
