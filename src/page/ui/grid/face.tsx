import { memo, useRef, useEffect, type RefObject } from 'react';
import { faceHash, facePixels, FACE_SIZE, type FacePixel } from '../../../shared/domain/face.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { HEAD, pathOf, type Run } from './pixels.ts';
import { usePageSeen } from '../use-page-seen.ts';
import './face.css';

/**
 * ms between two blinks of one face, and how long its eyes are shut. Nine faces draw 18 frames in
 * that time, and drawn in software that is most of what a page costs that nobody touches.
 */
const EVERY = 72_000;
const SHUT = 140;

/**
 * Lets a face blink. By a timer, not by an animation: one that never ends is worked out anew for
 * every frame of the screen, however seldom anything of it changes.
 */
function useBlink(face: RefObject<SVGSVGElement | null>, blinks: boolean, phase: number): void {
  const seen = usePageSeen();
  useEffect(() => {
    if (!blinks || !seen || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    let timer = setTimeout(shut, EVERY - (phase % EVERY));
    function set(shutNow: boolean) {
      if (face.current) face.current.dataset['blink'] = String(shutNow);
    }
    function shut() {
      set(true);
      timer = setTimeout(open, SHUT);
    }
    function open() {
      set(false);
      timer = setTimeout(shut, EVERY - SHUT);
    }
    return () => {
      clearTimeout(timer);
      set(false);
    };
  }, [face, blinks, seen, phase]);
}

/** Rows of the portrait in which the eyes are; they blink. */
export const EYE_ROWS = { from: 5, to: 8 };

const isEye = (pixel: FacePixel) => pixel.tone === 1 && pixel.y >= EYE_ROWS.from && pixel.y <= EYE_ROWS.to;

/** A path for each tone. */
function Pixels({ pixels, className }: { pixels: readonly FacePixel[]; className: string }) {
  const tones = [...new Set(pixels.map((pixel) => pixel.tone))];
  return (
    <g className={className}>
      {tones.map((tone) => (
        <path
          key={tone}
          opacity={tone}
          d={pathOf(pixels.flatMap((pixel) => (pixel.tone === tone ? [{ ...pixel, width: 1 }] : [])))}
        />
      ))}
    </g>
  );
}

/** Where closed eyes lie: one row, as wide as the eyes. */
function lids(eyes: readonly FacePixel[]): FacePixel[] {
  return [...new Set(eyes.map((pixel) => pixel.x))].map((x) => ({ x, y: EYE_ROWS.from + 1, tone: 1 }));
}

/** One element for all of them: a log shows many faces at once. */
export const Runs = ({ runs, className }: { runs: readonly Run[]; className: string }) => (
  <path className={className} d={pathOf(runs)} />
);

/** The inside of a portrait, for a `<svg>` of 16 × 16. */
export const FaceShape = memo(function FaceShape({ agentId, face }: { agentId: AgentId; face: string }) {
  const pixels = facePixels(agentId, face);
  const eyes = pixels.filter(isEye);
  return (
    <>
      <Runs runs={HEAD.body} className="head-body" />
      <Runs runs={HEAD.light} className="head-light" />
      <Runs runs={HEAD.shade} className="head-shade" />
      <Pixels pixels={pixels.filter((pixel) => !isEye(pixel))} className="face-ink" />
      <g className="face-eyes">
        <Pixels pixels={eyes} className="face-ink" />
      </g>
      <g className="face-lids">
        <Pixels pixels={lids(eyes)} className="face-ink" />
      </g>
    </>
  );
});

/** A portrait. Decoration: the name stands beside it, always. `awake` lets it blink. */
export function Face({
  agentId,
  face,
  color,
  awake,
}: {
  agentId: AgentId;
  face: string;
  color: string;
  awake: boolean;
}) {
  const svg = useRef<SVGSVGElement>(null);
  useBlink(svg, awake, faceHash(agentId, face));
  return (
    <svg
      ref={svg}
      className="face"
      data-awake={awake}
      viewBox={`0 0 ${FACE_SIZE} ${FACE_SIZE}`}
      style={{ '--c': color }}
      aria-hidden="true"
      focusable="false"
    >
      <FaceShape agentId={agentId} face={face} />
    </svg>
  );
}
