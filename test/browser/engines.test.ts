/**
 * The story in the engines that are not Chromium: the real page, the built relay, real Firefox and
 * Safari's engine.
 */
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { firefox, old, webkit, type Engine } from '../support/engines/index.ts';
import { makeOldBuild } from '../support/engines/old.ts';
import { createPerson, type Person } from '../support/engines/person.ts';
import { until, type RealBrowser, type Tab } from '../support/engines/tab.ts';
import { freePort } from '../support/free-port.ts';
import { createHome, startRelay, type RelayOrigin, type TestRelay } from '../support/relay.ts';

const ARTIFACTS = fileURLToPath(new URL('../artifacts', import.meta.url));
const ARGS = ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })];
const FACT = 'the bridge in Porto is painted heron blue';
const GONE = 'The relay cannot be reached';
const PATIENCE = 300_000;

/** Has something done when its test is over, the last that was asked for first. */
type Later = (close: () => Promise<unknown>) => void;

async function launch(engine: Engine, later: Later): Promise<RealBrowser> {
  const browser = await engine.launch();
  later(() => browser.close());
  return browser;
}

/** A relay at a terminal, which can go and come back. */
async function house(later: Later, from: RelayOrigin = 'sources') {
  const [home, port] = [await createHome(), await freePort()];
  later(() => rm(home, { recursive: true, force: true }));
  const start = async (): Promise<TestRelay> => {
    const relay = await startRelay({ args: ARGS, home, port, from, terminal: true });
    later(() => relay.stop());
    return relay;
  };
  return { start, relay: await start() };
}

/** Where `live` fails, what was to be seen then is kept. */
async function pictured(tab: Tab, name: string, live: () => Promise<void>): Promise<void> {
  try {
    await live();
  } catch (error) {
    await mkdir(ARTIFACTS, { recursive: true });
    await writeFile(join(ARTIFACTS, `${name}.png`), await tab.driver.picture());
    throw error;
  }
}

/**
 * What the page hands to the browser as a download; what a browser does with that is its own
 * affair, and asks the person.
 */
