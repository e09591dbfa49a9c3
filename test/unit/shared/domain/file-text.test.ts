import { expect, test } from 'vitest';
import { anyFileText } from '../../../../src/shared/domain/file-text.ts';

const WORDS = 'Äpfel, Birnen\r\nund Quitten\tin Körben';
const swapped = (bytes: Buffer) => Buffer.from(bytes).swap16();

test.each([
  ['UTF-8', Buffer.from(WORDS)],
  ['UTF-8 with a mark of byte order', Buffer.from(`\ufeff${WORDS}`)],
  ['UTF-16, little end first', Buffer.from(`\ufeff${WORDS}`, 'utf16le')],
  ['UTF-16, big end first', swapped(Buffer.from(`\ufeff${WORDS}`, 'utf16le'))],
  ['UTF-16 without a mark', Buffer.from(WORDS, 'utf16le')],
  ['UTF-16 without a mark, big end first', swapped(Buffer.from(WORDS, 'utf16le'))],
  ['Latin-1', Buffer.from(WORDS, 'latin1')],
])('a text in %s is read', (_name, bytes) => {
  expect(anyFileText(new Uint8Array(bytes))).toBe(WORDS);
});

test.each([
  ['zeros', [0, 0, 0, 0]],
  ['the head of a picture', [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 0, 13]],
  ['the head of a program', [0x7f, 0x45, 0x4c, 0x46, 2, 1, 1, 0]],
  ['bytes of every kind', Array.from({ length: 256 }, (_none, i) => i)],
  ['packed bytes without a zero', Array.from({ length: 300 }, (_none, i) => 1 + ((i * 83) % 255))],
])('%s are no text', (_name, bytes) => {
  expect(anyFileText(new Uint8Array(bytes))).toBeNull();
});
