/**
 * Exports as a page has them, with its worker at the other end of a real port, and a household in
 * memory.
 */
import { createExports, type Exports, type ExportWorker } from '../../../../src/page/exports/index.ts';
import { serveExports, type ServedLine } from '../../../../src/page/exports/serve.ts';
import type { Doc } from '../../../../src/shared/protocol/documents.ts';
import { isKnown, kindOf, slotOf, wins } from '../../../../src/shared/protocol/documents/kinds.ts';
import type { Comparison, DocumentPage } from '../../../../src/shared/protocol/worker.ts';
import type { ImportOptions, PreviewPorts } from '../../../../src/page/exports/index.ts';
import { appearanceOf } from '../../../../src/shared/domain/choices.ts';
import { createClock } from '../../../../src/shared/domain/stamp.ts';

class PortWorker extends EventTarget {
  readonly #near: MessagePort;
  readonly #far: MessagePort;
  constructor(serve: (line: ServedLine) => void) {
    super();
    const { port1, port2 } = new MessageChannel();
    this.#near = port1;
    this.#far = port2;
    port1.addEventListener('message', ({ data }) => this.dispatchEvent(new MessageEvent('message', { data })));
    port1.start();
    serve({
      postMessage: (message, transfer) => port2.postMessage(message, transfer),
      addEventListener: (type, listener) => port2.addEventListener(type, listener),
    });
    port2.start();
  }
  postMessage(message: unknown) {
    this.#near.postMessage(message);
  }
  terminate() {
    this.#near.close();
    this.#far.close();
  }
}

export const spawnHere = (): ExportWorker => new PortWorker(serveExports);
export const exportsHere = (): Exports => createExports({ spawn: spawnHere });

/** Of those about the same thing the one that holds, as the views keep it. */
function newestOf(docs: readonly Doc[]): Doc[] {
  const held = new Map<string, Doc>();
  for (const doc of docs) {
    const slot = slotOf(doc);
    const before = slot === null ? undefined : held.get(slot);
    if (slot !== null && (!before || wins(doc, before))) held.set(slot, doc);
  }
  return [...held.values()];
}

/** A ledger's calls, as far as exports need them: documents by id, the first one stays. */
export interface MemoryLedger {
  readonly documents: ReadonlyMap<string, Doc>;
  readonly batches: number[];
  readonly read: (request: { after: string | null; limit: number; agentId: string | null }) => Promise<DocumentPage>;
  readonly compare: (docs: readonly Doc[]) => Promise<Comparison>;
  readonly append: (docs: readonly Doc[]) => Promise<{ readonly written: number }>;
  here(): PreviewPorts['here'];
  /** What an import is lent of it. */
  readonly lent: Pick<ImportOptions, 'append' | 'records' | 'stamp'>;
}

/** As text, whatever the order of its fields. The gallery has no `node:util`. */
const sorted = (value: unknown) =>
  JSON.stringify(value, (_key, each: unknown) =>
    typeof each === 'object' && each !== null && !Array.isArray(each)
      ? Object.fromEntries(Object.entries(each).sort(([one], [other]) => (one < other ? -1 : 1)))
      : each,
  );

export function memoryLedger(initial: readonly Doc[] = [], forgotten: ReadonlySet<string> = new Set()): MemoryLedger {
  const documents = new Map(initial.map((doc) => [doc._id, doc]));
  const batches: number[] = [];
  const clock = createClock({ now: () => EXPORTED_AT, node: 'mine' });
  const ledger: MemoryLedger = {
    documents,
    batches,
    read({ after, limit, agentId }) {
      const sessions = new Set(
        [...documents.values()].filter((doc) => doc['agentId'] === agentId).map((doc) => doc['sessionId']),
      );
      const all = [...documents.values()]
        .filter(
          (doc) =>
            agentId === null ||
            doc['agentId'] === agentId ||
            (isKnown(doc) && doc.type === 'setting' && appearanceOf(doc) === agentId) ||
            (doc.type === 'session' && sessions.has(doc['sessionId'])),
        )
        .sort((a, b) => (a._id < b._id ? -1 : 1));
      const from = after === null ? 0 : all.findIndex(({ _id }) => _id === after) + 1;
      const docs = all.slice(from, from + limit);
      return Promise.resolve({
        docs,
        after: from + limit < all.length ? (docs.at(-1)?._id ?? null) : null,
        of: all.length,
      });
    },
    compare(docs) {
      const taken = docs.filter(({ _id }) => !forgotten.has(_id));
      const held = taken.filter(({ _id }) => documents.has(_id));
      const different = held.filter((doc) => sorted(doc) !== sorted(documents.get(doc._id)));
      return Promise.resolve({
        fresh: taken.filter(({ _id }) => !documents.has(_id)).map(({ _id }) => _id),
        same: held.length - different.length,
        different: different.map(({ _id }) => _id),
        forgotten: docs.length - taken.length,
      });
    },
    append(docs) {
      batches.push(docs.length);
      const fresh = docs.filter(({ _id }) => !documents.has(_id) && !forgotten.has(_id));
      for (const doc of fresh) documents.set(doc._id, doc);
      return Promise.resolve({ written: fresh.length });
    },
    here() {
      const known = [...documents.values()].filter(isKnown);
      return {
        identities: known.filter((doc) => doc.type === 'agent-identity'),
        changes: known.filter((doc) => doc.type === 'agent-change'),
        settings: known.filter((doc) => doc.type === 'setting'),
        records: newestOf([...documents.values()].filter(({ type }) => kindOf(type)?.isRecord === true)),
      };
    },
    lent: {
      append: (docs) => ledger.append(docs),
      records: () => Promise.resolve(ledger.here().records),
      stamp(after) {
        if (after !== null) clock.follow(after);
        return clock.next();
      },
    },
  };
  return ledger;
}

/** A sink that keeps what comes, and how it ended. */
export function memorySink() {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  const end: { state: 'open' | 'closed' | 'aborted' } = { state: 'open' };
  const sink = new WritableStream<Uint8Array>({
    write: (chunk) => void chunks.push(new Uint8Array(chunk)),
    close: () => void (end.state = 'closed'),
    abort: () => void (end.state = 'aborted'),
  });
  return { sink, end, chunks, file: () => new Blob(chunks) };
}

export const EXPORTED_AT = Date.UTC(2026, 10, 21, 8);

/** Everything that `docs` are, as one file. */
export async function exportOf(docs: readonly Doc[], passphrase: string | null = null): Promise<Blob> {
  const { sink, file } = memorySink();
  await exportsHere().exportHousehold({ read: memoryLedger(docs).read, sink, passphrase, exportedAt: EXPORTED_AT });
  return file();
}

export async function agentZipOf(docs: readonly Doc[], agentId: string): Promise<Blob> {
  const { sink, file } = memorySink();
  await exportsHere().exportAgent({ agentId, read: memoryLedger(docs).read, sink, exportedAt: EXPORTED_AT });
  return file();
}

export const open = (file: Blob, ledger: MemoryLedger, passphrase: string | null = null) =>
  exportsHere().openExport(file, passphrase, { compare: ledger.compare, here: ledger.here(), now: EXPORTED_AT });

/** Opens and imports all of it, every change included. */
export async function importInto(ledger: MemoryLedger, file: Blob, passphrase: string | null = null) {
  const opened = await open(file, ledger, passphrase);
  return exportsHere().importExport(opened, {
    ...ledger.lent,
    withSettings: true,
    leaveOut: [],
    ticks: opened.preview.changes.map(({ tick }) => tick),
  });
}

export const bytesOf = async (file: Blob) => new Uint8Array(await file.arrayBuffer());
