import { useState } from 'react';
import { emptySeats, displayName } from '../../domain/agent.ts';
import type { AgentId } from '../../domain/ids.ts';
import { bigButton, canBeWoken, lifecycleOf } from '../../domain/lifecycle.ts';
import { callProgress } from '../../state/live.ts';
import { writingStopped } from '../../state/relay-info.ts';
import { useActions, useHousehold, useInfo, useLive, usePending, useDevices } from '../context.tsx';
import { CaretIcon } from '../parts/icons.tsx';
import { MenuButton, type MenuItem } from '../parts/menu.tsx';
import { plural } from '../text/sizes.ts';
import { arrivingOf } from '../../state/devices.ts';
import { Dialog } from '../parts/dialog.tsx';
import { useSleepers } from './use-sleepers.ts';
import { Face } from './face.tsx';
import './choose-who.css';
import './big-button.css';

/** Wake only some: a tick for each who sleeps. */
function ChooseWho({ onClose }: { onClose: () => void }) {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const sleepers = useSleepers({ withPaused: true });
  const arriving = useDevices(arrivingOf);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const agents = sleepers.filter((agent) => chosen.has(agent.agentId) && !arriving.includes(agent.agentId));
  const toggle = (agentId: AgentId) => {
    const next = new Set(chosen);
    if (!next.delete(agentId)) next.add(agentId);
    setChosen(next);
  };
  return (
    <Dialog title="Who shall wake?" onClose={onClose}>
      <ul className="choose">
        {sleepers.map((agent) => (
          <li key={agent.agentId}>
            <label style={{ '--c': agent.color }}>
              <input
                type="checkbox"
                checked={agents.includes(agent)}
                disabled={arriving.includes(agent.agentId)}
                onChange={() => toggle(agent.agentId)}
              />
              <span className="choose-face">
                <Face agentId={agent.agentId} birthName={agent.birthName} color={agent.color} awake={false} />
              </span>
              <span>
                {displayName(agent, roster)}
                {arriving.includes(agent.agentId) && <small>on its way here</small>}
              </span>
            </label>
          </li>
        ))}
      </ul>
      <button
        type="button"
        className="solid"
        disabled={agents.length === 0}
        onClick={() => {
          onClose();
          void actions.wake(agents);
        }}
      >
        {agents.length === 0 ? 'Wake' : `Wake ${agents.length}`}
      </button>
    </Dialog>
  );
}

/** What is under way, in words, for the button's line and for screen readers. */
export function useProgress(): { text: string; part: number } | null {
  const progress = useLive((state) => state);
  const step = usePending((state) => state.step);
  const call = usePending((state) => state.call);
  const now = callProgress(progress);
  if (now) {
    const word = now.call === 'summon' ? 'hatching' : 'waking';
    if (now.total === null) return { text: `${word}: ${now.left} to go`, part: 0 };
    return { text: `${word} ${now.done} of ${now.total}`, part: now.done / now.total };
  }
  if (call) return { text: step ?? 'The lead calls the team…', part: 0 };
  return null;
}

/** What the small menu beside the button offers: the ways that the big button does not take. */
function useMoreWays(choose: () => void): MenuItem[] {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const live = useLive((state) => state.live);
  const busy = usePending((state) => state.call !== null);
  const sleeping = [...roster.seats].filter(([position, agent]) => canBeWoken(lifecycleOf(agent, position, live)));
  const free = emptySeats(roster).filter((position) => !live?.births.has(position));
  const items: MenuItem[] = [];
  if (sleeping.length > 0) {
    items.push({ label: 'Wake only some…', disabled: busy, run: choose });
    if (free.length > 0)
      items.push({
        label: free.length === 1 ? 'Summon into the empty seat' : `Summon into ${plural(free.length, 'empty seat')}`,
        hint: 'Those who sleep sleep on',
        disabled: busy,
        run: () => void actions.summon(free),
      });
  }
  return items;
}

/** The one big button, exactly as the domain says it. */
export function BigButton() {
  const actions = useActions();
  const roster = useHousehold((state) => state.roster);
  const ready = useHousehold((state) => state.status === 'ready');
  const live = useLive((state) => state.live);
  const pending = usePending((state) => state.call);
  const blocked = useInfo(writingStopped);
  const progress = useProgress();
  const [choosing, setChoosing] = useState(false);
  const more = useMoreWays(() => setChoosing(true));
  const button = bigButton(roster, live, pending);
  const busy = button.kind === 'busy';
  const held = busy || !ready || blocked;

  return (
    <>
      {button.kind !== 'none' && (
        <div className="big" data-busy={busy}>
          <button
            type="button"
            className="big-button"
            disabled={held}
            aria-disabled={held}
            style={{ '--part': progress?.part ?? 0 }}
            onClick={() => void (button.kind === 'wake' ? actions.wake() : actions.summon())}
          >
            {button.label}
          </button>
          {more.length > 0 && !held && (
            <MenuButton label="More ways to wake" items={more} className="big-more">
              <CaretIcon />
            </MenuButton>
          )}
        </div>
      )}
      {choosing && <ChooseWho onClose={() => setChoosing(false)} />}
    </>
  );
}
