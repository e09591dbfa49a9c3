/**
 * A page of the person, in Node. It stores what the relay tells as documents, answers searches of
 * agents, and composes what a wake carries. Documents, search, transcripts and the exported file
 * are made by the code of the page. Only their store is in memory, and the sessions that a wake
 * looks back on are read from it in a few lines.
 */
import { importHousehold, openHousehold } from '../../src/page/exports/household/read.ts';
import { writeHousehold } from '../../src/page/exports/household/write.ts';
import type { Ports } from '../../src/page/exports/methods.ts';
import { rosterOfDocs } from '../../src/page/state/household.ts';
import { shareOf } from '../../src/page/state/wake-context.ts';
import type { WakeShare } from '../../src/page/state/wake-sizes.ts';
import type { Agent, Roster } from '../../src/shared/domain/agent.ts';
import type { SessionId } from '../../src/shared/domain/ids.ts';
import type { Settings } from '../../src/shared/domain/settings.ts';
import type { Doc, MessageDoc } from '../../src/shared/protocol/documents.ts';
import { isKnown } from '../../src/shared/protocol/documents/kinds.ts';
import { eventSchema, type RoostEvent } from '../../src/shared/protocol/events.ts';
import { documentsOf } from '../../src/shared/protocol/intake.ts';
import { searchAskedSchema } from '../../src/shared/protocol/search.ts';
import type { WakeContext } from '../../src/shared/protocol/worker.ts';
import { openEventSource } from '../support/event-source.ts';
import type { Browser } from '../support/open-relay.ts';
import { createMemoryIndex, createMemoryLedger, searchOver } from '../support/search.ts';

/** Sessions that a wake looks back on. */
const SESSIONS = 12;
const UNTIL_MS = 30_000;

export interface ExamDevice {
  docs(): Iterable<Doc>;
  /** What the relay has told this device. */
  readonly events: readonly RoostEvent[];
  roster(): Roster;
  share(agent: Agent, settings: Settings): WakeShare;
  until(what: string, enough: () => boolean): Promise<void>;
  /** The household in one file. */
  exported(): Promise<Blob>;
  close(): Promise<void>;
}

const notAsked = () => Promise.reject(new Error('The file asks for nothing of this.'));
const NO_PORTS: Ports = {
  read: notAsked,
  write: notAsked,
  compare: notAsked,
  append: notAsked,
  take: notAsked,
};
const nothing = () => undefined;

/** The documents of an exported file, as a page without a team imports them. */
export async function docsOfFile(file: Blob): Promise<readonly Doc[]> {
  const docs: Doc[] = [];
  const here = { identities: [], changes: [], settings: [], records: [] };
  const ports: Ports = {
    ...NO_PORTS,
    compare: (some) => Promise.resolve({ fresh: some.map(({ _id }) => _id), same: 0, different: [], forgotten: 0 }),
    append(some) {
      docs.push(...some);
      return Promise.resolve({ written: some.length });
    },
  };
  const { preview, source } = await openHousehold({ file, passphrase: null, here, now: Date.now() }, ports, nothing);
  const ticks = preview.changes.map(({ tick }) => tick);
  await importHousehold({ source: { ...source, file }, withSettings: true, leaveOut: [], ticks }, ports, nothing);
  return docs;
}

/** `known`: documents from another device or a file. */
export async function openExamDevice(browser: Browser, known: Iterable<Doc>): Promise<ExamDevice> {
  const memory = createMemoryLedger(known);
  const search = searchOver(memory, createMemoryIndex);
  const events: RoostEvent[] = [];
  const waiting = new Set<() => void>();
  const stream = await openEventSource((signal) => browser.fetch('/api/events?after=0&searches=1', { signal }));
  if (!stream.response.ok) throw new Error(`the events: ${stream.response.status}`);

  async function answer(data: unknown): Promise<void> {
    const asked = searchAskedSchema.parse(data);
    await search.settled();
    const json = await search.findFor(asked);
    await browser.fetch(`/api/searches/${asked.searchId}`, { method: 'POST', json });
  }
  let read = 0;
  function hear(): void {
    for (; read < stream.messages.length; read++) {
      const message = stream.messages[read];
      if (message?.event === 'search') void answer(message.data);
      if (message?.id === undefined) continue;
      const event = eventSchema.parse(message.data);
      events.push(event);
      const docs = documentsOf({ id: Number(message.id), event });
      for (const doc of docs) memory.docs.set(doc._id, doc);
      if (docs.length > 0) search.hear(docs);
    }
    for (const check of waiting) check();
  }
  stream
    .until(() => {
      hear();
      return false;
    })
    .catch(nothing);
  // What was missed is not an answer to what this device says next.
  await stream.until((messages) => messages.some(({ event }) => event === 'snapshot'));

  const knownDocs = () => [...memory.docs.values()].filter(isKnown);
  const messagesOf = (agentId: string) =>
    knownDocs()
      .filter((doc): doc is MessageDoc => doc.type === 'message' && doc.agentId === agentId)
      .toSorted((a, b) => (a.at < b.at ? -1 : 1));
  function contextOf(agentId: Agent['agentId']): WakeContext {
    const bySession = new Map<SessionId, MessageDoc[]>();
    for (const message of messagesOf(agentId)) {
      const { sessionId } = message;
      if (sessionId !== null) bySession.set(sessionId, [...(bySession.get(sessionId) ?? []), message]);
    }
    const sessions = [...bySession].slice(-SESSIONS).map(([sessionId, messages]) => ({
      kind: 'talk' as const,
      sessionId,
      addressed: messages.some(({ author }) => author === 'human'),
      messages,
      earlier: 0,
    }));
    return { agentId, sessions, earlier: 0 };
  }

  const device: ExamDevice = {
    docs: () => memory.docs.values(),
    events,
    roster() {
      const docs = knownDocs();
      return rosterOfDocs(
        docs.filter((doc) => doc.type === 'agent-identity'),
        docs.filter((doc) => doc.type === 'agent-change'),
      );
    },
    share: (agent, settings) => shareOf(agent, contextOf(agent.agentId), device.roster(), settings),
    until: (what, enough) =>
      new Promise((resolve, reject) => {
        const done = (act: () => void) => {
          clearTimeout(late);
          waiting.delete(check);
          act();
        };
        const check = () => {
          if (enough()) done(resolve);
        };
        const late = setTimeout(
          () =>
            done(() => reject(new Error(`waited for ${what}: ${JSON.stringify(events.slice(-6)).slice(0, 2_000)}`))),
          UNTIL_MS,
        );
        waiting.add(check);
        check();
      }),
    async exported() {
      const pieces: Uint8Array<ArrayBuffer>[] = [];
      const docs = [...memory.docs.values()];
      const ports: Ports = {
        ...NO_PORTS,
        read: () => Promise.resolve({ docs, after: null, of: docs.length }),
        write(bytes) {
          pieces.push(new Uint8Array(bytes));
          return Promise.resolve(null);
        },
      };
      await writeHousehold({ passphrase: null, exportedAt: Date.now() }, ports, nothing);
      return new Blob(pieces);
    },
    async close() {
      await search.settled();
      stream.close();
    },
  };
  return device;
}
