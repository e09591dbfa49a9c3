/** The picture in a cell of the grid, and its animation when an agent hatches or wakes. */
import { useEffect, useState } from 'react';
import { type Agent, displayName, type Roster } from '../../../shared/domain/agent.ts';
import { type JoinedClient, type Lifecycle, lifecycleOf } from '../../../shared/domain/lifecycle.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { type Position, seatColor, seatNumber, type SeatPosition } from '../../../shared/domain/seat.ts';
import { t } from '../../language/t.ts';
import { asleepReason, isPaused, type LiveState } from '../../state/live.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { useAnswers, useRoost } from '../context.tsx';
import { CRACKS, EGG, Face, FaceShape, Runs, speckles } from './face.tsx';
import './egg.css';

// The content of a seat's cell as plain values: accessible name, state, reason.

/** The grid, row by row. */
export const POSITIONS: readonly Position[] = [0, 1, 2, 3, 4, 5, 6, 7, 8];

export interface SeatView {
  readonly position: SeatPosition;
  readonly agent: Agent | null;
  /** Id of the conversation: the agent's, or the egg's. */
  readonly agentId: AgentId | null;
  readonly state: Lifecycle;
  /** The agent and its seat, for example "Lyra, seat 1". The activity or the state follows. */
  readonly label: string;
  readonly name: string | null;
  readonly color: string;
  readonly colorName: string;
  /** Why it sleeps although it was woken, or why no agent was born, in the relay's words. */
  readonly reason: string | null;
  /** The agent is in the running session and was put to sleep. */
  readonly paused: boolean;
  /** Nothing asks it: neither a session, nor a run, nor an API client. */
  readonly asleep: boolean;
  /** It sleeps in the person’s session, and works in a run. */
  readonly working: boolean;
  /** The API client that drives it, with or without a mind here. */
  readonly client: JoinedClient | null;
}

export function seatView(position: SeatPosition, roster: Roster, live: LiveState): SeatView {
  const agent = roster.seats.get(position) ?? null;
  const state = lifecycleOf(agent ?? undefined, position, live.live);
  const seat = t`seat ${seatNumber(position)}`;
  const name = agent ? displayName(agent, roster) : null;
  const egg = live.live
    ? live.session?.hatching.find((item) => item.call === 'summon' && item.position === position)
    : undefined;
  const sleepReason = agent ? asleepReason(live, agent.agentId) : (live.birthReasons.get(position) ?? null);
  const client = (agent && live.live?.clients.get(agent.agentId)) ?? null;
  const working = agent !== null && state === 'sleeping' && live.working.has(agent.agentId);
  const quiet = sleepReason?.code === 'put-to-sleep' || sleepReason?.code === 'cancelled';
  return {
    position,
    agent,
    agentId: agent?.agentId ?? egg?.agentId ?? null,
    state,
    label: name === null ? seat : `${name}, ${seat}`,
    name,
    ...(agent ? { color: agent.color, colorName: agent.colorName } : seatColor(position)),
    reason:
      sleepReason && !quiet && (state === 'sleeping' || state === 'empty') && !working ? sleepReason.message : null,
    paused: agent !== null && isPaused(live, agent.agentId),
    working,
    asleep: agent !== null && state === 'sleeping' && !working,
    client,
  };
}

/** The seat an arrow key leads to, or the same one at the edge. */
export function neighbour(position: Position, key: string): Position {
  const column = position % 3;
  const row = Math.floor(position / 3);
  const at = (x: number, y: number): Position =>
    POSITIONS[Math.min(2, Math.max(0, y)) * 3 + Math.min(2, Math.max(0, x))] ?? position;
  switch (key) {
    case 'ArrowLeft':
      return at(column - 1, row);
    case 'ArrowRight':
      return at(column + 1, row);
    case 'ArrowUp':
      return at(column, row - 1);
    case 'ArrowDown':
      return at(column, row + 1);
    case 'Home':
      return at(0, row);
    case 'End':
      return at(2, row);
    default:
      return position;
  }
}

function Shell({ position, crack }: { position: number; crack: 0 | 1 | 2 }) {
  const dots = speckles(position);
  return (
    <>
      <g className="shell-bottom">
        <Runs runs={EGG.bottom} className="shell-body" />
        <Runs runs={EGG.shadeBottom} className="shell-shade" />
        <Runs runs={dots.filter((dot) => dot.y > 8)} className="shell-dots" />
      </g>
      <g className="shell-top">
        <Runs runs={EGG.top} className="shell-body" />
        <Runs runs={EGG.shadeTop} className="shell-shade" />
        <Runs runs={EGG.lightTop} className="shell-light" />
        <Runs runs={dots.filter((dot) => dot.y <= 8)} className="shell-dots" />
      </g>
      <Runs runs={CRACKS[crack] ?? []} className="shell-cracks" />
    </>
  );
}

