/** QR codes: made of a text, and read out of pixels. */
import { decodeQR } from 'qr/decode.js';
import { encodeQR } from 'qr';

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
