/**
 * Groups of agents that the person has named: to mark them together, to keep what is marked as one,
 * to change and remove one.
 */
import { useId, useMemo, useState, type SubmitEvent } from 'react';
import type { Agent } from '../../../shared/domain/agent.ts';
import { type AgentGroup, GROUPS } from '../../../shared/domain/seat.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { t } from '../../language/t.ts';
import { groupsIn, keepGroup, removeGroup } from '../../state/groups.ts';
import { useHousehold, useRoost } from '../context.tsx';
import './groups.css';

interface MarksProps {
  /** Who sleeps and can be marked. */
  readonly able: readonly Agent[];
  readonly marked: ReadonlySet<string>;
  readonly onMark: (group: AgentGroup, agentIds: readonly AgentId[]) => void;
}

/** Of a group, in seat order, who is among these. */
const among = ({ agentIds }: AgentGroup, agents: readonly Agent[]) =>
  agents.filter(({ agentId }) => agentIds.includes(agentId)).map(({ agentId }) => agentId);
const isSame = (ids: readonly string[], marked: ReadonlySet<string>) =>
  ids.length === marked.size && ids.every((id) => marked.has(id));

function useGroups(): readonly AgentGroup[] {
  const settingDocs = useHousehold((state) => state.settingDocs);
  return useMemo(() => groupsIn({ settingDocs }), [settingDocs]);
}

/** A press on a group marks those of it who sleep, and nobody else. */
export function GroupMarks({ able, marked, onMark }: MarksProps) {
  const groups = useGroups();
  const roster = useHousehold((state) => state.roster);
  const shown = groups.filter(({ agentIds }) => agentIds.some((id) => roster.byId.has(id)));
  if (shown.length === 0) return null;
  return (
    <ul className="groups" aria-label={t`Your groups`}>
      {shown.map((group) => {
        const asleep = among(group, able);
        const here = group.agentIds.filter((id) => roster.byId.has(id)).length;
        return (
          <li key={group.groupId}>
            <button
              type="button"
              className="group-mark"
              aria-pressed={asleep.length > 0 && isSame(asleep, marked)}
              disabled={asleep.length === 0}
              onClick={() => onMark(group, asleep)}
            >
              <span dir="auto">{group.name}</span>{' '}
              <small>
                {asleep.length === here ? here : asleep.length === 0 ? t`awake` : t`${asleep.length} of ${here}`}
              </small>
            </button>
          </li>
        );
      })}
    </ul>
  );
}

interface NameProps {
  readonly name: string;
  /** Answers with what is wrong with it, or null. */
  readonly onKeep: (name: string) => Promise<string | null>;
  readonly onDone: () => void;
}

function NameForm({ name: before, onKeep, onDone }: NameProps) {
  const [name, setName] = useState(before);
  const [wrong, setWrong] = useState<string | null>(null);
  const id = useId();
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    void onKeep(name).then((problem) => {
      setWrong(problem);
      if (problem === null) onDone();
    });
  };
  return (
    <form className="group-name" onSubmit={submit}>
      <label htmlFor={id}>{t`Name of the group`}</label>
      <input
        id={id}
        className="field"
        value={name}
        maxLength={GROUPS.name}
        dir="auto"
        autoComplete="off"
        // The person has just asked for it.
        // eslint-disable-next-line jsx-a11y/no-autofocus
        autoFocus
        aria-invalid={wrong !== null}
        aria-describedby={`${id}-wrong`}
        onChange={({ target }) => setName(target.value)}
      />
      <button type="submit" className="ghost">{t`Keep`}</button>
      <button type="button" className="link-button" onClick={onDone}>{t`Cancel`}</button>
      <p id={`${id}-wrong`} role="alert" className="group-wrong">
        {wrong}
      </p>
    </form>
  );
}

interface KeepProps {
  readonly marked: readonly Agent[];
  /** The group that was marked last, by its id. */
  readonly last: string | null;
}

/**
 * What can be done with what is marked: keep it as a group, or change the one that it came from.
 */
export function KeepGroup({ marked, last }: KeepProps) {
  const roost = useRoost();
  const groups = useGroups();
  const [naming, setNaming] = useState<'new' | 'rename' | null>(null);
  const agentIds = marked.map(({ agentId }) => agentId);
  const isMarked = (group: AgentGroup) => isSame(among(group, marked), new Set(agentIds));
  // One that was just kept is what is marked, too.
  const from =
    groups.find(({ groupId }) => groupId === last) ??
    groups.find((group) => group.agentIds.length === agentIds.length && isMarked(group)) ??
    null;
  const same = from !== null && isMarked(from);
  const keep = (group: Parameters<typeof keepGroup>[1]) =>
    keepGroup(roost, group).then((done) => (done.ok ? null : done.reason));
  if (naming !== null)
    return (
      <NameForm
        name={naming === 'rename' ? (from?.name ?? '') : ''}
        onKeep={(name) => (naming === 'rename' && from ? keep({ ...from, name }) : keep({ name, agentIds }))}
        onDone={() => setNaming(null)}
      />
    );
  return (
    <div className="group-acts">
      {marked.length > 1 && !same && (
        <button
          type="button"
          className="link-button"
          onClick={() => setNaming('new')}
        >{t`Keep these ${marked.length} as a group…`}</button>
      )}
      {from && !same && marked.length > 0 && (
        <button
          type="button"
          className="link-button"
          onClick={() => void keep({ ...from, agentIds })}
        >{t`“${from.name}” is these ${marked.length} from now on`}</button>
      )}
      {from && same && (
        <>
          <button
            type="button"
            className="link-button"
            onClick={() => setNaming('rename')}
          >{t`Rename “${from.name}”…`}</button>
          <button
            type="button"
            className="link-button"
            onClick={() => void removeGroup(roost, from)}
          >{t`Remove the group`}</button>
        </>
      )}
    </div>
  );
}
