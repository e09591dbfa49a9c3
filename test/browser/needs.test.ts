/**
 * Who works and who asks, in every tab: the tile's second line, the amber ring, and what needs the
 * person, answered from any page.
 */
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const AGENT = fileURLToPath(new URL('../support/acp-agent.mjs', import.meta.url));

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
let beside: Page;
let release: () => void = () => undefined;
beforeAll(async () => {
  const team = teamScript();
  const held = () => new Promise<void>((resolve) => (release = resolve));
  model = await startScriptedModel((request) => {
    const { last, results } = request;
    if (results.some((result) => result.startsWith('This waits for the human'))) return [{ say: 'I have asked you.' }];
    if (last.includes('Write slowly')) return [{ say: 'Once ' }, { until: held() }, { say: 'upon a time.' }];
    if (last.includes('Count')) return [{ call: 'run_command', input: { command: 'wc -w notes.md' } }];
    if (last.includes('From a program')) return [{ until: held() }, { say: 'From a model.' }];
    if (last.includes('The human said yes')) return [{ say: 'Then I do it.' }];
    if (last.includes('The human said no')) return [{ say: 'Then I leave it.' }];
    return team(request);
  });
  relay = await startRelay({
    args: ['--scripts'],
    env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' },
  });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET }), relay.link);
  await visitor.begin();
  await visitor.hatch(1);
  await visitor.open(1);
  beside = await visitor.page.context().newPage();
  beside.setDefaultTimeout(60_000);
  await beside.goto(new URL('/settings/agents', relay.url).href);
  await beside.getByRole('radio', { name: /^Asks before commands/ }).click();
  await beside.getByText(/saved\. It applies now/).waitFor();
}, 120_000);
afterAll(async () => {
  release();
  await profile.remove();
  await relay.stop();
  await model.close();
});

const tile = (page: Page) => page.locator('.seat').filter({ has: page.getByRole('button', { name: /, seat 1, / }) });
/** What the tile says in each of its three ways, as far as they must agree. */
const said = async (page: Page, verb: string) => {
  await tile(page).locator('.seat-sub').getByText(verb).waitFor();
  const button = tile(page).locator('.seat-button');
  expect(await button.getAttribute('title')).toContain(verb);
  expect(await button.getAttribute('aria-label')).toContain(`, seat 1, ${verb}`);
};

