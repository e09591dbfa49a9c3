/** What importing a file would meet here, as data that a page can put into words. */
import type { Agent, Roster } from '../../domain/agent.ts';
import { LEAD_ID, isSeatPosition } from '../../domain/seat.ts';
import type { ArchiveConflict } from '../types.ts';
import { rosterFrom, union, type Deciding } from './newest.ts';

/** `here` and `file`: what decides, on either side. */
export function conflictsBetween(here: Deciding, file: Deciding): ArchiveConflict[] {
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
