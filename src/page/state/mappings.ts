/** Routines on projects as the page shows and sets them. */
import type { z } from 'zod';
import type { AgentId, ProjectId } from '../../shared/domain/ids.ts';
import type { changeMappingSchema, createMappingSchema, Mapping } from '../../shared/protocol/routine-mappings.ts';
import type { ScheduleOf } from '../../shared/protocol/schedules.ts';
import { t } from '../language/t.ts';
import { overNewest } from './documents.ts';
import type { RoostState } from './index.ts';
import { onePerPage } from './per-page.ts';
import { problemText } from './ports.ts';
import { createQueryFamily, type Query, relayQuery } from './query.ts';
import { mapResult } from './call-relay.ts';
import { schedulesOf } from './schedules.ts';

export type MappingFields = Omit<z.input<typeof changeMappingSchema>, 'version'>;
type NewMapping = z.input<typeof createMappingSchema>;

/** `clash`: the mapping as it is now, where it was changed elsewhere and nothing was saved. */
export type MappingOutcome =
  | { readonly ok: true }
  | { readonly ok: false; readonly reason: string; readonly clash: Mapping | null };

export interface Mappings {
  /** The routines of an agent on a project, oldest first. */
  of(projectId: ProjectId, agentId: AgentId): Query<readonly Mapping[]>;
  add(projectId: ProjectId, agentId: AgentId, given: NewMapping): Promise<MappingOutcome>;
  /** Creates the routine, too. Where the project refuses it, it is removed again. */
  addNew(projectId: ProjectId, routine: ScheduleOf<'routine'>, fields: MappingFields): Promise<MappingOutcome>;
  /** Changes these fields of `base`, the mapping from which the change was made. */
  change(base: Mapping, fields: MappingFields): Promise<MappingOutcome>;
  /** A notice offers an undo, or reports a refusal. */
  remove(mapping: Mapping): Promise<void>;
}

function createMappings(roost: RoostState): Mappings {
  const { callRelay, changes, device, notices } = roost;
  const family = createQueryFamily((key: string) => {
    const [projectId = '', agentId = ''] = JSON.parse(key) as readonly string[];
    return relayQuery<readonly Mapping[]>(
      { callRelay, changes, device },
      ['schedules', 'projects'],
      async (client) => mapResult(await client.mappings({ projectId, agentId }), ({ mappings }) => mappings),
      { agentId },
    );
  });
  const of = (projectId: ProjectId, agentId: AgentId) => family(JSON.stringify([projectId, agentId]));

  async function add(projectId: ProjectId, agentId: AgentId, body: NewMapping): Promise<MappingOutcome> {
    const made = await callRelay((client) => client.createMapping({ projectId, agentId, body }));
    await of(projectId, agentId).again();
    return made.ok ? { ok: true } : { ok: false, reason: problemText(made.problem), clash: null };
  }

  return {
    of,
    add,
    async addNew(projectId, routine, fields) {
      const saved = await schedulesOf(roost).save(null, routine);
      if (!saved.ok) {
        const reason = saved.reason ?? Object.values(saved.fields)[0] ?? '';
        return { ok: false, reason, clash: null };
      }
      const { scheduleId } = saved.scheduled;
      const added = await add(projectId, routine.agentId, { ...fields, routineId: scheduleId });
      if (!added.ok) await callRelay((client) => client.removeSchedule({ scheduleId }));
      return added;
    },
    async change(base, fields) {
      const { projectId, agentId, mappingId } = base;
      const isSame = (one: Mapping) =>
        Object.keys(fields).every(
          (name) => JSON.stringify(Reflect.get(one, name)) === JSON.stringify(Reflect.get(base, name)),
        );
      const result = await overNewest(base, (now) =>
        isSame(now)
          ? callRelay((client) =>
              client.changeMapping({ projectId, agentId, mappingId, body: { ...fields, version: now.version } }),
            )
          : null,
      );
      await of(projectId, agentId).again();
      if ('clash' in result) return { ok: false, reason: '', clash: result.clash };
      return result.ok ? { ok: true } : { ok: false, reason: problemText(result.problem), clash: null };
    },
    async remove({ projectId, agentId, mappingId, name, routineId, columnIds, toolOverrides, separate }) {
      const removed = await callRelay((client) => client.removeMapping({ projectId, agentId, mappingId }));
      await of(projectId, agentId).again();
      if (!removed.ok) return notices.refused(removed.problem);
      notices.info(t`“${name}” no longer works on this project.`, {
        label: t`Undo`,
        run: () =>
          void add(projectId, agentId, { routineId, columnIds, toolOverrides, separate }).then((back) => {
            if (!back.ok) notices.info(back.reason);
          }),
      });
    },
  };
}

/** One instance per page. */
export const mappingsOf = onePerPage(createMappings);
