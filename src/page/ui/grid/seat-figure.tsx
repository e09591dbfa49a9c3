/** The picture in a cell of the grid, and its animation when an agent hatches or wakes. */
import { useEffect, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Lifecycle } from '../../../shared/domain/lifecycle.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { useAnswers, useRoost } from '../context.tsx';
import { CRACKS, EGG, Face, FaceShape, Runs, speckles } from './face.tsx';
import type { SeatView } from './seat-view.ts';
import './egg.css';

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
      className="egg egg-whole"
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
      className="egg egg-stirring"
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
      className="egg egg-opening"
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

/** The picture in a cell: an egg, a face stirring in its shell, an opening shell, or a face. */
export function SeatFigure({ seat }: { seat: SeatView }) {
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
      awake={seat.state === 'awake' || seat.state === 'played' || seat.working}
    />
  );
}
