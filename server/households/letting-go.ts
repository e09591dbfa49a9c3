/**
 * What becomes of what an agent has left at the relay when it lives here no more, is retired, or
 * was forgotten.
 */
import type { AgentId } from '../../src/shared/domain/ids.ts';
import { LEAD_ID } from '../../src/shared/domain/seat.ts';
import type { Credentials } from '../access/index.ts';
import type { Calls } from '../tools/calls/index.ts';
import type { Directory, EventLog } from '../contracts/index.ts';
import { scopeOf, type OpenConfigs } from '../team/gate/index.ts';
import type { Logger } from '../platform/logger.ts';
import type { Copies } from '../schedules/copies.ts';
import { forgetTexts } from '../schedules/script-texts.ts';
import type { Schedules } from '../schedules/index.ts';
import type { Db } from '../store/index.ts';
import type { HandTools } from '../tools/hands/index.ts';
import type { Workspaces } from '../tools/workspaces/index.ts';

export interface LettingGoDeps {
  readonly log: Pick<EventLog, 'subscribe'>;
  readonly directory: Pick<Directory, 'all'>;
  readonly copies: Pick<Copies, 'keepOnly'>;
  readonly schedules: Pick<Schedules, 'stopAll'>;
  readonly calls: Pick<Calls, 'keepOnly' | 'forgetCallsOf'>;
  readonly workspaces: Pick<Workspaces, 'forget'>;
  readonly endCommandsOf: HandTools['endCommandsOf'];
  readonly credentials: Pick<Credentials, 'list' | 'revoke'>;
  readonly configs: Pick<OpenConfigs, 'changing'>;
  readonly db: Db;
  /** Names the home. */
  readonly home: string;
  readonly logger: Pick<Logger, 'error'>;
}

/** Follows the team. Answers what is to be called for those who were forgotten for good. */
export function letGoOfAgents(deps: LettingGoDeps): (agentIds: readonly AgentId[]) => Promise<void> {
  const {
    log,
    directory,
    copies,
    schedules,
    calls,
    workspaces,
    endCommandsOf,
    credentials,
    configs,
    db,
    home,
    logger,
  } = deps;

  /**
   * What somebody has left who lives here no more goes with them, and nothing is due for those who
   * are retired.
   */
  async function letGo(): Promise<void> {
    const members = await directory.all();
    const here = new Set(members.filter(({ retired }) => !retired).map(({ agentId }) => agentId));
    const gone = await copies.keepOnly(here);
    await calls.keepOnly(here);
    for (const agentId of gone)
      if (members.some((member) => member.agentId === agentId)) await schedules.stopAll(agentId);
  }
  log.subscribe(({ event }) => {
    if (event.kind !== 'changed' || event.what !== 'team') return;
    letGo().catch((error: unknown) =>
      logger.error('What an agent had left here could not be let go of; it is tried with the next change.', { error }),
    );
  });

  /**
   * What was set for them, and what waits or is due for them, is in no table any more; nobody plays
   * them.
   */
  async function forgetRows(agentId: AgentId): Promise<void> {
    for (const credential of await credentials.list())
      if (credential.agentId === agentId) await credentials.revoke(credential.credentialId);
    // Switched off first: the clock takes up nothing of it meanwhile.
    await schedules.stopAll(agentId);
    const scope = scopeOf(agentId);
    await configs.changing(scope, () =>
      db.deleteFrom('configs').where('home', '=', home).where('scope', '=', scope).execute(),
    );
    const scheduled = await db
      .selectFrom('schedules')
      .select('schedule')
      .where('home', '=', home)
      .where('agent_json', '=', JSON.stringify(agentId))
      .execute();
    await forgetTexts(
      db,
      home,
      scheduled.map(({ schedule }) => schedule),
    );
    const records = [scope, ...scheduled.map(({ schedule }) => schedule)].map((id) => JSON.stringify(id));
    await db.deleteFrom('asked_records').where('home', '=', home).where('record_json', 'in', records).execute();
    for (const table of ['credentials', 'inbox', 'occurrences', 'program_sessions', 'proposals', 'schedules'] as const)
      await db.deleteFrom(table).where('home', '=', home).where('agent_json', '=', JSON.stringify(agentId)).execute();
  }

  /**
   * The person asked for it twice and waited: of them nothing is left that a page, a program or a
   * folder would show.
   */
  return async (agentIds) => {
    for (const agentId of agentIds.filter((id) => id !== LEAD_ID))
      // Each by itself: what cannot be removed keeps nothing else.
      for (const remove of [
        () => endCommandsOf(agentId),
        () => forgetRows(agentId),
        () => calls.forgetCallsOf(agentId),
        () => workspaces.forget(agentId),
      ])
        try {
          await remove();
        } catch (error) {
          logger.error(
            'Something is left of a forgotten agent that could not be removed; it is tried when a page says so again.',
            { error },
          );
        }
  };
}
