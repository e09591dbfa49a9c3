/** One agent as a file: out of the household, and into an empty seat. Fetched with the pages that need it. */
import { adopt, ARCHIVE, type ParsedAgent } from '../archive/index.ts';
import type { SeatPosition } from '../domain/seat.ts';
import type { Comparison } from '../protocol/worker.ts';
import type { Done } from './actions/parts.ts';
import type { Sink } from './copies.ts';
import type { RoostState } from './index.ts';

export { agentFileName, householdFileName } from '../archive/index.ts';
export type { AgentWarning, ArchiveConflict, ArchivedAgent, ArchivePreview, ArchiveProgress, ParsedAgent } from '../archive/index.ts';

const sentence = (error: unknown) => (error instanceof Error ? error.message : String(error));

/** Writes all that belongs to one agent into a zip of plain files. */
export async function exportAgent({ archive, owner, device }: RoostState, agentId: string, sink: Sink): Promise<Done> {
  try {
    await archive.exportAgent({ agentId, read: (request) => owner.call('documents', request), sink: sink.stream, exportedAt: device.now() });
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: sentence(error) };
  }
}

/** Somebody in a file, and how that compares with what is here. */
export interface Applicant {
  readonly parsed: ParsedAgent;
  /** Of everything in the file; null for a soul that was never anybody. */
  readonly comparison: Comparison | null;
}

export type Read = { readonly ok: true; readonly applicant: Applicant } | Extract<Done, { ok: false }>;

/** Reads a zip or a text with a soul. Writes nothing. */
export async function readAgent({ archive, owner }: RoostState, file: File, signal: AbortSignal): Promise<Read> {
  try {
    const parsed = await archive.readAgentZip(file, { signal });
    if (parsed.agentId === null) return { ok: true, applicant: { parsed, comparison: null } };
    const sum = { fresh: [] as string[], same: 0, different: [] as string[], forgotten: 0 };
    for (const docs of batches(parsed.documents)) {
      const { fresh, same, different, forgotten } = await owner.call('compare', docs);
      sum.fresh.push(...fresh);
      sum.different.push(...different);
      sum.same += same;
      sum.forgotten += forgotten;
    }
    return { ok: true, applicant: { parsed, comparison: sum } };
  } catch (error) {
    return { ok: false, reason: sentence(error) };
  }
}

export type Welcoming =
  /** Under its own id. null keeps the name or the seat that it has. */
  | { readonly as: 'itself'; readonly name: string | null; readonly position: SeatPosition | null }
  /** `agentId`: made once for one attempt, so that trying again gives the same documents. */
  | { readonly as: 'new'; readonly agentId: string; readonly name: string; readonly position: SeatPosition };

/** Stores what lets somebody live here. Doing it again after a failure is harmless. */
export async function adoptAgent({ copies, clock, device }: RoostState, parsed: ParsedAgent, welcoming: Welcoming): Promise<Done> {
  try {
    const docs = adopt(welcoming.as === 'new' ? { ...welcoming, parsed, clock, now: device.now() } : { ...welcoming, parsed, clock, newId: device.newId });
    for (const batch of batches(docs)) await copies.append(batch);
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: sentence(error) };
  }
}

function* batches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += ARCHIVE.batchDocuments) yield all.slice(from, from + ARCHIVE.batchDocuments);
}
