/** From a fresh start to the first real talk, without a terminal. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { rosterFrom } from '../../src/page/exports/household/consent.ts';
import { isDemoSoul } from '../../src/shared/domain/demo-words.ts';
import { createGuest, QUIET, STILL } from '../support/chromium.ts';
import { createOwnerLine } from '../support/owner-line.ts';
import { searchFor } from '../support/planted-words.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, goWithin, withoutTransitions } from '../support/visitor.ts';

const KEY = 'sk-planted-on-the-page-31c9';
const REFUSED = 'sk-planted-and-refused-8d02';
const profile = createGuest();
let relay: TestRelay;
let model: ScriptedModel;
beforeAll(async () => {
  const team = teamScript();
  // It says the key back, as the worst of servers do.
  model = await startScriptedModel((request) =>
    request.headers['x-api-key'] === REFUSED
      ? { fail: { status: 401, type: 'authentication_error', message: `no such key: ${REFUSED}` } }
      : team(request),
  );
});
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(async () => {
  await relay.stop();
});
afterAll(async () => {
  await profile.remove();
  await model.close();
});

/** Runs in the page: everything that its origin keeps in the browser, bytes as characters. */
async function allStored(): Promise<string> {
  const found = [JSON.stringify({ ...localStorage, ...sessionStorage, state: history.state }), document.cookie];
  const plain = (_: string, value: unknown) =>
    value instanceof Uint8Array || value instanceof ArrayBuffer
      ? new TextDecoder('latin1').decode(value)
      : value instanceof Blob || value instanceof CryptoKey
        ? String(value)
        : value;
  for (const name of await caches.keys()) {
    const cache = await caches.open(name);
    for (const request of await cache.keys())
      found.push(request.url, (await (await cache.match(request))?.text()) ?? '');
  }
  const done = <Value>(request: IDBRequest<Value>) =>
    new Promise<Value>((resolve, reject) => {
      request.onsuccess = () => resolve(request.result);
      request.onerror = () => reject(request.error ?? new Error('no reason'));
    });
  for (const { name = '' } of await indexedDB.databases()) {
    const db = await done(indexedDB.open(name));
    for (const store of db.objectStoreNames) {
      const objects = db.transaction(store).objectStore(store);
      found.push(JSON.stringify([await done(objects.getAllKeys()), await done(objects.getAll())], plain));
    }
    db.close();
  }
  const walk = async (directory: FileSystemDirectoryHandle): Promise<void> => {
    for await (const handle of directory.values()) {
      found.push(handle.name);
      if (handle.kind === 'directory') await walk(handle as FileSystemDirectoryHandle);
      else
        found.push(
          new TextDecoder('latin1').decode(await (await (handle as FileSystemFileHandle).getFile()).arrayBuffer()),
        );
    }
  };
  await walk(await navigator.storage.getDirectory());
  return found.join('\n');
}

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 780 };