async function exported(tab: Tab): Promise<Buffer> {
  await tab.evaluate(() => {
    const page = window as Window & { handed?: Blob };
    const make = URL.createObjectURL.bind(URL);
    URL.createObjectURL = (object: Blob | MediaSource) => {
      if (object instanceof Blob) page.handed = object;
      return make(object);
    };
    HTMLAnchorElement.prototype.click = () => undefined;
  });
  await tab.click({ role: 'checkbox', name: /^With a passphrase/ });
  await tab.click({ role: 'button', name: 'Export everything' });
  await tab.untilText('Exported.');
  const text = await tab.evaluate(async () => {
    const bytes = new Uint8Array(await ((window as Window & { handed?: Blob }).handed ?? new Blob()).arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  });
  return Buffer.from(text, 'base64');
}

const wordsOf = (tab: Tab) =>
  tab.evaluate(() =>
    [...document.querySelectorAll('[aria-label="The six words"] li')].map((word) => word.textContent?.trim() ?? ''),
  );
const sixWords = (tab: Tab) =>
  until(
    async () => {
      const words = await wordsOf(tab);
      return words.length === 6 && words;
    },
    async () => `no six words; ${await tab.text()}`,
  );

/** As two people at two machines would, by the text under the code. */
async function pair(one: Person, other: Person): Promise<void> {
  await other.tab.click({ role: 'button', name: 'I have Roost on another device' });
  await other.tab.click({ role: 'button', name: 'Show the code' });
  const offer = await until(
    () => other.tab.evaluate(() => document.querySelector('[aria-label="The code as text"]')?.textContent ?? null),
    () => 'no offer is shown',
  );
  await one.settings('Devices');
  await one.tab.click({ role: 'button', name: 'Add a device' });
  await one.tab.click({ role: 'button', name: 'Continue' });
  await until(
    () =>
      one.tab.evaluate(() => {
        const way = document.querySelector<HTMLElement>('.devices-other summary');
        way?.click();
        return way ? true : null;
      }),
    () => 'no other way is offered',
  );
  await one.tab.fill({ role: 'textbox', name: 'The code as text' }, offer);
  await one.tab.click({ role: 'button', name: 'Add' });
  expect(await sixWords(other.tab)).toEqual(await sixWords(one.tab));
  await other.tab.click({ role: 'button', name: 'Yes, all six' });
  await one.tab.click({ role: 'button', name: 'Yes, all six' });
  await one.tab.untilText(/ added\b/);
  await one.tab.click({ role: 'button', name: 'Done' });
}

/** Every push shows something, and what is over stands in the place of what it was. */
async function showsPushes(tab: Tab): Promise<void> {
  const { push } = tab;
  if (!push) return;
  const titles = () =>
    tab.evaluate(async () => {
      const own = await navigator.serviceWorker.ready;
      return (await own.getNotifications()).map(({ title }) => title).join();
    });
  const answered = { key: 'answer:m1', title: 'Lyra has answered', path: '/lead' };
  for (const [pushed, shown] of [
    [JSON.stringify({ ...answered, over: false }), answered.title],
    [JSON.stringify({ ...answered, over: true }), 'Done on another device'],
    ['what nobody can read', 'Something waits for you in Roost'],
  ] as const) {
    await until(async () => {
      // Again and again: the page takes away what its relay knows nothing of.
      await push(pushed);
      return (await titles()) === shown;
    }, titles);
  }
}

interface Life {
  readonly browser: RealBrowser;
  readonly tab: Tab;
  readonly house: Awaited<ReturnType<typeof house>>;
  readonly later: Later;
  /** Of which a device joins in the end. */
  readonly joins?: Engine | undefined;
}

async function live({ browser, tab, house: { relay: first, start }, later, joins }: Life): Promise<void> {
  let relay = first;
  const person = createPerson(tab);
  await tab.goto(relay.link);
  expect(await tab.evaluate(() => matchMedia('(prefers-reduced-motion: reduce)').matches)).toBe(true);
  await person.begin();
  await tab.click({ role: 'button', name: 'SUMMON' });
  const born = (await person.untilAll('awake')).map(({ name }) => name);
  expect(new Set(born).size).toBe(8);
  await person.open(1);
  await person.ask(`Remember this: ${FACT}.`);

  // A second tab lives from the same owner: what is said there stands here too.
  const second = createPerson(await browser.newTab());
  await second.tab.goto(relay.url);
  await second.untilAll('awake');
  await second.open(1);
  await second.tab.untilText('heron blue');
  await second.ask('And good night.');
  await tab.untilText('And good night.');
  expect(await second.tab.complaints()).toEqual([]);
  await second.tab.close();

  await tab.click({ role: 'button', name: 'End session' });
  await tab.click({ role: 'button', name: 'End now' });
  expect((await person.untilAll('sleeping')).map(({ name }) => name)).toEqual(born);

  // Without its relay the page opens, says so, and finds it again by itself.
  await until(
    () => tab.evaluate(async () => (await navigator.serviceWorker.getRegistration())?.active?.state === 'activated'),
    () => 'no service worker came',
  );
  await showsPushes(tab);
  await relay.kill('SIGTERM');
  await tab.untilText(GONE);
  await tab.reload();
  expect((await person.untilAll('sleeping')).map(({ name }) => name)).toEqual(born);
  await tab.untilText(GONE);
  relay = await start();
  await until(
    async () => !(await tab.text()).includes(GONE),
    () => 'the page does not find its relay again',
  );

  await tab.click({ role: 'button', name: /^WAKE/ });
  expect((await person.untilAll('awake')).map(({ name }) => name)).toEqual(born);
  await person.open(1);
  await tab.untilText('heron blue');
  expect(await person.ask('What did I tell you about the bridge?')).toMatch(/heron blue/);
  await tab.click({ role: 'button', name: 'End session' });
  await tab.click({ role: 'button', name: 'End now' });
  await person.untilAll('sleeping');

  // Everything leaves as a file, and lives on in a browser that knew nothing of it.
  await person.settings('Export & import');
  const copy = await exported(tab);
  expect(gunzipSync(copy).toString('utf8')).toContain(FACT);
  const folder = await mkdtemp(join(tmpdir(), 'roost-engines-'));
  later(() => rm(folder, { recursive: true }));
  const path = join(folder, 'household.jsonl.gz');
  await writeFile(path, copy);
  const other = createPerson(await (await browser.another()).newTab());
  await other.tab.goto(await relay.newLink());
  await other.tab.click({ role: 'button', name: 'I have an export' });
  await other.tab.choose({ role: 'file' }, path);
  await other.tab.click({ role: 'button', name: 'Import' });
  expect((await other.untilAll('sleeping')).map(({ name }) => name)).toEqual(born);
  await other.open(1);
  await other.tab.untilText('heron blue');
  expect([...(await tab.complaints()), ...(await other.tab.complaints())]).toEqual([]);

  if (joins) {
    const there = createPerson(await (await launch(joins, later)).newTab());
    await pictured(there.tab, `pairing-${joins.name}`, async () => {
      await there.tab.goto(await relay.newLink());
      await person.leaveSettings();
      await pair(person, there);
      expect((await there.untilAll('sleeping')).map(({ name }) => name)).toEqual(born);
      await there.open(1);
      await there.tab.untilText('heron blue');
      await there.tab.click({ role: 'button', name: /^WAKE/ });
      expect((await there.untilAll('awake')).map(({ name }) => name)).toEqual(born);
      expect(await there.ask('What did I tell you about the bridge?')).toMatch(/heron blue/);
      expect([...(await tab.complaints()), ...(await there.tab.complaints())]).toEqual([]);
    });
  }
}

const named = (what: string, ...engines: readonly Engine[]) => {
  const missing = engines.flatMap((engine) => engine.missing ?? []);
  return { skip: missing.length > 0, name: missing.length > 0 ? `${what} (not run: ${missing.join(', ')})` : what };
};
const STORY = 'a team hatches, is talked to in two tabs, outlives its relay, wakes as who it was, and moves by a copy';
const JOINED = `${STORY}; a device of Safari’s engine joins through the relay, and wakes there who was summoned here`;

// At the same time: most of it is waiting.
describe.concurrent.each([
  { engine: firefox, joins: webkit },
  { engine: webkit, joins: undefined },
  { engine: old, joins: undefined },
])('In $engine.name', { timeout: PATIENCE }, ({ engine, joins }) => {
  const joining = joins?.missing === null ? joins : undefined;
  const { skip, name } = named(joining ? JOINED : STORY, engine);
  it.skipIf(skip)(name, async ({ onTestFinished }) => {
    const later: Later = (close) => onTestFinished(async () => void (await close()));
    const build = engine === old ? await makeOldBuild() : null;
    if (build) later(build.remove);
    const home = await house(later, build ?? 'sources');
    const browser = await launch(engine, later);
    const tab = await browser.newTab();
    await pictured(tab, `story-${engine.name}`, () => live({ browser, tab, house: home, later, joins: joining }));
  });
});
