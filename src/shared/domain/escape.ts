/**
 * Escaping of text inside the `[WAKE AGENTS]` and `[SUMMON AGENTS]` messages.
 *
 * XML 1.0 has no way to write NUL, most control characters or half a surrogate pair, and souls may
 * hold all of them. So: the five XML entities, and a numeric reference `&#x…;` with the UTF-16 code
 * unit for every character that XML forbids or that a transport might change (a carriage return,
 * for one). `unescapeText(escapeText(s)) === s` for every JavaScript string.
 */

const ENTITIES: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&apos;' };
const CHARACTERS = new Map(Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }));

// Markup, C0 and C1 controls but tab and newline, line separators, lone surrogates, BOM and the
// non-characters.
const UNSAFE =
  // eslint-disable-next-line no-control-regex
  /[&<>"'\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]|[\ud800-\udbff](?![\udc00-\udfff])|(?<![\ud800-\udbff])[\udc00-\udfff]/g;

export function escapeText(text: string): string {
  return text.replace(UNSAFE, (char) => ENTITIES[char] ?? `&#x${char.charCodeAt(0).toString(16)};`);
}

/** As `escapeText`, and with tab and newline written out: an attribute stands on one line. */
export function escapeAttribute(text: string): string {
  return escapeText(text).replace(/[\t\n]/g, (char) => `&#x${char.charCodeAt(0).toString(16)};`);
}

const LAST_CODE_POINT = 0x10ffff;

/**
 * The text behind an escaped one, or null where an `&` does not begin a known reference: one of the
 * five entities, or a code unit or code point as `&#…;` or `&#x…;`.
 */
export function unescapeText(text: string): string | null {
  let bad = false;
  const plain = text.replace(
    /&(?:#x([0-9a-f]{1,6});|#(\d{1,7});|([a-z]+);)?/gi,
    (all, hex?: string, decimal?: string, name = '') => {
      const number = hex !== undefined ? Number.parseInt(hex, 16) : decimal !== undefined ? Number(decimal) : null;
      if (number !== null && number <= LAST_CODE_POINT) return String.fromCodePoint(number);
      const character = CHARACTERS.get(name);
      bad ||= character === undefined;
      return character ?? all;
    },
  );
  return bad ? null : plain;
}
