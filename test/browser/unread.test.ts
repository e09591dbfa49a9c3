/** How far somebody has read, in the built page: every tab says the same, and a conversation opens where new begins. */
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Doc } from '../../src/protocol/documents.ts';
import { createProfile, STILL, type Profile } from '../support/chromium.ts';
import { identityDoc, messageDoc, settingDoc, stampOf } from '../support/documents.ts';
import { bindEyes } from '../support/log-eyes.ts';
import { servePage, type PageServer } from '../support/page-server.ts';
import { createSseRelay } from '../support/sse-relay.ts';

const AGENT = 'a1';
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
let profile: Profile;
beforeAll(async () => {
  const relay = createSseRelay();
  server = await servePage(PAGE, (request, response) => relay.handle(request, response), {
    anyPath: true,
    policy: POLICY,
  });
  profile = await createProfile();
});
afterAll(async () => {
  await profile.remove();
  await server.close();
});

const newIn = async (page: Page) => Number(/^\((\d+)\) /.exec(await page.title())?.[1] ?? 0);

it('says in every tab and after every reload what is new, opens a conversation there, and knows everywhere when it was read', async () => {
  const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...STILL });
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