it('a model is connected on the page, the team hatches, and is talked to, on a phone and at a desk', async () => {
  // The service worker stores the build, and what it needs for messages to a closed page.
  const context = await profile.open(STILL);
  const anna = await createVisitor(context, relay.link);
  const { page } = anna;
  await withoutTransitions(page);
  const as = {
    async phone() {
      await page.setViewportSize(PHONE);
      await page.emulateMedia({ colorScheme: 'light', ...STILL });
    },
    async desk() {
      await page.setViewportSize(DESK);
      await page.emulateMedia({ colorScheme: 'dark', ...STILL });
    },
  };
  /** Takes a picture in both sizes, each in its own light. The page is at a desk afterwards. */
  const inspect = async (name: string, { axe = false } = {}) => {
    for (const [width, put] of [
      [PHONE.width, as.phone],
      [DESK.width, as.desk],
    ] as const) {
      await put();
      await anna.picture(`connect-${width}-${name}`);
      if (axe) expect(await anna.axe(), `${name} at ${width} px`).toEqual([]);
    }
  };
  const connect = page.getByRole('link', { name: 'Connect a model' }).filter({ visible: true }).first();
  for (const put of [as.desk, as.phone]) {
    await put();
    await page
      .getByText(/You’re in the demo/)
      .filter({ visible: true })
      .first()
      .waitFor();
    await connect.waitFor();
  }
  await connect.click();
  await page.getByRole('radio', { name: /^Another server or key/ }).check({ force: true });
  await page.getByLabel('Address').fill(model.url);
  await page.getByLabel('Key (optional)').fill(REFUSED);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page
    .getByRole('alert')
    .getByText(/did not accept the key/)
    .waitFor();
  await inspect('0-refused');
  expect(await page.content()).not.toContain(REFUSED);
  await page.getByLabel('Key (optional)').fill(KEY);
  await inspect('1-form', { axe: true });
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByText(/answers, [\d.]+ s\./).waitFor();
  await inspect('2-answers', { axe: true });
  await page.getByRole('button', { name: 'Done' }).click();
  await anna.begin('Anna', 'Sol');
  await as.phone();
  await anna.press('SUMMON');
  const born = await anna.untilAll('awake');
  await inspect('3-hatched');
  await anna.open(1);
  expect(await anna.ask('Hello!')).toContain('heard: Hello!');
  await as.phone();
  expect(await anna.ask('Hello again!')).toContain('heard: Hello again!');
  await inspect('4-talk');
  expect(born).toHaveLength(8);
  const answering = model.requests.filter(({ headers }) => headers['x-api-key'] !== REFUSED);
  expect(answering.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true);
  // What went to the relay once is nowhere in the browser.
  await page.evaluate(async () => void (await navigator.serviceWorker.ready));
  const search = searchFor([KEY, REFUSED]);
  expect(await page.content()).not.toContain(KEY);
  const stored = await page.evaluate(allStored);
  expect(stored).toContain('heard: Hello!');
  expect(search.inBytes(Buffer.from(stored, 'utf8'), 'the browser')).toEqual([]);
  expect(anna.complaints).toEqual([]);
  await context.close();
});

it('a model that is connected in a session answers the next message, and a real team hatches where the demo’s was, which stays in the storage', async () => {
  const context = await profile.open({ ...QUIET, viewport: DESK });
  const anna = await createVisitor(context, relay.link);
  const { page } = anna;
  await anna.begin('Anna', 'Sol');
  const [demo] = await anna.hatch(1);
  const owner = createOwnerLine(page);
  const leadSoul = async () => rosterFrom(await owner.call('household')).lead?.soul ?? '';
  await expect.poll(async () => isDemoSoul(await leadSoul()), { timeout: 20_000 }).toBe(true);
  expect(await page.getByRole('region', { name: /hatched in the demo/ }).count()).toBe(0);
  await page.getByRole('link', { name: 'Connect a model' }).filter({ visible: true }).first().click();
  await page.getByRole('radio', { name: /^Another server or key/ }).check({ force: true });
  await page.getByLabel('Address').fill(model.url);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByText('It answers from your next message on.').waitFor();
  await page.getByRole('button', { name: 'Done' }).click();
  await anna.open(1);
  const before = model.requests.length;
  expect(await anna.ask('Hello!')).toContain('heard: Hello!');
  expect(JSON.stringify(model.requests.slice(before).map(({ body }) => body.messages))).not.toMatch(
    /(?:is|am) a rehearsal/,
  );
  await anna.hearth();
  const offer = page.getByRole('region', { name: /hatched in the demo/ });
  await offer.getByText('1 agent hatched in the demo.').waitFor();
  await anna.picture('demo-team-1440');
  await page.setViewportSize(PHONE);
  await anna.picture('demo-team-360');
  await page.setViewportSize(DESK);
  expect(await anna.axe()).toEqual([]);
  await offer.getByRole('button', { name: 'Hatch a real team' }).click();
  const born = await anna.untilSeats(
    'a real one',
    (seats) => seats[0]?.state === 'awake' && seats[0].name !== demo?.name,
  );
  expect(born[0]?.name).toBe('Name1');
  // The lead of a real team keeps no soul that nobody wrote.
  expect(await leadSoul()).toBe('');
  await offer.waitFor({ state: 'detached' });
  // The demo's agent can be kept after all.
  await goWithin(page, '/settings/storage');
  await page
    .getByText(demo?.name ?? '?')
    .first()
    .waitFor();
  expect(anna.complaints).toEqual([]);
  await context.close();
}, 120_000);
