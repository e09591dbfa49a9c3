/**
 * What runs beside the relay for one home, ACP agents and attached servers, with all that they
 * are given of it.
 */
import { grantOf } from '../../src/shared/domain/toolsets.ts';
import { realTimers } from '../../src/shared/domain/platform/timers.ts';
import type { RoostEvent } from '../../src/shared/protocol/events.ts';
import type { Credentials } from '../access/index.ts';
import { createAttached, type Attached } from '../tools/mcp-client/index.ts';
import type { EventLog } from '../contracts/index.ts';
import type { Hands } from '../tools/hands/index.ts';
import { createAgentPrograms, type AgentPrograms, type AgentProgramsDeps } from '../tools/acp/index.ts';
import { createScripts, type Scripts } from '../schedules/index.ts';
import type { Workspaces } from '../tools/workspaces/index.ts';
import type { Team } from './team.ts';

type BesideDeps = Pick<
  AgentProgramsDeps,
  'db' | 'sealer' | 'processes' | 'starts' | 'address' | 'version' | 'now' | 'elapsed' | 'newId' | 'logger' | 'rights'
>;

interface Home {
  readonly id: string;
  readonly log: EventLog;
  readonly workspaces: Workspaces;
  readonly tell: (event: RoostEvent) => void;
  readonly team: () => Pick<Team, 'configs' | 'calls' | 'wakeMaterials' | 'host'>;
  readonly credentials: () => Pick<Credentials, 'lend'>;
}

export function openPrograms(deps: BesideDeps, { id, log, workspaces, tell, team, credentials }: Home): AgentPrograms {
  const { db, sealer, processes, starts, address, version, now, elapsed, newId, logger } = deps;
  return createAgentPrograms({
    ...{ db, home: id, sealer, log, workspaces, processes, starts, address, version, now, elapsed, newId, logger },
    rights: deps.rights,
    mostStarts: async () => (await team().configs.household()).effective.programs_at_once,
    chosenFor: async (agentId) => (await team().configs.agent(agentId)).effective.coordination.mind,
    mayUse: async (agentId, tool) =>
      grantOf((await team().configs.agent(agentId)).effective.coordination, tool) !== 'off',
    ask: (asked) => team().calls.leave(asked),
    note: (deed) => team().calls.note(deed),
    isEgg: (agentId) => (team().host.newborn(agentId)?.birth ?? null) !== null,
    talkOf: (agentId) => team().wakeMaterials.talkOf(agentId),
    lend: ({ agentId, ...run }, label) => credentials().lend(agentId, label, run),
    timers: realTimers,
    onChange: () => tell({ kind: 'changed', time: now(), what: 'programs', agentId: null }),
  });
}

export const openScripts = (
  { rights, sandbox }: Pick<BesideDeps, 'rights'> & Pick<Hands, 'sandbox'>,
  { workspaces }: Pick<Home, 'workspaces'>,
): Scripts => createScripts(workspaces, sandbox, rights);

export function openAttached(
  deps: BesideDeps & Pick<Hands, 'sandbox'>,
  { id, tell, team }: Pick<Home, 'id' | 'tell' | 'team'>,
): Attached {
  const { db, sealer, processes, sandbox, version, rights, now, elapsed, newId, logger } = deps;
  return createAttached({
    ...{ db, home: id, sealer, processes, sandbox, version, rights, now, elapsed, newId, logger },
    timers: realTimers,
    askPerson: (asked) => team().calls.askPerson(asked),
    onChange: () => tell({ kind: 'changed', time: now(), what: 'attached', agentId: null }),
  });
}
