/**
 * One agent as a file: out of the household, and into an empty seat. Fetched with the pages that
 * need it.
 */
import {
  adopt,
  ARCHIVE,
  createConsent,
  isConsented,
  type AgentWarning,
  type ArchiveChange,
  type Consents,
  type ParsedAgent,
} from '../archive/index.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { SeatPosition } from '../../shared/domain/seat.ts';
import type { Comparison } from '../../shared/protocol/worker.ts';
import type { Done } from './actions/parts.ts';
import { copiesOf, type Sink } from './copies.ts';
import { createWriter } from './documents.ts';
import type { RoostState } from './index.ts';
import { errorText } from './ports.ts';

export { aheadOf, agentFileName, conversationFileName, householdFileName, safeFileName } from '../archive/index.ts';
export type {
  AgentWarning,
  ArchiveChange,
  ArchiveConflict,
  ArchivedAgent,
  ArchivePreview,
  ArchiveProgress,
  ParsedAgent,
} from '../archive/index.ts';

/** Writes all that belongs to one agent into a zip of plain files. */
export async function exportAgent({ archive, owner, device }: RoostState, agentId: AgentId, sink: Sink): Promise<Done> {
  try {
    await archive.exportAgent({
      agentId,
      read: (request) => owner.call('documents', request),
      sink: sink.stream,
      exportedAt: device.now(),
    });
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}

/** Somebody in a file, and how that compares with what is here. */
export interface Applicant {
  readonly parsed: ParsedAgent;
  /** Of everything in the file; null for a soul that was never anybody. */
  readonly comparison: Comparison | null;
  /** What of it would change somebody who is here, each only with its tick. */
  readonly consents: Consents;
}

const NO_CONSENTS: Consents = { changes: [], needs: new Map(), agents: new Map(), never: new Set(), unfit: new Set() };

export type Read = { readonly ok: true; readonly applicant: Applicant } | Extract<Done, { ok: false }>;

/** Reads a zip or a text with a soul. Writes nothing. */
export async function readAgent(
  { archive, owner, device }: RoostState,
  file: File,
  signal: AbortSignal,
): Promise<Read> {
  try {
    const parsed = await archive.readAgentZip(file, { signal });
    if (parsed.agentId === null) return { ok: true, applicant: { parsed, comparison: null, consents: NO_CONSENTS } };
    const { agentId } = parsed;
    const here = await owner.call('household');
    const consent = createConsent(here, device.now());
    const sum = { fresh: [] as string[], same: 0, different: [] as string[], forgotten: 0 };
    for (const docs of batches(parsed.documents)) {
      const { fresh, same, different, forgotten } = await owner.call('compare', docs);
      sum.fresh.push(...fresh);
      const isFresh = new Set(fresh);
      consent.take(docs.filter(({ _id }) => isFresh.has(_id)));
      sum.different.push(...different);
      sum.same += same;
      sum.forgotten += forgotten;
    }
    const found = consent.result();
    const lives = here.identities.some((identity) => identity.agentId === agentId);
    const edited: ArchiveChange[] =
      lives && parsed.warnings.some(({ kind }) => kind === 'soul-edited')
        ? [{ kind: 'soul-edited', tick: SOUL_EDITED, agentId }]
        : [];
    const untaken = ([kind, { size }]: readonly ['never' | 'unfit', ReadonlySet<string>]): AgentWarning[] =>
      size > 0 ? [{ kind, documents: size }] : [];
    const never = [...untaken(['never', found.never]), ...untaken(['unfit', found.unfit])];
    return {
      ok: true,
      applicant: {
        parsed: { ...parsed, warnings: [...parsed.warnings, ...never] },
        comparison: sum,
        consents: { ...found, changes: [...found.changes, ...edited] },
      },
    };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}

const SOUL_EDITED = 'soul-edited';

export type Welcoming =
  /**
   * It lives here: what is missing of it comes, and of what would change it only what is ticked.
   */
  | { readonly as: 'missing'; readonly agentId: AgentId; readonly ticks: ReadonlySet<string> }
  /** Under its own id. null keeps the name or the seat that it has. */
  | {
      readonly as: 'itself';
      readonly name: string | null;
      readonly position: SeatPosition | null;
      readonly ticks: ReadonlySet<string>;
    }
  /** `agentId`: made once for one attempt, so that trying again gives the same documents. */
  | { readonly as: 'new'; readonly agentId: AgentId; readonly name: string; readonly position: SeatPosition };

/** Stores what lets somebody live here. Doing it again after a failure is harmless. */
export async function adoptAgent(
  roost: RoostState,
  { parsed, consents }: Applicant,
  welcoming: Welcoming,
): Promise<Done> {
  const { clock, device } = roost;
  const copies = copiesOf(roost);
  try {
    for (const batch of batches(docsOf())) await copies.append(batch);
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }

  function docsOf(): readonly Doc[] {
    if (welcoming.as === 'new') return adopt({ ...welcoming, parsed, clock, now: device.now() });
    const { ticks } = welcoming;
    const wanted = parsed.documents.filter(({ _id }) => isConsented(consents.needs, ticks, _id));
    if (welcoming.as === 'itself')
      return adopt({ ...welcoming, parsed: { ...parsed, documents: wanted }, clock, newId: device.newId });
    const writer = createWriter({ clock, newId: device.newId, now: device.now });
    for (const doc of wanted) clock.follow(doc.at);
    return [
      ...wanted,
      ...(ticks.has(SOUL_EDITED)
        ? [writer.change(welcoming.agentId, { kind: 'soul', individuationArtifact: parsed.soul })]
        : []),
    ];
  }
}

function* batches<T>(all: readonly T[]): Generator<readonly T[]> {
  for (let from = 0; from < all.length; from += ARCHIVE.batchDocuments)
    yield all.slice(from, from + ARCHIVE.batchDocuments);
}
