/** The log of the person's changes, as the page shows it. Loaded with the page that shows it. */
import { type AgentGroup, groupOf, isSeatPosition } from '../../shared/domain/seat.ts';
import { type ChoiceKey, choiceOf } from '../../shared/domain/choices.ts';
import type { AgentId, ScheduleId } from '../../shared/domain/ids.ts';
import { DEFAULT_SETTINGS, isSettingValue, type SettingKey, type Settings } from '../../shared/domain/settings.ts';
import { parseStamp } from '../../shared/domain/stamp.ts';
import type { McpServerRecord } from '../../shared/protocol/mcp.ts';
import type { Doc } from '../../shared/protocol/documents.ts';
import { isKnown } from '../../shared/protocol/documents/kinds.ts';
import { LIMITS } from '../../shared/protocol/limits.ts';
import { recordSchema, type RelayRecord } from '../../shared/protocol/records.ts';
import type { ScheduleRecord } from '../../shared/protocol/schedules.ts';
import type { ChangeLogView, LoggedChange } from '../../shared/protocol/worker.ts';
import { agentConfigSchema, householdConfigSchema } from '../../shared/protocol/config.ts';
import { pricesSchema } from '../../shared/protocol/costs.ts';
import { fieldsOf, pathOf, withFields } from '../exports/index.ts';
import { t } from '../language/t.ts';
import type { HouseholdState } from './household.ts';
import type { RoostState } from './index.ts';
import { mcpServersOf } from './mcp-servers.ts';
import { type Done, doneOf } from './attempt.ts';
import { costQueriesOf } from './costs.ts';
import { storeGroup, seatChanges, writeGroup } from './groups.ts';
import { wakeQueries } from './wakes.ts';
import { schedulesOf } from './schedules.ts';

/** Changes that are read at first, and at most. */
export const CHANGE_LOG = { page: 50, most: LIMITS.changeLog } as const;

/** One limit, budget, grant or price; undefined on either side: not set. */
export interface FieldChange {
  readonly field: string;
  /** Path of a limit within the configuration. */
  readonly path: readonly string[];
  readonly before: unknown;
  readonly after: unknown;
  /** The current value. */
  readonly now: unknown;
}

/** A change that can be undone by restoring the earlier value. */
type Values<Value> = { readonly before: Value; readonly after: Value };

export type PersonsChange =
  | ({ readonly kind: 'setting'; readonly key: SettingKey } & Values<unknown>)
  | ({ readonly kind: 'choice'; readonly agentId: AgentId; readonly key: ChoiceKey } & Values<string>)
  | ({ readonly kind: 'rename'; readonly agentId: AgentId } & Values<string>)
  | ({ readonly kind: 'seat'; readonly agentId: AgentId } & Values<number | null>)
  | { readonly kind: 'retire' | 'return'; readonly agentId: AgentId }
  /** `before` null: created. Without members on either side: removed, or created again. */
  | { readonly kind: 'group'; readonly before: AgentGroup | null; readonly after: AgentGroup }
  /** `agentId` null: the household's. */
  | {
      readonly kind: 'limits' | 'prices';
      readonly agentId: AgentId | null;
      readonly fields: readonly FieldChange[];
    }
  | {
      readonly kind: 'schedule';
      readonly agentId: AgentId;
      readonly scheduleId: ScheduleId;
      readonly before: ScheduleRecord | null;
      readonly after: ScheduleRecord;
    }
  | {
      readonly kind: 'mcp-server';
      readonly serverId: string;
      readonly before: McpServerRecord | null;
      readonly after: McpServerRecord;
    };

/**
 * Whether a change can be undone.
 *
 * - `can`: by one press.
 * - `since`: something else was set since, so the person is asked.
 * - `done`: the earlier value already holds.
 * - `first`: there was no earlier value.
 * - `seat-taken`: another agent has the seat.
 * - `there`: the name is taken.
 * - `secrets`: the required secrets were not stored.
 */
