import { use } from 'react';
import { Link } from 'wouter';
import { canBeWoken } from '../../../shared/domain/lifecycle.ts';
import { t } from '../../language/t.ts';
import { useActions, usePending } from '../context.tsx';
import { useDoingNow } from '../doing-now.ts';
import { Face } from '../grid/face.tsx';
import { SeatFigure, type SeatView } from '../grid/seat-figure.tsx';
import { useLeadMenu, useSeatMenu } from '../grid/use-seat-menu.ts';
import { BackIcon, PauseIcon, MoreIcon, SoulIcon } from '../design/icons.tsx';
import { optional } from '../parts/part.tsx';
import { MenuButton, type MenuItem } from '../design/menu.tsx';
import { OpensFind } from '../palette/typed-ahead.ts';
import { PATHS, useRoute } from '../routes.ts';
import { canTalkHandsFree, setHandsFree } from '../voice/support.ts';
import type { Speaker } from './message.tsx';

const Activity = optional(() => import('./activity.tsx'));

/** What the agent is doing now, or else its state. */
function NowDoing({ speaker }: { speaker: Speaker }) {
  const { agentId } = speaker;
  const doing = useDoingNow(agentId);
  const otherwise = stateText(speaker);
  return doing ? (
    <Activity agentId={agentId} name={speaker.name} otherwise={otherwise} />
  ) : (
    <p className="truncate ink-3 text-2 leading-4">{otherwise}</p>
  );
}

function seatText({ paused, working, asleep, state, client }: SeatView): string {
  if (paused) return t`set to sleep`;
  if (working) return t`at work alone`;
  if (asleep) return t`asleep`;
  if (state === 'hatching') return t`waking`;
  return state === 'driven' ? t`driven by ${client?.name ?? t`a program`}` : t`awake`;
}

/** The agent's state in a few words. */
export function stateText(speaker: Speaker): string {
  switch (speaker.kind) {
    case 'lead':
      return `${t`the lead`} · ${speaker.awake ? t`awake` : t`asleep`}`;
    case 'agent':
      return seatText(speaker.seat);
    case 'egg':
      return t`hatching`;
    case 'seatless':
      return speaker.retired ? t`retired` : t`waits for a seat`;
    default:
      return speaker satisfies never;
  }
}

/** The most likely action for this agent. */
function MainAct({ seat, name }: { seat: SeatView; name: string }) {
  const actions = useActions();
  const busy = usePending((state) => state.call !== null);
  const { agent, agentId } = seat;
  if (agent && seat.state === 'awake')
    return (
      <button
        type="button"
        className="ghost"
        aria-label={t`Let ${name} sleep`}
        onClick={() => void actions.rest(agent.agentId)}
      >
        <PauseIcon /> <span className="hide-small">{t`Let ${name} sleep`}</span>
        <span className="only-small">{t`Sleep`}</span>
      </button>
    );
  if (agent && canBeWoken(seat.state))
    return (
      <button
        type="button"
        className="ghost ghost-dawn"
        aria-label={t`Wake ${name}`}
        disabled={busy}
        onClick={() => void actions.wake([agent])}
      >
        <span className="hide-small">{t`Wake ${name}`}</span>
        <span className="only-small">{t`Wake`}</span>
      </button>
    );
  if (!agent && agentId !== null)
    return (
      <button
        type="button"
        className="ghost hide-small"
        onClick={() => void actions.sleep(agentId)}
      >{t`Give up this egg`}</button>
    );
  return null;
}

function Frame({ speaker, seat, menu }: { speaker: Speaker; seat: SeatView | null; menu: readonly MenuItem[] }) {
  const { go } = useRoute();
  const find = use(OpensFind);
  const isEgg = speaker.kind === 'egg';
  // An egg has not said anything yet.
  const items = isEgg
    ? menu
    : [
        { label: t`Find in the conversation with ${speaker.name}`, run: () => find({ agentId: speaker.agentId }) },
        ...(canTalkHandsFree() && speaker.awake
          ? [{ label: t`Hands-free`, run: () => setHandsFree(speaker.agentId) }]
          : []),
        ...menu,
      ];
  return (
    <header className="chat-head line gap-4 tint ruled-below pad-4-6" style={{ '--c': speaker.color }}>
      <Link href={PATHS.hearth} className="icon-button only-lowest" aria-label={t`Team`}>
        <BackIcon />
      </Link>
      <div className="chat-face fixed" data-asleep={speaker.asleep}>
        {seat ? (
          <SeatFigure seat={seat} />
        ) : (
          <Face agentId={speaker.agentId} face={speaker.face} color={speaker.color} awake={speaker.awake} />
        )}
      </div>
      <div className="chat-title fill">
        <h2 className="truncate at-most-full named" dir="auto" tabIndex={-1}>
          {speaker.name}
        </h2>
        <NowDoing speaker={speaker} />
      </div>
      {seat && <MainAct seat={seat} name={speaker.name} />}
      {speaker.kind === 'lead' && speaker.awake && (
        <Link href={PATHS.everyone} className="ghost hide-small">{t`Ask everyone`}</Link>
      )}
      {speaker.kind !== 'egg' && (
        <button
          type="button"
          className="icon-button only-narrow"
          aria-label={t`About ${speaker.name}`}
          title={t`About`}
          onClick={() => go(PATHS.about(speaker.agentId))}
        >
          <SoulIcon />
        </button>
      )}
      {items.length > 0 && (
        <MenuButton label={t`More about ${speaker.name}`} items={items}>
          <MoreIcon />
        </MenuButton>
      )}
    </header>
  );
}

function SeatHead({ speaker, seat }: { speaker: Speaker; seat: SeatView }) {
  return <Frame speaker={speaker} seat={seat} menu={useSeatMenu(seat)} />;
}

function LeadHead({ speaker }: { speaker: Speaker }) {
  return <Frame speaker={speaker} seat={null} menu={useLeadMenu()} />;
}

/** The head of a conversation: the agent, its state and its menu. */
export function Head({ speaker }: { speaker: Speaker }) {
  if (speaker.kind === 'agent' || speaker.kind === 'egg') return <SeatHead speaker={speaker} seat={speaker.seat} />;
  if (speaker.kind === 'lead') return <LeadHead speaker={speaker} />;
  return <Frame speaker={speaker} seat={null} menu={[]} />;
}
