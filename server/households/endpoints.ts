/** All calls that one home answers. */
import type { Context } from 'hono';
import type { AgentId } from '../../src/shared/domain/ids.ts';
import type { WakeSource } from '../../src/shared/protocol/wakes.ts';
import { createCredentialRoutes, type Credentials, bearerOf } from '../access/index.ts';
import type { Attached } from '../tools/mcp-client/index.ts';
import { createAttachedRoutes } from '../tools/mcp-client/routes.ts';
import { createCallRoutes } from '../tools/calls/routes.ts';
import type { EventLog, Configs } from '../contracts/index.ts';
import { createCostRoutes } from '../team/costs/routes.ts';
import { createDirectoryRoutes } from '../team/directory/index.ts';
import type { Handled } from '../http/endpoint.ts';
import { createGateRoutes } from '../team/gate/index.ts';
import type { Hands } from '../tools/hands/index.ts';
import { createInboxRoutes } from '../team/inbox/index.ts';
import type { HomeModels } from '../agents/models/index.ts';
import { createModelRoutes } from '../agents/models/routes.ts';
import type { HomeNotifications } from '../notifications/index.ts';
import { createNotificationRoutes } from '../notifications/routes.ts';
import { createPauseRoutes } from '../team/pauses/index.ts';
import type { HomeRights } from '../access/owner-rights.ts';
import { problem } from '../http/problem.ts';
import type { AgentPrograms } from '../tools/acp/index.ts';
import { createProgramRoutes } from '../tools/acp/routes.ts';
import { createRecordRoutes } from '../team/records/routes.ts';
import { createPulses } from '../schedules/pulses.ts';
import type { Scripts } from '../schedules/index.ts';
import { createScheduleRoutes } from '../schedules/routes.ts';
import { createSearchRoutes } from '../team/searches/index.ts';
import type { Streams } from '../http/stream.ts';
import { createThreadRoutes } from '../team/threads/index.ts';
import type { Workspaces } from '../tools/workspaces/index.ts';
import { createWorkspaceRoutes } from '../tools/workspaces/routes.ts';
import { createSessionRoutes } from './session-routes.ts';
import type { StreamLimit } from './stream-limit.ts';
import type { Team } from './team.ts';

interface CallerDeps {
  readonly credentials: Pick<Credentials, 'check'>;
  readonly configs: Pick<Configs, 'agent'>;
}

/**
 * Who sets the sleeping flag: the person, an application, or an agent, which may set its own, and
 * others' where the person allows it. Throws a problem where an agent may not do this to another.
 */
const createCallerOf =
  ({ credentials, configs }: CallerDeps) =>
  async (context: Context, target: AgentId): Promise<WakeSource> => {
    const secret = bearerOf(context);
    const client = secret === null ? null : await credentials.check(secret);
    if (client === null) return { kind: 'person' };
    if (client.agentId === null) return { kind: 'api', name: client.label === '' ? 'an application' : client.label };
    if (
      client.agentId !== target &&
      !(await configs.agent(client.agentId)).effective.coordination.may_put_others_to_sleep
    )
      throw problem(
        403,
        'other-agent',
        'This credential is another agent’s. It may do this to others where the person allows it (Settings, under the agent’s limits).',
      );
    return { kind: 'api', name: client.agentId };
  };

export interface EndpointsDeps extends Pick<Hands, 'sandbox'> {
  readonly rights: HomeRights;
  readonly checkStreams: StreamLimit;
  /** ms since the epoch */
  readonly now: () => number;
}

export interface HomeParts {
  readonly team: Team;
  readonly log: EventLog;
  readonly streams: Streams;
  readonly workspaces: Workspaces;
  readonly attached: Attached;
  readonly programs: AgentPrograms;
  readonly notifications: HomeNotifications;
  readonly scripts: Scripts;
  readonly credentials: Credentials;
  readonly models: HomeModels;
  readonly onTeam: () => Promise<void>;
  readonly onForgotten: Parameters<typeof createDirectoryRoutes>[0]['onForgotten'];
  /** Of those parts that make their own. */
  readonly others: readonly Handled[];
}

export function endpointsOf(
  { sandbox, rights, checkStreams, now }: EndpointsDeps,
  parts: HomeParts,
): readonly Handled[] {
  const { team, credentials, workspaces } = parts;
  const { host, runs, inbox, directory, configs, gate, pauses, threads, costs, records, reach, schedules, copies } =
    team;
  const hands = { sandbox: sandbox.standing, rights };
  return [
    ...createSessionRoutes({ ...team, log: parts.log, streams: parts.streams, checkStreams }),
    ...createDirectoryRoutes({
      directory,
      beginsIn: configs.beginsIn,
      onTeam: parts.onTeam,
      onForgotten: parts.onForgotten,
    }),
    ...createInboxRoutes({ inbox }),
    ...createGateRoutes({ gate, configs, directory, pulses: createPulses({ schedules, copies, configs }) }),
    ...createPauseRoutes({
      pauses,
      directory,
      sessionId: () => host.sessionId(),
      callerOf: createCallerOf({ credentials, configs }),
      async wake(agentId, source) {
        const way = source.kind === 'person' ? 'person' : 'api';
        const asked = { target: agentId, source, way, reason: null, messageId: null, callerSession: null } as const;
        if (source.kind === 'person') return (await reach.ask(asked)).decision;
        // Within a minute it has its turn. Whatever else stops it, its caller is told.
        const { decision, waits, cleared } = await reach.clearFlag(asked, 'flood');
        return waits && (await cleared) ? { outcome: 'granted', detail: '' } : decision;
      },
    }),
    ...createThreadRoutes({ threads }),
    ...createSearchRoutes({ searches: team.searches }),
    ...createCredentialRoutes({ credentials, directory }),
    ...createCostRoutes({ costs, schedules, host, configs }),
    ...createRecordRoutes({ records }),
    ...createScheduleRoutes({
      ...{ schedules, goOn: team.goOn, copies, directory, runs, now, scripts: parts.scripts },
      startsWithoutPage: async () =>
        (await credentials.list()).some(({ scopes, revokedAt }) => revokedAt === null && scopes.includes('sessions')),
    }),
    ...createWorkspaceRoutes({ workspaces, directory }),
    ...createCallRoutes({ ...team, ...hands }),
    ...createModelRoutes({ models: parts.models }),
    ...createProgramRoutes({ programs: parts.programs }),
    ...createAttachedRoutes({ ...team, ...hands, attached: parts.attached }),
    ...createNotificationRoutes({ notifications: parts.notifications, rights }),
    ...parts.others,
  ];
}
