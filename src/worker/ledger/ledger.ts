/**
 * The ledger: `append` and a few reads.
 *
 * A write goes into the journal in one IndexedDB transaction with strict durability, and resolves
 * when that is on disk. Writes that wait at the same moment share a transaction. The documents then
 * go into the views shortly after, and in groups into the current Fireproof volume. Reads use only
 * the views, and wait for everything appended before them.
 */
import { type Doc, parseDocument } from '../../shared/protocol/documents.ts';
import { storageFacts } from '../../shared/domain/platform/old-browsers.ts';
import { createQueue } from '../../shared/domain/platform/queue.ts';
import type { VolumeStatus } from '../../shared/protocol/worker.ts';
import { sentence } from '../../shared/domain/names.ts';
import { createAppends } from './appends.ts';
import type { Ledger, LedgerDeps } from './contract.ts';
import { readMeta, writeMeta } from './journal/database.ts';
import { clearOutbox, journalDocuments, readOutbox, writeRow } from './journal/journal.ts';
import { createProblems, StorageProblemError, storageProblemOf } from './problem.ts';
import { LEDGER } from './settings.ts';
import { createUpkeep } from './upkeep.ts';
import {
  readCovered,
  readMentioning,
  readAttachment,
  readChangeLog,
  readConversation,
  readHousehold,
  readUnread,
  readWithin,
  splitForgets,
} from './views/read.ts';
import { compareDocuments, countWith, readAt, readDocuments, readKeys } from './views/copy.ts';
import { readState } from './views/database.ts';
import { createViews, readCounted, readFound, readIds, readReplaced } from './views/views.ts';
import { readChanges, readWakeContext, readWakings } from './views/wakings.ts';
import { countTalks, readLastTalks, readTeam } from './views/write.ts';
import { createVolumes, discardVolumes, unfiled } from './volumes/volumes.ts';

// A document as plain JSON data, which every store returns unchanged.

/**
 * Validates a document and makes it plain: drops `undefined` fields and turns -0 into 0. Throws for
 * an invalid document or a value that JSON does not have, with its place.
 */
export function plainDocument(value: unknown): Doc {
  return parseDocument(plain(value, 'document'));
}

function plain(value: unknown, where: string): unknown {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      if (!Number.isFinite(value)) throw new TypeError(`${where} is ${value}, which cannot be stored.`);
      return value === 0 ? 0 : value;
    case 'object': {
      if (value === null) return null;
      if (Array.isArray(value)) return value.map((inner, i) => plain(inner ?? null, `${where}[${i}]`));
      const fields = Object.entries(value).filter(([, inner]) => inner !== undefined);
      return Object.fromEntries(fields.map(([key, inner]) => [key, plain(inner, `${where}.${key}`)]));
    }
    case 'undefined':
    case 'bigint':
    case 'function':
    case 'symbol':
      throw new TypeError(`${where} is a ${typeof value}, which cannot be stored.`);
  }
}

/** Sources of problems, gravest first. Each is cleared by its own success. */
const SOURCES = ['journal', 'views', 'volumes', 'damage'] as const;
type Source = (typeof SOURCES)[number];

