/**
 * What a page says, without what it is set in: as Markdown, in one pass over its marks. No tree is
 * made of it: a page is a stranger's, and trees of a few hundred kilobytes have been seen to take
 * half a minute and all the memory there is. Pure.
 */
import { beginningOfText } from '../../../src/shared/domain/cut-middle.ts';
import { Parser } from 'htmlparser2';
import type { WebLimits } from './settings.ts';

export interface PageText {
  readonly title: string;
  readonly text: string;
  /** It goes on, and was not read to its end. */
  readonly cut: boolean;
}

const setOf = (names: string) => new Set(names.split(' '));
/** What stands on every page of a place, and what is no text. */
const LEFT_OUT = setOf('script style noscript template svg math iframe object nav footer aside dialog button select');
const APART = setOf('p h1 h2 h3 h4 h5 h6 ul ol dl table blockquote pre figure hr section article main');
const LISTS = setOf('ul ol');
const LINES = setOf('div li tr br dt dd header address figcaption form fieldset legend option details summary');

/** Characters of a title that are looked at for each that is shown: some of them are spaces. */
const UNSEEN_TOO = 8;

/** Where a link leads; null: nowhere that a page could be read at. */
function linkOf(href: string | undefined, base: string, most: number): string | null {
  if (href === undefined || href.startsWith('#') || href.length > most || !URL.canParse(href, base)) return null;
  const url = new URL(href, base);
  return /^https?:$/.test(url.protocol) && url.href.length <= most ? url.href : null;
}

/** Takes text as it comes, and sets lines apart. */
class Lines {
  readonly #pieces: string[] = [];
  #breaks = 0;
  #space = false;
  #begun = false;
  length = 0;

  apart(lines: number): void {
    if (this.#begun) this.#breaks = Math.max(this.#breaks, lines);
    this.#space = false;
  }

  /** `asIs`: every space of it counts. */
  add(text: string, asIs = false): void {
    const said = asIs ? text : text.replaceAll(/\s+/g, ' ');
    const words = asIs || this.#breaks === 0 ? said : said.trimStart();
    if (words === '' || (!asIs && words === ' ')) {
      this.#space ||= words === ' ';
      return;
    }
    const glue = this.#breaks > 0 ? '\n'.repeat(this.#breaks) : this.#space && this.#begun ? ' ' : '';
    const shown = asIs ? words : words.trimEnd();
    const piece = glue + (glue === ' ' && !asIs ? shown.trimStart() : shown);
    this.#pieces.push(piece);
    this.length += piece.length;
    this.#space = !asIs && shown.length < words.length;
    this.#breaks = 0;
    this.#begun = true;
  }

  /** Right behind what stands there. */
  close(text: string): void {
    this.#pieces.push(text);
    this.length += text.length;
  }

  toString(): string {
    return this.#pieces.join('').trim();
  }
}

/**
 * A page in HTML as text, with where its links lead. `base`: where it came from; `pause`: lets
 * others have their turn, between its pieces.
 */
export async function pageText(
  html: string,
  base: string,
  limits: Pick<WebLimits, 'depth' | 'textChars' | 'titleChars' | 'address' | 'pieceChars'>,
  pause: () => Promise<void>,
): Promise<PageText> {
  /** All of it, and of that what stands where a page says what it is about. */
  const all = new Lines();
  const parts = { main: new Lines(), article: new Lines() };
  const within = { main: 0, article: 0 };
  const lists: { readonly ordered: boolean; count: number }[] = [];
  const links: (string | null)[] = [];
  let [depth, out, pre, title, inTitle, cut] = [0, 0, 0, '', false, false];

  const open = () => [all, ...(within.main > 0 ? [parts.main] : []), ...(within.article > 0 ? [parts.article] : [])];
  const apart = (lines: number) => open().forEach((each) => each.apart(lines));
  const add = (text: string, asIs = false) => open().forEach((each) => each.add(text, asIs));

  /**
   * Reads no further. What the parser has read already it may still tell of: to reset it here would
   * break it.
   */
  const stop = () => {
    cut = true;
    parser.pause();
  };
  const parser = new Parser({
    onopentag(name, attributes) {
      if (cut) return;
      if (++depth > limits.depth) return stop();
      if (LEFT_OUT.has(name)) out++;
      if (name === 'title' && title === '' && out === 0) inTitle = true;
      if (out > 0) return;
      if (name === 'main' || name === 'article') within[name]++;
      if (APART.has(name)) apart(LISTS.has(name) && lists.length > 0 ? 1 : 2);
      else if (LINES.has(name)) apart(1);
      if (LISTS.has(name)) lists.push({ ordered: name === 'ol', count: 0 });
      const list = lists.at(-1);
      if (name === 'li') {
        if (list) list.count++;
        add(`${'  '.repeat(Math.max(0, lists.length - 1))}${list?.ordered ? `${list.count}.` : '-'} `, true);
      } else if (/^h[1-6]$/.test(name)) add(`${'#'.repeat(Number(name[1]))} `, true);
      else if (name === 'td' || name === 'th') add(' | ');
      else if (name === 'pre') {
        pre++;
        add('```\n', true);
      } else if (name === 'img' && (attributes['alt'] ?? '').trim() !== '') add(` (picture: ${attributes['alt']}) `);
      else if (name === 'a') {
        const link = linkOf(attributes['href'], base, limits.address);
        links.push(link);
        if (link !== null) add(' [');
      }
    },
    ontext(text) {
      if (cut) return;
      if (inTitle) title = (title + text).slice(0, limits.titleChars * UNSEEN_TOO);
      else if (out === 0) add(text, pre > 0);
      if (all.length > limits.textChars) stop();
    },
    onclosetag(name) {
      if (cut) return;
      depth--;
      if (name === 'title') inTitle = false;
      if (LEFT_OUT.has(name)) {
        out--;
        return;
      }
      if (out > 0) return;
      if (name === 'a') {
        const link = links.pop() ?? null;
        if (link !== null) open().forEach((each) => each.close(`](${link})`));
      } else if (name === 'pre') {
        pre--;
        add('\n```', true);
      } else if (LISTS.has(name)) lists.pop();
      if (APART.has(name)) apart(LISTS.has(name) && lists.length > 0 ? 1 : 2);
      else if (LINES.has(name)) apart(1);
      if (name === 'main' || name === 'article') within[name]--;
    },
  });
  for (let at = 0; at < html.length && !cut; at += limits.pieceChars) {
    if (at > 0) await pause();
    parser.write(html.slice(at, at + limits.pieceChars));
  }
  if (!cut) parser.end();
  let text = '';
  for (const each of [parts.main, parts.article, all]) {
    if (text !== '') break;
    await pause();
    text = each.toString();
  }
  return { title: beginningOfText(title.replaceAll(/\s+/g, ' ').trim(), limits.titleChars), text, cut };
}
