/** A routine, from the page that it is written on to the run in the conversation: the real page, relay and clock; only the model is scripted. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

const WORDS = 'The river is high, and the bridge holds.';

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  const team = teamScript();
  model = await startScriptedModel((request) =>
    request.system.includes('## Daemon Mode') ? [{ say: WORDS }] : team(request),
  );
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: { width: 1280, height: 900 }, ...QUIET }), relay.link);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
});

describe('A routine', { timeout: 120_000 }, () => {
  it('is written on the page, runs without a session, is told of in its history and the conversation, and stops with the rest', async () => {
    const { page } = visitor;
    await visitor.begin();
    await visitor.press('seat 1, empty');
    await page.getByRole('menuitem', { name: /^Summon into this seat/ }).click();
    await visitor.untilSeats('one awake', (seats) => seats.some(({ state }) => state === 'awake'));
    await visitor.press('End session');
    await visitor.untilSeats('it asleep', (seats) => seats[0]?.state === 'sleeping');

    await visitor.press('More places');
    await page.getByRole('menuitem', { name: /^Night/ }).click();
    await visitor.press(/^Every weekday at 7:30/);
    await page.getByRole('dialog').getByLabel('Name').fill('Look at the river');
    await visitor.press('Save');
    const routines = page.getByRole('region', { name: 'Routines of Name1' });
    await routines.getByText(/every weekday at 07:30 · next /).waitFor();
    await page
      .getByRole('list', { name: 'Left with the relay' })
      .getByText(/^Left just now: name, soul/)
      .waitFor();

    await visitor.press('Run now: Look at the river');
    await visitor.press('History of Look at the river');
    const history = routines.getByRole('list', { name: 'History' });
    await history.getByText(WORDS).waitFor();
    expect(await history.innerText()).toMatch(/today \d\d:\d\d\s*done/);
    const facts = page.getByRole('region', { name: 'The same in words' });
    await facts
      .getByRole('row', { name: /Look at the river/ })
      .getByText('done')
      .waitFor();
    expect(await visitor.axe()).toEqual([]);
    await visitor.picture('night');

    await page.getByRole('switch', { name: 'Stop everything' }).click();
    await page.getByRole('switch', { name: 'Stop everything', checked: true }).waitFor();
    await visitor.press('Run now: Look at the river');
    await history.getByText('skipped: wakes were stopped').waitFor();
    expect(model.requests.filter(({ system }) => system.includes('## Daemon Mode'))).toHaveLength(1);

    // In the conversation, as the run that it was; and on the card of whoever comes back.
    await page.goto(relay.url);
    const card = page.getByRole('region', { name: 'While you were away' });
    await card.getByText(WORDS).waitFor();
    await visitor.open(1);
    await visitor.untilRead(WORDS);
    await visitor.untilRead(/routine “Look at the river”/);
    await visitor.press('Put this away');
    await card.waitFor({ state: 'detached' });
    await page.reload();
    await visitor.open(1);
    await visitor.untilRead(WORDS);
    expect(await card.count()).toBe(0);

    // On a phone: the card is opened again from Wakes, scripts say how they are turned on, and what was left is taken back.
    await page.setViewportSize({ width: 360, height: 800 });
    await page.goto(new URL('/wakes', relay.url).href);
    await page.getByRole('link', { name: 'What happened while you were away' }).click();
    await card.getByText(WORDS).waitFor();
    expect(await visitor.axe()).toEqual([]);
    await page.goto(new URL('/night', relay.url).href);
    await visitor.press('New script');
    await page.getByRole('dialog', { name: 'Scripts are off' }).getByText('npm start -- --scripts').waitFor();
    expect(await visitor.axe()).toEqual([]);
    await page.keyboard.press('Escape');
    await visitor.press('Take it back: Name1');
    await page
      .getByRole('list', { name: 'Left with the relay' })
      .getByText(/^You took it back\./)
      .waitFor();
    expect(await page.evaluate(() => document.documentElement.scrollWidth)).toBe(360);
    expect(await visitor.axe()).toEqual([]);
    expect(visitor.complaints).toEqual([]);
  });
});
