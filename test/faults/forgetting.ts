/**
 * Sentences are planted wherever a conversation leaves them: in the ledgers of two devices, in
 * sealed entries, in the relay's store, in an agent snapshot and in notes. The conversation is
 * forgotten. Then an old device, an old relay and an old copy try to bring them back.
 */
import { cp, mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { openStore } from '../../server/store/index.ts';
import { createClock } from '../../src/shared/domain/stamp.ts';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { madeCredentialSchema } from '../../src/shared/protocol/team.ts';
import { pair, untilEqual } from '../support/devices.ts';
import { freePort } from '../support/free-port.ts';
import { placesInBrowser } from '../support/places-in-browser.ts';
import { searchFor } from '../support/planted-words.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { SNAPSHOT } from '../support/schedules.ts';
import { headersOf } from '../support/sign-in.ts';
import { createLifeDevice, type LifeDevice } from './life-device.ts';

/** No other text has it. Each planted sentence does. */
const MARK = 'quillfeather-marmalade';
const PATIENCE_MS = 120_000;
const PAUSE_MS = 500;
/** Sentences that the agent notes as well. */
const NOTES = 20;

const sentence = (number: number) => `Sentence ${number} of the ${MARK} says ${number * 7919}.`;

async function until(what: string, probe: () => Promise<readonly string[]>): Promise<void> {
  for (const end = Date.now() + PATIENCE_MS; ; await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))) {
    const left = await probe();
    if (left.length === 0) return;
    if (Date.now() > end) throw new Error(`${what}: still in ${left.slice(0, 10).join(', ')}`);
  }
}

/** In every file and row of a relay's home. */
async function placesAtRelay({ home }: TestRelay): Promise<readonly string[]> {
  const search = searchFor([MARK]);
  const copy = await mkdtemp(join(tmpdir(), 'roost-forgetting-'));
  await cp(join(home, 'store'), join(copy, 'store'), { recursive: true });
  const store = await openStore({ folder: join(copy, 'store'), databaseUrl: null });
  try {
    const found = [...(await search.inDatabase(store.db)), ...(await search.inFolder(home))];
    return found.map(({ where }) => where);
  } finally {
    await store.close();
    await rm(copy, { recursive: true, force: true });
  }
}

/** In what a device stores, and by its own search for a sentence. */
async function placesOn(device: LifeDevice): Promise<readonly string[]> {
  const { owner, page } = device.browser();
  const here = await owner.call('findSentence', { text: MARK });
  const counts = Object.entries({
    ...here.documents,
    volumes: here.volumes,
    entries: here.entries,
    search: here.found,
  });
  return [
    ...(await placesInBrowser(page, MARK)),
    ...counts.filter(([, count]) => count > 0).map(([name]) => `${device.name}: ${name}`),
  ];
}

export async function forgetSentences({ sentences }: { readonly sentences: number }): Promise<{
  readonly planted: number;
  /** In how many places the sentences were found before. */
  readonly places: number;
}> {
  const home = await createHome({ store: 'sqlite' });
  const before = await mkdtemp(join(tmpdir(), 'roost-before-'));
  const port = await freePort();
  const args = ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })];
  let relay = await startRelay({ home, port, args });
  const signIn = await relay.signIn();
  const headers = { ...headersOf(signIn), 'content-type': 'application/json' };
  const devices: LifeDevice[] = [];
  async function call(method: string, path: string, body: unknown): Promise<unknown> {
    const answer = await fetch(new URL(path, relay.url), { method, headers, body: JSON.stringify(body) });
    const text = await answer.text();
    if (!answer.ok) throw new Error(`${method} ${path}: ${answer.status} ${text}`);
    return text === '' ? null : JSON.parse(text);
  }
  try {
    const [one, other] = [
      await createLifeDevice('laptop', relay.url, signIn),
      await createLifeDevice('phone', relay.url, signIn),
    ];
    devices.push(one, other);
    await one.open();
    const visitor = one.visitor();
    await visitor.begin();
    await visitor.hatch(1);
    await visitor.press('End session');
    await visitor.untilSeats('it asleep', ([first]) => first?.state === 'sleeping');
    await other.open();
    await pair(one.browser(), other.browser());
    const { owner } = one.browser();
    const { identities, newest } = await owner.call('household');
    const agentId = identities.find((each) => each.agentId !== 'lead')?.agentId ?? '';

    // Planting.
    const clock = createClock({ node: 'test', now: Date.now });
    clock.follow(newest);
    const said = (number: number): Doc => ({
      ...{
        _id: `message:planted-${number}`,
        type: 'message',
        schema: 1,
        at: clock.next(),
        messageId: `planted-${number}`,
      },
      ...{ sessionId: 'session-of-old', agentId, author: 'human', role: 'user', status: 'complete', error: null },
      ...{
        blocks: [{ kind: 'text', text: sentence(number) }],
        usage: null,
        time: Date.now(),
        clientId: null,
        replaces: null,
      },
    });
    const docs = Array.from({ length: sentences }, (_, i) => said(i + 1));
    await owner.call('append', docs);
    const credential = madeCredentialSchema.parse(await call('POST', '/api/credentials', { agentId, label: 'test' }));
    const client = new Client({ name: 'a-client', version: '1.0.0' });
    const authorization = { authorization: `Bearer ${credential.secret}` };
    await client.connect(
      new StreamableHTTPClientTransport(new URL('/mcp', relay.url), { requestInit: { headers: authorization } }),
    );
    for (let number = 1; number <= Math.min(NOTES, sentences); number += 1)
      await client.callTool({ name: 'remember', arguments: { text: sentence(number) } });
    await client.close();
    const copy = { version: '9', snapshot: { ...SNAPSHOT, transcript: sentence(1) } };
    await call('PUT', `/api/agent-snapshots/${agentId}`, copy);
    await untilEqual([one.browser(), other.browser()], sentences);
    await one.browser().until('everything at the relay', ({ toSend, link }) => toSend === 0 && link === 'live');
    await other.close();
    const places = (await placesOn(one)).length + (await placesAtRelay(relay)).length;
    const exported = [...(await owner.documents()).values()] as Doc[];
    await relay.stop();
    await cp(home, before, { recursive: true });
    relay = await startRelay({ home, port, args, signIn });

    // Forgetting, as the page does after ten seconds.
    await one.browser().until('the relay', ({ link }) => link === 'live');
    await owner.call('append', [
      {
        ...{ _id: 'forget:1', type: 'forget', schema: 1, target: { kind: 'conversation', agentId }, at: clock.next() },
        ...{ askedAt: Date.now(), finalAt: Date.now() },
      },
    ]);
    const everywhere = async () => [...(await placesOn(one)), ...(await placesAtRelay(relay))];
    await until('after it was forgotten', everywhere);

    await other.open();
    await until('after the sync of an old device', async () => [...(await everywhere()), ...(await placesOn(other))]);

    await relay.stop();
    await rm(home, { recursive: true, force: true });
    await cp(before, home, { recursive: true });
    relay = await startRelay({ home, port, args, signIn });
    await until('after the restore of an old relay', everywhere);

    await owner.call('append', exported);
    await until('after the import of an old copy', everywhere);
    return { planted: docs.length, places };
  } finally {
    for (const device of devices) await device.remove();
    await relay.stop();
    for (const folder of [home, before]) await rm(folder, { recursive: true, force: true });
  }
}
