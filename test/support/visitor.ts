/**
 * A person at the page: opens the link, presses what a person presses, reads what a person reads.
 */
import { mkdir, readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import type { BrowserContext, Locator, Page } from 'playwright-core';
import { listenFor, readLog } from './log-rows.ts';

const ARTIFACTS = join(dirname(fileURLToPath(import.meta.url)), '..', 'artifacts');
const axePath = createRequire(import.meta.url).resolve('axe-core/axe.min.js');
/** ms a person would wait for anything here before calling it broken. */
const PATIENCE = 60_000;
/** ms for a link that may go away while the window changes. */
const LINK_MS = 5_000;
/** ms between two looks at the page: each has it laid out, while others share its processor. */
const LOOK_MS = 100;
/** ms between two looks whether a conversation has been drawn, which takes few of them. */
const SOON_MS = 40;

export type SeatState = 'empty' | 'hatching' | 'awake' | 'sleeping';

export interface Seat {
  /** As people count: 1 to 9. */
  readonly seat: number;
  readonly name: string | null;
  readonly state: SeatState;
}

const LABEL = /^(?:(.*?), )?seat (\d), /s;
/**
 * What the cell says of its seat by its look; whoever is at work alone sleeps as far as a session
 * goes.
 */
const STATES: Readonly<Record<string, SeatState>> = {
  ...{ empty: 'empty', hatching: 'hatching', awake: 'awake', sleeping: 'sleeping', working: 'sleeping' },
};

/** What a seat's accessible name and its cell say, or null for the lead's. */
export function readSeat(label: string, look: string): Seat | null {
  const match = LABEL.exec(label);
  const state = STATES[look];
  return match && state ? { seat: Number(match[2]), name: match[1] ?? null, state } : null;
}

export interface Visitor {
  readonly page: Page;
  /** What the page wrote to its console as an error, and what it threw. */
  readonly complaints: readonly string[];
  begin(human?: string, lead?: string): Promise<void>;
  press(name: string | RegExp): Promise<void>;
  /** Summons one agent into this empty seat: sooner than SUMMON, which hatches all eight. */
  hatch(seat: number): Promise<Seat[]>;
  /** The eight agents' seats, in order. */
  seats(): Promise<Seat[]>;
  /** Waits until the seats are so; fails with what they are. */
  untilSeats(what: string, holds: (seats: readonly Seat[]) => boolean, patience?: number): Promise<Seat[]>;
  untilAll(state: SeatState): Promise<Seat[]>;
  /** On a phone, back to the grid. */
  hearth(): Promise<void>;
  /** Opens the conversation of the agent in this seat, or of the lead. */
  open(seat: number | 'lead'): Promise<void>;
  /** Says it to whoever is open. */
  say(text: string): Promise<void>;
  /** As `say`, and waits until the answer is there and done. Gives the answer's text. */
  ask(text: string): Promise<string>;
  log(): Locator;
  /** Everything the open conversation shows, as text. */
  reading(): Promise<string>;
  untilRead(what: string | RegExp, patience?: number): Promise<void>;
  picture(name: string): Promise<void>;
  /** Serious and critical findings of axe, as lines; of all its rules, or of these. */
  axe(rules?: readonly string[]): Promise<string[]>;
}

/**
 * What Chromium itself logs of a request that failed, the second where it looks for a newer service
 * worker of its own accord; the page says it in its own words.
 */
const OF_THE_BROWSER = /Failed to load resource|An unknown error occurred when fetching the script/;

/** Runs in the page: where the log is scrolled to, in px, and what is written and not sent. */
const whereLogIs = () => {
  const log = document.querySelector('.log');
  const [top, height, seen] = [log?.scrollTop, log?.scrollHeight, log?.clientHeight];
  return { top, height, seen, draft: document.querySelector('textarea')?.value };
};

/**
 * To another place of an open page, as one of its own links would: nothing is loaded anew, which
 * would take a second of a processor.
 */
export const goWithin = (page: Page, path: string): Promise<void> =>
  page.evaluate((to) => history.pushState(null, '', to), path);

/**
 * Switches transitions off: axe would judge colours halfway from one colour scheme to another.
 */
export const withoutTransitions = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const still = new CSSStyleSheet();
    still.replaceSync('*, *::before, *::after { transition: none !important; }');
    document.adoptedStyleSheets.push(still);
  });

/** Serious and critical findings of axe, as lines; of all its rules, or of these. */
export async function axeOf(page: Page, rules?: readonly string[]): Promise<string[]> {
  // Evaluated by the debugger, which a page's Content-Security-Policy does not bind.
  if (!(await page.evaluate(() => 'axe' in globalThis))) await page.evaluate(await readFile(axePath, 'utf8'));
  return page.evaluate(async (only) => {
    const run = (
      globalThis as unknown as {
        axe: {
          run(options: {
            runOnly?: readonly string[];
          }): Promise<{ violations: { id: string; impact: string; nodes: { target: string[] }[] }[] }>;
        };
      }
    ).axe;
    const { violations } = await run.run({
      // What passed is not listed: that takes half of the time.
      ...{ resultTypes: ['violations'], preload: false },
      ...(only ? { runOnly: only } : {}),
    });
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map(({ id, nodes }) => `${id}: ${nodes.map((node) => node.target.join(' ')).join(' | ')}`);
  }, rules);
}

