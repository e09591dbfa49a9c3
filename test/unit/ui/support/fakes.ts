/** Small in-memory stand-ins for the two ports: a ledger that is a list, a relay that remembers what it was asked. */
import { isKnown, type Doc, type MessageDoc, type SessionDoc } from '../../../../src/protocol/documents.ts';
import type { Health, PostMessage, Rehearsal, StartSession } from '../../../../src/protocol/http.ts';
import { rehearsalSchema } from '../../../../src/protocol/http.ts';
import type { OwnerCalls, OwnerNews, StorageStatus } from '../../../../src/protocol/worker.ts';
import type { RelayProblem, RelayResult } from '../../../../src/relay/index.ts';
import { createTabMemory } from '../../../../src/state/tab-memory.ts';
import type { Device, OwnerPort, RelayPort } from '../../../../src/state/ports.ts';

export interface MemoryOwner extends OwnerPort {
  readonly docs: Doc[];
  say(news: OwnerNews): void;
  /** While set, every call rejects with this message. */
  broken: string | null;
  readonly calls: string[];
  /** Messages a page of a conversation has. */
  pageSize: number;
  /** While set, it is awaited before a call is answered. */
  pause: (() => Promise<void>) | null;
}

const STORAGE: StorageStatus = { persisted: false, usedBytes: 2_400_000, quotaBytes: 10_000_000_000, journalRows: 3, documents: 412, kinds: [{ type: 'message', documents: 400, chars: 120_000 }, { type: 'agent-identity', documents: 12, chars: 9_000 }], volumes: [{ name: 'volume-1', documents: 412, state: 'writing', checkedAt: null, faults: [] }], lastExport: null };

export function memoryOwner(initial: readonly Doc[] = []): MemoryOwner {
  const docs: Doc[] = [...initial];
  const listeners = new Set<(news: OwnerNews) => void>();
  const known = () => docs.filter(isKnown);
  const messagesOf = (agentId: string) => known().flatMap((doc) => (doc.type === 'message' && doc.agentId === agentId ? [doc] : []));
  const sessionsOf = (messages: readonly MessageDoc[]): SessionDoc[] => {
    const ids = new Set(messages.map((message) => message.sessionId));
    return known().flatMap((doc) => (doc.type === 'session' && ids.has(doc.sessionId) ? [doc] : []));
  };
  const answers: OwnerCalls = {
    household: () => ({
      identities: known().flatMap((doc) => (doc.type === 'agent-identity' ? [doc] : [])),
      changes: known().flatMap((doc) => (doc.type === 'agent-change' ? [doc] : [])),
      settings: known().flatMap((doc) => (doc.type === 'setting' ? [doc] : [])),
      queued: known().flatMap((doc) => (doc.type === 'queued-message' ? [doc] : [])),
      forgetting: [],
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
      return { messages, sessions: sessionsOf(messages), read, before: start === 0 ? null : String(start) };
    },
    wakeMaterial: ({ agentIds }) =>
      agentIds.map((agentId) => {
        const all = messagesOf(agentId);
        const spoken = all.findLast((message) => message.author === agentId);
        return { agentId, sessionId: spoken?.sessionId ?? null, messages: all.filter((message) => message.sessionId === spoken?.sessionId), earlier: 0 };
      }),
    storage: () => STORAGE,
    documents: () => ({ docs, after: null, of: docs.length }),
    compare: (others) => ({ fresh: others.map((doc) => doc._id).filter((id) => !docs.some((doc) => doc._id === id)), same: 0, different: [], forgotten: 0 }),
    noteExport: () => null,
    rebuild: () => ({ documents: docs.length, volumes: 1, repaired: 0, faults: [] }),
    reconnect: () => null,
  };
  const owner: MemoryOwner = {
    docs,
    broken: null,
    calls: [],
    pageSize: 40,
    pause: null,
    say: (news) => listeners.forEach((listener) => listener(news)),
    async call(name, ...args) {
      owner.calls.push(name);
      await (owner.pause?.() ?? Promise.resolve());
      if (owner.broken !== null) throw new Error(owner.broken);
      // `answers` is keyed by the same table that types the call.
      const answer = answers[name] as (...given: typeof args) => ReturnType<OwnerCalls[typeof name]>;
      return answer(...args);
    },
    subscribe(listener) {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
  return owner;
}

export interface MemoryRelay extends RelayPort {
  readonly started: StartSession[];
  readonly posted: PostMessage[];
  readonly asked: string[];
  /** While set, every call but health is answered with this. */
  refusal: RelayProblem | null;
  mind: Health['mind'];
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
    mind: 'rehearsal',
    health: () => Promise.resolve({ ok: true, value: { status: 'ok', version: '0.1.0', mind: relay.mind, model: 'claude-sonnet', sessionActive: false, sessionId: null } }),
    startSession(body) {
      relay.started.push(body);
      return answer({ sessionId: 'session-new' });
    },
    endSession() {
      relay.asked.push('end');
      return answer(null);
    },
    postMessage(body) {
      relay.posted.push(body);
      return answer({ eventId: 1 });
    },
    stop(agentId) {
      relay.asked.push(`stop ${agentId}`);
      return answer(null);
    },
    sleep(agentId) {
      relay.asked.push(`sleep ${agentId}`);
      return answer(null);
    },
    getRehearsal: () => answer(rehearsal),
    putRehearsal(next) {
      rehearsal = next;
      return answer(rehearsal);
    },
  };
  return relay;
}

/** A device whose clock stands at `now`, and whose timers are the real ones. */
export function testDevice(now: number): Device {
  let ids = 0;
  return {
    now: () => now,
    newId: () => `id-${++ids}`,
    persist: () => Promise.resolve(true),
    tab: createTabMemory(sessionStorage),
    after(ms, task) {
      const handle = setTimeout(task, ms);
      return () => clearTimeout(handle);
    },
  };
}