export type WayBack = 'can' | 'since' | 'done' | 'first' | 'seat-taken' | 'there' | 'secrets';

export interface Logged {
  readonly id: string;
  /** ms since the epoch. */
  readonly time: number;
  /** The device on which it was changed; null: unknown, or there was only one. */
  readonly device: string | null;
  readonly change: PersonsChange;
  readonly back: WayBack;
}

type Told = Pick<Logged, 'change' | 'back'>;
type Around = Pick<HouseholdState, 'roster' | 'identities' | 'records'>;

const isSame = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b);
const identityOf = ({ identities }: Around, agentId: AgentId) =>
  [...identities.values()].find((identity) => identity.agentId === agentId);

/** Compares a logged value with the current one. */
const wayOf = ({ before, after }: Values<unknown>, now: unknown): WayBack =>
  isSame(now, after) ? 'can' : isSame(now, before) ? 'done' : 'since';

/** The record that a document is a version of; null: none that this app can read. */
function recordOf(doc: Doc | null): RelayRecord | null {
  if (doc === null) return null;
  const record = recordSchema.safeParse({ type: doc.type, id: doc['recordId'], value: doc['value'] });
  return record.success ? record.data : null;
}

function ofFields(
  record: Extract<RelayRecord, { type: 'limits' | 'prices' }>,
  { before, holds }: LoggedChange,
  { roster }: Around,
): Told | null {
  const { type } = record;
  const agentId = record.type === 'limits' ? record.value.agentId : null;
  if (agentId !== null && !roster.byId.has(agentId)) return null;
  const [old, set, current] = [recordOf(before), record, recordOf(holds)].map((each) => fieldsOf(type, each));
  const fields = [...new Set([...(old?.keys() ?? []), ...(set?.keys() ?? [])])].flatMap((field): FieldChange[] => {
    const change = { before: old?.get(field), after: set?.get(field), now: current?.get(field) };
    return isSame(change.before, change.after)
      ? []
      : [{ field, path: type === 'limits' ? pathOf(field) : [], ...change }];
  });
  if (fields.length === 0) return null;
  const ways = fields.map((field) => wayOf(field, field.now));
  const back = ways.every((way) => way === 'done') ? 'done' : ways.includes('since') ? 'since' : 'can';
  return { change: { kind: type, agentId, fields }, back };
}

/**
 * The part of a routine or script that the log shows. The relay where it is due and its order are
 * left out.
 */
const own = (record: ScheduleRecord | null) => (record === null || record.removed ? null : record.schedule);

function ofSchedule(
  { id, value }: Extract<RelayRecord, { type: 'schedule' }>,
  { before, holds }: LoggedChange,
  { records, roster }: Around,
): Told | null {
  const was = recordOf(before);
  const old = was?.type === 'schedule' ? was.value : null;
  const { agentId, name } = value.schedule;
  // Creation and removal are shown. Moving it to another relay is not.
  if (isSame(own(old), own(value)) || !roster.byId.has(agentId)) return null;
  const held = recordOf(holds);
  const now = held?.type === 'schedule' ? held.value : null;
  const isThere = () =>
    [...records.values()].some((other) => {
      const record = other.type === 'schedule' ? recordOf(other) : null;
      if (record?.type !== 'schedule' || record.value.removed) return false;
      return record.value.schedule.agentId === agentId && record.value.schedule.name === name;
    });
  const way = wayOf({ before: own(old), after: own(value) }, own(now));
  const back = value.removed && way === 'can' && isThere() ? 'there' : way;
  return { change: { kind: 'schedule', agentId, scheduleId: id, before: old, after: value }, back };
}

/** The person's settings of an MCP server. */
const ofServer = (record: McpServerRecord | null) =>
  record === null || record.removed ? null : [record.where, record.agents, record.tools];

