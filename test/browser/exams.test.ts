/**
 * An agent sits an exam before its model changes: in real Chromium, before a scripted model. The
 * price is seen first, both answers stand side by side, one decision is taken, and the certificate
 * is there after a reload and on another device.
 */
import { afterAll, beforeAll, expect, it } from 'vitest';
import type { Page } from 'playwright-core';
import { ANSWERS_REQUEST, QUESTIONS_REQUEST, GRADES_REQUEST } from '../../src/shared/domain/exam-requests.ts';
import { createGuest, QUIET } from '../support/chromium.ts';
import { deviceOf, openDeviceIn, pair } from '../support/devices.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { type ScriptedModel, type ScriptedRequest, startScriptedModel, teamScript } from '../support/scripted-model.ts';
import { createVisitor, goWithin, type Visitor } from '../support/visitor.ts';

const NEW = 'claude-haiku-4-5';
const lines = (...values: readonly object[]) => values.map((value) => JSON.stringify(value)).join('\n');
const isAbout = ({ body }: ScriptedRequest, start: string) =>
  JSON.stringify(body.messages.at(-1)).includes(JSON.stringify(start).slice(1, -1));

/** The new model has forgotten why the agent is called so. */
function examOf(request: ScriptedRequest): string | null {
  if (isAbout(request, QUESTIONS_REQUEST))
    return lines({ topic: 'soul', question: 'Why this name?', expected: 'The third one answered.' });
  if (isAbout(request, ANSWERS_REQUEST))
    return lines({ n: 1, answer: request.body.model === NEW ? 'I do not know.' : 'The third one answered.' });
  if (!isAbout(request, GRADES_REQUEST)) return null;
  return lines({ n: 1, a: true, b: !JSON.stringify(request.body.messages).includes('I do not know.') });
}

const profiles = [createGuest(), createGuest()] as const;
let relay: TestRelay;
let model: ScriptedModel;
let desk: Visitor;
let about: string;
beforeAll(async () => {
  const usual = teamScript({ souls: { 1: 'I tried three names aloud, and the third one answered.' } });
  model = await startScriptedModel((request) => {
    const said = examOf(request);
    return said === null ? usual(request) : [{ say: said }];
  });
  relay = await startRelay({ env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } });
  const context = await profiles[0].open({ viewport: { width: 1440, height: 900 }, ...QUIET });
  desk = await createVisitor(context, relay.link);
  await desk.begin('Marcus', 'Julian');
  await desk.hatch(1);
  await desk.press('End session');
  await desk.untilSeats('it asleep', ([first]) => first?.state === 'sleeping');
  await desk.open(1);
  about = `${new URL(desk.page.url()).pathname}/about`;
});
afterAll(async () => {
  await Promise.all(profiles.map((profile) => profile.remove()));
  await relay.stop();
  await model.close();
});

const sectionOf = (page: Page) => page.getByRole('region', { name: 'Continuity' });
/** Whether the agent has the new model. */
const isSet = async () => {
  const owner = deviceOf(profiles[0], desk.page.context(), desk.page).owner;
  const { changes, settings } = await owner.call('household');
  return JSON.stringify([changes, settings]).includes(NEW);
};

/** By keys alone: chooses the new model, reads the price and begins. */
async function begin(page: Page, path = about): Promise<void> {
  const section = sectionOf(page);
  await goWithin(page, '/');
  await goWithin(page, `${path}#continuity`);
  const select = section.getByLabel('New model');
  await select.focus();
  await page.keyboard.press('End');
  const named = section.getByRole('textbox', { name: 'New model' });
  await named.pressSequentially(NEW);
  await page.keyboard.press('Enter');
  const price = section.getByRole('button', { name: 'Show the price' });
  await price.focus();
  await page.keyboard.press('Enter');
  await section.getByText(/^About \$[\d.]+, at most \$[\d.]+\.$/).waitFor();
  const start = section.getByRole('button', { name: 'Begin' });
  await start.focus();
  await page.keyboard.press('Enter');
}

