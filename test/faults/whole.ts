/**
 * After all answers have ended: each conversation shows every answer of the relay's log, once, and
 * to its last word.
 */
import { isDeepStrictEqual } from 'node:util';
import type { StoredEvent } from '../../src/shared/protocol/events.ts';
import { readRelay, readShown } from './evidence.ts';
import { eventually, type House, type Who } from './household.ts';
import { plain } from './words.ts';

/** Nobody is speaking, and everything that the person said has been answered. */
export function settled(events: readonly StoredEvent[]): boolean {
  const waiting = new Set<string>();
  const speaking = new Set<string>();
  for (const { event } of events) {
    if (event.kind === 'answer-started') speaking.add(event.messageId);
    if (event.kind !== 'message') continue;
    speaking.delete(event.messageId);
    if (event.author === 'human') waiting.add(event.agentId);
    else if (event.role === 'assistant') waiting.delete(event.agentId);
  }
  return waiting.size === 0 && speaking.size === 0;
}

const answersOf = (events: readonly StoredEvent[], agentId: string | null) =>
  events.flatMap(({ event }) =>
    event.kind === 'message' && event.agentId === agentId && event.role === 'assistant'
      ? [event.blocks.flatMap((block) => (block.kind === 'text' ? [plain(block.text)] : []))]
      : [],
  );

/**
 * Waits for it; what is wrong after that, as sentences. The log is read with the page: what waited
 * in a queue is answered after it was settled.
 */
export async function faultsOfWhole(house: House, team: readonly Who[]): Promise<string[]> {
  const faults: string[] = [];
  for (const who of team) {
    const agentId = await house.agentId(who);
    await house.visitor().open(who);
    const { said, rows, same } = await eventually(
      async () => {
        const shown = (await readShown(house.visitor().page)).filter((row) => !row.mine);
        const answers = answersOf(await readRelay(house.relay()), agentId);
        const texts = shown.map((row) => row.texts);
        return { said: answers, rows: shown, same: isDeepStrictEqual(texts, answers) };
      },
      (now) => now.same && now.rows.every((row) => !row.open),
    );
    if (!same)
      faults.push(
        `${who} shows ${JSON.stringify(rows.map((row) => row.texts.map((text) => text.slice(-20))))} of ${JSON.stringify(said.map((texts) => texts.map((text) => text.slice(-20))))}`,
      );
    if (rows.some((row) => row.open)) faults.push(`${who} is writing still`);
    const last = rows.at(-1)?.texts.at(-1) ?? '';
    if (![...house.words.told.values()].includes(last))
      faults.push(`${who} did not come to the end: "${last.slice(-40)}"`);
  }
  return faults;
}
