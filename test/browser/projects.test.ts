/** A project through the page: an agent takes its task, and the person finishes it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { Locator } from 'playwright-core';
import { createGuest, type Guest, QUIET, STILL } from '../support/chromium.ts';
import { startRelay, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type Part, type ScriptedModel } from '../support/scripted-model.ts';
import { axeOf, createVisitor, goWithin, type Visitor, withoutTransitions } from '../support/visitor.ts';

let model: ScriptedModel;
let relay: TestRelay;
let profile: Guest;
let visitor: Visitor;
/** Ends the turn in which the agent works on its task. */
let goOn: () => void = () => undefined;
const working = new Promise<void>((resolve) => (goOn = resolve));

let projectId = '';
let taskId = '';
/** The next step of the agent: it takes the first task that is ready, and moves it to review. */
function step(results: readonly string[]): readonly Part[] {
  const last = results.at(-1) ?? '';
  projectId = /^Project “[^”]*”, id ([\w-]+)\./.exec(last)?.[1] ?? projectId;
  taskId = /^#\d+ “[^”]*”, id ([\w-]+),/.exec(last)?.[1] ?? taskId;
  if (results.length === 0) return [{ call: 'get_my_projects', input: {} }];
  if (last.startsWith('Project ')) return [{ call: 'get_ready_tasks', input: { projectId } }];
  if (last.startsWith('#')) return [{ call: 'claim_task', input: { projectId, taskId } }];
  const folder = /in the folder “([^”]+)”/.exec(last)?.[1];
  if (last.startsWith('The task is yours'))
    return [{ call: 'write_file', input: { path: `${folder}/places.md`, content: PLACES } }];
  const met = Number(/criteria met: (\d+) of/.exec(last)?.[1] ?? 0);
  const meet = { projectId, taskId, criterion: met + 1, evidence: 'Places: Siena, Bled, Ghent.' };
  if (last.includes('places.md')) return [{ until: working }, { call: 'meet_criterion', input: meet }];
  if (last.startsWith('Noted.') && met < CRITERIA) return [{ call: 'meet_criterion', input: meet }];
  if (last.startsWith('Noted.'))
    return [{ call: 'transition_task', input: { projectId, taskId, status: 'review', note: 'Three places.' } }];
  return [{ say: 'It is in review.' }];
}
/** Criteria of the first task of the example. */
const CRITERIA = 3;
const PLACES = [
  '# Three places that fit',
  '',
  '- Siena: nine hours by train, with one change in Florence.',
  '- Bled: seven hours, and a boat to the island for 18 €, which a child of seven would like.',
  '- Ghent: five hours.',
  '',
].join('\n');

