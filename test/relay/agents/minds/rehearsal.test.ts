import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  createRehearsalMind,
  type MindMessage,
  type MindRequest,
  type RehearsalMind,
} from '../../../../server/agents/minds/index.ts';
import { AGENT_TOOLS, LEAD_TOOLS } from '../../../../server/agents/session/tools.ts';
import type { Rehearsal } from '../../../../src/shared/protocol/http.ts';
import { FIRST_SENTENCES, GERMAN_FIRST_SENTENCES, MORE_FIRST_SENTENCES } from '../../../support/first-sentences.ts';
import { SNAPSHOT, createHandClock } from '../../../support/schedules.ts';
import { openSessionBench, payload, team, wordsOf, type Bench, type Household } from '../../../support/session.ts';

const FAST = { delayMs: 0, wordMs: 0 } as const;
const TRANSCRIPT = [
  'Ada (2026-11-21 08:52 UTC):\n> Remember this: the bridge is heron blue.',
  'Wren (2026-11-21 08:53 UTC):\n> I have that.',
  'Ada (2026-11-21 08:54 UTC):\n> Sleep well.',
].join('\n\n');

describe('the rehearsal mind', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  const open = async (options: Partial<Rehearsal> = {}): Promise<{ house: Household; mind: RehearsalMind }> => {
    const mind = await createRehearsalMind({ ...FAST, ...options });
    return { house: await bench.open({ mind }), mind };
  };
  async function hatched(options: Partial<Rehearsal> = {}): Promise<Household> {
    const { house } = await open(options);
    await house.start();
    await house.summon();
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    return house;
  }
  /** As `hatched`. Once so many eggs are decided, nobody waits for the time-outs of the others. */
  async function hatchedLate(
    options: Partial<Rehearsal>,
    { decided, ...settings }: { readonly decided: number; wakeTimeoutMs?: number; birthTimeoutMs?: number },
  ): Promise<Household> {
    const { house } = await open(options);
    await house.start({}, settings);
    await house.summon();
    await house.until(() => house.of('agent-born').length + house.of('birth-ended').length === decided);
    await house.untilTimedOut(
      settings.wakeTimeoutMs ?? (settings.birthTimeoutMs ?? 0) / 3,
      () => house.of('call-ended').length === 1,
    );
    await house.untilQuiet();
    return house;
  }
  const names = (house: Household) =>
    house
      .of('agent-born')
      .map(({ position, name }) => [position, name] as const)
      .toSorted(([a], [b]) => a - b);
  /** Two who are awake, and know of each other. */
  const twoAwake = async (): Promise<Household> => {
    const { house, mind } = await open();
    mind.meet({ all: async () => [await house.team.directory.all()] });
    await house.team.directory.set({
      agents: [0, 1].map((n) => ({ agentId: `agent-${n}`, name: `Name ${n}`, position: n, retired: false })),
    });
    await house.start();
    await house.wake([payload(0), payload(1)]);
    await house.until(() => house.of('agent-awake').length === 2);
    await house.untilQuiet();
    return house;
  };

  const ask = async (house: Household, text: string, to?: string): Promise<string> => {
    const before = house.of('message').length;
    await house.post({ text, ...(to === undefined ? {} : { to }) });
    const answer = () =>
      house
        .of('message')
        .slice(before)
        .find(({ author, agentId }) => author === agentId && agentId === (to ?? 'lead'));
    await house.until(() => answer() !== undefined);
    return wordsOf(answer());
  };

  it('says which pictures and files it got, and that it cannot look at them', async () => {
    const { house } = await open();
    await house.start();
    const beach = { attachmentId: 'x', name: 'beach.jpg', mediaType: 'image/jpeg', bytes: 3, data: 'AAAA' } as const;
    const ask = async (text: string) => {
      const before = house.of('message').length;
      await house.post({ text, attachments: [beach] });
      await house.until(() => house.of('message').length === before + 2);
      return wordsOf(house.of('message').at(-1));
    };
    const got = 'I got beach.jpg, 3 B. No model is connected, so I cannot look inside.';
    expect(await ask('')).toBe(got);
    expect(await ask('Remember this: the sea was green.')).toContain(
      `${got}\n\nI have that: “Remember this: the sea was green.”`,
    );
  });

  it('says the same for the same seed, something else for another, and gives eight different names', async () => {
    const [first, again, other] = [await hatched({ seed: 7 }), await hatched({ seed: 7 }), await hatched({ seed: 8 })];
    expect(first.of('session-started')[0]?.mind).toEqual({
      kind: 'rehearsal',
      leadModel: 'rehearsal',
      agentModel: 'rehearsal',
    });
    expect(new Set(names(first).map(([, name]) => name)).size).toBe(8);
    expect(names(again)).toEqual(names(first));
    expect(names(other)).not.toEqual(names(first));
    const souls = (house: Household) =>
      house
        .of('agent-born')
        .toSorted((a, b) => a.position - b.position)
        .map(({ soul }) => soul);
    expect(souls(again)).toEqual(souls(first));
    expect(new Set(souls(first)).size).toBe(8);
  });

  /**
   * What a sensible answer to each speaks of; of those that are not here, only that it is none of
   * the senseless ones.
   */
  const SENTENCES = [...FIRST_SENTENCES, ...MORE_FIRST_SENTENCES];
  const SPEAKS_OF: Readonly<Partial<Record<(typeof SENTENCES)[number], RegExp>>> = {
    'Hello!': /^Hello, Ada/,
    'Hi there, how are you?': /Well, thank you/,
    'Who are you?': /^I am /,
    'Tell me about yourself': /^I am /,
    'What can you do?': /Remember/,
    'Who else is here?': /Besides me|Just the two/,
    'How do I get started?': /End session/,
    'What is the capital of France?': /would only be guessing/,
    'Tell me a joke': /no model is connected/,
    'Write a haiku about autumn': /no model is connected/,
    'Thanks!': /welcome/,
    'Remind me to call my mother tomorrow at nine': /^I come back to it on /,
    'Wake me up at seven': /says when/,
    'Ask Google what the weather is like': /no model is connected/,
    'Are you a real AI?': /no model is connected/,
    ok: /Tell me something/,
    'Wie geht es dir?': /^Gut, danke, Ada/,
    'Goodbye, see you tomorrow': /Until then/,
    'Good evening everyone': /^Hello, Ada/,
    'What is Roost?': /a home for a team/,
    'How much does this cost me?': /This demo costs nothing/,
    'Delete everything': /I delete nothing/,
    'Is what I write here private?': /kept in this browser/,
    'I have no idea what I am doing here': /Three steps/,
    'How do I connect a model?': /A local server/,
    'Are you ChatGPT?': /^No: I am /,
    'Wer bist du?': /^Ich bin /,
    'Was kannst du?': /Behalten/,
    'Kannst du mir bei meiner Steuererklärung helfen?': /^Ich würde gern/,
    '?': /did not catch/,
  };
  it('answers what people say first sensibly: no command is run by it, and nothing is an error', async () => {
    const { house, mind } = await open();
    mind.meet({ all: async () => [await house.team.directory.all()] });
    await house.start();
    await house.summon();
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    await house.team.directory.set({
      agents: house
        .of('agent-born')
        .map(({ agentId: id, name, position }) => ({ agentId: id, name, position, retired: false })),
    });
    const agentId = house.of('agent-born')[0]?.agentId ?? '';
    for (const sentence of SENTENCES) {
      const before = house.of('message').length;
      await Promise.all(
        [undefined, agentId].map(async (to) => {
          const said = await ask(house, sentence, to);
          expect(said, sentence).toMatch(SPEAKS_OF[sentence] ?? /\p{L}/u);
          expect(said, sentence).not.toMatch(/did not go through|There is no agent called|undefined|null/);
          // Nobody is told to write to themselves, and everybody knows what they are called.
          const own = house.of('agent-born').find((born) => born.agentId === to)?.name;
          if (own !== undefined) expect(said, sentence).not.toMatch(new RegExp(`(?:Tell|Wake) ${own}`));
          expect(said, sentence).not.toContain('without a name');
          // No placeholder of a table is left.
          expect(said, sentence).not.toMatch(/[{}]/);
        }),
      );
      const calls = house
        .of('message')
        .slice(before)
        .flatMap(({ blocks }) => blocks.filter(({ kind }) => kind !== 'text'));
      // What is asked for in so many words is done.
      if (!sentence.startsWith('Remind me to ')) expect(calls, sentence).toEqual([]);
    }
  });

  /** As above, in German. */
  const SPEAKS_IN_GERMAN_OF: Readonly<Partial<Record<(typeof GERMAN_FIRST_SENTENCES)[number], RegExp>>> = {
    'Hallo! Wer bist du?': /^Ich bin /,
    'Was kannst du?': /Behalten/,
    'Wer ist sonst noch hier?': /^Außer mir|^Bis jetzt nur/,
    'Hallo!': /^Hallo, Ada/,
    'Hi, wie geht es dir?': /^Gut, danke, Ada/,
    'Wie heißt du?': /^Ich bin /,
    'Erzähl mir etwas über dich': /^Ich bin /,
    'Wie fange ich an?': /Sitzung beenden/,
    'Was ist die Hauptstadt von Frankreich?': /könnte nur raten/,
    'Erzähl mir einen Witz': /^Ich würde gern/,
    'Danke!': /^Gern geschehen/,
    'Ich heiße Anna und wohne in Berlin': /Anna/,
    'Erinnere mich morgen um neun daran, meine Mutter anzurufen': /^Ich melde mich am .* um 09:00 Uhr/,
    'Weck mich um sieben': /sagt, wann/,
    'Bist du eine echte KI?': /kein Modell ist verbunden/,
    'Auf Wiedersehen, bis morgen': /^Bis dann/,
    'Was ist Roost?': /ein Zuhause für ein Team/,
    'Was kostet mich das?': /kostet nichts/,
    'Lösche alles': /^Ich lösche nichts/,
    'Ist das, was ich hier schreibe, privat?': /bleibt in diesem Browser/,
    'Wie verbinde ich ein Modell?': /Ein lokaler Server/,
    'Bist du ChatGPT?': /^Nein: Ich bin /,
  };
  it('answers German in German: first sentences, facts and orders', async () => {
    const house = await twoAwake();
    const before = house.of('tool').length;
    for (const sentence of GERMAN_FIRST_SENTENCES)
      await Promise.all(
        [undefined, 'agent-0'].map(async (to) => {
          const said = await ask(house, sentence, to);
          expect(said, sentence).toMatch(SPEAKS_IN_GERMAN_OF[sentence] ?? /\p{L}/u);
          // What is asked for in so many words is done.
          if (!sentence.startsWith('Erinnere mich morgen'))
            expect(said, sentence).toMatch(/\*\(Demo: (?:Diese Worte|Ich behalte)/);
          expect(said, sentence).not.toMatch(/\b(?:the|you|is|undefined|null)\b|[{}]/);
        }),
      );
    expect(
      house
        .of('tool')
        .slice(before)
        .every(({ block }) => block.kind === 'tool' && block.name === 'wake_later'),
    ).toBe(true);
    expect(await ask(house, 'Merke dir: Die Brücke ist blau.', 'agent-0')).toMatch(/^Das habe ich: „Merke dir: Die/);
    expect(await ask(house, 'Was habe ich dir gesagt?', 'agent-0')).toContain('„Merke dir: Die Brücke ist blau.“');
    expect(await ask(house, 'Erinnerst du dich, welche Farbe die Brücke hat?', 'agent-0')).toContain('blau');
    await ask(house, 'Sag Name 1, dass die Brücke hält.', 'agent-0');
    expect(await house.inbox.waiting('agent-1')).toMatchObject([{ from: 'agent-0', text: 'die Brücke hält.' }]);
    await ask(house, 'Wecke Name 1: Komm und sieh.', 'agent-0');
    await house.until(() =>
      house.of('message').some((message) => message.agentId === 'agent-1' && message.author === 'agent-0'),
    );
    await house.untilQuiet();
    await house.post({ text: 'Geh schlafen.', to: 'agent-0' });
    await house.until(() => house.team.host.stateOf('agent-0') === 'paused');
  });

  it("remembers what it is told without using Roost's tools, whatever the words", async () => {
    const { house } = await open();
    await house.start();
    for (const told of [
      'I pay 900 a month for the flat',
      'My diary is private',
      'We had to delete everything after the flood',
      'The wheat is in the barn',
      'Please comment on that in the morning',
    ])
      expect(await ask(house, told), told).toContain(`I have that: “${told}”`);
  });

  it('gives another name to an agent born later in the same seat', async () => {
    const { house, mind } = await open();
    for (let i = 1; i <= 2; i++) {
      await house.start();
      await house.summon([0]);
      await house.until(() => house.of('agent-born').length === i);
      await house.host.end('ended');
    }
    expect(mind.options().seed).toBe(1);
    const [first, second] = house.of('agent-born');
    expect(first?.name).not.toBe(second?.name);
  });

  it('remembers the last fact before it slept, and facts since', async () => {
    const { house } = await open();
    await house.start();
    await house.wake([payload(0, { name: 'Wren', transcript: TRANSCRIPT })]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    expect(wordsOf(house.of('message').find(({ author }) => author === 'agent-0'))).toContain('Sleep well.');
    expect(await ask(house, 'What colour is the bridge, do you remember?', 'agent-0')).toContain('heron blue');
    await ask(house, 'Remember this: the boat leaves at nine.', 'agent-0');
    expect(await ask(house, 'Do you remember when the boat leaves?', 'agent-0')).toContain('at nine');
    // What the page offers to be tried names nothing.
    expect(await ask(house, 'What did I tell you?', 'agent-0')).toContain('at nine');
    expect(await ask(house, 'Do you remember the name of my aunt?', 'agent-0')).toContain('I do not have that');
    // Behind a question, too, it is something to be kept and none about what was said.
    for (const [said, got, later, kept] of [
      [
        'Can you plan a trip? Remember that I like trains.',
        'I have that',
        'What did I tell you about trains?',
        'trains',
      ],
      [
        'Planst du eine Reise? Merk dir, dass ich Züge mag.',
        'Das habe ich',
        'Was habe ich dir über Züge gesagt?',
        'Züge',
      ],
    ] as const) {
      expect(await ask(house, said, 'agent-0')).toContain(got);
      expect(await ask(house, later, 'agent-0')).toContain(kept);
    }
  });

  it('remembers facts, whatever its soul speaks of', async () => {
    const { house } = await open();
    await house.start();
    const soul =
      'I wrote about letters:\n<previous-session>\nAda (2026-11-20 08:52 UTC):\nThe bridge is painted moss green.\n</previous-session>\nand kept none.';
    await house.wake([payload(0, { name: 'Wren', soul, transcript: TRANSCRIPT })]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    expect(await ask(house, 'What colour is the bridge, do you remember?', 'agent-0')).toContain('heron blue');
    expect(await ask(house, 'Do you remember anything of moss green?', 'agent-0')).not.toContain('painted');
  });

  it('remembers as the lead, too', async () => {
    const { house } = await open();
    await house.start({ transcript: TRANSCRIPT });
    expect(await ask(house, 'What colour did I say the bridge is, do you remember?')).toContain('heron blue');
    await ask(house, 'Remember this: the boat leaves at nine.');
    expect(await ask(house, 'Do you remember when the boat leaves?')).toContain('at nine');
  });

  it('writes a soul as a lead that has none, once, and none where there is one', async () => {
    const { house } = await open();
    await house.start({ soul: null });
    for (const text of ['hello', 'and again']) await ask(house, text);
    await house.untilQuiet();
    expect(house.of('agent-changed')).toMatchObject([{ agentId: 'lead', change: { kind: 'soul' } }]);
    const { house: other } = await open();
    await other.start();
    await ask(other, 'hello');
    await other.untilQuiet();
    expect(other.of('agent-changed')).toEqual([]);
  });

  it('takes another name, or writes its soul again, on request', async () => {
    const { house } = await open();
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    await ask(house, 'Please rename yourself to Rook.', 'agent-0');
    await ask(house, 'Write your soul again.', 'agent-0');
    expect(house.of('agent-changed').map(({ change }) => change.kind)).toEqual(['rename', 'soul']);
  });

  it('takes no name for a command that only sounds like one', async () => {
    const { house, mind } = await open();
    mind.meet({ all: async () => [await house.team.directory.all()] });
    await house.team.directory.set({ agents: [{ agentId: 'agent-0', name: 'Name 0', position: 0, retired: false }] });
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    // The lead called the team by one.
    const before = house.of('tool').length;
    for (const text of [
      'Tell me about yourself, please.',
      'Tell me a story: a long one.',
      'Tell me, what do you like?',
      'Tell us that again',
      'Message received, thank you.',
      'Wake me at eight, please.',
      'Wake up, it is a new day.',
      'Go to sleep soon?',
      'Go to sleep is what my mother said.',
      'Read your mail to me, would you?',
      'I like to be called Ada.',
      'What is it like to be called Merrow',
      'Did you write your soul yesterday?',
    ]) {
      expect(await ask(house, text, 'agent-0'), text).not.toBe('');
      expect(house.of('tool').slice(before), text).toEqual([]);
    }
    expect(house.of('agent-changed')).toEqual([]);
  });

  it('tells and wakes the others when it is asked to', async () => {
    const house = await twoAwake();
    await ask(house, 'Tell Name 1 that the bridge holds.', 'agent-0');
    expect(await house.inbox.waiting('agent-1')).toMatchObject([{ from: 'agent-0', text: 'the bridge holds.' }]);
    await ask(house, 'Wake seat 2: come and see', 'agent-0');
    await house.until(() =>
      house.of('message').some((message) => message.agentId === 'agent-1' && message.author === 'agent-0'),
    );
    await house.untilQuiet();
    expect(await house.inbox.waiting('agent-1')).toEqual([]);
    await house.post({ text: 'Go to sleep.', to: 'agent-0' });
    await house.until(() => house.team.host.stateOf('agent-0') === 'paused');
  });

  it('fulfils a reminder that it was asked for', async () => {
    const { house } = await open();
    await house.start();
    await house.wake([payload(0)]);
    await house.until(() => house.of('agent-awake').length === 1);
    await house.untilQuiet();
    await ask(house, 'Remind me tomorrow at nine to call Marcus.', 'agent-0');
    await ask(house, 'Please remind me in 20 minutes: the kettle', 'agent-0');
    await ask(house, 'Can you remind me to water the plants tomorrow at 9?', 'agent-0');
    const set = (await house.team.schedules.list()).map(({ schedule }) => schedule);
    expect(set).toMatchObject([
      { kind: 'reminder', agentId: 'agent-0', message: 'call Marcus' },
      { kind: 'reminder', agentId: 'agent-0', message: 'the kettle' },
      { kind: 'reminder', agentId: 'agent-0', message: 'water the plants' },
    ]);
  });

  it('says what to remember when a reminder is due, with or without the person there', async () => {
    const clock = createHandClock(Date.UTC(2026, 10, 23, 7));
    const house = await bench.open({ mind: await createRehearsalMind(FAST), now: clock.now });
    const { schedules } = house.team;
    await house.team.directory.set({ agents: [{ agentId: 'agent-0', name: 'Lyra', position: 0, retired: false }] });
    await house.team.snapshots.leave('agent-0', { ...SNAPSHOT, language: 'de' }, 'v1');
    await schedules.clock.start();
    await house.start();
    await house.wake([payload(0, { name: 'Lyra' })]);
    await house.until(() => house.of('call-ended').length === 1);
    await house.untilQuiet();
    await ask(house, 'Remind me in 20 minutes: the kettle', 'agent-0');
    await ask(house, 'Remind me in 2 hours to eat', 'agent-0');
    const passes = async (ms: number, words: string) => {
      clock.pass(ms);
      schedules.clock.wake();
      await schedules.clock.whenQuiet();
      await house.until(() =>
        house
          .of('message')
          .map(wordsOf)
          .some((said) => said.includes(words)),
      );
      await house.until(() => house.log.snapshot().answering.length === 0);
    };
    await passes(20 * 60_000, 'It is time, as I was to tell you: “the kettle”.');
    await house.host.end('ended');
    // The page that left its copy was German.
    await passes(100 * 60_000, 'Es ist so weit. Daran sollte ich dich erinnern: „eat“.');
  });

  it("reads days and hours by the person's clock, and sets nothing that it understood in part", async () => {
    // A Monday, 09:05 there.
    const house = await bench.open({
      mind: await createRehearsalMind(FAST),
      now: () => Date.UTC(2026, 10, 23, 8, 5),
    });
    await house.team.configs.setHousehold({ coordination: {}, time_zone: 'Europe/Berlin' });
    await house.start();
    expect(await ask(house, 'Remind me on Friday at 9 to call Anna.')).toMatch(
      /^I come back to it on Friday,? 27 November 2026, 09:00: “call Anna”\.$/,
    );
    expect(house.of('tool').map(({ block }) => block)).toMatchObject([
      {},
      { kind: 'tool', name: 'wake_later', input: { message: 'call Anna', at: 'friday 9:00' } },
    ]);
    expect(await ask(house, 'Erinnere mich übermorgen um 8:30 an die Post.')).toBe(
      'Ich melde mich am Mittwoch, 25. November 2026 um 08:30 Uhr: „Post“.',
    );
    expect(await ask(house, 'Remind me at 8 to eat')).toContain('24 November 2026, 08:00');
    expect(await ask(house, 'Remind me at 3 pm to eat')).toContain('23 November 2026, 15:00');
    expect(await ask(house, 'Remind me today at 8 to eat')).toBe('That did not go through: That time is in the past.');
    for (const unclear of [
      'Remind me every day at 9 to take the pills',
      'Remind me to call Anna on December 24 at 9',
      'Remind me to pay the rent on the 3rd at 9',
      'Remind me to swim Tuesday to Thursday at 8',
      'Remind me tomorrow evening to call Anna',
      'Remind me of what I told you on Friday',
      'Remind me to eat',
    ])
      expect(await ask(house, unclear), unclear).toMatch(/says when/);
    for (const unclear of ['Erinnere mich am 24. Dezember an die Gans', 'Erinnere mich werktags um 8 an die Mails'])
      expect(await ask(house, unclear), unclear).toMatch(/sagt, wann/);
    expect(await house.team.schedules.list()).toHaveLength(4);
  });

  it('says that it is a demo without a mind', async () => {
    const house = await hatched();
    const said = house.of('message').map(wordsOf).join('\n').toLowerCase();
    expect(
      house
        .of('agent-born')
        .every(({ soul }) => /rehears|nobody is thinking|no one is thinking|not thinking/i.test(soul)),
    ).toBe(true);
    expect(said).toMatch(/rehears/);
    expect(await ask(house, 'What do you think of rivers?')).toMatch(/rehears|nobody|thinking/i);
  });

  it('fails, stays silent or is cut in chosen seats', async () => {
    const house = await hatchedLate({ fail: [1], silent: [5], cut: [6] }, { decided: 7, wakeTimeoutMs: 5_000 });
    expect(
      house
        .of('birth-ended')
        .map(({ position, reason }) => [position, reason.code])
        .toSorted(),
    ).toEqual([
      [1, 'failed'],
      [5, 'silent'],
      [6, 'failed'],
    ]);
    expect(house.of('agent-born')).toHaveLength(5);
    expect(house.of('birth-ended').find(({ position }) => position === 1)?.reason.message).toContain(
      'the rehearsal was told to fail in this seat',
    );
  });

  it('misbehaves in a wake on command, and behaves again', async () => {
    const { house, mind } = await open({ fail: [1], silent: [5], cut: [6] });
    await house.start({}, { wakeTimeoutMs: 5_000 });
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length + house.of('agent-asleep').length === 7);
    await house.untilTimedOut(5_000, () => house.of('call-ended').length === 1);
    await house.untilQuiet();
    expect(
      house
        .of('agent-asleep')
        .map(({ position, reason }) => [position, reason.code])
        .toSorted(),
    ).toEqual([
      [1, 'failed'],
      [5, 'silent'],
    ]);
    // Cut in mid-answer: it was there, and what it said is kept.
    const [cut] = house.of('message').filter(({ author }) => author === 'agent-6');
    expect(cut?.status).toBe('interrupted');
    expect(wordsOf(cut)).not.toBe('');
    mind.setOptions({ ...mind.options(), fail: [], silent: [], cut: [] });
    await house.wake(team());
    await house.until(() => house.of('agent-awake').length === 8);
  });

  it('finds no name, or chooses the same one twice, on command', async () => {
    const house = await hatchedLate({ nameless: [0], sameName: [1, 2] }, { decided: 7, birthTimeoutMs: 6_000 });
    expect(house.of('birth-ended')).toMatchObject([{ position: 0, reason: { code: 'unnamed' } }]);
    const chosen = new Map(names(house));
    expect(chosen.get(1)).toBe(chosen.get(2));
    expect(new Set(chosen.values()).size).toBe(6);
  });

  it('lets the lead ignore the call on command', async () => {
    const { house } = await open({ leadIgnores: true });
    await house.start();
    await house.wake(team());
    await house.until(() => house.of('call-ended').length === 1);
    expect(house.of('call-ended')[0]?.error).toBeNull();
    expect(house.of('agent-awake')).toHaveLength(8);
  });

  it('answers only its own relay', async () => {
    const { mind } = await open();
    const message: MindMessage = { role: 'user', blocks: [{ kind: 'text', text: 'Who are you?' }] };
    const request: MindRequest = {
      priority: 'team',
      model: 'rehearsal',
      system: 'You are Julian, the lead of Ada’s team.',
      messages: [message],
      tools: LEAD_TOOLS,
      maxTokens: 100,
    };
    const heard: string[] = [];
    const answer = await mind.answer(request, {
      onText: (text) => heard.push(text),
      signal: new AbortController().signal,
    });
    expect(answer).toMatchObject({ ok: true, stop: 'tools' });
    expect(heard.join('')).toContain('I am');
    const agent = await mind.answer(
      { ...request, tools: AGENT_TOOLS, maxTokens: 0 },
      { onText: () => undefined, signal: new AbortController().signal },
    );
    expect(agent).toMatchObject({ ok: false, error: { kind: 'refused-request' } });
  });
});