export async function createLedger(deps: LedgerDeps): Promise<Ledger> {
  const { journal, elapsed = deps.now } = deps;
  const begun = await readState(deps.views);
  let closed = false;
  /** Queue of appends and of work that must run between two appends. */
  const inTurn = createQueue();

  const forgetDocs = (await deps.views.getAll('forgets')).map(({ doc }) => doc);
  const forgets = splitForgets(forgetDocs);

  const problems = createProblems(SOURCES, deps.onProblem);
  const tellOutcome = (source: Source) => (error: unknown) => {
    const problem = error === null ? null : storageProblemOf(error);
    // An unreadable volume alone is no serious problem: its documents are written again from the
    // views.
    problems.set(
      source,
      problem?.kind === 'unreadable' && source === 'volumes' ? { ...problem, kind: 'broken' } : problem,
    );
  };

  const appends = createAppends({
    ...{ deps, elapsed, inTurn, newest: begun.newest },
    views: () => views,
    isForgotten: (doc) => upkeep.isForgotten(doc),
    onForgets: (docs) => upkeep.hearForgets(docs),
    onProblem: (problem) => problems.set('journal', problem),
  });
  const views = await createViews({
    db: deps.views,
    after: deps.after,
    isAppending: () => appends.isAppending(),
    onApplied: ({ upTo, docs, chars }) => volumes.added(docs, chars, upTo),
    onOutcome: tellOutcome('views'),
  });
  const volumes = createVolumes({
    db: journal,
    views: () => views.upToDate(),
    upTo: begun.applied,
    open: deps.openVolume,
    after: deps.after,
    now: deps.now,
    elapsed,
    busy: () => {
      const since = elapsed() - appends.lastAt();
      if (deps.isReturning?.() && since < LEDGER.volumesRestored) return 'returning';
      return since < LEDGER.volumesQuiet ? 'writing' : null;
    },
    refile: () => refile(volumes.currentIds()),
    onOutcome: tellOutcome('volumes'),
    onDamaged: ({ name, faults }, refiled) =>
      problems.set('damage', {
        kind: 'damaged',
        detail: sentence`Volume ${name} on this device is damaged (${faults[0] ?? 'it fails its check'}). Roost filed ${refiled} documents again from other places, and leaves the volume unchanged. Settings, Devices and data shows more; export a copy to be safe.`,
      }),
  });
  const counted = countBacklog();

  /** Counts what was in the journal at the start. */
  async function countBacklog() {
    if ((await journal.count('journal')) === 0) return;
    let docs = 0;
    for await (const row of journalDocuments(journal, LEDGER.journalStride)) {
      // Later rows are counted when they go into the views.
      if (row.seq > begun.applied) break;
      docs += row.docs.length;
    }
    volumes.added(docs, 0, begun.applied);
  }
  counted.catch(tellOutcome('journal'));

  async function journalAgain(docs: readonly Doc[]) {
    await inTurn(async () => views.add({ seq: await writeRow(journal, docs), docs }));
  }

  /** Puts documents that are in no sound volume into the journal again. */
  async function refile(sound: Iterable<string>): Promise<number> {
    let count = 0;
    for await (const docs of unfiled(journal, await views.upToDate(), sound)) {
      await journalAgain(docs);
      count += docs.length;
    }
    return count;
  }

  const upkeep = createUpkeep({
    deps,
    views,
    volumes,
    forgets,
    counted,
    refile,
    inTurn,
    onRepaired: () => problems.set('damage', null),
    onTrouble: tellOutcome('damage'),
  });
  discardVolumes(journal).catch(tellOutcome('damage'));

  return {
    async append(values, origin = 'here') {
      if (closed) throw new StorageProblemError({ kind: 'no-owner', detail: 'The ledger is closed.' });
      return await appends.add(values.map(plainDocument), origin);
    },
    household: async () => readHousehold(await views.readable(), deps.now()),
    conversation: async (request) => readConversation(await views.readable(), request, deps.now()),
    replaced: async (request) => readReplaced(await views.readable(), request, deps.now()),
    wakings: async (request) => readWakings(await views.readable(), request, deps.now()),
    changes: async ({ agentId }) => readChanges(await views.readable(), agentId),
    unread: async () => readUnread(await views.readable(), deps.now()),
    wakeMaterial: async (request) => readWakeContext(await views.readable(), request, deps.now()),
    documents: async (request) => readDocuments(await views.readable(), request, views.documents()),
    within: async (request) => readWithin(await views.readable(), request),
    mentioning: async (asked) => readMentioning(await views.readable(), asked),
    covered: async (forget) => readCovered(await views.readable(), forget),
    changeLog: async ({ limit }) => readChangeLog(await views.readable(), limit, deps.now()),
    compare: async (values) => compareDocuments(await views.readable(), values.map(plainDocument), upkeep.isForgotten),
    async storage() {
      await counted;
      const db = await views.readable();
      const [facts, records, kinds, lastExport] = await Promise.all([
        storageFacts(deps.storage),
        journal.getAll('volumes'),
        db.getAll('kinds'),
        readMeta(journal, 'lastExport'),
      ]);
      return {
        ...facts,
        journalRows: volumes.backlog(),
        documents: views.documents(),
        kinds: [...kinds].sort((a, b) => b.chars - a.chars),
        volumes: records.map(({ name, documents, state, checkedAt, faults }): VolumeStatus => ({
          name,
          documents,
          state,
          checkedAt,
          faults,
        })),
        lastExport: lastExport ?? null,
      };
    },
    async noteExport(note) {
      await writeMeta(journal, 'lastExport', note);
      return null;
    },
    rebuild: () => upkeep.rebuild(),
    async outbox(limit) {
      const rows = await readOutbox(journal, limit);
      return rows.map((row) => ({ ...row, docs: row.docs.filter((doc) => !upkeep.isForgotten(doc)) }));
    },
    forgets: upkeep.forgets,
    async findText(has) {
      return { documents: await countWith(await views.upToDate(), has), volumes: await upkeep.countWith(has) };
    },
    clearOutbox: (numbers) => clearOutbox(journal, numbers),
    betweenAppends: (run) =>
      inTurn(async () => {
        await views.upToDate();
        return run();
      }),
    keys: async () => readKeys(await views.readable()),
    attachment: async (file) => readAttachment(await views.readable(), file),
    documentsAt: async (keys) => readAt(await views.readable(), keys),
    ids: async (page) => readIds(await views.readable(), page),
    found: async (places) => readFound(await views.readable(), places, deps.now()),
    counted: async () => readCounted(await views.readable()),
    lastTalks: async () => readLastTalks(await views.readable()),
    countTalks: async (talks) => countTalks(await views.readable(), talks),
    team: async () => readTeam(await views.readable(), views.documents()),
    readCursor: () => readMeta(journal, 'cursor'),
    writeCursor: (value) => writeMeta(journal, 'cursor', value, 'relaxed'),
    async drain() {
      await counted;
      await views.upToDate();
      await volumes.drain();
    },
    async close() {
      closed = true;
      await appends.done();
      await upkeep.close();
      await views.upToDate();
      await volumes.close();
      views.close();
      journal.close();
    },
  };
}
