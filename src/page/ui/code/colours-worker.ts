/**
 * Colours code beside the page: a grammar's expressions take long the first time, and nobody knows
 * how long over hostile text.
 */
import { coloured } from './colours.ts';

addEventListener('message', ({ data }: MessageEvent<{ code: string; language: string }>) =>
  postMessage(coloured(data.code, data.language)),
);
