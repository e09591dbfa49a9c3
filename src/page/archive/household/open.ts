/**
 * The first pass over a file: all of it is checked, and compared with what is here. Nothing is
 * written.
 */
import { LEAD_ID, isSeatPosition } from '../../../shared/domain/seat.ts';
import type { Doc, ForgetDoc } from '../../../shared/protocol/documents.ts';
import { isKnown } from '../../../shared/protocol/documents/kinds.ts';
import type { Workers } from '../methods.ts';
import { ArchiveError } from '../problem.ts';
import { ARCHIVE } from '../settings.ts';
import type { ArchivedAgent, ArchiveConflict } from '../types.ts';
import { belongsTo } from './belongs.ts';
import type { Agent, Roster } from '../../../shared/domain/agent.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { rosterFrom, union, type Deciding, createNewest } from './newest.ts';
import { createConsent } from './consent.ts';
import { readHousehold } from './read.ts';
import { fileKeyOf, isSealed } from './seal.ts';
import { sentence } from '../../../shared/domain/sentence.ts';

/** What importing a file would meet here, as data that a page can put into words. */

/** `here` and `file`: what decides, on either side. */
function conflictsBetween(here: Deciding, file: Deciding): ArchiveConflict[] {
  const both = union(here, file);
  const rosters = { here: rosterFrom(here), file: rosterFrom(file), both: rosterFrom(both) };
  return [...leadConflicts(here, file, rosters), ...seatConflicts(rosters)];
}

interface Rosters {
  readonly here: Roster;
  readonly file: Roster;
  readonly both: Roster;
}

const leadIds = ({ identities }: Deciding) =>
  new Set(identities.filter(({ agentId }) => agentId === LEAD_ID).map(({ _id }) => _id));

function leadConflicts(here: Deciding, file: Deciding, rosters: Rosters): ArchiveConflict[] {
  const mine = leadIds(here);
  const leads = { here: rosters.here.lead, file: rosters.file.lead, both: rosters.both.lead };
  if (!leads.here || !leads.file || !leads.both || [...leadIds(file)].every((id) => mine.has(id))) return [];
  // Where the file’s would hold, it is a change that waits for its tick: see ./consent.ts.
  if (leads.here.name !== leads.both.name) return [];
  return [{ kind: 'lead', here: leads.here.name, file: leads.file.name, after: leads.both.name }];
}

const named = ({ agentId, name }: Agent) => ({ agentId, name });

function seatConflicts({ here, file, both }: Rosters): ArchiveConflict[] {
  return both.waiting.flatMap((waiting): ArchiveConflict[] => {
    const position = waiting.position;
    const sitting = isSeatPosition(position) ? both.seats.get(position) : undefined;
    if (!isSeatPosition(position) || !sitting) return [];
    const holder = here.seats.get(position)?.agentId;
    const [mine, theirs] = holder === sitting.agentId ? [sitting, waiting] : [waiting, sitting];
    const isNew = file.byId.has(theirs.agentId) && !here.waiting.some(({ agentId }) => agentId === theirs.agentId);
    if (holder !== mine.agentId || !isNew || sitting.agentId !== mine.agentId) return [];
    return [{ kind: 'seat', position, file: named(theirs), here: named(mine), sits: sitting.agentId }];
  });
}

