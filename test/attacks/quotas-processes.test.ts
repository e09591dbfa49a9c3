/**
 * Quotas as two processes of one relay on one Postgres keep them, at once and after both were
 * killed.
 */
import { spawn, type ChildProcess } from 'node:child_process';
import { copyFile, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import { z } from 'zod';
import { MCP_SETTINGS } from '../../server/mcp/server/index.ts';
import { createInbox } from '../../server/team/inbox/index.ts';
import { QUOTAS } from '../../server/platform/quotas.ts';
import type { Store } from '../../server/store/index.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { newRelay } from '../support/gate.ts';
import { LYRA } from '../support/mcp.ts';
import { programOf } from '../support/relay-build.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
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
    [await programOf('test/support/inbox-writer.ts'), place.databaseUrl ?? '', relay],
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

it('counts unread messages together, per sender and of all, also in later processes', async () => {
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
    { readIn: 's', run: 'r', time: Date.now() },
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
  "counts a credential's sessions together, replaces unused ones, and frees those of a dead process",
  { timeout: 90_000 },
  async () => {
    const { databaseUrl } = place;
    if (databaseUrl === null) throw new Error('no database');
    const homes = await Promise.all([createHome({ store: null }), createHome({ store: null })]);
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
    /** Begins `count` at once, half of them each at `relays` in turn. */
    const fill = async (relays: readonly TestRelay[], secret: string, count: number) => {
      const all = await Promise.all(
        Array.from({ length: count }, async (_none, i) => {
          const relay = relays[i % relays.length];
          if (!relay) throw new Error('no relay');
          return { relay, ...(await begin(relay, secret)) };
        }),
      );
      expect(all.filter(({ status }) => status !== 200 && status !== 429)).toEqual([]);
      return all.filter(({ status }) => status === 200);
    };
    /** Those of them that still are sessions. */
    const alive = async (begun: Awaited<ReturnType<typeof fill>>, secret: string) => {
      const asked = await Promise.all(
        begun.map(async (each) => ({ each, ...(await begin(each.relay, secret, each.session)) })),
      );
      return asked.filter(({ status }) => status === 200).map(({ each }) => each);
    };
    /**
     * As if all had been used, or heard of, so many ms ago; less than 0: for so long none is
     * unused, however slow this machine is.
     */
    const shift = async (column: 'used_at' | 'seen_at', ms: number) => {
      await store.db
        .updateTable('mcp_sessions')
        .set((eb) => ({ [column]: eb(column, '-', ms) }))
        .execute();
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
      const open = await alive(await fill([one, other], secret, most + 6), secret);
      expect(open).toHaveLength(most);
      await shift('used_at', -60_000);
      expect(await fill([one, other], secret, 4)).toEqual([]);
      // Each goes on where it began, and nowhere else.
      const mine = open.find(({ relay }) => relay === one);
      if (!mine) throw new Error('one of the two let nobody in');
      expect((await begin(other, secret, mine.session)).status).toBe(404);

      // Unused for a while, wherever it is: it makes place, and is over there.
      await shift('used_at', 60_000 + QUOTAS.mcpSessions.makesRoomAfterMs);
      const later = await alive(await fill([other], secret, most), secret);
      expect(later).toHaveLength(most);
      expect(await alive(open, secret)).toEqual([]);

      // What is ended gives its place back at once.
      await shift('used_at', -60_000);
      const ended = await fetch(new URL('/mcp', other.url), {
        method: 'DELETE',
        headers: { authorization: `Bearer ${secret}`, 'mcp-session-id': later[0]?.session ?? '' },
      });
      expect(ended.status).toBe(200);
      await expect.poll(async () => (await fill([one], secret, 1)).length).toBe(1);

      // The process that has the others dies: they are counted until it is taken for dead.
      await other.kill('SIGKILL');
      await shift('used_at', -60_000);
      expect(await fill([one], secret, 2)).toEqual([]);
      await shift('seen_at', MCP_SETTINGS.deadMs);
      expect((await fill([one], secret, most - 1)).length).toBe(most - 1);
    } finally {
      await Promise.all(running.map((relay) => relay.stop()));
      await Promise.all(homes.map((each) => rm(each, { recursive: true, force: true })));
    }
  },
);
