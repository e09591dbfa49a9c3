/** What came from other devices, into the ledger and into the list of members. */
import type { Heard } from './heard.ts';
import type { Keys } from './keys.ts';
import type { Members } from './members.ts';
import type { ReadPayload } from './payload.ts';
import type { LedgerPort } from './ports.ts';

const MISFIT =
  'Another device sent something that this Roost cannot read. Update Roost here; the rest is not affected.';

export interface InboundDeps {
  readonly ledger: Pick<LedgerPort, 'append'>;
  readonly members: Pick<Members, 'hear'>;
  readonly keys: Pick<Keys, 'hearRecovery'>;
  readonly heard: Pick<Heard, 'add'>;
  readonly onMisfit: (error: Error) => void;
}

/** Is it that a document does not fit, rather than that nothing can be written? */
const isMisfit = (error: unknown) =>
  error instanceof Error && (error.name === 'ZodError' || error.name === '$ZodError' || error instanceof TypeError);

function idOf(doc: unknown): string[] {
  return typeof doc === 'object' && doc !== null && '_id' in doc && typeof doc._id === 'string' ? [doc._id] : [];
}

/** Answers how to take what entries carry: it resolves when all of it is durable, and rejects where it cannot be stored. */
export function createInbound({ ledger, members, keys, heard, onMisfit }: InboundDeps) {
  /** One that is no document keeps none of the others out. */
  async function append(docs: readonly unknown[]) {
    if (docs.length === 0) return;
    try {
      await ledger.append(docs);
    } catch (error) {
      if (!isMisfit(error)) throw error;
      for (const doc of docs) {
        try {
          await ledger.append([doc]);
        } catch (one) {
          if (!isMisfit(one)) throw one;
          onMisfit(new Error(MISFIT));
        }
      }
    }
  }

  return async function take(payloads: readonly ReadPayload[]): Promise<void> {
    const docs = payloads.flatMap((payload) => payload.docs ?? []);
    // Before they are in the ledger: what waits here to be sealed need not be.
    heard.add(docs.flatMap(idOf));
    await append(docs);
    await members.hear({
      devices: payloads.flatMap((payload) => payload.devices ?? []),
      tips: payloads.flatMap((payload) => payload.tips ?? []),
    });
    for (const { recovery } of payloads) if (recovery) await keys.hearRecovery(recovery);
  };
}
