/** Named groups of agents. Loaded with the dialog and the palette, which need them. */
import { type ChangeKind, displayName, type Roster } from '../../shared/domain/agent.ts';
import type { AgentId } from '../../shared/domain/ids.ts';
import {
  type AgentGroup,
  groupOf,
  GROUPS,
  isSeatPosition,
  seatNumber,
  type SeatPosition,
} from '../../shared/domain/seat.ts';
import { spoken, t } from '../language/t.ts';
import type { RoostState } from './index.ts';
import type { Done } from './attempt.ts';
import { selfOf } from './devices.ts';
import { createWriter, writeChange } from './documents.ts';
import type { HouseholdState } from './household.ts';

// Moves agents between seats. Loaded on first use.

/**
 * The changes that give an agent this seat. The agent who sits there takes the one it leaves.
 * `position` null: no seat.
 */
export function seatChanges(
  { seats, byId }: Roster,
  agentId: AgentId,
  position: number | null,
): readonly { readonly agentId: AgentId; readonly change: ChangeKind }[] {
  const there = isSeatPosition(position) ? seats.get(position) : undefined;
  const from = byId.get(agentId)?.position ?? null;
  if (there?.agentId === agentId) return [];
  return [
    { agentId, change: { kind: 'seat', position } },
    ...(there ? [{ agentId: there.agentId, change: { kind: 'seat', position: from } as const }] : []),
  ];
}

/** Is an agent hatching there? Then the seat is taken. */
export const isHatching = ({ live }: Pick<RoostState, 'live'>, position: SeatPosition): boolean =>
  live.store.getState().live?.births.has(position) ?? false;

/**
 * Gives an agent this seat. The agent who sits there takes the one it leaves. A notice reports the
 * outcome and offers an undo. True: it sits there now.
 */
export async function moveToSeat(roost: RoostState, agentId: AgentId, position: SeatPosition): Promise<boolean> {
  const { actions, household, notices } = roost;
  const { roster } = household.store.getState();
  const agent = roster.byId.get(agentId);
  const from = agent?.position ?? null;
  if (!agent || from === position) return false;
  const other = roster.seats.get(position);
  if (isHatching(roost, position) || (other && isSeatPosition(from) && isHatching(roost, from))) {
    notices.info(t`Somebody is being born in that seat. ${displayName(agent, roster)} stays.`);
    return false;
  }
  const done = await actions.changeAgents(seatChanges(roster, agentId, position));
  if (!done.ok) {
    notices.error(t`Could not save this. ${done.reason}`);
    return false;
  }
  const name = displayName(agent, roster);
  const back = [
    { agentId, change: { kind: 'seat', position: from } as const },
    ...(other ? [{ agentId: other.agentId, change: { kind: 'seat', position } as const }] : []),
  ];
  notices.info(
    other
      ? t`${name} and ${displayName(other, roster)} changed places: ${name} has seat ${seatNumber(position)} now.`
      : t`${name} has seat ${seatNumber(position)} now.`,
    { label: t`Undo`, run: () => void actions.changeAgents(back) },
  );
  return true;
}

interface GroupRecord {
  readonly id: string;
  readonly key: string;
  readonly value: unknown;
  readonly at: string;
}

/** By name. The newest version of each group by (stamp, id), in whatever order they arrive. */
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

/** Groups, sorted by name. */
export const groupsIn = ({ settingDocs }: Pick<HouseholdState, 'settingDocs'>): readonly AgentGroup[] =>
  groupsOf([...settingDocs.values()].map((doc) => ({ ...doc, id: doc._id })));

const groupDoc = ({ clock, device, devices }: RoostState, group: AgentGroup) =>
  createWriter({
    clock,
    newId: device.newId,
    now: device.now,
    deviceId: () => selfOf(devices.store.getState()),
  }).group(group);

/** Writes the group as it is; without members it is removed. */
export const writeGroup = (roost: RoostState, group: AgentGroup): Promise<Done> =>
  writeChange(roost, () => [groupDoc(roost, group)]);

/**
 * Saves a group of agents under a name; without an id, a new one. Reports a name that is taken or
 * empty.
 */
export async function storeGroup(
  roost: RoostState,
  {
    groupId = roost.device.newId(),
    name: wanted,
    agentIds,
  }: { readonly groupId?: string; readonly name: string; readonly agentIds: readonly AgentId[] },
): Promise<Done> {
  const name = wanted.replace(/\s+/g, ' ').trim();
  if (name === '') return { ok: false, reason: t`It needs a name.` };
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

/** A notice offers an undo. */
export async function removeGroup(roost: RoostState, group: AgentGroup): Promise<void> {
  const { notices } = roost;
  const removed = await writeGroup(roost, { ...group, agentIds: [] });
  if (!removed.ok) return notices.error(t`Could not do this. ${removed.reason}`);
  notices.info(t`The group “${group.name}” is removed. Nobody in it is changed.`, {
    label: t`Undo`,
    run: () => void writeGroup(roost, group),
  });
}
