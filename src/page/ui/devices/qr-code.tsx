/** QR codes: creating, reading and showing them. */
import { decodeQR } from 'qr/decode.js';
import { encodeQR } from 'qr';
import { useMemo } from 'react';
import { t } from '../../language/t.ts';
import { useNow } from '../hooks.ts';

// Creates QR codes from text, and reads them from pixels.

/** Light modules around a code, which readers need to find it (ISO/IEC 18004, 9.1). */
const QUIET = 4;
/**
 * ms that reading one picture may take. Camera frames use the decoder's own, far shorter timeout.
 */
const PICTURE_MS = 1_500;

export interface Pixels {
  readonly width: number;
  readonly height: number;
  /** RGBA, row by row. */
  readonly data: Uint8Array | Uint8ClampedArray;
}

/** The modules of the text's code, row by row, with the quiet zone; true is dark. */
export const modulesOf = (text: string): readonly (readonly boolean[])[] =>
  encodeQR(text, 'raw', { ecc: 'medium', border: QUIET });

/** Dark modules as an SVG path in which a module is one unit wide: one stroke per run in a row. */
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
 * The text of the code in these pixels, or null. `still`: a picture, for which there is more time.
 */
export function readQr(pixels: Pixels, still = false): string | null {
  try {
    return decodeQR(pixels, { format: 'RGBA', ...(still ? { timeLimit: PICTURE_MS, effort: Infinity } : {}) });
  } catch (error) {
    // The decoder throws for every picture without a readable code: most camera frames.
    if (error instanceof Error) return null;
    throw error;
  }
}

const SECOND = 1000;
const MINUTE = 60 * SECOND;

/** `4:07` */
const clock = (ms: number) =>
  `${Math.floor(ms / MINUTE)}:${String(Math.floor((ms % MINUTE) / SECOND)).padStart(2, '0')}`;

/** ms left until `until` (ms since the epoch); 0 afterwards. */
export function useLeft(until: number): number {
  const now = useNow(SECOND);
  return Math.max(0, until - now);
}

/**
 * Remaining validity of a code. Screen readers hear the last minute announced once, and no seconds.
 */
export function Countdown({ left }: { left: number }) {
  return (
    <p className="figures ink-2">
      {t`Good for`}{' '}
      <span role="timer" aria-live="off">
        {clock(left)}
      </span>
      <span className="visually-hidden" role="status">
        {left <= MINUTE && left > 0 ? t`Less than a minute left` : ''}
      </span>
    </p>
  );
}

/** A QR code, dark on light in both themes, as cameras expect. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const { size, path } = useMemo(() => {
    const modules = modulesOf(text);
    return { size: modules.length, path: pathOf(modules) };
  }, [text]);
  return (
    <svg
      className="qr-code block round"
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <rect width={size} height={size} fill="#fff" />
      <path d={path} fill="#0a0c14" />
    </svg>
  );
}