/** Pictures to look at: ROOST_PICTURES=/some/folder. */
async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['ROOST_PICTURES'];
  if (folder === undefined) return;
  const before = page.viewportSize();
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${folder}/${name}-${width}.png` });
  }
  if (before) await page.setViewportSize(before);
}

const bar = (page: Page) => page.getByRole('region', { name: 'A question for you' });
/** The number of the inbox, in the header or in the bar of a phone. */
const count = (page: Page) => page.locator('.waits-badge:visible');

async function ask(text: string): Promise<void> {
  expect(await visitor.ask(text)).toContain('I have asked you.');
}

describe('Who works, and who asks', { timeout: 120_000 }, () => {
  it('shows in every tab what an agent writes, and “awake” once it is done', async () => {
    await goWithin(beside, '/');
    await visitor.say('Write slowly, please.');
    await said(visitor.page, 'writing');
    await said(beside, 'writing');
    await picture(beside, 'writes');
    release();
    await said(beside, 'awake');
    await said(visitor.page, 'awake');
  });

  it("shows an API client's work on the tile of its agent", async () => {
    await goWithin(beside, '/settings/clients');
    const name = (await tile(visitor.page).locator('.seat-name').textContent()) ?? '';
    await beside.getByRole('combobox', { name: /^For/ }).selectOption({ label: name });
    await beside.getByPlaceholder('Claude Code on my laptop').fill('Claude Code');
    await beside.getByRole('button', { name: /^Create a credential/ }).click();
    const secret = /roost_[\w-]{43}/.exec((await beside.getByRole('dialog').textContent()) ?? '')?.[0] ?? '';
    await beside.keyboard.press('Escape');
    await goWithin(beside, '/');
    const asked = fetch(new URL(`/llm/${secret}/v1/messages`, relay.url), {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'anthropic-version': '2023-06-01' },
      body: JSON.stringify({
        model: 'claude-sonnet-4-5',
        max_tokens: 50,
        messages: [{ role: 'user', content: 'From a program.' }],
      }),
    });
    await said(visitor.page, 'thinking');
    await said(beside, 'thinking');
    release();
    expect((await asked).status).toBe(200);
    await said(beside, 'awake');
  });

  it('shows a waiting question as an amber ring and on every page, and takes one press as the answer', async () => {
    await goWithin(beside, '/activity/costs');
    await ask('Count the words.');
    await said(visitor.page, 'asks you');
    expect(await tile(visitor.page).getAttribute('data-line')).toBe('asks');
    // In its own conversation the question stands already.
    expect(await bar(visitor.page).count()).toBe(0);
    // Elsewhere it is in the bar, which takes no focus and pushes the page down.
    await bar(beside).getByText('wc -w notes.md').waitFor();
    expect(await count(beside).innerText()).toMatch(/^1/);
    expect(await beside.title()).toMatch(/^\(1\) /);
    expect(await bar(beside).evaluate((element) => element.contains(document.activeElement))).toBe(false);
    const close = beside.getByRole('main').getByRole('button', { name: 'Close' });
    const isUncovered = await close.evaluate((button) => {
      const { left, top, width, height } = button.getBoundingClientRect();
      return button.contains(document.elementFromPoint(left + width / 2, top + height / 2));
    });
    expect(isUncovered).toBe(true);
    await picture(beside, 'asks');
    await bar(beside).getByRole('button', { name: 'Yes, once' }).click();
    await visitor.page.locator('.log').getByText('Then I do it.', { exact: true }).waitFor();
    await bar(beside).waitFor({ state: 'detached' });
    await said(visitor.page, 'awake');
  });

  it('a no is one press too, on a phone', async () => {
    await beside.setViewportSize({ width: 360, height: 740 });
    await goWithin(beside, '/settings');
    await ask('Count the words again.');
    await bar(beside).getByText('wc -w notes.md').waitFor();
    expect(await beside.evaluate(() => document.documentElement.scrollWidth)).toBeLessThanOrEqual(360);
    expect(await count(beside).innerText()).toMatch(/^1/);
    await bar(beside).getByRole('button', { name: 'No', exact: true }).click();
    await visitor.page.locator('.log').getByText('Then I leave it.', { exact: true }).waitFor();
    await beside.setViewportSize({ width: 1440, height: 900 });
  });

  it('keeps a postponed question in the inbox, opened by a key and answered by keyboard', async () => {
    await goWithin(beside, '/schedule');
    await ask('Count them once more.');
    await bar(beside).getByRole('button', { name: 'Put away' }).click();
    await bar(beside).waitFor({ state: 'detached' });
    await beside.keyboard.press('y');
    await beside.getByRole('heading', { level: 1, name: 'Inbox' }).waitFor();
    const yes = beside.getByRole('button', { name: 'Yes, once' });
    await yes.and(beside.locator(':enabled')).waitFor();
    await beside.getByRole('main').getByRole('button', { name: 'Close' }).focus();
    for (let i = 0; i < 12 && !(await yes.evaluate((element) => element === document.activeElement)); i++)
      await beside.keyboard.press('Tab');
    await beside.keyboard.press('Enter');
    await visitor.page.locator('.log').getByText('Then I do it.', { exact: true }).nth(1).waitFor();
    expect(visitor.complaints).toEqual([]);
  });

  it("shows an ACP agent's work on the tile of its agent", async () => {
    const log = join(await createHome(), 'log');
    await goWithin(beside, '/settings/programs');
    await beside.getByLabel('Name', { exact: true }).fill('Stand-in');
    await beside.getByLabel(/^Command of an ACP agent/).fill(`${process.execPath} ${AGENT} ${log}`);
    await beside.getByRole('button', { name: 'Connect' }).click();
    await beside.getByText(/acp-agent 1\.0/).waitFor();
    await goWithin(beside, '/settings/advanced');
    await beside.getByRole('combobox', { name: 'Driven by Everybody' }).selectOption({ label: 'Stand-in' });
    await beside.getByText('Driven by saved. It applies now.').waitFor();
    await goWithin(beside, '/');
    await visitor.say(`DO ${JSON.stringify([{ say: 'Once upon a time ' }, { wait: true }])}`);
    await said(visitor.page, 'writing');
    await said(beside, 'writing');
    await visitor.press('Stop');
    await said(visitor.page, 'awake');
    await said(beside, 'awake');
  });
});
