import { setTimeout as sleep } from 'node:timers/promises';
import { beforeEach, describe, it } from 'vitest';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { createRandom } from '../support/random.ts';
import { shared } from '../support/shared.ts';
import { demand } from './checks.ts';
import { QUIET } from '../support/chromium.ts';
import { readRelay } from './evidence.ts';
import { createHouse, eventually, type House } from './household.ts';
import { createLine, type Line } from './line.ts';
import { lineCutRound } from './line-cut.ts';
import { wakeAll } from './relay-kill.ts';
import { faultsOfWhole, settled } from './whole.ts';
import { SLOW } from './words.ts';

/** Cuts in every way there is. More seeds: `npm run faults -- line`; one that fails comes here. */
const SEEDS = [2];
/** ms without a network, in mid-answer. */
const OFFLINE = 700;
/** ms; a quarter of a minute on a quiet machine. */
const TIMEOUT = 240_000;

const home = shared(
  async () => {
    const made = await createLine();
    return { line: made, house: await createHouse(1, { ...QUIET, proxy: made.proxy }) };
  },
  async (made) => {
    await made.house.close();
    await made.line.close();
  },
);
let line: Line;
let house: House;
beforeEach(async () => {
  ({ line, house } = await home());
});

describe('The connection to the relay, cut in mid-answer', () => {
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
    const said = 'Tell me everything, whatever becomes of the line.';
    await visitor.say(said);
    await visitor.untilRead(said);
    await visitor.page.context().setOffline(true);
    await sleep(OFFLINE);
    await visitor.page.context().setOffline(false);
    await visitor.untilAll('awake');
    await eventually(
      () => readRelay(house.relay()),
      (so) =>
        settled(so) &&
        so.some(
          ({ event }) =>
            event.kind === 'message' &&
            event.author === 'human' &&
            event.blocks.some((block) => block.kind === 'text' && block.text === said),
        ),
    );
    demand('After the browser was offline', [...(await faultsOfWhole(house, [LEAD_ID])), ...visitor.complaints]);
  });
});
