/**
 * How runs ended, as the event log tells it: what is said of a run in its conversation and in the
 * account is one and the same.
 */
import type { RunId } from '../../src/shared/domain/ids.ts';
import { endOfText } from '../../src/shared/domain/cut-middle.ts';
import { textOf } from '../../src/shared/domain/text-of.ts';
import type { EventOf } from '../../src/shared/protocol/events.ts';
import type { EventLog } from '../contracts/index.ts';
import type { Ended } from './rows.ts';
import { endOfRun } from './perform.ts';

/** Events that are read at once. */
const PAGE = 2_000;

/**
 * Those of these runs that the log knows to have ended. `saidChars`: that are kept of last words.
 */
export async function endsInLog(
  log: Pick<EventLog, 'read'>,
  runIds: ReadonlySet<RunId>,
  saidChars: number,
): Promise<ReadonlyMap<string, Ended>> {
  const said = new Map<string, string>();
  const over: EventOf<'run-ended'>[] = [];
  for (let after = 0; ;) {
    const page = await log.read(after, PAGE);
    for (const { event } of page) {
      if (event.kind === 'run-ended' && runIds.has(event.runId)) over.push(event);
      if (event.kind !== 'message' || event.runId === undefined || event.author !== event.agentId) continue;
      const text = textOf(event.blocks).trim();
      if (runIds.has(event.runId) && text !== '') said.set(event.runId, endOfText(text, saidChars));
    }
    const last = page.at(-1);
    if (!last || page.length < PAGE) break;
    after = last.id;
  }
  return new Map(
    over.map((event) => [
      event.runId,
      endOfRun({ ...event, said: said.get(event.runId) ?? null, overBudget: false, refusedForNow: false }),
    ]),
  );
}
