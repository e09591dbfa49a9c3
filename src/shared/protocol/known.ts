/**
 * The kinds of documents that this app knows. Free of their schemas' library: a page is painted
 * without it.
 */
import type { z } from 'zod';
import { createCrc32 } from '../domain/crc32.ts';
import { isAmong, type Forget } from '../domain/forgetting.ts';
import { agentChange } from './documents/agent-change.ts';
import { agentIdentity } from './documents/agent-identity.ts';
import { attachment } from './documents/attachment.ts';
import { attachedServer } from './documents/attached-server.ts';
import { forgetUndo } from './documents/forget-undo.ts';
import { forget } from './documents/forget.ts';
import { isNewer, type AnyDoc, type DocumentKind, type DocumentStore } from './documents/kind.ts';
import { limits } from './documents/limits.ts';
import { messageRead } from './documents/message-read.ts';
import { messageWithdrawn } from './documents/message-withdrawn.ts';
import { message } from './documents/message.ts';
import { prices } from './documents/prices.ts';
import { queuedMessage } from './documents/queued-message.ts';
import { run } from './documents/run.ts';
import { schedule } from './documents/schedule.ts';
import { session } from './documents/session.ts';
import { setting } from './documents/setting.ts';
import { threadMessage } from './documents/thread-message.ts';
import { thread } from './documents/thread.ts';

export const SCHEMA_VERSION = 1;

/** In the order of the reference. A new kind needs its file and its line here. */
const KINDS = [
  agentIdentity,
  agentChange,
  session,
  message,
  queuedMessage,
  attachment,
  messageRead,
  messageWithdrawn,
  run,
  setting,
  forget,
  forgetUndo,
  limits,
  prices,
  thread,
  threadMessage,
  schedule,
  attachedServer,
];

type Kind = (typeof KINDS)[number];
type DocOf<K> = K extends { readonly schema: (fields: never) => infer Schema } ? z.output<Schema> : never;
export type KnownType = Kind['type'];
export type KnownDoc = DocOf<Kind>;
/** A kind, whichever it is. */
export type AnyKind = DocumentKind<string, z.ZodType<AnyDoc>>;

const byType = new Map<string, AnyKind>(KINDS.map((kind) => [kind.type, kind]));

/** All kinds that are known now. */
export const documentKinds = (): readonly AnyKind[] => [...byType.values()];
export const kindOf = (type: string): AnyKind | undefined => byType.get(type);

/**
 * One kind more, as a newer Roost knows it. Before anything is opened. Returns the way to take it
 * out again.
 */
export function addKind(kind: AnyKind): () => void {
  byType.set(kind.type, kind);
  return () => byType.delete(kind.type);
}

/** Documents are parsed where they come in, and older versions read as this one then. */
export function isKnown(doc: AnyDoc | KnownDoc): doc is KnownDoc {
  return doc.schema <= (byType.get(doc.type)?.version ?? 0);
}

/** The kind of a document that this app can read. */
const kindOfKnown = (doc: AnyDoc): AnyKind | undefined => (isKnown(doc) ? byType.get(doc.type) : undefined);

/** A document of an older version as one of this; any other as it is. */
export function asOfNow(doc: AnyDoc): AnyDoc {
  const kind = byType.get(doc.type);
  let now = doc;
  while (kind && now.schema < kind.version) {
    const step = kind.upcast?.[now.schema];
    now = { ...(step ? step(now) : now), schema: now.schema + 1 };
  }
  return now;
}

/** Where a document stands in the views; what this app does not know, among the records. */
export const storeOf = (doc: AnyDoc): DocumentStore => kindOfKnown(doc)?.view.store ?? 'records';

/**
 * The thing that a document says something about, apart from those of other kinds; null: none that
 * is known.
 */
export function aboutOf(doc: AnyDoc): string | null {
  const about = kindOfKnown(doc)?.view.about?.(doc) ?? null;
  return about === null ? null : `${doc.type} ${about}`;
}

/**
 * The thing of which one document holds, and this may be it; null: each of its kind holds, or none.
 */
export const slotOf = (doc: AnyDoc): string | null => (kindOfKnown(doc)?.view.holds === 'newest' ? aboutOf(doc) : null);

/** Of two documents about the same thing: does the first hold? */
export const wins = (doc: AnyDoc, held: AnyDoc): boolean =>
  kindOfKnown(doc)?.view.wins?.(doc, held) ?? isNewer(doc, held);

/** Whose change it is in the log of what the person changed; null: it has no place there. */
export const changedBy = (doc: AnyDoc): 'person' | 'else' | null => kindOfKnown(doc)?.view.changedBy?.(doc) ?? null;

/**
 * Is this document among what the person asked to forget? What this app does not know goes with the
 * agent that it names.
 */
export const isCovered = (
  doc: { readonly type: string; readonly at: string; readonly [field: string]: unknown },
  forget: Pick<Forget, 'target' | 'at'>,
): boolean =>
  isAmong({ at: doc.at, agentId: doc['agentId'], forgotten: byType.get(doc.type)?.forgotten ?? 'with-agent' }, forget);

/**
 * Changes with every kind, and every version of one: views that were written by another list are
 * written anew.
 */
export function kindsMark(): number {
  const lines = documentKinds().map(({ type, version, view }) => `${type} ${version} ${view.store}`);
  const crc = createCrc32();
  crc.update(new TextEncoder().encode(lines.sort().join('\n')));
  return crc.value();
}
