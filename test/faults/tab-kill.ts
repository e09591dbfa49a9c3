/**
 * The page goes in mid-answer, and the relay goes on: after it is opened again every word is there
 * once, those spoken meanwhile too, the session still runs, and whoever was awake is awake.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { demand } from './checks.ts';
import { readLedger, readRelay, readShown, type Shown } from './evidence.ts';
import { eventually, TEAM, type House, type Who } from './household.ts';
import { pick } from './pick.ts';
import { wakeAll } from './relay-kill.ts';
import { faultsOfWhole, settled } from './whole.ts';
import { SLOW } from './words.ts';

/** ms within which the page goes, after the last of them was asked. */
const WITHIN = 1_500;
/** ms at most until it is opened again. */
const AWAY = 1_500;

export type Ending =
  /** The tab is closed. */
  | 'close'
  /** Its process crashes. */
  | 'crash'
  /** The whole browser is killed. */
  | 'browser';
export const ENDINGS: readonly Ending[] = ['close', 'crash', 'browser'];

async function endPage(house: House, ending: Ending): Promise<void> {
  const { page } = house.visitor();
  switch (ending) {
    case 'close':
      return page.close();
    case 'crash': {
      const crashed = page.waitForEvent('crash');
      // The address never answers: its process is gone.
      page.goto('chrome://crash').catch(() => undefined);
      await crashed;
      return page.close();
    }
    case 'browser':
      return house.closeBrowser('kill');
    default:
      return ending satisfies never;
  }
}

/** One killed tab. Leaves everyone awake, and the page open. */
export async function tabKillRound(house: House, ending: Ending, random: () => number): Promise<void> {
  const when = `After the page went (${ending})`;
  await wakeAll(house);
  house.words.pace(SLOW);
  const speakers = pick(random, TEAM, 1 + Math.floor(random() * 3));
  const [first = LEAD_ID, ...others] = speakers;
  const visitor = house.visitor();
  for (const who of others) await house.tell(who, 'Tell me everything.');
  await visitor.open(first);
  await visitor.say('Tell me everything, too.');
  await visitor.untilRead('Tell me everything, too.');
  await sleep(random() * WITHIN);

  const shown = new Map<Who, readonly Shown[]>(speakers.map((who) => [who, []]));
  shown.set(first, await readShown(visitor.page));
  const ledger = await readLedger(visitor.page);
  demand('Before the page went', visitor.complaints);
  await endPage(house, ending);
  await sleep(random() * AWAY);

  const back = await house.openPage();
  await back.untilAll('awake');
  await eventually(() => readRelay(house.relay()), settled);
  const { events } = await house.holdAgainst(when, { shown, ledger });
  const ended =
    events.findLast(({ event }) => event.kind === 'session-started' || event.kind === 'session-ended')?.event.kind ===
    'session-ended';
  demand(when, [
    ...(ended ? ['the session has ended'] : []),
    ...(settled(events) ? [] : ['somebody has not answered']),
    ...(await faultsOfWhole(house, speakers)),
    ...back.complaints,
  ]);
}
