/**
 * What the page and the archive say to each other: requests, previews and progress, as plain data.
 */
import type { AgentId } from '../../shared/domain/ids.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import type { Stamp } from '../../shared/domain/stamp.ts';
import type { AttachedRecord } from '../../shared/protocol/attached.ts';
import type { ScheduleRecord } from '../../shared/protocol/schedules.ts';
import type { Comparison, DocumentPage, HouseholdView } from '../../shared/protocol/worker.ts';

/**
 * How far long work is. `key`: the passphrase is being stretched, which takes a second or two and
 * cannot be counted.
 */
export interface ArchiveProgress {
  readonly stage: 'key' | 'documents';
  readonly done: number;
  /** 0: not known. */
  readonly of: number;
}

/** What every call takes. */
export interface ArchiveWork {
  /** Ends the work at once; the call rejects with the signal's reason. */
  readonly signal?: AbortSignal;
  readonly onProgress?: (progress: ArchiveProgress) => void;
}

/** Gives documents page by page: `OwnerCalls.documents`. */
export type ReadDocuments = (request: {
  after: string | null;
  limit: number;
  agentId: AgentId | null;
}) => Promise<DocumentPage>;

export interface HouseholdExport extends ArchiveWork {
  readonly read: ReadDocuments;
  /** Where the file goes. It is closed when the file is whole, and aborted where it is not. */
  readonly sink: WritableStream<Uint8Array>;
  /** null: anybody who has the file can read it. Not empty. */
  readonly passphrase: string | null;
  /** ms since the epoch, as the file will say */
  readonly exportedAt: number;
}

export interface Exported {
  readonly documents: number;
  /** Size of the file. */
  readonly bytes: number;
}

/** What a preview compares a file with. Nothing is written. */
export interface PreviewPorts {
  /** `OwnerCalls.compare`; called with at most `ARCHIVE.batchDocuments` at a time. */
  readonly compare: (docs: readonly Doc[]) => Promise<Comparison>;
  /**
   * Who lives here, how they want things, and what the relay goes by, as `OwnerCalls.household`
   * gives it.
   */
  readonly here: Pick<HouseholdView, 'identities' | 'changes' | 'settings' | 'records'>;
  /** ms since the epoch: what is dated much later is not taken unasked. */
  readonly now: number;
}

/** Somebody in the file, as they stand after every change in it. */
export interface ArchivedAgent {
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
  /** All that belongs to it, its messages included. Sessions belong to nobody. */
  readonly documents: number;
  /** How many of `documents` are not here yet. */
  readonly fresh: number;
  /** Does it live here already? */
  readonly isHere: boolean;
}

/** What importing everything would meet. */
export type ArchiveConflict =
  /**
   * Two want one seat: `sits` (an agent id) has it afterwards, the earlier born; the other one
   * waits for a seat.
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
   * Documents dated further ahead than any clock goes wrong, a hundred years: they are not taken.
   */
  | { readonly kind: 'never'; readonly documents: number }
  /** Documents that this Roost cannot read, or that do not fit together: they are not taken. */
  | { readonly kind: 'unfit'; readonly documents: number }
  /** Documents that are here under the same id with other contents: what is here stays. */
  | { readonly kind: 'different'; readonly documents: number; readonly ids: readonly string[] };

/** An agent as the person knows it. */
export interface ShownAgent {
  readonly name: string;
  readonly position: number | null;
  readonly soul: string;
  readonly retired: boolean;
}

/**
 * Something that is here and would be different afterwards. It comes only where its `tick` is given
 * to `importArchive`.
 */
export type ArchiveChange = { readonly tick: string } & (
  | {
      readonly kind: 'agent';
      readonly what: 'name' | 'soul' | 'seat' | 'retired';
      readonly agentId: AgentId;
      readonly here: ShownAgent;
      readonly after: ShownAgent;
    }
  /**
   * The file has another, earlier birth of somebody who lives here: the name, the soul and the face
   * would be of that one.
   */
  | { readonly kind: 'birth'; readonly agentId: AgentId; readonly here: ShownAgent; readonly after: ShownAgent }
  /**
   * Somebody new was born before the one who sits there (`here`), and would have the seat. Without
   * its tick it does not come.
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
   * Somebody, or what was said with them, would be forgotten. `name` null: nobody of here.
   * `finalAt`: ms since the epoch, maybe past.
   */
  | {
      readonly kind: 'forget';
      readonly agentId: AgentId;
      readonly name: string | null;
      readonly what: 'agent' | 'conversation';
      readonly finalAt: number;
    }
  /** What was asked here to be forgotten would be kept. */
  | { readonly kind: 'keep' }
  /**
   * Messages that take the place of others: what stands here from there on would be out of sight.
   */
  | { readonly kind: 'edits'; readonly agentId: AgentId; readonly name: string; readonly messages: number }
  /**
   * Something that is due without anybody there: set, changed or taken away. `here` null: it is not
   * here. `name`: its agent's.
   */
  | {
      readonly kind: 'schedule';
      readonly agentId: AgentId;
      readonly name: string;
      readonly here: ScheduleRecord | null;
      readonly after: ScheduleRecord;
    }
  /** An MCP server: connected, changed or removed. `here` null: it is not here. */
  | { readonly kind: 'attached'; readonly here: AttachedRecord | null; readonly after: AttachedRecord }
  /**
   * One limit, budget, grant or price. `field`: see src/shared/protocol/records.ts; undefined
   * on either side: not set. `agentId` null: the household's. `rest`: what of its record comes
   * without a tick; left out: nothing does.
   */
  | {
      readonly kind: 'limit';
      readonly record: 'limits' | 'prices';
      readonly recordId: string;
      readonly agentId: AgentId | null;
      readonly name: string | null;
      readonly field: string;
      /** Of a limit, where it stands. */
      readonly path: readonly string[];
      readonly here: unknown;
      readonly after: unknown;
      readonly rest?: unknown;
    }
  /**
   * A thread that is here. `here` null: it cannot be read. `closed`: its summary; null: it is open.
   * Members by their names.
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
  /** Messages in a thread that is here, so many of them as the person's. */
  | { readonly kind: 'thread-messages'; readonly title: string; readonly messages: number; readonly yours: number }
  /** Threads that are not here; `what`: in people's words. */
  | { readonly kind: 'records'; readonly what: string; readonly documents: number }
  /**
   * Of kinds or versions that this Roost does not know: what they would change shows only to a
   * newer one.
   */
  | { readonly kind: 'newer'; readonly documents: number }
  /** Messages that wait to be sent as the person's. */
  | { readonly kind: 'queued'; readonly messages: number }
  /**
   * Documents dated ahead of this device's clock by more than a day. `latest`: ms since the epoch.
   */
  | { readonly kind: 'ahead'; readonly documents: number; readonly latest: number }
  /** SOUL.md of one agent's folder says something else than the soul here. */
  | { readonly kind: 'soul-edited'; readonly agentId: AgentId }
);

