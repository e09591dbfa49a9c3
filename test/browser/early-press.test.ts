/**
 * A press in the first moments of a page in Safari’s engine, while the worker still reads what is
 * stored.
 */
import { rm } from 'node:fs/promises';
import { describe, expect, it } from 'vitest';
import { webkit } from '../support/engines/index.ts';
import { createPerson } from '../support/engines/person.ts';
import { until } from '../support/engines/tab.ts';
import { createHome, startRelay } from '../support/relay.ts';

const ARGS = ['--rehearsal', JSON.stringify({ delayMs: 0, wordMs: 0 })];

describe.each([webkit])('In $name', { timeout: 120_000 }, (engine) => {
  it.skipIf(engine.missing !== null)('accepts WAKE as soon as the button is visible', async ({ onTestFinished }) => {
    const home = await createHome();
    onTestFinished(() => rm(home, { recursive: true, force: true }));
    const relay = await startRelay({ args: ARGS, home, terminal: true });
    onTestFinished(async () => void (await relay.stop()));
    const browser = await engine.launch();
    onTestFinished(() => browser.close());
    const tab = await browser.newTab();
    const person = createPerson(tab);
    await tab.goto(relay.link);
    await person.begin();
    await tab.click({ role: 'button', name: 'SUMMON' });
    await person.untilAll('awake');
    await tab.click({ role: 'button', name: 'End session' });
    await tab.click({ role: 'button', name: 'End now' });
    await person.untilAll('sleeping');
    await tab.driver.reload();
    // In the very moment in which the button stands there, and once: a person does not press twice.
    await until(
      () =>
        tab.evaluate(() => {
          const button = document.querySelector<HTMLButtonElement>('.big-button');
          button?.click();
          return button !== null;
        }),
      () => 'there is no button',
    );
    const seats = await person.untilAll('awake');
    expect(seats).toHaveLength(8);
  });
});
