/** Groups of agents that are woken together. */
import { GROUPS, type AgentGroup } from '../../domain/groups.ts';
import type { AgentId } from '../../domain/ids.ts';
import { attempt, type Done, type Parts } from './parts.ts';

export interface GroupActions {
  /** Keeps a group of agents under a name; without an id a new one. Where its name is taken, or none, it says so. */
  keepGroup(group: {
    readonly groupId?: string;
    readonly name: string;
    readonly agentIds: readonly AgentId[];
  }): Promise<Done>;
  /** It can be undone. */
  removeGroup(group: AgentGroup): Promise<void>;
}

export function createGroupActions({ owner, device, writer, household, notices }: Parts): GroupActions {
  async function write(group: AgentGroup): Promise<Done> {
    const docs = [writer.group(group)];
    const written = await attempt(owner.call('append', docs));
    if (written.ok) household.take(docs);
    return written;
  }

  return {
    async keepGroup({ groupId = device.newId(), name: wanted, agentIds }) {
      const name = wanted.replace(/\s+/g, ' ').trim();
      if (name === '') return { ok: false, reason: 'Give the group a name.' };
      if (name.length > GROUPS.name) return { ok: false, reason: `A name has at most ${GROUPS.name} characters.` };
      if (agentIds.length === 0) return { ok: false, reason: 'Mark who is in it.' };
      const taken = household.store
        .getState()
        .groups.some((group) => group.groupId !== groupId && group.name.toLowerCase() === name.toLowerCase());
      if (taken) return { ok: false, reason: `There is a group called “${name}” already.` };
      return write({ groupId, name, agentIds });
    },
    async removeGroup(group) {
      const removed = await write({ ...group, agentIds: [] });
      if (!removed.ok) return notices.error(`“${group.name}” could not be removed: ${removed.reason}`);
      notices.info(`The group “${group.name}” is removed. Nobody in it is changed.`, {
        label: 'Undo',
        run: () => void write(group),
      });
    },
  };
}
