import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { escapeAttribute, escapeText, unescapeText } from '../../../../src/shared/domain/wake-payload.ts';
import { anyText, longText } from './arbitraries.ts';

// eslint-disable-next-line no-control-regex
const CHANGED_BY_TRANSPORTS = /[<>"'\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;

describe('escaped text', () => {
  it('comes out exactly as it went in, whatever it holds', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        expect(unescapeText(escapeText(text))).toBe(text);
        expect(unescapeText(escapeAttribute(text))).toBe(text);
      }),
      { numRuns: 2000 },
    );
  });

  it('comes out exactly as it went in for every single UTF-16 code unit', () => {
    for (let unit = 0; unit <= 0xffff; unit++) {
      const text = String.fromCharCode(unit);
      if (unescapeText(escapeText(text)) !== text) expect.fail(`code unit ${unit.toString(16)}`);
    }
  });

  it('holds no markup, no character that a transport could change and no half surrogate pair', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const escaped = escapeText(text);
        expect(escaped).not.toMatch(CHANGED_BY_TRANSPORTS);
        // UTF-8 there and back is the transport that loses lone surrogates.
        expect(new TextDecoder().decode(new TextEncoder().encode(escaped))).toBe(escaped);
      }),
    );
  });

  it('leaves readable text readable', () => {
    expect(escapeText('Héllo 👋🏽\n\tשלום')).toBe('Héllo 👋🏽\n\tשלום');
    expect(escapeText(`<a href="x">Tom & 'Jerry'</a>`)).toBe(
      '&lt;a href=&quot;x&quot;&gt;Tom &amp; &apos;Jerry&apos;&lt;/a&gt;',
    );
    expect(escapeText('\0\r\ud800!')).toBe('&#x0;&#xd;&#xd800;!');
  });

  it('stays on one line inside an attribute', () => {
    expect(escapeAttribute('a\tb\nc')).toBe('a&#x9;b&#xa;c');
  });

  it('reads the character references that other programs write', () => {
    expect(unescapeText('&#38;&#x26;&#X41;&#x1F600;&#128512;')).toBe('&&A😀😀');
  });

  it('restores 300 KB of escaped text unchanged', () => {
    const text = longText(300_000);
    expect(unescapeText(escapeText(text))).toBe(text);
  });

  it.each([
    '&',
    'a & b',
    '&amp',
    '&nbsp;',
    '&#x;',
    '&#;',
    '&#x110000;',
    '&#9999999;',
    '&#xG;',
    '&AMP;',
    '&constructor;',
  ])('refuses %j, which is no known reference', (text) => {
    expect(unescapeText(text)).toBeNull();
  });
});
