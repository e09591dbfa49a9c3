/** The rehearsal mind before somebody whose page is German. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRehearsalMind } from '../../../../server/agents/minds/index.ts';
import { ENGLISH, type Language, type TextName } from '../../../../server/agents/minds/rehearsal/english.ts';
import { GERMAN } from '../../../../server/agents/minds/rehearsal/german.ts';
import type { Rehearsal } from '../../../../src/shared/protocol/http.ts';
import type { SeatPosition } from '../../../../src/shared/domain/seat.ts';
import { openSessionBench, payload, team, wordsOf, type Bench, type Household } from '../../../support/session.ts';

const MORNING = Date.UTC(2026, 10, 23, 7, 5);
/** Words that a German text has none of, but in the names of colours and of people. */
const ENGLISH_WORDS =
  /(?<![\p{L}’'])(?:the|you|your|and|is|are|my|with|of|to|not|have|it|undefined|null|seat)(?![\p{L}’'])/iu;

describe('the rehearsal mind on a German page', () => {
  let bench: Bench;
  beforeAll(async () => {
    bench = await openSessionBench();
  });
  afterAll(() => bench.close());

  async function open(options: Partial<Rehearsal> = {}, more: { soul?: string | null } = {}): Promise<Household> {
    const mind = await createRehearsalMind({ delayMs: 0, wordMs: 0, ...options });
    const house = await bench.open({ mind, now: () => MORNING });
    mind.meet({ all: async () => [await house.team.directory.all()] });
    await house.host.start({
      human: { name: 'Sam', language: 'de' },
      lead: { name: 'Julian', soul: 'Ich hüte die Tür.', transcript: null, ...more },
    });
    return house;
  }
  const settled = async (house: Household) => {
    await house.until(() => house.of('call-ended').length > 0);
    await house.untilQuiet();
  };
  const ask = async (house: Household, text: string, to?: string): Promise<string> => {
    const before = house.of('message').length;
    await house.post({ text, ...(to === undefined ? {} : { to }) });
    const answers = () =>
      house
        .of('message')
        .slice(before)
        .filter(({ author, agentId }) => author === agentId && agentId === (to ?? 'lead'));
    await house.until(() => answers().length > 0);
    await house.untilQuiet();
    return answers().map(wordsOf).join('\n');
  };
  const awake = async (positions: readonly SeatPosition[] = [0]): Promise<Household> => {
    const house = await open();
    await house.team.directory.set({
      agents: positions.map((n) => ({ agentId: `agent-${n}`, name: `Name ${n}`, position: n, retired: false })),
    });
    await house.wake(positions.map((n) => payload(n, { soul: 'Ich bin da.' })));
    await settled(house);
    return house;
  };
  const said = (house: Household, author: string) =>
    house
      .of('message')
      .filter((message) => message.author === author)
      .map(wordsOf)
      .join('\n');

  it('hatches in German with its own thoughts, name, soul and greeting, and says that it is a demo', async () => {
    const house = await open();
    await house.summon();
    await settled(house);
    const born = house.of('agent-born');
    expect(new Set(born.map(({ name }) => name)).size).toBe(8);
    expect(new Set(born.map(({ soul }) => soul)).size).toBe(8);
    for (const { name, soul, agentId, colorName } of born) {
      expect(soul).toMatch(/Probe/);
      expect(soul).toContain(`**${name}.**`);
      expect(soul).toContain('Schön, dich kennenzulernen, Sam.');
      expect(soul.replaceAll(colorName, '')).not.toMatch(ENGLISH_WORDS);
      expect(said(house, agentId)).not.toContain('{');
    }
    expect(said(house, 'lead')).toMatch(/Willkommen|Hallo|Schön, euch/);
    expect(said(house, 'lead')).not.toMatch(ENGLISH_WORDS);
  });

  it('has the same character and name for a seat as in English', async () => {
    const german = await open({ seed: 7 });
    await german.summon([0, 8]);
    await settled(german);
    const mind = await createRehearsalMind({ delayMs: 0, wordMs: 0, seed: 7 });
    const english = await bench.open({ mind });
    await english.start();
    await english.summon([0, 8]);
    await settled(english);
    const names = (house: Household) => new Map(house.of('agent-born').map(({ position, name }) => [position, name]));
    expect(names(german)).toEqual(names(english));
    const openings = (house: Household, { temperaments }: Language) =>
      house
        .of('agent-born')
        .toSorted((a, b) => a.position - b.position)
        .map(({ soul }) => temperaments.findIndex(({ draws }) => soul.includes(draws)));
    expect(openings(german, GERMAN)).toEqual(openings(english, ENGLISH));
    expect(openings(german, GERMAN)).not.toContain(-1);
  });

  it('says as much in both languages, and nothing of one in the other', () => {
    const shape = ({ temperaments, names, tried, topics }: Language) => [
      temperaments.length,
      Object.keys(names),
      tried.length,
      topics.length,
    ];
    expect(shape(GERMAN)).toEqual(shape(ENGLISH));
    const texts = [
      ...GERMAN.temperaments.flatMap((one) => Object.values(one)),
      ...Object.values(GERMAN.names),
      ...GERMAN.tried.map(([, butNot]) => butNot),
      ...GERMAN.topics.map(({ says }) => says),
      ...Object.values(GERMAN.texts),
    ];
    for (const text of texts) expect(text.replace(/\{\w+\}|„[^„“]*“/gu, '')).not.toMatch(ENGLISH_WORDS);
    // Each text has the same places to fill as the English one.
    const places = (text: string) => new Set(text.match(/\{\w+\}/g));
    for (const [name, text] of Object.entries(GERMAN.texts))
      if (!ENGLISH.texts[name as TextName].includes('{answer}'))
        expect(places(text), name).toEqual(places(ENGLISH.texts[name as TextName]));
  });

  it('says in German that no name fits yet, and who did not come', async () => {
    const house = await open({ nameless: [0], fail: [1] });
    await house.summon([0, 1, 2]);
    await house.until(() => house.of('agent-born').length === 1);
    const egg = house.of('call-started')[0]?.seats.find(({ position }) => position === 0)?.agentId ?? '';
    await house.until(() => said(house, egg).includes('Noch passt kein Name.'));
    await house.host.sleep(egg);
    await settled(house);
    expect(said(house, 'lead')).toMatch(/Nicht alle sind gekommen:\n\n- Platz 1\n- Platz 2\n\n/);
    expect(said(house, 'lead')).not.toMatch(ENGLISH_WORDS);
  });

  it('wakes in German, and remembers', async () => {
    const house = await open();
    await house.wake(team({ transcript: 'Sam (2026-11-21 08:52 UTC):\n> Schlaf gut.', soul: 'Ich bin da.' }));
    await settled(house);
    for (const position of [0, 5, 8]) {
      const hello = said(house, `agent-${position}`);
      expect(hello).toMatch(/^Hallo, Sam\. /);
      expect(hello).toContain('Das Letzte, was du mir vor dem Schlafen gesagt hast, war: „Schlaf gut.“');
      expect(hello).not.toMatch(ENGLISH_WORDS);
    }
  });

  it('writes a missing soul in German as a lead, again on request, and takes another name', async () => {
    const house = await open({}, { soul: null });
    await ask(house, 'Hallo!');
    expect(JSON.stringify(house.of('agent-changed'))).toContain('Ich hüte die Tür, für Sam');
    await house.wake([payload(0, { transcript: null })]);
    await settled(house);
    expect(await ask(house, 'Nenne dich ab jetzt Rook.', 'agent-0')).toMatch(/^Lass hören: Rook\.[^]*Er sitzt gut/);
    expect(await ask(house, 'Schreib deine Seele neu.', 'agent-0')).toMatch(/eigenen Worte\.[^]*die frühere bleibt/);
    const [rename, soul] = house.of('agent-changed').filter(({ agentId }) => agentId === 'agent-0');
    expect(rename?.change).toEqual({ kind: 'rename', name: 'Rook' });
    expect(JSON.stringify(soul?.change)).toMatch(/Ich bin Name 0\./);
    expect(JSON.stringify(soul?.change)).not.toMatch(/(?<!\p{L})the(?!\p{L})/u);
  });

  it('answers text without a language in German, and English in English', async () => {
    const house = await awake();
    for (const [text, answer] of [
      ['ok', /^Gut\. Sag mir etwas/],
      ['??', /^Das habe ich nicht verstanden/],
      ['Marcus', /^Das habe ich: „Marcus“\./],
      ['Boot fährt 9:30', /^Das habe ich: /],
      ['Hallo', /^Hallo, Sam\. /],
    ] as const) {
      const heard = await ask(house, text, 'agent-0');
      expect(heard, text).toMatch(answer);
      expect(heard, text).not.toMatch(ENGLISH_WORDS);
    }
    expect(await ask(house, 'What do you think of rivers?', 'agent-0')).toMatch(/^You ask: /);
    expect(await ask(house, 'Please remember this: the tea is green.', 'agent-0')).toMatch(/^I have that: /);
  });

  it('reports in German the outcome of its orders', async () => {
    const house = await awake([0, 1]);
    expect(await ask(house, 'Sag Name 1, dass die Brücke hält.', 'agent-0')).toContain(
      'Die Nachricht liegt im Posteingang von Name 1',
    );
    expect(await ask(house, 'Lies deine Post.', 'agent-0')).toContain('Für mich liegt nichts da.');
    expect(await ask(house, 'Wecke Name 1: Komm und sieh.', 'agent-0')).toContain('Name 1 ist wach');
    await house.until(() =>
      said(house, 'agent-1').includes('Name 0 hat mir geschrieben: „Komm und sieh.“ Das habe ich.'),
    );
    expect(await ask(house, 'Geh schlafen.')).toContain('darum bleibe ich auf');
  });

  it('tells in German that something was not done, and quotes the relay on why', async () => {
    const house = await awake([0, 1]);
    const wake = () => ask(house, 'Wecke Name 1: Komm und sieh.', 'agent-0');
    expect(await wake()).toContain('Name 1 ist wach');
    expect(await wake()).toMatch(
      /^Geweckt habe ich Name 1 damit nicht\. Die Nachricht wartet im Posteingang\. Das Relay sagt dazu: „Suppressed: It was woken less than 300 s ago\./,
    );
    expect(await ask(house, 'Nenne dich ab jetzt Sam.', 'agent-0')).toMatch(
      /Das ging nicht\. Das Relay sagt dazu: „Somebody here has the name “Sam”/,
    );
    for (const to of ['agent-0', undefined])
      expect(await ask(house, 'Erinnere mich heute um 6 an den Müll', to)).toBe(
        'Das ging nicht. Das Relay sagt dazu: „That time is in the past.“',
      );
  });

  it('sets a reminder in any wording, and says when it is due', async () => {
    const house = await awake();
    // 07:05 by the clock of the household.
    for (const [text, when] of [
      ['Erinnere mich in 10 Minuten an den Tee.', 'am Montag, 23. November 2026 um 07:15 Uhr: „Tee“.'],
      ['Kannst du mich um 18 Uhr an die Wäsche erinnern?', 'am Montag, 23. November 2026 um 18:00 Uhr: „Wäsche“.'],
      ['Erinnere mich um 6 Uhr daran, zu lüften', 'am Dienstag, 24. November 2026 um 06:00 Uhr: „zu lüften“.'],
      ['Bitte erinnere mich morgen um acht an Anna', 'am Dienstag, 24. November 2026 um 08:00 Uhr: „Anna“.'],
      [
        'Erinnere mich daran, in drei Tagen Anna anzurufen',
        'am Donnerstag, 26. November 2026 um 07:05 Uhr: „Anna anzurufen“.',
      ],
    ] as const)
      for (const to of ['agent-0', undefined]) expect(await ask(house, text, to), text).toBe(`Ich melde mich ${when}`);
    for (const unclear of [
      'Erinnere mich an den Müll',
      'Erinnere mich jeden zweiten Montag um 8 an Anna',
      'Erinnere mich an die Miete am 3. um 9 Uhr',
      'Erinnere mich an den Sport von Dienstag bis Donnerstag um 8',
      'Erinnere mich morgen früh an Anna',
    ])
      expect(await ask(house, unclear, 'agent-0'), unclear).toContain('eine Erinnerung, die sagt, wann');
    expect(await house.team.schedules.list()).toHaveLength(10);
  });
});
