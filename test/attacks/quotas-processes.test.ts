/** Quotas as two processes of one relay on one Postgres keep them, at once and after both were killed. */
import { spawn, type ChildProcess } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { createInbox } from '../../server/inbox/index.ts';
import { QUOTAS } from '../../server/quotas.ts';
import type { Store } from '../../server/store/index.ts';
import { madeCredentialSchema } from '../../src/protocol/team.ts';
import { newRelay } from '../support/gate.ts';
import { LYRA } from '../support/mcp.ts';
import { programOf } from '../support/relay-build.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { SHORT_LIVED } from '../support/short-lived.ts';
import { createStorePlace, type StorePlace } from '../support/stores.ts';

const { fromOne, fromAll } = QUOTAS.unread;

let place: StorePlace;
let store: Store;
const children: ChildProcess[] = [];
beforeAll(async () => {
  place = await createStorePlace('postgres');
  store = await place.open();
});
afterEach(() => children.splice(0).forEach((child) => child.kill('SIGKILL')));
afterAll(async () => {
  await store.close();
  await place.remove();
});

async function startWriter(relay: string) {
  const child = spawn(
    process.execPath,
    [...SHORT_LIVED, await programOf('test/support/inbox-writer.ts'), place.databaseUrl ?? '', relay],
    { stdio: ['pipe', 'pipe', 'inherit'] },
  );
  children.push(child);
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const line = async () => z.string().parse((await lines.next()).value);
  expect(JSON.parse(await line())).toBe('ready');
  return {
    /** Answers with why each was refused; null: it was taken. */
    async write(from: string, count: number) {
      child.stdin.write(`${from} ${count}\n`);
      return z.array(z.string().nullable()).parse(JSON.parse(await line()));
    },
    kill: () =>
      new Promise<void>((resolve) => {
        child.once('close', () => resolve());
        child.kill('SIGKILL');
      }),
  };
}
const taken = (answers: readonly (string | null)[]) => answers.filter((refusal) => refusal === null).length;

it('what waits unread is counted together, of one sender and of all, also by processes that begin later', async () => {
  const relay = newRelay();
  const [one, other] = await Promise.all([startWriter(relay), startWriter(relay)]);
  const both = (from: string, count: number) =>
    Promise.all([one.write(from, count), other.write(from, count)]).then((answers) => answers.flat());
  const lyra = await both('lyra', fromOne.messages * 0.8);
  expect(taken(lyra)).toBe(fromOne.messages);
  expect(lyra.find((refusal) => refusal !== null)).toMatch(/^Not delivered: Orin has not read what you sent before/);
  expect(taken(await both('vega', fromOne.messages))).toBe(fromOne.messages);
  await Promise.all([one.kill(), other.kill()]);

  const [again, beside] = await Promise.all([startWriter(relay), startWriter(relay)]);
  expect(taken(await again.write('lyra', 3))).toBe(0);
  const left = fromAll.messages - 2 * fromOne.messages;
  const many = await Promise.all([again.write('sage', left - 10), beside.write('wren', left - 10)]);
  expect(taken(many.flat())).toBe(left);
  expect(many.flat().find((refusal) => refusal !== null)).toMatch(/^Not delivered: Orin’s inbox is full of unread/);

  // What is read, by whichever process, makes room for as much.
  const inbox = createInbox({ db: store.db, home: relay, retentionMs: 60_000, now: Date.now, tell: () => undefined });
  const lyras = (await inbox.waiting('orin')).filter(({ from }) => from === 'lyra').slice(0, 7);
  await inbox.claim(
    lyras.map(({ messageId }) => messageId),
    { sessionId: 's', run: 'r', time: Date.now() },
  );
  const room = await Promise.all([again.write('lyra', 7), beside.write('lyra', 7)]);
  expect(taken(room.flat())).toBe(7);
});

const INITIALIZE = {
  jsonrpc: '2.0',
  id: 1,
  method: 'initialize',
  params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'many', version: '1' } },
};

it(
  'sessions of a credential have their limit in each process of a relay, and end with it',
  { timeout: 90_000 },
  async () => {
    const { databaseUrl } = place;
    if (databaseUrl === null) throw new Error('no database');
    const homes = await Promise.all([createHome({ store: false }), createHome({ store: false })]);
    const [home, copy] = homes;
    const most = QUOTAS.mcpSessions.ofOneCredential;
    const begin = async ({ url }: TestRelay, secret: string, session?: string) => {
      const answer = await fetch(new URL('/mcp', url), {
        method: 'POST',
        headers: {
          authorization: `Bearer ${secret}`,
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          ...(session === undefined ? {} : { 'mcp-session-id': session }),
        },
        body: JSON.stringify(session === undefined ? INITIALIZE : { jsonrpc: '2.0', id: 2, method: 'ping' }),
      });
      await answer.text();
      return { status: answer.status, session: answer.headers.get('mcp-session-id') ?? '' };
    };
    const fill = async (relay: TestRelay, secret: string) => {
      const all = await Promise.all(Array.from({ length: most + 5 }, () => begin(relay, secret)));
      const open = all.filter(({ status }) => status === 200);
      expect(open).toHaveLength(most);
      expect(all.filter(({ status }) => status === 429)).toHaveLength(5);
      return open[0]?.session ?? '';
    };
    const running: TestRelay[] = [];
    try {
      const one = await startRelay({ databaseUrl, home });
      running.push(one);
      await one.fetch('/api/team', { method: 'PUT', json: { agents: [LYRA] } });
      const made = await one.fetch('/api/credentials', { method: 'POST', json: { agentId: LYRA.agentId } });
      const { secret } = madeCredentialSchema.parse(await made.json());
      // The same relay from another folder, as on another machine.
      await copyFile(join(home, 'roost.json'), join(copy, 'roost.json'));
      const other = await startRelay({ databaseUrl, home: copy });
      running.push(other);
      const session = await fill(one, secret);
      await fill(other, secret);
      // Nobody goes on in a session of another process, or takes its place there.
      expect((await begin(other, secret, session)).status).toBe(404);
      expect((await begin(one, secret, session)).status).toBe(200);
      await one.kill('SIGKILL');
      const again = await startRelay({ databaseUrl, home });
      running.push(again);
      expect((await begin(again, secret, session)).status).toBe(404);
      await fill(again, secret);
    } finally {
      await Promise.all(running.map((relay) => relay.stop()));
      await Promise.all(homes.map((each) => rm(each, { recursive: true, force: true })));
    }
  },
);
