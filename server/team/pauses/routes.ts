/** The calls that pause and resume an agent. */
import type { Context } from 'hono';
import type { AgentId, SessionId } from '../../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../../src/shared/domain/seat.ts';
import type { Given } from '../../../src/shared/protocol/endpoints/endpoint.ts';
import { pauseEndpoints } from '../../../src/shared/protocol/endpoints/team.ts';
import type { Sleeping } from '../../../src/shared/protocol/team.ts';
import type { WakeDecision, WakeSource } from '../../../src/shared/protocol/wakes.ts';
import type { Directory, Pauses } from '../../contracts/index.ts';
import { answer, refuseWithout, type Env, type Handled } from '../../http/endpoint.ts';
import { problem } from '../../http/problem.ts';

/** In the path, for the session that runs: who calls from outside need not ask for its id first. */
const CURRENT = 'current';

type Addressed = Given<typeof pauseEndpoints.sleeping>;

export interface PauseRoutesDeps {
  readonly pauses: Pick<Pauses, 'get' | 'set'>;
  readonly directory: Pick<Directory, 'find'>;
  /** Of the running session; null where none runs. */
  readonly sessionId: () => string | null;
  /**
   * Who calls: the person, by the page's cookie, or, as kind `api`, whoever has a credential with
   * which it may do this to this agent. Throws a problem for everybody else.
   */
  readonly callerOf: (context: Context, agentId: AgentId) => Promise<WakeSource>;
  /** Asks the gate and, where it lets it pass, wakes. */
  readonly wake: (agentId: AgentId, source: WakeSource) => Promise<Pick<WakeDecision, 'outcome' | 'detail'>>;
}

export function createPauseRoutes({
  pauses,
  directory,
  sessionId: runningId,
  callerOf,
  wake,
}: PauseRoutesDeps): readonly Handled[] {
  function unknown(): never {
    throw problem(404, 'unknown', 'There is no such session, or this agent is not in it.');
  }

  /**
   * Agents by id, name or seat, as everywhere else. What nobody is called stays as it is, and is
   * unknown later.
   */
  async function addressed({
    sessionId: session,
    agentId: called,
  }: Addressed): Promise<readonly [sessionId: string, agentId: string]> {
    const found = await directory.find(called);
    return [session === CURRENT ? (runningId() ?? unknown()) : session, found.ok ? found.agent.agentId : called];
  }
  /** The lead is in every session, and never set to sleep. */
  const flagOf = (sessionId: SessionId, agentId: AgentId) =>
    pauses.get(sessionId, agentId) ?? (agentId === LEAD_ID && sessionId === runningId() ? false : unknown());

  async function read(given: Addressed, context: Context): Promise<Sleeping> {
    const [sessionId, agentId] = await addressed(given);
    await callerOf(context, agentId);
    return { sleeping: flagOf(sessionId, agentId) };
  }

  async function write(given: Given<typeof pauseEndpoints.putSleeping>, context: Context<Env>): Promise<Sleeping> {
    const asked = given.body;
    refuseWithout(context, asked.sleeping ? 'sleep' : 'wake');
    const [sessionId, agentId] = await addressed(given);
    const source = await callerOf(context, agentId);
    const before = flagOf(sessionId, agentId);
    // Not set and waited for: it may be set by another call in this moment, and that one is not
    // undone without the gate.
    if (!before && !asked.sleeping) return { sleeping: false };
    if (agentId === LEAD_ID)
      throw problem(
        409,
        'lead',
        'The lead cannot be set to sleep: the team is reached through it. Ending the session lets everybody sleep.',
      );
    if (!asked.sleeping) {
      const { outcome, detail } = await wake(agentId, source);
      if (outcome !== 'granted') throw problem(409, 'not-woken', detail);
    }
    const sleeping =
      (await pauses.set(sessionId, agentId, asked.sleeping, source.kind === 'api' ? source.name : 'human')) ??
      unknown();
    return { sleeping };
  }

  return answer(pauseEndpoints, { sleeping: read, putSleeping: write, postSleeping: write });
}