export const openHousehold: Workers['openArchive'] = async ({ file, passphrase, here, now }, { compare }, tell) => {
  const sealed = await isSealed(file);
  if (sealed && !passphrase)
    throw new ArchiveError(
      'needs-passphrase',
      sentence`This copy is under a passphrase. Enter the one that was chosen when it was made.`,
    );
  if (sealed) tell({ stage: 'key', done: 0, of: 1 });
  const fileKey = sealed && passphrase ? await fileKeyOf(file, passphrase) : null;

  const newest = createNewest();
  const consent = createConsent(here, now);
  const kinds = new Map<string, { type: string; documents: number; isKnown: boolean }>();
  const tallies = new Map<string, { messages: number; documents: number; fresh: number }>();
  const forgets = new Map<string, ForgetDoc>();
  const undos: { readonly forgetId: string; readonly isFresh: boolean }[] = [];
  const differing: string[] = [];
  let [done, fresh, same, different, forgotten] = [0, 0, 0, 0, 0];

  function count(agentId: AgentId, doc: Pick<Doc, 'type'>, isFresh: boolean) {
    const tally = tallies.get(agentId) ?? { messages: 0, documents: 0, fresh: 0 };
    tallies.set(agentId, tally);
    tally.documents += 1;
    if (doc.type === 'message') tally.messages += 1;
    if (isFresh) tally.fresh += 1;
  }

  const { header, documents, digest } = await readHousehold(file, fileKey, async (docs, head) => {
    const found = await compare(docs);
    const freshIds = new Set(found.fresh);
    fresh += found.fresh.length;
    same += found.same;
    forgotten += found.forgotten;
    different += found.different.length;
    differing.push(...found.different.slice(0, ARCHIVE.namedIds - differing.length));
    newest.take(docs);
    consent.take(docs.filter(({ _id }) => freshIds.has(_id)));
    for (const doc of docs) {
      const isFresh = freshIds.has(doc._id);
      const kind = kinds.get(doc.type) ?? { type: doc.type, documents: 0, isKnown: isKnown(doc) };
      kinds.set(doc.type, { ...kind, documents: kind.documents + 1, isKnown: kind.isKnown && isKnown(doc) });
      if (isKnown(doc) && doc.type === 'forget') forgets.set(doc._id, doc);
      // It may come before what it undoes: whose it is shows at the end.
      if (isKnown(doc) && doc.type === 'forget-undo') undos.push({ forgetId: doc.forgetId, isFresh });
      else {
        const agentId = belongsTo(doc, NOBODY);
        if (agentId !== null) count(agentId, doc, isFresh);
      }
    }
    done += docs.length;
    tell({ stage: 'documents', done, of: Math.max(head.documents, done) });
  });

  for (const { forgetId, isFresh } of undos) {
    const about = forgets.get(forgetId)?.target.agentId;
    if (about !== undefined) count(about, { type: 'forget-undo' }, isFresh);
  }

  const inFile = newest.now();
  const roster = rosterFrom(inFile);
  const rosterHere = rosterFrom(here);
  const agents = [...roster.byId.values()].map(
    ({ agentId, name, color, position, retired, bornAt, soul }): ArchivedAgent => ({
      agentId,
      name,
      color,
      position,
      retired,
      bornAt,
      soulChars: soul.length,
      ...(tallies.get(agentId) ?? { messages: 0, documents: 0, fresh: 0 }),
      isHere: rosterHere.byId.has(agentId),
    }),
  );
  const { changes, needs, agents: agentNeeds, never, unfit } = consent.result();
  const conflicts = [
    ...conflictsBetween(here, inFile),
    ...(never.size > 0 ? [{ kind: 'never' as const, documents: never.size }] : []),
    ...(unfit.size > 0 ? [{ kind: 'unfit' as const, documents: unfit.size }] : []),
    ...(different > 0 ? [{ kind: 'different' as const, documents: different, ids: differing }] : []),
  ];
  return {
    preview: {
      version: header.version,
      exportedAt: header.exportedAt,
      sealed,
      documents,
      kinds: [...kinds.values()].sort((a, b) => b.documents - a.documents),
      agents: agents.sort((a, b) => placeOf(a) - placeOf(b) || a.bornAt - b.bornAt),
      fresh,
      same,
      different,
      forgotten,
      conflicts,
      changes,
    },
    source: {
      fileKey,
      documents,
      digest,
      forgets: new Map([...forgets.values()].map((doc) => [doc._id, doc.target.agentId])),
      needs,
      agents: agentNeeds,
    },
  };
};

const NOBODY: ReadonlyMap<string, string> = new Map();

/** The lead, then by seat, then those without one, then the retired. */
function placeOf({ agentId, position, retired }: ArchivedAgent): number {
  if (agentId === LEAD_ID) return -1;
  if (retired) return 10;
  return position ?? 9;
}
