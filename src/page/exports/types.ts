/** Requests, previews and progress of exports and imports, as plain data. */
import type { ForgetTarget } from '../../shared/domain/forgetting.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import type { McpServerRecord } from '../../shared/protocol/mcp.ts';
import type { ProjectValue } from '../../shared/protocol/projects.ts';
import type { AskedRecord } from '../../shared/protocol/records.ts';
import type { ScheduleRecord } from '../../shared/protocol/schedules.ts';
import type { Comparison, DocumentPage, HouseholdView } from '../../shared/protocol/worker.ts';

/**
 * Progress of long work. `key`: the passphrase is being stretched, which takes a second or two and
 * has no count. `bytes`: of files that are read.
 */
export interface ExportProgress {
  readonly stage: 'key' | 'documents' | 'bytes';
  readonly done: number;
  /** 0: unknown. */
  readonly of: number;
}

/** Options of every call. */
export interface ExportWork {
  /** Ends the work at once. The call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ExportProgress) => void;
}

/** Returns documents page by page: `OwnerCalls.documents`. */
export type ReadDocuments = (request: {
  after: string | null;
  limit: number;
  agentId: AgentId | null;
}) => Promise<DocumentPage>;

export interface HouseholdExport extends ExportWork {
  readonly read: ReadDocuments;
  /** Target of the file. It is closed when the file is complete, and aborted otherwise. */
  readonly sink: WritableStream<Uint8Array>;
  /** null: anyone with the file can read it. Not empty. */
  readonly passphrase: string | null;
  /** ms since the epoch, as stored in the file */
  readonly exportedAt: number;
}

export interface Exported {
  readonly documents: number;
  /** Size of the file. */
  readonly bytes: number;
}

/** What a preview compares a file with. Nothing is written. */
export interface PreviewPorts {
  /** `OwnerCalls.compare`; called with at most `EXPORT_FORMAT.batchDocuments` at a time. */
  readonly compare: (docs: readonly Doc[]) => Promise<Comparison>;
  /** The team, its settings and the relay's records, as returned by `OwnerCalls.household`. */
  readonly here: Pick<HouseholdView, 'identities' | 'changes' | 'settings' | 'records'>;
  /** ms since the epoch. Documents dated much later are not imported unasked. */
  readonly now: number;
}

/** An agent in the file after every change in it. */
export interface ExportedAgent {
  readonly agentId: AgentId;
  readonly name: string;
  readonly color: string;
  /** The seat it asks for, 0–8; null: none. */
  readonly position: number | null;
  readonly retired: boolean;
  readonly bornAt: number;
  /** Characters of its soul. */
  readonly soulChars: number;
  readonly messages: number;
  /** All documents that belong to it, messages included. Sessions belong to no agent. */
  readonly documents: number;
  /** How many of `documents` are not here yet. */
  readonly fresh: number;
  /** Does it live here already? */
  readonly isHere: boolean;
}

/** What importing everything would meet. */
export type ImportConflict =
  /**
   * Two agents want one seat. `sits` (an agent id), who was born earlier, has it afterwards; the
   * other has none.
   */
  | {
      readonly kind: 'seat';
      readonly position: number;
      readonly file: { readonly agentId: AgentId; readonly name: string };
      readonly here: { readonly agentId: AgentId; readonly name: string };
      readonly sits: string;
    }
  /**
   * The lead of the file was named at another time than the lead here. There is one lead: `after`
   * is its name then.
   */
  | { readonly kind: 'lead'; readonly here: string; readonly file: string; readonly after: string }
  /**
   * Documents dated further ahead than any clock goes wrong, a hundred years. They are not
   * imported.
   */
  | { readonly kind: 'never'; readonly documents: number }
  /** Documents that this Roost cannot read, or that are inconsistent. They are not imported. */
  | { readonly kind: 'unfit'; readonly documents: number }
  /** Documents that are here under the same id with other content. Those here stay. */
  | { readonly kind: 'different'; readonly documents: number; readonly ids: readonly string[] };

/** An agent as the person knows it. */
export interface ShownAgent {
  readonly name: string;
  readonly position: number | null;
  readonly soul: string;
  readonly retired: boolean;
}

/**
 * Something here that the import would change. It is imported only if `importExport` receives its
 * `tick`.
 */
export type ImportChange = { readonly tick: string } & (
  | {
      readonly kind: 'agent';
      readonly what: 'name' | 'soul' | 'seat' | 'retired';
      readonly agentId: AgentId;
      readonly here: ShownAgent;
      readonly after: ShownAgent;
    }
  /**
   * The file has an earlier birth of an agent who lives here. The name, the soul and the face would
   * be those of that birth.
   */
  | { readonly kind: 'birth'; readonly agentId: AgentId; readonly here: ShownAgent; readonly after: ShownAgent }
  /**
   * A new agent was born before the one who has the seat (`here`), and would take it. Without its
   * tick it is not imported.
   */
  | {
      readonly kind: 'takes-seat';
      readonly agentId: AgentId;
      readonly name: string;
      readonly position: number;
      readonly here: string;
    }
  | {
      readonly kind: 'setting';
      readonly key: string;
      readonly here: unknown;
      readonly file: unknown;
      readonly isDefaultHere: boolean;
    }
  /**
   * An agent, or messages with one, would be forgotten. `name` null: an agent that is not here.
   * `finalAt`: ms since the epoch, maybe past.
   */
  | {
      readonly kind: 'forget';
      /** Null: all agents. */
      readonly agentId: AgentId | null;
      readonly name: string | null;
      readonly what: ForgetTarget['kind'];
      readonly finalAt: number;
    }
  /** A forget requested here would be undone. */
  | { readonly kind: 'keep' }
  /** Messages that replace others. Messages here from that point on would be hidden. */
  | { readonly kind: 'edits'; readonly agentId: AgentId; readonly name: string; readonly messages: number }
  /**
   * A schedule would be set, changed or removed. `here` null: it is not here. `name`: its agent's.
   */
  | {
      readonly kind: 'schedule';
      readonly agentId: AgentId;
      readonly name: string;
      readonly here: ScheduleRecord | null;
      readonly after: ScheduleRecord;
    }
  /**
   * A project would be worked on in another way, or these tasks of it be taken. `here` null: it is
   * not here. `names`: of its agents, by id.
   */
  | {
      readonly kind: 'project';
      readonly here: ProjectValue | null;
      readonly after: ProjectValue;
      readonly tasks: Extract<AskedRecord, { type: 'project' }>['tasks'];
      readonly names: Readonly<Record<string, string>>;
    }
  /** An MCP server would be connected, changed or removed. `here` null: it is not here. */
  | { readonly kind: 'mcp-server'; readonly here: McpServerRecord | null; readonly after: McpServerRecord }
  /**
   * One limit, budget, grant or price. `field`: see src/shared/protocol/records.ts; undefined on
   * either side: not set. `agentId` null: the household's. `rest`: what of its record is imported
   * without a tick; left out: nothing.
   */
  | {
      readonly kind: 'limit';
      readonly record: 'limits' | 'prices';
      readonly recordId: string;
      readonly agentId: AgentId | null;
      readonly name: string | null;
      readonly field: string;
      /** Path of a limit within the configuration. */
      readonly path: readonly string[];
      readonly here: unknown;
      readonly after: unknown;
      readonly rest?: unknown;
    }
  /**
   * A thread that is here. `here` null: it cannot be read. `closed`: its summary; null: it is open.
   * Members by name.
   */
  | {
      readonly kind: 'thread';
      readonly here: string | null;
      readonly after: string;
      readonly closed: string | null;
      readonly wasClosed: boolean;
      readonly members: readonly string[];
      readonly membersHere: readonly string[];
    }
  /** Messages in a thread that is here; `yours` of them in the person's name. */
  | { readonly kind: 'thread-messages'; readonly title: string; readonly messages: number; readonly yours: number }
  /** Threads that are not here. `what`: for people. */
  | { readonly kind: 'records'; readonly what: string; readonly documents: number }
  /**
   * Kinds or versions that this Roost does not know. Only a newer one can tell what they would
   * change.
   */
  | { readonly kind: 'newer'; readonly documents: number }
  /** Queued messages that would be sent in the person's name. */
  | { readonly kind: 'queued'; readonly messages: number }
  /**
   * Documents dated ahead of this device's clock by more than a day. `latest`: ms since the epoch.
   */
  | { readonly kind: 'ahead'; readonly documents: number; readonly latest: number }
  /** The SOUL.md of one agent's folder differs from the soul here. */
  | { readonly kind: 'soul-edited'; readonly agentId: AgentId }
);

export interface ImportPreview {
  readonly version: number;
  /** ms since the epoch */
  readonly exportedAt: number;
  readonly sealed: boolean;
  readonly documents: number;
  /**
   * By kind, most frequent first. `isKnown` false: written by a newer app; stored and passed on.
   */
  readonly kinds: readonly { readonly type: string; readonly documents: number; readonly isKnown: boolean }[];
  /** The lead first, then by seat, then those without one. */
  readonly agents: readonly ExportedAgent[];
  readonly fresh: number;
  readonly same: number;
  readonly different: number;
  /** Forgotten here for good. They are not imported. */
  readonly forgotten: number;
  readonly conflicts: readonly ImportConflict[];
  /** What would change here, each only with its tick. */
  readonly changes: readonly ImportChange[];
}

/**
 * A complete and undamaged file that can be imported. It holds no documents; the file is read
 * again.
 */
export interface OpenedExport {
  readonly preview: ImportPreview;
  /** For `importExport` only. */
  readonly source: ImportSource;
}

export interface ImportSource {
  readonly file: Blob;
  /**
   * The file's own key, so that the passphrase need not be stretched again. null: not encrypted.
   */
  readonly fileKey: Uint8Array | null;
  readonly documents: number;
  /** SHA-256 of the file's lines, in hex. */
  readonly digest: string;
  /** By `forget` document in the file: its agent, so that undoing it belongs to the same agent. */
  readonly forgets: ReadonlyMap<string, string | null>;
  /** The ticks that are needed, by document and by agent. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  readonly agents: ReadonlyMap<string, string>;
}

export interface ImportOptions extends ExportWork {
  /**
   * `OwnerCalls.append`; called with at most `EXPORT_FORMAT.batchDocuments` at a time, one call
   * after the other.
   */
  readonly append: (docs: readonly Doc[]) => Promise<{ readonly written: number }>;
  /** The current records here. Ticked fields of partly imported records are set in them. */
  readonly records: () => Promise<readonly Doc[]>;
  /** The next stamp of this device, after the one given. */
  readonly stamp: (after: string | null) => Stamp;
  /** false: the settings of the file are left out. */
  readonly withSettings: boolean;
  /** Agent ids of which nothing is imported: no identity, change, message or other document. */
  readonly leaveOut: readonly string[];
  /** `tick` of each change that the person wants. */
  readonly ticks: readonly string[];
}

export interface Imported {
  /** Passed to `append`. */
  readonly documents: number;
  /** How many of those were new, as reported by `append`. */
  readonly written: number;
  readonly leftOut: number;
}

export interface AgentExport extends ExportWork {
  readonly agentId: AgentId;
  readonly read: ReadDocuments;
  readonly sink: WritableStream<Uint8Array>;
  readonly exportedAt: number;
}

/** Something that the person should know before adopting an agent. */
export type AgentWarning =
  /** Several files could be the soul; `taken` is used. */
  | { readonly kind: 'several-souls'; readonly taken: string; readonly others: readonly string[] }
  /** Documents dated further ahead than any clock goes wrong. They are left out. */
  | { readonly kind: 'never'; readonly documents: number }
  /** Documents that this Roost cannot read, or that are inconsistent. They are not imported. */
  | { readonly kind: 'unfit'; readonly documents: number }
  /** SOUL.md differs from the identity beside it. Its text is used, as a later soul. */
  | { readonly kind: 'soul-edited' }
  /** The text is not UTF-8 or UTF-16. It was decoded as Windows-1252. */
  | { readonly kind: 'other-encoding'; readonly path: string }
  /** An identity.json or transcript is not one of Roost's, for this reason. It is left out. */
  | { readonly kind: 'unreadable'; readonly path: string; readonly reason: string };

/** An agent read from a zip or a Markdown file, not living here yet. */
export interface ParsedAgent {
  /** null: a handwritten soul, which was never an agent yet. */
  readonly agentId: AgentId | null;
  /** A guess where `agentId` is null; null: the file does not say. */
  readonly name: string | null;
  /** The soul that it will wake with. */
  readonly soul: string;
  /** All its documents in the folder, oldest first; empty for a handwritten soul. */
  readonly documents: readonly Doc[];
  readonly messages: number;
  readonly sessions: number;
  readonly warnings: readonly AgentWarning[];
}
