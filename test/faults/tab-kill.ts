/**
 * The page goes in mid-answer, and the relay goes on: after it is opened again every word is there once, those
 * spoken meanwhile too, the session still runs, and whoever was awake is awake.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { LEAD_ID } from '../../src/domain/seat.ts';
import type { StoredEvent } from '../../src/protocol/events.ts';
import { demand } from './checks.ts';
import { readLedger, readRelay, readShown, type Shown } from './evidence.ts';
import { eventually, TEAM, type House, type Who } from './household.ts';
import { pick } from './pick.ts';
import { wakeAll } from './relay-kill.ts';
import { plain, SLOW } from './words.ts';

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

const answering = (events: readonly StoredEvent[]): number =>
  events.filter(({ event }) => event.kind === 'answer-started').length - events.filter(({ event }) => event.kind === 'message' && event.role === 'assistant').length;

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
  await eventually(() => readRelay(house.relay()), (events) => answering(events) === 0);
  const { events, shown: after } = await house.holdAgainst(when, { shown, ledger });
  const ended = events.findLast(({ event }) => event.kind === 'session-started' || event.kind === 'session-ended')?.event.kind === 'session-ended';
  demand(when, [
    ...(ended ? ['the session has ended'] : []),
    ...(answering(events) === 0 ? [] : ['somebody is answering still']),
    ...(await unlike(house, events, after)),
    ...back.complaints,
  ]);
}

/** Waits until each conversation shows every answer of this log, whole, and nothing else. */
async function unlike(house: House, events: readonly StoredEvent[], shown: ReadonlyMap<Who, readonly Shown[]>): Promise<string[]> {
  const faults: string[] = [];
  for (const who of shown.keys()) {
    const agentId = await house.agentId(who);
    const said = events.flatMap(({ event }) =>
      event.kind === 'message' && event.agentId === agentId && event.role === 'assistant' ? [event.blocks.flatMap((block) => (block.kind === 'text' ? [plain(block.text)] : []))] : [],
    );
    await house.visitor().open(who);
    const rows = await eventually(
      async () => (await readShown(house.visitor().page)).filter((row) => !row.mine),
      (now) => isDeepStrictEqual(now.map((row) => row.texts), said) && now.every((row) => !row.open),
    );
    if (!isDeepStrictEqual(rows.map((row) => row.texts), said)) faults.push(`${who} shows ${JSON.stringify(rows.map((row) => row.texts.map((text) => text.slice(-20))))} of ${JSON.stringify(said.map((texts) => texts.map((text) => text.slice(-20))))}`);
    if (rows.some((row) => row.open)) faults.push(`${who} is writing still`);
    const whole = house.words.told;
    const last = rows.at(-1)?.texts.at(-1) ?? '';
    if (![...whole.values()].includes(last)) faults.push(`${who} did not come to the end: "${last.slice(-40)}"`);
  }
  return faults;
}