export interface ArchivePreview {
  readonly version: number;
  /** ms since the epoch */
  readonly exportedAt: number;
  readonly sealed: boolean;
  readonly documents: number;
  /** By kind, most first. `isKnown` false: a newer app wrote it; it is kept and passed on. */
  readonly kinds: readonly { readonly type: string; readonly documents: number; readonly isKnown: boolean }[];
  /** The lead first, then by seat, then those without one. */
  readonly agents: readonly ArchivedAgent[];
  readonly fresh: number;
  readonly same: number;
  readonly different: number;
  /** Forgotten here for good: they are not taken. */
  readonly forgotten: number;
  readonly conflicts: readonly ArchiveConflict[];
  /** What would be different here, each only with its tick. */
  readonly changes: readonly ArchiveChange[];
}

/**
 * A file that was read whole, is undamaged, and can be imported. Holds no documents; the file is
 * read again.
 */
export interface OpenedArchive {
  readonly preview: ArchivePreview;
  /** For `importArchive` only. */
  readonly source: ArchiveSource;
}

export interface ArchiveSource {
  readonly file: Blob;
  /**
   * The file's own key, so that the passphrase need not be stretched a second time. null: not
   * sealed.
   */
  readonly fileKey: Uint8Array | null;
  readonly documents: number;
  /** SHA-256 of the file's lines, in hex. */
  readonly digest: string;
  /** By `forget` document in the file: the agent it is about, so that undoing it goes with it. */
  readonly forgets: ReadonlyMap<string, string>;
  /** By document, and by agent: what has to be ticked before it is taken. */
  readonly needs: ReadonlyMap<string, readonly string[]>;
  readonly agents: ReadonlyMap<string, string>;
}

export interface ArchiveImport extends ArchiveWork {
  /**
   * `OwnerCalls.append`; called with at most `ARCHIVE.batchDocuments` at a time, one call after the
   * other.
   */
  readonly append: (docs: readonly Doc[]) => Promise<{ readonly written: number }>;
  /**
   * Records as they hold here now. Of a record that the person wants in part, what is ticked is set
   * in them.
   */
  readonly records: () => Promise<readonly Doc[]>;
  /** The next stamp of this device, after the one given. */
  readonly stamp: (after: string | null) => Stamp;
  /** false: the settings of the file are left out. */
  readonly withSettings: boolean;
  /**
   * Agent ids of which nothing is taken: no identity, change, message or anything else that belongs
   * to them.
   */
  readonly leaveOut: readonly string[];
  /** `tick` of each change that the person wants. */
  readonly ticks: readonly string[];
}

export interface Imported {
  /** Given to `append`. */
  readonly documents: number;
  /** Of those, not here before, as `append` says. */
  readonly written: number;
  readonly leftOut: number;
}

export interface AgentExport extends ArchiveWork {
  readonly agentId: AgentId;
  readonly read: ReadDocuments;
  readonly sink: WritableStream<Uint8Array>;
  readonly exportedAt: number;
}

/** Something about an agent's folder that the person should know before adopting it. */
export type AgentWarning =
  /** Several files could be the soul; `taken` is used. */
  | { readonly kind: 'several-souls'; readonly taken: string; readonly others: readonly string[] }
  /** Documents dated further ahead than any clock goes wrong: they are left out. */
  | { readonly kind: 'never'; readonly documents: number }
  /** Documents that this Roost cannot read, or that do not fit together: they are not taken. */
  | { readonly kind: 'unfit'; readonly documents: number }
  /**
   * SOUL.md says something else than the identity beside it: the file's words are taken, as a later
   * soul.
   */
  | { readonly kind: 'soul-edited' }
  /** The text is not UTF-8 or UTF-16: it was read as Windows-1252. */
  | { readonly kind: 'other-encoding'; readonly path: string }
  /**
   * There is an identity.json or a transcript that is not one of Roost's, with the reason: it is
   * left out.
   */
  | { readonly kind: 'unreadable'; readonly path: string; readonly reason: string };

/** Somebody read from a zip or a Markdown file, not yet living here. */
export interface ParsedAgent {
  /** null: a soul written by hand, which was never anybody yet. */
  readonly agentId: AgentId | null;
  /** A guess where `agentId` is null; null: the file does not say. */
  readonly name: string | null;
  /** The soul that it will wake with. */
  readonly soul: string;
  /** Everything the folder holds of it, oldest first; empty for a soul written by hand. */
  readonly documents: readonly Doc[];
  readonly messages: number;
  readonly sessions: number;
  readonly warnings: readonly AgentWarning[];
}
