/** A person without a mouse: the main acts with keys alone, and the focus after each of them. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createRepository } from '../support/person-repository.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type Part, type ScriptedModel } from '../support/scripted-model.ts';
import { greetByName } from '../support/task-mind.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

/** ms until something counts as missing. */
const LATEST_MS = 15_000;
/** Presses of Tab after which something counts as out of reach. */
const MOST_TABS = 80;

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
let page: Page;
let folder: string;
let repository: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-keyboard-'));
  repository = createRepository(join(folder, 'greeter'), { 'greet.txt': 'Hello\n' });
  const team = teamScript({ names: { 1: 'Wren' } });
  model = await startScriptedModel((request): readonly Part[] | ReturnType<typeof team> => {
    const { last, results, body } = request;
    if (JSON.stringify(body.messages).includes('The human starts you')) return greetByName(request);
    if (results.some((result) => result.startsWith('This waits for the human'))) return [{ say: 'I have asked you.' }];
    if (last.includes('The human said yes')) return [{ say: 'Then I read it.' }];
    if (last.includes('Read a page')) return [{ call: 'fetch_page', input: { url: 'https://basalt.example/news' } }];
    if (last.includes('Run a command') && results.length === 0)
      return [{ call: 'run_command', input: { command: 'ls' } }];
    return team(request);
  });
  relay = await startRelay({ args: ['--rehearsal', '{"delayMs":5,"wordMs":0}'] });
  profile = createGuest();
  const context = await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET });
  visitor = await createVisitor(context, relay.link);
  ({ page } = visitor);
  page.setDefaultTimeout(LATEST_MS);
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
  rmSync(folder, { recursive: true, force: true });
});

const focused = () => page.locator(':focus');
const press = (key: string) => page.keyboard.press(key);
const type = (text: string) => page.keyboard.type(text);

/** Runs in the page: the focused element, as a person knows it, and whether it is in sight. */
function readFocus() {
  const element = document.activeElement;
  if (!(element instanceof HTMLElement) || element === document.body) return { name: '', covered: false };
  const { left, top, width, height } = element.getBoundingClientRect();
  const [x, y] = [left + width / 2, top + height / 2];
  const at = document.elementFromPoint(x, y);
  const labels = element instanceof HTMLInputElement ? [...(element.labels ?? [])] : [];
  const name =
    element.getAttribute('aria-label') ?? labels.map(({ textContent }) => textContent).join(' ') + element.innerText;
  // What is hidden shows its focus on its label.
  return {
    name,
    covered: width > 2 && at?.closest('.dialog-ways') != null && !at.contains(element) && !element.contains(at),
  };
}

/** Tab by Tab to what has this name, and then this key. */
async function go(name: string | RegExp, key: string | null = 'Enter'): Promise<void> {
  const seen: string[] = [];
  for (let tabs = 0; tabs < MOST_TABS; tabs += 1) {
    const now = await page.evaluate(readFocus);
    expect(now.covered, `${now.name} is covered`).toBe(false);
    const said = now.name.replace(/\s+/g, ' ').trim();
    if (typeof name === 'string' ? said === name : name.test(said)) return key === null ? undefined : press(key);
    seen.push(said);
    await press('Tab');
  }
  throw new Error(`Tab never comes to ${String(name)}; it passes ${JSON.stringify(seen)}`);
}
/** Finds it with Ctrl+K and opens it. */
async function find(words: string, title: string | RegExp): Promise<void> {
  await press('Control+k');
  await page.getByRole('combobox', { name: 'Find anything' }).and(focused()).waitFor();
  await type(words);
  await page.getByRole('option', { name: title, selected: true }).waitFor();
  await press('Enter');
}
const composer = (name: string) => page.getByRole('textbox', { name: `Write to ${name}` }).and(focused());

