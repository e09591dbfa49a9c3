/**
 * The line between page and relay is cut, again and again, in mid-answer: what was missed is caught
 * up, once and in order.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import { demand } from './checks.ts';
import { messagesIn, readLedger, readRelay, readShown, textsIn } from './evidence.ts';
import { eventually, TEAM, type House } from './household.ts';
import type { Line } from './line.ts';
import { pick } from './pick.ts';
import { wakeAll } from './relay-kill.ts';
import { faultsOfWhole, settled } from './whole.ts';
import { SLOW } from './words.ts';

const MOST_CUTS = 4;
/** ms between two cuts, at most. */
const BETWEEN = 700;
/** ms for which the line stays down, at most. */
const DOWN = 1_500;
/** ms after something was sent within which its line is cut: its answer may be lost, or itself. */
const JUST_AFTER = 40;

export async function lineCutRound(house: House, line: Line, random: () => number): Promise<void> {
  await wakeAll(house);
  house.words.pace(SLOW);
  const visitor = house.visitor();
  const speakers = pick(random, TEAM, 3);
  const [first = LEAD_ID, ...others] = speakers;
  await visitor.open(first);
  for (const who of others) await house.tell(who, 'Tell me everything.');
  const said: string[] = [];
  const say = async () => {
    const text = `Do you hear me? ${said.length} ${random()}`;
    said.push(text);
    await visitor.say(text);
  };
  await say();
  for (let cuts = 1 + Math.floor(random() * MOST_CUTS); cuts > 0; cuts--) {
    await sleep(random() * BETWEEN);
    const how = random();
    if (how < 0.3) line.tear();
    else if (how < 0.5) line.cut();
    else if (how < 0.75) {
      await say();
      await sleep(random() * JUST_AFTER);
      line.cut();
    } else {
      line.down(true);
      await say();
      await sleep(random() * DOWN);
      line.down(false);
    }
  }
  await visitor.untilAll('awake');
  const kept = async () =>
    messagesIn(await readLedger(visitor.page))
      .filter((message) => message.author === 'human')
      .flatMap(textsIn);
  const heard = await eventually(kept, (texts) => said.every((text) => texts.includes(text)));
  await eventually(() => readRelay(house.relay()), settled);
  await house.holdAgainst('After the line was cut', {
    shown: new Map(speakers.map((who) => [who, []])),
    ledger: [],
  });
  await visitor.open(first);
  const mine = (await readShown(visitor.page)).filter((row) => row.mine).flatMap((row) => row.texts);
  demand('After the line was cut', [
    ...said
      .filter((text) => heard.filter((one) => one === text).length !== 1)
      .map((text) => `"${text}" was not heard once`),
    ...said
      .filter((text) => mine.filter((one) => one === text).length !== 1)
      .map((text) => `"${text}" does not stand on the page once`),
    ...(await faultsOfWhole(house, speakers)),
    ...visitor.complaints,
  ]);
}
