import { useEffect, useState } from 'react';
import type { AgentId } from '../../../shared/domain/ids.ts';
import type { Lifecycle } from '../../../shared/domain/lifecycle.ts';
import { openAnswerOf } from '../../state/answers.ts';
import { useAnswers, useRoost } from '../context.tsx';
import { Egg, OpeningEgg, StirringFace } from './egg.tsx';
import { Face } from './face.tsx';
import type { SeatView } from './seat-view.ts';

/** ms the shell takes to part. */
const OPENING_MS = 1500;
/** Characters an egg has written when it begins to crack, and when the crack runs all around. */
const CRACK_AT = [1, 280] as const;

interface Last {
  readonly state: Lifecycle;
  readonly hadAgent: boolean;
}

/** Plays the opening once, when an egg or a stirring face was seen to come awake. */
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

/** The picture in a cell: an egg, a face stirring in its shell, a face looking out, or a face. */
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
