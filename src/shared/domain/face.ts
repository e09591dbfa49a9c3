/**
 * Pixel portraits, 16 × 16.
 *
 * A face is drawn from a hash of the agent's id and its name at birth. It is the same on every
 * device, forever. 8 eyes × 8 mouths × 4 brows × 4 marks = 1024 faces. Changing any table or the
 * order of the draws changes every face. Add variants only behind a new hash.
 */
import type { AgentId } from './ids.ts';

/** One lit pixel. `tone` 1 is the agent's colour, 0.55 a shade of it. */
export interface FacePixel {
  readonly x: number;
  readonly y: number;
  readonly tone: number;
}

export const FACE_SIZE = 16;

/** The head of every face: the first and the last pixel of each row. */
export const HEAD_ROWS: readonly (readonly [y: number, from: number, to: number])[] = [
  [1, 5, 10],
  [2, 3, 12],
  [3, 2, 13],
  [4, 2, 13],
  [5, 1, 14],
  [6, 1, 14],
  [7, 1, 14],
  [8, 1, 14],
  [9, 1, 14],
  [10, 1, 14],
  [11, 2, 13],
  [12, 2, 13],
  [13, 3, 12],
  [14, 5, 10],
];

const EYES = [
  ['11', '11'],
  ['11', '10'],
  ['1', '1', '1'],
  ['111', '010'],
  ['010', '101'],
  ['111', '101', '111'],
  ['11', '01'],
  ['1', '0', '1'],
] as const;
const MOUTHS = [
  ['100001', '011110'],
  ['011110'],
  ['000011', '111100'],
  ['011110', '100001'],
  ['0110', '0110'],
  ['111111', '011110'],
  ['0100', '1011'],
  ['100010', '010100', '001000'],
] as const;
const BROWS = [
  [],
  [
    [0, 0],
    [1, 0],
    [2, 0],
  ],
  [
    [0, 1],
    [1, 0],
    [2, 0],
  ],
  [
    [0, 0],
    [1, 0],
    [2, 1],
  ],
] as const;
const MARKS = [
  [],
  [
    [3, 9],
    [12, 9],
  ],
  [
    [7, 8],
    [8, 8],
  ],
  [
    [4, 12],
    [11, 12],
  ],
] as const;

/** FNV-1a, 32 bits, over UTF-16 code units (http://www.isthe.com/chongo/tech/comp/fnv/). */
export function faceHash(agentId: AgentId, birthName: string): number {
  let hash = 2166136261;
  const text = `${agentId}\n${birthName}`;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 16777619);
  // FNV's low bits mix poorly for short differences at the end. A final avalanche (murmur3 fmix32)
  // spreads them.
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) >>> 0;
}

/** Number of variants of each part. */
export const FACE_PARTS = {
  eyes: EYES.length,
  mouth: MOUTHS.length,
  brows: BROWS.length,
  marks: MARKS.length,
} as const;
export type FacePart = keyof typeof FACE_PARTS;
export type FaceParts = Readonly<Record<FacePart, number>>;

const PARTS = /^parts:(\d)-(\d)-(\d)-(\d)$/;

/** Chosen parts, as stored. */
export const facePartsText = ({ eyes, mouth, brows, marks }: FaceParts): string =>
  `parts:${eyes}-${mouth}-${brows}-${marks}`;

/**
 * The parts of a face, chosen or drawn from the hash. `face` holds stored parts, or the name at
 * birth.
 */
export function facePartsOf(agentId: AgentId, face: string): FaceParts {
  const chosen = PARTS.exec(face)?.slice(1).map(Number);
  if (chosen) {
    const [eyes = 0, mouth = 0, brows = 0, marks = 0] = chosen;
    return { eyes, mouth, brows, marks };
  }
  const hash = faceHash(agentId, face);
  return { eyes: hash & 7, mouth: (hash >>> 3) & 7, brows: (hash >>> 6) & 3, marks: (hash >>> 8) & 3 };
}

/** Whether this text names parts of a face, all of which exist. */
function isFaceParts(text: string): boolean {
  if (!PARTS.test(text)) return false;
  const { eyes, mouth, brows, marks } = facePartsOf('', text);
  return eyes < EYES.length && mouth < MOUTHS.length && brows < BROWS.length && marks < MARKS.length;
}

/** Tones of a painted pixel. A stored face holds indexes of this list. */
export const TONES = [0, 1, 0.55] as const;
const PAINTED = /^pixels:[0-2]+$/;
const PAINTED_LENGTH = 'pixels:'.length + HEAD_ROWS.reduce((sum, [, from, to]) => sum + to - from + 1, 0);

/** Whether the person painted this face pixel by pixel. */
export const isPaintedFace = (face: string): boolean => face.length === PAINTED_LENGTH && PAINTED.test(face);

/**
 * A painted face, as stored: the tone of each pixel of the head, row by row. Any result of `toneOf`
 * that is not a tone counts as 0.
 */
export const paintedFaceText = (toneOf: (x: number, y: number) => number | undefined): string =>
  `pixels:${HEAD_ROWS.map(([y, from, to]) =>
    Array.from({ length: to - from + 1 }, (_, i) =>
      Math.max(
        0,
        TONES.findIndex((tone) => tone === toneOf(from + i, y)),
      ),
    ).join(''),
  ).join('')}`;

function paintedPixels(face: string): FacePixel[] {
  const pixels: FacePixel[] = [];
  let at = 'pixels:'.length;
  for (const [y, from, to] of HEAD_ROWS)
    for (let x = from; x <= to; x++) {
      const tone = TONES[Number(face[at++])] ?? 0;
      if (tone > 0) pixels.push({ x, y, tone });
    }
  return pixels;
}

/** Whether a person can have chosen this face. */
export const isChosenFace = (text: string): boolean => isFaceParts(text) || isPaintedFace(text);

/** `face`: the name at birth, or the person's choice (parts, or a painted face). */
export function facePixels(agentId: AgentId, face: string): FacePixel[] {
  if (isPaintedFace(face)) return paintedPixels(face);
  const parts = facePartsOf(agentId, face);
  const [eyes = EYES[0]] = EYES.slice(parts.eyes);
  const [mouth = MOUTHS[0]] = MOUTHS.slice(parts.mouth);
  const [brows = BROWS[0]] = BROWS.slice(parts.brows);
  const [marks = MARKS[0]] = MARKS.slice(parts.marks);
  const pixels: FacePixel[] = [];
  eyes.forEach((row, y) =>
    [...row].forEach((bit, x) => {
      if (bit !== '1') return;
      pixels.push({ x: 4 + x, y: 5 + y, tone: 1 }, { x: 11 - x, y: 5 + y, tone: 1 });
    }),
  );
  mouth.forEach((row, y) =>
    [...row].forEach((bit, x) => {
      if (bit === '1') pixels.push({ x: 8 - row.length / 2 + x, y: 10 + y, tone: 1 });
    }),
  );
  for (const [x, y] of brows) pixels.push({ x: 4 + x, y: 3 + y, tone: 0.55 }, { x: 11 - x, y: 3 + y, tone: 0.55 });
  for (const [x, y] of marks) pixels.push({ x, y, tone: 0.55 });
  return pixels;
}
