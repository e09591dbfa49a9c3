/**
 * Groups of agents that the person has named. Fetched with the dialog and the palette, which need
 * them.
 */
import { type AgentGroup, groupOf, GROUPS } from '../../shared/domain/seat.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import { spoken } from '../language/catalogue.ts';
import { t } from '../language/t.ts';
import type { Done } from './attempt.ts';
import { selfOf } from './devices.ts';
import { createWriter } from './documents.ts';
import type { HouseholdState } from './household.ts';
import type { RoostState } from './index.ts';
import { writeChange } from './write-change.ts';

interface GroupRecord {
  readonly id: string;
  readonly key: string;
  readonly value: unknown;
  readonly at: string;
}

/** By name: of each group the newest by (stamp, id), in whatever order they came. */
export function groupsOf(records: readonly GroupRecord[]): readonly AgentGroup[] {
  const newest = new Map<string, { readonly record: GroupRecord; readonly group: AgentGroup }>();
  for (const record of records) {
    const group = groupOf(record);
    const held = newest.get(record.key)?.record;
    if (group && (!held || record.at > held.at || (record.at === held.at && record.id > held.id)))
      newest.set(record.key, { record, group });
  }
  return [...newest.values()]
    .flatMap(({ group }) => (group.agentIds.length > 0 ? [group] : []))
    .sort((a, b) => a.name.localeCompare(b.name, spoken.language) || (a.groupId < b.groupId ? -1 : 1));
}

/** By name. */
export const groupsIn = ({ settingDocs }: Pick<HouseholdState, 'settingDocs'>): readonly AgentGroup[] =>
  groupsOf([...settingDocs.values()].map((doc) => ({ ...doc, id: doc._id })));

const groupDoc = ({ clock, device, devices }: RoostState, group: AgentGroup) =>
  createWriter({
    clock,
    newId: device.newId,
    now: device.now,
    deviceId: () => selfOf(devices.store.getState()),
  }).group(group);

/** As it is; without anybody it is removed. */
export const writeGroup = (roost: RoostState, group: AgentGroup): Promise<Done> =>
  writeChange(roost, () => [groupDoc(roost, group)]);

/**
 * Keeps a group of agents under a name; without an id a new one. Where its name is taken, or none,
 * it says so.
 */
export async function keepGroup(
  roost: RoostState,
  {
    groupId = roost.device.newId(),
    name: wanted,
    agentIds,
  }: { readonly groupId?: string; readonly name: string; readonly agentIds: readonly AgentId[] },
): Promise<Done> {
  const name = wanted.replace(/\s+/g, ' ').trim();
  if (name === '') return { ok: false, reason: t`Give the group a name.` };
  if (name.length > GROUPS.name) return { ok: false, reason: t`A name has at most ${GROUPS.name} characters.` };
  if (agentIds.length === 0) return { ok: false, reason: t`Mark who is in it.` };
  return writeChange(roost, () => {
    const taken = groupsIn(roost.household.store.getState()).some(
      (group) => group.groupId !== groupId && group.name.toLowerCase() === name.toLowerCase(),
    );
    if (taken) return { ok: false, reason: t`There is a group called “${name}” already.` };
    return [groupDoc(roost, { groupId, name, agentIds })];
  });
}

/** It can be undone. */
export async function removeGroup(roost: RoostState, group: AgentGroup): Promise<void> {
  const { notices } = roost;
  const removed = await writeGroup(roost, { ...group, agentIds: [] });
  if (!removed.ok) return notices.error(t`“${group.name}” could not be removed: ${removed.reason}`);
  notices.info(t`The group “${group.name}” is removed. Nobody in it is changed.`, {
    label: t`Undo`,
    run: () => void writeGroup(roost, group),
  });
}
