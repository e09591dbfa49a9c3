/**
 * A person at a real page, in any engine: what they do in the story, by what stands on the page.
 */
import { listenFor, readLog } from '../log-rows.ts';
import { readSeat, type Seat, type SeatState } from '../visitor.ts';
import { until, type Tab } from './tab.ts';

export interface Person {
  readonly tab: Tab;
  begin(human?: string, lead?: string): Promise<void>;
  /** The eight agents' seats, in order. */
  seats(): Promise<readonly Seat[]>;
  untilAll(state: SeatState): Promise<readonly Seat[]>;
  open(seat: number): Promise<void>;
  /** Says it to whoever is open, and gives the answer. */
  ask(text: string): Promise<string>;
  settings(section: string): Promise<void>;
  leaveSettings(): Promise<void>;
}

export function createPerson(tab: Tab): Person {
  /** All of it in one look: between two, an answer may end. */
  const read = () => tab.evaluate(readLog);
  const drawn = () =>
    until(
      async () => {
        const now = await read();
        return now.drawn && now;
      },
      async () => `the conversation was never drawn; ${await tab.text()}`,
    );
  const person: Person = {
    tab,
    async begin(human = 'Marcus', lead = 'Julian') {
      await tab.fill({ role: 'textbox', name: 'Your name' }, human);
      await tab.fill({ role: 'textbox', name: "Lead's name" }, lead);
      await tab.click({ role: 'button', name: 'Begin' });
      await until(
        async () => (await person.seats()).length === 8,
        () => 'there is no team',
      );
    },
    async seats() {
      const labels = await tab.evaluate(() =>
        [...document.querySelectorAll('[aria-label="The team"] button[aria-label]')].map((seat) => [
          seat.getAttribute('aria-label') ?? '',
          seat.closest<HTMLElement>('.seat')?.dataset['state'] ?? '',
        ]),
      );
      return labels.flatMap(([label = '', look = '']) => readSeat(label, look) ?? []);
    },
    untilAll: (state) =>
      until(
        async () => {
          const now = await person.seats();
          return now.length === 8 && now.every((seat) => seat.state === state) && now;
        },
        async () =>
          `waited for everyone ${state}; the seats are ${(await person.seats()).map((seat) => `${seat.seat} ${seat.name ?? '-'} ${seat.state}`).join(', ')}; ${await tab.text()}`,
      ),
    async open(seat) {
      const who = (await person.seats()).find((one) => one.seat === seat)?.name ?? '';
      await tab.click({ role: 'button', name: new RegExp(`seat ${seat}, `) });
      await until(
        () =>
          tab.evaluate(
            (name) => document.querySelector('.log')?.getAttribute('aria-label') === `Conversation with ${name}`,
            who,
          ),
        async () => {
          const inItsPlace = await tab.evaluate(
            (most) => document.querySelector('.chat')?.lastElementChild?.outerHTML.slice(0, most) ?? 'nothing',
            500,
          );
          return `no conversation with ${who} opened: in its place stands ${inItsPlace}; ${await tab.text()}`;
        },
      );
      await drawn();
    },
    async ask(text) {
      const answerIn = listenFor(text, await drawn());
      await tab.fill({ role: 'textbox', name: 'Write to ' }, text);
      await tab.press('Enter');
      return until(
        async () => answerIn(await read()),
        async () => `nobody answered "${text}"; ${JSON.stringify(await read())}`,
      );
    },
    async settings(section) {
      await tab.click({ role: 'button', name: 'More places' });
      await tab.click({ role: 'menuitem', name: /^Settings/ });
      await tab.click({ role: 'link', name: /^Devices and data/ });
      if (section !== 'Devices') await tab.click({ role: 'link', name: new RegExp(`^${section}`) });
    },
    leaveSettings: () => tab.click({ role: 'button', name: 'Close' }),
  };
  return person;
}
