/**
 * Small in-memory stand-ins for the two ports: a ledger that is a list, a relay that remembers what
 * it was asked.
 */
import { exportsHere } from '../exports/support.ts';
import { ExportError, type ImportPreview, type ParsedAgent } from '../../../../src/page/exports/index.ts';
import { pieceId, piecesOf } from '../../../../src/shared/domain/attachment.ts';
import { pendingForgets } from '../../../../src/shared/domain/forgetting.ts';
import { foldReadMarks, isNews, readUpTo } from '../../../../src/shared/domain/read-marks.ts';
import { formatStamp } from '../../../../src/shared/domain/stamp.ts';
import { isAddressed } from '../../../../src/shared/domain/talk.ts';
import type { Doc, MessageDoc, SessionDoc } from '../../../../src/shared/protocol/documents.ts';
import { byAge } from '../../../../src/shared/protocol/documents/kind.ts';
import { aboutOf, changedBy, isCovered, isKnown, slotOf } from '../../../../src/shared/protocol/documents/kinds.ts';
import type { Health, HomeStatus, PostMessage, Rehearsal, StartSession } from '../../../../src/shared/protocol/http.ts';
import { rehearsalSchema, startSessionSchema } from '../../../../src/shared/protocol/http.ts';
import type {
  WorkerCalls,
  WorkerNews,
  RebuildReport,
  StorageStatus,
  WakeSession,
} from '../../../../src/shared/protocol/worker.ts';
import type { RelayProblem, RelayResult } from '../../../../src/shared/relay-client/index.ts';
import {
  type ExportsPort,
  createTextStorage,
  type Device,
  hearOtherTabs,
  type DataWorkerPort,
  type RelayPort,
} from '../../../../src/page/state/ports.ts';
import { visibleMessages } from '../../../../src/page/state/conversations.ts';
import type { SyncCalls } from '../../../../src/shared/protocol/sync/methods.ts';
import type { SearchAnswer, SearchQuery } from '../../../../src/shared/protocol/search.ts';
import { createMemoryIndex, createMemoryLedger, searchOver } from '../../../support/search.ts';
import { NOW } from './household.ts';
import { aloneSync } from '../../../support/sync-calls.ts';

export interface MemoryOwner extends DataWorkerPort {
  readonly docs: Doc[];
  say(news: WorkerNews): void;
  /** While set, every call rejects with this message. */
  broken: string | null;
  readonly calls: string[];
  /** Messages a page of a conversation has. */
  pageSize: number;
  /** Wakings a page of them has. */
  wakingsPage: number;
  /** What edits took the place of, whichever is asked for. */
  replaced: MessageDoc[];
  storage: StorageStatus;
  /** What a rebuild finds. */
  report: RebuildReport;
  /** While set, a rebuild waits for it. */
  rebuilding: Promise<void> | null;
  /**
   * What is answered to calls about other devices; without it nobody shares anything. May take its
   * time.
   */
  sync: Partial<{
    [Name in keyof SyncCalls]: (
      ...given: Parameters<SyncCalls[Name]>
    ) => ReturnType<SyncCalls[Name]> | Promise<ReturnType<SyncCalls[Name]>>;
  }>;
  /** Can the events that arrived be stored? */
  canStore: boolean;
  /** While set, it is awaited before a call is answered. */
  pause: (() => Promise<void>) | null;
}

const STORAGE: StorageStatus = {
  persisted: false,
  usedBytes: 2_400_000,
  quotaBytes: 10_000_000_000,
  journalRows: 3,
  documents: 412,
  kinds: [
    { type: 'message', documents: 400, chars: 120_000 },
    { type: 'agent-identity', documents: 12, chars: 9_000 },
  ],
  volumes: [{ name: 'volume-1', documents: 412, state: 'writing', checkedAt: null, faults: [] }],
  lastExport: null,
};

