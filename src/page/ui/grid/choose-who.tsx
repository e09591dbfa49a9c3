/** The dialog that wakes only some agents, with named groups of them. */
import { type SubmitEvent, useId, useMemo, useState } from 'react';
import { type Agent, displayName } from '../../../shared/domain/agent.ts';
import { type AgentGroup, GROUPS } from '../../../shared/domain/seat.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { isPaused } from '../../state/live.ts';
import { t } from '../../language/t.ts';
import { groupsIn, storeGroup, removeGroup } from '../../state/groups.ts';
import { arrivingOf } from '../../state/devices.ts';
import { useActions, useDevices, useHousehold, useLive, useRoost } from '../context.tsx';
import { Dialog } from '../design/dialog.tsx';
import { useWakeCosts, type WakeCost } from '../preview/use-wake-cost.ts';
import { money, tokens } from '../text/money.ts';
import { Face } from './face.tsx';
import { useSleepers } from './hearth.tsx';
import './groups.css';
import './choose-who.css';

// Named groups of agents: select their members, save a selection as a group, change and remove
// groups.

interface MarksProps {
  /** Sleeping agents that can be selected. */
  readonly able: readonly Agent[];
  readonly marked: ReadonlySet<string>;
  readonly onMark: (group: AgentGroup, agentIds: readonly AgentId[]) => void;
}

/** The members of a group that are among these agents, in seat order. */
const among = ({ agentIds }: AgentGroup, agents: readonly Agent[]) =>
  agents.filter(({ agentId }) => agentIds.includes(agentId)).map(({ agentId }) => agentId);
const isSame = (ids: readonly string[], marked: ReadonlySet<string>) =>
  ids.length === marked.size && ids.every((id) => marked.has(id));

function useGroups(): readonly AgentGroup[] {
  const settingDocs = useHousehold((state) => state.settingDocs);
  return useMemo(() => groupsIn({ settingDocs }), [settingDocs]);
}

