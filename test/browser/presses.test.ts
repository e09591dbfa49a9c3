/**
 * How many presses the ten most common acts take, counted in the page: every press of a mouse or a
 * finger, and every key outside a field. Words that are written, with the Enter at their end, are
 * none.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createRepository } from '../support/person-repository.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { greetByName } from '../support/task-mind.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const DESK = { width: 1440, height: 900 };
const PHONE = { width: 360, height: 780 };
/** ms until something counts as missing. */
const LATEST_MS = 20_000;
const NAMES = { 1: 'Wren', 2: 'Sable' };
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
let page: Page;
let folder: string;
let repository: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-presses-'));
  repository = createRepository(join(folder, 'greeter'), { 'greet.txt': 'Hello\n' });
  const team = teamScript({ names: NAMES });
  model = await startScriptedModel((request) => {
    const { last, results, system, body } = request;
    if (system.includes('## Daemon Mode')) return [{ say: 'The bridge holds.' }];
    if (JSON.stringify(body.messages).includes('The human starts you')) return greetByName(request);
    if (results.some((result) => result.startsWith('This waits for the human'))) return [{ say: 'I have asked you.' }];
    if (last.includes('The human said yes')) return [{ say: 'Then I read it.' }];
    if (last.includes('Read a page')) return [{ call: 'fetch_page', input: { url: 'https://basalt.example/news' } }];
    if (last.includes('Write a plan'))
      return [{ call: 'write_file', input: { path: 'plan.md', content: '# Plan\n\nMeasure the pier.\n' } }];
    if (last.includes('every weekday')) return [{ call: 'propose_routine', input: ROUTINE }];
    if (results.length > 0 && last === '') return [{ say: 'Done.' }];
    return team(request);
  });
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  const context = await profile.open({ viewport: DESK, ...QUIET });
  await context.addInitScript(countPresses);
  visitor = await createVisitor(context, relay.link);
  ({ page } = visitor);
  page.setDefaultTimeout(LATEST_MS);
  await visitor.begin();
  await visitor.hatch(1);
  await visitor.hatch(2);
}, 120_000);
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Runs in the page before anything of its own: counts presses in its session, through a reload. */
function countPresses(): void {
  const count = () => sessionStorage.setItem('presses', String(Number(sessionStorage.getItem('presses') ?? 0) + 1));
  const inField = (target: EventTarget | null) =>
    target instanceof HTMLTextAreaElement ||
    (target instanceof HTMLInputElement && !['checkbox', 'radio', 'file'].includes(target.type));
  addEventListener('pointerdown', ({ isTrusted }) => isTrusted && count(), true);
  addEventListener(
    'keydown',
    ({ isTrusted, key, target }) =>
      isTrusted && !inField(target) && !['Control', 'Shift', 'Alt', 'Meta'].includes(key) && count(),
    true,
  );
}
const presses = () => page.evaluate(() => Number(sessionStorage.getItem('presses') ?? 0));

/** Pictures to look at: ROOST_PICTURES=/some/folder. */
const PICTURES = process.env['ROOST_PICTURES'];
async function shoot(name: string): Promise<void> {
  if (PICTURES === undefined) return;
  await page.waitForTimeout(300);
  await page.screenshot({ path: `${PICTURES}/presses-${name}-${page.viewportSize()?.width}.png` });
}
async function picture(name: string): Promise<void> {
  for (const size of PICTURES === undefined ? [] : [PHONE, DESK]) {
    await page.setViewportSize(size);
    await shoot(name);
  }
}

/** Does it from where the page is, until its outcome is in sight. */
async function within(most: number, act: () => Promise<unknown>): Promise<void> {
  const before = await presses();
  await act();
  expect((await presses()) - before).toBeLessThanOrEqual(most);
}
const seat = (name: string) =>
  page.getByRole('list', { name: 'The team' }).getByRole('button', { name: new RegExp(`^${name}, seat`) });
const log = (name: string) => page.getByRole('region', { name: `Conversation with ${name}`, exact: true });
/** Into the field that has the focus, as a person goes on writing. */
const write = async (text: string) => {
  await page.keyboard.type(text);
  await page.keyboard.press('Enter');
};
const uncovered = (target: Locator) =>
  target.evaluate((element) => {
    const { left, top, width, height } = element.getBoundingClientRect();
    return element.contains(document.elementFromPoint(left + width / 2, top + height / 2));
  });

