import { expect, it } from 'vitest';
import { moves } from '../../../src/ui/attachments/moves.ts';

const bytes = (text: string) => Uint8Array.from(text, (sign) => sign.charCodeAt(0));
const MOMENT = '\x21\xf9\x04\x00\x0a\x00\x00\x00,pixels!';

it.each([
  ['a GIF of two moments', `GIF89a${MOMENT}${MOMENT}`, true],
  ['a GIF of one', `GIF89a${MOMENT}`, false],
  ['a GIF whose pixels look like it', `GIF89a${MOMENT}\x21\xf9\x04\x00\x0a\x00\x00\x07`, false],
  ['a PNG that moves', '\x89PNG\r\n\x1a\nIHDR…acTL…IDAT', true],
  ['a PNG', '\x89PNG\r\n\x1a\nIHDR…IDAT', false],
  ['a WebP that moves', 'RIFF....WEBPVP8X..........ANIM', true],
  ['a WebP', 'RIFF....WEBPVP8 ', false],
  ['a JPEG', '\xff\xd8\xff', false],
])('%s', (_, text, is) => expect(moves(bytes(text))).toBe(is));
