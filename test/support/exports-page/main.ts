/**
 * A tab with the ledger and exports, for tests to drive. Text crosses to the test as JSON,
 * which keeps every code unit.
 */
import {
  adopt,
  ExportError,
  createExports,
  spawnExportWorker,
  type OpenedExport,
} from '../../../src/page/exports/index.ts';
import { createClock } from '../../../src/shared/domain/stamp.ts';
import { openDataWorker } from '../../../src/worker/ledger/index.ts';
import type { Doc } from '../../../src/shared/protocol/documents.ts';
import type { DocumentPage } from '../../../src/shared/protocol/worker.ts';

export interface ExportsPage {
  append(docsJson: string): Promise<void>;
  /** Everything in the ledger, as JSON, by id. */
  everything(): Promise<string>;
  /**
   * Makes a copy and keeps it. `ticks`: how often the page came to its senses while the passphrase
   * was stretched.
   */
  exportHousehold(passphrase: string | null): Promise<{ documents: number; bytes: number; ticks: number }>;
  exportAgent(agentId: string): Promise<{ documents: number; bytes: number }>;
  /** What was kept, as base64. */
  kept(): Promise<string>;
  keep(base64: string): void;
  /** Opens what was kept and imports it; the preview and what came of it, as JSON. */
  importKept(passphrase: string | null): Promise<string>;
  /** Adopts what was kept as a copy, and answers its documents, as JSON. */
  adoptKept(agentId: string): Promise<string>;
  /** Opens what was kept; the kind of the error, or null. */
  openingFails(passphrase: string | null): Promise<string | null>;
  warm(): Promise<void>;
}

declare global {
  interface Window {
    exportsPage: ExportsPage;
  }
}

const owner = openDataWorker();
owner.subscribe(() => undefined);
const exports = createExports({ spawn: spawnExportWorker });
let file = new Blob();

function sinkToFile() {
  const chunks: Uint8Array<ArrayBuffer>[] = [];
  return new WritableStream<Uint8Array>({
    write: (chunk) => void chunks.push(new Uint8Array(chunk)),
    close: () => void (file = new Blob(chunks)),
  });
}

async function openKept(passphrase: string | null): Promise<OpenedExport> {
  return exports.openExport(file, passphrase, {
    compare: (docs) => owner.call('compare', docs),
    here: await owner.call('household'),
    now: Date.now(),
  });
}

window.exportsPage = {
  append: async (json) => void (await owner.call('append', JSON.parse(json) as Doc[])),
  async everything() {
    const docs: Doc[] = [];
    let after: string | null = null;
    do {
      const page: DocumentPage = await owner.call('documents', { after, limit: 100, agentId: null });
      docs.push(...page.docs);
      after = page.after;
    } while (after !== null);
    return JSON.stringify(docs.sort((a, b) => (a._id < b._id ? -1 : 1)));
  },
  async exportHousehold(passphrase) {
    let ticks = 0;
    let isStretching = false;
    const timer = setInterval(() => (ticks += isStretching ? 1 : 0), 10);
    const { documents, bytes } = await exports.exportHousehold({
      read: (request) => owner.call('documents', request),
      sink: sinkToFile(),
      passphrase,
      exportedAt: Date.now(),
      onProgress: ({ stage }) => (isStretching = stage === 'key'),
    });
    clearInterval(timer);
    return { documents, bytes, ticks };
  },
  exportAgent: (agentId) =>
    exports.exportAgent({
      agentId,
      read: (request) => owner.call('documents', request),
      sink: sinkToFile(),
      exportedAt: Date.now(),
    }),
  async kept() {
    const bytes = new Uint8Array(await file.arrayBuffer());
    return btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  },
  keep: (base64) => void (file = new Blob([Uint8Array.from(atob(base64), (char) => char.charCodeAt(0))])),
  async importKept(passphrase) {
    const opened = await openKept(passphrase);
    const imported = await exports.importExport(opened, {
      append: (docs) => owner.call('append', docs),
      records: async () => (await owner.call('household')).records,
      stamp(after) {
        const clock = createClock({ now: () => Date.now(), node: 'page' });
        if (after !== null) clock.follow(after);
        return clock.next();
      },
      withSettings: true,
      leaveOut: [],
      ticks: opened.preview.changes.map(({ tick }) => tick),
    });
    return JSON.stringify({ preview: opened.preview, imported });
  },
  async adoptKept(agentId) {
    const parsed = await exports.readAgentZip(file);
    const clock = createClock({ now: () => Date.now(), node: 'page' });
    const docs = adopt({
      as: 'new',
      parsed,
      agentId,
      name: parsed.name ?? 'Nobody',
      position: 8,
      now: Date.now(),
      clock,
    });
    await owner.call('append', docs);
    return JSON.stringify({ parsed, docs });
  },
  openingFails: (passphrase) =>
    openKept(passphrase).then(
      () => null,
      (error: unknown) => (error instanceof ExportError ? error.kind : String(error)),
    ),
  warm: () => exports.warm(),
};
