/** What importing a file would meet here, as data that a page can put into words. */
import type { Agent, Roster } from '../../domain/agent.ts';
import { LEAD_ID, isSeatPosition } from '../../domain/seat.ts';
import type { SettingKey } from '../../domain/settings.ts';
import type { ArchiveConflict } from '../types.ts';
import { rosterFrom, settingsFrom, union, type Deciding } from './newest.ts';

/** `here` and `file`: what decides, on either side. */
export function conflictsBetween(here: Deciding, file: Deciding): ArchiveConflict[] {
  const both = union(here, file);
  const rosters = { here: rosterFrom(here), file: rosterFrom(file), both: rosterFrom(both) };
  return [...leadConflicts(here, file, rosters), ...seatConflicts(rosters), ...agentChanges(rosters), ...settingConflicts(here, file, both)];
}

interface Rosters {
  readonly here: Roster;
  readonly file: Roster;
  readonly both: Roster;
}

const leadIds = ({ identities }: Deciding) => new Set(identities.filter(({ agentId }) => agentId === LEAD_ID).map(({ _id }) => _id));

function leadConflicts(here: Deciding, file: Deciding, rosters: Rosters): ArchiveConflict[] {
  const mine = leadIds(here);
  const leads = { here: rosters.here.lead, file: rosters.file.lead, both: rosters.both.lead };
  if (!leads.here || !leads.file || !leads.both || [...leadIds(file)].every((id) => mine.has(id))) return [];
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
    if (holder !== mine.agentId || !isNew) return [];
    return [{ kind: 'seat', position, file: named(theirs), here: named(mine), sits: sitting.agentId }];
  });
}

const shown = ({ name, position, soul, retired }: Agent) => ({ name, position, soulChars: soul.length, retired });

function agentChanges({ here, file, both }: Rosters): ArchiveConflict[] {
  return [...file.byId.keys()].flatMap((agentId): ArchiveConflict[] => {
    const before = here.byId.get(agentId);
    const after = both.byId.get(agentId);
    if (!before || !after) return [];
    const what = [
      ...(before.name === after.name ? [] : (['name'] as const)),
      ...(before.soul === after.soul ? [] : (['soul'] as const)),
      ...(before.position === after.position ? [] : (['seat'] as const)),
      ...(before.retired === after.retired ? [] : (['retired'] as const)),
    ];
    return what.length === 0 ? [] : [{ kind: 'agent-changes', agentId, here: shown(before), after: shown(after), what }];
  });
}

function settingConflicts(here: Deciding, file: Deciding, both: Deciding): ArchiveConflict[] {
  const now = settingsFrom(here);
  const after = settingsFrom(both);
  const set = new Set(here.settings.map(({ key }) => key));
  const keys = new Set(file.settings.map(({ key }) => key));
  return (Object.keys(now) as SettingKey[])
    .filter((key) => keys.has(key) && !Object.is(now[key], after[key]))
    .map((key) => ({ kind: 'setting', key, here: now[key], file: after[key], isDefaultHere: !set.has(key) }));
}