function ofMcpServer(
  { id, value }: Extract<RelayRecord, { type: 'attached-server' }>,
  { before, holds }: LoggedChange,
): Told | null {
  const was = recordOf(before);
  const old = was?.type === 'attached-server' ? was.value : null;
  if (isSame(ofServer(old), ofServer(value))) return null;
  const record = recordOf(holds);
  const now = record?.type === 'attached-server' ? record.value : null;
  const way = wayOf({ before: ofServer(old), after: ofServer(value) }, ofServer(now));
  const isElsewhere = old !== null && !old.removed && !isSame(old.where, value.where);
  const isGone = now === null || now.removed;
  const back = way !== 'done' && (value.removed || isElsewhere || isGone) ? 'secrets' : way;
  return { change: { kind: 'mcp-server', serverId: id, before: old, after: value }, back };
}

function ofSetting({ doc, before, holds }: LoggedChange, { roster }: Around): Told | null {
  if (!isKnown(doc) || doc.type !== 'setting') return null;
  const { key, value } = doc;
  const [was, now] = [before?.['value'], holds['value']];
  const choice = choiceOf(doc);
  if (choice) {
    const { agentId } = choice;
    const values = { before: typeof was === 'string' ? was : '', after: choice.value };
    if (values.before === values.after || !roster.byId.has(agentId)) return null;
    return { change: { kind: 'choice', agentId, key: choice.key, ...values }, back: wayOf(values, now) };
  }
  const group = groupOf(doc);
  if (group) {
    const old = before === null ? null : groupOf({ key, value: was });
    const held = groupOf({ key, value: now });
    const isGroup = (one: AgentGroup | null) => (one === null || one.agentIds.length === 0 ? null : one);
    const values = { before: isGroup(old), after: isGroup(group) };
    if (isSame(values.before, values.after)) return null;
    return { change: { kind: 'group', before: old, after: group }, back: wayOf(values, isGroup(held)) };
  }
  const setting = Object.keys(DEFAULT_SETTINGS).find((each): each is SettingKey => each === key);
  if (setting === undefined) return null;
  const isName = setting === 'humanName' || setting === 'leadName';
  const values = { before: before === null ? (isName ? undefined : DEFAULT_SETTINGS[setting]) : was, after: value };
  if (isSame(values.before, values.after)) return null;
  return {
    change: { kind: 'setting', key: setting, ...values },
    back: isName && before === null ? 'first' : wayOf(values, now),
  };
}

function ofAgent({ doc, before, holds }: LoggedChange, around: Around): Told | null {
  if (!isKnown(doc) || doc.type !== 'agent-change') return null;
  const { agentId, change } = doc;
  const identity = identityOf(around, agentId);
  const agent = around.roster.byId.get(agentId);
  if (!identity || !agent) return null;
  const changeOf = (one: Doc | null) => (one && isKnown(one) && one.type === 'agent-change' ? one.change : null);
  const [old, current] = [changeOf(before), changeOf(holds)];
  switch (change.kind) {
    case 'rename': {
      const values = { before: old?.kind === 'rename' ? old.name : identity.name, after: change.name };
      if (values.before === values.after) return null;
      return {
        change: { kind: 'rename', agentId, ...values },
        back: wayOf(values, current?.kind === 'rename' ? current.name : undefined),
      };
    }
    case 'seat': {
      const values = { before: old?.kind === 'seat' ? old.position : identity.position, after: change.position };
      if (values.before === values.after) return null;
      return {
        change: { kind: 'seat', agentId, ...values },
        back: wayOf(values, current?.kind === 'seat' ? current.position : undefined),
      };
    }
    case 'retire':
    case 'return': {
      const { position, retired } = agent;
      if (retired !== (change.kind === 'retire')) return { change: { kind: change.kind, agentId }, back: 'done' };
      const free = !retired || (isSeatPosition(position) && !around.roster.seats.has(position));
      return { change: { kind: change.kind, agentId }, back: free ? 'can' : 'seat-taken' };
    }
    case 'soul':
      return null;
    default:
      return change satisfies never;
  }
}

