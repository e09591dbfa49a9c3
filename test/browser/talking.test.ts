/**
 * Talking and working, as a person does it: steps with results, a written file opened by one press,
 * a routine saved from the conversation, and one question to everybody.
 */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const PLAN = '# The plan\n\n1. Measure the pier.\n2. Tell the mayor.\n3. Paint it blue.\n4. Rest.\n';
const STEPS = [
  { call: 'write_file', input: { path: 'notes/plan.md', content: PLAN } },
  { call: 'list_files', input: {} },
  { call: 'read_file', input: { path: 'notes/plan.md' } },
  { call: 'read_file', input: { path: 'gone.md' } },
] as const;
const ROUTINE = {
  name: 'Morning round',
  instructions: 'Read the news of the bridge and tell me what matters.',
  why: 'You asked for it.',
  cron: '30 7 * * 1-5',
};

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
beforeAll(async () => {
  const team = teamScript({ names: { 1: 'Wren', 2: 'Sable' } });
  model = await startScriptedModel((request) => {
    const { last, results, seat } = request;
    if (last.includes('Make a plan')) return [{ say: 'I write it down first.' }, ...STEPS];
    if (results.some((result) => result.includes('no file'))) return [{ say: 'The plan is written.' }];
    if (last.includes('every weekday')) return [{ call: 'propose_routine', input: ROUTINE }];
    if (results.some((result) => result.includes('waits for the human'))) return [{ say: 'Save it when you like it.' }];
    if (last.includes('What is your colour')) return [{ say: `Seat ${seat} likes **blue**.` }];
    if (results.length > 0 && last === '') return [{ say: 'Done.' }];
    return team(request);
  });
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET }), relay.link);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
});

/** Pictures to look at: ROOST_PICTURES=/some/folder. */
async function picture(name: string): Promise<void> {
  const folder = process.env['ROOST_PICTURES'];
  if (folder === undefined) return;
  const { page } = visitor;
  for (const scheme of ['dark', 'light'] as const) {
    await page.emulateMedia({ colorScheme: scheme });
    for (const [width, height] of [
      [1440, 900],
      [390, 844],
    ] as const) {
      await page.setViewportSize({ width, height });
      await page.waitForTimeout(400);
      await page.screenshot({ path: `${folder}/${name}-${scheme}-${width}.png` });
    }
  }
  await page.emulateMedia({ colorScheme: 'dark' });
  await page.setViewportSize({ width: 1440, height: 900 });
}

describe('Talking', { timeout: 180_000 }, () => {
  it('shows the steps of an answer as verbs, and opens the file just written by one press', async () => {
    const { page } = visitor;
    await visitor.begin();
    await visitor.hatch(1);
    await visitor.hatch(2);
    await visitor.open(1);
    await visitor.ask('Make a plan, please.');
    await page.getByText('worked 4 steps, 1 failed').waitFor();
    const card = page.getByRole('article', { name: 'plan.md' });
    await card.getByText('Measure the pier.').waitFor();
    await picture('steps');
    await page.getByText('worked 4 steps, 1 failed').click();
    await page.getByText('opened notes/plan.md, done').waitFor();
    await page.getByText('could not read gone.md, failed').waitFor();
    await picture('steps-open');
    expect(await visitor.reading()).not.toMatch(/write_file|list_files|seat 1 ·/);
    expect(await visitor.axe()).toEqual([]);
    await card.getByRole('button', { name: 'Open plan.md' }).click();
    await page.getByRole('dialog', { name: 'plan.md' }).getByText('Paint it blue.').waitFor();
    await picture('file');
    await page.keyboard.press('Escape');
  });

  it('saves a routine that was asked for by talk, by one press in the conversation, with its price', async () => {
    const { page } = visitor;
    await visitor.ask('Please do this every weekday at 7:30.');
    const card = page.getByRole('article', { name: 'Morning round' });
    await card.getByText(/1 run a day/).waitFor();
    await picture('routine');
    await card.getByRole('button', { name: 'Save: Morning round' }).click();
    await card.waitFor({ state: 'detached' });
  });

  it('asks everyone at once, and shows the answers side by side', async () => {
    const { page } = visitor;
    await goWithin(page, '/everyone');
    await page.getByText(/^2 agents/).waitFor();
    await page.getByRole('textbox', { name: 'Message to everyone who is awake' }).fill('What is your colour?');
    await page.getByRole('button', { name: 'Ask', exact: true }).click();
    await page.getByText('Seat 1 likes').waitFor();
    await page.getByText('Seat 2 likes').waitFor();
    await picture('everyone');
    expect(await visitor.axe()).toEqual([]);
    await page.reload();
    await page.getByText('Seat 2 likes').waitFor();
    expect(visitor.complaints).toEqual([]);
  });
});
