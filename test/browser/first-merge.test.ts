/**
 * From *New project* to the first merge, as a new user does it: no setting is opened, and the
 * presses are counted. On a desk and as wide as a phone.
 */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Locator } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createGuest, type Guest, QUIET } from '../support/chromium.ts';
import { createRepository } from '../support/person-repository.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { greetByName } from '../support/task-mind.ts';
import { createVisitor, type Visitor } from '../support/visitor.ts';

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
let folder: string;

/** Presses of a mouse or finger, and fields that were typed into. */
let presses = 0;
const press = async (target: Locator) => {
  presses += 1;
  await target.click();
};
const type = async (target: Locator, text: string) => {
  presses += 1;
  await target.fill(text);
};

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'roost-first-merge-'));
  const team = teamScript();
  model = await startScriptedModel((request) =>
    JSON.stringify(request.body.messages).includes('The human starts you') ? greetByName(request) : team(request),
  );
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  profile = createGuest();
  visitor = await createVisitor(await profile.open({ viewport: { width: 1440, height: 900 }, ...QUIET }), relay.link);
  await visitor.begin();
  await visitor.press('seat 1, empty');
  await visitor.page.getByRole('menuitem', { name: /^Summon into this seat/ }).click();
  await visitor.untilSeats('one awake', (all) => all.some(({ state }) => state === 'awake'));
});
afterAll(async () => {
  await profile.remove();
  await relay.stop();
  await model.close();
  rmSync(folder, { recursive: true, force: true });
});

/** Pictures to look at: ROOST_PICTURES=/some/folder. */
const PICTURES = process.env['ROOST_PICTURES'];

describe('From New project to the first merge', { timeout: 120_000 }, () => {
  it.each([
    ['a desk', 1440, 900],
    ['a phone', 390, 844],
  ] as const)('takes at most 12 presses and no setting, on %s', async (name, width, height) => {
    const repository = createRepository(join(folder, name.replace('a ', '')), { 'greet.txt': 'Hello\n' });
    const page = await visitor.page.context().newPage();
    await page.setViewportSize({ width, height });
    const picture = async (what: string) =>
      PICTURES === undefined
        ? undefined
        : await page.screenshot({ path: `${PICTURES}/first-merge-${what}-${width}.png` });
    await page.goto(new URL('/projects', relay.url).href);
    presses = 0;
    await press(page.getByRole('link', { name: 'New project' }));
    await type(page.getByRole('textbox', { name: 'Name' }), `Greeter ${width}`);
    await press(page.getByRole('radio', { name: /^A repository/ }));
    await type(page.getByRole('textbox', { name: 'Repository' }), repository);
    await picture('form');
    await press(page.getByRole('button', { name: 'Create' }));

    const add = page.getByRole('textbox', { name: 'New task in Backlog' });
    await add.waitFor();
    await type(add, 'Greet by name');
    await page.keyboard.press('Enter');
    presses += 1;
    const card = page.locator('.task-card', { hasText: 'Greet by name' });
    await card.hover();
    await picture('card');
    await press(card.getByRole('button', { name: /^Start with / }).first());
    await page.waitForURL((url) => url.pathname.startsWith('/projects/'));
    if (width < 760) {
      // The column of the started task opens.
      await page.getByRole('tab', { name: /^In progress/, selected: true }).waitFor();
      await press(page.getByRole('tab', { name: /^Review/ }));
    }
    await card.getByText('Waits for your review').waitFor({ timeout: 30_000 });
    await picture('review');

    await press(card.getByRole('link', { name: 'Review of #1 Greet by name' }));
    const review = page.getByRole('region', { name: /^Review of #1/ });
    await review.getByText('Hello, Ada').first().waitFor();
    await picture('diff');
    // A notice whose subject is on the screen is gone.
    await expect.poll(() => page.getByText(/asks you for a review/).count()).toBe(0);
    await press(review.getByRole('button', { name: 'Merge', exact: true }));
    await review.getByText('Merged').first().waitFor({ timeout: 30_000 });
    await picture('merged');
    expect(readFileSync(join(repository, 'greet.txt'), 'utf8')).toBe('Hello, Ada\n');
    expect(presses).toBeLessThanOrEqual(12);
    await page.close();
    expect(visitor.complaints).toEqual([]);
  });
});