/** An agent is being born: the egg wobbles, and cracks as the first words arrive. */
export function Egg({ position, color, crack }: { position: number; color: string; crack: 0 | 1 | 2 }) {
  return (
    <svg
      className="egg egg-whole full block full-height"
      data-crack={crack}
      viewBox="0 0 16 16"
      style={{ '--c': color, '--turn': `${-position * 370}ms` }}
      aria-hidden="true"
      focusable="false"
    >
      <Shell position={position} crack={crack} />
    </svg>
  );
}

interface InShell {
  readonly agentId: AgentId;
  readonly face: string;
  readonly color: string;
  readonly position: number;
}

/** A wake in progress: the agent's own dimmed face stirs inside the shell. */
function StirringFace({ agentId, face, color, position }: InShell) {
  return (
    <svg
      className="egg egg-stirring full block full-height"
      viewBox="0 0 16 16"
      style={{ '--c': color, '--turn': `${-position * 290}ms` }}
      aria-hidden="true"
      focusable="false"
    >
      <g className="stirring-face">
        <FaceShape agentId={agentId} face={face} />
      </g>
      <g className="shell-bottom">
        <Runs runs={EGG.bottom} className="shell-body" />
        <Runs runs={EGG.shadeBottom} className="shell-shade" />
      </g>
    </svg>
  );
}

/**
 * The moment it opens: the shell parts and the face looks out. `born`: the shell was still closed.
 */
function OpeningEgg({ agentId, face, color, position, born }: InShell & { born: boolean }) {
  return (
    <svg
      className="egg egg-opening full block full-height"
      data-born={born}
      data-awake="true"
      viewBox="0 0 16 16"
      style={{ '--c': color }}
      aria-hidden="true"
      focusable="false"
    >
      <g className="opening-face">
        <FaceShape agentId={agentId} face={face} />
      </g>
      <Shell position={position} crack={0} />
    </svg>
  );
}

/** ms of the opening. */
const OPENING_MS = 1500;
/** Characters an egg has written when it begins to crack, and when the crack runs all around. */
const CRACK_AT = [1, 280] as const;

interface Last {
  readonly state: Lifecycle;
  readonly hadAgent: boolean;
}

/** Plays the opening once when an egg or a stirring face comes awake while shown. */
function useOpening(seat: SeatView): { born: boolean } | null {
  const { device } = useRoost();
  const [last, setLast] = useState<Last>({ state: seat.state, hadAgent: seat.agent !== null });
  const [opening, setOpening] = useState<{ born: boolean } | null>(null);
  const hadAgent = seat.agent !== null;
  if (last.state !== seat.state || last.hadAgent !== hadAgent) {
    if (last.state === 'hatching' && hadAgent && seat.state === 'awake') setOpening({ born: !last.hadAgent });
    else if (seat.state !== 'awake') setOpening(null);
    setLast({ state: seat.state, hadAgent });
  }
  useEffect(() => (opening ? device.after(OPENING_MS, () => setOpening(null)) : undefined), [device, opening]);
  return opening;
}

function useCrack(agentId: AgentId | null): 0 | 1 | 2 {
  return useAnswers((answers) => {
    const answer = agentId === null ? undefined : openAnswerOf(answers, agentId);
    if (!answer) return 0;
    const written = answer.blocks.reduce((sum, block) => sum + (block.kind === 'text' ? block.text.length : 0), 0);
    return written >= CRACK_AT[1] ? 2 : written >= CRACK_AT[0] ? 1 : 0;
  });
}

/**
 * The picture in a cell: an egg, a face stirring in its shell, an opening shell, or a face.
 * `speaks`: its mouth moves.
 */
export function SeatFigure({ seat, speaks = false }: { seat: SeatView; speaks?: boolean }) {
  const opening = useOpening(seat);
  const crack = useCrack(seat.agent ? null : seat.agentId);
  const { agent, color, position } = seat;
  if (!agent) return seat.state === 'hatching' ? <Egg position={position} color={color} crack={crack} /> : null;
  const { agentId, face } = agent;
  if (seat.state === 'hatching')
    return <StirringFace agentId={agentId} face={face} color={color} position={position} />;
  if (opening)
    return <OpeningEgg agentId={agentId} face={face} color={color} position={position} born={opening.born} />;
  return (
    <Face
      agentId={agentId}
      face={face}
      color={color}
      awake={seat.state === 'awake' || seat.state === 'driven' || seat.working}
      speaks={speaks}
    />
  );
}
