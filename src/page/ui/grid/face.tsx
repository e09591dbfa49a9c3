/** Draws faces and eggs as pixel art in SVG, and lets faces blink. */
import { memo, type RefObject, useEffect, useRef } from 'react';
import { FACE_SIZE, faceHash, type FacePixel, facePixels, HEAD_ROWS } from '../../../shared/domain/face.ts';
import type { AgentId } from '../../../shared/domain/ids.ts';
import { usePageSeen } from '../hooks.ts';
import './face.css';

// Pixel art on a 16 × 16 grid, as horizontal runs of one rectangle each.

interface Run {
  readonly x: number;
  readonly y: number;
  readonly width: number;
}

/** The outline of one-pixel-high rectangles, as the `d` of an SVG path. */
const pathOf = (runs: readonly Run[]): string =>
  runs.map(({ x, y, width }) => `M${x} ${y}h${width}v1h${-width}z`).join('');

/** Rows as `[y, first x, last x]`. */
type Rows = readonly (readonly [number, number, number])[];

const runs = (rows: Rows): Run[] => rows.map(([y, from, to]) => ({ x: from, y, width: to - from + 1 }));

/** The head behind every face: a pebble, lit from above. */
const HEAD = {
  body: runs(HEAD_ROWS),
  light: runs([
    [1, 5, 10],
    [2, 3, 5],
    [3, 2, 3],
    [2, 10, 12],
  ]),
  shade: runs([
    [12, 11, 13],
    [11, 13, 13],
    [13, 9, 12],
    [13, 3, 5],
    [14, 5, 10],
  ]),
} as const;

/** A whole egg. It breaks along the zigzag. */
export const EGG = {
  top: runs([
    [1, 6, 9],
    [2, 5, 10],
    [3, 4, 11],
    [4, 4, 11],
    [5, 3, 12],
    [6, 3, 12],
    [7, 3, 12],
    [8, 2, 3],
    [8, 5, 6],
    [8, 8, 9],
    [8, 11, 12],
  ]),
  bottom: runs([
    [8, 4, 4],
    [8, 7, 7],
    [8, 10, 10],
    [8, 13, 13],
    [9, 2, 13],
    [10, 2, 13],
    [11, 2, 13],
    [12, 3, 12],
    [13, 4, 11],
    [14, 6, 9],
  ]),
  lightTop: runs([
    [2, 6, 7],
    [3, 5, 6],
    [4, 5, 5],
    [5, 4, 4],
  ]),
  shadeTop: runs([
    [3, 11, 11],
    [4, 11, 11],
    [5, 12, 12],
    [6, 11, 12],
    [7, 11, 12],
    [8, 11, 12],
  ]),
  shadeBottom: runs([
    [8, 13, 13],
    [9, 12, 13],
    [10, 11, 13],
    [11, 11, 13],
    [12, 9, 12],
    [13, 6, 11],
    [14, 6, 9],
  ]),
} as const;

const zigzag = (from: number, to: number): Run[] => {
  const heights = [8, 9, 8, 7];
  return Array.from({ length: to - from + 1 }, (_, i) => ({
    x: from + i,
    y: heights[(from + i + 1) % 4] ?? 8,
    width: 1,
  }));
};

/** Cracks, by progress: none, begun, all around. */
export const CRACKS: readonly (readonly Run[])[] = [
  [],
  zigzag(7, 11),
  [...zigzag(2, 13), { x: 6, y: 6, width: 1 }, { x: 9, y: 10, width: 1 }],
];

/** Speckles distinguish eggs, in addition to their colour. */
export function speckles(position: number): Run[] {
  const places: Run[] = [
    [7, 4],
    [9, 6],
    [5, 6],
    [6, 11],
    [9, 12],
    [4, 11],
    [9, 11],
    [7, 5],
    [10, 4],
    [7, 2],
  ].map(([x = 0, y = 0]) => ({ x, y, width: 1 }));
  return places.filter((_, i) => (i * 5 + position * 3) % 10 < 4);
}

/**
 * ms between two blinks of one face, and how long its eyes are shut. Nine faces draw 18 frames in
 * that time. With software rendering, that is most of the cost of an idle page.
 */
const EVERY = 72_000;
const SHUT = 140;

/**
 * Lets a face blink, by a timer and not by an animation. An endless animation is computed for every
 * frame of the screen, however rarely anything changes.
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

/** ms for which the mouth of a speaking face is open, and closed. */
const MOUTH_MS = 190;

