/**
 * Highlights code outside the page's thread. A grammar's regular expressions are slow on first use,
 * and hostile text may take any time.
 */
import { coloured } from './colours.ts';

addEventListener('message', ({ data }: MessageEvent<{ code: string; language: string }>) =>
  postMessage(coloured(data.code, data.language)),
);
