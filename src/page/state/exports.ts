/**
 * Exports everything into one file and imports it. The work continues when the person leaves the
 * view, and its state is shown again on return. Loaded with the parts of the page that show it.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { SeatPosition } from '../../shared/domain/seat.ts';
import type { Comparison } from '../../shared/protocol/worker.ts';
import {
  adopt,
  type AgentWarning,
  EXPORT_FORMAT,
  type ImportChange,
  type ExportError,
  type ExportProgress,
  type Consents,
  createConsent,
  type Exported,
  type Imported,
  isConsented,
  type OpenedExport,
  type ParsedAgent,
} from '../exports/index.ts';
import { t } from '../language/t.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { errorText } from './ports.ts';
import type { Done } from './actions/parts.ts';
import { createWriter } from './documents.ts';
export {
  aheadOf,
  agentFileName,
  conversationFileName,
  householdFileName,
  safeFileName,
  type AgentWarning,
  type ImportChange,
  type ImportConflict,
  type ExportedAgent,
  type ImportPreview,
  type ExportProgress,
  type ParsedAgent,
} from '../exports/index.ts';

type ExportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'running'; readonly progress: ExportProgress | null }
  | {
      readonly kind: 'done';
      readonly exported: Exported;
      readonly sealed: boolean;
      readonly fileName: string;
      /** Why the date of the export could not be stored, or null. */
      readonly unnoted: string | null;
    }
  | { readonly kind: 'failed'; readonly reason: string };

export type ImportState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'reading'; readonly file: File; readonly progress: ExportProgress | null }
  /** `wrong`: the last passphrase did not open it. */
  | { readonly kind: 'passphrase'; readonly file: File; readonly wrong: boolean }
  | { readonly kind: 'preview'; readonly file: File; readonly opened: OpenedExport }
  | { readonly kind: 'importing'; readonly file: File; readonly progress: ExportProgress | null }
  | { readonly kind: 'done'; readonly file: File; readonly imported: Imported }
  /**
   * `partly`: some documents may have been imported before it failed or was cancelled. Repeating
   * the import is harmless.
   */
  | { readonly kind: 'failed'; readonly file: File; readonly reason: string; readonly partly: boolean };

interface ExportsState {
  readonly exporting: ExportState;
  readonly importing: ImportState;
}

/** The place and name of the file, chosen by the person. */
export interface Sink {
  readonly stream: WritableStream<Uint8Array>;
  readonly fileName: string;
}

interface ExportActions {
  readonly store: StoreApi<ExportsState>;
  exportAll(options: { readonly sink: Sink; readonly passphrase: string | null }): Promise<void>;
  /** Reads a file and reports its content. Writes nothing. */
  read(file: File, passphrase?: string): Promise<void>;
  /** Imports what the preview showed. */
  take(choice: {
    readonly withSettings: boolean;
    readonly leaveOut: readonly string[];
    readonly ticks: readonly string[];
  }): Promise<void>;
  /** Cancels the work in progress. */
  cancel(what: 'exporting' | 'importing'): void;
  /** Back to the start. */
  reset(what: 'exporting' | 'importing'): void;
  /** Stores documents from a file, without counting them as new messages. */
  append(docs: readonly Doc[]): Promise<{ readonly written: number }>;
}

/** The code of exports is loaded later than this file, so its errors are recognised by name. */
const isExportError = (error: unknown): error is ExportError => error instanceof Error && error.name === 'ExportError';
const IDLE = { kind: 'idle' } as const;

function createExportActions({
  dataWorker,
  exports,
  device,
  unread,
  clock,
}: Pick<RoostState, 'dataWorker' | 'exports' | 'device' | 'unread' | 'clock'>): ExportActions {
  const store = createStore<ExportsState>()(() => ({ exporting: IDLE, importing: IDLE }));
  const running: Record<'exporting' | 'importing', AbortController | null> = { exporting: null, importing: null };

  const begin = (what: 'exporting' | 'importing') => {
    running[what]?.abort();
    const controller = new AbortController();
    running[what] = controller;
    return controller.signal;
  };
  const exporting = (state: ExportState) => store.setState({ exporting: state });
  const importing = (state: ImportState) => store.setState({ importing: state });

  async function append(docs: readonly Doc[], hear = unread.takeFile()) {
    hear(docs);
    return await dataWorker.call('append', docs);
  }

  return {
    store,
    append: (docs) => append(docs),
    async exportAll({ sink, passphrase }) {
      const signal = begin('exporting');
      exporting({ kind: 'running', progress: null });
      const time = device.now();
      const sealed = passphrase !== null;
      try {
        const exported = await exports.exportHousehold({
          read: (request) => dataWorker.call('documents', request),
          sink: sink.stream,
          passphrase,
          exportedAt: time,
          signal,
          onProgress: (progress) => exporting({ kind: 'running', progress }),
        });
        const unnoted = await dataWorker
          .call('noteExport', { time, documents: exported.documents, sealed })
          .then(() => null, errorText);
        exporting({ kind: 'done', exported, sealed, fileName: sink.fileName, unnoted });
      } catch (error) {
        exporting(signal.aborted ? IDLE : { kind: 'failed', reason: errorText(error) });
      }
    },
    async read(file, passphrase) {
      const signal = begin('importing');
      importing({ kind: 'reading', file, progress: null });
      try {
        const here = await dataWorker.call('household');
        const opened = await exports.openExport(file, passphrase ?? null, {
          here,
          now: device.now(),
          compare: (docs) => dataWorker.call('compare', docs),
          signal,
          onProgress: (progress) => importing({ kind: 'reading', file, progress }),
        });
        importing({ kind: 'preview', file, opened });
      } catch (error) {
        if (signal.aborted) return;
        const kind = isExportError(error) ? error.kind : null;
        if (kind === 'needs-passphrase' || kind === 'wrong-passphrase')
          importing({ kind: 'passphrase', file, wrong: kind === 'wrong-passphrase' });
        else importing({ kind: 'failed', file, reason: errorText(error), partly: false });
      }
    },
    async take({ withSettings, leaveOut, ticks }) {
      const before = store.getState().importing;
      if (before.kind !== 'preview') return;
      const { file, opened } = before;
      const signal = begin('importing');
      importing({ kind: 'importing', file, progress: null });
      const hear = unread.takeFile();
      try {
        const imported = await exports.importExport(opened, {
          append: (docs) => append(docs, hear),
          records: async () => (await dataWorker.call('household')).records,
          stamp(after) {
            if (after !== null) clock.follow(after);
            return clock.next();
          },
          withSettings,
          leaveOut,
          ticks,
          signal,
          onProgress: (progress) => importing({ kind: 'importing', file, progress }),
        });
        importing({ kind: 'done', file, imported });
      } catch (error) {
        importing({
          kind: 'failed',
          file,
          reason: signal.aborted ? t`You called it off.` : errorText(error),
          partly: true,
        });
      }
    },
    cancel(what) {
      running[what]?.abort(new Error('called off'));
      if (what === 'importing' && store.getState().importing.kind === 'reading') importing(IDLE);
    },
    reset: (what) => store.setState(what === 'exporting' ? { exporting: IDLE } : { importing: IDLE }),
  };
}

