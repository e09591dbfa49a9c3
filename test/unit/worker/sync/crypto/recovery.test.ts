import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  newHousehold,
  newPhrase,
  readKeys,
  recoveryOf,
  renewed,
  sealBox,
  writeKeys,
} from '../../../../../src/worker/sync/crypto/index.ts';
import { random, utf8 } from '../support.ts';

/** Of 32 zeros; its last word holds the checksum. */
const words = [...Array.from({ length: 23 }, () => 'abandon'), 'art'];
const recovered = (phrase: string) => {
  const recovery = recoveryOf(phrase);
  if (!recovery.ok) throw new Error(recovery.reason);
  return recovery;
};
const reasonOf = (phrase: readonly string[]) => {
  const recovery = recoveryOf(phrase.join(' '));
  return recovery.ok ? null : recovery.reason;
};

describe('a recovery phrase', () => {
  // SPEC 2.1
  it('makes a phrase of 24 words that opens what was sealed to it', () => {
    const phrase = newPhrase(random).words;
    expect(phrase).toHaveLength(24);
    const { boxKey } = recovered(phrase.join(' '));
    const keys = renewed(newHousehold(random), random);
    const box = sealBox(boxKey, writeKeys(keys), random);
    expect(readKeys(recovered(phrase.join(' ')).open(box) ?? new Uint8Array())).toEqual(keys);
    expect(recovered(newPhrase(random).words.join(' ')).open(box)).toBeNull();
  });

  // SPEC 2.1
  it('names its box by an id of its own', () => {
    const one = recovered(words.join(' '));
    expect(one.id).toMatch(/^[\w-]{43}$/u);
    expect(recovered(words.join(' ')).id).toBe(one.id);
    expect(recovered(newPhrase(random).words.join(' ')).id).not.toBe(one.id);
  });

  it('reads a phrase as people write it: capitals, spaces, lines, numbers, commas, four letters a word', () => {
    const phrase = newPhrase(random).words;
    const { id } = recovered(phrase.join(' '));
    for (const written of [
      phrase.join(' ').toUpperCase(),
      `  ${phrase.join('   ')}  `,
      phrase.map((word, at) => `${at + 1}. ${word}`).join('\n'),
      phrase.map((word, at) => `${at + 1}.${word}`).join('\n'),
      phrase.map((word, at) => `(${at + 1}) ${word}`).join(' '),
      phrase.map((word, at) => `#${at + 1}: ${word}`).join('\r\n'),
      `${phrase.join(', ')}.`,
      phrase.map((word) => word.slice(0, 4)).join(' '),
      phrase.join('\u00a0'),
    ]) {
      expect(recovered(written).id, written).toBe(id);
    }
  });

  it('names a wrong word, its place, and what may have been meant', () => {
    expect(reasonOf(words.with(6, 'lemom'))).toBe('Word 7, “lemom”, is not in the list. Similar words: lemon.');
    expect(reasonOf(words.with(6, 'lmeon'))).toBe('Word 7, “lmeon”, is not in the list. Similar words: lemon.');
    expect(reasonOf(words.with(0, 'qqqqqqqq'))).toBe('Word 1, “qqqqqqqq”, is not in the list.');
    expect(reasonOf(words.with(0, 'x'.repeat(500)))).toBe(`Word 1, “${'x'.repeat(20)}…”, is not in the list.`);
    expect(reasonOf(words.with(23, 'ca'))).toMatch(/^Word 24, “ca”, is not in the list. Similar words: c\w+, c/u);
  });

  it('says how many words there are when there are too few or too many', () => {
    expect(reasonOf([])).toBe('A recovery phrase has 24 words. You typed 0.');
    expect(reasonOf(['lemon'])).toBe('A recovery phrase has 24 words. You typed 1.');
    expect(reasonOf(words.slice(1))).toBe('A recovery phrase has 24 words. You typed 23.');
    expect(reasonOf([...words, 'art'])).toBe('A recovery phrase has 24 words. You typed 25.');
  });

  it('reports words that do not belong together', () => {
    expect(reasonOf(words.with(23, 'abandon'))).toContain('are not a recovery phrase');
    expect(reasonOf(words.with(0, 'art').with(23, 'abandon'))).toContain('are not a recovery phrase');
  });

  it('reads any text as a phrase without throwing', () => {
    fc.assert(fc.property(fc.string({ unit: 'grapheme', maxLength: 200 }), (text) => !recoveryOf(text).ok));
  });
});

describe('a keyring', () => {
  const keys = renewed(renewed(newHousehold(random), random), random);

  // SPEC 2.3, 2.4
  it('parses a keyring back to what it was made from', () => {
    expect(keys.keyring.map(({ epoch }) => epoch)).toEqual([1, 2, 3]);
    expect(new Set(keys.keyring.map(({ key }) => Buffer.from(key).toString('hex'))).size).toBe(3);
    expect(readKeys(writeKeys(keys))).toEqual(keys);
  });

  // SPEC 2.4
  it('refuses a keyring that is cut, too long, empty or of another version', () => {
    const written = writeKeys(keys);
    for (let length = 0; length < written.length; length += 1) expect(readKeys(written.subarray(0, length))).toBeNull();
    expect(readKeys(Uint8Array.of(...written, 0))).toBeNull();
    expect(readKeys(Uint8Array.of(2, ...written.subarray(1)))).toBeNull();
    expect(readKeys(Uint8Array.of(...written.subarray(0, 17), 0, 0))).toBeNull();
    fc.assert(fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => readKeys(bytes) === null || bytes[0] === 1));
  });

  // SPEC 2.4
  it('refuses to write a keyring with a gap', () => {
    expect(() => writeKeys({ ...keys, keyring: keys.keyring.slice(1) })).toThrow('incomplete');
    expect(() => writeKeys({ ...keys, keyring: [] })).toThrow('incomplete');
    expect(() => writeKeys({ ...keys, household: 'nowhere' })).toThrow('not 16 bytes');
  });

  it('refuses to renew a keyring beyond what an epoch can count', () => {
    const last = { ...keys, keyring: [{ epoch: 65_535, key: utf8('') }] };
    expect(() => renewed(last, random)).toThrow('there are no more');
  });
});
