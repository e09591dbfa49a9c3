/** The calls of the sleeping flag. `PUT` and `POST` do the same, so that plain tools can call it. */
import type { Context } from 'hono';
import { sleepingSchema, type Sleeping } from '../../src/protocol/team.ts';
import type { WakeDecision, WakeSource } from '../../src/protocol/wakes.ts';
import { readBody } from '../body.ts';
import type { Sleepers } from '../contracts.ts';
import { problem } from '../problem.ts';
import { idOf, type Routes } from '../route.ts';

export interface SleepingRoutesDeps {
  readonly sleepers: Pick<Sleepers, 'get' | 'set'>;
  /**
   * Who calls: the person, by the page's cookie, or this agent's own client, by its credential, as kind `api`. Throws
   * a problem where it is neither.
   */
  readonly callerOf: (context: Context, agentId: string) => Promise<WakeSource>;
  /** Asks the gate and, where it lets it pass, wakes. */
  readonly wake: (agentId: string, source: WakeSource) => Promise<Pick<WakeDecision, 'outcome' | 'detail'>>;
}

export function createSleepingRoutes({ sleepers, callerOf, wake }: SleepingRoutesDeps): Routes {
  function unknown(): never {
    throw problem(404, 'unknown', 'There is no such session, or this agent is not in it.');
  }

  async function read(context: Context): Promise<Response> {
    const [sessionId, agentId] = [idOf(context, 'sessionId'), idOf(context, 'agentId')];
    await callerOf(context, agentId);
    const sleeping = sleepers.get(sessionId, agentId) ?? unknown();
    return context.json({ sleeping } satisfies Sleeping);
  }

  async function write(context: Context): Promise<Response> {
    const [sessionId, agentId] = [idOf(context, 'sessionId'), idOf(context, 'agentId')];
    const source = await callerOf(context, agentId);
    const asked = await readBody(context, sleepingSchema);
    const before = sleepers.get(sessionId, agentId) ?? unknown();
    // Not set and waited for: it may be set by another call in this moment, and that one is not undone without the gate.
    if (!before && !asked.sleeping) return context.json({ sleeping: false } satisfies Sleeping);
    if (!asked.sleeping) {
      const { outcome, detail } = await wake(agentId, source);
      if (outcome !== 'granted') throw problem(409, 'not-woken', detail);
    }
    const sleeping = (await sleepers.set(sessionId, agentId, asked.sleeping, source.kind === 'person' ? 'human' : agentId)) ?? unknown();
    return context.json({ sleeping } satisfies Sleeping);
  }

  return (route) => route('/api/v1/sessions/:sessionId/:agentId/sleeping', { GET: read, PUT: write, POST: write });
}
