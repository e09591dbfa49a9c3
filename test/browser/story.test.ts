/** The whole story, as one person lives it: hatch a team, close everything, wake it as who it was. */
import { afterEach, describe, expect, it } from 'vitest';
import { createProfile, type Profile } from '../support/chromium.ts';
import { freePort } from '../support/free-port.ts';
import { createHome, startRelay, type TestRelay } from '../support/relay.ts';
import { createVisitor, type Seat } from '../support/visitor.ts';

const BRISK = JSON.stringify({ delayMs: 150, wordMs: 4 });
const NAMES = (seats: readonly Seat[]) => seats.map((seat) => seat.name);

let profile: Profile | null = null;
let relay: TestRelay | null = null;
afterEach(async () => {
  await profile?.remove();
  await relay?.stop();
  profile = relay = null;
});

describe.each([
  { width: 1440, height: 900 },
  { width: 360, height: 780 },
])('At $width px, with the rehearsal mind', (viewport) => {
  it('a team hatches, sleeps through a killed relay, and wakes as who it was', async () => {
    const home = await createHome();
    const port = await freePort();
    const start = () => startRelay({ home, port, args: ['--rehearsal', BRISK] });
    relay = await start();
    profile = await createProfile();
    const shot = (name: string) => `${name}-${viewport.width}`;

    const evening = await createVisitor(await profile.open({ viewport }), relay.link);
    await evening.page.getByText(/rehearsal mind is in use/i).waitFor();
    await evening.picture(shot('1-first-visit'));
    expect(await evening.axe()).toEqual([]);
    await evening.begin('Marcus', 'Julian');
    expect((await evening.seats()).map((seat) => seat.state)).toEqual(Array<string>(8).fill('empty'));
    await evening.page.getByRole('button', { name: 'Julian, lead' }).waitFor();
    await evening.picture(shot('2-empty'));
    expect(await evening.axe()).toEqual([]);

    await evening.press('SUMMON');
    await evening.page.getByRole('button', { name: 'SUMMONING…' }).waitFor();
    await evening.untilSeats('an egg', (seats) => seats.some((seat) => seat.state === 'hatching'));
    await evening.picture(shot('3-hatching'));
    const born = await evening.untilAll('awake');
    expect(new Set(NAMES(born)).size).toBe(8);
    expect(await evening.axe()).toEqual([]);
    await evening.picture(shot('4-awake'));

    await evening.open(1);
    const soul = await evening.reading();
    expect(soul.length).toBeGreaterThan(200);
    await evening.ask('Remember this: the bridge in Porto is painted heron blue.');
    await evening.picture(shot('5-conversation'));
    expect(await evening.axe()).toEqual([]);
    await evening.open('lead');
    await evening.ask('Good night, all of you.');

    await evening.hearth();
    await evening.press('End session');
    await evening.untilAll('sleeping');
    await evening.page.getByText(/you ended the session/).filter({ visible: true }).first().waitFor();
    await evening.picture(shot('6-sleeping'));
    expect(evening.complaints).toEqual([]);
    await profile.kill();
    await relay.kill('SIGKILL');

    relay = await start();
    const morning = await createVisitor(await profile.open({ viewport }), relay.link);
    const asleep = await morning.untilAll('sleeping');
    expect(NAMES(asleep)).toEqual(NAMES(born));
    expect(await morning.axe()).toEqual([]);
    await morning.press('WAKE');
    await morning.untilSeats('somebody stirring', (seats) => seats.some((seat) => seat.state === 'hatching'));
    await morning.picture(shot('7-waking'));
    const awake = await morning.untilAll('awake');
    expect(NAMES(awake)).toEqual(NAMES(born));
    await expect.poll(() => morning.page.getByRole('button', { name: /^(WAKE|SUMMON)/ }).count()).toBe(0);

    await morning.open(1);
    await morning.untilRead(/heron blue/);
    expect(await morning.ask('What did I tell you about the bridge?')).toMatch(/heron blue/);
    await morning.picture(shot('8-remembers'));
    expect(await morning.axe()).toEqual([]);
    expect(morning.complaints).toEqual([]);
  });
});
