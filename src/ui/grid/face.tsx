import { memo, useRef } from 'react';
import { faceHash, facePixels, FACE_SIZE, type FacePixel } from '../../domain/face.ts';
import { HEAD, pathOf } from './pixels.ts';
import { Runs } from './runs.tsx';
import { useBlink } from './use-blink.ts';
import './face.css';

/** Rows of the portrait in which the eyes are; they blink. */
const EYE_ROWS = { from: 5, to: 8 };

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

/** The inside of a portrait, for a `<svg>` of 16 × 16. */
export const FaceShape = memo(function FaceShape({ agentId, birthName }: { agentId: string; birthName: string }) {
  const pixels = facePixels(agentId, birthName);
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
  birthName,
  color,
  awake,
}: {
  agentId: string;
  birthName: string;
  color: string;
  awake: boolean;
}) {
  const face = useRef<SVGSVGElement>(null);
  useBlink(face, awake, faceHash(agentId, birthName));
  return (
    <svg
      ref={face}
      className="face"
      data-awake={awake}
      viewBox={`0 0 ${FACE_SIZE} ${FACE_SIZE}`}
      style={{ '--c': color }}
      aria-hidden="true"
      focusable="false"
    >
      <FaceShape agentId={agentId} birthName={birthName} />
    </svg>
  );
}