function toldOf(row: LoggedChange, around: Around): Told | null {
  const record = recordOf(row.doc);
  switch (record?.type) {
    case 'limits':
    case 'prices':
      return ofFields(record, row, around);
    case 'schedule':
      return ofSchedule(record, row, around);
    case 'attached-server':
      return ofMcpServer(record, row);
    default:
      return row.doc.type === 'setting' ? ofSetting(row, around) : ofAgent(row, around);
  }
}

/** A log row as the page shows it; null: nothing to show, or its agent is gone. */
export function loggedOf(row: LoggedChange, around: Around): Logged | null {
  const { doc } = row;
  const told = toldOf(row, around);
  if (!told) return null;
  const device = typeof doc['device'] === 'string' ? doc['device'] : null;
  return { id: doc._id, time: parseStamp(doc.at)?.time ?? 0, device, ...told };
}

/** At most `limit` changes, newest first. Rejects where the ledger cannot be read. */
export const readChangeLog = ({ dataWorker }: RoostState, limit: number): Promise<ChangeLogView> =>
  dataWorker.call('changeLog', { limit });

// Undoes one line of the log by writing the earlier value as a new change.

type Of<Kind extends PersonsChange['kind']> = Extract<PersonsChange, { readonly kind: Kind }>;

const saveSetting = ({ actions }: RoostState, key: SettingKey, value: unknown): Promise<Done> =>
  isSettingValue(key, value)
    ? // `isSettingValue` has checked that it is a value of this key.
      actions.saveSetting(key, value as Settings[typeof key])
    : Promise.resolve({ ok: false, reason: t`The earlier value can no longer be set.` });

/** Restores only these fields. Other fields changed since stay. */
async function backFields(roost: RoostState, { kind, agentId, fields }: Of<'limits' | 'prices'>): Promise<Done> {
  const set = fields.map(({ field, before }) => [field, before] as const);
  if (kind === 'prices') {
    const prices = await roost.callRelay((client) => client.prices());
    if (!prices.ok) return doneOf(prices);
    return costQueriesOf(roost).setPrices(
      pricesSchema.parse(withFields('prices', { prices: prices.value.prices }, set)).prices,
      prices.value.version,
    );
  }
  const config = (now: unknown): unknown => Reflect.get(Object(withFields('limits', { config: now }, set)), 'config');
  return doneOf(
    agentId === null
      ? await roost.limits.change((now) => householdConfigSchema.parse(config(now)))
      : await wakeQueries(roost)
          .limits(agentId)
          .change((now) => agentConfigSchema.parse(config(now))),
  );
}

async function backSchedule(roost: RoostState, { before, after, scheduleId }: Of<'schedule'>): Promise<Done> {
  if (before === null || before.removed)
    return doneOf(await roost.callRelay((client) => client.removeSchedule({ scheduleId })));
  // A removed schedule returns as a new one.
  const saved = await schedulesOf(roost).save(after.removed ? null : scheduleId, before.schedule);
  return saved.ok ? saved : { ok: false, reason: saved.reason ?? Object.values(saved.fields).join(' ') };
}

function backMcpServer(roost: RoostState, { before, after, serverId }: Of<'mcp-server'>): Promise<Done> {
  return mcpServersOf(roost).change((client) => {
    if (before === null || before.removed) return client.removeMcpServer({ serverId });
    const { agents } = before;
    const tools = Object.entries(after.tools).map(([name, { hash }]) => {
      const was = Object.hasOwn(before.tools, name) ? before.tools[name] : undefined;
      return { name, hash, use: was?.hash === hash && was.use };
    });
    return client.changeMcpServer({ serverId, body: { agents, tools } });
  });
}

/**
 * Restores the earlier value. Of limits and prices, only the fields of this change are restored.
 */
export async function withdrawChange(roost: RoostState, { change }: Logged): Promise<Done> {
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
          : storeGroup(roost, change.before);
    case 'limits':
    case 'prices':
      return backFields(roost, change);
    case 'schedule':
      return backSchedule(roost, change);
    case 'mcp-server':
      return backMcpServer(roost, change);
    default:
      return change satisfies never;
  }
}