beforeAll(async () => {
  const team = teamScript();
  model = await startScriptedModel((request) => {
    const { last, results } = request;
    const isAtWork =
      last.includes('Take what is ready') ||
      /^(Project|#|The task is yours|Noted|Moved)|places.md/.test(results.at(-1) ?? '');
    return isAtWork ? step(results) : team(request);
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
const PICTURES = process.env['ROOST_PICTURES'];
async function picture(page: Visitor['page'], name: string): Promise<void> {
  if (PICTURES === undefined) return;
  for (const width of [1440, 360]) {
    await page.setViewportSize({ width, height: 800 });
    await page.screenshot({ path: `${PICTURES}/${name}-${width}.png` });
  }
  await page.setViewportSize({ width: 1440, height: 900 });
}

/** Comments by mouse and by keyboard, which stay through a reload, also as wide as a phone. */
async function commentsOnLines(board: Visitor['page'], review: Locator): Promise<void> {
  const line = review.locator('.patch-line', { hasText: 'Ghent: five hours.' });
  const button = line.getByRole('button', { name: 'Comment on line 5' });
  await line.hover();
  await button.click();
  const field = review.getByRole('textbox', { name: 'Comment on places.md:5' });
  await expect.poll(() => field.evaluate((element) => element === document.activeElement)).toBe(true);
  await board.keyboard.type('Ghent is dear.');
  expect(await axeOf(board)).toEqual([]);
  await board.keyboard.press('Escape');
  await expect.poll(() => button.evaluate((element) => element === document.activeElement)).toBe(true);
  await board.keyboard.press('ArrowUp');
  await board.keyboard.press('Enter');
  await board.keyboard.type('Is there a train back?');
  await picture(board, 'projects-line-comments');
  await board.reload();
  await expect.poll(() => field.inputValue()).toBe('Ghent is dear.');
  const other = review.getByRole('textbox', { name: 'Comment on places.md:4' });
  expect(await other.inputValue()).toBe('Is there a train back?');
  await board.setViewportSize({ width: 360, height: 800 });
  const { width = 0, x = 0 } = (await field.boundingBox()) ?? {};
  expect(width).toBeGreaterThan(200);
  expect(x + width).toBeLessThanOrEqual(360);
  const drop = review.getByRole('button', { name: 'Delete', exact: true });
  await drop.first().click();
  await board.setViewportSize({ width: 1440, height: 900 });
  await drop.click();
  await review.getByText('Not sent yet').waitFor({ state: 'hidden' });
}

describe('A project', { timeout: 120_000 }, () => {
  it('is worked on by an agent, reviewed and finished by the person, and there after a reload', async () => {
    const { page } = visitor;
    await visitor.begin();
    await visitor.press('seat 1, empty');
    await page.getByRole('menuitem', { name: /^Summon into this seat/ }).click();
    const seats = await visitor.untilSeats('one awake', (all) => all.some(({ state }) => state === 'awake'));
    const name = seats.find(({ state }) => state === 'awake')?.name ?? '';

    const board = await page.context().newPage();
    await board.goto(new URL('/projects', relay.url).href);
    await board.getByRole('button', { name: /^Plan our trip/ }).click();
    await board.getByText('No agent may work on this project').first().waitFor();
    await picture(board, 'projects-new');
    await board.getByRole('link', { name: /^Who may work/ }).click();
    const settings = board.getByRole('dialog');
    await settings.getByRole('checkbox', { name }).check();
    await settings.getByRole('button', { name: 'Save' }).click();
    await board.getByText('Not started yet').waitFor();

    // The agent takes it in its conversation, which the board of another page shows at once.
    await visitor.open(1);
    await visitor.say('Take what is ready, please.');
    const inColumn = (column: string) => board.getByRole('region', { name: new RegExp(`^${column}: `) });
    await inColumn('In progress')
      .getByText(new RegExp(`^${name}(: | works on it)`))
      .waitFor();
    await picture(board, 'projects-claimed');
    // Its tile leads to the task.
    const tile = page.getByRole('link', { name: 'Works on #1 Find three places that fit' });
    await tile.waitFor();
    expect(await tile.getAttribute('href')).toContain('/task/');
    await picture(page, 'projects-tile');
    goOn();
    await inColumn('Review').getByText('Waits for your review').waitFor();
    await visitor.untilRead('It is in review.');

    // The sheet says what was done, and by whom.
    await inColumn('Review').getByRole('link').first().click();
    const sheet = board.getByRole('dialog');
    await sheet.getByText('Three places.').first().waitFor();
    await sheet.getByText('Places: Siena, Bled, Ghent.').first().waitFor();
    // The receipt has the file that was written, as the relay counts it.
    const attempts = sheet.getByRole('region', { name: 'Attempts' });
    await attempts.getByText('places.md').waitFor();
    expect(await attempts.textContent()).toContain('5 lines added, 0 removed');
    await picture(board, 'projects-sheet');
    if (PICTURES !== undefined) await attempts.getByText('places.md').hover();
    await picture(board, 'projects-receipt');

    // The person reads what was written, and merges it.
    await sheet.getByRole('link', { name: 'Review', exact: true }).click();
    const review = board.getByRole('region', { name: /^Review of #1/ });
    await review.getByText('Ghent: five hours.').waitFor();
    await picture(board, 'projects-review');
    await withoutTransitions(board);
    expect(await axeOf(board)).toEqual([]);
    await board.emulateMedia({ colorScheme: 'light', ...STILL });
    expect(await axeOf(board, ['color-contrast'])).toEqual([]);
    await picture(board, 'projects-review-light');
    await board.emulateMedia({ colorScheme: 'dark', ...STILL });
    await commentsOnLines(board, review);
    await review.getByRole('button', { name: 'Merge', exact: true }).click();
    const standing = review.getByRole('region', { name: 'Request to merge' });
    await standing.getByText('Merged').waitFor();
    // It is taken back, and merged again.
    for (const name of ['Revert', 'Merge again']) {
      await standing.getByRole('button', { name }).click();
      await board.getByRole('dialog').getByRole('button', { name, exact: true }).click();
      await standing.getByText(name === 'Revert' ? 'Reverted' : 'Merged', { exact: true }).waitFor();
    }
    await picture(board, 'projects-merged');
    await board.keyboard.press('Escape');
    await inColumn('Done')
      .getByRole('link', { name: /^Find three places/ })
      .waitFor();
    // What is left on the relay, and what it has cost.
    await board.getByRole('link', { name: /^Settings of / }).click();
    await settings.getByText('Costs', { exact: true }).click();
    await settings.getByText('1 attempt').waitFor();
    await settings.getByText('Checkouts of agents').click();
    await settings.getByText('Saved', { exact: true }).waitFor();
    await picture(board, 'projects-settings');
    await settings.getByRole('button', { name: /^Remove the checkout of #1/ }).click();
    await picture(board, 'projects-checkout');
    await board.getByRole('button', { name: 'Remove', exact: true }).click();
    await settings.getByText('Each task that an agent works on').waitFor();
    await board.keyboard.press('Escape');
    await board.reload();
    await inColumn('Done').getByRole('link').first().waitFor();
    await inColumn('Backlog').getByRole('textbox').fill('Water the plants');
    await board.keyboard.press('Enter');
    await inColumn('Backlog')
      .getByRole('link', { name: /Water the plants/ })
      .waitFor();
    await goWithin(board, '/projects/new');
    await board.getByRole('radio', { name: /^A repository/ }).check();
    await board.getByRole('textbox', { name: 'Name' }).fill('Bakery');
    await board.getByRole('textbox', { name: 'Repository' }).fill('/nowhere/bakery');
    await board.getByRole('button', { name: 'Create' }).click();
    await board.getByText('There is no git repository at /nowhere/bakery.').waitFor();
    await picture(board, 'projects-repository');
    await goWithin(board, '/projects');
    await board.getByRole('link', { name: /Plan our trip/ }).waitFor();
    expect(visitor.complaints).toEqual([]);
  });
});
