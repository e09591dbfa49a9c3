/** After all answers have ended: each conversation shows every answer of the relay's log, once, and to its last word. */
import { isDeepStrictEqual } from 'node:util';
import type { StoredEvent } from '../../src/protocol/events.ts';
import { readShown } from './evidence.ts';
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

/** Waits for it; what is wrong after that, as sentences. */
export async function faultsOfWhole(
  house: House,
  events: readonly StoredEvent[],
  team: readonly Who[],
): Promise<string[]> {
  const faults: string[] = [];
  for (const who of team) {
    const agentId = await house.agentId(who);
    const said = events.flatMap(({ event }) =>
      event.kind === 'message' && event.agentId === agentId && event.role === 'assistant'
        ? [event.blocks.flatMap((block) => (block.kind === 'text' ? [plain(block.text)] : []))]
        : [],
    );
    await house.visitor().open(who);
    const rows = await eventually(
      async () => (await readShown(house.visitor().page)).filter((row) => !row.mine),
      (now) =>
        isDeepStrictEqual(
          now.map((row) => row.texts),
          said,
        ) && now.every((row) => !row.open),
    );
    if (
      !isDeepStrictEqual(
        rows.map((row) => row.texts),
        said,
      )
    )
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
