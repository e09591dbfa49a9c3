import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { newOffer, readOffer } from '../../../../../src/worker/sync/crypto/index.ts';
import { random } from '../support.ts';

const offer = newOffer(random);
const good = { ok: true, publicKey: offer.publicKey, offerId: offer.offerId };
const reasonOf = (text: string) => {
  const read = readOffer(text);
  return read.ok ? null : read.reason;
};

describe('an offer to join', () => {
  // SPEC 9.2
  it('parses an offer back to what it was made from', () => {
    expect(offer.text).toMatch(/^ROOST1\.[0-9A-HJKMNP-TV-Z]{58}$/u);
    expect(readOffer(offer.text)).toEqual(good);
  });

  it('reads an offer in small letters, in groups, over several lines, quoted, or in a sentence', () => {
    const letters = offer.text.slice('ROOST1.'.length);
    const groups = (letters.match(/.{1,5}/gu) ?? []).join(' ');
    for (const text of [
      offer.text.toLowerCase(),
      `  ${offer.text}\n`,
      `ROOST1. ${groups}`,
      `> ROOST1.${letters.slice(0, 30)}\n> ${letters.slice(30)}`,
      `Please take this: ${offer.text}. Thanks!`,
      `“${offer.text}”`,
      `\`${offer.text}\``,
      `It begins with ROOST1. and is this one: ${offer.text}`,
      `${offer.text} it lives for five minutes`,
      letters.replaceAll('0', 'o').replaceAll('1', 'l').replace(/^/u, 'roost1.'),
    ]) {
      expect(readOffer(text), text).toEqual(good);
    }
  });

  // SPEC 9.2
  it('refuses an offer with a mistyped letter or two swapped ones', () => {
    const letters = [...offer.text];
    for (let at = 'ROOST1.'.length; at < letters.length; at += 1) {
      const other = letters[at] === 'A' ? 'B' : 'A';
      expect(readOffer(letters.with(at, other).join('')).ok).toBe(false);
      const next = letters[at + 1];
      const here = letters[at];
      if (next && here && next !== here)
        expect(
          readOffer(
            letters
              .with(at, next)
              .with(at + 1, here)
              .join(''),
          ).ok,
        ).toBe(false);
    }
  });

  it('says why an offer cannot be taken', () => {
    expect(reasonOf('')).toContain('not a whole code to join with');
    expect(reasonOf('https://example.org/roost')).toContain('not a whole code to join with');
    expect(reasonOf(offer.text.replace('ROOST1', 'ROOST2'))).toContain('newer Roost');
    expect(reasonOf(offer.text.replace('ROOST1', 'ROOST0'))).toContain('not a whole code');
    expect(reasonOf(offer.text.slice(0, -1))).toContain('not a whole code');
    expect(reasonOf(offer.text.replace(/.$/u, (last) => (last === '2' ? '4' : '2')))).toContain('not a whole code');
    expect(reasonOf(`ROOST1.${'U'.repeat(58)}`)).toContain('not a whole code');
  });

  it('reads any text as an offer without throwing', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme', maxLength: 200 }),
        (text) => !readOffer(text).ok && !readOffer(`ROOST1.${text}`).ok,
      ),
    );
  });

  // SPEC 9.3
  it('has an id that is not its key', () => {
    expect(offer.offerId).toMatch(/^[\w-]{22}$/u);
    expect(offer.publicKey.startsWith(offer.offerId.slice(0, 6))).toBe(false);
  });
});
