import { useState } from 'react';
import { displayName, type Agent } from '../../../shared/domain/agent.ts';
import { t } from '../../language/t.ts';
import { arrivingOf } from '../../state/devices.ts';
import { useActions, useDevices, useHousehold, useLive } from '../context.tsx';
import { Dialog } from '../parts/dialog.tsx';
import { useWakeCosts, type WakeCost } from '../preview/use-wake-cost.ts';
import { money, tokens } from '../text/money.ts';
import { Face } from './face.tsx';
import { GroupMarks, KeepGroup } from './groups.tsx';
import { useSleepers } from './use-sleepers.ts';
import './choose-who.css';

const costText = ({ tokens: many, microUsd }: WakeCost): string =>
  t`about ${tokens(many)} tokens${microUsd === null ? '' : `, ${money(microUsd)}`}`;

interface SleeperProps {
  readonly agent: Agent;
  readonly name: string;
  /** What waking costs, or why not now. */
  readonly note: string;
  readonly late: boolean;
  readonly marked: boolean;
  readonly onWake: () => void;
  readonly onMark: (marked: boolean) => void;
}

function Sleeper({ agent: { agentId, color, face }, name, note, late, marked, onWake, onMark }: SleeperProps) {
  return (
    <li data-asleep="true" style={{ '--c': color }}>
      <button
        type="button"
        className="choose-face"
        aria-label={t`Wake ${name} now`}
        title={t`Wake ${name} now`}
        disabled={late}
        onClick={onWake}
      >
        <Face agentId={agentId} face={face} color={color} awake={false} />
      </button>
      <label>
        <span>
          {name}
          <small id={`choose-${agentId}`}>{note}</small>
        </span>
        <input
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
 * Wake only some: a press on a face wakes that one, and several are marked and woken together. The
 * relay says beside each what reading costs.
 */
export default function ChooseWho({ onClose }: { onClose: () => void }) {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const sleepers = useSleepers({ withPaused: true });
  const paused = useLive((state) => state.live?.paused);
  const arriving = useDevices(arrivingOf);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const [group, setGroup] = useState<string | null>(null);
  const able = sleepers.filter(({ agentId }) => !arriving.includes(agentId));
  const agents = able.filter(({ agentId }) => chosen.has(agentId));
  // An agent that is only set to sleep goes on where it was, and reads nothing anew.
  const isRead = ({ agentId }: Agent) => !paused?.has(agentId);
  const each = useWakeCosts(able.filter(isRead));
  const together = useWakeCosts(agents.filter(isRead));
  const wake = (called: readonly Agent[]) => {
    onClose();
    void actions.wake(called);
  };
  const noteOf = (agent: Agent): string => {
    if (arriving.includes(agent.agentId)) return t`on its way here`;
    if (paused?.has(agent.agentId)) return t`goes on where it was`;
    const cost = each.of(agent.agentId);
    return cost ? costText(cost) : '';
  };
  return (
    <Dialog title={t`Who shall wake?`} onClose={onClose}>
      <p className="setting-hint choose-hint">{t`Press a face to wake that one, or mark several.`}</p>
      <GroupMarks
        able={able}
        marked={new Set(agents.map(({ agentId }) => agentId))}
        onMark={({ groupId }, agentIds) => {
          setGroup(groupId);
          setChosen(new Set(agentIds));
        }}
      />
      {sleepers.length === 0 && <p className="quiet">{t`Nobody sleeps now: there is nobody to wake.`}</p>}
      <ul className="choose">
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
      <div className="choose-act">
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
          <p role="status">{t`To read, with the lead: ${costText(together.all)}. What they answer comes on top.`}</p>
        )}
        {each.problem !== null && <p role="status">{t`What it would cost is not known: ${each.problem}`}</p>}
      </div>
      <KeepGroup marked={agents} last={group} />
    </Dialog>
  );
}