export async function createVisitor(context: BrowserContext, link: string): Promise<Visitor> {
  const page = await context.newPage();
  page.setDefaultTimeout(PATIENCE);
  const complaints: string[] = [];
  page.on('pageerror', (error) => complaints.push(`threw: ${error.message}`));
  page.on('console', (message) => {
    if (message.type() === 'error' && !OF_THE_BROWSER.test(message.text())) complaints.push(message.text());
  });
  await page.goto(link);
  await page.waitForURL((url) => !url.pathname.startsWith('/enter'));

  const grid = page.getByRole('list', { name: 'The team' });
  const log = () => page.getByRole('region', { name: /^Conversation with / });

  const seats = async (): Promise<Seat[]> => {
    const labels = await grid
      .getByRole('button')
      .evaluateAll((buttons) =>
        buttons.map((button) => [
          button.getAttribute('aria-label') ?? '',
          button.closest<HTMLElement>('.seat')?.dataset['state'] ?? '',
        ]),
      );
    return labels.flatMap(([label = '', look = '']) => readSeat(label, look) ?? []);
  };

  async function untilDrawn(): Promise<void> {
    for (const end = Date.now() + PATIENCE; !(await page.evaluate(readLog)).drawn; await page.waitForTimeout(SOON_MS))
      if (Date.now() > end) throw new Error('the conversation was never drawn');
  }

  const visitor: Visitor = {
    page,
    complaints,
    async begin(human = 'Marcus', lead = 'Julian') {
      await page.getByLabel('Your name').fill(human);
      await page.getByLabel("Lead's name").fill(lead);
      await page.getByRole('button', { name: 'Begin' }).click();
      await grid.waitFor();
    },
    async press(name) {
      await page.getByRole('button', { name, exact: typeof name === 'string' }).click();
      // It could be taken back for a while, which no test waits for.
      if (String(name).includes('End session'))
        await page.getByRole('button', { name: 'End now', exact: true }).click();
    },
    async hatch(into) {
      await visitor.press(`seat ${into}, empty`);
      await page.getByRole('menuitem', { name: /^Summon into this seat/ }).click();
      return await visitor.untilSeats(`seat ${into} awake`, (now) =>
        now.some(({ seat, state }) => seat === into && state === 'awake'),
      );
    },
    seats,
    async untilSeats(what, holds, patience = PATIENCE) {
      const end = Date.now() + patience;
      // What the page says meanwhile goes by; it is the first thing that whoever reads the failure
      // wants to know.
      const told = new Set<string>();
      for (;;) {
        const now = await seats();
        if (now.length === 8 && holds(now)) return now;
        for (const each of await page.locator('.notice, [role=alert]').allInnerTexts()) told.add(each.trim());
        if (Date.now() > end)
          throw new Error(
            `waited for ${what}; the seats are ${now.map((seat) => `${seat.seat} ${seat.name ?? '-'} ${seat.state}`).join(', ')}; the page said ${JSON.stringify([...told])}; its button is ${JSON.stringify(await page.locator('.big-button').allInnerTexts())}`,
          );
        await page.waitForTimeout(LOOK_MS);
      }
    },
    untilAll: (state) => visitor.untilSeats(`everyone ${state}`, (now) => now.every((seat) => seat.state === state)),
    async open(seat) {
      const name = seat === 'lead' ? /, lead(?:, |$)/ : new RegExp(`seat ${seat}, `);
      await visitor.hearth();
      const button = grid.getByRole('button', { name }).first();
      const who = (await button.getAttribute('aria-label'))?.replace(/, (?:lead|seat \d)(?:, .*)?$/s, '') ?? '';
      await button.click();
      // Theirs and not the one that was open before, and not before it shows what was said.
      await page.getByRole('region', { name: `Conversation with ${who}`, exact: true }).waitFor();
      await page.getByRole('textbox', { name: /^Write to / }).waitFor();
      await untilDrawn();
    },
    async say(text) {
      const box = page.getByRole('textbox', { name: /^Write to / });
      await box.fill(text);
      // On the keyboard of a screen Enter begins a line.
      if (await page.evaluate(() => matchMedia('(hover: none) and (pointer: coarse)').matches))
        await page.getByRole('button', { name: 'Send', exact: true }).click();
      else await box.press('Enter');
    },
    async ask(text) {
      await untilDrawn();
      const answerIn = listenFor(text, await page.evaluate(readLog));
      await visitor.say(text);
      for (const end = Date.now() + PATIENCE; ; await page.waitForTimeout(LOOK_MS)) {
        const now = await page.evaluate(readLog);
        const answer = answerIn(now);
        if (answer !== null) return answer;
        if (Date.now() > end)
          throw new Error(
            `nobody answered "${text}"; ${JSON.stringify(await page.evaluate(whereLogIs))}; there stands ${JSON.stringify(now)}`,
          );
      }
    },
    async hearth() {
      // On a phone the hearth and the conversation are two views.
      const link = page.locator('.bottom-bar').getByRole('link', { name: 'Team' });
      if (!(await link.isVisible())) return;
      // A window that has just become wide may lose the link meanwhile.
      await link.click({ timeout: LINK_MS }).catch(async (error: unknown) => {
        if (await link.isVisible()) throw error;
      });
    },
    log,
    async reading() {
      await untilDrawn();
      return (await log().innerText()).trim();
    },
    async untilRead(what, patience = PATIENCE) {
      await log().getByText(what).last().waitFor({ timeout: patience });
    },
    async picture(name) {
      await mkdir(ARTIFACTS, { recursive: true });
      await page.screenshot({ path: join(ARTIFACTS, `${name}.png`) });
    },
    axe: (rules) => axeOf(page, rules),
  };
  return visitor;
}
