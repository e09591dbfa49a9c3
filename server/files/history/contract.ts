/** What the relay's other parts know of the history of agents' files. */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import type { Timers } from '../../../src/shared/domain/platform/timers.ts';
import type { Changes, Compared, Gap, History, Restored } from '../../../src/shared/protocol/endpoints/history.ts';
import type { RecordWork } from '../workspaces/record-work.ts';
import type { Lane } from '../../platform/lanes.ts';
import type { Logger } from '../../platform/logger.ts';
import type { HistoryLimits } from './settings.ts';

/** A recorded folder. `key`: letters, digits, `.`, `_` and `-`. */
export interface RecordedFolder {
  readonly key: string;
  readonly path: string;
}

export type From = 'previous' | 'before' | 'after';
export type To = 'before' | 'after';
export interface FileOf {
  readonly folder: string;
  readonly file: string;
}

/** Expected. */
export class HistoryError extends Error {
  override readonly name = 'HistoryError';
  readonly kind: 'off' | 'not-found' | 'busy' | 'unrecorded';
  readonly why: Gap['why'] | null;
  constructor(kind: HistoryError['kind'], why: Gap['why'] | null = null) {
    super(`history: ${kind}`);
    this.kind = kind;
    this.why = why;
  }
}

export interface Histories {
  readonly record: RecordWork;
  /** `before`: only older points. */
  list(agentId: AgentId, before: string | null): Promise<History>;
  changes(agentId: AgentId, pointId: string, from: From): Promise<Changes>;
  compare(agentId: AgentId, pointId: string, from: From, file: FileOf): Promise<Compared>;
  restore(agentId: AgentId, pointId: string, to: To, files: readonly FileOf[] | null): Promise<Restored>;
  /** Deletes the agent's history. Its files stay. */
  forget(agentId: AgentId): Promise<void>;
  /** Bytes that an agent's history takes. */
  bytes(agentId: AgentId): Promise<number>;
  /** Drops what is too old of every agent, now and from time to time, until `close`. */
  keepTidy(timers: Pick<Timers, 'after'>): Promise<void>;
  /** Resolves when no recording is under way. */
  close(): Promise<void>;
}

export interface HistoriesDeps {
  /** Contains a repository for each agent. */
  readonly folder: string;
  readonly foldersOf: (agentId: AgentId) => Promise<readonly RecordedFolder[]>;
  /** Bytes that the agent's files and history may take together. */
  readonly mostOf: (agentId: AgentId) => Promise<number>;
  /** Nothing that this agent may do writes in its folders. Left out: something may. */
  readonly mayWrite?: (agentId: AgentId) => Promise<boolean>;
  /** Takes the agent's turn, so that it is not at work meanwhile. Null: it is at work. */
  readonly takeTurn: (agentId: AgentId) => Promise<(() => void) | null>;
  /** Points or files have changed. */
  readonly onChange: (agentId: AgentId) => void;
  /** ms since the epoch. */
  readonly now: () => number;
  /** Monotonic ms. */
  readonly elapsed: () => number;
  readonly logger: Pick<Logger, 'warn'>;
  /** The household's, for git. */
  readonly lane: Lane;
  readonly limits?: HistoryLimits;
  /** Where git is looked for. Left out: the relay's own path. */
  readonly path?: string;
}
