import { setTimeout as sleep } from 'node:timers/promises';
import { afterEach, beforeEach, describe, it } from 'vitest';
import { LEAD_ID } from '../../src/domain/seat.ts';
import { createRandom } from '../support/random.ts';
import { demand } from './checks.ts';
import { readRelay } from './evidence.ts';
import { createHouse, eventually, type House } from './household.ts';
import { createLine, type Line } from './line.ts';
import { lineCutRound } from './line-cut.ts';
import { wakeAll } from './relay-kill.ts';
import { faultsOfWhole, settled } from './whole.ts';
import { SLOW } from './words.ts';

/** A seed that ever failed stays here. */
const SEEDS = [1, 2, 3, 4];
/** ms without a network, in mid-answer. */
const OFFLINE = 700;
/** ms; a quarter of a minute on a quiet machine. */
const TIMEOUT = 240_000;

let line: Line;
let house: House;
beforeEach(async () => {
  line = await createLine();
  house = await createHouse(1, { proxy: line.proxy });
});
afterEach(async () => {
  await house.close();
  await line.close();
});

describe('The line to the relay, cut in mid-answer', () => {
  it(
    `catches up once and in order, and what was said into the gap is heard once (seeds ${SEEDS.join(', ')})`,
    { timeout: TIMEOUT },
    async () => {
      for (const seed of SEEDS) {
        try {
          await lineCutRound(house, line, createRandom(seed));
        } catch (error) {
          throw new Error(`Seed ${seed} failed`, { cause: error });
        }
      }
    },
  );

  it('catches up when the browser itself was offline', async () => {
    await wakeAll(house);
    house.words.pace(SLOW);
    const visitor = house.visitor();
    await visitor.open(LEAD_ID);
    await visitor.say('Tell me everything.');
    await visitor.untilRead('Tell me everything.');
    await visitor.page.context().setOffline(true);
    await sleep(OFFLINE);
    await visitor.page.context().setOffline(false);
    await visitor.untilAll('awake');
    const events = await eventually(
      () => readRelay(house.relay()),
      (so) =>
        settled(so) &&
        so.some(
          ({ event }) => event.kind === 'message' && event.author === 'human' && event.blocks[0]?.kind === 'text',
        ),
    );
    demand('After the browser was offline', [
      ...(await faultsOfWhole(house, events, [LEAD_ID])),
      ...visitor.complaints,
    ]);
  });
});
