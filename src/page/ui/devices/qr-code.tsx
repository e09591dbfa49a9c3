import { decodeQR } from 'qr/decode.js';
import { encodeQR } from 'qr';
import { useMemo } from 'react';
import { t } from '../../language/t.ts';
import { useNow } from '../hooks.ts';

// QR codes: made of a text, and read out of pixels.

/** Modules of light around a code, which readers need to find it (ISO/IEC 18004, 9.1). */
const QUIET = 4;
/**
 * ms that reading one picture may take; a frame of a camera has the decoder's own, far shorter
 * patience.
 */
const PICTURE_MS = 1_500;

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGBA, row by row. */
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** The dark modules of the code of this text, row by row, with the light around it. */
export const modulesOf = (text: string): readonly (readonly boolean[])[] =>
  encodeQR(text, 'raw', { ecc: 'medium', border: QUIET });

/**
 * Dark modules as the path of an SVG in which a module is one unit wide: one stroke for each run in
 * a row.
 */
export function pathOf(modules: readonly (readonly boolean[])[]): string {
  const runs: string[] = [];
  modules.forEach((row, y) => {
    let from = -1;
    for (let x = 0; x <= row.length; x++) {
      if (row[x] === true) from = from < 0 ? x : from;
      else if (from >= 0) {
        runs.push(`M${from} ${y}h${x - from}v1H${from}z`);
        from = -1;
      }
    }
  });
  return runs.join('');
}

/**
 * The text of the code in these pixels, or null where none can be read. `still`: a picture, for
 * which there is time.
 */
export function readQr(pixels: Pixels, still = false): string | null {
  try {
    return decodeQR(pixels, { format: 'RGBA', ...(still ? { timeLimit: PICTURE_MS, effort: Infinity } : {}) });
  } catch (error) {
    // The decoder throws for every picture without a code that it can read: most frames of a
    // camera.
    if (error instanceof Error) return null;
    throw error;
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** `4:07` */
const clock = (ms: number) =>
  `${Math.floor(ms / MINUTE)}:${String(Math.floor((ms % MINUTE) / SECOND)).padStart(2, '0')}`;

/** How long is left until `until` (ms since the epoch); 0 once it is over. */
export function useLeft(until: number): number {
  const now = useNow(SECOND);
  return Math.max(0, until - now);
}

/**
 * How long a code is good for. Its last minute is said once to those who listen; the seconds are
 * not.
 */
export function Countdown({ left }: { left: number }) {
  return (
    <p className="countdown">
      {t`Good for`}{' '}
      <span role="timer" aria-live="off">
        {clock(left)}
      </span>
      <span className="visually-hidden" role="status">
        {left <= MINUTE && left > 0 ? t`Less than a minute is left.` : ''}
      </span>
    </p>
  );
}

/** A QR code, dark on light in both themes: that is what cameras look for. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const modules = modulesOf(text);
    return { size: modules.length, path: pathOf(modules) };
  }, [text]);
  return (
    <svg className="qr-code" viewBox={`0 0 ${size} ${size}`} shapeRendering="crispEdges" role="img" aria-label={label}>
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#0a0c14" />
    </svg>
  );
}