it('shows the price before anything is asked, and then both answers side by side', async () => {
  const { page } = desk;
  const before = model.requests.length;
  const asked: number[] = [];
  await page.route('**/api/exams', async (route) => {
    asked.push(model.requests.length);
    await route.continue();
  });
  await begin(page);
  const card = sectionOf(page).getByRole('article', { name: /Haiku 4\.5$/ });
  await card.getByText('0 of 1 as before · 1 lost').waitFor();
  await page.unroute('**/api/exams');
  expect(asked[0]).toBe(before);
  expect(model.requests.length).toBe(before + 4);
  const [old, fresh] = await Promise.all(
    ['.exam-before', '.exam-after'].map((side) => card.locator(side).boundingBox()),
  );
  expect(old?.y).toBe(fresh?.y);
  expect((old?.x ?? 0) + (old?.width ?? 0)).toBeLessThanOrEqual(fresh?.x ?? 0);
  await card.getByText('The third one answered.').first().waitFor();
  await card.getByText('I do not know.').waitFor();
  expect(await desk.axe()).toEqual([]);
});

it('decides nothing without the relay, and takes one decision of two tabs that press at once', async () => {
  const { page } = desk;
  const context = page.context();
  const other = await context.newPage();
  await other.goto(`${relay.url}${about}`);
  const keep = sectionOf(page).getByRole('button', { name: 'Keep Haiku 4.5' });
  const stay = sectionOf(other).getByRole('button', { name: /^Stay with/ });
  await stay.waitFor();
  await context.setOffline(true);
  await keep.click();
  await sectionOf(page).getByRole('alert').waitFor();
  expect(await isSet()).toBe(false);
  await context.setOffline(false);
  await keep.waitFor();
  await Promise.all([keep.click(), stay.click()]);
  const line = /Haiku 4\.5 · (kept|stayed as it was) · 0 of 1 as before/;
  const texts = await Promise.all([page, other].map((each) => sectionOf(each).getByText(line).first().innerText()));
  expect(texts[0]).toBe(texts[1]);
  await expect.poll(isSet).toBe(texts[0]?.includes('kept'));
  // Dated in full.
  expect(texts[0]).toMatch(/\b20\d\d\b/);
  await other.close();
});

it('keeps the certificate over a reload, and shows it on another device', async () => {
  const { page } = desk;
  await page.reload();
  const line = await sectionOf(page)
    .getByText(/Haiku 4\.5 · /)
    .first()
    .innerText();
  const context = page.context();
  const phone = await openDeviceIn(profiles[1], relay.url, context);
  await pair(deviceOf(profiles[0], context, page), phone);
  await phone.page.goto(`${relay.url}${about}`);
  await expect
    .poll(() =>
      sectionOf(phone.page)
        .getByText(/Haiku 4\.5 · /)
        .first()
        .innerText(),
    )
    .toBe(line);
});

it('lets the lead sit an exam too', async () => {
  const { page } = desk;
  await begin(page, '/lead/about');
  const card = sectionOf(page).getByRole('article', { name: /Haiku 4\.5$/ });
  await card.getByText('0 of 1 as before · 1 lost').waitFor();
  await card.getByRole('button', { name: /^Stay with/ }).click();
  await sectionOf(page)
    .getByText(/Haiku 4\.5 · stayed as it was · 0 of 1 as before/)
    .first()
    .waitFor();
});

it('compares an agent with and without the files of an import, before they are imported', async () => {
  const { page } = desk;
  await goWithin(page, '/move-in');
  await page
    .getByLabel('Choose files')
    .setInputFiles([{ name: 'names.md', mimeType: 'text/markdown', buffer: Buffer.from('I am called Tarn.') }]);
  await page.getByLabel('For', { exact: true }).selectOption({ index: 1 });
  const section = sectionOf(page);
  await section.getByRole('button', { name: /sit an exam first$/ }).click();
  await section.getByRole('button', { name: 'Show the price' }).click();
  await section.getByText(/^About \$[\d.]+, at most \$[\d.]+\.$/).waitFor();
  const before = model.requests.length;
  await section.getByRole('button', { name: 'Begin' }).click();
  const card = section.getByRole('article');
  await card.getByText('1 of 1 as before').waitFor();
  // Only the second time the memory names the file.
  const answering = model.requests.slice(before).filter((request) => isAbout(request, ANSWERS_REQUEST));
  expect(answering.map(({ body }) => JSON.stringify(body).includes('text-files/names.md'))).toEqual([false, true]);
  await card.getByRole('button', { name: 'Good enough' }).click();
  await card.waitFor({ state: 'detached' });
  await page.getByRole('button', { name: 'Move in' }).click();
  await page.getByText('1 file in its memory').waitFor();
});
