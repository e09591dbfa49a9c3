/** Pixels of pictures and of the camera, and the codes in them. */
import { t } from '../../language/t.ts';
import { readQr, type Pixels } from './qr.ts';

/** px: the longer side of what a frame of the camera is read at. */
const FRAME_SIDE = 960;
/**
 * px: the longer sides a picture is read at, one after the other: a screenshot as it is, a photo
 * made smaller, then larger again for a small code in it.
 */
const PICTURE_SIDES = [1_600, 3_200, 800];

type Drawn = { readonly source: CanvasImageSource; readonly width: number; readonly height: number };

/** Never enlarges. */
function pixelsOf({ source, width, height }: Drawn, longest: number): Pixels | null {
  const scale = Math.min(1, longest / Math.max(width, height));
  const canvas = document.createElement('canvas');
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext('2d', { willReadFrequently: true });
  if (!context) return null;
  // Where a picture is clear, it is as paper is.
  context.fillStyle = '#fff';
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.drawImage(source, 0, 0, canvas.width, canvas.height);
  return context.getImageData(0, 0, canvas.width, canvas.height);
}

/** The code that the camera sees now, or null. */
export function readFrame(video: HTMLVideoElement): string | null {
  const { videoWidth: width, videoHeight: height } = video;
  if (width === 0 || height === 0) return null;
  const pixels = pixelsOf({ source: video, width, height }, FRAME_SIDE);
  return pixels && readQr(pixels);
}

export type PictureRead =
  | { readonly ok: true; readonly text: string }
  | { readonly ok: false; readonly reason: string };

/** The code in a picture. */
export async function readPicture(file: Blob): Promise<PictureRead> {
  let bitmap: ImageBitmap;
  try {
    bitmap = await createImageBitmap(file);
  } catch (error) {
    if (error instanceof DOMException || error instanceof TypeError)
      return {
        ok: false,
        reason: t`This is no picture that the browser can read. Take a photo or a screenshot of the code.`,
      };
    throw error;
  }
  try {
    for (const side of PICTURE_SIDES) {
      const pixels = pixelsOf({ source: bitmap, width: bitmap.width, height: bitmap.height }, side);
      const text = pixels && readQr(pixels, true);
      if (text !== null) return { ok: true, text };
    }
    return {
      ok: false,
      reason: t`No code can be made out in this picture. Take it from nearer, sharp, and with all four corners of the light square in it.`,
    };
  } finally {
    bitmap.close();
  }
}