describe('By keyboard alone', { timeout: 120_000 }, () => {
  it('hatches a team, and moves the focus to its grid when SUMMON disappears', async () => {
    await go('Your name', null);
    await type('Maya');
    await press('Enter');
    await page.getByRole('button', { name: 'SUMMON' }).and(focused()).waitFor();
    await press('Enter');
    await visitor.untilAll('awake');
    await page.getByRole('button', { name: 'SUMMON' }).waitFor({ state: 'detached' });
    await page.getByRole('list', { name: 'The team' }).getByRole('button').and(focused()).waitFor();
  });

  it('connects a model, with the focus on Done and back', async () => {
    await press('c');
    await page
      .getByRole('textbox', { name: /^Write to/ })
      .and(focused())
      .waitFor();
    await find('connect', 'Connect a model');
    await page.getByRole('dialog', { name: 'Connect a model' }).waitFor();
    await go(/^Claude with an Anthropic key/, null);
    for (let doors = 0; doors < 3; doors += 1) await press('ArrowDown');
    await go(/^Address/, null);
    await type(model.url);
    await press('Enter');
    await page.getByRole('button', { name: 'Done' }).and(focused()).waitFor();
    await press('Enter');
    await expect
      .poll(() => page.evaluate(() => document.activeElement?.closest('#main, dialog, body')?.id))
      .toBe('main');
  });

  it('a question is answered, and the focus is where one writes on', async () => {
    const name = (await visitor.seats())[0]?.name ?? '';
    await find(name, new RegExp(`^${name}`));
    await page.getByRole('region', { name: `Conversation with ${name}`, exact: true }).waitFor();
    await press('c');
    await composer(name).waitFor();
    await type('Run a command');
    await press('Enter');
    // What the person has to do, in place of what the relay told the agent.
    await page.getByText('You have not allowed this.').waitFor();
    expect(await visitor.reading()).not.toContain('run_command');
    await type('Read a page');
    await press('Enter');
    const yes = page.getByRole('button', { name: 'Yes, once' });
    await yes.and(page.locator(':enabled')).waitFor();
    while ((await yes.and(focused()).count()) === 0) await press('Shift+Tab');
    await press('Enter');
    await yes.waitFor({ state: 'detached' });
    await composer(name).waitFor();
    await visitor.untilRead('Then I read it.');
  });

  it('a routine is made, and nothing in its form is covered', async () => {
    await press('Escape');
    await find('schedule', 'Schedule');
    await page.getByRole('heading', { name: 'Schedule', exact: true }).waitFor();
    await go(/^Morning round:/);
    await page.getByRole('dialog', { name: 'A new routine' }).waitFor();
    await go('Save');
    await page.getByRole('heading', { name: 'Schedule', exact: true }).and(focused()).waitFor();
    await page.getByRole('button', { name: 'Run now: Morning round' }).waitFor();
  });

  it('a project is made, a task in it started, reviewed and merged', async () => {
    await press('b');
    await go('New project');
    await go('Name', null);
    await type('Greeter');
    await go(/^A shared folder/, 'ArrowRight');
    await go(/^Repository/, null);
    await type(repository);
    await go('Create');
    await page.getByRole('heading', { name: 'Greeter' }).and(focused()).waitFor();
    await go('New task in Backlog', null);
    await type('Greet by name');
    await press('Enter');
    const card = page.getByRole('link', { name: 'Greet by name', exact: true });
    await card.waitFor();
    while ((await card.and(focused()).count()) === 0) await press('Shift+Tab');
    await press('s');
    await page.getByText('Waits for your review').waitFor();
    // It moved through two columns.
    await card.and(focused()).waitFor();
    await go('Review of #1 Greet by name');
    await page.getByRole('heading', { name: 'Greet by name' }).and(focused()).waitFor();
    await page.getByRole('button', { name: 'Merge', exact: true }).and(page.locator(':enabled')).waitFor();
    await press('m');
    await page.getByRole('dialog').getByRole('button', { name: 'Merge' }).and(focused()).waitFor();
    await press('Enter');
    await page.getByText('Merged').first().waitFor();
    await page.getByRole('heading', { name: 'Greet by name' }).and(focused()).waitFor();
    expect(readFileSync(join(repository, 'greet.txt'), 'utf8')).toBe('Hello, Ada\n');
  });

  it('dialogs give the focus back, and nothing behind them is reached', async () => {
    await press('g');
    await go(/ · Scripted/);
    const models = page.getByRole('dialog', { name: 'Model' });
    await models.waitFor();
    for (let tabs = 0; tabs < 8; tabs += 1) {
      await press('Tab');
      expect(await page.evaluate(() => document.activeElement?.matches('body, dialog *'))).toBe(true);
    }
    await press('Escape');
    await page
      .getByTitle(/Scripted: answers/)
      .and(focused())
      .waitFor();
    await go(/today$/);
    await page.getByRole('heading', { name: 'Activity' }).waitFor();
    await press('Escape');
    await page.getByRole('list', { name: 'The team' }).waitFor();
    expect(visitor.complaints).toEqual([]);
  });
});
