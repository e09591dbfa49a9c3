import type { AgentId } from '../../../shared/domain/ids.ts';
import { CRACKS, EGG, speckles } from './pixels.ts';
import { FaceShape, Runs } from './face.tsx';
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

/** Somebody is being born: it wobbles, and cracks as the first words come. */
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

/** A wake under way: the agent's own dimmed face stirs inside the shell. */
export function StirringFace({ agentId, face, color, position }: InShell) {
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

/** The moment it opens: the shell parts, and the face looks out. `born`: the lid was still on. */
export function OpeningEgg({ agentId, face, color, position, born }: InShell & { born: boolean }) {
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
