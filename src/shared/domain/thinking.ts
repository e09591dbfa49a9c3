/**
 * A model's thinking before it answers. Local models write it into their answer, between `<think>`
 * and `</think>` or between `<thinking>` and `</thinking>`. An opening tag counts only at the
 * beginning of a line, and no tag counts inside code. Pure.
 */

export interface Stretch {
  readonly kind: 'words' | 'thinking';
  readonly text: string;
}

/** Code blocks and inline code. A block that is never closed extends to the end. */
const CODE =
  '^[ \\t]*(?<fence>`{3,}|~{3,})[^]*?(?:\\n[ \\t]*\\k<fence>[`~]*[ \\t]*$|(?![^]))|(?<ticks>`+)(?!`)(?:(?!\\n\\n)[^`])*?\\k<ticks>(?!`)';
const tagOutsideCode = (tag: string) => new RegExp(`${CODE}|(?<tag>${tag})`, 'gim');
const OPENING = tagOutsideCode('^[ \\t]*<think(?:ing)?>');
const CLOSING = tagOutsideCode('</think(?:ing)?>');
/** For thinking that was opened in the prompt, so that the answer only contains the closing tag. */
const CLOSING_ALONE = tagOutsideCode('^[ \\t]*</think(?:ing)?>[ \\t]*$');
/** Used if an unclosed code block in the thinking hides the closing tag. */
const CLOSING_ANYWHERE = /(?<tag><\/think(?:ing)?>)/gi;
/** The beginning of a tag that is still being written. */
const BEGUN = /(?:^|\n)[ \t]*<(?:t(?:h(?:i(?:n(?:k(?:i(?:n(?:g)?)?)?)?)?)?)?)?$/i;

interface Tag {
  readonly from: number;
  readonly to: number;
}

function tagFrom(pattern: RegExp, text: string, from: number): Tag | null {
  pattern.lastIndex = from;
  for (let match = pattern.exec(text); match; match = pattern.exec(text)) {
    if (match.groups?.['tag'] !== undefined) return { from: match.index, to: match.index + match[0].length };
  }
  return null;
}

/** Separates thinking from words. `isGrowing`: leaves out an incomplete tag at the end. */
export function thinkingApart(text: string, isGrowing = false): readonly Stretch[] {
  const shown = isGrowing ? text.replace(BEGUN, '') : text;
  if (!/<\/?think/i.test(shown)) return shown === '' ? [] : [{ kind: 'words', text: shown }];
  const stretches: Stretch[] = [];
  const add = (kind: Stretch['kind'], stretch: string) => {
    if (stretch.trim() !== '') stretches.push({ kind, text: stretch.replace(/^\s*\n/, '').trimEnd() });
  };
  let at = 0;
  let opening = tagFrom(OPENING, shown, 0);
  if (!opening) {
    const closing = tagFrom(CLOSING_ALONE, shown, 0);
    if (closing) {
      add('thinking', shown.slice(0, closing.from));
      at = closing.to;
    }
  }
  for (; opening; opening = tagFrom(OPENING, shown, at)) {
    add('words', shown.slice(at, opening.from));
    const closing = tagFrom(CLOSING, shown, opening.to) ?? tagFrom(CLOSING_ANYWHERE, shown, opening.to);
    at = closing?.to ?? shown.length;
    add('thinking', shown.slice(opening.to, closing?.from));
  }
  add('words', shown.slice(at));
  return stretches;
}

/** The text without the thinking. */
export const withoutThinking = (text: string): string =>
  thinkingApart(text)
    .filter(({ kind }) => kind === 'words')
    .map((stretch) => stretch.text)
    .join('\n\n');