export function memoryOwner(initial: readonly Doc[] = []): MemoryOwner {
  const docs: Doc[] = [...initial];
  const listeners = new Set<(news: WorkerNews) => void>();
  const known = () => docs.filter(isKnown);
  const messagesOf = (agentId: string) =>
    known().flatMap((doc) => (doc.type === 'message' && doc.agentId === agentId ? [doc] : []));
  const sessionsOf = (messages: readonly MessageDoc[]): SessionDoc[] => {
    const ids = new Set(messages.map((message) => message.sessionId));
    return known().flatMap((doc) => (doc.type === 'session' && ids.has(doc.sessionId) ? [doc] : []));
  };
  const answers: Omit<WorkerCalls, 'search'> = {
    household: () => ({
      identities: known().flatMap((doc) => (doc.type === 'agent-identity' ? [doc] : [])),
      changes: known().flatMap((doc) => (doc.type === 'agent-change' ? [doc] : [])),
      settings: known().flatMap((doc) => (doc.type === 'setting' ? [doc] : [])),
      records: [],
      queued: known().flatMap((doc) => (doc.type === 'queued-message' ? [doc] : [])),
      forgetting: pendingForgets(
        known().flatMap((doc) => (doc.type === 'forget' ? [doc] : [])),
        known().flatMap((doc) => (doc.type === 'forget-undo' ? [doc] : [])),
        NOW,
      ),
      forgotten: [],
      forgets: [],
      newest: docs.reduce((held, { at }) => (at > held ? at : held), ''),
    }),
    append(added) {
      docs.push(...added);
      queueMicrotask(() => owner.say({ news: 'documents', docs: added }));
      return { written: added.length };
    },
    conversation({ agentId, before }) {
      const all = messagesOf(agentId);
      const end = before === null ? all.length : Number(before);
      const start = Math.max(0, end - owner.pageSize);
      const messages = all.slice(start, end);
      const read = known().flatMap((doc) => (doc.type === 'message-read' ? [doc.messageId] : []));
      const alone = new Set(messages.flatMap((doc) => (doc.sessionId === null ? (doc.runId ?? []) : [])));
      const runs = known().flatMap((doc) => (doc.type === 'run' && alone.has(doc.runId) ? [doc] : []));
      return { messages, sessions: sessionsOf(messages), runs, read, before: start === 0 ? null : String(start) };
    },
    replaced: () => owner.replaced,
    wakings({ agentId, before, upTo }) {
      const shown = messagesOf(agentId).filter(({ time }) => upTo === null || time < upTo);
      const ids = [...new Set(shown.flatMap(({ sessionId, runId }) => sessionId ?? runId ?? []))].reverse();
      const from = Number(before ?? 0);
      const wakings = ids.slice(from, from + owner.wakingsPage).flatMap((id) => {
        const own = shown.filter(({ sessionId, runId }) => (sessionId ?? runId) === id);
        const words = own.find(({ author }) => author === 'human') ?? own[0];
        const [block] = words?.blocks ?? [];
        const run = known().flatMap((doc) => (doc.type === 'run' && doc.runId === id ? [doc] : []));
        return own.slice(0, 1).map(({ messageId, sessionId, time }) => ({
          id,
          run: sessionId === null ? run : null,
          messageId,
          from: time,
          until: own.at(-1)?.time ?? time,
          messages: own.length,
          words: words && block?.kind === 'text' ? { author: words.author, text: block.text } : null,
        }));
      });
      return { wakings, before: from + owner.wakingsPage < ids.length ? String(from + owner.wakingsPage) : null };
    },
    changes: ({ agentId }) =>
      known()
        .flatMap((doc) => (doc.type === 'agent-change' && doc.agentId === agentId ? [doc] : []))
        .sort((a, b) => (a.at < b.at ? -1 : 1)),
    unread() {
      const own = foldReadMarks(known().flatMap((doc) => (doc.type === 'setting' ? [doc] : [])));
      // A household in which messages are new from now on.
      const marks = { ...own, since: own.since ?? formatStamp({ time: NOW, counter: 0, node: 'begun' }) };
      const agents = new Set(known().flatMap((doc) => (doc.type === 'message' ? [doc.agentId] : [])));
      const rowOf = (agentId: string) => {
        const upTo = readUpTo(marks, agentId);
        const news =
          upTo === null ? [] : visibleMessages(messagesOf(agentId)).filter((doc) => doc.at > upTo && isNews(doc));
        return { agentId, upTo, unread: news.length, newest: news.at(-1)?.at ?? null };
      };
      return {
        since: marks.since,
        conversations: [...agents].map(rowOf),
        threads: marks.byThread,
        newest: docs.reduce((held, { at }) => (at > held ? at : held), ''),
      };
    },
    wakeMaterial: ({ agentIds }) =>
      agentIds.map((agentId) => {
        const all = messagesOf(agentId);
        const sessions = [...new Set(all.flatMap((message) => message.sessionId ?? []))];
        return {
          agentId,
          sessions: sessions.map((sessionId): WakeSession => {
            const messages = all.filter((message) => message.sessionId === sessionId);
            return { kind: 'talk', sessionId, addressed: messages.some(isAddressed), messages, earlier: 0 };
          }),
          earlier: 0,
        };
      }),
    storage: () => owner.storage,
    documents: () => ({ docs, after: null, of: docs.length }),
    mentioning({ text }) {
      const said = known().flatMap((doc) =>
        doc.type === 'message' && JSON.stringify(doc.blocks).includes(text) ? [doc] : [],
      );
      return { ids: said.map(({ _id }) => _id), messages: said.length, agentIds: [], summaries: [] };
    },
    covered: (forget) => {
      const said = known().flatMap((doc) => (doc.type === 'message' && isCovered(doc, forget) ? [doc] : []));
      return { messages: said.length, agentIds: [...new Set(said.map(({ agentId }) => agentId))], summaries: [] };
    },
    changeLog({ limit }) {
      const newest = known().toSorted(byAge).reverse();
      const changes = newest.flatMap((doc, i) =>
        changedBy(doc) === 'person'
          ? {
              doc,
              before: newest.slice(i + 1).find((other) => slotOf(other) === slotOf(doc)) ?? null,
              holds: newest.find((other) => slotOf(other) === slotOf(doc)) ?? doc,
            }
          : [],
      );
      return { changes: changes.slice(0, limit), more: changes.length > limit };
    },
    within({ about }) {
      const found = docs.filter((doc) => aboutOf(doc) === about);
      return { docs: found, after: null, of: found.length };
    },
    attachment(file) {
      const pieces = Array.from({ length: piecesOf(file) }, (_none, index) => {
        const doc = docs.find(({ _id }) => _id === pieceId(file, index));
        return doc && isKnown(doc) && doc.type === 'attachment' ? [doc.data] : [];
      });
      return pieces.every(({ length }) => length > 0) ? pieces.flat().join('') : null;
    },
    compare: (others) => ({
      fresh: others.map((doc) => doc._id).filter((id) => !docs.some((doc) => doc._id === id)),
      same: 0,
      different: [],
      forgotten: 0,
    }),
    noteExport(note) {
      owner.storage = { ...owner.storage, lastExport: note };
      return null;
    },
    ...aloneSync(),
    rebuild: () => owner.report,
    findSentence({ text }) {
      const documents: Record<string, number> = {};
      for (const doc of docs)
        if (JSON.stringify(doc).includes(text)) documents[doc.type] = (documents[doc.type] ?? 0) + 1;
      return { documents, volumes: 0, entries: 0, found: 0 };
    },
    takePageKey: () => null,
    reconnect: () => null,
    received: () => ({ stored: owner.canStore }),
    signInChanged: () => null,
  };
  const owner: MemoryOwner = {
    docs,
    broken: null,
    calls: [],
    sync: {},
    pageSize: 40,
    wakingsPage: 30,
    replaced: [],
    storage: STORAGE,
    report: { documents: 412, volumes: 1, repaired: 0, faults: [] },
    rebuilding: null,
    canStore: true,
    pause: null,
    say: (news) => listeners.forEach((listener) => listener(news)),
    async call(name, ...args) {
      owner.calls.push(name);
      await (owner.pause?.() ?? Promise.resolve());
      if (name === 'rebuild') await owner.rebuilding;
      if (owner.broken !== null) throw new Error(owner.broken);
      // `answers` is keyed by the same table that types the call.
      const answer = { ...answers, ...owner.sync, search: findIn(docs) }[name] as (
        ...given: typeof args
      ) => ReturnType<WorkerCalls[typeof name]>;
      return answer(...args);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return owner;
}

/** The real search, over what there is at that moment. */
const findIn =
  (docs: readonly Doc[]) =>
  async (query: SearchQuery): Promise<SearchAnswer> => {
    const index = createMemoryIndex();
    const search = searchOver(createMemoryLedger(docs), () => index);
    await search.settled();
    return search.find(query);
  };

export interface MemoryRelay extends RelayPort {
  readonly started: StartSession[];
  readonly posted: PostMessage[];
  readonly asked: string[];
  /** While set, every call but health is answered with this. */
  refusal: RelayProblem | null;
  status: HomeStatus;
  mind: Health['mind'];
  clock: Health['clock'];
}

export function memoryRelay(): MemoryRelay {
  let rehearsal: Rehearsal = rehearsalSchema.parse({});
  const answer = <Value>(value: Value): Promise<RelayResult<Value>> =>
    Promise.resolve(relay.refusal ? { ok: false, problem: relay.refusal } : { ok: true, value });
  const relay: MemoryRelay = {
    started: [],
    posted: [],
    asked: [],
    refusal: null,
    status: { begun: false, lived: false, others: 0 },
    mind: 'rehearsal',
    clock: { standsStillMs: null, stoodMs: null, copied: false },
    health: () =>
      Promise.resolve({
        ok: true,
        value: {
          status: 'ok',
          version: '0.1.0',
          clock: relay.clock,
          database: { awayMs: null, trouble: null },
          mind: relay.mind,
          model: 'claude-sonnet',
          sessionActive: false,
        },
      }),
    startSession({ body }) {
      relay.started.push(startSessionSchema.parse(body));
      return answer({ sessionId: 'session-new' });
    },
    home: () => Promise.resolve({ ok: true, value: relay.status }),
    beginHome({ body: { beside, anew } }) {
      relay.asked.push(`begin ${anew && relay.status.lived ? 'anew' : beside ? 'beside' : 'alone'}`);
      if ((relay.status.others > 0 || relay.status.lived) && !beside)
        return Promise.resolve({
          ok: false,
          problem: {
            kind: 'refused',
            status: 409,
            message: 'Another household lives at this relay.',
            problem: {
              type: 'about:roost/not-begun',
              title: '',
              status: 409,
              detail: 'Another household lives at this relay.',
            },
          },
        });
      // By a sign-in of its own, which the next call begins with.
      if (anew && relay.status.lived) relay.status = { begun: false, lived: false, others: relay.status.others + 1 };
      else relay.status = { ...relay.status, begun: true, lived: false };
      return Promise.resolve({ ok: true, value: relay.status });
    },
    endSession() {
      relay.asked.push('end');
      return answer(null);
    },
    postMessage({ body }) {
      relay.posted.push(body);
      return answer({ eventId: 1 });
    },
    withdrawMessage({ messageId }) {
      relay.asked.push(`take back ${messageId}`);
      return answer(null);
    },
    correctSummary({ messageId, body: { text } }) {
      relay.asked.push(`correct ${messageId}: ${text}`);
      return answer(null);
    },
    stop({ agentId }) {
      relay.asked.push(`stop ${agentId}`);
      return answer(null);
    },
    sleep({ agentId }) {
      relay.asked.push(`sleep ${agentId}`);
      return answer(null);
    },
    getRehearsal: () => answer(rehearsal),
    putRehearsal({ body: next }) {
      rehearsal = rehearsalSchema.parse(next);
      return answer(rehearsal);
    },
  };
  return relay;
}

export interface TestDevice extends Device {
  /** How often it was asked to keep what is stored for good. */
  askedToKeep(): number;
}

/** A device whose clock stands at `now`, and whose timers are the real ones. */
export function testDevice(now: number): TestDevice {
  let ids = 0;
  let asked = 0;
  return {
    askedToKeep: () => asked,
    now: () => now,
    newId: () => `id-${++ids}`,
    persist() {
      asked += 1;
      return Promise.resolve(true);
    },
    browser: createTextStorage(localStorage),
    hear: hearOtherTabs,
    // Among the texts, which are every page's of a test, as in one browser.
    shelf: {
      put: (id, data) => Promise.resolve(localStorage.setItem(`shelf ${id}`, data)).then(() => true),
      read: (id) => Promise.resolve(localStorage.getItem(`shelf ${id}`)),
      remove: (ids) => Promise.resolve(ids.forEach((id) => localStorage.removeItem(`shelf ${id}`))),
    },
    after(ms, task) {
      const handle = setTimeout(task, ms);
      return () => clearTimeout(handle);
    },
  };
}

export interface MemoryExports extends ExportsPort {
  /** What a whole copy holds, by the file's name; a function throws what opening it throws. */
  readonly copies: Map<string, (passphrase: string | null) => ImportPreview>;
  /** Documents of each copy, by the file's name. */
  readonly contents: Map<string, readonly Doc[]>;
  readonly agents: Map<string, ParsedAgent>;
  readonly exported: { readonly passphrase: string | null; readonly documents: number }[];
  readonly imported: {
    readonly withSettings: boolean;
    readonly leaveOut: readonly string[];
    readonly ticks: readonly string[];
  }[];
  /** While set, long work waits for it, or for being called off. */
  working: Promise<void> | null;
}

/** Exports whose files are what a test says they are: the page's side of it alone. */
export function memoryExports(): MemoryExports {
  const patience = (signal: AbortSignal | undefined) =>
    Promise.race([
      exports.working ?? Promise.resolve(),
      new Promise<never>((_resolve, reject) =>
        signal?.addEventListener('abort', () => reject(new Error('called off'))),
      ),
    ]);
  const exports: MemoryExports = {
    copies: new Map(),
    contents: new Map(),
    agents: new Map(),
    exported: [],
    imported: [],
    working: null,
    async exportHousehold({ read, sink, passphrase, signal, onProgress }) {
      const writer = sink.getWriter();
      const { docs } = await read({ after: null, limit: 1000, agentId: null });
      onProgress?.({ stage: 'documents', done: 1, of: docs.length });
      try {
        await patience(signal);
      } catch (error) {
        await writer.abort(error);
        throw error;
      }
      await writer.write(new TextEncoder().encode(JSON.stringify(docs)));
      await writer.close();
      exports.exported.push({ passphrase, documents: docs.length });
      return { documents: docs.length, bytes: 12_000 };
    },
    async openExport(file, passphrase, { signal }) {
      await patience(signal);
      const open = exports.copies.get(file instanceof File ? file.name : '');
      if (!open) throw new ExportError('not-an-export', 'This is not a copy that Roost wrote.');
      const preview = open(passphrase);
      return {
        preview,
        source: {
          file,
          fileKey: null,
          documents: preview.documents,
          digest: '',
          forgets: new Map(),
          needs: new Map(),
          agents: new Map(),
        },
      };
    },
    async importExport({ source }, { append, withSettings, leaveOut, ticks, signal, onProgress }) {
      onProgress?.({ stage: 'documents', done: 0, of: source.documents });
      await patience(signal);
      exports.imported.push({ withSettings, leaveOut, ticks });
      const docs = exports.contents.get(source.file instanceof File ? source.file.name : '') ?? [];
      const { written } = await append(docs);
      return { documents: docs.length, written, leftOut: leaveOut.length };
    },
    async exportAgent({ agentId, read, sink }) {
      const writer = sink.getWriter();
      const { docs } = await read({ after: null, limit: 1000, agentId });
      await writer.write(new TextEncoder().encode(JSON.stringify(docs)));
      await writer.close();
      return { documents: docs.length, bytes: 10 };
    },
    readAgentZip(file) {
      const parsed = exports.agents.get(file instanceof File ? file.name : '');
      return parsed
        ? Promise.resolve(parsed)
        : Promise.reject(new ExportError('not-an-export', 'There is no SOUL.md in it.'));
    },
    // Moving in is pure, so it is the real one.
    readMoveIn: (...args) => exportsHere().readMoveIn(...args),
    moveIn: (...args) => exportsHere().moveIn(...args),
  };
  return exports;
}