describe('The ten most common acts', { timeout: 120_000 }, () => {
  it('talks to an agent with one press', async () => {
    await goWithin(page, '/');
    await within(1, async () => {
      await seat('Wren').click();
      await page.getByRole('textbox', { name: 'Write to Wren' }).and(page.locator(':focus')).waitFor();
      await write('Hello there');
      await log('Wren').getByText('Seat 1 heard: Hello there').waitFor();
    });
  });

  it('opens the file just written with one press', async () => {
    await visitor.open(1);
    await visitor.say('Write a plan, please.');
    await within(1, async () => {
      await page.getByRole('button', { name: 'Open plan.md' }).click();
      await page.getByRole('dialog', { name: 'plan.md' }).getByText('Measure the pier.').waitFor();
    });
    await picture('file');
    await page.keyboard.press('Escape');
  });

  it('says what today has cost on every page', async () => {
    await within(0, async () => {
      for (const path of ['/', '/projects', '/inbox', '/schedule', '/settings']) {
        await goWithin(page, path);
        await page.getByTitle('Costs of today').getByText('$').waitFor();
      }
    });
    await picture('cost');
  });

  it.each([DESK, PHONE])('changes the model with two presses, $width px wide', async (size) => {
    await page.setViewportSize(size);
    await goWithin(page, '/');
    await within(2, async () => {
      await page
        .getByTitle(/Sonnet 5\.5: answers/)
        .filter({ visible: true })
        .click();
      const models = page.getByRole('dialog', { name: 'Model' });
      const model = models.getByRole('radio', { name: 'Sonnet 5.5' });
      await model.waitFor();
      await shoot('model');
      await model.click();
      await models.waitFor({ state: 'detached' });
      // The lead had another model. The second time, everybody has the chosen one already.
      if (size === DESK) await page.getByText('Everybody: Sonnet 5.5 from the next message on.').first().waitFor();
    });
    await shoot('model-after');
    await page.setViewportSize(DESK);
  });

  it('answers the question of another agent with one press', async () => {
    await visitor.open(2);
    await visitor.say('Read a page, please.');
    await log('Sable').getByText('I have asked you.').waitFor();
    await visitor.open(1);
    await within(1, async () => {
      const question = page.getByRole('region', { name: 'A question for you' });
      const yes = question.getByRole('button', { name: 'Yes, once' });
      await yes.and(page.locator(':enabled')).waitFor();
      await picture('question');
      await yes.click();
      await question.waitFor({ state: 'detached' });
    });
    await visitor.open(2);
    await visitor.untilRead('Then I read it.');
  });

  it('takes a routine from the conversation, with one press to save it', async () => {
    await visitor.open(1);
    const card = page.getByRole('article', { name: 'Morning round' });
    await within(0, async () => {
      await page.getByRole('textbox', { name: 'Write to Wren' }).and(page.locator(':focus')).waitFor();
      await write('Do this every weekday at 7:30.');
      await card.getByText(/1 run a day/).waitFor();
    });
    await within(1, async () => {
      await card.getByRole('button', { name: 'Save: Morning round' }).click();
      await card.waitFor({ state: 'detached' });
    });
  });

  it('opens the form of a routine with one press', async () => {
    await goWithin(page, '/schedule');
    await within(1, async () => {
      await page.getByRole('button', { name: 'A new routine' }).click();
      await page.getByRole('dialog').getByLabel('Name').waitFor();
    });
    await page.keyboard.press('Escape');
  });

  it('allows commands for a project, where one is asked for, with one press', async () => {
    await goWithin(page, '/projects/new');
    await page.getByRole('textbox', { name: 'Name' }).fill('Greeter');
    await page.getByRole('radio', { name: /^A repository/ }).check({ force: true });
    await page.getByRole('textbox', { name: 'Repository' }).fill(repository);
    await page.getByRole('radio', { name: /ask me before each command/ }).check();
    await page.getByRole('button', { name: 'Create' }).click();
    const add = page.getByRole('textbox', { name: 'New task in Backlog' });
    await add.fill('Greet by name');
    await add.press('Enter');
    const card = page.locator('.task-card', { hasText: 'Greet by name' });
    await within(2, async () => {
      const start = card.getByRole('button', { name: /^Start with / }).first();
      // The columns may still change their width, and the card then leaves the pointer.
      await vi.waitFor(
        async () => {
          await card.hover();
          await start.click({ timeout: 1_000 });
        },
        { timeout: 20_000 },
      );
      await card
        .getByText(/works on it|: /)
        .first()
        .waitFor();
    });
    const question = page.getByRole('region', { name: 'A question for you' });
    const allow = question.getByRole('button', { name: 'Allow in Greeter' }).and(page.locator(':enabled'));
    await allow.waitFor();
    await picture('allow');
    await within(1, async () => {
      await allow.click();
      await page.getByText('Agents now run commands in Greeter without asking.').waitFor();
      await card.getByText('Waits for your review').waitFor();
    });
    await picture('allowed');
    await page.reload();
    await card.waitFor();
  });

  it('reviews and merges with three presses', async () => {
    await goWithin(page, '/');
    await within(3, async () => {
      await page
        .getByRole('navigation', { name: 'Places' })
        .getByRole('link', { name: /^Inbox/ })
        .click();
      await page.getByRole('link', { name: 'Review', exact: true }).click();
      const review = page.getByRole('region', { name: /^Review of #1/ });
      await review.getByText('Hello, Ada').first().waitFor();
      await review.getByRole('button', { name: 'Merge', exact: true }).click();
      await review.getByText('Merged').first().waitFor();
    });
    expect(readFileSync(join(repository, 'greet.txt'), 'utf8')).toBe('Hello, Ada\n');
  });

  it('wakes everybody with one press, also after a night of which it reports', async () => {
    await goWithin(page, '/');
    await visitor.press('End session');
    const asleep = (all: readonly { state: string }[]) => all.every(({ state }) => state !== 'awake');
    await visitor.untilSeats('all asleep', asleep);
    await goWithin(page, '/schedule');
    await visitor.press('Run now: Morning round');
    await visitor.press('History: Morning round');
    await page.getByRole('list', { name: 'History' }).getByText('The bridge holds.').waitFor();
    await page.goto(relay.url);
    await page.getByRole('region', { name: 'While you were away' }).getByText('1 agent worked').waitFor();
    await picture('morning');
    await within(1, async () => {
      const wake = page.getByRole('button', { name: 'WAKE', exact: true });
      await wake.waitFor();
      expect(await uncovered(wake)).toBe(true);
      await wake.click();
      await visitor.untilSeats('both awake', (all) => all.filter(({ state }) => state === 'awake').length === 2);
    });
    await picture('awake');
    expect(visitor.complaints).toEqual([]);
  });
});
