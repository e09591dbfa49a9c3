/**
 * What was said is remembered over wakes that were followed by nothing: by an agent, and by the
 * lead.
 */
import { quote } from '../../src/shared/domain/quoting.ts';
import { afterEach, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor } from '../support/visitor.ts';

const TOLD = 'My daughter is called Ada.';
const SOUL = 'I tried three names aloud, and the third one answered.';

let profile: Guest | null = null;
let relay: TestRelay | null = null;
let model: ScriptedModel | null = null;
afterEach(async () => {
  await profile?.remove();
  await relay?.stop();
  await model?.close();
  profile = relay = model = null;
});

it('tells the model the last messages at each of three wakes in a row', async () => {
  model = await startScriptedModel(teamScript({ souls: { 1: SOUL } }));
  const { requests } = model;
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
  const visitor = await createVisitor(context, relay.link);
  await visitor.begin('Marcus', 'Julian');
  await visitor.hatch(1);

  const end = async () => {
    await visitor.press('End session');
    await visitor.untilSeats('it asleep', ([first]) => first?.state === 'sleeping');
  };
  /** The soul is in the system prompt, and what was said before in the first message. */
  const whole = (sent?: (typeof requests)[number]) => (sent ? `${sent.system}\n${sent.first}` : '');
  /** What the agent in seat 1, and the lead, are sent by a wake. */
  const wake = async () => {
    const from = requests.length;
    await visitor.press('WAKE');
    await visitor.untilSeats('it awake', ([first]) => first?.state === 'awake');
    await expect.poll(() => requests.slice(from).some(({ seat }) => seat === null)).toBe(true);
    const sent = requests.slice(from);
    return {
      agent: whole(sent.find(({ seat, body }) => seat === 1 && body.messages.length === 1)),
      lead: sent.find(({ seat }) => seat === null)?.system ?? '',
    };
  };
  const times = (text: string, part: string) => text.split(part).length - 1;

  await end();
  const born = await wake();
  expect(times(born.agent, quote(SOUL))).toBe(1);

  await visitor.open(1);
  await visitor.ask(TOLD);
  await visitor.open('lead');
  await visitor.ask('The lighthouse is in Porto.');
  await end();
  for (let nth = 1; nth <= 3; nth++) {
    const { agent, lead } = await wake();
    expect(times(agent, `Marcus (`), `wake ${nth}`).toBeGreaterThan(0);
    expect(agent, `wake ${nth}`).toContain(`UTC):\n> ${TOLD}`);
    expect(times(agent, quote(SOUL)), `wake ${nth}`).toBe(1);
    expect(lead, `wake ${nth}`).toContain('UTC):\n> The lighthouse is in Porto.');
    await end();
  }

  // And found again by whoever said it: some words, and Enter.
  await visitor.open(1);
  const { page } = visitor;
  await page.keyboard.press('Control+k');
  await page.getByRole('combobox', { name: /^Find anything/ }).fill('lighthouse in porto');
  const found = page.getByRole('option', { name: /^Marcus to Julian|^You to Julian/ });
  await expect.poll(() => found.locator('mark').allTextContents()).toEqual(['lighthouse', 'in', 'Porto']);
  await page.keyboard.press('Enter');
  await page.waitForURL(/\/lead\/at\//);
  const row = page.locator('[data-found]');
  await row.getByText('The lighthouse is in Porto.').waitFor();
  await expect.poll(() => row.evaluate((element) => element === document.activeElement)).toBe(true);

  // By an agent that took part in it, from the page that is open; and by no other.
  await wake();
  const team = teamScript({ souls: { 1: SOUL } });
  const given: string[] = [];
  model.follow((request) => {
    if (request.seat !== 1) return team(request);
    const query = /^Look for the (first|second)/.exec(request.last)?.[1];
    if (query !== undefined)
      return [
        { call: 'search_conversations', input: { query: query === 'first' ? 'daughter called' : 'lighthouse Porto' } },
      ];
    given.push(...request.results);
    return [{ say: 'I looked.' }];
  });
  await visitor.open(1);
  await visitor.ask('Look for the first.');
  await visitor.ask('Look for the second.');
  expect(given).toHaveLength(2);
  expect(given[0]).toMatch(
    /^Found in what you took part in[^]*\n\d\. the human, \S+Z, in your conversation:\n> My daughter is called Ada\.$/m,
  );
  expect(given[1]).toBe('Nothing that you took part in holds these words.');
  expect(visitor.complaints).toEqual([]);
});
