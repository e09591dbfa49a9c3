/**
 * The relay's list of the household's agents. It resolves a name to an id, and refuses a message to
 * an unknown name. It holds names and seats, but no soul.
 */
import type { AgentId } from '../../../src/shared/domain/ids.ts';
import { alikeOf, isSameName, NAME_MAX, shownName } from '../../../src/shared/domain/names.ts';
import { keepLoaded } from '../../../src/shared/domain/platform/single-flight.ts';
import { LEAD_ID, LEAD_POSITION, seatNumber } from '../../../src/shared/domain/seat.ts';
import { inOneLine } from '../../../src/shared/domain/talk.ts';
import { teamEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import type { RoostEvent } from '../../../src/shared/protocol/events.ts';
import type { Team, TeamMember } from '../../../src/shared/protocol/team.ts';
import type { EventLog } from '../../log/index.ts';
import { answer, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';
import { type HomeStore, parseText } from '../../store/index.ts';
import { type SetAside, SETS_NOTHING_ASIDE } from '../../platform/set-aside.ts';

/** All members of the household, as the page last announced them. Names change. Ids do not. */
export interface Directory {
  set(team: Team): Promise<void>;
  all(): Promise<readonly TeamMember[]>;
  /** Whether a page has announced the household's members. */
  isAnnounced(): Promise<boolean>;
  /**
   * Finds an agent by id, by name in any case, or by seat ("3", "seat 3"). The reason is a sentence
   * for the caller.
   */
  find(
    reference: string,
  ): Promise<{ readonly ok: true; readonly agent: TeamMember } | { readonly ok: false; readonly reason: string }>;
}

// The page reports the team.

/**
 * `onTeam`: called before a team with agents is written. `onForgotten`: called with agents whose
 * data must be deleted.
 */
export function createDirectoryRoutes({
  directory,
  beginsIn,
  onTeam,
  onForgotten,
}: {
  readonly directory: Directory;
  /** Called with the browser's time zone when the household's first team arrives. */
  readonly beginsIn: (timeZone: string) => Promise<void>;
  readonly onTeam: () => Promise<void>;
  readonly onForgotten: (agentIds: readonly AgentId[]) => Promise<void>;
}): readonly Handled[] {
  return answer(teamEndpoints, {
    team: async () => ({ agents: [...(await directory.all())] }),
    async putTeam({ body: { forgotten, timeZone, ...team } }) {
      // A page without agents sends its team too.
      if (team.agents.length > 0) {
        await onTeam();
        if (timeZone !== undefined && !(await directory.isAnnounced())) await beginsIn(timeZone);
      }
      await directory.set(team);
      // An agent of the team is never forgotten, whatever the page sends.
      await onForgotten(forgotten.filter((agentId) => !team.agents.some((agent) => agent.agentId === agentId)));
      return null;
    },
  });
}

const SEAT = /^(?:seat\s*)?([1-9])$/i;

/** The reference as it can be quoted in a sentence. */
const shownReference = (wanted: string) => inOneLine(wanted, NAME_MAX).replaceAll('”', '’');

const called = ({ name, position, agentId }: TeamMember) =>
  `${name}${position === null ? '' : ` (seat ${seatNumber(position)})`}, id ${agentId}`;

/**
 * Finds one member by id, name (compared as it looks) or seat. If several match, the answer asks to
 * choose one. Pure.
 */
export function findMember(members: readonly TeamMember[], reference: string): Awaited<ReturnType<Directory['find']>> {
  const name = reference.trim().replace(/^@/, '');
  const activeMembers = members.filter((member) => !member.retired);
  const seat = SEAT.exec(name);
  const byId = members.filter((member) => member.agentId === name);
  const inSeat = (member: TeamMember) =>
    seat !== null && member.position !== null && seatNumber(member.position) === Number(seat[1]);
  const matches =
    byId.length > 0 ? byId : activeMembers.filter((member) => isSameName(member.name, name) || inSeat(member));
  const [match, ...others] = matches;
  const shownName = shownReference(name);
  if (match && others.length > 0)
    return {
      ok: false,
      reason: `There are several called “${shownName}”: ${matches.map(called).join('; ')}. Use the id.`,
    };
  if (match?.retired || (!match && members.some((member) => isSameName(member.name, name))))
    return { ok: false, reason: `${match?.name ?? shownName} is retired, and no longer reads messages.` };
  if (match) return { ok: true, agent: match };
  const alike = alikeOf(activeMembers);
  const names = activeMembers.map((member) =>
    alike.has(member.agentId) && member.position !== null
      ? `${member.name} (seat ${seatNumber(member.position)})`
      : member.name,
  );
  return {
    ok: false,
    reason: `There is no agent called “${shownName}” here. ${names.length > 0 ? `There are: ${names.join(', ')}.` : 'The relay knows of nobody yet.'}`,
  };
}

export interface DirectoryDeps extends HomeStore {
  readonly tell: (event: RoostEvent) => void;
  /** In ms since the epoch. */
  readonly now: () => number;
  /** Left out: a failure is thrown. */
  readonly setAside?: SetAside;
  /** Tells what other processes of the home have changed. Left out: there are none. */
  readonly log?: Pick<EventLog, 'subscribe'>;
}

const kindOf = (agentId: AgentId) => (agentId === LEAD_ID ? 'lead' : 'agent');

export function createDirectory({ db, home, tell, now, setAside = SETS_NOTHING_ASIDE, log }: DirectoryDeps): Directory {
  async function read(): Promise<readonly TeamMember[]> {
    const rows = await db
      .selectFrom('agents')
      .selectAll()
      .where('home', '=', home)
      .orderBy('position')
      .orderBy('agent_json')
      .execute();
    const members = setAside.read(
      'agents',
      rows,
      (row) => row.agent_json,
      (row) => ({
        agentId: parseText(row.agent_json),
        name: shownName(parseText(row.name_json), kindOf(parseText(row.agent_json))),
        position: row.position,
        retired: row.retired,
      }),
    );
    // The lead exists even before a page has reported it.
    return members.some((member) => member.agentId === LEAD_ID)
      ? members
      : [...members, { agentId: LEAD_ID, name: 'Lead', position: LEAD_POSITION, retired: false }];
  }

  /** Cached, because every tool call reads it. */
  const loadedMembers = keepLoaded(read);
  const all = loadedMembers.get;
  log?.subscribe(({ event }) => {
    if (event.kind === 'changed' && event.what === 'team') loadedMembers.forget();
  });

  return {
    all,
    isAnnounced: async () =>
      (await db.selectFrom('agents').select('home').where('home', '=', home).limit(1).executeTakeFirst()) !== undefined,
    find: async (reference) => findMember(await all(), reference),
    async set({ agents }: Team) {
      const rows = [...new Map(agents.map((agent) => [agent.agentId, agent])).values()].map((agent) => ({
        home,
        agent_json: JSON.stringify(agent.agentId),
        name_json: JSON.stringify(agent.name),
        position: agent.position,
        retired: agent.retired,
      }));
      await db.transaction().execute(async (trx) => {
        await trx.deleteFrom('agents').where('home', '=', home).execute();
        if (rows.length > 0) await trx.insertInto('agents').values(rows).execute();
      });
      loadedMembers.forget();
      tell({ kind: 'changed', time: now(), what: 'team', agentId: null });
    },
  };
}

/** The agent named in a URL by id, name or seat. Throws a 404 if none or several match. */
export async function agentIdIn(directory: Pick<Directory, 'all'>, called: string): Promise<string> {
  const members = await directory.all();
  // A retired agent's id is accepted too: its data can still be viewed.
  if (members.some(({ agentId }) => agentId === called)) return called;
  const found = findMember(members, called);
  if (!found.ok) throw problem(404, 'unknown-agent', found.reason);
  return found.agent.agentId;
}
