/**
 * Moving in from other products: reads their exports, shows what is in them, and makes it part of
 * an agent's past and memory. The work goes on when the person leaves the view. Loaded with the
 * page that shows it.
 */
import { createStore, type StoreApi } from 'zustand/vanilla';
import type { AgentId, SessionId } from '../../shared/domain/ids.ts';
import type { SeatPosition } from '../../shared/domain/seat.ts';
import { adopt, type ExportProgress, type ChosenFile, type MovedIn, type MoveInPreview } from '../exports/index.ts';
import { t } from '../language/t.ts';
import { exportsOf } from './exports.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { errorText, problemText } from './ports.ts';
export type { ExportProgress, ChosenFile, ConversationSummary, MovedIn, MoveInPreview } from '../exports/index.ts';

/** Whose past it becomes. */
export type MoveInTarget =
  | { readonly kind: 'existing'; readonly agentId: AgentId }
  /** `agentId` is made once per attempt, so that a retry continues. */
  | {
      readonly kind: 'new';
      readonly agentId: AgentId;
      readonly name: string;
      readonly position: SeatPosition;
      /** The person has read it and agreed. */
      readonly soul: string;
    };

/** What became of the texts for the agent's memory. */
export interface KeptFiles {
  readonly written: number;
  /** Files that were in the memory already. */
  readonly same: number;
  readonly refused: readonly { readonly path: string; readonly reason: string }[];
}

type MoveInState =
  | { readonly kind: 'idle' }
  | { readonly kind: 'reading'; readonly progress: ExportProgress | null }
  | { readonly kind: 'preview'; readonly files: readonly ChosenFile[]; readonly preview: MoveInPreview }
  | { readonly kind: 'moving'; readonly progress: ExportProgress | null }
  | { readonly kind: 'done'; readonly agentId: AgentId; readonly moved: MovedIn; readonly kept: KeptFiles }
  /** `partly`: some of it may be here already. Repeating the import completes it. */
  | { readonly kind: 'failed'; readonly reason: string; readonly partly: boolean };

interface MoveIn {
  readonly store: StoreApi<MoveInState>;
  /** Reads the files and reports their content. Writes nothing. */
  read(files: readonly ChosenFile[]): Promise<void>;
  /** Writes what the person chose of the preview. */
  take(choice: {
    readonly target: MoveInTarget;
    readonly sessionIds: readonly SessionId[];
    /** The texts become files of the agent's memory. */
    readonly withFiles: boolean;
  }): Promise<void>;
  cancel(): void;
  reset(): void;
}

const IDLE = { kind: 'idle' } as const;
/** How long the relay may take to know a new agent. */
const ANNOUNCED = { tries: 40, waitMs: 250 } as const;

function createMoveIn(roost: RoostState): MoveIn {
  const { exports, dataWorker, clock, device, unread, callRelay } = roost;
  const actions = exportsOf(roost);
  const store = createStore<MoveInState>()(() => IDLE);
  const set = (state: MoveInState) => store.setState(state, true);
  let running: AbortController | null = null;
  const begin = () => {
    running?.abort();
    running = new AbortController();
    return running.signal;
  };

  /** An agent that does not live here yet gets its identity first. */
  async function settle(target: MoveInTarget): Promise<void> {
    if (target.kind === 'existing') return;
    const { agentId, name, position, soul } = target;
    const parsed = { agentId: null, name, soul, documents: [], messages: 0, sessions: 0, warnings: [] };
    await actions.append(adopt({ as: 'new', parsed, agentId, name, position, now: device.now(), clock }));
  }

  /** The relay knows a new agent as soon as this page has announced its team. */
  async function memoryOf(agentId: AgentId, signal: AbortSignal) {
    for (let tries = 1; ; tries += 1) {
      const listed = await callRelay((client) => client.memories({ agentId }));
      signal.throwIfAborted();
      if (listed.ok) return new Map(listed.value.memories.map(({ path, text }) => [path, text]));
      if (tries >= ANNOUNCED.tries) throw new Error(problemText(listed.problem));
      await new Promise<void>((resolve) => void device.after(ANNOUNCED.waitMs, resolve));
    }
  }

  /**
   * Text of an import is foreign, and its source says so. Files that are there stay as they are.
   */
  async function keep(agentId: AgentId, files: MoveInPreview['files'], signal: AbortSignal): Promise<KeptFiles> {
    if (files.length === 0) return { written: 0, same: 0, refused: [] };
    const ownFiles = await memoryOf(agentId, signal);
    const refused: { path: string; reason: string }[] = [];
    let written = 0;
    let same = 0;
    for (const { format, path, text } of files) {
      signal.throwIfAborted();
      if (ownFiles.get(path) === text) same += 1;
      else {
        const body = { agentId, path, text, importedFrom: format };
        const added = await callRelay((client) => client.createMemory({ body }));
        if (added.ok) written += 1;
        else refused.push({ path, reason: problemText(added.problem) });
      }
    }
    return { written, same, refused };
  }

  return {
    store,
    async read(files) {
      const signal = begin();
      set({ kind: 'reading', progress: null });
      try {
        const onProgress = (progress: ExportProgress) => set({ kind: 'reading', progress });
        const preview = await exports.readMoveIn(files, { signal, onProgress });
        set({ kind: 'preview', files, preview });
      } catch (error) {
        if (!signal.aborted) set({ kind: 'failed', reason: errorText(error), partly: false });
      }
    },
    async take({ target, sessionIds, withFiles }) {
      const before = store.getState();
      if (before.kind !== 'preview') return;
      const signal = begin();
      set({ kind: 'moving', progress: null });
      const hear = unread.takeFile();
      try {
        await settle(target);
        const moved = await exports.moveIn(
          { files: before.files, agentId: target.agentId, sessionIds },
          {
            async append(docs) {
              hear(docs);
              return await dataWorker.call('append', docs);
            },
            compare: (docs) => dataWorker.call('compare', docs),
            signal,
            onProgress: (progress) => set({ kind: 'moving', progress }),
          },
        );
        const kept = await keep(target.agentId, withFiles ? before.preview.files : [], signal);
        set({ kind: 'done', agentId: target.agentId, moved, kept });
      } catch (error) {
        set({ kind: 'failed', reason: signal.aborted ? t`You called it off.` : errorText(error), partly: true });
      }
    },
    cancel() {
      running?.abort(new Error('called off'));
      if (store.getState().kind === 'reading') set(IDLE);
    },
    reset: () => set(IDLE),
  };
}

/** One instance per page. */
export const moveInOf = onePerPage(createMoveIn);