/** Moves the mouth, by a timer as well. */
function useMouth(face: RefObject<SVGSVGElement | null>, speaks: boolean): void {
  const seen = usePageSeen();
  useEffect(() => {
    if (!speaks || !seen || matchMedia('(prefers-reduced-motion: reduce)').matches) return;
    const svg = face.current;
    let isOpen = false;
    const moving = setInterval(() => {
      isOpen = !isOpen;
      if (svg) svg.dataset['mouth'] = isOpen ? 'open' : 'closed';
    }, MOUTH_MS);
    return () => {
      clearInterval(moving);
      if (svg) delete svg.dataset['mouth'];
    };
  }, [face, speaks, seen]);
}

/** Rows of the portrait with the eyes, which blink, and with the mouth, which speaks. */
export const EYE_ROWS = { from: 5, to: 8 };
const MOUTH_ROWS = { from: 10, to: 12 };

const isIn = ({ from, to }: { from: number; to: number }, pixel: FacePixel) =>
  pixel.tone === 1 && pixel.y >= from && pixel.y <= to;

const OPEN_MOUTH = runs([
  [10, 7, 8],
  [11, 6, 9],
  [12, 7, 8],
]);

/** A hand beside the face of an agent that asks. */
const HAND = runs([
  [2, 5, 5],
  [2, 9, 9],
  [3, 3, 3],
  [3, 5, 5],
  [3, 7, 7],
  [3, 9, 9],
  [4, 3, 3],
  [4, 5, 5],
  [4, 7, 7],
  [4, 9, 9],
  [5, 3, 3],
  [5, 5, 5],
  [5, 7, 7],
  [5, 9, 9],
  [6, 3, 9],
  [6, 12, 12],
  [7, 3, 9],
  [7, 11, 12],
  [8, 3, 11],
  [9, 3, 10],
  [10, 4, 9],
  [11, 5, 8],
  [2, 7, 7],
]);

export const RaisedHand = () => (
  <svg className="seat-hand absolute" viewBox="0 0 16 14" aria-hidden="true" focusable="false">
    <Runs runs={HAND} className="hand" />
  </svg>
);

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

/** The closed eyes: one row, as wide as the eyes. */
function lids(eyes: readonly FacePixel[]): FacePixel[] {
  return [...new Set(eyes.map((pixel) => pixel.x))].map((x) => ({ x, y: EYE_ROWS.from + 1, tone: 1 }));
}

/** One element for all runs, since a log shows many faces at once. */
export const Runs = ({ runs, className }: { runs: readonly Run[]; className: string }) => (
  <path className={className} d={pathOf(runs)} />
);

/** The content of a portrait, for an `<svg>` of 16 × 16. */
export const FaceShape = memo(function FaceShape({ agentId, face }: { agentId: AgentId; face: string }) {
  const pixels = facePixels(agentId, face);
  const eyes = pixels.filter((pixel) => isIn(EYE_ROWS, pixel));
  const mouth = pixels.filter((pixel) => isIn(MOUTH_ROWS, pixel));
  return (
    <>
      <Runs runs={HEAD.body} className="head-body" />
      <Runs runs={HEAD.light} className="head-light" />
      <Runs runs={HEAD.shade} className="head-shade" />
      <Pixels pixels={pixels.filter((pixel) => !eyes.includes(pixel) && !mouth.includes(pixel))} className="face-ink" />
      <g className="face-mouth">
        <Pixels pixels={mouth} className="face-ink" />
      </g>
      <g className="face-mouth-open">
        <Runs runs={OPEN_MOUTH} className="face-ink" />
      </g>
      <g className="face-eyes">
        <Pixels pixels={eyes} className="face-ink" />
      </g>
      <g className="face-lids">
        <Pixels pixels={lids(eyes)} className="face-ink" />
      </g>
    </>
  );
});

/**
 * A portrait. Decorative: the name is always beside it. `awake` lets it blink, `speaks` moves its
 * mouth.
 */
export function Face({
  agentId,
  face,
  color,
  awake,
  speaks = false,
}: {
  agentId: AgentId;
  face: string;
  color: string;
  awake: boolean;
  speaks?: boolean;
}) {
  const svg = useRef<SVGSVGElement>(null);
  useBlink(svg, awake, faceHash(agentId, face));
  useMouth(svg, speaks);
  return (
    <svg
      ref={svg}
      className="face block"
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