export const exportsOf = onePerPage(createExportActions);

// Exports one agent as a file, and adopts one into an empty seat. Loaded with the views that need
// it.

/** Writes all documents of one agent into a zip of plain files. */
export async function exportAgent(
  { exports, dataWorker, device }: RoostState,
  agentId: AgentId,
  sink: Sink,
): Promise<Done> {
  try {
    await exports.exportAgent({
      agentId,
      read: (request) => dataWorker.call('documents', request),
      sink: sink.stream,
      exportedAt: device.now(),
    });
    return { ok: true };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}

/** An agent in a file, compared with what is here. */
export interface Applicant {
  readonly parsed: ParsedAgent;
  /** Compares everything in the file; null for a handwritten soul. */
  readonly comparison: Comparison | null;
  /** Parts that would change an agent who is here. Each needs its own tick. */
  readonly consents: Consents;
}

const NO_CONSENTS: Consents = { changes: [], needs: new Map(), agents: new Map(), never: new Set(), unfit: new Set() };

type Read = { readonly ok: true; readonly applicant: Applicant } | Extract<Done, { ok: false }>;

/** Reads a zip, or a text with a soul. Writes nothing. */
export async function readAgent(
  { exports, dataWorker, device }: RoostState,
  file: File,
  signal: AbortSignal,
): Promise<Read> {
  try {
    const parsed = await exports.readAgentZip(file, { signal });
    if (parsed.agentId === null) return { ok: true, applicant: { parsed, comparison: null, consents: NO_CONSENTS } };
    const { agentId } = parsed;
    const here = await dataWorker.call('household');
    const consent = createConsent(here, device.now());
    const sum = { fresh: [] as string[], same: 0, different: [] as string[], forgotten: 0 };
    for (const docs of batches(parsed.documents)) {
      const { fresh, same, different, forgotten } = await dataWorker.call('compare', docs);
      sum.fresh.push(...fresh);
      const isFresh = new Set(fresh);
      consent.take(docs.filter(({ _id }) => isFresh.has(_id)));
      sum.different.push(...different);
      sum.same += same;
      sum.forgotten += forgotten;
    }
    const choices = consent.result();
    const lives = here.identities.some((identity) => identity.agentId === agentId);
    const edited: ImportChange[] =
      lives && parsed.warnings.some(({ kind }) => kind === 'soul-edited')
        ? [{ kind: 'soul-edited', tick: SOUL_EDITED, agentId }]
        : [];
    const untaken = ([kind, { size }]: readonly ['never' | 'unfit', ReadonlySet<string>]): AgentWarning[] =>
      size > 0 ? [{ kind, documents: size }] : [];
    const never = [...untaken(['never', choices.never]), ...untaken(['unfit', choices.unfit])];
    return {
      ok: true,
      applicant: {
        parsed: { ...parsed, warnings: [...parsed.warnings, ...never] },
        comparison: sum,
        consents: { ...choices, changes: [...choices.changes, ...edited] },
      },
    };
  } catch (error) {
    return { ok: false, reason: errorText(error) };
  }
}

const SOUL_EDITED = 'soul-edited';

export type Welcoming =
  /** The agent lives here: missing documents are added, and changes only where they are ticked. */
  | { readonly as: 'missing'; readonly agentId: AgentId; readonly ticks: ReadonlySet<string> }
  /** Under its own id. null keeps its name or seat. */
  | {
      readonly as: 'itself';
      readonly name: string | null;
      readonly position: SeatPosition | null;
      readonly ticks: ReadonlySet<string>;
    }
  /** `agentId` is made once per attempt, so a retry yields the same documents. */
  | { readonly as: 'new'; readonly agentId: AgentId; readonly name: string; readonly position: SeatPosition };

/** Stores the documents of the adopted agent. Repeating it after a failure is harmless. */
export async function adoptAgent(
  roost: RoostState,
  { parsed, consents }: Applicant,
  welcoming: Welcoming,
): Promise<Done> {
  const { clock, device } = roost;
  const actions = exportsOf(roost);
  try {
    for (const batch of batches(docsOf())) await actions.append(batch);
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
  for (let from = 0; from < all.length; from += EXPORT_FORMAT.batchDocuments)
    yield all.slice(from, from + EXPORT_FORMAT.batchDocuments);
}
