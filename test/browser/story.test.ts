/**
 * The whole story, as one person lives it: hatch a team, close everything, wake it as who it was.
 */
import { afterEach, describe, expect, it } from 'vitest';
import { createProfile, type Profile } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { createHome, startRelay, type RelayOptions, type TestRelay } from '../support/relay.ts';
import { startScriptedModel, teamScript, type ScriptedModel } from '../support/scripted-model.ts';
import { createVisitor, type Seat } from '../support/visitor.ts';

const FACT = 'the bridge in Porto is painted heron blue';
const namesOf = (seats: readonly Seat[]) => seats.map((seat) => seat.name);

let profile: Profile | null = null;
let relay: TestRelay | null = null;
let model: ScriptedModel | null = null;
afterEach(async () => {
  await profile?.remove();
  await relay?.stop();
  await model?.close();
  profile = relay = model = null;
});

type MindOptions = Pick<RelayOptions, 'args' | 'env'>;

const minds: Record<'rehearsal' | 'anthropic', () => Promise<MindOptions>> = {
  rehearsal: () => Promise.resolve({ args: ['--rehearsal', JSON.stringify({ delayMs: 150, wordMs: 4 })] }),
  /** Knows only what is in its requests: that it remembers shows that it was told. */
  anthropic: async () => {
    const team = teamScript({ souls: { 1: 'I tried three names aloud. The third one answered. '.repeat(8) } });
    model = await startScriptedModel(async (request) => {
      const told =
        request.body.messages.length === 1 || request.last.startsWith('What did I tell you')
          ? request.first.includes(FACT)
          : false;
      if (request.seat === 1 && told) return [{ say: `You told me that ${FACT}.`, chunk: 5, everyMs: 2 }];
      const reply = await team(request);
      return reply === 'silent' || 'fail' in reply ? reply : [{ wait: 150 }, ...reply];
    });
    return { env: { ANTHROPIC_BASE_URL: model.url, ANTHROPIC_API_KEY: 'key-of-a-test' } };
  },
};

/**
 * On a phone, with all that moves; at a desk it is lived in `engines` and `connect`, and the
 * rehearsal is what most other tests talk to.
 */
const STORIES = [{ mind: 'anthropic', width: 360, height: 780, motion: 'no-preference' }] as const;
/** With `npm run faults -- story`. */
const FURTHER =
  process.env['ROOST_STORIES'] === undefined
    ? []
    : ([
        { mind: 'rehearsal', width: 1440, height: 900, motion: 'reduce' },
        { mind: 'rehearsal', width: 360, height: 780, motion: 'no-preference' },
        { mind: 'anthropic', width: 1440, height: 900, motion: 'reduce' },
      ] as const);

describe.each([...STORIES, ...FURTHER])('With the $mind mind, at $width px', ({ mind, width, height, motion }) => {
  it('a team hatches, sleeps through a killed relay, and wakes as who it was', async () => {
    const options = { viewport: { width, height }, reducedMotion: motion };
    const mindOptions = await minds[mind]();
    const home = await createHome({ store: 'sqlite' });
    const port = await freePort();
    const start = () => startRelay({ home, port, ...mindOptions });
    relay = await start();
    profile = await createProfile();
    const shot = (name: string) => `${mind}-${width}-${name}`;

    const evening = await createVisitor(await profile.open(options), relay.link);
    await evening.page.getByText(mind === 'rehearsal' ? /You’re in the demo/ : /^Connected: /).waitFor();
    await evening.picture(shot('1-first-visit'));
    expect(await evening.axe()).toEqual([]);
    await evening.begin('Marcus', 'Julian');
    expect((await evening.seats()).map((seat) => seat.state)).toEqual(Array<string>(8).fill('empty'));
    await evening.page.getByRole('button', { name: /^Julian, lead/ }).waitFor();
    await evening.picture(shot('2-empty'));
    expect(await evening.axe()).toEqual([]);

    await evening.press('SUMMON');
    await evening.page.getByRole('button', { name: 'SUMMONING…' }).waitFor();
    await evening.untilSeats('an egg', (seats) => seats.some(({ state }) => state !== 'empty'));
    await evening.picture(shot('3-hatching'));
    const born = await evening.untilAll('awake');
    expect(new Set(namesOf(born)).size).toBe(8);
    expect(await evening.axe()).toEqual([]);
    await evening.picture(shot('4-awake'));

    await evening.open(1);
    expect((await evening.reading()).length).toBeGreaterThan(200);
    await evening.ask(`Remember this: ${FACT}.`);
    await evening.picture(shot('5-conversation'));
    expect(await evening.axe()).toEqual([]);
    await evening.open('lead');
    await evening.ask('Good night, all of you.');

    await evening.hearth();
    await evening.press('End session');
    await evening.untilAll('sleeping');
    await evening.page
      .getByText(/everyone sleeps since|you ended the session/)
      .filter({ visible: true })
      .first()
      .waitFor();
    await evening.picture(shot('6-sleeping'));
    expect(evening.complaints).toEqual([]);
    await profile.kill();
    await relay.kill('SIGKILL');

    relay = await start();
    const morning = await createVisitor(await profile.open(options), relay.link);
    const asleep = await morning.untilAll('sleeping');
    expect(namesOf(asleep)).toEqual(namesOf(born));
    expect(await morning.axe()).toEqual([]);
    await morning.press('WAKE');
    await morning.untilSeats('somebody stirring', (seats) => seats.some(({ state }) => state !== 'sleeping'));
    await morning.picture(shot('7-waking'));
    expect(namesOf(await morning.untilAll('awake'))).toEqual(namesOf(born));
    await expect.poll(() => morning.page.getByRole('button', { name: /^(WAKE|SUMMON)/ }).count()).toBe(0);

    await morning.open(1);
    await morning.untilRead(/heron blue/);
    expect(await morning.ask('What did I tell you about the bridge?')).toMatch(/heron blue/);
    await morning.picture(shot('8-remembers'));
    expect(await morning.axe()).toEqual([]);
    expect(morning.complaints).toEqual([]);
  });
});
