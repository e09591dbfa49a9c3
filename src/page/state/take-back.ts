/**
 * The way back of one line of the log: it sets what stood there before, as a change of its own.
 * Fetched with the page that shows the log.
 */
import { withFields } from '../archive/index.ts';
import { isSettingValue, type SettingKey, type Settings } from '../../shared/domain/settings.ts';
import { t } from '../language/t.ts';
import { agentConfigSchema, householdConfigSchema } from '../../shared/protocol/config.ts';
import { pricesSchema } from '../../shared/protocol/costs.ts';
import { attachedOf } from './attached.ts';
import { doneOf, type Done } from './attempt.ts';
import type { Logged, PersonsChange } from './change-log.ts';
import { costQueriesOf } from './costs.ts';
import { keepGroup, writeGroup } from './groups.ts';
import type { RoostState } from './index.ts';
import { reachQueries } from './reach-queries.ts';
import { schedulesOf } from './schedules.ts';
import { seatChanges } from './seats.ts';

type Of<Kind extends PersonsChange['kind']> = Extract<PersonsChange, { readonly kind: Kind }>;

const saveSetting = ({ actions }: RoostState, key: SettingKey, value: unknown): Promise<Done> =>
  isSettingValue(key, value)
    ? // `isSettingValue` has looked whether it is one of this key.
      actions.saveSetting(key, value as Settings[typeof key])
    : Promise.resolve({ ok: false, reason: t`What stood there before cannot be set any more.` });

/** What else was set of the same one since stays. */
async function backFields(roost: RoostState, { kind, agentId, fields }: Of<'limits' | 'prices'>): Promise<Done> {
  const set = fields.map(({ field, before }) => [field, before] as const);
  if (kind === 'prices') {
    const known = await roost.reach((client) => client.prices());
    if (!known.ok) return doneOf(known);
    return costQueriesOf(roost).setPrices(pricesSchema.parse(withFields('prices', known.value, set)).prices);
  }
  const config = (now: unknown): unknown => Reflect.get(Object(withFields('limits', { config: now }, set)), 'config');
  return doneOf(
    agentId === null
      ? await roost.limits.change((now) => householdConfigSchema.parse(config(now)))
      : await reachQueries(roost)
          .limits(agentId)
          .change((now) => agentConfigSchema.parse(config(now))),
  );
}

async function backSchedule(roost: RoostState, { before, after, scheduleId }: Of<'schedule'>): Promise<Done> {
  if (before === null || before.removed)
    return doneOf(await roost.reach((client) => client.removeSchedule({ scheduleId })));
  // What was taken away comes back as a new one.
  const saved = await schedulesOf(roost).save(after.removed ? null : scheduleId, before.schedule);
  return saved.ok ? saved : { ok: false, reason: saved.reason ?? Object.values(saved.fields).join(' ') };
}

function backAttached(roost: RoostState, { before, after, serverId }: Of<'attached'>): Promise<Done> {
  return attachedOf(roost).change((client) => {
    if (before === null || before.removed) return client.detach({ serverId });
    const { agents } = before;
    const tools = Object.entries(after.tools).map(([name, { hash }]) => {
      const was = Object.hasOwn(before.tools, name) ? before.tools[name] : undefined;
      return { name, hash, use: was?.hash === hash && was.use };
    });
    return client.changeAttached({ serverId, body: { agents, tools } });
  });
}

/**
 * Sets what was there before. Of limits and prices only what was set then: what was set besides
 * since stays.
 */
export async function takeBack(roost: RoostState, { change }: Logged): Promise<Done> {
  const { actions, household } = roost;
  switch (change.kind) {
    case 'setting':
      return saveSetting(roost, change.key, change.before);
    case 'choice':
      return actions.choose(change.agentId, { [change.key]: change.before });
    case 'rename':
      return actions.changeAgent(change.agentId, [{ kind: 'rename', name: change.before }]);
    case 'seat':
      return actions.changeAgents(seatChanges(household.store.getState().roster, change.agentId, change.before));
    case 'retire':
      return actions.changeAgent(change.agentId, [{ kind: 'return' }]);
    case 'return':
      return actions.changeAgent(change.agentId, [{ kind: 'retire' }]);
    case 'group':
      return change.before === null
        ? writeGroup(roost, { ...change.after, agentIds: [] })
        : change.before.agentIds.length === 0
          ? writeGroup(roost, change.before)
          : keepGroup(roost, change.before);
    case 'limits':
    case 'prices':
      return backFields(roost, change);
    case 'schedule':
      return backSchedule(roost, change);
    case 'attached':
      return backAttached(roost, change);
    default:
      return change satisfies never;
  }
}