/** Pressing a group selects its sleeping members, and nobody else. */
function GroupMarks({ able, marked, onMark }: MarksProps) {
  const groups = useGroups();
  const roster = useHousehold((state) => state.roster);
  const shown = groups.filter(({ agentIds }) => agentIds.some((id) => roster.byId.has(id)));
  if (shown.length === 0) return null;
  return (
    <ul className="under-5 flex wrap gap-4" aria-label={t`Your groups`}>
      {shown.map((group) => {
        const asleep = among(group, able);
        const here = group.agentIds.filter((id) => roster.byId.has(id)).length;
        return (
          <li key={group.groupId}>
            <button
              type="button"
              className="group-mark no-fill rounded ink framed pad-3-5"
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
  /** Returns its error, or null. */
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
    <form className="group-name cluster gap-4 above-5" onSubmit={submit}>
      <label htmlFor={id}>{t`Name`}</label>
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
      <button type="submit" className="ghost">{t`Save`}</button>
      <button type="button" className="link-button" onClick={onDone}>{t`Cancel`}</button>
      <p id={`${id}-wrong`} role="alert" className="group-wrong danger">
        {wrong}
      </p>
    </form>
  );
}

interface KeepProps {
  readonly marked: readonly Agent[];
  /** The group that was selected last, by its id. */
  readonly last: string | null;
}

/** Saves the selection as a group, or changes the group that it came from. */
function KeepGroup({ marked, last }: KeepProps) {
  const roost = useRoost();
  const groups = useGroups();
  const [naming, setNaming] = useState<'new' | 'rename' | null>(null);
  const agentIds = marked.map(({ agentId }) => agentId);
  const isMarked = (group: AgentGroup) => isSame(among(group, marked), new Set(agentIds));
  // A group that was just saved counts as selected, too.
  const from =
    groups.find(({ groupId }) => groupId === last) ??
    groups.find((group) => group.agentIds.length === agentIds.length && isMarked(group)) ??
    null;
  const same = from !== null && isMarked(from);
  const keep = (group: Parameters<typeof storeGroup>[1]) =>
    storeGroup(roost, group).then((done) => (done.ok ? null : done.reason));
  if (naming !== null)
    return (
      <NameForm
        name={naming === 'rename' ? (from?.name ?? '') : ''}
        onKeep={(name) => (naming === 'rename' && from ? keep({ ...from, name }) : keep({ name, agentIds }))}
        onDone={() => setNaming(null)}
      />
    );
  return (
    <div className="group-acts cluster gap-4 above-5">
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

const costText = ({ tokens: many, microUsd }: WakeCost): string =>
  `${t`about ${tokens(many)} tokens`}${microUsd === null ? '' : `, ${money(microUsd)}`}`;

interface SleeperProps {
  readonly agent: Agent;
  readonly name: string;
  /** The cost of waking, or why it is not possible now. */
  readonly note: string;
  readonly late: boolean;
  readonly marked: boolean;
  readonly onWake: () => void;
  readonly onMark: (marked: boolean) => void;
}

function Sleeper({ agent: { agentId, color, face }, name, note, late, marked, onWake, onMark }: SleeperProps) {
  return (
    <li className="box line" data-asleep="true" style={{ '--c': color }}>
      <button
        type="button"
        className="choose-face plain-button fixed round pad-4"
        aria-label={t`Wake ${name}`}
        title={t`Wake ${name}`}
        disabled={late}
        onClick={onWake}
      >
        <Face agentId={agentId} face={face} color={color} awake={false} />
      </button>
      <label className="line apart gap-4 fill pad-block-3">
        <span>
          {name}
          <small className="block" id={`choose-${agentId}`}>
            {note}
          </small>
        </span>
        <input
          className="fixed"
          type="checkbox"
          aria-label={name}
          aria-describedby={`choose-${agentId}`}
          checked={marked}
          disabled={late}
          onChange={({ target }) => onMark(target.checked)}
        />
      </label>
    </li>
  );
}

/**
 * Wakes only some agents. Pressing a face wakes that agent; several can be selected and woken
 * together. The relay estimates the reading costs of each.
 */
export default function ChooseWho({ onClose }: { onClose: () => void }) {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const sleepers = useSleepers({ withPaused: true });
  const live = useLive((state) => state);
  const arriving = useDevices(arrivingOf);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [group, setGroup] = useState<string | null>(null);
  const able = sleepers.filter(({ agentId }) => !arriving.includes(agentId));
  const agents = able.filter(({ agentId }) => chosen.has(agentId));
  // An agent of the session that was put to sleep continues where it was and rereads nothing.
  const isRead = ({ agentId }: Agent) => !isPaused(live, agentId);
  const each = useWakeCosts(able.filter(isRead));
  const together = useWakeCosts(agents.filter(isRead));
  const wake = (called: readonly Agent[]) => {
    onClose();
    void actions.wake(called);
  };
  const noteOf = (agent: Agent): string => {
    if (arriving.includes(agent.agentId)) return t`on its way here`;
    if (isPaused(live, agent.agentId)) return t`Continues where it was`;
    const cost = each.of(agent.agentId);
    return cost ? costText(cost) : '';
  };
  return (
    <Dialog title={t`Who shall wake?`} onClose={onClose}>
      <GroupMarks
        able={able}
        marked={new Set(agents.map(({ agentId }) => agentId))}
        onMark={({ groupId }, agentIds) => {
          setGroup(groupId);
          setChosen(new Set(agentIds));
        }}
      />
      {sleepers.length === 0 && <p className="ink-3">{t`Nobody is asleep.`}</p>}
      <ul className="choose tiles under-6 stack gap-4">
        {sleepers.map((agent) => {
          const { agentId } = agent;
          return (
            <Sleeper
              key={agentId}
              agent={agent}
              name={displayName(agent, roster)}
              note={noteOf(agent)}
              late={arriving.includes(agentId)}
              marked={agents.includes(agent)}
              onWake={() => wake([agent])}
              onMark={(on) =>
                setChosen(new Set(on ? [...chosen, agentId] : [...chosen].filter((one) => one !== agentId)))
              }
            />
          );
        })}
      </ul>
      <div className="choose-act gap-4 cluster">
        <button type="button" className="solid" disabled={agents.length === 0} onClick={() => wake(agents)}>
          {agents.length === 0 ? t`Wake` : t`Wake ${agents.length}`}
        </button>
        <button
          type="button"
          className="ghost"
          onClick={() => setChosen(new Set(agents.length === able.length ? [] : able.map(({ agentId }) => agentId)))}
        >
          {agents.length === able.length ? t`Mark none` : t`Mark all`}
        </button>
        {together.all && (
          <p
            className="ink-2 text-2"
            role="status"
          >{t`To read, with the lead: ${costText(together.all)}. Answers cost extra.`}</p>
        )}
        {each.problem !== null && <p className="ink-2 text-2" role="status">{t`Cost unknown: ${each.problem}`}</p>}
      </div>
      <KeepGroup marked={agents} last={group} />
    </Dialog>
  );
}
