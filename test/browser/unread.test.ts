/**
 * How far somebody has read, in the built page: every tab says the same, and a conversation opens
 * where new begins.
 */
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest';
import type { Doc } from '../../src/shared/protocol/documents.ts';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { identityDoc, messageDoc, settingDoc, stampOf } from '../support/documents.ts';
import { bindEyes } from '../support/log-eyes.ts';
import { servePage, type PageServer } from '../support/page-server.ts';
import { createSseRelay, type SseRelay } from '../support/sse-relay.ts';

const AGENT = 'a1';
const TALKER = 'a2';
const LAST = 199;
/** The last message that was read; every other one behind it is the agent's. */
const READ = 99;
const UNREAD = (LAST - READ) / 2;
const PAGE = { directory: fileURLToPath(new URL('../../dist/page', import.meta.url)) };
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; worker-src 'self'";

const household: Doc[] = [
  identityDoc(0, 'lead', 4),
  identityDoc(1, AGENT, 0),
  settingDoc(2, 'humanName', 'Marcus'),
  settingDoc(3, 'read-since', stampOf(3)),
];
const talk = Array.from({ length: LAST - 9 }, (_none, i) =>
  messageDoc(i + 10, { sessionId: i + 10 > READ ? 's2' : 's1' }),
);
/** Two devices marked the same conversation; the further mark was written first. */
const marks = [settingDoc(300, `read:${AGENT}`, stampOf(READ)), settingDoc(301, `read:${AGENT}`, stampOf(50))];

let server: PageServer;
let relay: SseRelay;
let profile: Guest;
let context: BrowserContext;
beforeAll(async () => {
  relay = createSseRelay();
  server = await servePage(PAGE, (request, response) => relay.handle(request, response), {
    anyPath: true,
    policy: POLICY,
  });
  profile = createGuest();
  context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
});
afterAll(async () => {
  await profile.remove();
  await server.close();
});

/** The number of unread messages beside the inbox; it comes with a part that is fetched later. */
const newIn = (page: Page) =>
  page.evaluate(() => parseInt(document.querySelector('.unread-badge')?.textContent ?? '0', 10));

it('shows in every tab and after every reload what is new, opens there, and marks it as read everywhere', async () => {
  const one = await context.newPage();
  await bindEyes(one);
  await one.goto(server.url);
  await one.evaluate((docs) => window.appendDocuments(docs), [...household, ...talk, ...marks]);
  await expect.poll(() => newIn(one)).toBe(UNREAD);
  const two = await context.newPage();
  await two.goto(server.url);
  await expect.poll(() => newIn(two)).toBe(UNREAD);
  await one.reload();
  await expect.poll(() => newIn(one)).toBe(UNREAD);

  await one.goto(`${server.url}/agent/${AGENT}`);
  const line = one.getByRole('separator', { name: 'New messages' });
  await line.waitFor();
  const log = one.getByRole('region', { name: /^Conversation with/ });
  // The line stands at the top of what is in sight, with a little above it of what was read.
  await expect
    .poll(async () => ((await line.boundingBox())?.y ?? 0) - ((await log.boundingBox())?.y ?? 0))
    .toBeGreaterThan(0);
  await expect
    .poll(async () => ((await line.boundingBox())?.y ?? 0) - ((await log.boundingBox())?.y ?? 0))
    .toBeLessThan(200);
  await one.getByText(`words of m${READ + 2}`, { exact: true }).waitFor();
  expect(await one.getByText(`words of m${LAST}`, { exact: true }).count()).toBe(0);

  for (const tab of [one, two]) await expect.poll(() => newIn(tab)).toBe(0);
  await two.reload();
  await two
    .getByRole('button', { name: /^SUMMON|^WAKE/ })
    .first()
    .waitFor();
  await two.evaluate(() => new Promise((resolve) => setTimeout(resolve, 500)));
  expect(await newIn(two)).toBe(0);
  // Read to the end: it opens at its end from now on.
  await two.goto(`${server.url}/agent/${AGENT}`);
  await two.getByText(`words of m${LAST}`, { exact: true }).waitFor();
  expect(await two.getByRole('separator', { name: 'New messages' }).count()).toBe(0);
});

it('opens at new messages also during an answer, and scrolls to the own message of a person who writes', async () => {
  const page = await context.newPage();
  await bindEyes(page);
  await page.goto(server.url);
  await page.evaluate(
    (docs) => window.appendDocuments(docs),
    [
      ...household,
      identityDoc(400, TALKER, 1),
      ...Array.from({ length: 80 }, (_none, i) =>
        messageDoc(410 + i, { agentId: TALKER, sessionId: 's3', author: i % 2 ? TALKER : 'human' }),
      ),
      settingDoc(500, `read:${TALKER}`, stampOf(488)),
    ],
  );
  const time = Date.UTC(2026, 0, 2);
  relay.emit(
    { kind: 'session-started', time, sessionId: 's4', mind: { kind: 'rehearsal', leadModel: 'm', agentModel: 'm' } },
    { kind: 'agent-awake', time, agentId: TALKER, position: 1, sessionId: 's4' },
    { kind: 'answer-started', time, messageId: 'long', agentId: TALKER, sessionId: 's4' },
  );
  let lines = 0;
  const write = () => relay.emit({ kind: 'text', messageId: 'long', text: `Line ${++lines} of it.\n\n` });
  // Higher than what is in sight, and longer all the time.
  while (lines < 60) write();
  await expect.poll(() => newIn(page)).toBe(1);
  const writing = setInterval(write, 20);
  onTestFinished(() => clearInterval(writing));
  const more = async (count: number) => {
    const before = lines;
    await expect.poll(() => lines).toBeGreaterThan(before + count);
  };

  await page.goto(`${server.url}/agent/${TALKER}`);
  const log = page.getByRole('region', { name: /^Conversation with/ });
  const place = () =>
    log.evaluate((it) => ({ top: it.scrollTop, below: it.scrollHeight - it.scrollTop - it.clientHeight }));
  const line = page.getByRole('separator', { name: 'New messages' });
  await line.waitFor();
  await more(20);
  const lineAt = async () => ((await line.boundingBox())?.y ?? -1) - ((await log.boundingBox())?.y ?? 0);
  // What is measured above it moves it for a frame.
  const isInPlace = async () => {
    const at = await lineAt();
    return at > 0 && at < 200;
  };
  await expect.poll(isInPlace).toBe(true);

  const box = page.getByRole('textbox', { name: /^Write to/ });
  await box.fill('My own words.');
  await box.press('Enter');
  // They wait above the field until they are read; what is being said goes on in sight meanwhile.
  await page.getByText('My own words.', { exact: true }).waitFor({ timeout: 10_000 });
  await more(30);
  // A line or some are written while this is read.
  expect((await place()).below).toBeLessThan(500);
  await page.getByText('My own words.', { exact: true }).waitFor({ timeout: 1_000 });
});
