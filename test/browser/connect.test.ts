/** From a fresh start to the first real talk, without a terminal. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import type { Browser } from 'playwright-core';
import { launchBrowser, QUIET } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor } from '../support/visitor.ts';

const KEY = 'sk-planted-on-the-page-31c9';
let browser: Browser;
let relay: TestRelay;
let model: ScriptedModel;
beforeAll(async () => {
  [browser, model] = await Promise.all([launchBrowser(), startScriptedModel(teamScript())]);
});
beforeEach(async () => {
  relay = await startRelay();
});
afterEach(async () => {
  await relay.stop();
});
afterAll(async () => {
  await browser.close();
  await model.close();
});

it.each([
  { width: 1440, height: 900, colorScheme: 'dark' },
  { width: 360, height: 780, colorScheme: 'light' },
] as const)('a model is connected on the page, the team hatches, and is talked to, at $width px', async (size) => {
  const { width, height, colorScheme } = size;
  const context = await browser.newContext({ ...QUIET, viewport: { width, height }, colorScheme });
  const anna = await createVisitor(context, relay.link);
  const { page } = anna;
  const shot = (name: string) => anna.picture(`connect-${width}-${name}`);
  await page.getByText(/no model is connected yet/).waitFor();
  await page.getByRole('link', { name: 'Connect a model' }).filter({ visible: true }).first().click();
  await page.getByRole('radio', { name: 'A model of your own' }).check({ force: true });
  await page.getByLabel('Address').fill(model.url);
  await page.getByLabel('Key, if it wants one').fill(KEY);
  await shot('1-form');
  expect(await anna.axe()).toEqual([]);
  await page.getByRole('button', { name: 'Connect', exact: true }).click();
  await page.getByText(/answers, [\d.]+ s\./).waitFor();
  await shot('2-answers');
  expect(await anna.axe()).toEqual([]);
  await page.getByRole('button', { name: 'Done' }).click();
  await anna.begin('Anna', 'Sol');
  await anna.press('SUMMON');
  const born = await anna.untilAll('awake');
  await shot('3-hatched');
  await anna.open(1);
  expect(await anna.ask('Hello!')).toContain('heard: Hello!');
  await shot('4-talk');
  expect(born).toHaveLength(8);
  expect(model.requests.every(({ headers }) => headers['x-api-key'] === KEY)).toBe(true);
  // What went to the relay once is nowhere in the browser.
  expect(await page.content()).not.toContain(KEY);
  expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(KEY);
  expect(anna.complaints).toEqual([]);
  await context.close();
});
